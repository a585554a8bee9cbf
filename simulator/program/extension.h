/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of a job from that of a shorter one: the same job with fewer micro-batches, whose order is that of the
 * whole job without some of the beats that repeat in its middle.
 *
 * Why this is exact. (1) The order is compared operation by operation: up to where a beat may be put in both programs
 * are alike, from there on they are alike but for the beats that one has more, and all beats between are alike, what
 * each operation waits for included. (2) The short job's timeline has a cycle within these beats: a state that comes
 * back (base/numbers/cycle.h). (3) The next step of a job follows from its state and from the order of what is still to
 * come. At the end of the cycle the whole job is in the state and before the order that it was in and before at its
 * beginning, so that it goes through the cycle again, and again, until the beats that it has more are used up; from
 * then on the short job's rest is its own. No other property of a schedule is used; where one of these is not found
 * there is no extension. What changes with the time of day (profiles of hosts and links) is no state, and is for the
 * caller to refuse. */
#ifndef STAGESIM_EXTENSION_H
#define STAGESIM_EXTENSION_H

#include "simulator/program/beats.h"

/* The smallest number of micro-batches with which the order of all compute streams seems to repeat, in the middle of
 * the program; 0: there is none. */
uint32_t extension_step(const struct program *program);

/* The beats of `part` of which `whole` has `more`; NULL where the orders are not alike in the sense of (1). */
struct beats *extension_beats(const struct program *whole, const struct program *part, uint32_t more,
                              struct arena *arena);

/* Fills the times of `whole`, which simulates the same ranks, from those of the part's timeline, in which `cycle` was
 * found with these beats. more: a multiple of the cycle's. */
void extension_fill(struct timeline *whole, const struct timeline *part, const struct beats *beats,
                    const struct cycle *cycle, uint32_t more);

/* Lets operations start exactly when what they waited for ends, where copied times differ by less than `nearly`
 * seconds: sums of times are rounded, and who gives memory back must not come after who takes it. Then what follows for
 * receives. */
void extension_settle(struct timeline *timeline, double nearly);

#endif
