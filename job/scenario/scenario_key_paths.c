/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "job/scenario/scenario_parts.h"
#include "job/scenario/scenario_tables.h"

#include <string.h>

enum { PATHS_MAX = 512 };

static size_t add_paths(const char **paths, size_t count, const char *section, const struct stagesim_field *field,
                        struct arena *arena)
{
    for (; field && field->key && count < PATHS_MAX; field++)
        paths[count++] = strchr(field->key, '.') ? field->key : arena_print(arena, "%s.%s", section, field->key);
    return count;
}

/* What is said where a key stands in the wrong section. Keys of `tails` are words that others nearly have: node, link.
 */
const char *const *scenario_key_paths(void *user)
{
    const struct loader *loader = user;
    static const struct fields_section *const sections[] = {
        &parallel_section, &batch_section,  &schedule_section, &platform_section, &memory_section,
        &power_section,    &output_section, &training_section, &failures_section, &checkpoint_section};
    const struct stagesim_workload *workload = loader->scenario->workload;
    struct arena *arena = loader->fields.arena;
    const char **paths = arena_array(arena, PATHS_MAX + 1, sizeof *paths);
    size_t count = 0;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        count = add_paths(paths, count, sections[i]->name, sections[i]->fields, arena);
    if (workload)
        count = add_paths(paths, count, workload->name, workload->fields, arena);
    paths[count] = NULL;
    return paths;
}
