/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/tails/step_ready.h"

#include "base/arena.h"
#include "simulator/tails/step_ready_walk.h"

#include <stdlib.h>
#include <string.h>

/* What other nodes wait for may grow by so many times, where they wait for all computations before one. */
enum { EDGES_GROW = 4 };

enum pass { FORWARD, BACKWARD, WEIGHT, PASSES };

struct edges {
    const struct step_net *net;
    struct step_ready *ready;
    uint32_t *cells; /* [(stage * micro_batches + micro_batch) * PASSES + pass]: node + 1 of one rank */
    uint32_t micro_batches, stages;
    uint32_t *before; /* [node] of a computation: what stands before its part of the order; STEP_ALONE: nothing */
    uint32_t (*pairs)[2];
    size_t count, capacity;
};

static int pass_of(const struct step_task *task)
{
    if (task->type != OPERATION_COMPUTE || task->micro_batch == MICRO_BATCH_NONE)
        return -1;
    return task->kind == STAGESIM_FORWARD    ? FORWARD
           : task->kind == STAGESIM_BACKWARD ? BACKWARD
           : task->kind == STAGESIM_WEIGHT   ? WEIGHT
                                             : PASSES;
}

static bool is_own(const struct step_ready *ready, uint32_t node)
{
    return ready->server[node] < ready->ranks;
}

static uint32_t *cell_of(const struct edges *e, uint32_t stage, uint32_t micro_batch, int pass)
{
    return &e->cells[((size_t)stage * e->micro_batches + micro_batch) * PASSES + (size_t)pass];
}

static void add(struct edges *e, uint32_t node, uint32_t waits)
{
    e->pairs = array_grow(e->pairs, &e->capacity, e->count + 1, sizeof *e->pairs);
    e->pairs[e->count][0] = node;
    e->pairs[e->count++][1] = waits;
}

/* ---- which nodes are computations, and in which order ---- */

/* False: something of a micro-batch is neither a computation that is alone nor a message. */
static bool find_servers(struct edges *e)
{
    const struct step_net *net = e->net;
    const struct mesh *mesh = net->program->mesh;
    struct step_ready *ready = e->ready;
    uint32_t most = 0;
    for (uint32_t position = 0; position < mesh->positions; position++)
        most = net->program->positions[position].stream_count > most ? net->program->positions[position].stream_count
                                                                     : most;
    ready->servers = ready->ranks * (most + 1);
    for (uint32_t node = 0; node < net->count; node++) {
        const struct step_task *task = &net->tasks[node];
        const struct position *position = &net->program->positions[mesh->position_of[task->rank]];
        int pass = pass_of(task);
        ready->server[node] = STEP_ALONE;
        if (pass == PASSES || (task->type == OPERATION_COLLECTIVE && task->micro_batch != MICRO_BATCH_NONE))
            return false;
        if (pass >= 0)
            ready->server[node] = task->rank;
        else if (task->type == OPERATION_SEND)
            ready->server[node] = ready->ranks + task->rank * most + position->operations[task->operation].stream;
        if (task->micro_batch != MICRO_BATCH_NONE && task->micro_batch >= e->micro_batches)
            e->micro_batches = task->micro_batch + 1;
        e->stages = task->stage >= e->stages ? task->stage + 1u : e->stages;
    }
    return true;
}

static int by_operation(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (a[0] > b[0]) - (a[0] < b[0]);
}

/* Lists each rank's computations by their numbers, in which a stream stands one behind the other. */
static void find_orders(struct edges *e, struct arena *arena)
{
    struct step_ready *ready = e->ready;
    const struct step_net *net = e->net;
    uint32_t count = 0, *first = ready->first_own;
    uint32_t(*all)[2] = array_zeroed((size_t)net->count + 1, sizeof *all);
    for (uint32_t node = 0; node < net->count; node++)
        first[net->tasks[node].rank + 1] += net->tasks[node].type == OPERATION_COMPUTE;
    for (uint32_t rank = 0; rank < ready->ranks; rank++)
        first[rank + 1] += first[rank];
    uint32_t *next = array_zeroed(ready->ranks + (size_t)1, sizeof *next);
    for (uint32_t node = 0; node < net->count; node++)
        if (net->tasks[node].type == OPERATION_COMPUTE) {
            uint32_t rank = net->tasks[node].rank, at = first[rank] + next[rank]++;
            all[at][0] = net->tasks[node].operation;
            all[at][1] = node;
        }
    ready->own = arena_array(arena, (size_t)first[ready->ranks] + 1, sizeof *ready->own);
    for (uint32_t rank = 0; rank < ready->ranks; rank++) {
        uint32_t begin = count, before = STEP_ALONE, from = first[rank], to = from + next[rank];
        qsort(all + from, to - from, sizeof *all, by_operation);
        for (uint32_t i = from; i < to; i++) {
            uint32_t node = all[i][1];
            if (!is_own(ready, node)) {
                before = node;
                continue;
            }
            e->before[node] = before;
            ready->place[node] = count - begin;
            ready->own[count++] = node;
        }
        first[rank] = begin;
    }
    first[ready->ranks] = count;
    free(all);
    free(next);
}

/* ---- what they wait for ---- */

static void add_own_wait(struct edges *e, uint32_t node, int64_t stage, int pass)
{
    if (stage < 0 || stage >= e->stages)
        return;
    uint32_t other = *cell_of(e, (uint32_t)stage, e->net->tasks[node].micro_batch, pass);
    if (other)
        add(e, node, other - 1);
}

/* A computation's inputs of its own rank, which the order alone may say. */
static void add_inputs(struct edges *e, uint32_t node)
{
    const struct step_task *task = &e->net->tasks[node];
    int pass = pass_of(task);
    if (pass == FORWARD)
        add_own_wait(e, node, (int64_t)task->stage - 1, FORWARD);
    if (pass == BACKWARD)
        add_own_wait(e, node, (int64_t)task->stage + 1, BACKWARD);
    if (pass != FORWARD)
        add_own_wait(e, node, task->stage, pass - 1);
    if (e->before[node] != STEP_ALONE)
        add(e, node, e->before[node]);
}

/* The inputs of a rank's computations, and what they hold. False: one is there twice, or without its forward. */
static bool add_rank(struct edges *e, uint32_t rank)
{
    struct step_ready *ready = e->ready;
    const uint32_t *own = ready->own + ready->first_own[rank];
    uint32_t count = ready->first_own[rank + 1] - ready->first_own[rank];
    bool plain = true;
    int32_t held = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct step_task *task = &e->net->tasks[own[i]];
        uint32_t *cell = cell_of(e, task->stage, task->micro_batch, pass_of(task));
        plain &= !*cell && (pass_of(task) == FORWARD || *cell_of(e, task->stage, task->micro_batch, pass_of(task) - 1));
        *cell = own[i] + 1;
    }
    for (uint32_t i = 0; i < count && plain; i++) {
        const struct step_task *task = &e->net->tasks[own[i]];
        int pass = pass_of(task);
        bool split = *cell_of(e, task->stage, task->micro_batch, WEIGHT);
        plain &= *cell_of(e, task->stage, task->micro_batch, BACKWARD) != 0;
        ready->holds[own[i]] = pass == FORWARD ? 1 : (pass == WEIGHT) == split ? -1 : 0;
        held += ready->holds[own[i]];
        ready->limit[rank] = held > ready->limit[rank] ? held : ready->limit[rank];
        add_inputs(e, own[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        for (int pass = 0; pass < PASSES; pass++)
            *cell_of(e, e->net->tasks[own[i]].stage, e->net->tasks[own[i]].micro_batch, pass) = 0;
    return plain;
}

/* What the net says, but for the order of computations and messages; who is neither waits for all of a rank's
 * computations up to the one that he waits for. False: that is too much. */
static bool add_others(struct edges *e)
{
    const struct step_net *net = e->net;
    struct step_ready *ready = e->ready;
    size_t most = EDGES_GROW * ((size_t)net->first_wait[net->count] + net->count);
    for (uint32_t node = 0; node < net->count; node++)
        for (uint32_t i = net->first_wait[node]; i < net->first_wait[node + 1]; i++) {
            uint32_t other = net->waits[i];
            if (ready->server[node] != STEP_ALONE && ready->server[node] == ready->server[other])
                continue;
            if (ready->server[node] == STEP_ALONE && is_own(ready, other))
                for (uint32_t k = 0; k < ready->place[other]; k++)
                    add(e, node, ready->own[ready->first_own[ready->server[other]] + k]);
            add(e, node, other);
            if (e->count > most)
                return false;
        }
    return true;
}

/* Edges by the node of one end. */
static uint32_t *sort_edges(const struct edges *e, int end, uint32_t **first, struct arena *arena)
{
    uint32_t *sorted = arena_array(arena, e->count + 1, sizeof *sorted);
    *first = arena_array(arena, (size_t)e->net->count + 2, sizeof **first);
    for (size_t i = 0; i < e->count; i++)
        (*first)[e->pairs[i][end] + 2]++;
    for (uint32_t node = 0; node < e->net->count; node++)
        (*first)[node + 2] += (*first)[node + 1];
    for (size_t i = 0; i < e->count; i++)
        sorted[(*first)[e->pairs[i][end] + 1]++] = e->pairs[i][1 - end];
    return sorted;
}

struct step_ready *step_ready_create(const struct step_net *net, struct arena *arena)
{
    struct step_ready *ready = arena_alloc(arena, sizeof *ready);
    struct edges e = {.net = net, .ready = ready};
    if (net->program->iterations != 1)
        return NULL;
    *ready = (struct step_ready){.net = net, .ranks = net->program->mesh->ranks};
    ready->server = arena_array_unset(arena, net->count, sizeof *ready->server);
    ready->place = arena_array(arena, net->count, sizeof *ready->place);
    ready->holds = arena_array(arena, net->count, sizeof *ready->holds);
    ready->limit = arena_array(arena, ready->ranks, sizeof *ready->limit);
    ready->first_own = arena_array(arena, (size_t)ready->ranks + 1, sizeof *ready->first_own);
    if (!find_servers(&e))
        return NULL;
    e.before = arena_array(arena, net->count, sizeof *e.before);
    find_orders(&e, arena);
    e.cells = array_zeroed((size_t)e.stages * e.micro_batches * PASSES + 1, sizeof *e.cells);
    bool plain = true;
    for (uint32_t rank = 0; rank < ready->ranks && plain; rank++)
        plain = add_rank(&e, rank);
    plain = plain && add_others(&e);
    if (plain) {
        ready->waits = sort_edges(&e, 0, &ready->first_wait, arena);
        ready->nexts = sort_edges(&e, 1, &ready->first_next, arena);
        ready->ends = arena_array(arena, (size_t)net->count + 1, sizeof *ready->ends);
        ready->scratch = ready_scratch_create(ready, arena);
    }
    free(e.cells);
    free(e.pairs);
    return plain ? ready : NULL;
}
