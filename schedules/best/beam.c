/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/best/beam.h"

#include "base/arena.h"
#include "schedules/best/moves.h"

#include <stdlib.h>
#include <string.h>

enum { MEMORY_MAX = 1 << 27 }; /* bytes of all states, of this step and of the one before */

/* A state and how it came about. */
struct node {
    struct progress_state state;
    uint16_t *trace; /* chains in the order of the decisions */
    uint32_t decided;
};

/* A state that may go on: a node of the beam and a move. */
struct candidate {
    uint32_t node;
    struct move move;
    int64_t end;   /* bound of everything */
    double spread; /* mean over workers of their bounds: what breaks ties */
    uint64_t key;  /* of what has been decided and when workers are free: equal states are kept once */
};

struct beam {
    const struct instance *instance;
    struct bound *bound;
    struct node *nodes, *others; /* [width] */
    struct candidate *candidates;
    uint32_t width, count, candidate_count;
    struct move *moves;
};

static void node_create(const struct instance *instance, struct node *node, struct arena *arena)
{
    node->state.done = arena_array(arena, instance->kinds * instance->stages, sizeof(uint32_t));
    node->state.ends = arena_array(arena, instance->operations, sizeof(int64_t));
    node->state.free = arena_array(arena, instance->workers, sizeof(int64_t));
    node->state.held = arena_array(arena, instance->workers, sizeof(uint32_t));
    node->trace = arena_array(arena, instance->operations, sizeof(uint16_t));
}

static void node_copy(const struct instance *instance, struct node *to, const struct node *from)
{
    memcpy(to->state.done, from->state.done, instance->kinds * instance->stages * sizeof(uint32_t));
    memcpy(to->state.ends, from->state.ends, instance->operations * sizeof(int64_t));
    memcpy(to->state.free, from->state.free, instance->workers * sizeof(int64_t));
    memcpy(to->state.held, from->state.held, instance->workers * sizeof(uint32_t));
    memcpy(to->trace, from->trace, from->decided * sizeof(uint16_t));
    to->decided = from->decided;
}

static uint64_t key_of(const struct instance *instance, const struct progress_state *state)
{
    uint64_t key = 14695981039346656037u;
    for (uint32_t chain = 0; chain < instance->kinds * instance->stages; chain++)
        key = (key ^ state->done[chain]) * 1099511628211u;
    for (uint32_t worker = 0; worker < instance->workers; worker++)
        key = (key ^ (uint64_t)state->free[worker]) * 1099511628211u;
    return key;
}

/* The bound of a state; above `most` it is not looked at further. */
static bool judge(struct beam *beam, const struct progress_state *state, int64_t most, struct candidate *candidate)
{
    uint32_t workers = beam->instance->workers;
    double sum = 0;
    candidate->end = bound_heads(beam->bound, state, most);
    for (uint32_t worker = 0; worker < workers && candidate->end <= most; worker++) {
        int64_t end = bound_worker(beam->bound, state, worker);
        candidate->end = end > candidate->end ? end : candidate->end;
        sum += (double)end;
    }
    candidate->spread = sum / workers;
    candidate->key = key_of(beam->instance, state);
    return candidate->end <= most;
}

static void expand(struct beam *beam, uint32_t index, int64_t most, struct budget *budget)
{
    struct progress_state *state = &beam->nodes[index].state;
    bound_heads(beam->bound, state, most);
    uint32_t count = moves_list(beam->instance, state, beam->bound, beam->moves);
    for (uint32_t i = 0; i < count; i++) {
        struct candidate *candidate = &beam->candidates[beam->candidate_count];
        int64_t free = state->free[beam->moves[i].worker];
        *candidate = (struct candidate){.node = index, .move = beam->moves[i]};
        move_do(beam->instance, state, &beam->moves[i]);
        beam->candidate_count += judge(beam, state, most, candidate);
        move_undo(beam->instance, state, &beam->moves[i], free);
        budget_spend(budget);
    }
}

static int by_promise(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    if (a->spread < b->spread || a->spread > b->spread)
        return a->spread < b->spread ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

/* The best candidates become the beam. */
static void keep_best(struct beam *beam)
{
    qsort(beam->candidates, beam->candidate_count, sizeof *beam->candidates, by_promise);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < beam->candidate_count && kept < beam->width; i++) {
        const struct candidate *candidate = &beam->candidates[i];
        if (i > 0 && candidate->key == candidate[-1].key && candidate->end == candidate[-1].end)
            continue;
        struct node *node = &beam->others[kept++];
        node_copy(beam->instance, node, &beam->nodes[candidate->node]);
        move_do(beam->instance, &node->state, &candidate->move);
        if (candidate->move.operation != MOVE_IDLE)
            node->trace[node->decided++] = (uint16_t)(candidate->move.operation / beam->instance->batches);
    }
    struct node *nodes = beam->nodes;
    beam->nodes = beam->others;
    beam->others = nodes;
    beam->count = kept;
}

/* The first node that has decided everything, or NULL. */
static const struct node *finished(const struct beam *beam)
{
    for (uint32_t i = 0; i < beam->count; i++)
        if (beam->nodes[i].decided == beam->instance->operations)
            return &beam->nodes[i];
    return NULL;
}

bool beam_search(const struct instance *instance, struct bound *bound, uint32_t width, int64_t most,
                 struct budget *budget, struct words *words)
{
    struct arena *arena = arena_create();
    uint32_t room = MEMORY_MAX / (2 * (uint32_t)sizeof(int64_t) * instance->operations);
    width = width < room ? width : room > 0 ? room : 1;
    struct beam beam = {.instance = instance, .bound = bound, .width = width, .count = 1};
    beam.nodes = arena_array(arena, width, sizeof *beam.nodes);
    beam.others = arena_array(arena, width, sizeof *beam.others);
    for (uint32_t i = 0; i < width; i++) {
        node_create(instance, &beam.nodes[i], arena);
        node_create(instance, &beam.others[i], arena);
    }
    beam.moves = arena_array(arena, moves_most(instance), sizeof *beam.moves);
    beam.candidates = arena_array(arena, (size_t)width * moves_most(instance), sizeof *beam.candidates);
    const struct node *node = NULL;
    while (beam.count > 0 && !budget_is_spent(budget) && !(node = finished(&beam))) {
        beam.candidate_count = 0;
        for (uint32_t i = 0; i < beam.count; i++)
            expand(&beam, i, most, budget);
        keep_best(&beam);
    }
    if (node)
        words_of_chains(instance, node->trace, node->decided, words);
    arena_destroy(arena);
    return node != NULL;
}
