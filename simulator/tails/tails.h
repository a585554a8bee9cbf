/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that do not all take the same time: what varies, and what comes of it. Seconds; doc/quantiles.md. */
#ifndef STAGESIM_TAILS_H
#define STAGESIM_TAILS_H

#include "base/random/distribution.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Computations of one micro-batch as somebody recorded them, on each stage. */
struct tails_record {
    uint32_t replica;                 /* that it was recorded on */
    const double *forward, *backward; /* [stage]; backward is whole */
};

/* Those of a replica stand one behind the other. */
struct tails_trace {
    const struct tails_record *records;
    size_t count;
    uint32_t stages, replicas;
    const size_t *first; /* [replicas + 1]: records of a replica */
};

/* Classes of kernels that a workload may tell apart, by its keys compute.NAME_time. */
enum tails_kernel {
    TAILS_MATRIX,
    TAILS_GROUPED,
    TAILS_ATTENTION,
    TAILS_SCAN,
    TAILS_NORM,
    TAILS_ELEMENTWISE,
    TAILS_KERNELS
};
extern const char *const tails_kernel_names[]; /* [enum tails_kernel], NULL-terminated */

/* What varies; NULL: nothing does. Times of computations and transfers are multiplied by what is drawn, unless it says
 * otherwise. */
struct tails_settings {
    bool given;                             /* the scenario asks for it */
    const char *like;                       /* the published job that the rest is of; NULL: none */
    const struct distribution *device;      /* computations of a GPU, the whole step */
    const struct distribution *node;        /* the same of all GPUs of a node */
    const struct distribution *worker;      /* the same of all ranks of a pipeline worker of a replica */
    const struct distribution *micro_batch; /* all computations of a micro-batch, on all stages */
    const struct distribution *operation;   /* each computation for itself */
    const struct distribution *forward, *backward, *weight, *optimizer; /* the same of a kind, in its place */
    const struct distribution *kernels[TAILS_KERNELS]; /* of each computation the share that is of these kernels */
    const struct distribution *transfer;               /* each message, each collective */
    const struct distribution *message, *collective;   /* one of them, in its place */
    const struct distribution *link;                   /* all that leaves a node or comes to it, the whole step */
    const struct distribution *pause;                  /* seconds that a rank stands still in front of a forward */
    double pause_every;                                /* once in so many steps */
    const struct tails_trace *trace;                   /* times of micro-batches, drawn as they were recorded */
    uint32_t steps;                                    /* that are drawn */
    uint64_t seed;
};

enum tails_change {
    CHANGE_SLOWEST,
    CHANGE_BALANCED,
    CHANGE_EVEN,
    CHANGE_LAST,
    CHANGE_TOGETHER,
    CHANGE_READY,
    TAILS_CHANGES
};
extern const char *const tails_change_names[]; /* [enum tails_change], NULL-terminated */
extern const char *const tails_change_words[]; /* for people: "without the slowest 3 % of the workers" */

enum { TAILS_STRAGGLERS = 5 };

/* A quantile of the steps; with 95 % confidence it lies from low to high. */
struct tails_quantile {
    double value, low, high;
};

struct tails_straggler {
    uint32_t worker, replica; /* of the pipeline; of the data axis */
    double share;             /* of the steps in which it adds most to the longest path */
};

struct tails_what_if {
    bool known;
    double mean, p95; /* of the same steps with the change */
};

/* Plain data. Seconds. */
struct tails_figures {
    bool known;
    uint32_t steps;
    double even;        /* a step in which nothing varies */
    double mean, error; /* with the control variate, and its standard error */
    double plain_error; /* without */
    struct tails_quantile p50, p95, p99;
    bool exact;                         /* see struct step_net */
    uint32_t compared;                  /* steps that changes were compared over */
    double compared_mean, compared_p95; /* of those without a change */
    struct tails_what_if changes[TAILS_CHANGES];
    struct tails_straggler stragglers[TAILS_STRAGGLERS];
    uint32_t straggler_count;
    double no_straggler; /* share of the steps in which nobody adds anything */
};

/* What one step came to. */
struct tails_step {
    double seconds;
    double control; /* what the computations of the even step's longest path take now */
    double changes[TAILS_CHANGES];
    uint32_t straggler; /* worker * replicas + replica; UINT32_MAX: none */
};

#endif
