/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/best/moves.h"

/* Whether a worker that shares its limit among several stages still gets through after one more forward of `stage`. The
 * first m micro-batches are through the last stage; they give their stashes back without another forward. Micro-batch m
 * then needs a stash in every stage before anything else is given back: sum over the worker's stages of
 * max(forwards - m, 1) <= limit. If that holds for m it holds for those behind, so it is exact. */
static bool leaves_a_way(const struct instance *instance, const struct progress_state *state, uint32_t stage)
{
    const uint32_t *done = state->done;
    uint32_t worker = instance->worker_of[stage], last = instance->stages - 1, sum = 0;
    uint32_t through = done[last] + (stage == last);
    for (uint32_t i = 0; i < instance->stage_count[worker]; i++) {
        uint32_t other = instance->stages_of[worker][i], forwards = done[other] + (other == stage);
        sum += forwards > through + 1 ? forwards - through : 1;
    }
    return sum <= instance->limits[worker];
}

/* Whether the next operation of a chain could start: all that it waits for has been decided. */
static bool is_ready(const struct instance *instance, const struct progress_state *state, const uint32_t *to,
                     uint32_t kind, uint32_t stage)
{
    const uint32_t *done = state->done;
    uint32_t stages = instance->stages, batch = done[kind * stages + stage];
    if (batch >= to[kind * stages + stage] || (kind > 0 && done[(kind - 1) * stages + stage] <= batch))
        return false;
    uint32_t limit = instance_limit(instance, stage);
    if (kind == BEST_FORWARD && limit && state->held[instance->worker_of[stage]] >= limit)
        return false;
    if (kind == BEST_FORWARD && limit && !instance->one_each && !leaves_a_way(instance, state, stage))
        return false;
    uint32_t from = kind == BEST_FORWARD ? stage - 1 : stage + 1;
    return kind == BEST_WEIGHT || from >= stages || done[kind * stages + from] > batch;
}

/* The ready operation that can end first; UINT32_MAX: none is ready. */
static uint32_t first_to_end(const struct instance *instance, const struct progress_state *state,
                             const struct bound *bound)
{
    const int64_t *heads = bound_earliest(bound);
    const uint32_t *to = bound_to(bound);
    uint32_t first = UINT32_MAX;
    int64_t least = INT64_MAX;
    for (uint32_t kind = 0; kind < instance->kinds; kind++)
        for (uint32_t stage = 0; stage < instance->stages; stage++) {
            if (!is_ready(instance, state, to, kind, stage))
                continue;
            uint32_t operation = operation_of(instance, kind, stage, state->done[kind * instance->stages + stage]);
            int64_t end = heads[operation] + instance->length[kind][stage];
            /* Of operations that end together one without length comes first, so that nothing overlaps it. */
            if (end < least) {
                least = end;
                first = operation;
            }
        }
    return first;
}

uint32_t moves_list(const struct instance *instance, const struct progress_state *state, const struct bound *bound,
                    struct move *moves)
{
    const int64_t *heads = bound_earliest(bound);
    const uint32_t *to = bound_to(bound);
    uint32_t first = first_to_end(instance, state, bound), count = 0;
    if (first == UINT32_MAX)
        return 0;
    uint32_t worker = instance->worker_of[operation_stage(instance, first)];
    int64_t end = heads[first] + operation_length(instance, first);
    for (uint32_t kind = 0; kind < instance->kinds; kind++)
        for (uint32_t i = 0; i < instance->stage_count[worker]; i++) {
            uint32_t stage = instance->stages_of[worker][i];
            uint32_t operation = operation_of(instance, kind, stage, state->done[kind * instance->stages + stage]);
            if (is_ready(instance, state, to, kind, stage) && (operation == first || heads[operation] < end))
                moves[count++] = (struct move){operation, worker, heads[operation], 0};
        }
    if (instance_shares_limit(instance, operation_stage(instance, first)) &&
        operation_kind(instance, first) == BEST_FORWARD)
        moves[count++] = (struct move){MOVE_IDLE, worker, end, INT64_MIN};
    return count;
}

void move_do(const struct instance *instance, struct progress_state *state, const struct move *move)
{
    uint32_t worker = move->worker;
    state->free[worker] = move->start;
    if (move->operation == MOVE_IDLE)
        return;
    uint32_t chain = move->operation / instance->batches, kind = chain / instance->stages;
    state->free[worker] += operation_length(instance, move->operation);
    state->ends[move->operation] = state->free[worker];
    state->done[chain]++;
    state->held[worker] += kind == BEST_FORWARD;
    state->held[worker] -= kind == instance_release(instance);
}

void move_undo(const struct instance *instance, struct progress_state *state, const struct move *move, int64_t free)
{
    state->free[move->worker] = free;
    if (move->operation == MOVE_IDLE)
        return;
    uint32_t chain = move->operation / instance->batches, kind = chain / instance->stages;
    state->done[chain]--;
    state->held[move->worker] -= kind == BEST_FORWARD;
    state->held[move->worker] += kind == instance_release(instance);
}

uint32_t moves_most(const struct instance *instance)
{
    uint32_t most = 0;
    for (uint32_t worker = 0; worker < instance->workers; worker++)
        most = instance->stage_count[worker] > most ? instance->stage_count[worker] : most;
    return instance->kinds * most + 1;
}
