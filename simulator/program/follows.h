/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the iteration behind the only one of a timeline would be like it, without simulating that.
 *
 * What waits for nothing in the first iteration, and begins with it, waits in the next one for what the first has left
 * behind: the optimizer, gathered parameters, its stream. If all of that ends when the iteration does, the next one is
 * the same, later by T: everything else waits for something in its own iteration, and nothing is under way when it
 * begins. If some of it ends sooner, ranks run ahead, and only a simulation says what comes of it. */
#ifndef STAGESIM_FOLLOWS_H
#define STAGESIM_FOLLOWS_H

#include "simulator/program/timeline.h"

enum follows {
    FOLLOWS_ALIKE,    /* nothing begins sooner by more than 10^-5 of T */
    FOLLOWS_PERHAPS,  /* the same program with two iterations would tell */
    FOLLOWS_OTHERWISE /* some operation begins sooner */
};

/* `twice`: the program with two iterations, or NULL; with it, the answer is not FOLLOWS_PERHAPS. The speed of hosts and
 * links may not change over time. */
enum follows follows(const struct timeline *timeline, const struct program *twice);

#endif
