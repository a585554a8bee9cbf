/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/traces/trace_source.h"

#include "base/arena.h"

uint32_t *trace_source_ranks(const struct trace_source *source, uint32_t *count)
{
    const struct timeline *timeline = source->timeline;
    size_t capacity = 0;
    *count = source->all_replicas ? timeline->program->mesh->ranks : timeline->rank_count;
    uint32_t *ranks = array_grow(NULL, &capacity, (size_t)*count + 1, sizeof *ranks);
    for (uint32_t i = 0; i < *count; i++)
        ranks[i] = source->all_replicas ? i : timeline->ranks[i];
    return ranks;
}
