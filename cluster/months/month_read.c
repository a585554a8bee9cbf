/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/months/month.h"

#include "abi/fields/fields.h"
#include "abi/fields/fields_distribution.h"
#include "base/arena.h"
#include "base/document.h"
#include "base/paths.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

struct size_row {
    uint64_t gpus, nodes;
    double share;
    const struct fields_distribution *run;
};

struct values {
    const char *source;
    double days, jobs_per_day, together, failed, cancelled, longest;
    uint64_t users, seed;
    struct stagesim_list hours;
    struct stagesim_rows sizes;
};

static const struct stagesim_field size_fields[] = {
    {"gpus", STAGESIM_FIELD_COUNT, offsetof(struct size_row, gpus), .least = 1, .most = 1e6,
     .doc = "GPUs that such a job asks for"},
    {"nodes", STAGESIM_FIELD_COUNT, offsetof(struct size_row, nodes), .least = 1, .most = 1e6,
     .doc = "in place of them, nodes"},
    {"share", STAGESIM_FIELD_RATIO, offsetof(struct size_row, share), .required = true, .least = 0, .most = 1e9,
     .doc = "how many of the jobs are such ones; shares need not add up to 1"},
    {"run", STAGESIM_FIELD_DISTRIBUTION, offsetof(struct size_row, run), .required = true, .doc = "how long they run"},
    {0},
};
static const struct stagesim_row_type size_type = {"a size", size_fields, sizeof(struct size_row), NULL};

static const struct stagesim_field fields[] = {
    {"source", STAGESIM_FIELD_TEXT, offsetof(struct values, source), .doc = "who says so"},
    {"days", STAGESIM_FIELD_RATIO, offsetof(struct values, days), .least = 1e-3, .most = 1e5,
     .doc = "for how long jobs come; default 30"},
    {"jobs_per_day", STAGESIM_FIELD_RATIO, offsetof(struct values, jobs_per_day), .required = true, .least = 1e-3,
     .most = 1e7, .doc = "how many come on a day"},
    {"hours", STAGESIM_FIELD_RATIOS, offsetof(struct values, hours), .least = 0, .most = 1e6,
     .doc = "how many come in each of the 24 hours, relative to each other; default: equally many"},
    {"together", STAGESIM_FIELD_RATIO, offsetof(struct values, together), .least = 1, .most = 1e6,
     .doc = "how many jobs come at one time on average; default 1"},
    {"failed", STAGESIM_FIELD_RATIO, offsetof(struct values, failed), .least = 0, .most = 1,
     .doc = "share of the jobs that fail; default 0"},
    {"cancelled", STAGESIM_FIELD_RATIO, offsetof(struct values, cancelled), .least = 0, .most = 1,
     .doc = "share of those that are cancelled; default 0"},
    {"longest", STAGESIM_FIELD_TIME, offsetof(struct values, longest), .least = 1e-3, .most = 1e10,
     .doc = "after which time a job is ended; default: never"},
    {"users", STAGESIM_FIELD_COUNT, offsetof(struct values, users), .least = 1, .most = 1e6,
     .doc = "how many users there are; the k-th has 1/k times as many jobs as the first; default: not known"},
    {"seed", STAGESIM_FIELD_COUNT, offsetof(struct values, seed), .least = 0, .most = 9007199254740992.0,
     .doc = "of the random numbers; default 0"},
    {"sizes", STAGESIM_FIELD_ROWS, offsetof(struct values, sizes), .required = true, .rows = &size_type,
     .doc = "how large jobs are and how long they run"},
    {0},
};
const struct fields_section month_section = {"month", true, fields};

bool month_is_named(const char *file)
{
    size_t length = strlen(file);
    return (length > 5 && !strcmp(file + length - 5, ".yaml")) || (length > 4 && !strcmp(file + length - 4, ".yml"));
}

static void take_hours(const struct node *root, const struct stagesim_list *hours, struct month *month,
                       struct diag *diag)
{
    double sum = 0;
    for (int i = 0; i < MONTH_HOURS; i++)
        month->hours[i] = 1;
    if (!hours->count)
        return;
    for (size_t i = 0; i < hours->count; i++)
        sum += hours->values[i];
    if (hours->count != MONTH_HOURS || !(sum > 0)) {
        diag_error(diag, node_place(root, "hours"), "hours has %zu numbers; expected 24, not all 0", hours->count);
        return;
    }
    for (int i = 0; i < MONTH_HOURS; i++)
        month->hours[i] = hours->values[i] * MONTH_HOURS / sum;
}

static void take_sizes(const struct node *root, const struct stagesim_rows *sizes, struct month *month,
                       struct arena *arena, struct diag *diag)
{
    const struct size_row *rows = sizes->rows;
    double sum = 0;
    for (size_t i = 0; i < sizes->count; i++)
        sum += rows[i].share;
    if (sizes->count < 1 || sizes->count > MONTH_SIZES_MAX || !(sum > 0)) {
        diag_error(diag, node_place(root, "sizes"), "%s; expected 1 to %d sizes with shares above 0",
                   sizes->count > MONTH_SIZES_MAX ? "there are too many sizes"
                   : sizes->count                 ? "all shares are 0"
                                                  : "there are no sizes",
                   MONTH_SIZES_MAX);
        return;
    }
    month->sizes = arena_array(arena, sizes->count, sizeof *month->sizes);
    for (size_t i = 0; i < sizes->count; i++) {
        if (!rows[i].gpus == !rows[i].nodes)
            diag_error(diag, node_entry_place(root, "sizes", i),
                       "size %zu has %s; expected gpus, or nodes in their "
                       "place",
                       i + 1, rows[i].gpus ? "both gpus and nodes" : "neither gpus nor nodes");
        if (!rows[i].gpus != !rows[0].gpus)
            diag_error(diag, node_entry_place(root, "sizes", i),
                       "size %zu is in %s and the first one in %s; expected one unit for all", i + 1,
                       rows[i].gpus ? "gpus" : "nodes", rows[0].gpus ? "gpus" : "nodes");
        month->sizes[month->size_count++] =
            (struct month_size){rows[i].gpus, rows[i].nodes, rows[i].share / sum, rows[i].run->distribution};
    }
}

struct month *month_load(const char *file, struct place at, const struct scenario_set *sets, size_t set_count,
                         struct arena *arena, struct diag *diag)
{
    unsigned errors = diag->errors;
    struct node *root = document_load(file, at, arena, diag);
    if (!root)
        return NULL;
    struct fields_reader reader = {path_directory(file, arena), arena, diag, NULL, NULL};
    struct values values = {.days = 30, .together = 1, .longest = INFINITY};
    for (size_t i = 0; i < set_count; i++)
        scenario_apply_set(root, &sets[i], "seed=1", arena, diag);
    fields_check_keys(&reader, &month_section, NULL, root);
    fields_read(&reader, &month_section, root, root->at, &values);
    if (diag->errors > errors)
        return NULL;
    struct month *month = arena_alloc(arena, sizeof *month);
    *month = (struct month){.source = values.source,
                            .days = values.days,
                            .jobs_per_day = values.jobs_per_day,
                            .together = values.together,
                            .failed = values.failed,
                            .cancelled = values.cancelled,
                            .longest = values.longest,
                            .users = values.users,
                            .seed = values.seed};
    take_hours(root, &values.hours, month, diag);
    take_sizes(root, &values.sizes, month, arena, diag);
    if (month->failed + month->cancelled > 1 + 1e-5) /* of six digits each */
        diag_error(diag, node_place(root, "failed"),
                   "%g of the jobs fail and %g are cancelled; expected at most 1 "
                   "together",
                   month->failed, month->cancelled);
    return diag->errors > errors ? NULL : month;
}
