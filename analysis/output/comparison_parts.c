/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/comparison_parts.h"

#include "analysis/output/html.h"
#include "analysis/pictures/picture_comparison.h"

bool comparison_has_directories(const struct comparison_row *rows, size_t count, enum table_format format)
{
    bool some = false;
    for (size_t i = 0; i < count; i++)
        some |= *rows[i].directory != '\0';
    return some && format == TABLE_JSON;
}

void comparison_print_reasons(FILE *out, const struct comparison_row *rows, size_t count, enum table_format format)
{
    for (size_t i = 0; i < count && table_is_read(format); i++)
        if (*rows[i].reason)
            fprintf(out, "%s, %s: %s\n", rows[i].scenario, rows[i].schedule, rows[i].reason);
}

void comparison_page_names(FILE *out, const struct comparison_view *view, size_t i, bool best)
{
    const char *link = view->links ? view->links[i] : NULL;
    fprintf(out, "<tr%s><td>", best ? " class=\"best\"" : "");
    html_text(out, view->rows[i].scenario);
    fputs("</td><td>", out);
    if (link) {
        fputs("<a href=\"", out);
        html_text(out, link);
        fputs("\">", out);
    }
    html_text(out, view->rows[i].schedule);
    fputs(link ? "</a></td>" : "</td>", out);
}

bool comparison_draw(FILE *out, const struct picture_form *form, void *user, struct fault *fault)
{
    const struct comparison_view *view = user;
    return picture_comparison(view->gantts, view->count, view->title, CANVAS_SVG, form, out, fault);
}
