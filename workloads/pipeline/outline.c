/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/pipeline/outline.h"

#include "base/arena.h"
#include "base/sum.h"
#include "schedules/plan/plan_timing.h"
#include "workloads/pipeline/lowering.h"
#include "workloads/pipeline/outline_parts.h"

#include <math.h>

/* ---- what a stage's slots take ---- */

enum { BEFORE_OR_AFTER = 1 << STAGESIM_BEFORE | 1 << STAGESIM_AFTER };

/* Exchanges in one direction at some of these moments that nothing runs beside. */
static double exchange_seconds(const struct outline *o, uint32_t worker, const struct stagesim_exchanges *exchanges,
                               unsigned moments)
{
    const struct pipeline_outline_request *r = o->request;
    double sum = 0, longest = 0; /* of those that begin together */
    bool counts = false;
    for (unsigned i = 0; i < STAGESIM_EXCHANGES_MAX && exchanges->items[i].bytes > 0; i++) {
        const struct stagesim_exchange *e = &exchanges->items[i];
        bool together = e->moment == STAGESIM_TOGETHER;
        counts = together ? counts : !e->hidden && moments >> e->moment & 1;
        if (!counts)
            continue;
        double buffers = e->buffers > 0 ? e->buffers : 1, each = e->bytes / buffers;
        double one = r->collective(r->user, worker, e->axes, e->collective, each);
        if (o->pairs)
            one = fmin(one, r->collective(r->user, worker, e->axes, e->collective, 2 * each) / 2);
        double seconds = buffers * one;
        sum += together ? fmax(seconds - longest, 0) : seconds;
        longest = together ? fmax(seconds, longest) : seconds;
    }
    return sum;
}

/* The less of what exchanges take part by part and all parts' as one: slots are lowered in either way. */
static void stage_exchanges(const struct outline *o, uint32_t worker, uint32_t stage, double *forward, double *backward)
{
    const struct stagesim_pipeline *costs = o->request->costs;
    struct stagesim_exchanges all[2] = {{{{0}}}, {{{0}}}};
    *forward = *backward = 0;
    for (uint32_t i = 0; costs->parts && i < costs->part_counts[stage]; i++) {
        const struct stagesim_part *part = &costs->parts[stage][i];
        *forward += exchange_seconds(o, worker, &part->forward_exchanges, BEFORE_OR_AFTER);
        *backward += exchange_seconds(o, worker, &part->backward_exchanges, BEFORE_OR_AFTER);
        lowering_merge_exchanges(&all[0], &part->forward_exchanges);
        lowering_merge_exchanges(&all[1], &part->backward_exchanges);
    }
    *forward = fmin(*forward, exchange_seconds(o, worker, &all[0], BEFORE_OR_AFTER));
    *backward = fmin(*backward, exchange_seconds(o, worker, &all[1], BEFORE_OR_AFTER));
}

/* Parts of a forward that can be lowered as the first one. */
static uint32_t leading_parts(const struct stagesim_pipeline *costs, uint32_t stage)
{
    const struct stagesim_part *parts = costs->parts[stage];
    uint32_t count = costs->part_counts[stage], leading = 1;
    if (!costs->fine && costs->sharding != STAGESIM_SHARD_PARAMETERS)
        return count;
    while (!costs->fine && leading < count && parts[0].layer != STAGESIM_NONE && parts[leading].layer == parts[0].layer)
        leading++;
    return leading < count ? leading : count;
}

/* What a forward may begin with before it computes: at the most, as for the least above. */
static double exchanges_before(const struct outline *o, uint32_t worker, uint32_t stage)
{
    const struct stagesim_pipeline *costs = o->request->costs;
    struct stagesim_exchanges all = {{{0}}};
    double apart = 0;
    for (uint32_t i = 0; costs->parts && i < leading_parts(costs, stage); i++) {
        const struct stagesim_exchanges *exchanges = &costs->parts[stage][i].forward_exchanges;
        apart += exchange_seconds(o, worker, exchanges, 1 << STAGESIM_BEFORE);
        lowering_merge_exchanges(&all, exchanges);
    }
    return fmax(apart, exchange_seconds(o, worker, &all, 1 << STAGESIM_BEFORE));
}

static struct copy_times time_copy(const struct outline *o, uint32_t pipeline, uint32_t stage)
{
    const struct pipeline_outline_request *r = o->request;
    uint32_t worker = plan_worker(r->plan, pipeline, stage);
    struct copy_times times = outline_stage_computes(o, stage);
    double forward, backward;
    stage_exchanges(o, worker, stage, &forward, &backward);
    times.forward += forward;
    times.backward += backward;
    times.input += backward;
    times.block += 2 * fmin(forward, backward);
    times.exposed[0] = forward;
    times.exposed[1] = backward;
    times.before = r->repeated ? exchanges_before(o, worker, stage) : 0;
    if (stage + 1 < r->plan->stages) {
        uint32_t next = plan_worker(r->plan, pipeline, stage + 1);
        times.message = next == worker ? 0 : r->message(r->user, worker, next, at(r->costs->message, stage));
        times.back = next == worker || !r->costs->gradient_message
                         ? times.message
                         : r->message(r->user, worker, next, lowering_message_back(r->costs, stage));
    }
    return times;
}

static bool has_pairs(const struct plan *plan)
{
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        for (size_t i = 1; i < plan->orders[worker].count; i++) {
            const struct slot *slot = &plan->orders[worker].slots[i];
            if (slot->joined && slot[-1].kind == slot->kind)
                return true;
        }
    return false;
}

static bool has_braids(const struct plan *plan)
{
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        for (size_t i = 1; i < plan->orders[worker].count; i++)
            if (plan->orders[worker].slots[i].joined == SLOT_BRAIDED)
                return true;
    return false;
}

bool pipeline_outline_splits(const struct plan *plan)
{
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        for (size_t i = 0; i < plan->orders[worker].count; i++)
            if (plan->orders[worker].slots[i].kind == SLOT_WEIGHT)
                return true;
    return false;
}

struct outline outline_create(const struct pipeline_outline_request *request, struct arena *arena)
{
    const struct plan *plan = request->plan;
    struct outline o = {.request = request, .pairs = has_pairs(plan), .splits = pipeline_outline_splits(plan)};
    o.copies = arena_array(arena, (size_t)plan->pipelines * plan->stages, sizeof *o.copies);
    for (uint32_t pipeline = 0; pipeline < plan->pipelines; pipeline++)
        for (uint32_t stage = 0; stage < plan->stages; stage++)
            o.copies[(size_t)pipeline * plan->stages + stage] = time_copy(&o, pipeline, stage);
    return o;
}

const struct copy_times *outline_copy(const struct outline *o, uint32_t pipeline, uint32_t stage)
{
    return &o->copies[(size_t)pipeline * o->request->plan->stages + stage];
}

/* Iterations are one after the other, and stages take the times that are given. */
bool outline_is_synchronous(const struct plan *plan)
{
    return plan->iterations == 1 && plan->slices == 1 && !plan->asynchronous && !plan->steps_each;
}

/* ---- the bound by work ---- */

static double slot_seconds(const struct outline *o, const struct slot *slot)
{
    const struct copy_times *times = outline_copy(o, slot->pipeline, slot->stage);
    switch ((enum slot_kind)slot->kind) {
    case SLOT_FORWARD:
        return times->forward;
    case SLOT_BACKWARD:
        return slot->split ? times->input : slot->part == PART_WHOLE ? times->backward : times->backward / 2;
    case SLOT_WEIGHT:
        return times->weight;
    case SLOT_RECOMPUTE:
        return (times->forward - times->exposed[0]) * plan_recomputed(o->request->plan, slot->stage);
    default:
        return 0;
    }
}

/* What a braid makes of a slot, at the most: its communication is hidden, and as much of its computation as in a block.
 */
static double braided_seconds(const struct outline *o, const struct slot *slot)
{
    const struct stagesim_pipeline *costs = o->request->costs;
    uint32_t stage = slot->stage;
    const struct copy_times *times = outline_copy(o, slot->pipeline, stage);
    if (slot->kind == SLOT_WEIGHT)
        return times->weight;
    double hidden =
        costs->block ? (at(costs->forward, stage) + at(costs->backward, stage) - costs->block[stage]) / 2 : 0;
    return slot_seconds(o, slot) - times->exposed[slot->kind == SLOT_BACKWARD] - hidden;
}

/* Of a forward and a backward as one. */
static double block_seconds(const struct outline *o, const struct slot *slots)
{
    const struct copy_times *first = outline_copy(o, slots[0].pipeline, slots[0].stage),
                            *second = outline_copy(o, slots[1].pipeline, slots[1].stage);
    if (slots[1].joined == SLOT_BRAIDED)
        return braided_seconds(o, &slots[0]) + braided_seconds(o, &slots[1]);
    if (!o->request->costs->block || slots[0].kind == slots[1].kind || slots[0].kind == SLOT_RECOMPUTE)
        return slot_seconds(o, &slots[0]) + slot_seconds(o, &slots[1]);
    const struct slot *backward = slots[0].kind == SLOT_BACKWARD ? &slots[0] : &slots[1];
    double weight = backward->split ? outline_copy(o, backward->pipeline, backward->stage)->weight : 0;
    return (first->block + second->block) / 2 - weight;
}

double outline_own_work(const struct outline *o, const struct plan_order *order)
{
    struct sum sum = {0, 0};
    for (size_t i = 0; i < order->count; i++) {
        bool joined = i + 1 < order->count && order->slots[i + 1].joined;
        sum_add(&sum, joined ? block_seconds(o, &order->slots[i]) : slot_seconds(o, &order->slots[i]));
        i += joined;
    }
    return sum_total(&sum);
}

/* What comes before a worker's first slot: the forwards of the stages before. */
double outline_earliest_start(const struct outline *o, const struct slot *slot)
{
    double sum = 0;
    if (slot_hands_on(slot))
        return 0;
    for (uint32_t stage = 0; stage < slot->stage; stage++) {
        const struct copy_times *times = outline_copy(o, slot->pipeline, stage);
        sum += times->forward + times->message;
    }
    return sum;
}

/* What follows a worker's last slot at the least: the backwards of the stages before it, without what may come later,
 * and the last one's step. */
double outline_shortest_tail(const struct outline *o, const struct slot *slot)
{
    double sum = 0;
    if (slot->kind != SLOT_BACKWARD)
        return 0;
    for (uint32_t stage = slot->stage; stage-- > 0;) {
        const struct copy_times *times = outline_copy(o, slot->pipeline, stage);
        double least = fmin(times->input, times->backward);
        sum += slot->part == PART_WHOLE ? least + times->back : least / 2;
    }
    return sum;
}

/* Steps of all stages that a worker holds. */
double outline_own_steps(const struct outline *o, uint32_t worker)
{
    const struct plan *plan = o->request->plan;
    double sum = 0;
    for (uint32_t stage = 0; stage < plan->stages; stage++) {
        bool holds = false;
        for (uint32_t pipeline = 0; pipeline < plan->pipelines && !holds; pipeline++)
            holds = plan_worker(plan, pipeline, stage) == worker;
        if (plan_travels(plan))
            holds = plan->owners[stage] == worker;
        sum += holds ? at(o->request->costs->optimizer, stage) : 0;
    }
    return sum;
}

/* An iteration from its first operation to its last; also where nothing was stepped. */
static struct pipeline_outline_work single_work(const struct outline *o)
{
    const struct plan *plan = o->request->plan;
    struct pipeline_outline_work work = {0};
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        const struct plan_order *order = &plan->orders[worker];
        if (!order->count)
            continue;
        double before = outline_earliest_start(o, &order->slots[0]) + outline_own_work(o, order);
        double tail = outline_shortest_tail(o, &order->slots[order->count - 1]);
        work.seconds = fmax(work.seconds, before + fmax(outline_own_steps(o, worker), tail));
        work.bare = fmax(work.bare, before + tail);
    }
    return work;
}

/* ---- iterations that run into each other ----
 *
 * Then T is (e(n) - e(0)) / n, where e(i) is the end of iteration i and n at least 1 (analysis/figures/frame.c). All
 * operations of one iteration depend on each other as those of another do; those of the one before only delay them
 * more. An end is a sum and a largest value of other ends: if everything that operations depend on comes d later, they
 * end at least d later. So T is at least R if
 *
 * (a) everything in an iteration follows from the first computations of some workers, which depend on nothing of the
 *     iteration, and each of these comes R later in the next iteration, or
 * (b) the last operation of an iteration is a step of some worker, or a gather of weights behind it, and the steps of
 *     every worker end R later in the next iteration.
 *
 * A worker's computing is in one stream. So its first computation and its steps come at least a turn later: its own
 * work and steps. In (a) a turn of a worker with the first stage is also the way of a micro-batch to another worker,
 * the own work of that one, the way back, and the steps. Exchanges before the first computation do not count, nor where
 * nothing is stepped those of the last slot: they may be beside the end or the beginning of another iteration. R is the
 * shortest turn.
 *
 * (b) needs a step of each stage: it waits for all else that its worker has of the iteration. (a) does not hold where
 * weights are gathered before they are used (zero: 3), which awaits nothing but the steps before, and where an exchange
 * beside the first computation waits for another one before it. */

/* Communication of a worker's last slots that may be beside another iteration; steps wait for it. */
static double loose_end(const struct outline *o, uint32_t worker)
{
    const struct plan_order *order = &o->request->plan->orders[worker];
    const struct slot *last = &order->slots[order->count - 1];
    double loose = 0;
    if (outline_own_steps(o, worker) > 0)
        return 0;
    for (size_t i = 0; i < (order->count > 1 && last->joined ? 2 : 1); i++)
        loose += outline_copy(o, last[-(ptrdiff_t)i].pipeline, last[-(ptrdiff_t)i].stage)
                     ->exposed[last[-(ptrdiff_t)i].kind != SLOT_FORWARD];
    return loose;
}

static double own_turn(const struct outline *o, uint32_t worker)
{
    const struct plan_order *order = &o->request->plan->orders[worker];
    const struct slot *first = &order->slots[0];
    double before = first->kind == SLOT_FORWARD ? outline_copy(o, first->pipeline, first->stage)->before : 0;
    return outline_own_work(o, order) - before + outline_own_steps(o, worker) - loose_end(o, worker);
}

/* A turn of `source`, which has the first stage, through another worker; 0 where the order does not lead there and
 * back. */
static double turn_through(const struct outline *o, uint32_t source, uint32_t worker)
{
    const struct plan *plan = o->request->plan;
    const struct slot *slots = plan->orders[worker].slots;
    size_t count = plan->orders[worker].count, end = count;
    if (!count || plan_worker(plan, slots[0].pipeline, 0) != source)
        return 0;
    while (end > 0 && (slots[end - 1].kind != SLOT_BACKWARD || plan_worker(plan, slots[end - 1].pipeline, 0) != source))
        end--;
    if (!end)
        return 0;
    const struct slot *last = &slots[end - 1];
    struct plan_order own = {.slots = plan->orders[worker].slots, .count = end + (end < count && slots[end].joined)};
    double loose = outline_own_steps(o, source) > 0 ? 0 : outline_copy(o, last->pipeline, 0)->exposed[1];
    return outline_earliest_start(o, &slots[0]) - outline_copy(o, slots[0].pipeline, 0)->before +
           outline_own_work(o, &own) + outline_shortest_tail(o, last) + outline_own_steps(o, source) - loose;
}

static bool has_moment(const struct stagesim_exchanges *exchanges, enum stagesim_moment moment)
{
    bool has = false;
    for (unsigned i = 0; i < STAGESIM_EXCHANGES_MAX && exchanges->items[i].bytes > 0; i++)
        has |= exchanges->items[i].moment == moment;
    return has;
}

/* Whether (a) holds. */
static bool follows_from_first(const struct outline *o)
{
    const struct plan *plan = o->request->plan;
    const struct stagesim_pipeline *costs = o->request->costs;
    bool before = false, beside = false, forwards = true;
    for (uint32_t i = 0; costs->parts && i < costs->part_counts[0]; i++) {
        before |= has_moment(&costs->parts[0][i].forward_exchanges, STAGESIM_BEFORE);
        beside |= has_moment(&costs->parts[0][i].forward_exchanges, STAGESIM_BESIDE);
    }
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        forwards &= !plan->orders[worker].count || plan->orders[worker].slots[0].kind == SLOT_FORWARD;
    return forwards && !(before && beside) && costs->sharding < STAGESIM_SHARD_PARAMETERS;
}

/* Whether each stage has a step. */
static bool steps_everywhere(const struct outline *o)
{
    bool steps = true;
    for (uint32_t stage = 0; stage < o->request->plan->stages; stage++)
        steps &= at(o->request->costs->optimizer, stage) > 0;
    return steps;
}

/* R; 0: not known. */
static double shortest_turn(const struct outline *o)
{
    const struct plan *plan = o->request->plan;
    bool first = follows_from_first(o);
    double shortest = INFINITY;
    if (plan->partners || plan_travels(plan) || (!first && !steps_everywhere(o)))
        return 0;
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        if (!plan->orders[worker].count || (first && plan->orders[worker].slots[0].stage != 0))
            continue;
        double turn = own_turn(o, worker);
        for (uint32_t other = 0; first && other < plan->workers; other++)
            turn = fmax(turn, turn_through(o, worker, other));
        shortest = fmin(shortest, turn);
    }
    return isfinite(shortest) ? fmax(shortest, 0) : 0;
}

struct pipeline_outline_work pipeline_outline_work(const struct pipeline_outline_request *request, struct arena *arena)
{
    if (!outline_is_synchronous(request->plan))
        return (struct pipeline_outline_work){0};
    struct outline o = outline_create(request, arena);
    struct pipeline_outline_work work = single_work(&o);
    if (request->repeated)
        return (struct pipeline_outline_work){.seconds = fmin(work.seconds, shortest_turn(&o)) * slack};
    work.seconds *= slack;
    work.bare *= slack;
    work.computing = outline_computing(&o) * slack;
    return work;
}

/* ---- the bound by order ---- */

/* A time of a block from which a plan's timing makes braids no longer than they are. */
static double braid_block(const struct stagesim_pipeline *costs, uint32_t stage, const struct copy_times *times)
{
    double whole = at(costs->forward, stage) + at(costs->backward, stage);
    double hidden = costs->block ? (whole - costs->block[stage]) / 2 : 0;
    return times->forward + times->backward - 2 * (hidden + fmax(times->exposed[0], times->exposed[1]));
}

/* R where everything follows from the first worker's first computation: its turn is as long as the longest path from
 * there to its last slot. */
static double turn_by_order(const struct outline *o, const struct plan_timing *timing)
{
    const struct plan *plan = o->request->plan;
    uint32_t first = plan_worker(plan, 0, 0);
    size_t count = plan->orders[first].count;
    if (plan->pipelines > 1 || plan->partners || plan_travels(plan) || !count || !follows_from_first(o))
        return 0;
    return plan_timing_span(timing, first, count - 1).end - outline_copy(o, 0, 0)->before +
           outline_own_steps(o, first) - loose_end(o, first);
}

double pipeline_outline_order(const struct pipeline_outline_request *request, struct arena *arena)
{
    const struct plan *plan = request->plan;
    double *arrays[4], latency = INFINITY;
    if (!outline_is_synchronous(plan))
        return 0;
    struct outline o = outline_create(request, arena);
    bool braids = has_braids(plan);
    for (int i = 0; i < 4; i++)
        arrays[i] = arena_array(arena, plan->stages, sizeof **arrays);
    for (uint32_t stage = 0; stage < plan->stages; stage++) {
        struct copy_times least = *outline_copy(&o, 0, stage);
        for (uint32_t pipeline = 0; pipeline < plan->pipelines; pipeline++) {
            const struct copy_times *times = outline_copy(&o, pipeline, stage);
            least.forward = fmin(least.forward, times->forward);
            least.backward = fmin(least.backward, times->backward);
            least.block = fmin(least.block, times->block);
            latency = stage + 1 < plan->stages && times->message > 0 ? fmin(latency, fmin(times->message, times->back))
                                                                     : latency;
        }
        arrays[0][stage] = least.forward;
        arrays[1][stage] = least.backward;
        arrays[2][stage] = least.weight;
        arrays[3][stage] = braids ? braid_block(request->costs, stage, &least) : least.block;
    }
    struct plan_costs costs = {arrays[0], arrays[1], arrays[2], request->costs->block || braids ? arrays[3] : NULL,
                               isinf(latency) || plan->partners ? 0 : latency / 2};
    struct plan_timing timing;
    plan_timing_init(&timing, plan, &costs);
    double bound = timing.iteration;
    if (request->repeated)
        bound = fmin(bound, fmax(shortest_turn(&o), turn_by_order(&o, &timing)));
    plan_timing_finish(&timing);
    return bound * slack;
}
