/* SPDX-License-Identifier: Apache-2.0 */
/* Trees of nodes, whatever they were read from. */
#include "base/document.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

void node_append(struct node *parent, struct node *child)
{
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->count++;
}

struct node *node_copy(const struct node *node, struct arena *arena)
{
    struct node *copy = arena_alloc(arena, sizeof *copy);
    *copy = *node;
    copy->first = copy->last = copy->next = NULL;
    copy->count = 0;
    for (const struct node *child = node->first; child; child = child->next)
        node_append(copy, node_copy(child, arena));
    return copy;
}

static struct node *list_entry(const struct node *list, const char *number)
{
    size_t length = strspn(number, "0123456789");
    if (!length || number[length] || length > 9)
        return NULL;
    unsigned long index = strtoul(number, NULL, 10);
    struct node *child = list->first;
    for (; child && index; index--)
        child = child->next;
    return child;
}

void node_wrap(struct node *node, const char *key, struct arena *arena)
{
    struct node *value = arena_alloc(arena, sizeof *value);
    *value = *node;
    value->key = key;
    value->next = NULL;
    node->kind = NODE_MAP;
    node->first = node->last = value;
    node->count = 1;
}

struct node *node_get(const struct node *map, const char *key)
{
    if (!map)
        return NULL;
    if (map->kind == NODE_LIST)
        return list_entry(map, key);
    for (struct node *child = map->first; child; child = child->next)
        if (!strcmp(child->key, key))
            return child;
    return NULL;
}

/* The node at the longest part of the path that exists; *complete says whether that is the whole path. */
static const struct node *find(const struct node *root, const char *path, bool *complete)
{
    const struct node *node = root;
    *complete = true;
    while (node && *path) {
        size_t length = strcspn(path, ".");
        char *part = strndup(path, length);
        const struct node *child = part ? node_get(node, part) : NULL;
        free(part);
        *complete = child;
        if (!child)
            return node;
        node = child;
        path += length + (path[length] == '.');
    }
    return node;
}

struct node *node_find(const struct node *root, const char *path)
{
    bool complete;
    const struct node *node = find(root, path, &complete);
    return complete ? (struct node *)node : NULL;
}

struct place node_place(const struct node *root, const char *path)
{
    bool complete;
    const struct node *node = find(root, path, &complete);
    return complete || !node->key ? node->at : node->key_at;
}

struct place node_entry_place(const struct node *root, const char *path, size_t index)
{
    const struct node *node = node_find(root, path);
    const struct node *entry = node && node->kind == NODE_LIST ? node->first : NULL;
    while (entry && index--)
        entry = entry->next;
    return entry ? entry->at : node_place(root, path);
}

bool node_is_empty(const struct node *node)
{
    return node->kind == NODE_SCALAR && !node->quoted && !*node->text;
}

const char *node_describe(const struct node *node, struct arena *arena)
{
    if (node->kind == NODE_LIST)
        return "a list";
    if (node->kind == NODE_MAP)
        return "a map";
    return node->kind == NODE_REFUSED || node_is_empty(node) ? "empty"
                                                             : arena_print(arena, "the text '%.60s'", node->text);
}
