/* SPDX-License-Identifier: Apache-2.0 */
/* What `stagesim explain` found out of profiles, and the ways to show it; for the sources of this folder alone. */
#ifndef STAGESIM_EXPLAIN_PROFILE_PARTS_H
#define STAGESIM_EXPLAIN_PROFILE_PARTS_H

#include "base/json_writer.h"
#include "base/tables/table_write.h"
#include "studies/profile/axes.h"
#include "studies/profile/kernel_network.h"
#include "studies/profile/kernel_replay.h"
#include "studies/profile/layer_rows.h"
#include "studies/profile/operators.h"
#include "studies/profile/profile.h"

struct profile_explanation {
    const char *const *files;
    size_t file_count;
    const struct recorded *recorded, *predicted; /* predicted: what the scenario says; NULL: there is none */
    const char *name;                            /* of the scenario or the first trace */
    struct axes axes;
    struct meetings meetings;
    struct profile profile, expected; /* expected: of `predicted` */
    struct operators operators;
    struct kernel_network network;
    struct kernel_replay replay;
    struct layer_rows layers;
    const char *verdict;
    struct arena *arena;
};

/* Three sentences; memory from the arena. */
const char *profile_verdict(const struct profile_explanation *e);

void profile_print(const struct profile_explanation *e, enum table_format format, FILE *out);
/* explain.json. */
void profile_json(const struct profile_explanation *e, FILE *out);
/* explain.html. */
void profile_page(const struct profile_explanation *e, FILE *out);

/* ---- profile_operators.c: nothing where the profile has no shapes ---- */
void operators_print(const struct profile_explanation *e, FILE *out);
void operators_page(const struct profile_explanation *e, FILE *out);
/* Members of explain.json's object. */
void operators_json(struct json_writer *json, const struct profile_explanation *e);

/* Whether a part has a row. */
bool profile_shown(const struct profile_explanation *e, int part);
/* The rank that comes last to collectives on average; RECORDED_NONE: there is no such. */
uint32_t profile_latest(const struct profile_explanation *e);

#endif
