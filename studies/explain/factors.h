/* SPDX-License-Identifier: Apache-2.0 */
/* Why a computation takes what it takes: expected time, times a factor of its kind, of its rank, of its micro-batch,
 * and what is left. */
#ifndef STAGESIM_EXPLAIN_FACTORS_H
#define STAGESIM_EXPLAIN_FACTORS_H

#include "studies/explain/losses.h"

struct factors {
    double *own;      /* [operation of the trace]: seconds of its own; 0: it is in no step */
    double *expected; /* of its kind and stage: the model's, or the median; NaN: the model has none like it */
    double *kind;     /* all computations of its kind, over what is expected; 1 without a model */
    double *stage;    /* its stage's, over what is expected of its kind; 1 without a model */
    double *rank;     /* its rank's, over others of its stage */
    double *micro_batch;
    double *even; /* the mean of its kind over stages; with a model the expected */
};

/* `own` is filled by the caller, the rest is made; memory from the arena. */
void factors_find(const struct recorded *recorded, const struct loss_model *model, struct factors *factors,
                  struct arena *arena);

/* What its factors together say that it takes. */
double factors_seconds(const struct factors *factors, size_t operation);

/* A computation that is far off that. */
bool factors_pause(const struct factors *factors, size_t operation);

/* Whether the factors of computations are about it. */
static inline bool factors_has(const struct factors *factors, const struct recorded *recorded, size_t operation)
{
    return recorded->operations[operation].kind == RECORDED_COMPUTE && factors->own[operation] > 0;
}

#endif
