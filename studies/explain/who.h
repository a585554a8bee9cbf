/* SPDX-License-Identifier: Apache-2.0 */
/* Who is the worst in a part of a step's time, and what mending that alone gives. */
#ifndef STAGESIM_EXPLAIN_WHO_H
#define STAGESIM_EXPLAIN_WHO_H

#include "studies/explain/engine_replay.h"
#include "studies/explain/factors.h"
#include "studies/explain/losses.h"

/* What the sources of losses share. */
struct loss_search {
    const struct recorded *recorded;
    const struct loss_model *model;
    struct replay **replays;        /* [step]: for the many replays that look for who it is */
    struct engine_replay **engines; /* [step]: for the parts */
    size_t step_count;
    struct factors factors;
    double *next;     /* [operation]: with the newest thing made right */
    double *transfer; /* [operation]: of messages and collectives, as they should be */
    double *sized;    /* the same with their own sizes */
    double *shared;   /* and beside each other as in the trace */
    bool mend_gaps;   /* what is mended loses its gaps as well */
    struct arena *arena;
    double *seconds, *gaps; /* [node of the largest step], `nodes` */
    uint32_t nodes;
};

/* Fills search->seconds of a step's nodes with these values, [operation]. */
void loss_search_seconds(const struct loss_search *search, size_t step, const double *values);

/* Mean seconds of the steps with these values, [operation]; where `mended` says so with those of search->next. */
double loss_search_replay(const struct loss_search *search, const double *values, bool gaps,
                          bool (*mended)(const void *user, const struct recorded_operation *operation),
                          const void *user);

/* Whether a kind of loss, one of forwards, backwards and other computations, is about the operation. */
bool loss_concerns(enum loss_kind kind, const struct recorded_operation *operation);

/* Fills who it is and what mending it gives: `values` are those before, of a step of `before` seconds. */
void who_find(struct loss_search *search, enum loss_kind kind, const double *values, double before,
              struct loss_part *part, struct losses *losses);

/* Of the forwards' and backwards' times over micro-batches of one stage each; NaN: too few. */
double who_correlation(const struct loss_search *search);

#endif
