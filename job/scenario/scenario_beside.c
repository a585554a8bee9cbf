/* SPDX-License-Identifier: Apache-2.0 */
/* What stands beside the section of a scenario that is more than one job. */
#include "base/arena.h"
#include "base/document.h"
#include "job/scenario/scenario_kind.h"

#include <string.h>

static bool is_among(const char *word, const char *const *words)
{
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

void scenario_check_keys(const struct fields_reader *reader, const struct node *root, const char *const *keys,
                         const char *what)
{
    size_t count = 0;
    while (keys[count])
        count++;
    for (const struct node *child = root->first; child; child = child->next)
        if (!is_among(child->key, keys))
            fields_report_unknown(reader, what, child, keys, count);
}

struct scenario *scenario_read_beside(const struct scenario_request *request, const struct node *root,
                                      const char *const *own, const char *const (*job)[2], struct arena *arena,
                                      struct diag *diag)
{
    struct node *beside = arena_alloc(arena, sizeof *beside);
    *beside = (struct node){.kind = NODE_MAP, .at = root->at};
    for (const struct node *child = root->first; child; child = child->next) {
        struct node *copy = arena_alloc(arena, sizeof *copy);
        *copy = *child;
        copy->next = NULL;
        if (!is_among(child->key, own))
            node_append(beside, copy);
    }
    for (; (*job)[0]; job++)
        document_set(beside, (*job)[0], (*job)[1], root->at, arena, diag);
    if (!node_get(beside, "engine"))
        document_set(beside, "engine", "analytic", root->at, arena, diag);
    struct scenario_request plain = {.file = request->file, .plugins = request->plugins};
    return scenario_load_part(&plain, beside, NULL, arena, diag);
}

void scenario_put_name(struct node *root, const char *name, struct arena *arena)
{
    if (node_get(root, "name"))
        return;
    struct node *node = arena_alloc(arena, sizeof *node);
    *node = (struct node){.kind = NODE_SCALAR, .at = root->at, .key = "name", .key_at = root->at, .text = name};
    node_append(root, node);
}
