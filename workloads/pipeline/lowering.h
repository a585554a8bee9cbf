/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of the lowering share: the state of one lowering, and its steps. */
#ifndef STAGESIM_PIPELINE_LOWERING_H
#define STAGESIM_PIPELINE_LOWERING_H

#include "base/arena.h"
#include "schedules/plan/plan_weights.h"
#include "workloads/pipeline/pipeline.h"

static const uint32_t NONE = STAGESIM_NONE;

/* Gradients and weights by the axes along which their copies lie: those of all replicas of a stage, and those of
 * experts. */
enum family { FAMILY_REPLICAS, FAMILY_EXPERTS, FAMILIES };

/* An exchange of a part or of a whole stage. */
struct exchange_cost {
    enum stagesim_collective collective;
    enum stagesim_kind kind;
    enum stagesim_moment moment; /* of those that begin with the one before: of that one */
    bool together;
    uint32_t axes; /* of the mesh: a bit each */
    bool hidden;
    uint32_t cost[3]; /* of half a micro-batch, one, two as one */
};

struct exchange_list {
    struct exchange_cost items[STAGESIM_EXCHANGES_MAX];
    uint32_t count;
    unsigned moments; /* of all of them: a bit each */
};

enum { PART_COSTS = 4 };

/* Costs of one part of a stage. */
struct part_costs {
    uint32_t forward, backward, input, weight; /* computations: forward; backward whole, or its two parts */
    struct exchange_list forward_exchanges, backward_exchanges;
    uint32_t gather[FAMILIES]; /* of its layer's weights, or a piece of them; NONE: they are not sharded */
    uint32_t gather_pieces[FAMILIES];
    double gradient[FAMILIES]; /* bytes */
    uint32_t layer;
    /* [set]: forward, backward, input, weight of micro-batches that are not alike; NULL: all are */
    const uint32_t (*sets)[PART_COSTS];
};

/* Costs of one stage, as indices into the program's cost table. */
struct stage_costs {
    uint32_t forward[3];    /* [how many forwards as one]; 1, 2 */
    uint32_t backward;      /* whole */
    uint32_t half;          /* a half of it */
    uint32_t input, weight; /* the parts of a split one */
    uint32_t released[3];   /* what a backward gives back, no time: whole, input part, weight part; for blocks */
    uint32_t output[2];     /* S and T of its worker, where workers share the output layer */
    uint32_t again;         /* what is computed again of its forward */
    struct exchange_list again_exchanges;
    uint32_t taken; /* what a forward takes, no time; for stashes that move */
    uint32_t stash_message;
    uint32_t travels[2]; /* its weights as a message, its gradient as one */
    uint32_t to_memory,
        from_memory;     /* the same to host memory, which gives room back, and from there, which takes it */
    uint32_t message[3]; /* [how many micro-batches as one] between this stage and the next */
    uint32_t message_back, half_message; /* of gradients: whole, and of each half of a backward */
    uint32_t optimizer;
    uint32_t gradient[FAMILIES], gather[FAMILIES]; /* of its gradients, of its weights */
    uint32_t *owned, owned_count;                  /* of what owners of whole tensors broadcast */
    struct exchange_list forward_exchanges, backward_exchanges;
    uint32_t group[FAMILIES];        /* of the ranks that hold this stage, or with shard axes of those along them; NONE:
                                        nothing to synchronise */
    uint32_t gather_group[FAMILIES]; /* the same ranks, for weights: gathers do not queue behind gradients */
    uint32_t outer_group;     /* with shard axes: of the ranks that hold the same shard of this stage; NONE: one */
    struct part_costs *parts; /* part_count of them, in the order of the forward */
    uint32_t part_count;
    struct part_costs *coarse; /* what a slot that is not cut into parts runs; coarse_count 0: it is one computation */
    uint32_t coarse_count;
};

/* A block costs what its two stages make it cost. */
struct block_cost {
    uint32_t forward_stage, second_stage, cost;
    uint8_t kind, joined; /* of the second slot */
    bool split;
};

/* Gradients of several parts, synchronised together. */
struct bucket_cost {
    double bytes;
    uint32_t cost;
};

/* Factors of parts' computations that have been met. */
struct known_factors {
    const double *factors;
    uint32_t variation;
};

/* The group of a worker's ranks along some axes. */
struct exchange_group {
    uint32_t worker, axes, group; /* group NONE: a single rank */
};

/* A stash that is evicted to a partner and fetched back: the operations that mark the moments. */
struct stash_move {
    uint32_t evict_own, evict_partner, fetch_partner, fetch_own;
    uint32_t arrival; /* the receive of the evicted stash at the partner; the send to host memory */
};

/* What is handed on around the ring of workers: P, Q or G of a stage and micro-batch. */
struct travel {
    uint32_t after;      /* the operation before it, and */
    uint32_t updated[3]; /* what last changed the weights, on the owner; NONE: nothing to wait for */
    uint32_t arrival;    /* the receive of the newest hop */
};

/* Shares of the output layer: groups of all workers for what the last stage hands out, and for what is reduced behind S
 * and behind T; what these cost. NONE: one worker. */
struct output_costs {
    uint32_t handed, handed_cost, reduced[2], reduced_cost[2];
};

/* An outer step of a stage: its costs and group, and the all-reduce that is under way; NONE: none. Gathers: NONE: there
 * is nothing to put together. */
struct outer_step {
    uint32_t group, before, exchange, after, gather[FAMILIES];
    uint32_t sent, due; /* the iteration at whose end it is applied */
};

/* Operations of the running repetition by (micro-batch, stage): ids at the worker that runs them. */
struct lowering {
    const struct plan *plan;
    const struct stagesim_pipeline *costs;
    const struct mesh *mesh;
    struct program_builder *builder;
    struct arena *arena;
    struct stage_costs *stages; /* whole micro-batches; synchronisation and steps */
    struct stage_costs *slices; /* [stage * plan->slices + slice]: what slots cost; `stages` where nothing is cut */
    const double *kept;         /* [stage]: while costs are added, bytes that a backward of the slice keeps; NULL: 0 */
    double length;              /* while costs are added: share of the sequence in the slice */
    /* The operations that others wait for, and those that wait for messages; the same where one operation is all of it.
     */
    uint32_t *forward, *forward_first;   /* [cell_of(stage, micro_batch)] */
    uint32_t *backward, *backward_first; /* [2 * cell_of(...) + half]: both entries equal where not halved */
    struct stash_move *moves;            /* [cell_of(stage, micro_batch)]; NULL where the plan moves no stashes */
    struct output_costs outputs;         /* where workers share the output layer */
    uint32_t *reduced;      /* [2 * cell_of(stage, micro_batch) + i]: the collective behind S, and that behind T, on the
                               worker of the stage; NULL where they do not */
    struct travel *travels; /* [lowering_pass]; NULL where no weights travel */
    uint32_t *summed;       /* [stage]: where they do, the moment at which the owner has the whole gradient */
    uint32_t *stepped;      /* [worker]: and the moment after the steps of its stages; NONE: there was none */
    uint32_t **released; /* [worker][stage * FAMILIES + family]: the optimizer step or synchronisation that the next use
                            of the weights awaits */
    uint32_t **updated_shard; /* the same with sharded weights, which are gathered before their next use: what the next
                                 gather awaits; NONE: nothing, or a gather does already */
    uint32_t norm_cost, norm_group, nothing_cost;
    uint32_t tied_cost, tied_group; /* the group: NONE where no weights are tied */
    struct outer_step *outer;       /* [stage]; NULL: all replicas synchronise their gradients */
    uint32_t *tied_stage;           /* [worker]: the stage with whose gradients tied ones are exchanged; NONE: none */
    struct exchange_group *exchange_groups;
    size_t exchange_group_count, exchange_group_capacity;
    bool blocking;                               /* see struct pipeline_request */
    uint32_t sync_axes, shard_axes, expert_axes; /* of the mesh: a bit each; shard_axes 0: none */
    struct known_factors *known_factors;
    size_t known_factors_count, known_factors_capacity;
    uint32_t repetition;
    uint32_t micro_batches;             /* of an iteration */
    double slot_operations, slot_waits; /* the most that workers so far had for each of their slots, without messages */
    struct block_cost *blocks;
    size_t block_count, block_capacity;
    struct bucket_cost *buckets;
    size_t bucket_count, bucket_capacity;
};

/* Bytes of the gradient that comes back from the next stage. */
double lowering_message_back(const struct stagesim_pipeline *costs, uint32_t stage);
static inline double at(const double *values, uint32_t stage)
{
    return values ? values[stage] : 0;
}

static inline double gradient_bytes(const struct lowering *l, uint32_t stage, enum family family)
{
    return at(family == FAMILY_EXPERTS ? l->costs->expert_gradient : l->costs->gradient, stage);
}

static inline double chunk(const struct lowering *l)
{
    return (double)l->plan->workers / l->plan->stages;
}

static inline uint32_t add_cost(struct lowering *l, struct stagesim_cost cost)
{
    return program_add_cost(l->builder, &cost);
}

static inline uint32_t per_iteration(const struct lowering *l)
{
    return l->micro_batches;
}

static inline uint32_t iteration_of(const struct lowering *l, const struct slot *slot)
{
    return l->repetition + slot->micro_batch / per_iteration(l);
}

static inline struct stagesim_identity identify(const struct lowering *l, const struct slot *slot,
                                                enum stagesim_kind kind)
{
    return (struct stagesim_identity){.kind = kind,
                                      .stage = slot->stage,
                                      .micro_batch = slot->micro_batch % per_iteration(l),
                                      .pipeline = slot->pipeline,
                                      .part = slot->part,
                                      .layer = NONE,
                                      .iteration = iteration_of(l, slot)};
}

/* Costs of a slot's stage, or of the slice of it. */
static inline struct stage_costs *costs_of(const struct lowering *l, const struct slot *slot)
{
    if (l->plan->slices <= 1)
        return &l->stages[slot->stage];
    return &l->slices[(size_t)slot->stage * l->plan->slices + slot->micro_batch % l->plan->slices];
}

/* A worker goes through the micro-batches of its few stages: they lie side by side. */
static inline size_t cell_of(const struct lowering *l, uint32_t stage, uint32_t micro_batch)
{
    return (size_t)stage * l->plan->micro_batches + micro_batch;
}

static inline size_t cell(const struct lowering *l, const struct slot *slot)
{
    return cell_of(l, slot->stage, slot->micro_batch);
}

/* What remains of the running iteration on one worker. */
struct worker_state {
    uint32_t worker;
    uint32_t *left;    /* [iteration * stages + stage]: gradient slots still to come */
    bool *used;        /* [iteration * stages + stage]: the worker has gradient slots of the stage */
    uint32_t *slots;   /* [iteration]: slots still to come */
    uint32_t *ready;   /* stages whose gradients are complete, in that order */
    uint32_t *sync;    /* [stage * FAMILIES + family]: the newest synchronisation, or NONE */
    uint32_t *updated; /* [(iteration * stages + stage) * FAMILIES + family]: what ends the update, see `released`;
                          NONE: nothing to wait for */
    uint32_t *updated_shard; /* the same, see `updated_shard` */
    bool *owed;              /* [stage]: the synchronisation is launched at the end of the iteration */
    uint32_t ready_count;
    bool *owed_outer; /* [stage]: the all-reduce of its scattered gradients is launched at the end of the iteration */
    uint32_t last;    /* the newest computation, or the newest exchange behind it */
    /* What the next computation waits for (exchanges, gradients that are scattered with nothing beside), and exchanges
     * that run beside it, which the one after it waits for. */
    uint32_t pending[2 * STAGESIM_EXCHANGES_MAX + 2], pending_count;
    uint32_t beside[2 * STAGESIM_EXCHANGES_MAX], beside_count;
    /* With sharded weights: what ended before the newest layers began, the newest one first; NONE: nothing. */
    uint32_t boundaries[STAGESIM_AHEAD_MAX];
    double bucket[FAMILIES]; /* bytes of gradients of parts that wait to be synchronised together */
};

static inline bool completes_gradient(const struct slot *slot)
{
    return slot->kind == SLOT_WEIGHT || slot->kind == SLOT_OUTPUT_GRADIENT ||
           (slot->kind == SLOT_BACKWARD && !slot->split);
}

static inline enum plan_sync sync_of(const struct lowering *l, const struct slot *slot)
{
    return l->plan->copies[(size_t)slot->pipeline * l->plan->stages + slot->stage].sync;
}

static inline struct stagesim_identity identify_step(enum stagesim_kind kind, uint32_t stage, uint32_t iteration)
{
    return (struct stagesim_identity){
        .kind = kind, .stage = stage, .micro_batch = NONE, .layer = NONE, .iteration = iteration};
}

/* ---- slices.c ---- */

/* Bytes of a stash of `activation` bytes that a stage does not hold until it computes its forward again. */
double lowering_spared(const struct plan *plan, const struct stagesim_pipeline *costs, uint32_t stage,
                       double activation);

/* What a slice of a micro-batch costs in every stage, and l->kept and l->length of it. Arrays are the lowering's. */
struct stagesim_pipeline lowering_cut_costs(struct lowering *l, uint32_t slice);
/* Bytes of a slice's stash that its backward keeps, or where negative gives back of others: keys and values stay until
 * the backward of the first slice. */
double lowering_kept(const struct plan *plan, const struct stagesim_pipeline *costs, uint32_t stage, uint32_t slice);

/* ---- costs.c ---- */

/* What a worker holds beside activations, from the first moment to the last. */
struct stagesim_static_memory lowering_memory(const struct plan *plan, const struct stagesim_pipeline *costs,
                                              uint32_t worker);

/* Entries of the cost table and groups of all stages; groups of the workers. */
void lowering_add_costs(struct lowering *l);

/* Workers that hold a stage, each once, or where weights travel its owner; returns how many. `workers` has room for as
 * many as there are pipelines. */
uint32_t lowering_holders(const struct plan *plan, uint32_t stage, uint32_t *workers);

/* ---- axes.c ---- */

/* The mesh axes of a list as for mesh_select, a bit each; none where it is NULL or wrong. */
uint32_t lowering_axes(const struct mesh *mesh, const char *list);
/* How many of a pipeline's sets of factors a part has that varies along these axes. */
uint32_t lowering_factor_sets(const char *varies, uint32_t sets);

/* ---- exchanges.c ---- */

/* Costs of a part's exchanges in one direction; of those that no rank takes part in, none. */
void lowering_add_exchange_costs(struct lowering *l, const struct stagesim_exchanges *exchanges,
                                 struct exchange_list *out);
/* Adds one part's exchanges to another's; exchanges alike but for their size become one. False: there are too many. */
bool lowering_merge_exchanges(struct stagesim_exchanges *sum, const struct stagesim_exchanges *more);
/* A set of moments for the calls below. */
#define MOMENT(name) (1u << STAGESIM_##name)
#define ALL_MOMENTS (MOMENT(BEFORE) | MOMENT(BESIDE) | MOMENT(AFTER) | MOMENT(BESIDE_WEIGHT))
#define NOT_HIDDEN (1u << 8) /* only those that a block does not hide */
static inline bool lowering_has_exchanges(const struct exchange_list *list, unsigned moments)
{
    return (list->moments & moments) != 0;
}

/* Exchanges of these moments, of `n` micro-batches as one (0: a half), one after the other behind all that came before,
 * or where they say so with the one before; returns the first, NONE where there are none. */
uint32_t lowering_add_exchanges(struct lowering *l, struct worker_state *state, const struct exchange_list *list,
                                unsigned moments, struct stagesim_identity identity, unsigned n);
/* The same, together, beside the computation that is added next. */
void lowering_add_beside(struct lowering *l, struct worker_state *state, const struct exchange_list *list,
                         unsigned moments, struct stagesim_identity identity, unsigned n);
/* The same of those that a block hides, or of `all`. */
void lowering_add_hidden(struct lowering *l, struct worker_state *state, const struct exchange_list *list,
                         struct stagesim_identity identity, bool all);
/* The operation waits for all that is pending, which no longer is. */
void lowering_await_pending(struct lowering *l, struct worker_state *state, uint32_t id);

/* ---- work.c ---- */

/* A slot, with the one joined to it or NULL, as operations of the worker. */
void lowering_add_slot(struct lowering *l, struct worker_state *state, const struct slot *slot,
                       const struct slot *joined);

/* ---- sync.c ---- */

/* True where the gradients of a slot are synchronised part by part, as each is complete. */
bool lowering_syncs_parts(const struct lowering *l, const struct worker_state *state, const struct slot *slot);
/* Synchronises `bytes` of a stage's gradients after the newest operation; `complete`: those of all the iteration's
 * micro-batches. */
void lowering_add_sync(struct lowering *l, struct worker_state *state, uint32_t stage, uint32_t iteration,
                       const double bytes[FAMILIES], bool complete);
/* The same of all of a stage's gradients. */
void lowering_add_whole_sync(struct lowering *l, struct worker_state *state, uint32_t stage, uint32_t iteration,
                             bool complete);
/* All-reduces gradients that were scattered along the shard axes among those who hold the same shard; `bytes`: before
 * they were. */
void lowering_add_outer_sync(struct lowering *l, struct worker_state *state, uint32_t stage, uint32_t iteration,
                             double bytes);
/* Whether the slot's gradients are complete with it, or are applied after every slot. */
bool lowering_completes(const struct lowering *l, const struct worker_state *state, const struct slot *slot);

/* The operation waits for a stage's synchronisation. */
void lowering_await_sync(struct lowering *l, const struct worker_state *state, uint32_t stage, uint32_t id);

/* ---- tied.c: weights of which the first and the last stage have a copy each ---- */

/* Their group and cost. */
void lowering_add_tied_group(struct lowering *l);
/* Exchanges their gradients when those of the stages that are ready are synchronised; steps of these stages wait. */
void lowering_add_tied_sync(struct lowering *l, struct worker_state *state, uint32_t iteration);

/* ---- outer.c: islands of replicas that agree on weights now and then ---- */

/* Their costs and groups, where there are such steps. */
void lowering_add_outer_costs(struct lowering *l);
/* After a stage's step at the end of an iteration: what is due is applied, and sent. */
void lowering_outer_step(struct lowering *l, struct worker_state *state, uint32_t stage, uint32_t iteration);

/* ---- step.c ---- */

/* Steps of the stages that are ready. */
void lowering_step(struct lowering *l, struct worker_state *state, uint32_t iteration);

/* ---- account.c ---- */

/* After a slot: gradients that it completes are synchronised, and when the iteration's work is done the optimizer
 * steps. */
void lowering_account(struct lowering *l, struct worker_state *state, const struct slot *slot);

/* ---- weights.c ---- */

/* Index of P, Q or G of a stage and micro-batch in l->travels. */
size_t lowering_pass(const struct lowering *l, enum slot_kind kind, uint32_t stage, uint32_t micro_batch);
/* P, Q or G in a worker's order. */
void lowering_note_pass(struct lowering *l, const struct worker_state *state, const struct slot *slot);
/* Synchronisation and steps of the stages that a worker owns, at the end of an iteration. */
void lowering_step_owned(struct lowering *l, struct worker_state *state, uint32_t iteration);
/* The messages of weights and gradients of an iteration. */
void lowering_add_travels(struct lowering *l);
/* What a worker of such a plan holds beside activations. */
struct stagesim_static_memory lowering_travelling_memory(const struct plan *plan, const struct stagesim_pipeline *costs,
                                                         uint32_t worker);

/* ---- output.c: workers that share the output layer ---- */

/* Costs and groups. */
void lowering_add_output_costs(struct lowering *l);
/* S or T as operations of its worker. */
void lowering_add_output(struct lowering *l, struct worker_state *state, const struct slot *slot);
/* A backward that the shares of the output layer give its gradient waits for it. */
void lowering_await_output(struct lowering *l, const struct worker_state *state, const struct slot *slot);

/* ---- messages.c ---- */

/* The messages that a worker sends: activations and gradients between stages. */
void lowering_add_messages(struct lowering *l, uint32_t worker);
/* Stashes that are evicted to partners (SLOT_EVICT) or come back (SLOT_FETCH). */
void lowering_add_stash_messages(struct lowering *l, enum slot_kind kind);

/* ---- work_costs.c: what slots cost, alone and as one ---- */

uint32_t lowering_slot_cost(const struct lowering *l, const struct slot *slot);
enum stagesim_kind lowering_slot_work(const struct slot *slot);
uint32_t lowering_block_cost(struct lowering *l, const struct slot *forward, const struct slot *second,
                             enum slot_joined joined);

#endif
