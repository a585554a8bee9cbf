/* SPDX-License-Identifier: Apache-2.0 */
/* What lies beside results, so that they can be had again: scenario.yaml and about.json. */
#ifndef STAGESIM_RECORD_H
#define STAGESIM_RECORD_H

#include "base/files/output.h"
#include "job/scenario/scenario.h"

struct arena;

/* Texts, each once. */
struct record_notes {
    const char **texts; /* count of them, in memory of their own; what they point to is borrowed */
    size_t count, capacity;
};

/* Adds the lines of a text that are not there yet; memory of the lines from the arena. */
void record_add_notes(struct record_notes *notes, const char *lines, struct arena *arena);

/* Adds FOLDER/scenario.yaml ("" or "NAME/") to the set, the scenario with every key; `directory` is that of the set.
 * With `study` it is one that is varied (see scenario_write_resolved). False with the fault filled. */
bool record_scenario(struct output *output, const char *directory, const char *folder, const struct scenario *scenario,
                     bool study, struct fault *fault);
/* Adds best.yaml: the scenario with what a study found best, ready for `stagesim run`, below a comment. False with the
 * fault filled. */
bool record_best(struct output *output, const char *directory, const struct scenario *scenario,
                 const struct scenario_set *sets, size_t count, const char *comment, struct fault *fault);
/* Adds about.json: the version, what was typed, the scenarios' inputs with their hashes, what of them changes nothing,
 * `notes` of their runs, and what stagesim was built from. False with the fault filled. */
bool record_about(struct output *output, const char *command, const struct scenario *const *scenarios, size_t count,
                  const struct record_notes *notes, struct fault *fault);

#endif
