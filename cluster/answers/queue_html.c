/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/html.h"
#include "cluster/answers/queue_page.h"

static void put_tiles(FILE *out, const struct queue_page *page)
{
    fputs("<div class=\"tiles\">\n", out);
    for (size_t i = 0; i < page->tile_count; i++)
        html_tile(out, page->tiles[i].value, page->tiles[i].name);
    fputs("</div>\n", out);
}

static void put_section(FILE *out, const struct queue_section *section)
{
    fputs("<h2>", out);
    html_text(out, section->heading);
    fputs("</h2>\n", out);
    html_table(out, section->table, section->sorts);
    if (*section->items) {
        fputs("<ul>\n", out);
        html_lines(out, "<li>", section->items, "</li>\n");
        fputs("</ul>\n", out);
    }
    html_lines(out, "<p class=\"note\">", section->notes, "</p>\n");
}

static bool draw(FILE *out, const struct picture_form *form, void *user, struct fault *fault)
{
    return queue_panels_picture(out, user, form, fault);
}

bool queue_html(FILE *out, const struct queue_page *page, struct fault *fault)
{
    struct queue_page shown = *page;
    html_begin(out, page->drawing.title, page->line);
    html_lines(out, "<p class=\"verdict\">", page->verdict, "</p>\n");
    html_lines(out, "<p class=\"note\">", page->notes, "</p>\n");
    put_tiles(out, page);
    fputs("<h2 id=\"nodes\">Nodes over time</h2>\n", out);
    bool done = html_chart(out, draw, &shown, "queue", "slim", false, fault);
    html_lines(out, "<p class=\"note\">", page->chart_notes, "</p>\n");
    queue_panels_write(out, page);
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
