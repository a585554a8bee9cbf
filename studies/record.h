/* SPDX-License-Identifier: Apache-2.0 */
/* What lies beside results, so that they can be had again: scenario.yaml and about.json. */
#ifndef STAGESIM_RECORD_H
#define STAGESIM_RECORD_H

#include "base/files/output.h"
#include "job/scenario/scenario.h"

/* Adds FOLDER/scenario.yaml ("" or "NAME/") to the set, the scenario with every key; `directory` is that of the set.
 * With `study` it is one that is varied (see scenario_write_resolved). False with the fault filled. */
bool record_scenario(struct output *output, const char *directory, const char *folder, const struct scenario *scenario,
                     bool study, struct fault *fault);
/* Adds about.json: the version, what was typed, the scenarios' inputs with their hashes, and what stagesim was built
 * from. False with the fault filled. */
bool record_about(struct output *output, const char *command, const struct scenario *const *scenarios, size_t count,
                  struct fault *fault);

#endif
