/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/pipeline.h"

#include "simulator/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The small all-reduce over all workers before a blocking optimizer step: a gradient norm. */
static const double norm_bytes = 8;

static const uint32_t NONE = STAGESIM_NONE;

/* Costs of one stage, as indices into the program's cost table. */
struct stage_costs {
    uint32_t forward[3];     /* [how many forwards as one]; 1, 2 */
    uint32_t backward;       /* whole */
    uint32_t half;           /* a half of it */
    uint32_t input, weight;  /* the parts of a split one */
    uint32_t released[2];    /* what a backward gives back, no time: whole, input part; for blocks */
    uint32_t taken;          /* what a forward takes, no time; for stashes that move */
    uint32_t stash_message;
    uint32_t message[3];     /* [how many micro-batches as one] between this stage and the next */
    uint32_t half_message;
    uint32_t gradient, optimizer;
    uint32_t group;          /* of the replicas of this stage; NONE: nothing to synchronise */
};

/* A block costs what its two stages make it cost. */
struct block_cost {
    uint32_t forward_stage, backward_stage, cost;
    bool split;
};

/* A stash that is evicted to a partner and fetched back: the operations that mark the moments. */
struct stash_move {
    uint32_t evict_own, evict_partner, fetch_partner, fetch_own;
    uint32_t arrival; /* the receive of the evicted stash at the partner */
};

/* Operations of the running repetition by (micro-batch, stage): ids at the worker that runs them. */
struct lowering {
    const struct plan *plan;
    const struct stagesim_pipeline *costs;
    const struct mesh *mesh;
    struct program_builder *builder;
    struct arena *arena;
    struct stage_costs *stages;
    uint32_t *forward;   /* [micro_batch * stages + stage] */
    uint32_t *backward;  /* [(micro_batch * stages + stage) * 2 + half]: both entries equal where not halved */
    struct stash_move *moves; /* [micro_batch * stages + stage]; NULL where the plan moves no stashes */
    uint32_t **released; /* [worker][stage]: the optimizer step or synchronisation that the next use of the weights awaits */
    uint32_t norm_cost, norm_group, nothing_cost;
    uint32_t repetition;
    struct block_cost *blocks;
    size_t block_count, block_capacity;
};

static double at(const double *values, uint32_t stage)
{
    return values ? values[stage] : 0;
}

static double chunk(const struct lowering *l)
{
    return (double)l->plan->workers / l->plan->stages;
}

static uint32_t add_cost(struct lowering *l, struct stagesim_cost cost)
{
    return program_add_cost(l->builder, &cost);
}

/* What a split backward gives back before W: all but what W still needs. */
static double released_at_input(const struct lowering *l, uint32_t stage)
{
    double activation = at(l->costs->activation, stage);
    return activation - (l->costs->weight_activation ? l->costs->weight_activation[stage] : activation / 2);
}

static void add_compute_costs(struct lowering *l, uint32_t stage, struct stage_costs *out)
{
    const struct stagesim_pipeline *costs = l->costs;
    double activation = at(costs->activation, stage), stash = chunk(l), input = released_at_input(l, stage);
    for (int n = 1; n <= 2; n++)
        out->forward[n] = add_cost(l, (struct stagesim_cost){.seconds = n * at(costs->forward, stage),
                                                             .flops = n * at(costs->forward_flops, stage),
                                                             .memory = n * activation,
                                                             .stash = n * stash});
    struct stagesim_cost backward = {.seconds = at(costs->backward, stage),
                                     .flops = at(costs->backward_flops, stage),
                                     .memory = -activation,
                                     .stash = -stash};
    out->backward = add_cost(l, backward);
    out->half = add_cost(l, (struct stagesim_cost){.seconds = backward.seconds / 2,
                                                   .flops = backward.flops / 2,
                                                   .memory = -activation / 2,
                                                   .stash = -stash / 2});
    out->input = add_cost(l, (struct stagesim_cost){.seconds = backward.seconds - at(costs->weight, stage),
                                                    .flops = backward.flops - at(costs->weight_flops, stage),
                                                    .memory = -input});
    out->weight = add_cost(l, (struct stagesim_cost){.seconds = at(costs->weight, stage),
                                                     .flops = at(costs->weight_flops, stage),
                                                     .memory = input - activation,
                                                     .stash = -stash});
    out->released[0] = add_cost(l, (struct stagesim_cost){.memory = -activation, .stash = -stash});
    out->released[1] = add_cost(l, (struct stagesim_cost){.memory = -input});
    out->taken = add_cost(l, (struct stagesim_cost){.memory = activation, .stash = stash});
}

static void add_transfer_costs(struct lowering *l, uint32_t stage, struct stage_costs *out)
{
    double message = at(l->costs->message, stage);
    for (int n = 1; n <= 2; n++)
        out->message[n] = add_cost(l, (struct stagesim_cost){.bytes = n * message});
    out->stash_message = add_cost(l, (struct stagesim_cost){.bytes = at(l->costs->activation, stage)});
    out->half_message = add_cost(l, (struct stagesim_cost){.bytes = message / 2});
    out->gradient = add_cost(l, (struct stagesim_cost){.bytes = at(l->costs->gradient, stage)});
    out->optimizer = add_cost(l, (struct stagesim_cost){.seconds = at(l->costs->optimizer, stage)});
}

/* ---- groups ---- */

static uint32_t data_axes(const struct mesh *mesh)
{
    uint32_t axes = 0;
    for (unsigned i = 0; i < mesh->axis_count; i++)
        if (!strcmp(mesh->axes[i].name, "data"))
            axes |= 1u << i;
    return axes;
}

static uint32_t data_size(const struct mesh *mesh)
{
    const struct mesh_axis *axis = mesh_axis(mesh, "data");
    return axis ? axis->size : 1;
}

/* Workers that hold a stage, each once; returns how many. */
static uint32_t holders(const struct plan *plan, uint32_t stage, uint32_t *workers)
{
    uint32_t count = 0;
    for (uint32_t pipeline = 0; pipeline < plan->pipelines; pipeline++) {
        uint32_t worker = plan_worker(plan, pipeline, stage), i = 0;
        while (i < count && workers[i] != worker)
            i++;
        if (i == count)
            workers[count++] = worker;
    }
    return count;
}

static uint32_t add_stage_group(struct lowering *l, uint32_t stage)
{
    uint32_t *workers = arena_array(l->arena, l->plan->pipelines, sizeof *workers);
    uint32_t count = holders(l->plan, stage, workers);
    if (at(l->costs->gradient, stage) <= 0 || count * data_size(l->mesh) < 2)
        return NONE;
    return program_add_group(l->builder, data_axes(l->mesh), workers, count);
}

static uint32_t add_norm_group(struct lowering *l)
{
    if (l->plan->step != PLAN_STEP_BLOCKING || l->plan->workers * data_size(l->mesh) < 2)
        return NONE;
    uint32_t *workers = arena_array(l->arena, l->plan->workers, sizeof *workers);
    for (uint32_t worker = 0; worker < l->plan->workers; worker++)
        workers[worker] = worker;
    return program_add_group(l->builder, data_axes(l->mesh), workers, l->plan->workers);
}

/* ---- computations ---- */

static uint32_t per_iteration(const struct lowering *l)
{
    return l->plan->micro_batches / l->plan->iterations;
}

static uint32_t iteration_of(const struct lowering *l, const struct slot *slot)
{
    return l->repetition + slot->micro_batch / per_iteration(l);
}

static struct stagesim_identity identify(const struct lowering *l, const struct slot *slot, enum stagesim_kind kind)
{
    return (struct stagesim_identity){.kind = kind,
                                      .stage = slot->stage,
                                      .micro_batch = slot->micro_batch % per_iteration(l),
                                      .pipeline = slot->pipeline,
                                      .part = slot->part,
                                      .layer = NONE,
                                      .iteration = iteration_of(l, slot)};
}

static size_t cell(const struct lowering *l, const struct slot *slot)
{
    return (size_t)slot->micro_batch * l->plan->stages + slot->stage;
}

static uint32_t slot_cost(const struct lowering *l, const struct slot *slot)
{
    const struct stage_costs *stage = &l->stages[slot->stage];
    switch (slot->kind) {
    case SLOT_FORWARD:
        return stage->forward[1];
    case SLOT_WEIGHT:
        return stage->weight;
    default:
        return slot->part != PART_WHOLE ? stage->half : slot->split ? stage->input : stage->backward;
    }
}

static enum stagesim_kind slot_work(const struct slot *slot)
{
    return slot->kind == SLOT_FORWARD ? STAGESIM_FORWARD : slot->kind == SLOT_WEIGHT ? STAGESIM_WEIGHT : STAGESIM_BACKWARD;
}

static uint32_t block_cost(struct lowering *l, const struct slot *forward, const struct slot *backward)
{
    for (size_t i = l->block_count; i-- > 0;) {
        const struct block_cost *known = &l->blocks[i];
        if (known->forward_stage == forward->stage && known->backward_stage == backward->stage && known->split == backward->split)
            return known->cost;
    }
    const struct stagesim_pipeline *costs = l->costs;
    double weight = backward->split ? at(costs->weight, backward->stage) : 0;
    double sum = at(costs->forward, forward->stage) + at(costs->backward, backward->stage);
    /* A stage's `block` time is that of its forward with its backward; two stages share one at half each. */
    double whole = costs->block ? (costs->block[forward->stage] + costs->block[backward->stage]) / 2 : sum;
    struct stagesim_cost cost = {.seconds = whole - weight,
                                 .flops = at(costs->forward_flops, forward->stage) + at(costs->backward_flops, backward->stage) -
                                          (backward->split ? at(costs->weight_flops, backward->stage) : 0),
                                 .memory = at(costs->activation, forward->stage),
                                 .stash = chunk(l)};
    l->blocks = array_grow(l->blocks, &l->block_capacity, l->block_count + 1, sizeof *l->blocks);
    l->blocks[l->block_count++] = (struct block_cost){forward->stage, backward->stage, add_cost(l, cost), backward->split};
    return l->blocks[l->block_count - 1].cost;
}

static void remember(struct lowering *l, const struct slot *slot, uint32_t id)
{
    if (slot->kind == SLOT_FORWARD)
        l->forward[cell(l, slot)] = id;
    else if (slot->kind == SLOT_BACKWARD && slot->part == PART_WHOLE)
        l->backward[2 * cell(l, slot)] = l->backward[2 * cell(l, slot) + 1] = id;
    else if (slot->kind == SLOT_BACKWARD)
        l->backward[2 * cell(l, slot) + (slot->part == PART_B)] = id;
}

/* A slot and the one joined to it, as one computation. */
static uint32_t add_pair(struct lowering *l, uint32_t worker, const struct slot *first, const struct slot *second)
{
    bool forwards = first->kind == SLOT_FORWARD && second->kind == SLOT_FORWARD;
    const struct slot *forward = first->kind == SLOT_FORWARD ? first : second;
    const struct slot *backward = forward == first ? second : first;
    enum stagesim_kind kind = forwards ? STAGESIM_FORWARD : STAGESIM_BLOCK;
    uint32_t cost = forwards ? l->stages[first->stage].forward[2] : block_cost(l, forward, backward);
    const struct slot *other = forwards ? second : backward;
    uint32_t id = program_add_compute(l->builder, worker, identify(l, forward, kind), cost);
    /* Two forwards as one are wholly in the operation's own cost; what they add is no more. */
    struct block block = {.kind = (uint8_t)slot_work(other),
                          .part = other->part,
                          .stage = other->stage,
                          .pipeline = other->pipeline,
                          .micro_batch = other->micro_batch % per_iteration(l),
                          .cost = forwards ? l->nothing_cost : l->stages[other->stage].released[other->split]};
    program_add_block(l->builder, worker, block);
    remember(l, first, id);
    remember(l, second, id);
    return id;
}

static bool moves_stash(const struct slot *slot)
{
    return slot->kind == SLOT_EVICT || slot->kind == SLOT_FETCH;
}

/* A slot of a moving stash: an operation without time that marks the moment at which room is taken or given back. */
static uint32_t add_move(struct lowering *l, uint32_t worker, const struct slot *slot)
{
    bool own = plan_worker(l->plan, slot->pipeline, slot->stage) == worker, evict = slot->kind == SLOT_EVICT;
    const struct stage_costs *costs = &l->stages[slot->stage];
    uint32_t id =
        program_add_compute(l->builder, worker, identify(l, slot, STAGESIM_EXCHANGE), own == evict ? costs->released[0] : costs->taken);
    struct stash_move *move = &l->moves[cell(l, slot)];
    *(evict ? own ? &move->evict_own : &move->evict_partner : own ? &move->fetch_own : &move->fetch_partner) = id;
    return id;
}

static uint32_t add_single(struct lowering *l, uint32_t worker, const struct slot *slot)
{
    uint32_t id = program_add_compute(l->builder, worker, identify(l, slot, slot_work(slot)), slot_cost(l, slot));
    remember(l, slot, id);
    return id;
}

/* ---- synchronisation and optimizer ---- */

/* What remains of the running iteration on one worker. */
struct worker_state {
    uint32_t worker;
    uint32_t *left;      /* [iteration * stages + stage]: gradient slots still to come */
    uint32_t *slots;     /* [iteration]: slots still to come */
    uint32_t *ready;     /* stages whose gradients are complete, in that order */
    uint32_t *sync;      /* [stage]: the synchronisation, or NONE */
    bool *owed;          /* [stage]: the synchronisation is launched at the end of the iteration */
    uint32_t ready_count;
    uint32_t last;       /* the newest computation */
};

static bool completes_gradient(const struct slot *slot)
{
    return slot->kind == SLOT_WEIGHT || (slot->kind == SLOT_BACKWARD && !slot->split);
}

static struct stagesim_identity identify_step(enum stagesim_kind kind, uint32_t stage, uint32_t iteration)
{
    return (struct stagesim_identity){.kind = kind, .stage = stage, .micro_batch = NONE, .layer = NONE, .iteration = iteration};
}

static void add_sync(struct lowering *l, struct worker_state *state, uint32_t stage, uint32_t iteration)
{
    const struct stage_costs *costs = &l->stages[stage];
    state->owed[stage] = false;
    state->sync[stage] = NONE;
    if (costs->group == NONE)
        return;
    state->sync[stage] = program_add_collective(l->builder, state->worker, costs->group, STAGESIM_ALL_REDUCE,
                                                identify_step(STAGESIM_GRADIENT_SYNC, stage, iteration), costs->gradient);
    program_add_wait(l->builder, state->worker, state->sync[stage], state->last);
    l->released[state->worker][stage] = state->sync[stage];
}

static uint32_t add_norm(struct lowering *l, struct worker_state *state, uint32_t iteration)
{
    if (l->norm_group == NONE)
        return NONE;
    uint32_t id = program_add_collective(l->builder, state->worker, l->norm_group, STAGESIM_ALL_REDUCE,
                                         identify_step(STAGESIM_OPTIMIZER, NONE, iteration), l->norm_cost);
    program_add_wait(l->builder, state->worker, id, state->last);
    for (uint32_t i = 0; i < state->ready_count; i++)
        if (state->sync[state->ready[i]] != NONE)
            program_add_wait(l->builder, state->worker, id, state->sync[state->ready[i]]);
    return id;
}

static void add_optimizer(struct lowering *l, struct worker_state *state, uint32_t stage, uint32_t iteration, uint32_t norm)
{
    uint32_t awaited = norm != NONE ? norm : state->sync[stage];
    if (norm != NONE)
        l->released[state->worker][stage] = norm;
    if (at(l->costs->optimizer, stage) <= 0)
        return;
    uint32_t id = program_add_compute(l->builder, state->worker, identify_step(STAGESIM_OPTIMIZER, stage, iteration),
                                      l->stages[stage].optimizer);
    if (awaited != NONE)
        program_add_wait(l->builder, state->worker, id, awaited);
    l->released[state->worker][stage] = NONE; /* the compute stream's order says it */
}

static enum plan_sync sync_of(const struct lowering *l, const struct slot *slot)
{
    return l->plan->copies[(size_t)slot->pipeline * l->plan->stages + slot->stage].sync;
}

static void step(struct lowering *l, struct worker_state *state, uint32_t iteration)
{
    for (uint32_t i = 0; i < state->ready_count; i++)
        if (state->owed[state->ready[i]])
            add_sync(l, state, state->ready[i], iteration);
    uint32_t norm = add_norm(l, state, iteration);
    for (uint32_t i = 0; i < state->ready_count; i++)
        add_optimizer(l, state, state->ready[i], iteration, norm);
    state->ready_count = 0;
}

/* After a computation: gradients that it completes are synchronised, and when the iteration's work is done the optimizer
 * steps. */
static void account(struct lowering *l, struct worker_state *state, const struct slot *slot)
{
    uint32_t iteration = slot->micro_batch / per_iteration(l);
    uint32_t *left = &state->left[(size_t)iteration * l->plan->stages + slot->stage];
    bool complete = completes_gradient(slot) && --*left == 0;
    if (complete || (l->plan->steps_each && completes_gradient(slot))) {
        state->ready[state->ready_count++] = slot->stage;
        state->owed[slot->stage] = true;
        if (sync_of(l, slot) == PLAN_SYNC_EAGER)
            add_sync(l, state, slot->stage, l->repetition + iteration);
    }
    if (--state->slots[iteration] == 0 || (l->plan->steps_each && completes_gradient(slot)))
        step(l, state, l->repetition + iteration);
}

static void count_slots(const struct lowering *l, struct worker_state *state)
{
    const struct plan_order *order = &l->plan->orders[state->worker];
    for (size_t i = 0; i < order->count; i++) {
        const struct slot *slot = &order->slots[i];
        uint32_t iteration = slot->micro_batch / per_iteration(l);
        state->slots[iteration]++;
        state->left[(size_t)iteration * l->plan->stages + slot->stage] += completes_gradient(slot);
    }
}

/* In synchronous training a stage's weights are used again only after they were updated. */
static void await_weights(struct lowering *l, uint32_t worker, const struct slot *slot, uint32_t id)
{
    uint32_t *released = &l->released[worker][slot->stage];
    if (*released != NONE && !l->plan->asynchronous && slot->kind == SLOT_FORWARD) {
        program_add_wait(l->builder, worker, id, *released);
        *released = NONE;
    }
}

static void lower_worker(struct lowering *l, uint32_t worker)
{
    const struct plan *plan = l->plan;
    const struct plan_order *order = &plan->orders[worker];
    struct arena *scratch = arena_create();
    struct worker_state state = {.worker = worker,
                                 .left = arena_array(scratch, (size_t)plan->iterations * plan->stages, sizeof(uint32_t)),
                                 .slots = arena_array(scratch, plan->iterations, sizeof(uint32_t)),
                                 .ready = arena_array(scratch, plan->stages, sizeof(uint32_t)),
                                 .sync = arena_array(scratch, plan->stages, sizeof(uint32_t)),
                                 .owed = arena_array(scratch, plan->stages, sizeof(bool))};
    count_slots(l, &state);
    for (size_t i = 0; i < order->count; i++) {
        const struct slot *slot = &order->slots[i];
        const struct slot *joined = i + 1 < order->count && slot[1].joined ? &slot[1] : NULL;
        state.last = joined              ? add_pair(l, worker, slot, joined)
                     : moves_stash(slot) ? add_move(l, worker, slot)
                                         : add_single(l, worker, slot);
        await_weights(l, worker, slot, state.last);
        if (joined)
            await_weights(l, worker, joined, state.last);
        account(l, &state, slot);
        if (joined)
            account(l, &state, joined);
        i += joined != NULL;
    }
    arena_destroy(scratch);
}

/* ---- messages ---- */

/* The gradient's message to the previous stage, the activation's to the next. */
static void add_message(struct lowering *l, uint32_t worker, const struct slot *slot, uint32_t together)
{
    bool forward = slot->kind == SLOT_FORWARD;
    if (forward ? slot->stage + 1u == l->plan->stages : slot->stage == 0)
        return;
    uint32_t stage = forward ? slot->stage + 1u : slot->stage - 1u;
    uint32_t peer = plan_worker(l->plan, slot->pipeline, stage);
    if (peer == worker)
        return; /* the next stage is on the same worker, whose order takes care */
    size_t target = (size_t)slot->micro_batch * l->plan->stages + stage;
    uint32_t boundary = forward ? slot->stage : stage, half = slot->part == PART_B;
    uint32_t from = forward ? l->forward[cell(l, slot)] : l->backward[2 * cell(l, slot) + half];
    uint32_t to = forward ? l->forward[target] : l->backward[2 * target + half];
    struct stagesim_identity identity = identify(l, slot, forward ? STAGESIM_ACTIVATION : STAGESIM_GRADIENT);
    uint32_t cost = slot->part == PART_WHOLE ? l->stages[boundary].message[together] : l->stages[boundary].half_message;
    uint32_t send, receive;
    program_add_message(l->builder, worker, peer, identity, cost, &send, &receive);
    program_add_wait(l->builder, worker, send, from);
    program_add_wait(l->builder, peer, to, receive);
}

static void add_messages(struct lowering *l, uint32_t worker)
{
    const struct plan_order *order = &l->plan->orders[worker];
    for (size_t i = 0; i < order->count; i++) {
        const struct slot *slot = &order->slots[i];
        bool pair = i + 1 < order->count && slot[1].joined && slot->kind == SLOT_FORWARD && slot[1].kind == SLOT_FORWARD;
        if (slot->kind == SLOT_FORWARD || slot->kind == SLOT_BACKWARD)
            add_message(l, worker, slot, pair ? 2 : 1);
        i += pair; /* both travel in one message */
    }
}

static void add_eviction(struct lowering *l, uint32_t worker, const struct slot *slot)
{
    struct stash_move *move = &l->moves[cell(l, slot)];
    uint32_t send;
    program_add_message(l->builder, worker, l->plan->partners[worker], identify(l, slot, STAGESIM_EXCHANGE),
                        l->stages[slot->stage].stash_message, &send, &move->arrival);
    program_add_wait(l->builder, worker, send, move->evict_own);
}

/* The partner sends the stash back; it has come before, and the backward waits for it. */
static void add_return(struct lowering *l, uint32_t worker, const struct slot *slot)
{
    const struct stash_move *move = &l->moves[cell(l, slot)];
    uint32_t owner = plan_worker(l->plan, slot->pipeline, slot->stage), send, receive;
    program_add_message(l->builder, worker, owner, identify(l, slot, STAGESIM_EXCHANGE), l->stages[slot->stage].stash_message, &send,
                        &receive);
    program_add_wait(l->builder, worker, send, move->fetch_partner);
    program_add_wait(l->builder, worker, send, move->arrival);
    program_add_wait(l->builder, owner, l->backward[2 * cell(l, slot)], receive);
}

static void add_stash_messages(struct lowering *l, enum slot_kind kind)
{
    for (uint32_t worker = 0; worker < l->plan->workers; worker++)
        for (size_t i = 0; i < l->plan->orders[worker].count; i++) {
            const struct slot *slot = &l->plan->orders[worker].slots[i];
            bool own = plan_worker(l->plan, slot->pipeline, slot->stage) == worker;
            if (slot->kind == kind && kind == SLOT_EVICT && own)
                add_eviction(l, worker, slot);
            else if (slot->kind == kind && kind == SLOT_FETCH && !own)
                add_return(l, worker, slot);
        }
}

/* ---- memory ---- */

static void set_memory(struct lowering *l, uint32_t worker)
{
    struct stagesim_static_memory memory = {0};
    for (uint32_t pipeline = 0; pipeline < l->plan->pipelines; pipeline++)
        for (uint32_t stage = 0; stage < l->plan->stages; stage++)
            if (plan_worker(l->plan, pipeline, stage) == worker) {
                memory.parameters += at(l->costs->parameter, stage) * l->plan->weight_versions[worker];
                memory.gradients += at(l->costs->gradient, stage);
                memory.optimizer += at(l->costs->optimizer_state, stage);
            }
    program_set_memory(l->builder, worker, &memory);
}

static void lowering_init(struct lowering *l)
{
    const struct plan *plan = l->plan;
    size_t cells = (size_t)plan->micro_batches * plan->stages;
    l->stages = arena_array(l->arena, plan->stages, sizeof *l->stages);
    l->forward = arena_array(l->arena, cells, sizeof *l->forward);
    l->backward = arena_array(l->arena, 2 * cells, sizeof *l->backward);
    l->moves = plan->partners ? arena_array(l->arena, cells, sizeof *l->moves) : NULL;
    l->released = arena_array(l->arena, plan->workers, sizeof *l->released);
    for (uint32_t stage = 0; stage < plan->stages; stage++) {
        add_compute_costs(l, stage, &l->stages[stage]);
        add_transfer_costs(l, stage, &l->stages[stage]);
        l->stages[stage].group = add_stage_group(l, stage);
    }
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        l->released[worker] = arena_array(l->arena, plan->stages, sizeof(uint32_t));
        for (uint32_t stage = 0; stage < plan->stages; stage++)
            l->released[worker][stage] = NONE;
    }
    l->norm_cost = add_cost(l, (struct stagesim_cost){.bytes = norm_bytes});
    l->nothing_cost = add_cost(l, (struct stagesim_cost){0});
    l->norm_group = add_norm_group(l);
}

void pipeline_lower(const struct pipeline_request *request, const struct mesh *mesh, struct program_builder *builder)
{
    assert(request->costs->stages == request->plan->stages && mesh->positions == request->plan->workers);
    struct lowering l = {.plan = request->plan, .costs = request->costs, .mesh = mesh, .builder = builder, .arena = arena_create()};
    lowering_init(&l);
    for (l.repetition = 0; l.repetition < request->repetitions; l.repetition++) {
        for (uint32_t worker = 0; worker < l.plan->workers; worker++)
            lower_worker(&l, worker);
        for (uint32_t worker = 0; worker < l.plan->workers; worker++)
            add_messages(&l, worker);
        if (l.moves) {
            add_stash_messages(&l, SLOT_EVICT);
            add_stash_messages(&l, SLOT_FETCH);
        }
    }
    for (uint32_t worker = 0; worker < l.plan->workers; worker++)
        set_memory(&l, worker);
    free(l.blocks);
    arena_destroy(l.arena);
}
