/* SPDX-License-Identifier: Apache-2.0 */
/* report.html of a cluster. */
#include "analysis/output/html.h"
#include "analysis/pictures/picture_timeline.h"
#include "cluster/jobs/jobs_view.h"

static void put_tiles(FILE *out, const struct jobs_view *view)
{
    fputs("<div class=\"tiles\">\n", out);
    for (int i = 0; i < JOBS_TILES; i++)
        html_tile(out, view->tiles[i].value, view->tiles[i].name);
    fputs("</div>\n", out);
}

static bool draw(FILE *out, const struct picture_form *form, void *user, struct fault *fault)
{
    return picture_timeline(user, CANVAS_SVG, form, out, fault);
}

bool jobs_page_write(FILE *out, const struct jobs_view *view, struct fault *fault)
{
    html_begin(out, view->title, view->subtitle);
    html_lines(out, "<p class=\"verdict\">", view->verdict, "</p>\n");
    put_tiles(out, view);
    fputs("<h2>Jobs over time</h2>\n", out);
    if (!html_chart(out, draw, view->gantt, "jobs", "jobs-slim", false, fault))
        return false;
    for (int which = 0; which < JOBS_TABLES; which++) {
        if (!view->tables[which])
            continue;
        fprintf(out, "<h2>%s</h2>\n", jobs_table_titles[which]);
        html_table(out, view->tables[which], true);
    }
    html_lines(out, "<p class=\"note\">", view->remarks, "</p>\n");
    html_end(out);
    return true;
}
