/* SPDX-License-Identifier: Apache-2.0 */
/* inputs: which files a resolved scenario was written with, by their hashes. */
#include "base/arena.h"
#include "base/files/sha256.h"
#include "base/paths.h"
#include "job/scenario/scenario_parts.h"
#include "job/scenario/scenario_tables.h"

#include <string.h>

static void check_input(struct loader *loader, const struct node *node)
{
    struct diag *diag = loader->fields.diag;
    struct arena *arena = loader->fields.arena;
    char found[SHA256_TEXT];
    bool typed = node->at.line == 0;
    if (node->kind != NODE_SCALAR || strlen(node->text) != SHA256_TEXT - 1 ||
        node->text[strspn(node->text, "0123456789abcdef")]) {
        diag_error(diag, node->at, "%s: '%.60s' is %s; expected its SHA-256, 64 digits in hexadecimal",
                   inputs_section_name, node->key, node_describe(node, arena));
        return;
    }
    const char *directory = typed ? loader->scenario->directory : path_directory(node->at.file, arena);
    const char *path = path_of_file(directory, node->key, typed, arena);
    struct fault fault = {""};
    if (!path_check_readable(path, &fault) || !sha256_of_file(path, found))
        diag_error(diag, node->key_at, "%s: %s", inputs_section_name, fault.text);
    else if (strcmp(found, node->text) != 0)
        diag_error(diag, node->at,
                   "%s: '%.200s' has changed since this scenario was written: its SHA-256 is %.12s...; take the line "
                   "out to go on with it as it is",
                   inputs_section_name, node->key, found);
}

void scenario_check_inputs(struct loader *loader)
{
    const struct node *map = node_get(loader->root, inputs_section_name);
    if (!map || map->kind == NODE_REFUSED || node_is_empty(map))
        return;
    if (map->kind != NODE_MAP)
        diag_error(loader->fields.diag, map->at, "%s is %s; expected a map such as {cluster.xml: SHA-256}",
                   inputs_section_name, node_describe(map, loader->fields.arena));
    for (const struct node *node = map->kind == NODE_MAP ? map->first : NULL; node; node = node->next)
        check_input(loader, node);
}
