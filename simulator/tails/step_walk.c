/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/tails/step_walk.h"

#include "base/arena.h"

#include <math.h>

/* Share of the step by which a pass over the net may miss the timeline that it is made of: roundings. */
static const double ROUNDING = 1e-9;
/* What adds less than this share to a computation adds nothing. */
static const double ADDS = 1e-12;

/* ---- passes ---- */

static void start_of(const struct step_walk *walk, uint32_t node, double start[STEP_LANES])
{
    const struct step_net *net = walk->model->net;
    for (int lane = 0; lane < STEP_LANES; lane++)
        start[lane] = 0;
    for (uint32_t i = net->first_wait[node]; i < net->first_wait[node + 1]; i++) {
        const double *end = &walk->ends[net->waits[i] * (size_t)STEP_LANES];
        for (int lane = 0; lane < STEP_LANES; lane++)
            start[lane] = end[lane] > start[lane] ? end[lane] : start[lane];
    }
}

static void pass(struct step_walk *walk, bool varies, double longest[STEP_LANES])
{
    const struct step_net *net = walk->model->net;
    for (int lane = 0; lane < STEP_LANES; lane++)
        longest[lane] = 0;
    for (uint32_t node = 0; node < net->count; node++) {
        double seconds[STEP_LANES], start[STEP_LANES], *end = &walk->ends[node * (size_t)STEP_LANES];
        for (int lane = 0; lane < STEP_LANES; lane++)
            seconds[lane] = net->seconds[node];
        if (varies)
            step_draw_seconds(walk->draw, node, seconds);
        start_of(walk, node, start);
        for (int lane = 0; lane < STEP_LANES; lane++) {
            end[lane] = start[lane] + seconds[lane];
            longest[lane] = end[lane] > longest[lane] ? end[lane] : longest[lane];
        }
    }
}

/* ---- the longest path ---- */

static uint32_t last_node(const struct step_walk *walk, int lane)
{
    uint32_t last = 0;
    for (uint32_t node = 1; node < walk->model->net->count; node++)
        if (walk->ends[node * (size_t)STEP_LANES + (size_t)lane] > walk->ends[last * (size_t)STEP_LANES + (size_t)lane])
            last = node;
    return last;
}

/* What the node waited for to the end; STEP_NONE: for nothing. */
static uint32_t before(const struct step_walk *walk, uint32_t node, int lane)
{
    const struct step_net *net = walk->model->net;
    uint32_t latest = STEP_NONE;
    double end = 0;
    for (uint32_t i = net->first_wait[node]; i < net->first_wait[node + 1]; i++) {
        double other = walk->ends[net->waits[i] * (size_t)STEP_LANES + (size_t)lane];
        if (latest == STEP_NONE || other > end) {
            latest = net->waits[i];
            end = other;
        }
    }
    return latest;
}

static double seconds_in(const struct step_walk *walk, uint32_t node, int lane)
{
    double start[STEP_LANES];
    start_of(walk, node, start);
    return walk->ends[node * (size_t)STEP_LANES + (size_t)lane] - start[lane];
}

static void mark_even_path(struct step_walk *walk)
{
    for (uint32_t node = last_node(walk, 0); node != STEP_NONE; node = before(walk, node, 0))
        walk->on_even_path[node] = walk->model->net->tasks[node].type == OPERATION_COMPUTE;
}

struct step_walk *step_walk_create(const struct step_model *model, struct arena *arena, struct fault *fault)
{
    const struct step_net *net = model->net;
    struct step_walk *walk = arena_alloc(arena, sizeof *walk);
    double longest[STEP_LANES];
    *walk = (struct step_walk){.model = model, .draw = step_draw_create(model, arena)};
    walk->ends = arena_array_unset(arena, (size_t)net->count * STEP_LANES, sizeof *walk->ends);
    walk->on_even_path = arena_array(arena, net->count, sizeof *walk->on_even_path);
    walk->seconds =
        model->ready ? arena_array_unset(arena, (size_t)net->count * STEP_LANES, sizeof *walk->seconds) : NULL;
    walk->added = arena_array(arena, (size_t)model->workers * model->replicas, sizeof *walk->added);
    pass(walk, false, longest);
    if (fabs(longest[0] - net->length) > ROUNDING * net->length) {
        fault_set(fault, "a step of %.9g s comes out as one of %.9g s", net->length, longest[0]);
        return NULL;
    }
    mark_even_path(walk);
    return walk;
}

/* The same without a fixed order. */
static void pass_ready(struct step_walk *walk, double longest[STEP_LANES])
{
    for (uint32_t node = 0; node < walk->model->net->count; node++) {
        double *seconds = &walk->seconds[node * (size_t)STEP_LANES];
        for (int lane = 0; lane < STEP_LANES; lane++)
            seconds[lane] = walk->model->net->seconds[node];
        step_draw_seconds(walk->draw, node, seconds);
    }
    for (int lane = 0; lane < STEP_LANES; lane++)
        longest[lane] = step_ready_seconds(walk->model->ready, walk->seconds + lane, STEP_LANES);
}

void step_walk_seconds(struct step_walk *walk, uint64_t first, enum tails_change change, double seconds[STEP_LANES])
{
    step_draw_begin(walk->draw, first, change);
    if (change == CHANGE_READY)
        pass_ready(walk, seconds);
    else
        pass(walk, true, seconds);
}

/* ---- what the steps say ---- */

void step_walk_controls(const struct step_walk *walk, double controls[STEP_LANES])
{
    for (int lane = 0; lane < STEP_LANES; lane++)
        controls[lane] = 0;
    for (uint32_t node = 0; node < walk->model->net->count; node++) {
        double seconds[STEP_LANES];
        if (!walk->on_even_path[node])
            continue;
        step_draw_seconds(walk->draw, node, seconds);
        for (int lane = 0; lane < STEP_LANES; lane++)
            controls[lane] += seconds[lane];
    }
}

double step_walk_control_mean(const struct step_walk *walk)
{
    double mean = 0;
    for (uint32_t node = 0; node < walk->model->net->count; node++)
        mean += walk->on_even_path[node] ? step_mean_seconds(walk->model, node) : 0;
    return mean;
}

uint32_t step_walk_straggler(struct step_walk *walk, int lane)
{
    const struct step_model *model = walk->model;
    const struct step_net *net = model->net;
    uint32_t most = STEP_NONE, last = last_node(walk, lane);
    for (uint32_t node = last; node != STEP_NONE; node = before(walk, node, lane))
        walk->added[model->worker_of[net->tasks[node].rank]] = 0;
    for (uint32_t node = last; node != STEP_NONE; node = before(walk, node, lane)) {
        const struct step_task *task = &net->tasks[node];
        uint32_t worker = model->worker_of[task->rank];
        if (task->type != OPERATION_COMPUTE)
            continue;
        double more = seconds_in(walk, node, lane) - net->seconds[node];
        walk->added[worker] += fabs(more) > ADDS * net->seconds[node] ? more : 0;
    }
    for (uint32_t node = last; node != STEP_NONE; node = before(walk, node, lane)) {
        uint32_t worker = model->worker_of[net->tasks[node].rank];
        double least = most == STEP_NONE ? 0 : walk->added[most];
        most = walk->added[worker] > least ? worker : most;
    }
    return most;
}
