/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios that are more than one job: a key of the top level says of which kind they are. What reads and runs them
 * stands above this folder and is named here when the program starts. */
#ifndef STAGESIM_SCENARIO_KIND_H
#define STAGESIM_SCENARIO_KIND_H

#include "abi/fields/fields.h"
#include "job/scenario/scenario.h"

struct simulation_context;
struct json_writer;

enum { KIND_TABLES_MAX = 4 };

struct scenario_kind {
    const char *key;     /* of the top level; at most one such key is in a scenario */
    const char *summary; /* what such a scenario is, for messages: "several jobs on one platform" */
    bool platform;       /* it has one, which is loaded before it is checked or run */
    bool schedules;      /* its jobs take the schedule of a request; others refuse one */
    /* Tables that it writes where a job writes those of its operations (output.trace: csv), NULL-terminated, at most
     * KIND_TABLES_MAX. NULL: none. */
    const char *const *tables;
    bool rows; /* its figures are rows as those of a job; false: it prints a table of its own in every format */
    const char *figure; /* of a sweep, by which its best is chosen; NULL: as for a job */
    /* Reads the scenario, whose changes (the request's sets) are not in the tree yet. The result has its place, its
     * name, what every command reads of a scenario (platform, engine, output), `parts` and `whole`. NULL with the
     * mistakes reported. */
    struct scenario *(*read)(const struct scenario_request *request, struct node *root, struct arena *arena,
                             struct diag *diag);
    /* Both in a process of their own (studies/simulation.h), which returns their exit code after mistakes were
     * reported: says what would run on standard output, or runs it and hands its figures over. */
    int (*check)(struct simulation_context *context);
    int (*run)(struct simulation_context *context);
    /* Keys of the top level of such a scenario, NULL-terminated, and those that are of no other kind as members of the
     * object that is open, each with what it may be as JSON Schema (job/schema). */
    const char *const *keys;
    void (*schema)(struct json_writer *json);
    const char *saved; /* the file among those of a run that `report` draws from; NULL: none */
};

/* NULL-terminated; none until a program says so. */
extern const struct scenario_kind *const *scenario_kinds;

/* A job of such a scenario, from its part of the tree: as scenario_load, with changes made already. `name` is what it
 * is called; NULL: as its file. */
struct scenario *scenario_load_part(const struct scenario_request *request, struct node *root, const char *name,
                                    struct arena *arena, struct diag *diag);

/* What readers of other kinds share with that of jobs: `--set` in the tree (`example`: of one that is right, for
 * messages), and `output`. */
void scenario_apply_set(struct node *root, const struct scenario_set *set, const char *example, struct arena *arena,
                        struct diag *diag);
void scenario_read_output(struct scenario *scenario, struct node *root, const struct fields_reader *fields);
/* Reports keys of the top level that are none of `keys` (NULL-terminated), of `what`. */
void scenario_check_keys(const struct fields_reader *reader, const struct node *root, const char *const *keys,
                         const char *what);
/* What stands beside the sections `own` (NULL-terminated), platform, engine and output, as of a job that `job` makes of
 * keys and their values (the last key is NULL). NULL with the mistakes reported. */
struct scenario *scenario_read_beside(const struct scenario_request *request, const struct node *root,
                                      const char *const *own, const char *const (*job)[2], struct arena *arena,
                                      struct diag *diag);
/* So that a scenario without `name` is called the same when it is written to another file. */
void scenario_put_name(struct node *root, const char *name, struct arena *arena);
/* A tree's `platform` (a word or a map) as one value for `--set platform=VALUE`, which means the same in a scenario of
 * any other folder; `directory` is where the tree's relative paths begin. Memory from the arena. */
const char *scenario_platform_value(const struct node *platform, const char *directory, struct arena *arena);

#endif
