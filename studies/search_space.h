/* SPDX-License-Identifier: Apache-2.0 */
/* The layouts that `stagesim search` tries: every combination of what the scenario's section `search` allows. */
#ifndef STAGESIM_SEARCH_SPACE_H
#define STAGESIM_SEARCH_SPACE_H

#include "simulator/scenario/scenario.h"

struct arena;

struct search_candidate {
    uint32_t data, tensor, pipeline;
    uint32_t micro; /* samples of a micro-batch */
    uint32_t zero;
    const struct schedule *schedule;
    enum scenario_recompute recompute;
};

/* In the order of data, tensor, pipeline, micro, schedule, recompute, zero, each ascending. */
struct search_space {
    uint32_t gpus;
    struct search_candidate *candidates;
    uint32_t count;
};

enum { SEARCH_SETS = 6 };

/* All candidates on `gpus` of the platform's GPUs, or on as many as the scenario says. Axes other than data, tensor and
 * pipeline stay as the scenario has them. False with the mistakes reported. Memory from the arena. */
bool search_space_create(struct search_space *space, const struct scenario *scenario, uint32_t gpus,
                         struct arena *arena, struct diag *diag);

/* The candidate as values of the scenario, what `--set` takes; the global batch stays the scenario's, and of the
 * schedule's options those that the candidate's schedule has. Texts from the arena. */
void search_candidate_sets(const struct search_candidate *candidate, const struct scenario *scenario,
                           struct scenario_set sets[SEARCH_SETS], struct arena *arena);

/* "none", "selective", "full". */
const char *recompute_name(enum scenario_recompute recompute);

#endif
