/* SPDX-License-Identifier: Apache-2.0 */
/* Attention of a new token of each sequence over its cache, by measured kernels. */
#ifndef STAGESIM_GENERATION_ATTENTION_H
#define STAGESIM_GENERATION_ATTENTION_H

#include "workloads/generation/generation.h"

/* Times on a grid of sequences and tokens. */
struct attention_grid;

/* Of a layer on one of `tensor` ranks, with a cache of that type, as the device's library computes it. NULL: that was
 * not measured, or not of such layers. From the arena. */
struct attention_grid *attention_grid_create(const struct generation_device *device, enum generation_type cache,
                                             const struct transformer_model *own, double tensor, struct arena *arena);
/* Seconds where so many sequences meet so many tokens each, at least 1. Between the grid's points on lines; neither
 * more sequences nor more tokens are ever faster. */
double attention_grid_seconds(const struct attention_grid *grid, double sequences, double tokens);
/* Whose kernels these are. */
const char *attention_grid_source(const struct attention_grid *grid);

#endif
