/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/profile/kernel_replay.h"

#include "base/arena.h"
#include "studies/explain/engine_replay.h"
#include "studies/explain/like.h"
#include "studies/profile/kernel_network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Larger traces are split by instants alone: as a program they would take gigabytes. */
enum { OPERATIONS_MAX = 1 << 20 };

const char *const kernel_part_keys[KERNEL_PARTS] = {
    [KERNEL_HOST] = "host",           [KERNEL_LAUNCH] = "launch",         [KERNEL_RANKS] = "slow-ranks",
    [KERNEL_SLOW] = "slow-transfers", [KERNEL_CONTENTION] = "contention", [KERNEL_TRANSFER] = "transfers",
    [KERNEL_COPIES] = "copies",       [KERNEL_COMPUTE] = "computation"};
const char *const kernel_part_names[KERNEL_PARTS] = {
    [KERNEL_HOST] = "the host, between its calls",
    [KERNEL_LAUNCH] = "from a launch to its begin on the device",
    [KERNEL_RANKS] = "computation, against the median of the ranks",
    [KERNEL_SLOW] = "messages and collectives, against the scenario's links",
    [KERNEL_CONTENTION] = "messages and collectives in each other's way there",
    [KERNEL_TRANSFER] = "messages and collectives",
    [KERNEL_COPIES] = "copies of memory",
    [KERNEL_COMPUTE] = "computation",
};

/* ---- the median over ranks ---- */

/* The n-th of its name in its step on its rank. */
struct kernel {
    const struct recorded_operation *operation;
    uint32_t rank, number;
};

static int by_name(const void *left, const void *right)
{
    const struct kernel *a = left, *b = right;
    const uint32_t keys[][2] = {
        {a->operation->name, b->operation->name}, {a->operation->step, b->operation->step}, {a->rank, b->rank}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    double first = a->operation->begin, second = b->operation->begin;
    return first != second ? (first > second) - (first < second)
                           : (a->operation > b->operation) - (a->operation < b->operation);
}

/* [operation]: seconds of computations, the median over ranks; the caller frees it. */
static double *medians_of(const struct recorded *recorded)
{
    double *medians = array_zeroed(recorded->count, sizeof *medians);
    struct kernel *kernels = array_zeroed(recorded->count, sizeof *kernels);
    struct like *likes = array_zeroed(recorded->count, sizeof *likes);
    size_t count = 0;
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (operation->kind == RECORDED_COMPUTE)
            kernels[count++] = (struct kernel){operation, recorded_rank_of(recorded, operation), 0};
    }
    if (count)
        qsort(kernels, count, sizeof *kernels, by_name);
    for (size_t i = 0; i < count; i++) {
        const struct recorded_operation *operation = kernels[i].operation;
        bool next = i && kernels[i - 1].operation->name == operation->name &&
                    kernels[i - 1].operation->step == operation->step && kernels[i - 1].rank == kernels[i].rank;
        kernels[i].number = next ? kernels[i - 1].number + 1 : 0;
        likes[i] = (struct like){.first = (uint64_t)operation->name << 32 | operation->step,
                                 .second = kernels[i].number,
                                 .value = operation->end - operation->begin,
                                 .operation = (uint32_t)(operation - recorded->operations)};
    }
    like_medians(likes, count);
    for (size_t i = 0; i < count; i++)
        medians[likes[i].operation] = likes[i].value;
    free(kernels);
    free(likes);
    return medians;
}

/* ---- one thing after the other ---- */

struct walk {
    const struct recorded *recorded;
    const struct replay *graph;
    struct engine_replay *engine;
    double *seconds, *gaps;               /* [node] */
    double *medians;                      /* [operation] */
    const struct kernel_network *network; /* NULL: none */
};

/* What a transfer takes on the scenario's links, beside others or alone, where that is known. */
static double on_links(const struct walk *walk, enum kernel_part part, uint32_t operation, double otherwise)
{
    if (!walk->network)
        return otherwise;
    double seconds = (part == KERNEL_SLOW ? walk->network->shared : walk->network->alone)[operation];
    return isnan(seconds) ? otherwise : seconds;
}

/* Takes a part away from a node. */
static void take(struct walk *walk, enum kernel_part part, uint32_t node)
{
    uint32_t index = walk->graph->nodes[node].operation;
    if (index == RECORDED_NONE)
        return;
    const struct recorded_operation *operation = &walk->recorded->operations[index];
    bool works = recorded_works(operation), moves = walk->graph->nodes[node].kind == REPLAY_WORK && works;
    if ((part == KERNEL_HOST && !works) || (part == KERNEL_LAUNCH && works))
        walk->gaps[node] = 0;
    else if (part == KERNEL_RANKS && operation->kind == RECORDED_COMPUTE)
        walk->seconds[node] = walk->medians[index];
    else if ((part == KERNEL_SLOW || part == KERNEL_CONTENTION) && moves && recorded_communicates(operation))
        walk->seconds[node] = on_links(walk, part, index, walk->seconds[node]);
    else if ((part == KERNEL_TRANSFER && moves && recorded_communicates(operation)) ||
             (part == KERNEL_COPIES && operation->kind == RECORDED_MEMORY))
        walk->seconds[node] = 0;
}

static bool walk_parts(struct walk *walk, double steps, struct kernel_replay *found, struct fault *fault)
{
    double before = engine_replay_time(walk->engine, walk->seconds, walk->gaps, fault);
    found->seconds = before / steps;
    for (int part = 0; part < KERNEL_COMPUTE && !isnan(before); part++) {
        for (uint32_t i = 0; i < walk->graph->node_count; i++)
            take(walk, (enum kernel_part)part, i);
        double after = engine_replay_time(walk->engine, walk->seconds, walk->gaps, fault);
        found->parts[part] = (before - after) / steps;
        before = after;
    }
    found->parts[KERNEL_COMPUTE] = before / steps;
    return !isnan(before);
}

bool kernel_replay_possible(const struct recorded *recorded)
{
    size_t device = 0, launches = 0;
    for (size_t i = 0; i < recorded->count; i++) {
        device += recorded_works(&recorded->operations[i]);
        launches += recorded->operations[i].kind == RECORDED_LAUNCH;
    }
    return device && launches && device + launches <= OPERATIONS_MAX;
}

bool kernel_replay_find(const struct recorded *recorded, size_t steps, const struct kernel_network *network,
                        struct kernel_replay *found, struct fault *fault)
{
    *found = (struct kernel_replay){.network = network && network->known};
    if (!kernel_replay_possible(recorded) || !steps)
        return true;
    struct replay *graph = kernel_graph_create(recorded, fault);
    struct walk walk = {.recorded = recorded, .graph = graph, .network = found->network ? network : NULL};
    walk.engine = graph ? engine_replay_create(graph, NULL, fault) : NULL;
    if (walk.engine) {
        walk.seconds = array_zeroed(graph->node_count, sizeof *walk.seconds);
        walk.gaps = array_zeroed(graph->node_count, sizeof *walk.gaps);
        walk.medians = medians_of(recorded);
        for (uint32_t i = 0; i < graph->node_count; i++) {
            walk.seconds[i] = graph->nodes[i].seconds;
            walk.gaps[i] = graph->nodes[i].gap;
        }
        found->done = walk_parts(&walk, (double)steps, found, fault);
    }
    free(walk.seconds);
    free(walk.gaps);
    free(walk.medians);
    engine_replay_finish(walk.engine);
    replay_finish(graph);
    return found->done;
}
