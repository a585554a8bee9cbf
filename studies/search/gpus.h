/* SPDX-License-Identifier: Apache-2.0 */
/* How many GPUs the layouts of a search may have. */
#ifndef STAGESIM_SEARCH_GPUS_H
#define STAGESIM_SEARCH_GPUS_H

#include "job/scenario/scenario.h"

struct arena;

/* Each number once, ascending; at least one. `gpus` where the scenario says nothing. Memory from the arena. */
struct stagesim_list search_gpus(const struct scenario *scenario, uint32_t gpus, struct arena *arena);
/* "8, 16". Memory from the arena. */
const char *search_gpus_words(const struct stagesim_list *numbers, struct arena *arena);

#endif
