/* SPDX-License-Identifier: Apache-2.0 */
/* report.html of a cluster. */
#include "analysis/output/html.h"
#include "analysis/pictures/picture_timeline.h"
#include "cluster/jobs/jobs_view.h"

#include <math.h>
#include <string.h>

static void put_tiles(FILE *out, const struct jobs_view *view)
{
    fputs("<div class=\"tiles\">\n", out);
    for (int i = 0; i < JOBS_TILES; i++)
        html_tile(out, view->tiles[i].value, view->tiles[i].name);
    fputs("</div>\n", out);
}

static void put_table(FILE *out, const struct table *table)
{
    size_t columns = table_column_count(table);
    fputs("<div class=\"wide\"><table class=\"sort\"><thead><tr>", out);
    for (size_t i = 0; i < columns; i++) {
        fputs("<th>", out);
        html_text(out, table_title(table, i));
        fputs("</th>", out);
    }
    fputs("</tr></thead><tbody>\n", out);
    for (size_t row = 0; row < table_row_count(table); row++) {
        fputs("<tr>", out);
        for (size_t i = 0; i < columns; i++) {
            double value = table_number(table, row, i);
            if (isnan(value))
                fputs("<td>", out);
            else
                fprintf(out, "<td data-v=\"%.17g\">", value);
            html_text(out, table_text(table, row, i));
            fputs("</td>", out);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

/* One for each line of the text. */
static void put_paragraphs(FILE *out, const char *class, const char *text)
{
    char line[512];
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        fprintf(out, "<p class=\"%s\">", class);
        html_text(out, line);
        fputs("</p>\n", out);
    }
}

static bool draw(FILE *out, const struct picture_form *form, void *user, struct fault *fault)
{
    return picture_timeline(user, CANVAS_SVG, form, out, fault);
}

bool jobs_page_write(FILE *out, const struct jobs_view *view, struct fault *fault)
{
    html_begin(out, view->title, view->subtitle);
    put_paragraphs(out, "verdict", view->verdict);
    put_tiles(out, view);
    fputs("<h2>Jobs over time</h2>\n", out);
    if (!html_chart(out, draw, view->gantt, "jobs", "jobs-slim", false, fault))
        return false;
    for (int which = 0; which < JOBS_TABLES; which++) {
        if (!view->tables[which])
            continue;
        fprintf(out, "<h2>%s</h2>\n", jobs_table_titles[which]);
        put_table(out, view->tables[which]);
    }
    put_paragraphs(out, "note", view->remarks);
    html_end(out);
    return true;
}
