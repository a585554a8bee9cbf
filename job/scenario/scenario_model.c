/* SPDX-License-Identifier: Apache-2.0 */
/* A config.json in place of the section `model`. */
#include "base/arena.h"
#include "frameworks/models/huggingface.h"
#include "job/scenario/scenario_parts.h"

#include <string.h>

/* The entries of "[8, 0, 8]", all at the place of the list. */
static void append_entries(struct node *list, struct arena *arena)
{
    for (const char *at = list->text + 1; *at && *at != ']'; at += strspn(at, ", ")) {
        size_t length = strcspn(at, ",]");
        struct node *entry = arena_alloc(arena, sizeof *entry);
        *entry =
            (struct node){.kind = NODE_SCALAR, .at = list->at, .text = arena_print(arena, "%.*s", (int)length, at)};
        node_append(list, entry);
        at += length;
    }
    list->kind = NODE_LIST;
}

/* Values are at the key that they come from, defaults at the top of the file. */
static struct node *key_node(const struct setting *setting, struct place top, struct arena *arena)
{
    struct node *node = arena_alloc(arena, sizeof *node);
    *node = (struct node){.kind = NODE_SCALAR, .key = strchr(setting->key, '.') + 1, .text = setting->value};
    node->at = node->key_at = setting->from.at.file ? setting->from.at : top;
    if (setting->value[0] == '[')
        append_entries(node, arena);
    return node;
}

const struct node *scenario_model_keys(struct loader *loader, const struct node *content)
{
    struct arena *arena = loader->fields.arena;
    struct settings settings = {.arena = arena, .diag = loader->fields.diag};
    if (!huggingface_is_config(content))
        return content;
    if (!huggingface_read(content, &settings))
        return NULL;
    struct node *map = arena_alloc(arena, sizeof *map);
    *map = (struct node){.kind = NODE_MAP, .at = content->at};
    for (const struct setting *each = settings.first; each; each = each->next)
        node_append(map, key_node(each, content->at, arena));
    return map;
}
