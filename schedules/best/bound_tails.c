/* SPDX-License-Identifier: Apache-2.0 */
/* Tails: what has to follow an operation. */
#include "schedules/best/bound_parts.h"

static int64_t follow(const struct bound *bound, uint32_t kind, uint32_t stage, uint32_t batch)
{
    const struct instance *instance = bound->instance;
    return bound->tails[operation_of(instance, kind, stage, batch)] + instance->length[kind][stage];
}

static void behind_add(const struct bound *bound, struct backlog *lists, uint32_t stage, int64_t tail, int64_t length,
                       bool earlier_only)
{
    const struct instance *instance = bound->instance;
    uint32_t worker = instance->worker_of[stage];
    for (uint32_t i = 0; i < instance->stage_count[worker]; i++) {
        uint32_t other = instance->stages_of[worker][i];
        if (!earlier_only || other <= stage)
            backlog_add(&lists[other], tail, length);
    }
}

/* The same in reversed time, where what releases begins, and forwards make room: what has to follow a release of the
 * `ending`-th micro-batch from behind in the stages up to a rank. */
static int64_t room_behind(const struct bound *bound, uint32_t stage, uint32_t first, uint32_t last, uint32_t ending)
{
    const struct instance *instance = bound->instance;
    uint32_t worker = instance->worker_of[stage], endings[64] = {0};
    if (!instance_shares_limit(instance, stage))
        return 0;
    for (uint32_t i = first; i <= last; i++)
        endings[i] = ending;
    return larger(bound_release_at(bound, worker, bound_releases_least(instance, worker, endings)), 0);
}

/* The tail of what has to come after an operation on its worker, behind the part as well. */
static int64_t tail_least(const struct bound *bound, uint32_t stage)
{
    return bound->after[bound->instance->worker_of[stage]];
}

static bool part_has(const struct bound *bound, uint32_t kind, uint32_t stage, uint32_t batch)
{
    return batch < bound->to[kind * bound->instance->stages + stage];
}

static void tail_weight(struct bound *bound, uint32_t stage, uint32_t batch)
{
    const struct instance *instance = bound->instance;
    if (!part_has(bound, BEST_WEIGHT, stage, batch))
        return;
    int64_t tail = tail_least(bound, stage), length = instance->length[BEST_WEIGHT][stage];
    if (batch + 1 < instance->batches)
        tail = larger(tail, follow(bound, BEST_WEIGHT, stage, batch + 1));
    if (instance_limit(instance, stage) && instance->one_each &&
        batch + instance_limit(instance, stage) < instance->batches)
        tail = larger(tail, follow(bound, BEST_FORWARD, stage, batch + instance_limit(instance, stage)));
    tail = larger(tail, room_behind(bound, stage, bound->rank[stage], bound->rank[stage], instance->batches - batch));
    bound->tails[operation_of(instance, BEST_WEIGHT, stage, batch)] = tail;
    behind_add(bound, bound->behind->forward, stage, tail, length, false);
    backlog_add(&bound->behind->backward[stage], tail, length);
    for (uint32_t other = 0; other < instance->stages; other++)
        if (other > stage && instance->worker_of[other] == instance->worker_of[stage])
            backlog_add(&bound->behind->backward[other], tail, length);
}

static void tail_backward(struct bound *bound, uint32_t stage, uint32_t batch)
{
    const struct instance *instance = bound->instance;
    if (!part_has(bound, BEST_BACKWARD, stage, batch))
        return;
    int64_t tail = backlog_end(&bound->behind->backward[stage], tail_least(bound, stage));
    if (stage > 0)
        tail = larger(tail, follow(bound, BEST_BACKWARD, stage - 1, batch) + instance_lag(instance, stage, stage - 1));
    if (instance->kinds == 3)
        tail = larger(tail, follow(bound, BEST_WEIGHT, stage, batch));
    else if (instance_limit(instance, stage) && instance->one_each &&
             batch + instance_limit(instance, stage) < instance->batches)
        tail = larger(tail, follow(bound, BEST_FORWARD, stage, batch + instance_limit(instance, stage)));
    if (instance->kinds == 2)
        tail = larger(tail, room_behind(bound, stage, 0, bound->rank[stage], instance->batches - batch));
    bound->tails[operation_of(instance, BEST_BACKWARD, stage, batch)] = tail;
    int64_t length = instance->length[BEST_BACKWARD][stage];
    behind_add(bound, bound->behind->forward, stage, tail, length, false);
    uint32_t worker = instance->worker_of[stage];
    for (uint32_t i = 0; i < instance->stage_count[worker]; i++)
        if (instance->stages_of[worker][i] >= stage)
            backlog_add(&bound->behind->backward[instance->stages_of[worker][i]], tail, length);
}

static void tail_forward(struct bound *bound, uint32_t stage, uint32_t batch)
{
    const struct instance *instance = bound->instance;
    if (!part_has(bound, BEST_FORWARD, stage, batch))
        return;
    int64_t tail = backlog_end(&bound->behind->forward[stage], tail_least(bound, stage));
    tail = larger(tail, follow(bound, BEST_BACKWARD, stage, batch));
    if (stage + 1 < instance->stages)
        tail = larger(tail, follow(bound, BEST_FORWARD, stage + 1, batch) + instance_lag(instance, stage, stage + 1));
    bound->tails[operation_of(instance, BEST_FORWARD, stage, batch)] = tail;
    behind_add(bound, bound->behind->forward, stage, tail, instance->length[BEST_FORWARD][stage], true);
}

/* Tails of the micro-batches from `first` on, as far as the part has them. */
void bound_find_tails(struct bound *bound, uint32_t first)
{
    const struct instance *instance = bound->instance;
    bound->first = 0;
    for (uint32_t stage = 0; stage < instance->stages; stage++) {
        bound->behind->forward[stage].count = bound->behind->backward[stage].count = 0;
        bound->room[instance->worker_of[stage]].count = 0;
    }
    for (uint32_t batch = instance->batches; batch-- > first;) {
        for (uint32_t stage = 0; instance->kinds == 3 && stage < instance->stages; stage++)
            tail_weight(bound, stage, batch);
        for (uint32_t stage = 0; stage < instance->stages; stage++)
            tail_backward(bound, stage, batch);
        for (uint32_t stage = instance->stages; stage-- > 0;)
            tail_forward(bound, stage, batch);
        for (uint32_t stage = 0; stage < instance->stages; stage++)
            if (instance_shares_limit(instance, stage))
                backlog_add(&bound->room[instance->worker_of[stage]], follow(bound, BEST_FORWARD, stage, batch), 0);
    }
}
