/* SPDX-License-Identifier: Apache-2.0 */
/* What a recorded job's step is made of: the step is replayed with one thing after the other made as it should be, and
 * what each of them gives is its part. So the parts add up to what lies between the recorded step and the last replay.
 * Without a model, "as it should be" is what the trace itself shows: medians over ranks, micro-batches and stages. */
#ifndef STAGESIM_EXPLAIN_LOSSES_H
#define STAGESIM_EXPLAIN_LOSSES_H

#include "studies/explain/replay.h"
#include "studies/explain/spans.h"

struct arena;

enum loss_kind {
    LOSS_GAPS,          /* nothing runs and nothing is waited for: the host */
    LOSS_PAUSES,        /* single computations that take far longer than their like */
    LOSS_RANKS,         /* ranks that are slow all the time */
    LOSS_MICRO_BATCHES, /* micro-batches that take longer on all stages, such as long sequences */
    LOSS_STAGES,        /* stages that take longer than others; with a model: than it says */
    LOSS_FORWARD,       /* with a model: all forwards, than it says */
    LOSS_BACKWARD,
    LOSS_OTHER_COMPUTE, /* with a model: optimizer and other computations, than it says */
    LOSS_REST,          /* what is left of computations */
    LOSS_MESSAGES,      /* transfers between stages that take longer than their like; with a model: than on its links
                           beside those of the trace, so other traffic, slow links */
    LOSS_COLLECTIVES,
    LOSS_CONTENTION,    /* with a model: transfers of the trace that are in each other's way, more than its own are */
    LOSS_MESSAGE_SIZES, /* with a model: transfers of other sizes than it says */
    LOSS_COLLECTIVE_SIZES,
    LOSS_EXTRA, /* with a model: work that it does not have */
    LOSS_ORDER, /* with a model: the same work in its order and with its dependencies */
    LOSS_KINDS
};
extern const char *const loss_keys[LOSS_KINDS];

struct loss_part {
    double seconds;     /* of a step, the mean over steps; negative: it makes up for others */
    const char *who;    /* the worst of it in words; NULL: nobody stands out */
    double who_seconds; /* what mending that alone gives, by replay; NaN: not tried */
};

/* What is expected of an operation, from a model; NaN: the model has none like it. */
struct loss_model {
    double (*seconds)(void *user, const struct recorded *recorded, const struct recorded_operation *operation);
    /* Of a message or collective with nothing else under way: with its own size, or that of the model's like it. */
    double (*alone)(void *user, const struct recorded *recorded, const struct recorded_operation *operation,
                    bool own_size);
    void *user;
    double step;          /* seconds that the model gives the whole step */
    const double *shared; /* [operation]: seconds of messages and collectives beside each other on the model's network,
                             in the recorded steps; NaN: not known */
    double shared_step;   /* seconds of the recorded step on that network */
};

struct losses {
    size_t step_count;
    double measured, longest, shortest; /* seconds of a step: mean, and the extremes */
    double busy;                        /* without gaps: dependencies and durations alone */
    double even;                        /* everything as it should be, in the recorded order */
    double ideal;          /* computations take the mean of their kind, messages and collectives the median */
    double predicted;      /* by the model; NaN: there is none */
    double network_alone;  /* as recorded, but each message and collective takes what it takes alone on the model's
                              network, with its recorded size; NaN: there is no model */
    double network_shared; /* the same, but messages and collectives are beside each other on that network */
    double slowness_of_messages, slowness_of_collectives; /* seconds of all, over those that they take alone on the
                                                             model's network; NaN: not known */
    struct loss_part parts[LOSS_KINDS];
    struct spans spans; /* forwards and backwards alone */
    uint32_t unmatched; /* messages without their other end, of all steps */
    double correlation; /* of forwards and backwards over micro-batches; NaN: not known */
    uint32_t slow_rank; /* index of the rank that is slowest all the time; RECORDED_NONE: none stands out */
    double slowness;    /* of its computations, over those of its like */
    const double *own;  /* [operation]: seconds as recorded, without waits; 0: it is in no step */
    double *last;       /* [operation]: seconds of the last replay, for pictures */
};

/* Steps, ascending, step_count of them, all replayable. `model` NULL: the trace alone. Memory from the arena. False
 * with the fault filled. */
bool losses_find(const struct recorded *recorded, const uint32_t *steps, size_t step_count,
                 const struct loss_model *model, struct arena *arena, struct losses *losses, struct fault *fault);

#endif
