/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/html.h"
#include "cluster/answers/queue_page.h"

#include <math.h>
#include <string.h>

/* Each line of a text between two tags. */
static void put_lines(FILE *out, const char *before, const char *text, const char *behind)
{
    char line[1024];
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        fputs(before, out);
        html_text(out, line);
        fputs(behind, out);
    }
}

static void put_tiles(FILE *out, const struct queue_page *page)
{
    fputs("<div class=\"tiles\">\n", out);
    for (size_t i = 0; i < page->tile_count; i++)
        html_tile(out, page->tiles[i].value, page->tiles[i].name);
    fputs("</div>\n", out);
}

static void put_cell(FILE *out, const struct table *table, size_t row, size_t column)
{
    double value = table_number(table, row, column);
    fputs(table_align(table, column) == '>' ? "<td class=\"n\"" : "<td", out);
    if (!isnan(value))
        fprintf(out, " data-v=\"%.17g\"", value);
    fputc('>', out);
    html_text(out, table_text(table, row, column));
    fputs("</td>", out);
}

static void put_table(FILE *out, const struct table *table, bool sorts)
{
    fprintf(out, "<div class=\"wide\"><table%s>\n<thead><tr>", sorts ? " class=\"sort\"" : "");
    for (size_t column = 0; column < table_column_count(table); column++) {
        fputs(table_align(table, column) == '>' ? "<th class=\"n\">" : "<th>", out);
        html_text(out, table_title(table, column));
        fputs("</th>", out);
    }
    fputs("</tr></thead>\n<tbody>\n", out);
    for (size_t row = 0; row < table_row_count(table); row++) {
        fputs("<tr>", out);
        for (size_t column = 0; column < table_column_count(table); column++)
            put_cell(out, table, row, column);
        fputs("</tr>\n", out);
    }
    fputs("</tbody>\n</table></div>\n", out);
}

static void put_section(FILE *out, const struct queue_section *section)
{
    fputs("<h2>", out);
    html_text(out, section->heading);
    fputs("</h2>\n", out);
    put_table(out, section->table, section->sorts);
    if (*section->items) {
        fputs("<ul>\n", out);
        put_lines(out, "<li>", section->items, "</li>\n");
        fputs("</ul>\n", out);
    }
    put_lines(out, "<p class=\"note\">", section->notes, "</p>\n");
}

static bool draw(FILE *out, const struct picture_form *form, void *user, struct fault *fault)
{
    return queue_picture(out, user, CANVAS_SVG, form, fault);
}

bool queue_html(FILE *out, const struct queue_page *page, struct fault *fault)
{
    struct queue_drawing shown = page->drawing;
    html_begin(out, page->drawing.title, page->line);
    put_lines(out, "<p class=\"verdict\">", page->verdict, "</p>\n");
    put_lines(out, "<p class=\"note\">", page->notes, "</p>\n");
    put_tiles(out, page);
    fputs("<h2>Nodes over time</h2>\n", out);
    bool done = html_chart(out, draw, &shown, "queue", "slim", false, fault);
    put_lines(out, "<p class=\"note\">", page->chart_notes, "</p>\n");
    for (size_t i = 0; i < page->section_count; i++)
        put_section(out, &page->sections[i]);
    html_end(out);
    return done;
}

bool queue_page_draw(const struct run_files *files, const struct queue_page *page, struct fault *fault)
{
    for (int format = 0; format < PICTURE_FORMATS; format++)
        if (files->pictures[format] &&
            !queue_picture(files->pictures[format], &page->drawing, (enum canvas_format)format, &files->form, fault))
            return false;
    return !files->html || queue_html(files->html, page, fault);
}
