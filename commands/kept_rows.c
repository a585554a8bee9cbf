/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/kept_rows.h"

#include "analysis/output/saved/kept_fields.h"
#include "base/arena.h"

#include <string.h>

static void read_row(struct kept_file *file, const struct kept_rows *kind, const struct node *node,
                     struct comparison_row *row)
{
    snprintf(row->scenario, sizeof row->scenario, "%s", kept_text(file, node_get(node, "scenario"), node));
    snprintf(row->schedule, sizeof row->schedule, "%s", kept_text(file, node_get(node, kind->schedule), node));
    snprintf(row->directory, sizeof row->directory, "%s", kept_text(file, node_get(node, "directory"), node));
    for (const struct node *entry = node->first; entry && file->good; entry = entry->next)
        if (strcmp(entry->key, "scenario") != 0 && strcmp(entry->key, kind->schedule) != 0 &&
            strcmp(entry->key, "directory") != 0 && !kind->set(row, entry->key, kept_number(file, entry, node)))
            kept_refuse(file, entry, kind->figure);
    if (!kind->finish(row) || !*row->directory || strchr(row->directory, '/') || row->directory[0] == '.')
        kept_refuse(file, node, kind->row);
}

struct comparison_row *kept_rows_read(const struct kept_rows *kind, const struct node *list, size_t *count,
                                      struct arena *arena, struct diag *diag)
{
    struct kept_file file = {"comparison.json", arena, diag, true};
    const struct node *first = list->first;
    *count = 0;
    if (!first || first->kind != NODE_MAP || !node_get(first, kind->schedule))
        return NULL;
    struct comparison_row *rows = arena_array(arena, list->count, sizeof *rows);
    for (const struct node *node = first; node && file.good; node = node->next)
        if (node->kind != NODE_MAP)
            kept_refuse(&file, node, kind->row);
        else if (node_get(node, "directory"))
            read_row(&file, kind, node, &rows[(*count)++]);
    if (file.good && !*count)
        kept_refuse(&file, list, kind->row);
    return file.good ? rows : NULL;
}
