/* SPDX-License-Identifier: Apache-2.0 */
/* A scenario as what makes a training framework run it: options of Megatron-LM, or torchtitan's configuration in
 * Python or TOML; and what cannot be said there. */
#ifndef STAGESIM_FRAMEWORKS_EXPORT_H
#define STAGESIM_FRAMEWORKS_EXPORT_H

#include "job/scenario/scenario.h"
#include "workloads/transformer/transformer.h"

#include <stdio.h>

/* What a framework has nothing for. */
struct export_remark {
    const char *key, *text;
    struct export_remark *next;
};

struct export_job {
    const struct scenario *scenario;
    const struct transformer_parameters *parameters;
    struct transformer_model model; /* completed */
    const char *layout;             /* layers of the stages, see pipeline_layout.h; NULL: as many in each */
    uint64_t tensor, context, expert, data, pipeline, stages;
    bool experts_whole; /* tensor-parallel ranks hold whole experts */
    struct arena *arena;
    struct export_remark *first, *last;
};

/* A framework that jobs are written for. */
struct exporter {
    const char *name, *title; /* as on the command line, and in texts */
    const char *comment;      /* what begins a comment of its files */
    const char *rest;         /* what the user has to add, for the head of the file */
    /* Finds out all that there is to say, remarks included; the text is the arena's. */
    const char *(*text)(struct export_job *job);
};

/* All of them; NULL ends the table. */
extern const struct exporter *const exporter_table[];
extern const struct exporter exporter_megatron, exporter_torchtitan, exporter_torchtitan_toml;

/* The job of a scenario whose stages hold `layout` (NULL: equally many layers). False with the mistake reported: it is
 * no transformer, or its matrices are shared in another way than those of frameworks. Memory from the arena. */
bool export_create(const struct scenario *scenario, const char *layout, struct export_job *job, struct arena *arena,
                   struct diag *diag);
/* Writes the file: remarks as comments on top, then what the framework reads. */
void export_write(struct export_job *job, const struct exporter *exporter, FILE *out);
/* The remarks, one a line. */
void export_tell(const struct export_job *job, const struct exporter *exporter, FILE *out);

/* ---- for exporters ---- */

__attribute__((format(printf, 3, 4))) void export_remark(struct export_job *job, const char *key, const char *format,
                                                         ...);
/* Remarks on what no framework has: parts of models, the simulator's own assumptions. */
void export_common(struct export_job *job);
/* What the schedule is called here, and an option of it; `other` where it has no such option. */
const char *export_schedule(const struct export_job *job);
int64_t export_schedule_option(const struct export_job *job, const char *key, int64_t other);
/* Remarks on options of the schedule that differ from their defaults, but for those that `said` names (NULL ends it).
 */
void export_schedule_options(struct export_job *job, const char *const *said);
/* ---- export_torchtitan_model.c ---- */
/* What makes its products narrower, by the class in Python or by the name in TOML. */
const char *export_torchtitan_converter(const struct export_job *job, bool python);

/* The model of torchtitan's that has the job's shape; NULL: none. */
const struct torchtitan_model *export_torchtitan_model(const struct export_job *job);

/* ---- export_kinds.c ---- */

/* The letters of Megatron-LM's --hybrid-layer-pattern, with bars between stages; NULL: all layers are alike, or as its
 * other options say. Remarks on layers that have no letter. */
const char *export_pattern(struct export_job *job);
/* Layers with experts in Megatron-LM's words: [0]*3+[1]*58, or with a period [0]*1+[1,0]*5+[1]. */
const char *export_expert_layers(const struct export_job *job);
/* Remarks on what only some frameworks have: layers of several kinds, and what goes with them. */
void export_remark_kinds(struct export_job *job, bool megatron);

/* Whether the scenario has a key, such as "batch.global". */
bool export_has(const struct export_job *job, const char *key);

#endif
