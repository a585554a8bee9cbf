/* SPDX-License-Identifier: Apache-2.0 */
/* what_if: changes of the platform. */
#include "base/arena.h"
#include "simulator/scenario/scenario_parts.h"

#include <string.h>

static const char key[] = "what_if";

/* Where the i-th change was written. */
static struct place place_of(const struct node *root, size_t i)
{
    const struct node *node = node_get(root, key);
    if (!node || node->kind != NODE_LIST)
        return node_place(root, key);
    const struct node *entry = node->first;
    while (i-- && entry->next)
        entry = entry->next;
    return entry->at;
}

void scenario_read_what_if(struct loader *loader, const struct stagesim_texts *texts)
{
    struct scenario *scenario = loader->scenario;
    struct arena *arena = loader->fields.arena;
    struct what_if *changes = arena_array(arena, texts->count + 1, sizeof *changes);
    const char *name = scenario->platform.text;
    if (texts->count == 1 && !strcmp(texts->texts[0], "none"))
        return;
    for (size_t i = 0; i < texts->count; i++) {
        struct fault fault = {""};
        if (!what_if_parse(texts->texts[i], &changes[i], arena, &fault))
            diag_error(loader->fields.diag, place_of(loader->root, i), "%s: %s", key, fault.text);
        else
            name = arena_print(arena, "%s%s%s", name, i ? ", " : " with ", texts->texts[i]);
    }
    scenario->what_if = changes;
    scenario->what_if_count = texts->count;
    scenario->platform_name = name;
}

struct platform *scenario_change_platform(const struct scenario *scenario, struct platform *platform,
                                          struct arena *arena, struct diag *diag)
{
    size_t wrong;
    struct fault fault = {""};
    struct platform *changed =
        what_if_platform(platform, scenario->what_if, scenario->what_if_count, arena, &wrong, &fault);
    if (!changed)
        diag_error(diag, place_of(scenario->root, wrong), "%s: %s", key, fault.text);
    return changed;
}
