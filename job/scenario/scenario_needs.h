/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that are given and change nothing: what they would need. The rules of keys of stagesim's own are in
 * scenario_needs.c, those of a workload's in its table (struct stagesim_need). */
#ifndef STAGESIM_SCENARIO_NEEDS_H
#define STAGESIM_SCENARIO_NEEDS_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct scenario;

struct scenario_unmet {
    const char *path; /* "transformer.zero" */
    struct place at;
    const char *needs; /* in words: "parallel.data above 1" */
    bool refused;      /* it cannot be meant, whatever the sizes of the job */
    bool profile;      /* a framework's default, and not the scenario's */
};

/* "changes nothing here; it needs parallel.data above 1", behind a key. From the arena. */
const char *scenario_unmet_text(const struct scenario_unmet *unmet, struct arena *arena);
/* Tells what an import of the scenario or its parts left open, and what of them and their frameworks changes nothing.
 */
void scenario_tell(const struct scenario *scenario, struct diag *diag);
/* The same as texts for a file, count of them; from the arena. */
const char *const *scenario_remarks(const struct scenario *scenario, size_t *count, struct arena *arena);
/* The entry of a path; NULL: it counts. */
const struct scenario_unmet *scenario_unmet_find(const struct scenario *scenario, const char *path);
/* What a key of a section needs, in words; NULL: nothing. `workload` NULL: of stagesim's own. From the arena. */
struct stagesim_workload;
const char *scenario_need_words(const struct stagesim_workload *workload, const char *path, struct arena *arena);

#endif
