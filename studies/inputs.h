/* SPDX-License-Identifier: Apache-2.0 */
/* Which files a scenario is made of, and what it says of itself for people. */
#ifndef STAGESIM_INPUTS_H
#define STAGESIM_INPUTS_H

#include "simulator/scenario/scenario.h"

struct arena;
struct fault;

/* A line per input, "scenario demo.yaml sha256 ..." ("platform dgx-h100:4" for a preset), the scenario first. `count`
 * of them, all in the arena. NULL with the fault filled when a file cannot be read again. */
const char *const *scenario_inputs(const struct scenario *scenario, size_t *count, struct arena *arena,
                                   struct fault *fault);

/* The model's name: the file's that describes it, without its ending; NULL: the scenario has none, or it stands in the
 * scenario itself. */
const char *scenario_model_name(const struct scenario *scenario, struct arena *arena);
/* The text of a value of the scenario; NULL: not given, or no single word. */
const char *scenario_word(const struct scenario *scenario, const char *path);

#endif
