/* SPDX-License-Identifier: Apache-2.0 */
/* A plan: for each pipeline worker the ordered list of slots that a schedule makes it execute. */
#ifndef STAGESIM_PLAN_H
#define STAGESIM_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SCHEDULE_STAGES_MAX = 65535,     /* a slot holds its stage in 16 bits */
    SCHEDULE_FORWARDS_MAX = 1 << 24, /* stages times micro-batches of a plan: at most 0.6 GB of slots */
};

struct arena;

enum slot_kind {
    SLOT_FORWARD,   /* F */
    SLOT_BACKWARD,  /* B: the whole backward, or its input-gradient part where the plan splits the backward */
    SLOT_WEIGHT,    /* W: the weight-gradient part of a split backward */
    SLOT_EVICT,     /* E: the stash of a forward moves to the partner worker (BPipe) or to host memory (PipeOffload) */
    SLOT_FETCH,     /* L: it is loaded back */
    SLOT_RECOMPUTE, /* R: a forward, or a share of it, is computed again for its backward; between F and B. From F to R
                       only the rest of the stash is held */
    SLOT_PASS_FORWARD,  /* P: where weights travel, see plan_weights.h: a stage's weights for a forward are handed on */
    SLOT_PASS_BACKWARD, /* Q: the same for a backward */
    SLOT_PASS_GRADIENT, /* G: the stage's gradient with a micro-batch's share in it is handed on */
    SLOT_OUTPUT,        /* S: where workers share the output layer: a worker's share of it, once the last stage's
                           forward is done. Its stage is the worker's */
    SLOT_OUTPUT_GRADIENT, /* T: what is left of the share's backward, once all workers' S are done */
};

/* Moving stashes. Worker x gives stashes away to y = partners[x] and gets them back before it needs them. Each of the
 * two transfers is one message of one stash and has a slot in both orders; the slots carry the stage of x, so that on y
 * they are the ones whose stage lives on another worker. They take no compute time and no later slot of the order waits
 * for them, except that B on x waits for the message of its L. In either direction messages go in the order of the
 * sender's slots. E on x: the message x -> y is sent once the slot before it is done; the stash leaves x. E on y: from
 * here on y keeps room for it (the receive is posted; data that come earlier are taken as well). L on y: the message y
 * -> x is sent once the slot before it is done and the stash has come from x; it leaves y. L on x: from here on x keeps
 * room for it (the receive is posted). So no request message is needed, and the peaks of either worker follow from its
 * own order alone: +1 at F, L on x and E on y, -1 at B, E on x and L on y. A plan's orders are those of a run in which
 * E on y comes no later than E on x, L likewise.
 *
 * Where x is its own partner, its stashes go to host memory, which is nobody's order. Then E stands where the stash has
 * left: its transfer begins as soon as its forward and the worker's transfers of the Es before are done. L stands where
 * room is taken: its transfer begins once the slot before it, the stash's way out and the transfers of the Ls before
 * are done, and B waits for it. */

/* How a slot belongs together with the one before it: as one atomic block, inputs of both first, outputs of both after.
 */
enum slot_joined {
    SLOT_ALONE,
    SLOT_JOINED, /* two forwards of a stage as one of twice the size, a whole forward and backward in any order, or what
                    is computed again and its backward */
    SLOT_BRAIDED, /* a forward, and another of its stage, a whole backward or a weight gradient behind it: each runs
                     while the other communicates, so that collectives inside the stages hide */
};

enum slot_part { PART_WHOLE, PART_A, PART_B }; /* halves of a micro-batch; only an unsplit backward is halved */

/* One entry of a worker's order. 12 bytes: plans reach millions of slots. */
struct slot {
    uint32_t micro_batch;
    uint16_t stage;
    uint16_t pipeline; /* 2i: down pipeline i, 2i+1: up pipeline i; 0 in schedules of one direction */
    uint8_t kind;      /* enum slot_kind */
    uint8_t part;      /* enum slot_part */
    uint8_t joined;    /* enum slot_joined */
    uint8_t split;     /* SLOT_BACKWARD: 1 when a SLOT_WEIGHT of the same stage and micro-batch follows later */
};

struct plan_order {
    struct slot *slots;
    size_t count, capacity;
};

/* When the gradients of a stage on a worker are synchronised with their replicas. */
enum plan_sync {
    PLAN_SYNC_EAGER, /* as soon as the last backward (or W) of the stage on the worker is done */
    PLAN_SYNC_AFTER, /* after the worker's whole order */
};

/* What the optimizer step of a plan waits for besides its own gradients. */
enum plan_step {
    PLAN_STEP_LOCAL,    /* nothing else */
    PLAN_STEP_BLOCKING, /* a small all-reduce over all workers (global gradient norm, NaN check) before any step */
};

/* The copy of a stage that one pipeline holds. Every pipeline holds each stage exactly once. */
struct plan_copy {
    uint32_t worker;
    enum plan_sync sync;
};

struct plan {
    uint32_t workers, stages, pipelines;
    uint32_t micro_batches; /* all pipelines together, all iterations that the plan spells out */
    uint32_t
        iterations;    /* 1; more where the order crosses iterations (asynchronous schedules, bypassed optimizer
                          synchronisation): micro-batch m then belongs to iteration m / (micro_batches / iterations) */
    bool asynchronous; /* not equivalent to synchronous training */
    bool steps_each;   /* weights are updated after every micro-batch's backward (PipeDream), not once per iteration */
    enum plan_step step;
    struct plan_copy *copies; /* [pipeline * stages + stage] */
    double *
        weight_versions; /* [worker]: copies of the weights of the worker's share that are held (1; PipeDream: D - w) */
    uint32_t *staleness; /* [worker]: updates between the weights used and the newest; 0 when synchronous */
    uint32_t slices;     /* of a micro-batch's sequence, each with a number of its own: see plan_slices.h; 1: uncut */
    double *slice_lengths; /* [slice]: share of the sequence; NULL where slices is 1 */
    bool even_slices;      /* attention moves between workers so that slices take as long as they are, not longer the
                              later they are */
    double *recomputed;    /* [stage]: share of its forwards that is computed again, each micro-batch's before its
                              backward;    0: none is. NULL: of no stage */
    uint32_t *partners;    /* [worker]: whose memory takes its evicted stashes, its own number: that of its host; NULL
                              where nothing is evicted */
    double transfer;       /* of a stash to host memory or back, as a share of the longest forward and backward of a
                              stage: as the order was planned; 0: not known */
    uint32_t *owners;      /* [stage]: who keeps its weights where they travel, see plan_weights.h; NULL: they stay */
    uint32_t barriers; /* where workers share the output layer: after 1, all workers' S, the last stage's backward has
                          its gradient; or after 2, all workers' S and then all workers' T. 0: they do not share it */
    double output;     /* the forward of a worker's share of the output layer, as a share of the worker's forward */
    struct plan_order *orders; /* [worker] */
    double bound;              /* no order of this placement within these stashes takes less, in the unit of the times
                                  that the plan was asked for; 0: not known */
    double rate, rate_bound;   /* what a further micro-batch takes by the best order that repeats, and what none takes
                                  less than, in the same unit; rate 0: none was looked for, or found */
};

/* An empty plan; the caller owns it. Copies are unplaced (worker UINT32_MAX), sync eager, versions 1. */
struct plan *plan_create(uint32_t workers, uint32_t stages, uint32_t pipelines, uint32_t micro_batches);
void plan_destroy(struct plan *plan); /* NULL is fine */
/* A plan of so many iterations, each like the only one of a plan in one piece (no slices, nothing moved or computed
 * again), one behind the other in every worker's order. The caller owns it. */
struct plan *plan_create_repeated(const struct plan *plan, uint32_t iterations);

/* Says that `pipeline` holds `stage` on `worker`. */
void plan_place(struct plan *plan, uint32_t pipeline, uint32_t stage, uint32_t worker);
/* Says that the stashes which `worker` evicts go to `partner`. */
void plan_pair(struct plan *plan, uint32_t worker, uint32_t partner);
/* Says that a share of a stage's forwards is computed again: every micro-batch has an R there. */
void plan_recompute(struct plan *plan, uint32_t stage, double share);
/* The share of a stage's forwards that is computed again. */
static inline double plan_recomputed(const struct plan *plan, uint32_t stage)
{
    return plan->recomputed ? plan->recomputed[stage] : 0;
}
/* A stash that moves: E or L. */
static inline bool slot_moves(const struct slot *slot)
{
    return slot->kind == SLOT_EVICT || slot->kind == SLOT_FETCH;
}
/* S or T. */
static inline bool slot_is_output(const struct slot *slot)
{
    return slot->kind >= SLOT_OUTPUT;
}
/* How long S or T takes, as a share of the worker's forward. A backward of a layer is twice its forward: one half is
 * the gradient of its input, which S has where there is one barrier, and T otherwise. */
static inline double plan_output_share(const struct plan *plan, const struct slot *slot)
{
    return plan->output * ((slot->kind == SLOT_OUTPUT) == (plan->barriers == 1) ? 2 : 1);
}
/* Whether stashes that the worker evicts go to host memory. */
static inline bool plan_offloads(const struct plan *plan, uint32_t worker)
{
    return plan->partners && plan->partners[worker] == worker;
}

static inline bool plan_offloads_anywhere(const struct plan *plan)
{
    uint32_t worker = 0;
    while (worker < plan->workers && !plan_offloads(plan, worker))
        worker++;
    return worker < plan->workers;
}
/* Where a stage of a pipeline lives. */
static inline uint32_t plan_worker(const struct plan *plan, uint32_t pipeline, uint32_t stage)
{
    return plan->copies[(size_t)pipeline * plan->stages + stage].worker;
}

/* Room for that many slots of a worker; merely saves time. */
void plan_expect(struct plan *plan, uint32_t worker, size_t slots);
/* Appends to a worker's order; returns the slot, valid until the next append to the same worker. */
struct slot *plan_append(struct plan *plan, uint32_t worker, enum slot_kind kind, uint32_t pipeline, uint32_t stage,
                         uint32_t micro_batch);

/* Letter of a kind as in the csv: F, B, W, E, L, R, P, Q, G, S, T. */
char slot_letter(enum slot_kind kind);

#endif
