/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/saved/saved_run.h"

#include "analysis/output/saved/saved_operations.h"
#include "analysis/output/saved/saved_summary.h"
#include "base/arena.h"
#include "base/csv.h"
#include "base/document.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COMPARISON_SIZE_MAX = 256 << 20, NAME_SIZE_MAX = 300 };

/* NULL after a mistake was reported. The caller frees it. */
static char *load(const char *file, size_t *size, struct diag *diag)
{
    char *text = csv_load(file, SIZE_MAX / 2, size);
    if (!text)
        diag_error(diag, (struct place){file, 0, 0},
                   "cannot be read: %s; `stagesim run SCENARIO -o DIR --trace csv` writes it", strerror(errno));
    return text;
}

bool saved_run_read(const char *directory, struct saved_run *run, struct arena *arena, struct diag *diag)
{
    struct saved_texts texts = {.operations_file = arena_print(arena, "%s/operations.csv", directory),
                                .critical_file = arena_print(arena, "%s/critical-path.csv", directory),
                                .memory_file = arena_print(arena, "%s/memory.csv", directory)};
    run->gantt = NULL;
    run->report = saved_summary_read(arena_print(arena, "%s/summary.json", directory), arena, diag);
    if (!run->report) /* what is no run has no operations either */
        return false;
    char *operations = load(texts.operations_file, &texts.operations_size, diag);
    char *critical = load(texts.critical_file, &texts.critical_size, diag);
    char *memory = load(texts.memory_file, &texts.memory_size, diag);
    if (operations && critical && memory) {
        texts.operations = operations;
        texts.critical = critical;
        texts.memory = memory;
        run->gantt = saved_operations_gantt(&texts, run->report, diag);
    }
    free(operations);
    free(critical);
    free(memory);
    return run->gantt != NULL;
}

/* Names a sub-directory and nothing else. */
static bool is_directory_name(const struct node *node)
{
    return node && node->kind == NODE_SCALAR && *node->text && strlen(node->text) < NAME_SIZE_MAX &&
           !strchr(node->text, '/') && strcmp(node->text, ".") != 0 && strcmp(node->text, "..") != 0;
}

/* A run under both engines has two rows. */
static bool is_listed(const char *name, const struct saved_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(rows[i].directory, name))
            return true;
    return false;
}

static const char *text_of(const struct node *row, const char *key)
{
    const struct node *node = node_get(row, key);
    return node && node->kind == NODE_SCALAR ? node->text : "";
}

static double number_of(const struct node *row, const char *key)
{
    return strtod(text_of(row, key), NULL);
}

/* One of several jobs that share a platform, or of several ways to put jobs on idle nodes: the row above it, with a
 * directory, is that of all. */
static bool is_part_of(const struct node *row, const struct saved_row *all)
{
    if (node_get(row, "decided_by"))
        return true;
    size_t length = strlen(all->scenario);
    const char *name = text_of(row, "scenario");
    return length && !strncmp(name, all->scenario, length) && name[length] == '/';
}

static struct saved_row read_row(const struct node *row)
{
    return (struct saved_row){.directory = text_of(row, "directory"),
                              .scenario = text_of(row, "scenario"),
                              .schedule = text_of(row, "schedule"),
                              .engine = text_of(row, "engine"),
                              .iteration = number_of(row, "iteration_s"),
                              .samples_per_s = number_of(row, "samples_per_s"),
                              .bubble = number_of(row, "bubble_ratio"),
                              .asynchronous = !strcmp(text_of(row, "synchronous"), "false")};
}

const struct node *saved_comparison_load(const char *file, struct arena *arena, struct diag *diag)
{
    static const struct document_kind kind = {NODE_LIST, COMPARISON_SIZE_MAX,
                                              "the list of runs that `stagesim compare -o DIR` writes",
                                              "one file is one comparison"};
    return document_load_kind(&kind, file, (struct place){arena_copy(arena, file), 0, 0}, arena, diag);
}

struct saved_row *saved_comparison_read(const struct node *list, size_t *count, struct arena *arena, struct diag *diag)
{
    unsigned before = diag->errors;
    *count = 0;
    struct saved_row *rows = arena_array(arena, list->count + 1, sizeof *rows);
    for (const struct node *row = list->first; row; row = row->next) {
        const struct node *name = row->kind == NODE_MAP ? node_get(row, "directory") : NULL;
        if (!name && *count && row->kind == NODE_MAP && is_part_of(row, &rows[*count - 1]))
            continue;
        if (!is_directory_name(name))
            diag_error(diag, name ? name->at : row->at,
                       "expected a run with its \"directory\", the name of one below this");
        else if (!is_listed(name->text, rows, *count))
            rows[(*count)++] = read_row(row);
    }
    if (!*count && diag->errors == before)
        diag_error(diag, list->at, "there is no run in this comparison");
    return diag->errors == before ? rows : NULL;
}
