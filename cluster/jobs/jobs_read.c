/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of `jobs:`. A job's scenario becomes the tree that `run` would read: its own keys, and in place of what
 * belongs to the platform and to the run as a whole the cluster's. */
#include "abi/fields/fields.h"
#include "base/arena.h"
#include "base/document.h"
#include "base/paths.h"
#include "cluster/jobs/jobs.h"
#include "job/scenario/scenario_tables.h"
#include "job/schema/schema_value.h"
#include "simulator/program/program.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Iterations of a job that says nothing of them, neither in the cluster nor in its scenario. */
enum { ITERATIONS_DEFAULT = 10 };

struct job_values {
    struct stagesim_texts placement;
    uint64_t seed, iterations, copies;
    double start;
};

static const struct stagesim_field job_fields[] = {
    {"placement", STAGESIM_FIELD_TEXTS, offsetof(struct job_values, placement),
     .doc = "which hosts it gets: packed, spread, random, rail, or their names; default packed"},
    {"seed", STAGESIM_FIELD_COUNT, offsetof(struct job_values, seed), .least = 0, .most = 9007199254740992.0,
     .doc = "seed of placement: random; default 0"},
    {"start", STAGESIM_FIELD_TIME, offsetof(struct job_values, start), .least = 0, .most = 1e7,
     .doc = "when it starts; default 0s"},
    {"iterations", STAGESIM_FIELD_COUNT, offsetof(struct job_values, iterations), .least = 1, .most = 100000,
     .doc = "number of iterations that follow each other; default: its scenario's, or 10"},
    {"copies", STAGESIM_FIELD_COUNT, offsetof(struct job_values, copies), .least = 1, .most = JOBS_MAX,
     .doc = "how many such jobs there are, called NAME-1, NAME-2, ...; default 1"},
    {0},
};
static const struct fields_section job_section = {"job", true, job_fields};
static const char *const job_others[] = {"scenario", NULL};

/* What counts for all jobs, and is not looked at in their scenarios. */
static const char *const shared_keys[] = {"platform", "loader",  "what_if", "engine", "fold",
                                          "steady",   "simgrid", "output",  NULL};
/* What a job's scenario has that is no part of it here. */
static const char *const dropped_keys[] = {"name", "iterations", "search", "inputs", NULL};
/* Keys of the top level: those, and the cluster's own. */
const char *const jobs_keys[] = {"platform", "loader", "what_if", "engine",       "fold",  "steady", "simgrid",
                                 "output",   "name",   "jobs",    "interference", "leads", "inputs", NULL};

struct reading {
    const struct scenario_request *request;
    const char *directory;
    struct node *root;
    struct arena *arena;
    struct diag *diag;
    struct jobs *jobs;
    struct scenario **parts;
    size_t part_count;
};

static bool is_among(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(*words, word))
            return true;
    return false;
}

/* ---- trees ---- */

/* `scenario: FILE` stands for what is in that file. */
static void expand_job(struct reading *reading, struct node *job)
{
    struct node *node = node_get(job, "scenario");
    struct fault fault = {""};
    if (!node || node->kind != NODE_SCALAR || node_is_empty(node))
        return;
    const char *path = path_of_file(reading->directory, node->text, node->at.line == 0, reading->arena);
    if (!path_check_readable(path, &fault)) {
        diag_error(reading->diag, node->at, "scenario: %s; expected a scenario's file, or its keys", fault.text);
        node->kind = NODE_REFUSED;
        return;
    }
    const struct node *content = document_load(path, node->at, reading->arena, reading->diag);
    node->kind = content ? NODE_MAP : NODE_REFUSED;
    if (!content)
        return;
    node->first = content->first;
    node->last = content->last;
    node->count = content->count;
    node->at = content->at;
}

static void absolute(struct node *node, const char *path, struct arena *arena)
{
    char *whole = realpath(path, NULL);
    if (whole)
        node->text = arena_copy(arena, whole);
    free(whole);
}

/* A platform's file is seen from the cluster's, wherever the job's scenario lies. */
static void root_platform(struct reading *reading, struct node *platform)
{
    struct fault fault = {""};
    struct node *file = platform->kind == NODE_MAP ? node_get(platform, "file") : platform;
    struct node *preset = platform->kind == NODE_MAP ? node_get(platform, "preset") : platform;
    if (preset && preset->kind == NODE_SCALAR)
        preset->text = platform_source_rooted(preset->text, reading->directory, reading->arena);
    if (!file || file->kind != NODE_SCALAR || platform_source_is_preset(file->text, reading->directory, reading->arena))
        return;
    const char *path = path_of_file(reading->directory, file->text, file->at.line == 0, reading->arena);
    if (path_check_readable(path, &fault))
        absolute(file, path, reading->arena);
}

/* The scenario of a job as a tree of its own. */
static struct node *tree_of(struct reading *reading, const struct node *scenario, const char *file)
{
    struct arena *arena = reading->arena;
    struct node *root = arena_alloc(arena, sizeof *root);
    bool elsewhere = strcmp(path_directory(file, arena), reading->directory) != 0;
    *root = (struct node){.kind = NODE_MAP, .at = scenario->at};
    for (const struct node *child = scenario->first; child; child = child->next)
        if (!is_among(child->key, shared_keys) && !is_among(child->key, dropped_keys))
            node_append(root, node_copy(child, arena));
    for (const char *const *key = shared_keys; *key; key++) {
        const struct node *shared = node_get(reading->root, *key);
        struct node *copy = shared ? node_copy(shared, arena) : NULL;
        if (copy && !strcmp(*key, "platform") && elsewhere)
            root_platform(reading, copy);
        if (copy)
            node_append(root, copy);
    }
    return root;
}

/* ---- one job ---- */

static void read_placement(const struct reading *reading, const struct node *node, const struct job_values *values,
                           struct cluster_job *job)
{
    static const char *const words[] = {"packed", "spread", "random", "rail"};
    const struct node *written = node_get(node, "placement");
    job->placement_at = written ? written->at : node->key_at;
    job->hosts = values->placement;
    job->placement = values->placement.count ? PLACE_HOSTS : PLACE_PACKED;
    for (unsigned i = 0; i < sizeof words / sizeof *words && values->placement.count == 1; i++)
        if (!strcmp(words[i], values->placement.texts[0]))
            job->placement = (enum jobs_placement)i;
    const char *nearest = job->placement == PLACE_HOSTS && values->placement.count == 1
                              ? diag_nearest(values->placement.texts[0], words, sizeof words / sizeof *words)
                              : NULL;
    if (nearest)
        diag_error(reading->diag, job->placement_at,
                   "placement is '%.60s'; expected packed, spread, random, rail or names of hosts; did you mean '%s'?",
                   values->placement.texts[0], nearest);
    const struct node *seed = node_get(node, "seed");
    if (seed && job->placement != PLACE_RANDOM)
        diag_error(reading->diag, seed->key_at, "the placement draws nothing; expected 'seed' with placement: random");
}

/* The number of iterations that the job's scenario gives; 0: none. */
static uint64_t own_iterations(const struct reading *reading, const struct node *scenario)
{
    static const struct stagesim_field field = {"iterations", STAGESIM_FIELD_COUNT, 0, .least = 1,
                                                .most = SCENARIO_ITERATIONS_MAX};
    const struct node *node = node_get(scenario, field.key);
    struct fields_reader reader = {reading->directory, reading->arena, reading->diag, NULL, NULL};
    uint64_t iterations = 0;
    if (node)
        fields_read_value(&reader, &field, field.key, node, &iterations);
    return iterations;
}

static void add_job(struct reading *reading, const struct cluster_job *job, uint64_t copies)
{
    struct jobs *jobs = reading->jobs;
    uint32_t first = jobs->count;
    if (jobs->count + copies > JOBS_MAX) {
        diag_error(reading->diag, job->at, "there are more than %d jobs, which is the most", JOBS_MAX);
        return;
    }
    for (uint64_t i = 0; i < copies; i++) {
        struct cluster_job *added = &jobs->items[jobs->count++];
        *added = *job;
        added->alike = first;
        if (copies > 1)
            added->name = arena_print(reading->arena, "%s-%u", job->name, (unsigned)i + 1);
    }
}

static bool read_job(struct reading *reading, struct node *node)
{
    struct job_values values = {.copies = 1};
    struct fields_reader reader = {reading->directory, reading->arena, reading->diag, NULL, NULL};
    unsigned errors = reading->diag->errors;
    if (node->kind != NODE_MAP) {
        diag_error(reading->diag, node->at,
                   "job %s is %s; expected a map such as {scenario: gpt.yaml, placement: packed}", node->key,
                   node_describe(node, reading->arena));
        return false;
    }
    fields_check_keys(&reader, &job_section, job_others, node);
    fields_read(&reader, &job_section, node, node->at, &values);
    const struct node *scenario = node_get(node, "scenario");
    if (!scenario || (scenario->kind != NODE_MAP && scenario->kind != NODE_REFUSED))
        diag_error(reading->diag, scenario ? scenario->at : node->key_at,
                   "job %s has no scenario; expected 'scenario: FILE', or a map of a scenario's keys", node->key);
    struct cluster_job job = {.name = node->key, .at = node->key_at, .seed = values.seed, .start = values.start};
    read_placement(reading, node, &values, &job);
    if (reading->diag->errors > errors || scenario->kind != NODE_MAP)
        return false;
    uint64_t own = own_iterations(reading, scenario);
    job.iterations = (uint32_t)(values.iterations ? values.iterations : own ? own : ITERATIONS_DEFAULT);
    const char *file = scenario->at.line ? scenario->at.file : reading->request->file;
    struct scenario_request request = {
        .file = file, .schedule = reading->request->schedule, .plugins = reading->request->plugins};
    job.scenario =
        scenario_load_part(&request, tree_of(reading, scenario, file), node->key, reading->arena, reading->diag);
    if (!job.scenario)
        return false;
    const struct node *platform = node_get(reading->root, "platform");
    if (platform && platform->kind == NODE_SCALAR && !job.scenario->what_if_count)
        job.scenario->platform_name = job.scenario->platform.text = platform->text;
    reading->parts[reading->part_count++] = job.scenario;
    add_job(reading, &job, values.copies);
    return reading->diag->errors == errors;
}

/* ---- the cluster ---- */

static const char *const leads_names[] = {"auto", "exact", "even", NULL}; /* as enum jobs_leads */
static const struct stagesim_field cluster_fields[] = {
    {"interference", STAGESIM_FIELD_FLAG, offsetof(struct jobs, interference),
     .doc = "whether each pair of jobs is simulated as well; default false"},
    {"leads", STAGESIM_FIELD_NAME, offsetof(struct jobs, leads), .names = leads_names,
     .doc = "whether groups that are alike get ahead of each other: exact, even (they share evenly), or auto: exact "
            "where that is cheap; default auto"},
    {0},
};

/* A job's scenario is a file, or its keys. */
void jobs_schema(struct json_writer *json)
{
    for (const struct stagesim_field *field = cluster_fields; field->key; field++)
        schema_value(json, field->key, field);
    json_object_begin(json, "jobs", true);
    json_text(json, "type", "object");
    json_integer(json, "minProperties", 1);
    json_object_begin(json, "additionalProperties", true);
    json_array_begin(json, "required", false);
    json_text(json, NULL, "scenario");
    json_array_end(json);
    schema_section_begin(json, &job_section);
    json_object_begin(json, "scenario", false);
    json_text(json, "description", "the file of its scenario, or the scenario's keys");
    json_array_begin(json, "type", false);
    json_text(json, NULL, "string");
    json_text(json, NULL, "object");
    json_array_end(json);
    json_object_end(json);
    schema_section_end(json);
    json_object_end(json);
    json_object_end(json);
}

static void read_own(struct reading *reading)
{
    struct fields_reader reader = {reading->directory, reading->arena, reading->diag, NULL, NULL};
    scenario_check_keys(&reader, reading->root, jobs_keys, "the cluster");
    for (const struct stagesim_field *field = cluster_fields; field->key; field++) {
        const struct node *node = node_get(reading->root, field->key);
        if (node)
            fields_read_value(&reader, field, field->key, node, reading->jobs);
    }
    const struct node *engine = node_get(reading->root, "engine");
    if (engine && engine->kind == NODE_SCALAR && !strcmp(engine->text, "both"))
        diag_error(reading->diag, engine->at,
                   "engine is 'both'; expected simgrid, which simulates each job alone and together, or analytic");
}

static void read_jobs(struct reading *reading, struct node *list)
{
    if (list->kind == NODE_REFUSED)
        return;
    if (list->kind != NODE_MAP || !list->first) {
        diag_error(reading->diag, list->at, "jobs is %s; expected a map such as {a: {scenario: gpt.yaml}, ...}",
                   node_describe(list, reading->arena));
        return;
    }
    for (struct node *job = list->first; job; job = job->next)
        if (!read_job(reading, job))
            return; /* what is wrong with what they share would be said again */
}

/* What commands read of any scenario. */
static struct scenario *whole_of(const struct reading *reading)
{
    struct arena *arena = reading->arena;
    struct scenario *scenario = arena_alloc(arena, sizeof *scenario);
    const struct node *name = node_get(reading->root, "name");
    *scenario = *reading->parts[0];
    scenario->file = arena_copy(arena, reading->request->file);
    scenario->directory = reading->directory;
    scenario->name = path_name(path_name(reading->request->file, ".yaml", arena), ".yml", arena);
    if (name && name->kind == NODE_SCALAR && !node_is_empty(name))
        scenario->name = name->text;
    scenario_put_name(reading->root, scenario->name, arena);
    scenario->schedule = NULL;
    scenario->schedule_file = NULL;
    scenario->micro_batches = 0;
    scenario->schedule_name =
        arena_print(arena, "%u job%s", reading->jobs->count, reading->jobs->count == 1 ? "" : "s");
    scenario->whole = reading->jobs;
    scenario->parts = reading->parts;
    scenario->part_count = reading->part_count;
    return scenario;
}

struct scenario *jobs_read(const struct scenario_request *request, struct node *root, struct arena *arena,
                           struct diag *diag)
{
    struct node *list = node_get(root, "jobs");
    unsigned errors = diag->errors;
    struct reading reading = {.request = request,
                              .directory = path_directory(request->file, arena),
                              .root = root,
                              .arena = arena,
                              .diag = diag,
                              .jobs = arena_alloc(arena, sizeof *reading.jobs)};
    for (struct node *job = list->kind == NODE_MAP ? list->first : NULL; job; job = job->next)
        expand_job(&reading, job);
    for (size_t i = 0; i < request->set_count; i++)
        scenario_apply_set(root, &request->sets[i], "jobs.a.start=0.2s", arena, diag);
    list = node_get(root, "jobs");
    reading.jobs->items = arena_array(arena, JOBS_MAX, sizeof *reading.jobs->items);
    reading.parts = arena_array(arena, list->count + 1, sizeof(struct scenario *));
    read_own(&reading);
    if (diag->errors == errors)
        read_jobs(&reading, list);
    return diag->errors == errors && reading.part_count ? whole_of(&reading) : NULL;
}
