/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/hardware/hardware_take.h"

#include "base/arena.h"

#include <string.h>

void hardware_spread_cables(struct node *product, struct arena *arena)
{
    struct node *cables = node_get(product, "cables");
    for (struct node *cable = cables && cables->kind == NODE_MAP ? cables->first : NULL; cable; cable = cable->next)
        if (cable->kind == NODE_SCALAR && *cable->text) {
            struct node *wire = node_copy(cable, arena);
            wire->key = "wire";
            cable->kind = NODE_MAP;
            cable->text = NULL;
            node_append(cable, wire);
        }
}

/* Figures of the base that this map changes are no longer what the base's source says alone. */
static const char *source_of(const struct node *base, const struct node *map, struct arena *arena)
{
    const struct node *source = node_get(base, "source");
    bool changes = false;
    for (const struct node *child = map->first; child; child = child->next)
        changes |=
            strcmp(child->key, "from") != 0 && strcmp(child->key, "name") != 0 && strcmp(child->key, "kind") != 0;
    if (!source || source->kind != NODE_SCALAR || !changes || node_get(map, "source"))
        return NULL;
    return arena_print(arena, "%s, which takes over from: %s", map->at.file ? map->at.file : "the user", source->text);
}

static void replace(struct node *old, const struct node *by, struct arena *arena)
{
    struct node *next = old->next;
    *old = *node_copy(by, arena);
    old->next = next;
}

struct node *hardware_take_over(const struct node *base, const struct node *map, struct arena *arena)
{
    struct node *both = node_copy(base, arena);
    const char *source = source_of(base, map, arena);
    if (source)
        node_get(both, "source")->text = source;
    struct node *confidence = source ? node_get(both, "confidence") : NULL;
    if (confidence && confidence->kind == NODE_SCALAR)
        confidence->text = "L"; /* nobody vouches for the mixture */
    both->at = map->at;
    for (const struct node *child = map->first; child; child = child->next) {
        struct node *old = node_get(both, child->key);
        if (!old) {
            node_append(both, node_copy(child, arena));
        } else if (old->kind == NODE_MAP && child->kind == NODE_MAP) {
            struct node *joined = hardware_take_over(old, child, arena);
            joined->key_at = child->key_at;
            replace(old, joined, arena);
        } else {
            replace(old, child, arena);
        }
    }
    return both;
}
