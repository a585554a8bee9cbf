/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/picture_schedule.h"

#include "analysis/pictures/gantt_collect.h"
#include "analysis/pictures/picture_timeline.h"
#include "base/arena.h"
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

/* A stash on its way: beside what is computed. */
static bool moves(const struct timed_slot *slot)
{
    return slot->kind == 'E' || slot->kind == 'L';
}

/* A worker's share of the output layer. */
static bool output(const struct timed_slot *slot)
{
    return slot->kind == 'S' || slot->kind == 'T';
}

static void add_rows(struct gantt *gantt, const struct timed_plan *plan)
{
    size_t capacity = 0;
    double *busy = array_grow(NULL, &capacity, (size_t)plan->workers + 1, sizeof *busy);
    for (uint32_t worker = 0; worker <= plan->workers; worker++)
        busy[worker] = 0;
    double end = 0;
    for (size_t i = 0; i < plan->slot_count; i++) {
        const struct timed_slot *slot = &plan->slots[i];
        busy[slot->worker] += slot->block == 2 || moves(slot) ? 0 : slot->end - slot->start;
        end = slot->end > end ? slot->end : end;
    }
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        char label[16];
        snprintf(label, sizeof label, "%u", worker);
        gantt_add_row(gantt, label, end > 0 ? busy[worker] / end : -1);
    }
    free(busy);
}

/* Whether weights are handed on around the workers: then a pipeline is a worker, not a direction. */
static bool travels(const struct timed_plan *plan)
{
    bool found = false;
    for (size_t i = 0; i < plan->slot_count && !found; i++)
        found = plan->slots[i].kind == 'G';
    return found;
}

struct gantt *gantt_of_plan(const struct timed_plan *plan)
{
    bool bidirectional = plan->pipelines > 1 && !travels(plan);
    uint32_t chunks = plan->workers ? (plan->stages + plan->workers - 1) / plan->workers : 1;
    char subtitle[96];
    size_t used =
        (size_t)snprintf(subtitle, sizeof subtitle, "%u worker%s, %u micro-batch%s", plan->workers,
                         readable_plural(plan->workers), plan->micro_batches, plan->micro_batches == 1 ? "" : "es");
    if (plan->stages != plan->workers)
        snprintf(subtitle + used, sizeof subtitle - used, ", %u stages", plan->stages);
    struct gantt *gantt = gantt_create(plan->name, subtitle, GANTT_BARE);
    gantt->iteration = plan->iteration;
    gantt->bubble = plan->ratio;
    gantt_set_shades(gantt, bidirectional, chunks);
    add_rows(gantt, plan);
    for (size_t i = 0; i < plan->slot_count; i++) {
        const struct timed_slot *slot = &plan->slots[i];
        struct gantt_box box = {
            .start = slot->start, .end = slot->end, .row = slot->worker, .number = slot->micro_batch};
        box.kind = slot->kind == 'F'                   ? GANTT_FORWARD
                   : slot->kind == 'B'                 ? GANTT_BACKWARD
                   : slot->kind == 'R' || output(slot) ? GANTT_COMPUTE
                   : moves(slot)                       ? GANTT_TRANSFER
                                                       : GANTT_WEIGHT;
        box.part = slot->part;
        box.half = slot->block;
        box.shade = gantt_shade_of(gantt, bidirectional, chunks, slot->pipeline,
                                   plan->workers ? slot->stage / plan->workers : 0);
        box.lane = moves(slot) ? GANTT_LANE_COLLECTIVE : GANTT_LANE_COMPUTE;
        if (strchr("FBWR", slot->kind) || slot->end > slot->start)
            gantt_add_box(gantt, &box);
    }
    gantt_finish(gantt);
    return gantt;
}

bool picture_schedule(const struct timed_plan *plan, enum canvas_format format, const struct picture_form *form,
                      FILE *out, struct fault *fault)
{
    struct gantt *gantt = gantt_of_plan(plan);
    bool done = picture_timeline(gantt, format, form, out, fault);
    gantt_destroy(gantt);
    return done;
}
