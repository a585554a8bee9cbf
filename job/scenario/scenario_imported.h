/* SPDX-License-Identifier: Apache-2.0 */
/* The section `imported`: what `stagesim import` found in a job's files and no key of a scenario says. */
#ifndef STAGESIM_SCENARIO_IMPORTED_H
#define STAGESIM_SCENARIO_IMPORTED_H

#include "abi/workload.h"
#include "base/diagnostics.h"

struct arena;
struct loader;
struct scenario;

/* Each text names a key of the job's files, or of the scenario, and says what it is about. */
struct scenario_imported {
    const char *from;                   /* the files and whose they are; NULL: not said */
    struct stagesim_texts not_modelled; /* changes time or memory, and no key says so */
    struct stagesim_texts not_known;    /* whether it changes anything is not known */
    struct stagesim_texts assumed;      /* no file says it; without those that the command line gives */
    const char *summary;                /* "train.sh (Megatron-LM): 2 not modelled, 1 not known, 3 assumed" */
};

/* Reads the section into scenario->imported, which stays NULL where there is none. Mistakes are reported. */
void scenario_read_imported(struct loader *loader);
/* Tells people of it: the summary and the first texts; of the scenario or of its parts, each file once. */
void scenario_tell_imported(const struct scenario *scenario, const struct diag *diag);
/* Text `index` with what it is ("imported, not modelled: ..."); NULL: there are fewer. From the arena. */
const char *scenario_imported_text(const struct scenario_imported *imported, size_t index, struct arena *arena);

#endif
