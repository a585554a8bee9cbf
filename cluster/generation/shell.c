/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/generation/shell.h"

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

void generation_check_keys(const struct fields_reader *reader, const struct node *root, const char *const *keys,
                           const char *what)
{
    size_t count = 0;
    while (keys[count])
        count++;
    for (const struct node *child = root->first; child; child = child->next)
        if (!is_among(child->key, keys))
            fields_report_unknown(reader, what, child, keys, count);
}

/* A key of the top level that has one value, which may be left out. */
static void check_word(const struct node *root, const char *key, const char *word, const char *kind,
                       struct arena *arena, struct diag *diag)
{
    const struct node *node = node_get(root, key);
    if (node && node->kind != NODE_REFUSED && (node->kind != NODE_SCALAR || strcmp(node->text, word) != 0))
        diag_error(diag, node->at, "%s is %s; expected %s, or none, beside the section %s", key,
                   node_describe(node, arena), word, kind);
}

void generation_check_words(const struct node *root, const char *kind, struct arena *arena, struct diag *diag)
{
    check_word(root, "workload", kind, kind, arena, diag);
    check_word(root, "engine", "analytic", kind, arena, diag);
}

struct scenario *generation_read_shell(const struct scenario_request *request, const struct node *root,
                                       const char *const *keys, struct arena *arena, struct diag *diag)
{
    static const char *const own[] = {"generation", "rl", "serving", "trainer", "workload", NULL};
    static const char *const job[][2] = {{"workload", "transformer"}, {"batch.micro_batches", "1"},
                                         {"batch.micro", "1"},        {"parallel.pipeline", "1"},
                                         {"schedule", "gpipe"},       {"engine", "analytic"}};
    struct node *shell = arena_alloc(arena, sizeof *shell);
    *shell = (struct node){.kind = NODE_MAP, .at = root->at};
    for (const struct node *child = root->first; child; child = child->next) {
        struct node *copy = arena_alloc(arena, sizeof *copy);
        *copy = *child;
        copy->next = NULL;
        if (is_among(child->key, keys) && !is_among(child->key, own))
            node_append(shell, copy);
    }
    for (size_t i = 0; i < sizeof job / sizeof *job; i++)
        document_set(shell, job[i][0], job[i][1], root->at, arena, diag);
    struct scenario_request plain = {.file = request->file, .plugins = request->plugins};
    return scenario_load_part(&plain, shell, NULL, arena, diag);
}

void generation_name(struct node *root, struct scenario *scenario, struct arena *arena)
{
    struct scenario **parts = arena_array(arena, 1, sizeof *parts);
    parts[0] = arena_alloc(arena, sizeof *parts[0]);
    *parts[0] = *scenario;
    scenario->parts = parts;
    scenario->part_count = 1;
    if (node_get(root, "name"))
        return;
    struct node *node = arena_alloc(arena, sizeof *node);
    *node =
        (struct node){.kind = NODE_SCALAR, .at = root->at, .key = "name", .key_at = root->at, .text = scenario->name};
    node_append(root, node);
}

bool generation_check_output(const struct scenario *scenario, const struct node *root, unsigned traces,
                             const char *expected, struct diag *diag)
{
    if (!(scenario->traces & ~traces))
        return true;
    diag_error(diag, node_place(root, "output.trace"), "there are no operations of ranks to trace; expected %s",
               expected);
    return false;
}
