/* SPDX-License-Identifier: Apache-2.0 */
/* The layouts that `stagesim search` tries: every combination of what the scenario's section `search` allows. They are
 * numbered and made when they are asked for: nothing is kept of each. */
#ifndef STAGESIM_SEARCH_SPACE_H
#define STAGESIM_SEARCH_SPACE_H

#include "job/scenario/scenario.h"
#include "workloads/pipeline/imprint.h"

struct arena;

/* The values of a dimension, in order; count 0: the scenario's own, or of a schedule's option what its variants say. */
struct search_values {
    const char *const *texts;
    uint32_t count;
};

/* Sizes of the axes, and the number of the first candidate with them. */
struct search_mesh {
    uint32_t sizes[DIMENSIONS]; /* of dimensions that are axes */
    uint64_t first;
    bool scheduled; /* the candidates have a schedule */
};

/* A schedule with values of its options; NULL: as the scenario has them. */
struct search_variant {
    const struct schedule *schedule;
    const char *options[DIMENSIONS]; /* of dimensions that are options */
};

struct search_space {
    uint32_t gpus;         /* of the largest layouts */
    const char *gpus_text; /* of all: "16", or "8, 16" */
    uint64_t count;
    struct search_values values[DIMENSIONS];
    bool shown[DIMENSIONS]; /* dimensions with more than one value, and those that always are */
    struct search_mesh *meshes;
    size_t mesh_count, mesh_capacity;
    struct search_variant *variants;
    size_t variant_count, variant_capacity;
};

/* Candidates of one class cost about the same: the class is the logarithm of the work of a pipeline, stages times
 * micro-batches. */
enum { SEARCH_CLASSES = 32 };
unsigned search_space_class(const struct search_space *space, const struct scenario *scenario, uint64_t index);
/* How many candidates each class has. */
void search_space_classes(const struct search_space *space, const struct scenario *scenario,
                          uint64_t counts[SEARCH_CLASSES]);

enum { SEARCH_SETS_MAX = DIMENSIONS + 2 };

/* All candidates on `gpus` of the platform's GPUs, or on as many as the scenario says (for each number that it lists),
 * ordered by their dimensions in the order of the table, each ascending. False with the mistakes reported. Memory from
 * the arena; finish it all the same. */
bool search_space_create(struct search_space *space, const struct scenario *scenario, uint32_t gpus,
                         struct arena *arena, struct diag *diag);
void search_space_finish(struct search_space *space);

/* name.c: a layout in short, as "d16 t4 m2 full Z1". Memory from the arena. */
const char *search_space_name(const struct search_space *space, uint64_t index, struct arena *arena);

/* unused.c: tells of values of the section `search` that no candidate has. */
void search_space_tell_unused(const struct search_space *space, const struct scenario *scenario, struct arena *arena,
                              struct diag *diag);

/* The value of every dimension of a candidate; NULL: the scenario's own, or none. Texts from the arena. */
void search_space_values(const struct search_space *space, uint64_t index, const char *values[DIMENSIONS],
                         struct arena *arena);

/* The same, but for the values that only the workload reads: those change the costs of stages and nothing else. */
void search_space_imprint(const struct search_space *space, uint64_t index, struct imprint *imprint);

/* The candidate as values of the scenario, what `--set` takes: how many. The global batch stays the scenario's, and of
 * the schedule's options those that the candidate's schedule has. Texts from the arena. */
size_t search_space_sets(const struct search_space *space, const struct scenario *scenario, uint64_t index,
                         struct scenario_set sets[SEARCH_SETS_MAX], struct arena *arena);

#endif
