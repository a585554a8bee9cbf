/* SPDX-License-Identifier: Apache-2.0 */
/* Runs an engine on as few ranks as stand for the whole job. */
#ifndef STAGESIM_FOLDED_RUN_H
#define STAGESIM_FOLDED_RUN_H

#include "simulator/engines/class_network.h"
#include "simulator/engines/engine.h"

struct arena;

struct folded_run {
    struct timeline *timeline; /* the caller owns it */
    struct folding *folding;   /* what was folded, or why nothing was; in the arena */
};

/* Simulates the job (its timeline and folding are not looked at) folded where that is proven to change nothing and
 * `fold` allows it, all ranks otherwise. False with the fault filled when the simulation failed; then there is no
 * timeline. */
bool folded_run(const struct engine *engine, const struct engine_job *job, bool fold, struct arena *arena,
                struct folded_run *run, struct fault *fault);

/* How jobs that run side by side may be folded. */
struct folded_rule {
    bool fold;                /* ranks that are alike may be simulated once */
    struct class_turns turns; /* also where nothing is folded: 0 classes at most means that no group has a turn */
};

/* Prepares `count` jobs that are to run side by side: with contention, one rank of each class of ranks of all jobs
 * stands for them. Each job gets its folding, whose network->like is the job that is simulated for it; or none, and
 * reason[0 .. size), otherwise "", says why, and stand-ins where its groups share links. Memory from the arena. */
void folded_beside(const struct engine *engine, struct engine_job *jobs, uint32_t count, struct folded_rule *rule,
                   struct arena *arena, char *reason, size_t size);

/* Classes of ranks that there would be if routes that differ in nothing but a latency were equal: fewer than were
 * simulated where a latency keeps ranks apart. 0: not known. */
uint32_t folded_run_classes_but_latency(const struct engine *engine, const struct engine_job *job, struct arena *arena);

#endif
