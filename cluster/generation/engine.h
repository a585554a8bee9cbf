/* SPDX-License-Identifier: Apache-2.0 */
/* An engine of the section `generation` on the GPUs of a platform. */
#ifndef STAGESIM_GENERATION_ENGINE_H
#define STAGESIM_GENERATION_ENGINE_H

#include "base/diagnostics.h"
#include "cluster/generation/settings.h"
#include "platforms/platform.h"
#include "workloads/generation/batching.h"

struct arena;

struct generation_engine {
    struct generation *generation;
    struct batching_limits limits;
    struct kernel_table *kernels;    /* NULL: none */
    double weights, cache, capacity; /* bytes of a GPU: weights, room for the cache, all its memory */
};

/* On platform->hosts[hosts[0]] and so on, generation_gpus of them; of each GPU `taken` bytes are in use already, and
 * no sequence is longer than so many tokens. Memory from the arena. False with the mistake reported, at the scenario's
 * section or `at`. */
bool generation_engine_create(const struct generation_settings *settings, const struct transformer_model *model,
                              struct platform *platform, const uint32_t *hosts, double taken, double longest,
                              struct place at, struct arena *arena, struct diag *diag,
                              struct generation_engine *engine);
/* Frees what no arena holds. */
void generation_engine_finish(struct generation_engine *engine);

#endif
