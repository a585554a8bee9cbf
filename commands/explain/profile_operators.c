/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operators: by kind and shape, against measured kernels, worst first. */
#include "analysis/output/html.h"
#include "base/arena.h"
#include "base/table.h"
#include "commands/explain/page_cells.h"
#include "commands/explain/profile_parts.h"

#include <math.h>
#include <string.h>

enum { SHOWN = 10, SHOWN_ON_PAGE = 40, NAME_COLUMNS = 60 };

static const char *name_of(const struct profile_explanation *e, const struct profile_operator *it)
{
    return e->recorded->names[it->name];
}

/* What it is; of those that are not known, the dimensions without the types. */
static const char *what_of(const struct profile_explanation *e, const struct profile_operator *it)
{
    const char *shape = e->recorded->names[it->shape];
    return it->what ? arena_print(e->arena, "%s%s", it->what, it->outside ? " (beyond what was measured)" : "")
                    : arena_copy_part(e->arena, shape, strcspn(shape, " "));
}

/* "operators    612.3 ms known, 540.1 ms by measured kernels of H100-SXM5-80GB; 20.1 ms of others". */
static const char *sums_text(const struct profile_explanation *e)
{
    char known[READABLE_MAX], expected[READABLE_MAX], unknown[READABLE_MAX];
    const struct operators *o = &e->operators;
    readable_seconds(unknown, o->unknown);
    if (!o->gpu)
        return arena_print(e->arena, "%s of operators with shapes; no kernels of this GPU are installed", unknown);
    const char *device = e->recorded->ranks[0].device;
    return arena_print(e->arena, "%s of operators that are known, %s by measured kernels of %s%s%s%s; %s of others",
                       readable_seconds(known, o->known), readable_seconds(expected, o->expected), o->gpu,
                       o->similar ? " (the trace says " : "", o->similar ? device : "", o->similar ? ")" : "", unknown);
}

/* NULL: nothing is. */
static const char *again_text(const struct profile_explanation *e)
{
    char seconds[READABLE_MAX], share[READABLE_MAX];
    if (!(e->operators.recomputed > 0))
        return NULL;
    return arena_print(e->arena, "%s a step, %s of the computation: activations that checkpoints compute again",
                       readable_seconds(seconds, e->operators.recomputed),
                       readable_percent(share, e->operators.recomputed / e->profile.parts[PROFILE_COMPUTE]));
}

void operators_print(const struct profile_explanation *e, FILE *out)
{
    const struct operators *o = &e->operators;
    if (again_text(e))
        fprintf(out, "\nrecomputed   %s\n", again_text(e));
    if (!o->count)
        return;
    struct table *table = table_create();
    table_columns(table, "<operator", "<shape", ">calls", ">a step", ">measured elsewhere", ">difference", NULL);
    for (size_t i = 0; i < o->count && i < SHOWN; i++) {
        const struct profile_operator *it = &o->list[i];
        table_cell(table, "%.*s", NAME_COLUMNS, name_of(e, it));
        table_cell(table, "%.*s", NAME_COLUMNS, what_of(e, it));
        table_cell(table, "%.4g", it->calls);
        table_seconds(table, it->seconds);
        for (int column = 0; column < 2; column++)
            if (isnan(it->expected))
                table_cell(table, "%s", "");
            else
                table_seconds(table, column ? it->seconds - it->expected : it->expected);
    }
    fprintf(out, "\noperators    %s\n\n", sums_text(e));
    table_finish(table, out, table_style_of(TABLE_TEXT, out));
}

void operators_page(const struct profile_explanation *e, FILE *out)
{
    const struct operators *o = &e->operators;
    if (again_text(e))
        fprintf(out, "<p>Recomputed: %s.</p>\n", again_text(e));
    if (!o->count)
        return;
    fputs("<h2>Operators by kind and shape</h2>\n<p>", out);
    html_text(out, sums_text(e));
    fputs("</p>\n<div class=\"wide\"><table class=\"sort\">\n<thead><tr><th>operator</th><th>shape</th><th>calls</th>"
          "<th>a step</th><th>measured elsewhere</th><th>difference</th></tr></thead>\n<tbody>\n",
          out);
    for (size_t i = 0; i < o->count && i < SHOWN_ON_PAGE; i++) {
        const struct profile_operator *it = &o->list[i];
        page_cell_name(out, name_of(e, it));
        fputs("<td>", out);
        html_text(out, what_of(e, it));
        fputs("</td>", out);
        page_cell_number(out, it->calls);
        page_cell_seconds(out, it->seconds);
        page_cell_seconds(out, it->expected);
        page_cell_seconds(out, it->seconds - it->expected);
        fputs("</tr>\n", out);
    }
    fputs("</tbody>\n</table></div>\n", out);
}

void operators_json(struct json_writer *json, const struct profile_explanation *e)
{
    const struct operators *o = &e->operators;
    if (o->gpu)
        json_text(json, "kernels_of", o->gpu);
    json_number(json, "recomputed_s", o->recomputed);
    json_number(json, "operators_known_s", o->known);
    json_number(json, "operators_expected_s", o->gpu ? o->expected : NAN);
    json_number(json, "operators_unknown_s", o->unknown);
    json_array_begin(json, "operators", true);
    for (size_t i = 0; i < o->count; i++) {
        const struct profile_operator *it = &o->list[i];
        json_object_begin(json, NULL, false);
        json_text(json, "name", name_of(e, it));
        json_text(json, "shape", e->recorded->names[it->shape]);
        if (it->what)
            json_text(json, "kernel", it->what);
        json_number(json, "calls", it->calls);
        json_number(json, "step_s", it->seconds);
        json_number(json, "expected_s", it->expected);
        if (it->what)
            json_flag(json, "outside", it->outside);
        json_object_end(json);
    }
    json_array_end(json);
}
