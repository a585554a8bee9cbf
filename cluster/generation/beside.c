/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/generation/beside.h"

#include "base/arena.h"
#include "base/document.h"

#include <string.h>

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

/* Itself, for those who ask for the files that it is made of. */
static void put_parts(struct scenario *scenario, struct arena *arena)
{
    struct scenario **parts = arena_array(arena, 1, sizeof *parts);
    parts[0] = arena_alloc(arena, sizeof *parts[0]);
    *parts[0] = *scenario;
    scenario->parts = parts;
    scenario->part_count = 1;
}

struct scenario *generation_read_beside(const struct scenario_request *request, struct node *root, unsigned traces,
                                        const char *expected, struct arena *arena, struct diag *diag)
{
    static const char *const own[] = {"generation", "rl", "serving", "trainer", "variants", "workload", NULL};
    static const char *const job[][2] = {{"workload", "transformer"}, {"batch.micro_batches", "1"},
                                         {"batch.micro", "1"},        {"parallel.pipeline", "1"},
                                         {"schedule", "gpipe"},       {NULL, NULL}};
    struct scenario *scenario = scenario_read_beside(request, root, own, job, arena, diag);
    if (!scenario)
        return NULL;
    if (scenario->traces & ~traces) {
        diag_error(diag, node_place(root, "output.trace"), "there are no operations of ranks to trace; expected %s",
                   expected);
        return NULL;
    }
    put_parts(scenario, arena);
    scenario_put_name(root, scenario->name, arena);
    scenario->schedule = NULL;
    scenario->micro_batches = 0;
    return scenario;
}
