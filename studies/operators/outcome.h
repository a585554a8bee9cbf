/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of strategies once they are evaluated: plain data, sent from process to process. */
#ifndef STAGESIM_OPERATORS_OUTCOME_H
#define STAGESIM_OPERATORS_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

/* Of a search. Above OPERATORS_SINGLE_MAX devices operators that are alike are moved together, too. */
enum { OPERATORS_DEVICES_MAX = 1024, OPERATORS_SINGLE_MAX = 128, OPERATORS_LAYERS_MAX = 1024 };
/* Messages of a forward, about 100 bytes each in a task graph: those between all of 1,024 devices are half as many. */
enum { OPERATORS_MESSAGES_MAX = 1 << 21 };
enum { CONFIGURATION_DIMENSIONS = 5 }; /* those of struct layer_split, in its order */

/* How an operator may be divided: `count` equal parts, of which part k lies on device first + k stride. */
struct configuration {
    uint32_t degrees[CONFIGURATION_DIMENSIONS];
    uint32_t count, first, stride;
};

/* What an evaluation came to. */
struct task_result {
    double seconds; /* of the iteration; INFINITY: it has too many messages, or was not timed to its end */
    double memory;  /* bytes of the fullest device: weights, gradients, optimizer and kept activations */
    double excess;  /* bytes beyond the capacity, summed over the devices */
};

/* Tasks since the graph was made: parts, messages and synchronisations. */
struct task_counts {
    uint64_t built, timed;
};

/* What came of a start of the search. */
struct metropolis_outcome {
    double first, best;                  /* costs: of the start, and the least */
    struct task_result result;           /* of the best strategy */
    uint64_t proposals, accepted, worse; /* `worse`: accepted though they cost more */
    uint64_t found;                      /* the proposal that was best; 0: the start */
    struct task_counts counts;
    bool stopped;
};

#endif
