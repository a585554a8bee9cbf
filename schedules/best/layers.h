/* SPDX-License-Identifier: Apache-2.0 */
/* Orders layer by layer: all states after k operations, then all after k + 1. Two states in which the same has been
 * done are compared, and one that is nowhere later than the other stands for both (dominance, as in dynamic
 * programming). A state is small: micro-batches are alike and go one behind the other, so it is how far each of those
 * under way has come and when it gets there.
 *
 * The layers may be of a relaxation, in which some workers do not keep to their limit or do several things at a time.
 * What no order of the relaxation undercuts, no order undercuts. */
#ifndef STAGESIM_BEST_LAYERS_H
#define STAGESIM_BEST_LAYERS_H

#include "schedules/best/budget.h"
#include "schedules/best/instance.h"

struct layers;

/* States of a layer that count as one of the budget's. */
enum { LAYERS_OF_EFFORT = 24 };

/* What a worker keeps to: nothing, so that what it does is a delay; forwards and backwards one at a time; also weight
 * gradients and the limit. */
enum layers_keeps { LAYERS_DELAY, LAYERS_ONE_AT_A_TIME, LAYERS_ALL };

enum layers_end {
    LAYERS_FOUND,      /* an order of the relaxation */
    LAYERS_IMPOSSIBLE, /* none ends by then */
    LAYERS_GIVEN_UP    /* too many states, or the budget is spent */
};

struct layers_request {
    int64_t most;   /* an order has to end by then */
    uint32_t width; /* of a layer only so many states are kept, those that seem best; nothing is then proved; 0: all */
    double lean;    /* what seems best: the worker that ends last, and so much of what workers take in the mean */
    bool endless;   /* for layers_rate: nothing that the width leaves out may be earlier than what is kept */
};

/* `keeps` is [worker]. */
struct layers *layers_create(const struct instance *instance, const enum layers_keeps *keeps);
void layers_finish(struct layers *layers);

/* The `end` of what is found, without `width` the earliest there is. `words`, filled where the relaxation is none (all
 * workers keep to all) and there is a width; NULL: not asked for. */
enum layers_end layers_try(struct layers *layers, const struct layers_request *request, struct budget *budget,
                           int64_t *end, struct words *words);

/* Of an instance that has more micro-batches than may be under way (`instance->batches` is not the number of those that
 * follow each other): what a further one takes. Where the request is endless, so much at least in any order of the
 * relaxation (0: nothing is proved). Where it is not, by an order that repeats and is found (INFINITY: none); then
 * there has to be a width. Ends when the rate comes to `aim`. In units. */
double layers_rate(struct layers *layers, const struct layers_request *request, double aim, struct budget *budget);

#endif
