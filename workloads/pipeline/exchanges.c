/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives among ranks that share the work of a part: their costs, their groups, and when they run. */
#include "workloads/pipeline/lowering.h"

#include <assert.h>
#include <string.h>

static bool exists(const struct stagesim_exchanges *exchanges, unsigned index)
{
    return index < STAGESIM_EXCHANGES_MAX && exchanges->items[index].bytes > 0;
}

bool lowering_merge_exchanges(struct stagesim_exchanges *sum, const struct stagesim_exchanges *more)
{
    for (unsigned i = 0; exists(more, i); i++) {
        const struct stagesim_exchange *from = &more->items[i];
        unsigned k = 0;
        while (exists(sum, k) && !(sum->items[k].collective == from->collective && sum->items[k].kind == from->kind &&
                                   sum->items[k].moment == from->moment && sum->items[k].hidden == from->hidden &&
                                   !strcmp(sum->items[k].axes, from->axes)))
            k++;
        if (k == STAGESIM_EXCHANGES_MAX)
            return false;
        double bytes = exists(sum, k) ? sum->items[k].bytes : 0, buffers = exists(sum, k) ? sum->items[k].buffers : 0;
        sum->items[k] = *from;
        sum->items[k].bytes += bytes;
        sum->items[k].buffers = buffers + (from->buffers > 0 ? from->buffers : 1);
    }
    return true;
}

bool pipeline_exchanges_fit(const struct stagesim_pipeline *costs)
{
    bool fit = true;
    for (uint32_t stage = 0; costs->parts && stage < costs->stages; stage++) {
        struct stagesim_exchanges forward = {0}, backward = {0};
        for (uint32_t i = 0; i < costs->part_counts[stage]; i++) {
            fit &= lowering_merge_exchanges(&forward, &costs->parts[stage][i].forward_exchanges);
            fit &= lowering_merge_exchanges(&backward, &costs->parts[stage][i].backward_exchanges);
        }
    }
    return fit;
}

void lowering_add_exchange_costs(struct lowering *l, const struct stagesim_exchanges *exchanges,
                                 struct exchange_list *out)
{
    enum stagesim_moment moment = STAGESIM_AFTER; /* of those that begin together, what the first one says */
    bool begun = false;                           /* and some ranks take part in one before */
    out->count = 0;
    out->moments = 0;
    for (unsigned i = 0; exists(exchanges, i); i++) {
        const struct stagesim_exchange *from = &exchanges->items[i];
        uint32_t axes = lowering_axes(l->mesh, from->axes);
        bool together = from->moment == STAGESIM_TOGETHER;
        moment = together ? moment : from->moment;
        begun &= together;
        if (mesh_product(l->mesh, axes) < 2)
            continue;
        struct exchange_cost *to = &out->items[out->count++];
        out->moments |= 1u << moment;
        *to = (struct exchange_cost){.collective = from->collective,
                                     .kind = from->kind,
                                     .moment = moment,
                                     .together = begun,
                                     .axes = axes,
                                     .hidden = from->hidden};
        begun = true;
        for (unsigned n = 0; n < 3; n++)
            to->cost[n] = program_add_cost(
                l->builder, &(struct stagesim_cost){.bytes = from->bytes * (n ? n : 0.5), .repeats = from->buffers});
    }
}

/* The group of a worker's ranks along some axes, made when it is first asked for. Workers are lowered one after the
 * other: the newest groups are theirs. */
static uint32_t find_group(struct lowering *l, uint32_t worker, uint32_t axes)
{
    for (size_t i = l->exchange_group_count; i-- > 0;)
        if (l->exchange_groups[i].worker == worker && l->exchange_groups[i].axes == axes)
            return l->exchange_groups[i].group;
    l->exchange_groups = array_grow(l->exchange_groups, &l->exchange_group_capacity, l->exchange_group_count + 1,
                                    sizeof *l->exchange_groups);
    uint32_t group = program_add_group(l->builder, axes, &worker, 1);
    l->exchange_groups[l->exchange_group_count++] = (struct exchange_group){worker, axes, group};
    return group;
}

/* One exchange, behind all that the worker has done or that is pending. */
static uint32_t add_exchange(struct lowering *l, struct worker_state *state, const struct exchange_cost *exchange,
                             struct stagesim_identity identity, unsigned n)
{
    identity.kind = exchange->kind;
    uint32_t group = find_group(l, state->worker, exchange->axes);
    uint32_t id =
        program_add_collective(l->builder, state->worker, group, exchange->collective, identity, exchange->cost[n]);
    if (state->last != NONE)
        program_add_wait(l->builder, state->worker, id, state->last);
    for (uint32_t i = 0; i < state->pending_count; i++)
        if (state->pending[i] != state->last)
            program_add_wait(l->builder, state->worker, id, state->pending[i]);
    return id;
}

/* What follows waits for these. */
static void await_begun(struct worker_state *state, const uint32_t *begun, uint32_t count)
{
    if (!count)
        return;
    memcpy(state->pending, begun, count * sizeof *begun);
    state->pending_count = count;
    state->last = begun[0];
}

uint32_t lowering_add_exchanges(struct lowering *l, struct worker_state *state, const struct exchange_list *list,
                                unsigned moments, struct stagesim_identity identity, unsigned n)
{
    uint32_t first = NONE, begun[STAGESIM_EXCHANGES_MAX], count = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if (!(moments >> list->items[i].moment & 1) || (moments & NOT_HIDDEN && list->items[i].hidden))
            continue;
        if (!list->items[i].together) {
            await_begun(state, begun, count);
            count = 0;
        }
        begun[count++] = add_exchange(l, state, &list->items[i], identity, n);
        first = first == NONE ? begun[0] : first;
    }
    await_begun(state, begun, count);
    return first;
}

static void add_beside(struct lowering *l, struct worker_state *state, const struct exchange_cost *exchange,
                       struct stagesim_identity identity, unsigned n)
{
    assert(state->beside_count < sizeof state->beside / sizeof *state->beside);
    state->beside[state->beside_count++] = add_exchange(l, state, exchange, identity, n);
}

void lowering_add_hidden(struct lowering *l, struct worker_state *state, const struct exchange_list *list,
                         struct stagesim_identity identity, bool all)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (all || list->items[i].hidden)
            add_beside(l, state, &list->items[i], identity, 1);
}

void lowering_add_beside(struct lowering *l, struct worker_state *state, const struct exchange_list *list,
                         unsigned moments, struct stagesim_identity identity, unsigned n)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (moments >> list->items[i].moment & 1)
            add_beside(l, state, &list->items[i], identity, n);
}

void lowering_await_pending(struct lowering *l, struct worker_state *state, uint32_t id)
{
    for (uint32_t i = 0; i < state->pending_count; i++)
        program_add_wait(l->builder, state->worker, id, state->pending[i]);
    state->pending_count = 0;
}
