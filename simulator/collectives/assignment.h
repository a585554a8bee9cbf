/* SPDX-License-Identifier: Apache-2.0 */
/* How the collectives of a program are carried out: an algorithm and a protocol for each operation of each group, the
 * same for all instances of a group, so that replicas stay alike. Engines, folding and the traffic statistics read it.
 */
#ifndef STAGESIM_COLLECTIVE_ASSIGNMENT_H
#define STAGESIM_COLLECTIVE_ASSIGNMENT_H

#include "simulator/collectives/communicator.h"

struct arena;
struct program;
struct operation;
struct assignment;

/* What the user asks for. All zero: auto, steady state. */
struct collective_policy {
    const struct collective_algorithm *algorithms[STAGESIM_COLLECTIVES]; /* NULL: auto */
    bool stepwise; /* every single transfer where the algorithm's steps are known, in place of steady-state flows */
};

/* Gives a finished program its assignment, without a platform: what needs none. Memory is the arena's, which lives as
 * long as the program. */
void assignment_create(struct program *program, struct arena *arena);
/* From now on for a platform; borrowed, with hosts[rank], as long as the assignment lives. */
void assignment_place(struct assignment *assignment, struct platform *platform, const uint32_t *hosts,
                      const struct collective_policy *policy);

/* For a collective operation of a group. Where it stands for several of equal size (struct stagesim_cost, repeats),
 * delay and seconds are of one. */
struct collective_choice assignment_choose(const struct program *program, uint32_t group,
                                           const struct operation *operation);
/* Its flows, for members in rank order; NULL for a group of one rank. */
const struct collective_flows *assignment_flows(const struct program *program, uint32_t group,
                                                const struct operation *operation);
/* All different flows of a group's operations, *count of them; valid until the assignment is placed again. */
const struct collective_flows *const *assignment_all_flows(const struct program *program, uint32_t group,
                                                           uint32_t *count);

#endif
