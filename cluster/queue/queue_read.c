/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of `queue:`. What stands beside it is read as that of a scenario with a job of no meaning. */
#include "abi/fields/fields.h"
#include "base/arena.h"
#include "base/document.h"
#include "base/paths.h"
#include "cluster/months/month.h"
#include "cluster/queue/queue_failures.h"
#include "cluster/queue/queue_users.h"
#include "job/schema/schema_value.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct queue_values {
    double slice, change, grow, shrink, half_life, save, resume;
    uint64_t rows, jobs, processors, seed, runs, block, quota, together, sets;
    bool contention, migration;
    double gpu_hour, electricity;
    bool alternatives;
    const char *currency;
};

static const struct stagesim_field fields[] = {
    {"slice", STAGESIM_FIELD_TIME, offsetof(struct queue_values, slice), .least = 1e-3, .most = 1e7,
     .doc = "policy gang: how long a row of jobs has the cluster; default 10min"},
    {"switch", STAGESIM_FIELD_TIME, offsetof(struct queue_values, change), .least = 0, .most = 1e7,
     .doc = "policy gang: time of a slice that the change from one row to the next takes; default 10s"},
    {"rows", STAGESIM_FIELD_COUNT, offsetof(struct queue_values, rows), .least = 1, .most = 1000,
     .doc = "policy gang: largest number of rows, and so of jobs on a node; default 4"},
    {"grow", STAGESIM_FIELD_TIME, offsetof(struct queue_values, grow), .least = 0, .most = 1e7,
     .doc = "policy elastic: how long a job stands still when it gets more nodes; default 30s"},
    {"shrink", STAGESIM_FIELD_TIME, offsetof(struct queue_values, shrink), .least = 0, .most = 1e7,
     .doc = "policy elastic: how long a job stands still when it gives nodes back; default 30s"},
    {"save", STAGESIM_FIELD_TIME, offsetof(struct queue_values, save), .least = 0, .most = 1e7,
     .doc = "how long a job that gives way or moves saves its state; default 30s"},
    {"resume", STAGESIM_FIELD_TIME, offsetof(struct queue_values, resume), .least = 0, .most = 1e7,
     .doc = "how long it takes to go on when it has nodes again; default 5min"},
    {"migration", STAGESIM_FIELD_FLAG, offsetof(struct queue_values, migration),
     .doc = "whether jobs that run move to free nodes on which they end earlier; default false"},
    {"half_life", STAGESIM_FIELD_TIME, offsetof(struct queue_values, half_life), .least = 1, .most = 1e10,
     .doc = "policy fair: after which time what a user has used counts half; default 7d"},
    {"quota", STAGESIM_FIELD_COUNT, offsetof(struct queue_values, quota), .least = 1, .most = RANKS_MAX,
     .doc = "policy fair: the most nodes that a user has at a time; default: any number"},
    {"block", STAGESIM_FIELD_COUNT, offsetof(struct queue_values, block), .least = 1, .most = RANKS_MAX,
     .doc = "placement block: nodes of a block, such as those behind a leaf switch"},
    {"contention", STAGESIM_FIELD_FLAG, offsetof(struct queue_values, contention),
     .doc = "engine simgrid: whether jobs that share links slow each other down; default false"},
    {"together", STAGESIM_FIELD_COUNT, offsetof(struct queue_values, together), .least = 2, .most = 256,
     .doc = "with contention: the most jobs that are simulated together, larger sets are estimated; default 4, "
            "and more in sets of few operations"},
    {"sets", STAGESIM_FIELD_COUNT, offsetof(struct queue_values, sets), .least = 1, .most = 1000000,
     .doc = "with contention: how many sets of jobs are simulated at most, others are estimated; default 100"},
    {"jobs", STAGESIM_FIELD_COUNT, offsetof(struct queue_values, jobs), .least = 1, .most = 100000000,
     .doc = "how many jobs of the log arrive, from the first on; default all"},
    {"processors_per_node", STAGESIM_FIELD_COUNT, offsetof(struct queue_values, processors), .least = 1,
     .most = 1000000,
     .doc = "how many processors of the log are a node; default: as many as GPUs in a node of the platform"},
    {"seed", STAGESIM_FIELD_COUNT, offsetof(struct queue_values, seed), .least = 0, .most = 9007199254740992.0,
     .doc = "seed of the random numbers by which nodes fail and months are drawn; default 0"},
    {"runs", STAGESIM_FIELD_COUNT, offsetof(struct queue_values, runs), .least = 1, .most = 10000,
     .doc =
         "with failures, or a month of which jobs are drawn: how many months are simulated, each with other failures "
         "and other jobs; default 1"},
    {"gpu_hour", STAGESIM_FIELD_RATIO, offsetof(struct queue_values, gpu_hour), .least = 0, .most = 1e6,
     .doc = "price of a GPU for an hour, in any currency; default: none"},
    {"electricity", STAGESIM_FIELD_RATIO, offsetof(struct queue_values, electricity), .least = 0, .most = 1e6,
     .doc = "price of a kilowatt hour, paid beside gpu_hour; default: none"},
    {"currency", STAGESIM_FIELD_TEXT, offsetof(struct queue_values, currency),
     .doc = "what prices are in, such as USD"},
    {"alternatives", STAGESIM_FIELD_FLAG, offsetof(struct queue_values, alternatives),
     .doc = "whether to say what 20 % more or fewer nodes, other policies, a taper and less power would bring; default "
            "false"},
    {0},
};
static const struct fields_section section = {"queue", true, fields};
static const char *const others[] = {"log", "format", "policy", "placement", "estimates", "types", "users", NULL};

static const struct stagesim_field type_fields[] = {
    {"iterations", STAGESIM_FIELD_COUNT, offsetof(struct queue_type, iterations), .required = true, .least = 1,
     .most = 1e12, .doc = "how many iterations such a job trains, where the log does not say"},
    {"nodes_min", STAGESIM_FIELD_COUNT, offsetof(struct queue_type, nodes_min), .least = 1, .most = RANKS_MAX,
     .doc = "policy elastic: the fewest nodes that it runs on; default: as many as it asks for"},
    {"nodes_max", STAGESIM_FIELD_COUNT, offsetof(struct queue_type, nodes_max), .least = 1, .most = RANKS_MAX,
     .doc = "policy elastic: the most nodes that it runs on; default: as many as it asks for"},
    {0},
};
static const struct fields_section type_section = {"type", true, type_fields};
static const char *const type_others[] = {"scenario", NULL};

/* Keys beside `queue`, which are a scenario's. */
const char *const queue_keys[] = {"name",  "platform", "loader",   "what_if",    "engine", "simgrid", "output",
                                  "queue", "inputs",   "failures", "checkpoint", "power",  NULL};
static const char *const estimate_names[] = {"exact", "limits", NULL}; /* [enum queue_estimates] */

struct reading {
    const struct scenario_request *request;
    const char *directory;
    struct node *root, *node; /* node: queue's */
    struct arena *arena;
    struct diag *diag;
    struct fields_reader reader;
    struct queue_scenario *queue;
};

/* ---- beside the queue ---- */

static void check_beside(struct reading *reading)
{
    scenario_check_keys(&reading->reader, reading->root, queue_keys, "a scenario with a queue");
    const struct node *engine = node_get(reading->root, "engine");
    if (engine && engine->kind == NODE_SCALAR && !strcmp(engine->text, "both"))
        diag_error(reading->diag, engine->at,
                   "engine is 'both'; expected analytic, or simgrid, which lets the transfers of a job share links");
}

/* Platform, engine and output, in a scenario whose job means nothing. */
static struct scenario *read_beside(struct reading *reading)
{
    static const char *const own[] = {"queue", NULL};
    static const char *const job[][2] = {{"workload", "stages"},
                                         {"stages.forward", "1s"},
                                         {"stages.backward", "1s"},
                                         {"batch.micro_batches", "1"},
                                         {"parallel.pipeline", "1"},
                                         {"schedule", "gpipe"},
                                         {NULL, NULL}};
    return scenario_read_beside(reading->request, reading->root, own, job, reading->arena, reading->diag);
}

/* ---- words ---- */

/* The place of a word in a list; `usual` where the key is not given. */
static unsigned read_word(struct reading *reading, const char *key, const char *const *words, unsigned usual)
{
    const struct node *node = node_get(reading->node, key);
    unsigned index = usual;
    if (node && node->kind != NODE_REFUSED)
        fields_read_word(&reading->reader, key, node, words, &index);
    return index;
}

enum { POLICIES_MAX = 16 };

static void list_policies(const char *names[POLICIES_MAX])
{
    size_t count = 0;
    for (; queue_policies[count]; count++)
        names[count] = queue_policy_name(queue_policies[count]);
    names[count] = NULL;
}

static const struct queue_policy *read_policy(struct reading *reading)
{
    const char *names[POLICIES_MAX];
    list_policies(names);
    return queue_policies[read_word(reading, "policy", names, 0)];
}

void queue_schema(struct json_writer *json)
{
    const char *policies[POLICIES_MAX];
    list_policies(policies);
    const struct stagesim_field scenario[] = {
        {"scenario", STAGESIM_FIELD_PATH, .doc = "the file of such a job's scenario"}, {0}};
    const struct stagesim_field words[] = {
        {"log", STAGESIM_FIELD_PATH, .doc = "the file of an arrival log"},
        {"format", STAGESIM_FIELD_NAME, .names = arrival_format_names,
         .doc = "format of the log; default: stagesim recognises it"},
        {"policy", STAGESIM_FIELD_NAME, .names = policies, .doc = "which job runs when; default fcfs"},
        {"placement", STAGESIM_FIELD_NAME, .names = node_choice_names, .doc = "which nodes it gets; default packed"},
        {"estimates", STAGESIM_FIELD_NAME, .names = estimate_names,
         .doc = "what is known of how long a job runs; default exact"},
        {0}};
    json_object_begin(json, section.name, true);
    json_array_begin(json, "required", false);
    json_text(json, NULL, words[0].key);
    json_array_end(json);
    schema_section_begin(json, &section);
    for (const struct stagesim_field *field = words; field->key; field++)
        schema_value(json, field->key, field);
    schema_sections_by_name(json, "types", &type_section, scenario);
    queue_users_schema(json);
    schema_section_end(json);
    json_object_end(json);
}

static const char *read_text(struct reading *reading, const struct node *map, const char *key, const char *expected)
{
    const struct node *node = node_get(map, key);
    if (node && node->kind == NODE_REFUSED)
        return NULL;
    if (node && node->kind == NODE_SCALAR && !node_is_empty(node))
        return node->text;
    diag_error(reading->diag, node ? node->at : map->key_at, "%s is %s; expected %s", key,
               node ? node_describe(node, reading->arena) : "missing", expected);
    return NULL;
}

/* ---- types ---- */

static struct scenario *load_type(struct reading *reading, const struct node *node, const char *file)
{
    struct fault fault = {""};
    const struct node *written = node_get(node, "scenario");
    const char *path = path_of_file(reading->directory, file, written->at.line == 0, reading->arena);
    if (!path_check_readable(path, &fault)) {
        diag_error(reading->diag, written->at, "scenario: %s; expected a scenario's file", fault.text);
        return NULL;
    }
    const char *platform =
        scenario_platform_value(node_get(reading->root, "platform"), reading->directory, reading->arena);
    struct scenario_set *set = arena_alloc(reading->arena, sizeof *set);
    *set = (struct scenario_set){NULL, arena_print(reading->arena, "platform=%s", platform)};
    struct scenario_request request = {.file = path, .sets = set, .set_count = 1, .plugins = reading->request->plugins};
    return scenario_load(&request, reading->arena, reading->diag);
}

/* A type with mistakes has its name, so that jobs of it are no mistakes as well. */
static void read_type(struct reading *reading, const struct node *node, struct queue_type *type)
{
    unsigned errors = reading->diag->errors;
    *type = (struct queue_type){.name = node->key, .at = node->key_at};
    if (node->kind == NODE_REFUSED)
        return;
    if (node->kind != NODE_MAP) {
        diag_error(reading->diag, node->at,
                   "type %s is %s; expected a map such as {scenario: gpt.yaml, iterations: 1000}", node->key,
                   node_describe(node, reading->arena));
        return;
    }
    fields_check_keys(&reading->reader, &type_section, type_others, node);
    fields_read(&reading->reader, &type_section, node, node->at, type);
    const char *file = read_text(reading, node, "scenario", "a scenario's file such as gpt.yaml");
    if (type->nodes_max && type->nodes_min > type->nodes_max)
        diag_error(reading->diag, node_get(node, "nodes_min")->at,
                   "nodes_min is %llu, which is more than nodes_max, %llu", (unsigned long long)type->nodes_min,
                   (unsigned long long)type->nodes_max);
    type->scenario = file && reading->diag->errors == errors ? load_type(reading, node, file) : NULL;
}

static void read_types(struct reading *reading)
{
    const struct node *list = node_get(reading->node, "types");
    if (!list || list->kind == NODE_REFUSED)
        return;
    if (list->kind != NODE_MAP || list->count > QUEUE_TYPES_MAX) {
        diag_error(reading->diag, list->at,
                   "types is %s; expected a map of at most %d such as {gpt: {scenario: gpt.yaml, iterations: 1000}}",
                   list->kind == NODE_MAP ? "longer" : node_describe(list, reading->arena), QUEUE_TYPES_MAX);
        return;
    }
    struct queue_type *types = arena_array(reading->arena, list->count + 1, sizeof *types);
    for (const struct node *node = list->first; node; node = node->next)
        read_type(reading, node, &types[reading->queue->type_count++]);
    reading->queue->types = types;
}

/* ---- the log ---- */

/* What each job does. */
static void match_types(struct reading *reading)
{
    struct queue_scenario *queue = reading->queue;
    uint32_t *type_of = arena_array(reading->arena, queue->job_count + 1, sizeof *type_of);
    const char *names[QUEUE_TYPES_MAX + 1];
    for (uint32_t i = 0; i < queue->type_count; i++)
        names[i] = queue->types[i].name;
    for (size_t job = 0; job < queue->job_count; job++) {
        const struct arrival *arrival = &queue->log->arrivals[job];
        uint32_t type = 0;
        while (arrival->kind && type < queue->type_count && strcmp(names[type], arrival->kind) != 0)
            type++;
        type_of[job] = arrival->kind && type < queue->type_count ? type : UINT32_MAX;
        if (!arrival->kind || type < queue->type_count)
            continue;
        const char *nearest = diag_nearest(arrival->kind, names, queue->type_count);
        diag_error(reading->diag, arrival->at, "type '%.60s' is not among queue.types%s%s%s", arrival->kind,
                   nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    }
    queue->type_of = type_of;
}

static void read_log(struct reading *reading, uint64_t most)
{
    const struct node *node = node_get(reading->node, "log");
    unsigned format = read_word(reading, "format", arrival_format_names, ARRIVALS_UNKNOWN);
    const char *file = read_text(reading, reading->node, "log", "the file of an arrival log such as jobs.csv");
    if (!file)
        return;
    const char *path = path_of_file(reading->directory, file, node->at.line == 0, reading->arena);
    reading->queue->log_at = node->at;
    if (reading->queue->drawn) {
        const struct month *month = reading->queue->month =
            month_load(path, node->at, NULL, 0, reading->arena, reading->diag);
        reading->queue->log =
            month ? month_generate(month, reading->queue->seed, path, node->at, reading->arena, reading->diag) : NULL;
    } else {
        reading->queue->log =
            arrival_log_load(path, node->at, (enum arrival_format)format, reading->arena, reading->diag);
    }
    if (!reading->queue->log)
        return;
    uint64_t count = reading->queue->log->count;
    reading->queue->jobs_most = most;
    reading->queue->job_count = most && most < count ? most : count;
    match_types(reading);
}

/* Contention is simulated by one engine, of jobs of which more is known than how long they run. */
static void check_contention(const struct reading *reading, const struct scenario *beside)
{
    const struct queue_scenario *queue = reading->queue;
    const char *text = NULL;
    if (!queue->contention)
        return;
    if (beside->engine != ENGINE_SIMGRID)
        text = "jobs slow each other down with engine: simgrid only; expected it beside the queue";
    else if (queue->drawn)
        text = "jobs that are drawn have no types and meet nobody; expected a log with types beside contention";
    if (text)
        diag_error(reading->diag, node_place(reading->root, "queue.contention"), "%s", text);
}

/* A job without a type is as fast everywhere. */
static void check_migration(const struct reading *reading)
{
    const struct queue_scenario *queue = reading->queue;
    uint64_t job = 0;
    while (queue->log && job < queue->job_count && queue->type_of[job] == UINT32_MAX)
        job++;
    if (queue->options.migrate && queue->log && job == queue->job_count)
        diag_error(reading->diag, node_place(reading->root, "queue.migration"),
                   "no job has a type, so that all are as fast everywhere and none would move; expected a log with "
                   "types beside migration");
}

static struct queue_options read_options(struct reading *reading, const struct queue_values *values)
{
    return (struct queue_options){.policy = read_policy(reading),
                                  .placement = read_word(reading, "placement", node_choice_names, NODES_PACKED),
                                  .block = (uint32_t)values->block,
                                  .half_life = values->half_life,
                                  .save = values->save,
                                  .resume = values->resume,
                                  .migrate = values->migration,
                                  .slice = values->slice,
                                  .change = values->change,
                                  .rows = (uint32_t)values->rows,
                                  .grow = values->grow,
                                  .shrink = values->shrink};
}

static void read_queue(struct reading *reading, const struct scenario *beside)
{
    struct queue_values values = {.slice = 600,
                                  .change = 10,
                                  .grow = 30,
                                  .shrink = 30,
                                  .rows = 4,
                                  .runs = 1,
                                  .sets = 100,
                                  .half_life = 7 * 86400.0,
                                  .save = 30,
                                  .resume = 300};
    struct queue_scenario *queue = reading->queue;
    if (reading->node->kind != NODE_MAP) {
        if (reading->node->kind != NODE_REFUSED)
            diag_error(reading->diag, reading->node->at,
                       "queue is %s; expected a map such as {log: jobs.csv, policy: easy}",
                       node_describe(reading->node, reading->arena));
        return;
    }
    fields_check_keys(&reading->reader, &section, others, reading->node);
    fields_read(&reading->reader, &section, reading->node, reading->node->at, &values);
    queue->options = read_options(reading, &values);
    queue->estimates = read_word(reading, "estimates", estimate_names, ESTIMATES_EXACT);
    queue->processors_per_node = values.processors;
    queue->seed = values.seed;
    queue->runs = values.runs;
    queue->quota = values.quota;
    queue->contention = values.contention;
    queue->together = values.together;
    queue->sets = values.sets;
    queue->gpu_hour = values.gpu_hour;
    queue->alternatives = values.alternatives;
    queue->kilowatt_hour = values.electricity;
    queue->currency = values.currency;
    queue_read_users(queue, reading->node, &reading->reader);
    if (queue->options.placement == NODES_BLOCK && !values.block)
        diag_error(reading->diag, node_place(reading->root, "queue.placement"),
                   "nothing says how many nodes a block has; expected block, such as 18");
    if (values.change >= values.slice)
        diag_error(reading->diag, node_place(reading->root, "queue.switch"),
                   "changing rows takes %gs of a slice of %gs; expected less, so that something is left to run in",
                   values.change, values.slice);
    const struct node *log = node_get(reading->node, "log");
    queue->drawn = log && log->kind == NODE_SCALAR && month_is_named(log->text) && !node_get(reading->node, "format");
    queue_take_failures(queue, reading->root, beside, reading->diag);
    check_contention(reading, beside);
    read_types(reading);
    read_log(reading, values.jobs);
    check_migration(reading);
}

/* What it is made of, for those who ask for the files: itself, and the scenarios of its types. */
static void put_parts(const struct reading *reading, struct scenario *scenario)
{
    const struct queue_scenario *queue = reading->queue;
    struct scenario **parts = arena_array(reading->arena, queue->type_count + 1, sizeof *parts);
    scenario->log = queue->log->file;
    parts[0] = arena_alloc(reading->arena, sizeof *parts[0]);
    *parts[0] = *scenario;
    for (uint32_t i = 0; i < queue->type_count; i++)
        parts[i + 1] = queue->types[i].scenario;
    scenario->parts = parts;
    scenario->part_count = queue->type_count + 1;
}

struct scenario *queue_read(const struct scenario_request *request, struct node *root, struct arena *arena,
                            struct diag *diag)
{
    unsigned errors = diag->errors;
    const char *directory = path_directory(request->file, arena);
    struct reading reading = {.request = request,
                              .directory = directory,
                              .root = root,
                              .arena = arena,
                              .diag = diag,
                              .reader = {directory, arena, diag, NULL, NULL},
                              .queue = arena_alloc(arena, sizeof *reading.queue)};
    for (size_t i = 0; i < request->set_count; i++)
        scenario_apply_set(root, &request->sets[i], "queue.policy=easy", arena, diag);
    reading.node = node_get(root, "queue");
    check_beside(&reading);
    if (diag->errors > errors)
        return NULL;
    struct scenario *scenario = read_beside(&reading);
    if (!scenario)
        return NULL;
    read_queue(&reading, scenario);
    if (diag->errors > errors)
        return NULL;
    if (scenario->traces & ~(unsigned)(TRACE_PAJE | TRACE_CHROME | TRACE_CSV)) {
        diag_error(
            diag, node_place(root, "output.trace"),
            "a queue has no operations; expected no trace but paje and chrome, and csv for jobs.csv and spans.csv");
        return NULL;
    }
    put_parts(&reading, scenario);
    scenario_put_name(root, scenario->name, arena);
    scenario->schedule = NULL;
    scenario->micro_batches = 0;
    scenario->schedule_name = queue_policy_name(reading.queue->options.policy);
    scenario->whole = reading.queue;
    return scenario;
}
