/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/html.h"

#include "analysis/output/page_assets.h"
#include "analysis/pictures/canvas.h"
#include "analysis/pictures/gantt_style.h"
#include "analysis/pictures/svg_tidy.h"
#include "base/bulk.h"
#include "base/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void html_text(FILE *out, const char *text)
{
    xml_escape(out, text);
}

static const char *hatch_gradient(enum hatch hatch)
{
    switch (hatch) {
    case HATCH_DIAGONAL:
        return "repeating-linear-gradient(135deg,#0000 0 3px,#0005 3px 4px)";
    case HATCH_HORIZONTAL:
        return "repeating-linear-gradient(0deg,#0000 0 2px,#0004 2px 3px)";
    case HATCH_VERTICAL:
        return "repeating-linear-gradient(90deg,#0000 0 2px,#fff5 2px 3px)";
    case HATCH_CROSS:
        return "repeating-linear-gradient(0deg,#0000 0 2px,#0004 2px 3px),repeating-linear-gradient(90deg,#0000 0 "
               "2px,#0004 2px 3px)";
    default:
        return "none";
    }
}

/* The colours and patterns of the pictures. */
static void cause_styles(FILE *out)
{
    for (int cause = 0; cause < CAUSES; cause++) {
        struct colour fill = cause_fill(cause);
        fprintf(out, ".c%d{background:%s #%02x%02x%02x}\n", cause, hatch_gradient(cause_hatch(cause)),
                (unsigned)lround(fill.red * 255), (unsigned)lround(fill.green * 255),
                (unsigned)lround(fill.blue * 255));
    }
}

void html_begin(FILE *out, const char *title, const char *subtitle)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
          out);
    html_text(out, title);
    fputs("</title>\n<style>\n", out);
    fputs(page_css, out);
    cause_styles(out);
    fputs("</style>\n</head>\n<body>\n<main>\n<h1>", out);
    html_text(out, title);
    fputs("</h1>\n", out);
    if (!subtitle)
        return;
    fputs("<p class=\"sub\">", out);
    html_text(out, subtitle);
    fputs("</p>\n", out);
}

void html_end(FILE *out)
{
    fputs("</main>\n<script>\n", out);
    fputs(page_js, out);
    fputs("</script>\n</body>\n</html>\n", out);
}

void html_tile(FILE *out, const char *value, const char *name)
{
    fputs("<div class=\"tile\"><b>", out);
    html_text(out, value);
    fputs("</b><span>", out);
    html_text(out, name);
    fputs("</span></div>\n", out);
}

/* Parts of a whole side by side; each has the class of the letter and its number. */
static void bar(FILE *out, char letter, const char *const names[], const double *parts, int count, double whole)
{
    char share[READABLE_MAX];
    fputs("<div class=\"bar\">", out);
    for (int part = 0; part < count; part++)
        if (parts[part] > 0 && whole > 0)
            fprintf(out, "<i class=\"%c%d\" style=\"width:%.3f%%\" title=\"%s %s\"></i>", letter, part,
                    fmin(100, 100 * parts[part] / whole), names[part], readable_percent(share, parts[part]));
    fputs("</div>", out);
}

static void legend_entry(FILE *out, char letter, int part, const char *definition, const char *name)
{
    fprintf(out, "<li><i class=\"%c%d\"></i><dfn title=\"%s\">%s</dfn></li>", letter, part, definition, name);
}

void html_cause_bar(FILE *out, const double causes[CAUSES], double whole)
{
    bar(out, 'c', cause_names, causes, CAUSES, whole);
}

void html_cause_legend(FILE *out)
{
    fputs("<ul class=\"key\">", out);
    for (int cause = 0; cause < CAUSES; cause++)
        legend_entry(out, 'c', cause, html_cause_definition(cause), cause_names[cause]);
    fputs("</ul>\n", out);
}

void html_idle_bar(FILE *out, const double parts[IDLE_PARTS], double whole)
{
    bar(out, 'i', idle_names, parts, IDLE_PARTS, whole);
}

void html_idle_legend(FILE *out)
{
    fputs("<ul class=\"key\">", out);
    for (int part = 0; part < IDLE_PARTS; part++)
        legend_entry(out, 'i', part, idle_definitions[part], idle_names[part]);
    fputs("</ul>\n", out);
}

void html_share_bar(FILE *out, double share)
{
    fprintf(out, "<div class=\"bar\"><i class=\"s\" style=\"width:%.3f%%\"></i></div>", 100 * fmax(0, fmin(1, share)));
}

const char *html_cause_definition(enum cause cause)
{
    static const char *const definitions[CAUSES] = {
        [CAUSE_FILL] = "Before the first computation of the iteration on the worker",
        [CAUSE_DRAIN] = "After its last computation, and no collective of it runs or waits",
        [CAUSE_RECEIVE] = "The next computation waits for a message",
        [CAUSE_COLLECTIVE] =
            "The next computation waits for a collective, or one runs or waits after the last computation",
        [CAUSE_DEPENDENCY] = "The next computation waits for another stream of the same worker",
        [CAUSE_INPUT] = "The next computation, or the first of the iteration, waits for its samples from the storage",
    };
    return definitions[cause];
}

bool html_no_picture(FILE *out)
{
    bool none = !cairo_version_string();
    if (none)
        fputs("<p class=\"note\">No chart: this stagesim was built without cairo, which draws it.</p>\n", out);
    return none;
}

bool html_chart(FILE *out, html_draw *draw, void *user, const char *prefix, const char *slim_prefix, bool field,
                struct fault *fault)
{
    const struct picture_form broad = {.prefix = prefix}, slim = {.prefix = slim_prefix, .width = 260, .font_size = 9};
    if (html_no_picture(out))
        return true;
    fprintf(out, "<figure class=\"paper%s\">\n<div class=\"broad\">\n", field ? " field" : "");
    bool done = draw(out, &broad, user, fault);
    fputs("</div>\n<div class=\"slim\">\n", out);
    done = done && draw(out, &slim, user, fault);
    fputs("</div>\n</figure>\n", out);
    return done;
}

/* ---- texts and tables ---- */

void html_lines(FILE *out, const char *before, const char *text, const char *behind)
{
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        char *line = memory_zeroed(length + 1, 1);
        memcpy(line, text, length);
        fputs(before, out);
        html_text(out, line);
        fputs(behind, out);
        free(line);
    }
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

void html_table(FILE *out, const struct table *table, bool sorts)
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
