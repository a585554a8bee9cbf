/* SPDX-License-Identifier: Apache-2.0 */
/* What the stages of a pipeline cost, in words of 64 bits, so that costs can be compared word by word. Costs of the
 * same imprint become the same operations, if their plans and meshes are the same. */
#ifndef STAGESIM_PIPELINE_IMPRINT_H
#define STAGESIM_PIPELINE_IMPRINT_H

#include "abi/workload.h"
#include "simulator/program/mesh.h"

#include <stddef.h>
#include <stdint.h>

struct arena;

struct imprint {
    uint64_t *words; /* in the arena */
    size_t count, room;
    struct arena *arena;
};

void imprint_add(struct imprint *imprint, uint64_t word);
void imprint_add_number(struct imprint *imprint, double number);
/* NULL is a text of its own. */
void imprint_add_text(struct imprint *imprint, const char *text);
bool imprint_equal(const struct imprint *a, const struct imprint *b);
/* A hash of 64 bits, continued from `sum`. */
uint64_t imprint_hash(const struct imprint *imprint, uint64_t sum);

/* Adds all that the lowering reads of the costs, and of the mesh the sizes of axes and what they are called. */
void pipeline_imprint(struct imprint *imprint, const struct stagesim_pipeline *costs, const struct mesh *mesh);

#endif
