/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/table.h"
#include "commands/explain/explain_parts.h"
#include "commands/explain/profile_parts.h"

#include <math.h>

enum { KERNELS_SHOWN = 10, NAME_COLUMNS = 60, RANKS_SHOWN = 16 };

/* Of a step: less is not worth a word. */
static const double worth = 2e-3;

bool profile_shown(const struct profile_explanation *e, int part)
{
    return e->profile.parts[part] > 0 || (e->predicted && e->expected.parts[part] > 0) || part == PROFILE_COMPUTE;
}

uint32_t profile_latest(const struct profile_explanation *e)
{
    uint32_t latest = RECORDED_NONE;
    for (uint32_t i = 0; i < e->recorded->rank_count; i++)
        if (e->meetings.lateness[i] > 0 &&
            (latest == RECORDED_NONE || e->meetings.lateness[i] > e->meetings.lateness[latest]))
            latest = i;
    return latest;
}

/* ---- words ---- */

/* What a part loses: all of it, or what it is longer than predicted. */
static double loss_of(const struct profile_explanation *e, int part)
{
    if (e->predicted)
        return e->profile.parts[part] - e->expected.parts[part];
    return part == PROFILE_COMPUTE ? 0 : e->profile.parts[part];
}

const char *profile_verdict(const struct profile_explanation *e)
{
    char step[READABLE_MAX], other[READABLE_MAX], cost[READABLE_MAX], share[READABLE_MAX], late[READABLE_MAX];
    int worst = PROFILE_COMPUTE;
    for (int part = 0; part < PROFILE_PARTS; part++)
        worst = loss_of(e, part) > loss_of(e, worst) ? part : worst;
    readable_seconds(step, e->profile.seconds);
    readable_seconds(other, e->predicted ? e->expected.seconds : e->profile.parts[PROFILE_COMPUTE]);
    const char *first = arena_print(e->arena,
                                    e->predicted ? "A step takes %s, the scenario says %s."
                                                 : "A step takes %s, for %s of which kernels compute.",
                                    step, other);
    if (!(loss_of(e, worst) > worth * e->profile.seconds))
        return arena_print(e->arena, "%s No part of it is worth 0.2 %% of the step.", first);
    uint32_t latest = profile_latest(e);
    const char *who = "";
    if (worst == PROFILE_WAITING && latest != RECORDED_NONE)
        who = arena_print(e->arena, ": rank %u comes last, %s after the first on average",
                          e->recorded->ranks[latest].number, readable_seconds(late, e->meetings.lateness[latest]));
    return arena_print(
        e->arena,
        "%s Most of the difference, %s or %s of the step, is %s%s. Try this: %s; at most, that gives %s a "
        "step.",
        first, readable_seconds(cost, loss_of(e, worst)),
        readable_percent(share, loss_of(e, worst) / e->profile.seconds), profile_names[worst], who,
        profile_advice[worst], cost);
}

/* ---- tables ---- */

static void print_head(const struct profile_explanation *e, FILE *out)
{
    char step[READABLE_MAX], low[READABLE_MAX], high[READABLE_MAX];
    const struct recorded *recorded = e->recorded;
    diag_print(out, "%s: %s, %zu rank%s%s%s, %zu step%s, %zu operations\n", e->files[0], recorded->format,
               recorded->rank_count, readable_plural(recorded->rank_count), recorded->ranks[0].device ? " on " : "",
               recorded->ranks[0].device ? recorded->ranks[0].device : "", e->profile.step_count,
               readable_plural(e->profile.step_count), recorded->count);
    if (recorded->world)
        fprintf(out, "job          %u ranks, %zu in the trace\n", recorded->world, recorded->rank_count);
    for (size_t i = 0; i < recorded->group_count; i++)
        if (recorded->groups[i].size)
            diag_print(out, "group        %s%s%s, %u ranks\n", recorded->groups[i].name,
                       recorded->groups[i].what ? ", " : "", recorded->groups[i].what ? recorded->groups[i].what : "",
                       recorded->groups[i].size);
    const char *mesh = axes_text(&e->axes, recorded->world, e->arena);
    if (mesh)
        fprintf(out, "mesh         %s\n", mesh);
    const char *layers = layer_rows_text(recorded, &e->layers, e->arena);
    if (layers)
        diag_print(out, "layers       %s\n", layers);
    fprintf(out, "step         %s, %s to %s\n", readable_seconds(step, e->profile.seconds),
            readable_seconds(low, e->profile.shortest), readable_seconds(high, e->profile.longest));
    for (size_t i = 0; i < recorded->note_count; i++)
        diag_print(out, "note: %s\n", recorded->notes[i]);
    fputc('\n', out);
}

static void part_row(struct table *table, const struct profile_explanation *e, const char *name, double seconds,
                     double expected)
{
    table_cell(table, "%s", name);
    table_seconds(table, seconds);
    table_percent(table, seconds / e->profile.seconds);
    if (!e->predicted)
        return;
    table_seconds(table, expected);
    table_seconds(table, seconds - expected);
}

static void print_parts(const struct profile_explanation *e, enum table_format format, FILE *out)
{
    struct table *table = table_create();
    bool keys = !table_is_read(format);
    table_columns(table, "<part", ">seconds", ">share", NULL);
    if (e->predicted)
        table_columns(table, ">predicted", ">difference", NULL);
    part_row(table, e, keys ? "step" : "a step", e->profile.seconds, e->expected.seconds);
    for (int part = 0; part < PROFILE_PARTS; part++)
        if (profile_shown(e, part))
            part_row(table, e, keys ? profile_keys[part] : profile_names[part], e->profile.parts[part],
                     e->expected.parts[part]);
    table_finish(table, out, table_style_of(format, out));
}

static void print_replay(const struct profile_explanation *e, FILE *out)
{
    if (!e->replay.done)
        return;
    struct table *table = table_create();
    table_columns(table, "<by replay", ">a step", ">share", NULL);
    table_cell(table, "%s", "a step, with what it leaves to the device");
    table_seconds(table, e->replay.seconds);
    table_percent(table, 1);
    for (int part = 0; part < KERNEL_PARTS; part++) {
        if (!kernel_part_shown(&e->replay, part))
            continue;
        table_cell(table, "%s", kernel_part_names[part]);
        table_seconds(table, e->replay.parts[part]);
        table_percent(table, e->replay.parts[part] / e->replay.seconds);
    }
    fputc('\n', out);
    table_finish(table, out, table_style_of(TABLE_TEXT, out));
}

static void print_kernels(const struct profile_explanation *e, FILE *out)
{
    struct table *table = table_create();
    table_columns(table, "<on the device", ">calls", ">a step", ">share", NULL);
    for (size_t i = 0; i < e->profile.kernel_count && i < KERNELS_SHOWN; i++) {
        const struct profile_kernel *kernel = &e->profile.kernels[i];
        table_cell(table, "%.*s", NAME_COLUMNS, e->recorded->names[kernel->name]);
        table_cell(table, "%u", kernel->calls);
        table_seconds(table, kernel->seconds);
        table_percent(table, kernel->seconds / e->profile.seconds);
    }
    fputc('\n', out);
    table_finish(table, out, table_style_of(TABLE_TEXT, out));
}

static void print_ranks(const struct profile_explanation *e, FILE *out)
{
    struct table *table = table_create();
    table_columns(table, ">rank", ">step", ">computation", ">waiting", ">comes late by", NULL);
    for (uint32_t i = 0; i < e->recorded->rank_count && i < RANKS_SHOWN; i++) {
        const struct profile_rank *rank = &e->profile.ranks[i];
        table_cell(table, "%u", e->recorded->ranks[i].number);
        table_seconds(table, rank->seconds);
        table_seconds(table, rank->parts[PROFILE_COMPUTE]);
        table_seconds(table, rank->parts[PROFILE_WAITING]);
        if (isnan(e->meetings.lateness[i]))
            table_cell(table, "%s", "");
        else
            table_seconds(table, e->meetings.lateness[i]);
    }
    fputc('\n', out);
    table_finish(table, out, table_style_of(TABLE_TEXT, out));
    if (e->recorded->rank_count > RANKS_SHOWN)
        fprintf(out, "... and %zu ranks more\n", e->recorded->rank_count - RANKS_SHOWN);
}

void profile_print(const struct profile_explanation *e, enum table_format format, FILE *out)
{
    if (format == TABLE_TEXT)
        print_head(e, out);
    print_parts(e, format, out);
    if (format != TABLE_TEXT)
        return;
    print_replay(e, out);
    operators_print(e, out);
    print_kernels(e, out);
    if (e->recorded->rank_count > 1)
        print_ranks(e, out);
    fputc('\n', out);
    explain_lines(out, e->verdict);
}
