/* SPDX-License-Identifier: Apache-2.0 */
/* Which layers each stage holds. */
#include "studies/lab_parts.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "base/process/clock.h"
#include "base/process/guard.h"
#include "base/process/interruption.h"
#include "schedules/plan/plan_check.h"
#include "schedules/plan/plan_file.h"
#include "schedules/plan/plan_rows.h"
#include "schedules/schedule.h"
#include "studies/evaluate.h"
#include "studies/simulation.h"
#include "workloads/transformer/pipeline_layout.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STARTS = 3, STAGES_MOST = 64, SHORT = 4 };

/* A backward is about two forwards: computing all of one again takes a third more. */
static const double CLOSE = 1.05, CLOSE_AGAIN = 4.0 / 3;

/* Which layers each stage holds, and what of them it computes again. */
struct partition {
    struct pipeline_layout layout;
    uint8_t recompute[STAGES_MOST]; /* index into `ways`; only of so many stages */
};

static const char *const ways[] = {"none", "selective", "full", NULL};

static bool has_ways(const struct partition *partition)
{
    return partition->layout.stages <= STAGES_MOST;
}

static void set_partition(struct lab_candidate *candidate, const struct partition *partition)
{
    char text[LAB_TEXT_MAX - 64];
    size_t at = 0;
    uint32_t stages = partition->layout.stages;
    for (uint32_t stage = 0; stage < stages && at < sizeof text - 16; stage++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%u", stage ? ", " : "", partition->layout.counts[stage]);
    lab_add_set(candidate, "transformer.balance=even");
    lab_add_set(candidate, "transformer.layers_per_stage=[%s]", text);
    bool alike = true;
    for (uint32_t stage = 1; has_ways(partition) && stage < stages; stage++)
        alike &= partition->recompute[stage] == partition->recompute[0];
    char *way = strstr(candidate->label, ", recompute ");
    if (way && has_ways(partition))
        snprintf(way, sizeof candidate->label - (size_t)(way - candidate->label), ", recompute %s",
                 alike ? ways[partition->recompute[0]] : "by stage");
    at = 0;
    for (uint32_t stage = 0; !alike && stage < stages; stage++)
        at +=
            (size_t)snprintf(text + at, sizeof text - at, "%s%s", stage ? ", " : "", ways[partition->recompute[stage]]);
    if (has_ways(partition))
        lab_add_set(candidate, alike ? "schedule.recompute=%s" : "schedule.recompute=[%s]",
                    alike ? ways[partition->recompute[0]] : text);
}

/* The state of moving: the best so far and where it came from, without sets about layers. */
struct moving {
    struct session *session;
    const struct lab_candidate *base;
    struct lab_candidate best;
    struct partition partition;
};

/* Times the partition as it is now; true where it is better than the best so far, which it then is. */
static bool keeps(struct moving *moving)
{
    struct lab_candidate candidate = *moving->base;
    set_partition(&candidate, &moving->partition);
    if (lab_is_over(moving->session) || !lab_judge(moving->session, &candidate, moving->session->lab->count, NULL) ||
        !lab_is_better(&candidate, &moving->best))
        return false;
    moving->best = candidate;
    moving->session->lab->candidates[moving->session->lab->count++] = candidate;
    guard_doing("timing schedules: %u so far", moving->session->lab->count);
    return true;
}

/* Moves a single layer. */
static bool move_layer(struct moving *moving)
{
    struct pipeline_layout *layout = &moving->partition.layout;
    for (uint32_t from = 0; from < layout->stages; from++)
        for (uint32_t to = 0; to < layout->stages && !lab_is_over(moving->session); to++) {
            if (from == to || layout->counts[from] == 0)
                continue;
            layout->counts[from]--;
            layout->counts[to]++;
            if (keeps(moving))
                return true;
            layout->counts[from]++;
            layout->counts[to]--;
        }
    return false;
}

/* Lets one stage compute more or less again; in short pipelines while a layer moves, too. */
static bool change_way(struct moving *moving)
{
    struct partition *partition = &moving->partition;
    for (uint32_t stage = 0; has_ways(partition) && stage < partition->layout.stages; stage++) {
        uint8_t before = partition->recompute[stage];
        for (uint8_t way = 0; ways[way] && !lab_is_over(moving->session); way++) {
            partition->recompute[stage] = way;
            if (way != before && (keeps(moving) || (partition->layout.stages <= SHORT && move_layer(moving))))
                return true;
        }
        partition->recompute[stage] = before;
    }
    return false;
}

/* Moves single layers and changes what single stages compute again as long as that helps. `base` has no sets about
 * layers; all stages begin with `way`. */
static void move_layers(struct session *session, const struct lab_candidate *base, const struct lab_candidate *balanced,
                        uint8_t way)
{
    struct moving moving = {.session = session, .base = base, .best = *balanced};
    struct fault fault;
    if (!balanced->layout[0] || !pipeline_layout_read(balanced->layout, 0, &moving.partition.layout, &fault))
        return;
    memset(moving.partition.recompute, way, sizeof moving.partition.recompute);
    while (!lab_is_over(session) && (move_layer(&moving) || change_way(&moving)))
        ;
    pipeline_layout_finish(&moving.partition.layout);
}

/* Whether moving layers may make it the best; where stages may compute less again there is more to gain. */
static bool is_close(const struct lab_candidate *best, const struct lab_candidate *candidate, uint8_t way)
{
    return candidate->fits == best->fits && candidate->analytic < (way ? CLOSE_AGAIN : CLOSE) * best->analytic;
}

/* The best so far that nobody has taken; NULL: none is left. */
static const struct lab_candidate *take_best(const struct lab *lab, bool *taken)
{
    const struct lab_candidate *best = NULL;
    for (uint32_t i = 0; i < lab->count; i++)
        if (!taken[i] && (!best || lab_is_better(&lab->candidates[i], best)))
            best = &lab->candidates[i];
    if (best)
        taken[best - lab->candidates] = true;
    return best;
}

/* The best few, and the scenario's own schedule, last, if it is not among them; how many. */
static uint32_t choose_starts(const struct session *session, struct lab_candidate starts[STARTS + 1])
{
    struct lab *lab = session->lab;
    const char *own = session->request->scenario->schedule_name;
    bool *taken = array_zeroed(lab->count, sizeof *taken);
    uint32_t count = 0;
    for (const struct lab_candidate *next; count < STARTS && (next = take_best(lab, taken));)
        starts[count++] = *next;
    for (uint32_t i = 0; i < lab->count; i++)
        if (own && !strcmp(lab->candidates[i].label, own)) {
            lab->candidates[i].own = true;
            if (!taken[i])
                starts[count++] = lab->candidates[i];
            for (uint32_t k = 0; k < count; k++)
                starts[k].own |= !strcmp(starts[k].label, own);
        }
    free(taken);
    return count;
}

/* From the best so far, and from the scenario's own schedule: its layers balanced, then moved; each way of
 * recomputing. */
void lab_try_partitions(struct session *session)
{
    struct lab_candidate starts[STARTS + 1];
    uint32_t count = choose_starts(session, starts);
    for (uint32_t i = 0; i < count; i++)
        for (uint8_t way = 0; ways[way] && !lab_is_over(session); way++) {
            struct lab_candidate base = starts[i];
            lab_add_set(&base, "schedule.recompute=%s", ways[way]);
            snprintf(base.label, sizeof base.label, "%.90s, recompute %s", starts[i].label, ways[way]);
            struct lab_candidate balanced = base;
            lab_add_set(&balanced, "transformer.balance=auto");
            if (lab_try(session, &balanced, NULL) && (base.own || is_close(lab_best(session->lab), &balanced, way)))
                move_layers(session, &base, &balanced, way);
        }
}
