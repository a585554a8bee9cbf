/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/explain/page_cells.h"

#include "analysis/output/html.h"
#include "base/table.h"

#include <math.h>
#include <stdbool.h>

void page_cell_name(FILE *out, const char *name)
{
    fputs("<tr><td>", out);
    html_text(out, name);
    fputs("</td>", out);
}

/* Whether the value is known; otherwise the cell is empty. */
static bool begin(FILE *out, double value)
{
    if (isnan(value))
        fputs("<td></td>", out);
    else
        fprintf(out, "<td class=\"n\" data-v=\"%.17g\">", value);
    return !isnan(value);
}

void page_cell_seconds(FILE *out, double seconds)
{
    char text[READABLE_MAX];
    if (begin(out, seconds))
        fprintf(out, "%s</td>", readable_seconds(text, seconds));
}

void page_cell_share(FILE *out, double share)
{
    char text[READABLE_MAX];
    if (begin(out, share))
        fprintf(out, "%s</td>", readable_percent(text, share));
}

void page_cell_number(FILE *out, double number)
{
    if (begin(out, number))
        fprintf(out, "%.4g</td>", number);
}
