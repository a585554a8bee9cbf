/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of `idle_nodes:`. */
#include "abi/fields/fields.h"
#include "base/arena.h"
#include "base/document.h"
#include "base/paths.h"
#include "base/quantity.h"
#include "cluster/idle/idle_nodes.h"
#include "job/schema/schema_value.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* ---- tables ---- */

struct log_values {
    const char *log;
    unsigned format;
    uint64_t nodes;
    double start, duration;
};

static const char *const format_names[] = {"spans", "swf", "sacct", NULL};

static const struct stagesim_field log_fields[] = {
    {"log", STAGESIM_FIELD_PATH, offsetof(struct log_values, log), .doc = "a file that says when which node is idle"},
    {"format", STAGESIM_FIELD_NAME, offsetof(struct log_values, format), .names = format_names,
     .doc = "spans: columns node, from, to; swf, sacct: jobs of a batch system, whose gaps are idle; default spans"},
    {"nodes", STAGESIM_FIELD_COUNT, offsetof(struct log_values, nodes), .least = 1, .most = IDLE_NODES_MAX,
     .doc = "number of nodes of the machine, for swf and sacct; default: that of the log"},
    {"start", STAGESIM_FIELD_TIME, offsetof(struct log_values, start), .least = 0, .most = 1e10,
     .doc = "moment of the log with which the replay begins; default 0s"},
    {"duration", STAGESIM_FIELD_TIME, offsetof(struct log_values, duration), .least = 1e-3, .most = 1e10,
     .doc = "how long the replay lasts; default: to the end of the log"},
    {0},
};

static const struct stagesim_field generate_fields[] = {
    {"nodes", STAGESIM_FIELD_COUNT, offsetof(struct idle_generation, nodes), true, .least = 1, .most = IDLE_NODES_MAX,
     .doc = "number of nodes of the machine"},
    {"idle", STAGESIM_FIELD_RATIO, offsetof(struct idle_generation, share), .least = 0.0001, .most = 0.9999,
     .doc = "share of the time in which a node is idle; default 0.085"},
    {"together", STAGESIM_FIELD_COUNT, offsetof(struct idle_generation, together), .least = 1, .most = IDLE_NODES_MAX,
     .doc = "number of nodes that become idle and busy together; default 1"},
    {"seed", STAGESIM_FIELD_COUNT, offsetof(struct idle_generation, seed), .least = 0, .most = 9007199254740992.0,
     .doc = "seed; another one gives another log; default 0"},
    {"duration", STAGESIM_FIELD_TIME, offsetof(struct idle_generation, duration), .least = 60, .most = 1e8,
     .doc = "length of the log; default 168h"},
    {0},
};

struct policy_values {
    unsigned methods; /* bits, in the order of chooser_table */
    unsigned objective, grow_rate;
    struct stagesim_list forward;
    uint64_t running;
    double profile;
    struct stagesim_list profile_sizes;
};

static const char *const rate_names[] = {"before", "after", NULL};

static const struct stagesim_field policy_fields[] = {
    {"method", STAGESIM_FIELD_NAMES, offsetof(struct policy_values, methods), .names = chooser_names,
     .doc = "how sizes are chosen: one or a list; default optimal"},
    {"objective", STAGESIM_FIELD_NAME, offsetof(struct policy_values, objective), .names = objective_names,
     .doc = "what to maximise: samples, or the sum of speed-ups over one node; default samples"},
    {"forward", STAGESIM_FIELD_TIMES, offsetof(struct policy_values, forward), .least = 0.001, .most = 1e8,
     .doc = "how long a choice is expected to last: one or a list; default 120s"},
    {"running", STAGESIM_FIELD_COUNT, offsetof(struct policy_values, running), .least = 1, .most = 1000,
     .doc = "how many jobs run at a time; others wait, first come first served; default 10"},
    {"grow_rate", STAGESIM_FIELD_NAME, offsetof(struct policy_values, grow_rate), .names = rate_names,
     .doc = "at which rate a job that grows loses time: that before growing, or after; default before"},
    {"profile", STAGESIM_FIELD_TIME, offsetof(struct policy_values, profile), .least = 0.001, .most = 1e6,
     .doc = "how long one size is measured, for jobs with know: profile; default 60s"},
    {"profile_sizes", STAGESIM_FIELD_COUNTS, offsetof(struct policy_values, profile_sizes), .least = 1,
     .most = CURVE_NODES_MAX, .doc = "numbers of nodes that are measured; default: powers of two"},
    {0},
};

struct job_values {
    struct stagesim_list nodes;
    const char *scenario;
    unsigned know;
    uint64_t count;
    double samples, submit, every, grow, shrink;
};

static const struct stagesim_field job_fields[] = {
    {"scenario", STAGESIM_FIELD_PATH, offsetof(struct job_values, scenario),
     .doc = "a scenario whose throughput stagesim finds out; its data-parallel width grows with the nodes"},
    {"nodes", STAGESIM_FIELD_COUNTS, offsetof(struct job_values, nodes), .least = 1, .most = CURVE_NODES_MAX,
     .doc = "least and most nodes; default: those of points, or with a scenario all nodes of its platform"},
    {"know", STAGESIM_FIELD_NAME, offsetof(struct job_values, know), .names = knowledge_names,
     .doc = "what is known of its throughput: curve: for all sizes; linear: only for its least size; profile: nothing; "
            "default curve"},
    {"count", STAGESIM_FIELD_COUNT, offsetof(struct job_values, count), .least = 1, .most = IDLE_JOBS_MAX,
     .doc = "number of such jobs, called NAME-1, NAME-2, ...; default 1"},
    {"samples", STAGESIM_FIELD_RATIO, offsetof(struct job_values, samples), .least = 1, .most = 1e18,
     .doc = "number of samples after which it ends; default: it does not end"},
    {"submit", STAGESIM_FIELD_TIME, offsetof(struct job_values, submit), .least = 0, .most = 1e10,
     .doc = "when it arrives; default 0s"},
    {"every", STAGESIM_FIELD_TIME, offsetof(struct job_values, every), .least = 0, .most = 1e8,
     .doc = "time between the arrivals of its count; default 0s"},
    {"grow", STAGESIM_FIELD_TIME, offsetof(struct job_values, grow), .least = 0, .most = 1e6,
     .doc = "how long it produces nothing when it gets more nodes; default 18s"},
    {"shrink", STAGESIM_FIELD_TIME, offsetof(struct job_values, shrink), .least = 0, .most = 1e6,
     .doc = "how long it produces nothing when it loses nodes; default 12s"},
    {0},
};

static const struct fields_section log_section = {"idle_nodes", true, log_fields},
                                   generate_section = {"generate", true, generate_fields},
                                   policy_section = {"decide", true, policy_fields},
                                   job_section = {"jobs", true, job_fields};
/* Samples per second on a number of nodes. */
static const struct stagesim_field point_field = {"points", STAGESIM_FIELD_RATIO, 0, .least = 1e-9, .most = 1e18};
static const char *const log_others[] = {"generate", "jobs", "decide", NULL};
static const char *const job_others[] = {"points", NULL};
const char *const idle_keys[] = {"name", "idle_nodes", "output", "inputs", NULL};

void idle_schema(struct json_writer *json)
{
    json_object_begin(json, log_section.name, true);
    json_array_begin(json, "oneOf", false); /* a log is read or made */
    for (int i = 0; i < 2; i++) {
        json_object_begin(json, NULL, false);
        json_array_begin(json, "required", false);
        json_text(json, NULL, i ? "generate" : "log");
        json_array_end(json);
        json_object_end(json);
    }
    json_array_end(json);
    json_array_begin(json, "required", false);
    json_text(json, NULL, "jobs");
    json_array_end(json);
    schema_section_begin(json, &log_section);
    schema_section(json, "generate", &generate_section, NULL);
    schema_section(json, "decide", &policy_section, NULL);
    json_object_begin(json, "jobs", true);
    json_text(json, "type", "object");
    json_object_begin(json, "additionalProperties", true);
    schema_section_begin(json, &job_section);
    json_object_begin(json, "points", false);
    json_text(json, "description", "samples per second for each number of nodes");
    json_text(json, "type", "object");
    json_integer(json, "minProperties", 1);
    schema_value(json, "additionalProperties", &point_field);
    json_object_end(json);
    schema_section_end(json);
    json_object_end(json);
    json_object_end(json);
    schema_section_end(json);
    json_object_end(json);
}

struct reading {
    struct fields_reader fields;
    const struct node *root, *section;
    struct idle_nodes *nodes;
    struct idle_entry *entries;
    bool plugins;            /* may be loaded */
    struct scenario **parts; /* part_count of them: those that entries name */
    size_t part_count;
};

/* ---- the log ---- */

static void read_generation(struct reading *reading, const struct node *node)
{
    struct idle_generation *generation = &reading->nodes->generation;
    *generation = (struct idle_generation){.nodes = 1, .together = 1, .share = 0.085, .duration = 604800};
    fields_check_keys(&reading->fields, &generate_section, NULL, node);
    fields_read(&reading->fields, &generate_section, node, node->at, generation);
}

static void read_log(struct reading *reading)
{
    struct diag *diag = reading->fields.diag;
    const struct node *section = reading->section, *generate = node_get(section, "generate");
    const struct node *format = node_get(section, "format"), *nodes = node_get(section, "nodes");
    struct log_values values = {.duration = INFINITY};
    fields_check_keys(&reading->fields, &log_section, log_others, section);
    fields_read(&reading->fields, &log_section, section, section->at, &values);
    if (!node_get(section, "log") == !generate)
        diag_error(diag, generate ? generate->key_at : section->at,
                   generate ? "there are both log and generate, expected one of them"
                            : "there is no log of idle nodes; expected 'log: FILE', or 'generate: {nodes: 1000}'");
    if (generate)
        read_generation(reading, generate);
    if (generate && format)
        diag_error(diag, format->key_at, "a log that is generated has no format");
    if (nodes && (generate || values.format == IDLE_LOG_SPANS))
        diag_error(diag, nodes->key_at,
                   "'nodes' says how many a log of batch jobs has; expected it with format: swf or sacct%s",
                   generate ? ", or in generate" : "");
    reading->nodes->log = values.log;
    reading->nodes->log_at = node_place(section, "log");
    reading->nodes->format = values.format;
    reading->nodes->log_nodes = values.nodes;
    reading->nodes->start = values.start;
    reading->nodes->duration = values.duration;
}

/* ---- jobs ---- */

static bool read_point(const struct reading *reading, const struct node *node, struct curve_point *point)
{
    struct quantity_reason reason;
    uint64_t nodes;
    if (!quantity_count(node->key, &nodes, &reason) || !nodes || nodes > CURVE_NODES_MAX) {
        diag_error(reading->fields.diag, node->key_at, "'%s' is no number of nodes, expected 1 to %d", node->key,
                   (int)CURVE_NODES_MAX);
        return false;
    }
    point->nodes = (uint32_t)nodes;
    return fields_read_value(&reading->fields, &point_field, node->key, node, &point->rate);
}

static int by_nodes(const void *left, const void *right)
{
    const struct curve_point *a = left, *b = right;
    return (a->nodes > b->nodes) - (a->nodes < b->nodes);
}

static void read_points(const struct reading *reading, const struct node *node, struct idle_entry *entry)
{
    if (node->kind != NODE_MAP || !node->count) {
        diag_error(reading->fields.diag, node->at,
                   "points is %s; expected nodes and samples per second such as {1: 2831, 8: 20379}",
                   node_describe(node, reading->fields.arena));
        return;
    }
    struct curve_point *points = arena_array(reading->fields.arena, node->count, sizeof *points);
    for (const struct node *child = node->first; child; child = child->next)
        if (child->kind != NODE_REFUSED && read_point(reading, child, &points[entry->point_count]))
            entry->point_count++;
    qsort(points, entry->point_count, sizeof *points, by_nodes);
    entry->points = points;
}

/* Least and most nodes; most 0: as many as the platform has. */
static void read_bounds(const struct reading *reading, const struct node *node, const struct job_values *values,
                        struct idle_entry *entry)
{
    const struct stagesim_list *list = &values->nodes;
    entry->least = list->count ? (uint64_t)list->values[0] : entry->points ? entry->points[0].nodes : 1;
    entry->most = list->count                           ? (uint64_t)list->values[list->count - 1]
                  : entry->points && entry->point_count ? entry->points[entry->point_count - 1].nodes
                                                        : 0;
    if (list->count > 2 || (list->count && entry->most < entry->least))
        diag_error(reading->fields.diag, node_place(node, "nodes"),
                   "expected the least and the most nodes such as [1, 64], or one number for both");
}

/* Its mistakes are said now; what becomes of it on n nodes is asked later. */
static void read_scenario(struct reading *reading, const char *file)
{
    struct scenario_request request = {.file = file, .plugins = reading->plugins};
    struct scenario *scenario = scenario_load(&request, reading->fields.arena, reading->fields.diag);
    if (scenario)
        reading->parts[reading->part_count++] = scenario;
}

static void read_job(struct reading *reading, const struct node *node)
{
    struct job_values values = {.count = 1, .grow = 18, .shrink = 12};
    struct diag *diag = reading->fields.diag;
    const struct node *points = node_get(node, "points"), *every = node_get(node, "every");
    if (node->kind != NODE_MAP) {
        diag_error(diag, node->at, "job %s is %s; expected a map such as {points: {1: 2831, 8: 20379}}", node->key,
                   node_describe(node, reading->fields.arena));
        return;
    }
    fields_check_keys(&reading->fields, &job_section, job_others, node);
    fields_read(&reading->fields, &job_section, node, node->at, &values);
    struct idle_entry *entry = &reading->entries[reading->nodes->entry_count++];
    *entry = (struct idle_entry){.job = {.name = node->key,
                                         .at = node->key_at,
                                         .knowledge = values.know,
                                         .samples = values.samples,
                                         .submit = values.submit,
                                         .grow = values.grow,
                                         .shrink = values.shrink},
                                 .curve_at = node_place(node, points ? "points" : "scenario"),
                                 .count = values.count,
                                 .every = values.every,
                                 .scenario = values.scenario};
    if (!points == !node_get(node, "scenario"))
        diag_error(diag, node->key_at,
                   "job %s has %s; expected 'points: {NODES: SAMPLES_PER_SECOND, ...}' or 'scenario: FILE'", node->key,
                   points ? "points and a scenario" : "no throughput");
    else if (points)
        read_points(reading, points, entry);
    else if (values.scenario)
        read_scenario(reading, values.scenario);
    read_bounds(reading, node, &values, entry);
    if (every && values.count == 1)
        diag_error(diag, every->key_at, "there is one such job; expected 'every' with a 'count'");
}

static void read_jobs(struct reading *reading)
{
    const struct node *list = node_get(reading->section, "jobs");
    uint64_t count = 0;
    if (!list || list->kind != NODE_MAP || !list->count) {
        if (!list || list->kind != NODE_REFUSED)
            diag_error(
                reading->fields.diag, list ? list->at : reading->section->at,
                "there are no elastic jobs; expected a map such as jobs: {resnet: {points: {1: 2831, 8: 20379}}}");
        return;
    }
    reading->entries = arena_array(reading->fields.arena, list->count, sizeof *reading->entries);
    reading->nodes->entries = reading->entries;
    reading->parts = arena_array(reading->fields.arena, list->count, sizeof(struct scenario *));
    for (const struct node *child = list->first; child; child = child->next)
        if (child->kind != NODE_REFUSED)
            read_job(reading, child);
    for (size_t i = 0; i < reading->nodes->entry_count; i++)
        count += reading->entries[i].count;
    if (count > IDLE_JOBS_MAX)
        diag_error(reading->fields.diag, list->at, "there are %llu jobs, expected at most %d",
                   (unsigned long long)count, (int)IDLE_JOBS_MAX);
}

/* ---- decisions ---- */

static int by_number(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The sizes to measure: as given, or all powers of two. */
static void read_profile_sizes(const struct reading *reading, const struct stagesim_list *given,
                               struct idle_policy *policy)
{
    size_t count = 0;
    double *sizes = arena_array(reading->fields.arena, given->count + 16, sizeof *sizes);
    for (size_t i = 0; i < given->count; i++)
        sizes[count++] = given->values[i];
    for (uint32_t size = 1; !given->count && size <= CURVE_NODES_MAX; size *= 2)
        sizes[count++] = size;
    qsort(sizes, count, sizeof *sizes, by_number);
    for (size_t i = 0; i < count; i++)
        if (!policy->profile_count || sizes[i] > sizes[policy->profile_count - 1])
            sizes[policy->profile_count++] = sizes[i];
    policy->profile_sizes = sizes;
}

/* A policy for each method, and where it looks forward for each time. */
static void list_policies(struct reading *reading, const struct policy_values *values, struct idle_policy policy)
{
    static const double usual[] = {120};
    const struct stagesim_list times = values->forward.count ? values->forward : (struct stagesim_list){1, usual};
    struct idle_policy *policies = arena_array(reading->fields.arena, 4 * times.count, sizeof *policies);
    size_t count = 0;
    for (size_t k = 0; chooser_table[k]; k++)
        for (size_t i = 0; i < times.count && values->methods >> k & 1; i++) {
            if (i && !chooser_table[k]->forward)
                break;
            policy.chooser = chooser_table[k];
            policy.forward = times.values[i];
            policies[count++] = policy;
        }
    if (count > IDLE_POLICIES_MAX)
        diag_error(reading->fields.diag, node_place(reading->section, "decide.forward"),
                   "there are %zu pairs of a method and a time, expected at most %d", count, (int)IDLE_POLICIES_MAX);
    reading->nodes->policies = policies;
    reading->nodes->policy_count = count;
}

static void read_policies(struct reading *reading)
{
    struct policy_values values = {.methods = 1, .running = 10, .profile = 60};
    const struct node *node = node_get(reading->section, "decide");
    fields_check_keys(&reading->fields, &policy_section, NULL, node);
    fields_read(&reading->fields, &policy_section, node, reading->section->at, &values);
    struct idle_policy policy = {.objective = values.objective,
                                 .running = values.running,
                                 .grow_new = values.grow_rate == 1,
                                 .profile = values.profile};
    read_profile_sizes(reading, &values.profile_sizes, &policy);
    reading->nodes->running_given = node_get(node, "running") != NULL;
    list_policies(reading, &values, policy);
}

/* ---- the whole ---- */

static const char *name_of(const struct node *root, const char *file, struct arena *arena)
{
    const struct node *name = node_get(root, "name");
    if (name && name->kind == NODE_SCALAR && !node_is_empty(name))
        return name->text;
    return path_name(path_name(file, ".yaml", arena), ".yml", arena);
}

struct scenario *idle_read(const struct scenario_request *request, struct node *root, struct arena *arena,
                           struct diag *diag)
{
    unsigned errors = diag->errors;
    struct scenario *scenario = arena_alloc(arena, sizeof *scenario);
    for (size_t i = 0; i < request->set_count; i++)
        scenario_apply_set(root, &request->sets[i], "idle_nodes.decide.running=4", arena, diag);
    struct reading reading = {.fields = {path_directory(request->file, arena), arena, diag, NULL, NULL},
                              .root = root,
                              .plugins = request->plugins,
                              .section = node_get(root, "idle_nodes"),
                              .nodes = arena_alloc(arena, sizeof *reading.nodes)};
    scenario->file = arena_copy(arena, request->file);
    scenario->directory = reading.fields.directory;
    scenario->name = name_of(root, request->file, arena);
    scenario->engine = ENGINE_ANALYTIC;
    scenario->platform_name = scenario->schedule_name = "";
    scenario->whole = reading.nodes;
    scenario_check_keys(&reading.fields, root, idle_keys, "a scenario of idle nodes");
    scenario_read_output(scenario, root, &reading.fields);
    if (scenario->traces & ~(unsigned)(TRACE_CSV | TRACE_PAJE | TRACE_CHROME))
        diag_error(diag, node_place(root, "output.trace"),
                   "idle nodes have no operations; expected csv, paje or chrome");
    if (reading.section->kind != NODE_MAP) {
        if (reading.section->kind != NODE_REFUSED)
            diag_error(diag, reading.section->at, "idle_nodes is %s; expected a map such as {log: idle.csv, jobs: ...}",
                       node_describe(reading.section, arena));
        return NULL;
    }
    read_log(&reading);
    read_jobs(&reading);
    read_policies(&reading);
    if (reading.nodes->policy_count)
        scenario->schedule_name = reading.nodes->policies[0].chooser->name;
    scenario->log = reading.nodes->log;
    scenario->parts = reading.parts;
    scenario->part_count = reading.part_count;
    return diag->errors == errors ? scenario : NULL;
}
