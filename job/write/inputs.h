/* SPDX-License-Identifier: Apache-2.0 */
/* Which files a scenario is made of, and what it says of itself for people. */
#ifndef STAGESIM_INPUTS_H
#define STAGESIM_INPUTS_H

#include "base/files/sha256.h"
#include "job/scenario/scenario.h"

struct arena;

struct scenario_input {
    const char *role;         /* "scenario", "model", "platform", or the key that names the file */
    const char *file;         /* that can be opened; NULL: no file, but a preset */
    const char *text;         /* what it is called: the file's own name, or the preset */
    char sha256[SHA256_TEXT]; /* "": no file */
};

/* The files, the scenario first, none of them twice; `count` of them, from the arena. NULL with the fault filled when
 * one cannot be read again. */
const struct scenario_input *scenario_input_list(const struct scenario *scenario, size_t *count, struct arena *arena,
                                                 struct fault *fault);
/* A line for each: "scenario demo.yaml sha256 ...", "platform dgx-h100:4" for a preset. NULL as above. */
const char *const *scenario_inputs(const struct scenario *scenario, size_t *count, struct arena *arena,
                                   struct fault *fault);

/* The model's name: the file's that describes it, without its ending; NULL: the scenario has none, or it stands in the
 * scenario itself. */
const char *scenario_model_name(const struct scenario *scenario, struct arena *arena);
/* The value of a workload's key that is a word or a text ("compute.precision"), also where it is the default; NULL: the
 * workload has no such key, or no value. */
const char *scenario_word(const struct scenario *scenario, const char *path);

#endif
