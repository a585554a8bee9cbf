/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/explain/explain_parts.h"

#include "base/arena.h"
#include "base/table.h"
#include "studies/explain/verdict.h"

#include <math.h>

const char *explain_schedule_text(const struct recognised *found, struct arena *arena)
{
    const char *options = *found->options ? arena_print(arena, " (%s)", found->options) : "";
    if (found->schedule)
        return arena_print(arena, "%s%s in %u of %u steps of a replica%s%s", found->schedule, options, found->followed,
                           found->compared, *found->alike ? "; the same order here: " : "", found->alike);
    if (found->closest)
        return arena_print(arena,
                           "its order is none of the table's; %s%s comes closest: there, %zu of the %zu computations "
                           "of a step stand elsewhere",
                           found->closest, options, found->apart, found->of);
    return found->compared ? "its order is none of the table's" : "no forwards and backwards of micro-batches";
}

static void print_network(const struct losses *losses, FILE *out)
{
    char shared[READABLE_MAX], alone[READABLE_MAX];
    if (isnan(losses->network_alone))
        return;
    readable_seconds(alone, losses->network_alone);
    if (isnan(losses->network_shared))
        fprintf(out, "network      %s if each message and collective had the scenario's network for itself\n", alone);
    else
        fprintf(out,
                "network      %s with messages and collectives on the scenario's links, %s if each had them for "
                "itself\n",
                readable_seconds(shared, losses->network_shared), alone);
}

static void print_head(const struct explanation *e, FILE *out)
{
    char measured[READABLE_MAX], low[READABLE_MAX], high[READABLE_MAX], ideal[READABLE_MAX];
    const struct recognised *found = &e->found;
    const struct losses *losses = &e->losses;
    diag_print(out, "%s: %s, %zu rank%s, %zu step%s, %zu operations\n", e->files[0], e->recorded->format,
               e->recorded->rank_count, readable_plural(e->recorded->rank_count), e->step_count,
               readable_plural(e->step_count), e->recorded->count);
    if (found->workers)
        fprintf(out, "pipeline     %u worker%s, %u stage%s, %u replica%s in the trace, %u micro-batch%s%s\n",
                found->workers, readable_plural(found->workers), found->stages, readable_plural(found->stages),
                found->replicas, readable_plural(found->replicas), found->micro_batches,
                found->micro_batches == 1 ? "" : "es",
                found->slices > 1 ? arena_print(e->arena, " of %u slices", found->slices) : "");
    fprintf(out, "schedule     %s\n", explain_schedule_text(found, e->arena));
    fprintf(out, "step         %s", readable_seconds(measured, losses->measured));
    if (e->step_count > 1)
        fprintf(out, ", the mean of %s to %s", readable_seconds(low, losses->shortest),
                readable_seconds(high, losses->longest));
    if (isnan(losses->predicted))
        fprintf(out, "; %s with every computation at the mean of its kind and every transfer at the median: %.4g times",
                readable_seconds(ideal, losses->ideal), losses->busy / losses->ideal);
    fputs("\n", out);
    print_network(losses, out);
}

static void cell_seconds(struct table *table, double seconds, bool known)
{
    if (known)
        table_seconds(table, seconds);
    else
        table_cell(table, "%s", "");
}

static void cell_row(struct table *table, const char *key, const char *name, double seconds, double whole,
                     const struct loss_part *part, bool keys)
{
    table_cell(table, "%s", keys ? key : name);
    table_seconds(table, seconds);
    table_percent(table, seconds / whole);
    cell_seconds(table, part ? part->who_seconds : NAN, part && !isnan(part->who_seconds));
    table_cell(table, "%s", part && part->who ? part->who : "");
}

void explain_print(const struct explanation *e, enum table_format format, FILE *out)
{
    const struct losses *losses = &e->losses;
    bool model = !isnan(losses->predicted), keys = !table_is_read(format);
    if (format == TABLE_TEXT) {
        print_head(e, out);
        for (size_t i = 0; i < e->recorded->note_count; i++)
            diag_print(out, "note: %s\n", e->recorded->notes[i]);
        fputc('\n', out);
    }
    struct table *table = table_create();
    table_columns(table, "<part", ">seconds", ">share", ">mended alone", "<worst", NULL);
    cell_row(table, "measured", "a step, as it was recorded", losses->measured, losses->measured, NULL, keys);
    for (int kind = 0; kind < LOSS_KINDS; kind++)
        if (loss_shown(losses, (enum loss_kind)kind))
            cell_row(table, loss_keys[kind], loss_names[kind], losses->parts[kind].seconds, losses->measured,
                     &losses->parts[kind], keys);
    cell_row(table, model ? "predicted" : "even", model ? "what the scenario says" : "what is left",
             model ? losses->predicted : losses->even, losses->measured, NULL, keys);
    table_finish(table, out, table_style_of(format, out));
    if (format == TABLE_TEXT)
        fputc('\n', out);
    explain_lines(out, e->verdict);
}
