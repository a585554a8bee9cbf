/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/tails/published.h"

#include "base/arena.h"

#include <string.h>

const char *const tails_kernel_names[] = {"matrix", "grouped", "attention", "scan", "norm", "elementwise", NULL};

/* Deviations of the artefact of arXiv 2505.05713 (ByteDance-Seed/StragglerAnalysis) are those of its jobs ST and SE:
 * ST's computations 0.018 to 0.031 of their mean on each of four stages, forwards and backwards, 0.027 on average, its
 * transfers between stages 0.26 to 0.38; SE's computations 0.18 to 0.44, 0.30 on average, its transfers 0.13. GPUs that
 * are alike differ by 8 % on average over five clusters (arXiv 2208.11035); that is taken for five deviations, what is
 * expected between the fastest and the slowest of a hundred. */
#define ENTRY(title, text, from, ...)                                                                                  \
    &(const struct tails_published)                                                                                    \
    {                                                                                                                  \
        .name = (title), .what = (text), .source = (from), __VA_ARGS__                                                 \
    }

const struct tails_published *const tails_published_table[] = {
    ENTRY("usual", "GPUs 1.6 %, each computation 2.7 %, transfers 32 %", "arXiv 2208.11035; arXiv 2505.05713, job ST",
          .device = 0.016, .operation = 0.027, .transfer = 0.32),
    ENTRY("uneven-sequences", "micro-batches 30 %, transfers 13 %", "arXiv 2505.05713, job SE", .micro_batch = 0.30,
          .transfer = 0.13),
    ENTRY("even-sequences", "each computation 2.7 %, transfers 32 %", "arXiv 2505.05713, job ST", .operation = 0.027,
          .transfer = 0.32),
    ENTRY("alike-gpus", "GPUs 1.6 %", "arXiv 2208.11035", .device = 0.016),
    NULL,
};

const struct tails_published *tails_published_find(const char *name)
{
    for (const struct tails_published *const *published = tails_published_table; *published; published++)
        if (!strcmp((*published)->name, name))
            return *published;
    return NULL;
}

static void fill(const struct distribution **place, double deviation, struct arena *arena)
{
    if (*place || !(deviation > 0))
        return;
    struct distribution *distribution = arena_alloc(arena, sizeof *distribution);
    *distribution = distribution_log_normal(1, deviation);
    *place = distribution;
}

void tails_published_fill(const struct tails_published *published, struct tails_settings *settings, struct arena *arena)
{
    fill(&settings->device, published->device, arena);
    fill(&settings->operation, published->operation, arena);
    fill(&settings->micro_batch, settings->trace ? 0 : published->micro_batch, arena);
    fill(&settings->transfer, published->transfer, arena);
}
