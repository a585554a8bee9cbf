/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of `pairs:`. */
#include "cluster/power/pairs_parts.h"

#include "abi/fields/fields.h"
#include "base/arena.h"
#include "base/paths.h"
#include "base/quantity.h"
#include "job/schema/schema_value.h"

#include <stdlib.h>

static const char *const objectives[] = {"throughput", "energy", "energy-delay", NULL};

struct pairs_values {
    struct stagesim_texts jobs, caps;
    double budget;
    unsigned objective;
};

static const struct stagesim_field fields[] = {
    {"jobs", STAGESIM_FIELD_TEXTS, offsetof(struct pairs_values, jobs), .required = true,
     .doc = "scenarios, two or more"},
    {"caps", STAGESIM_FIELD_TEXTS, offsetof(struct pairs_values, caps), .required = true,
     .doc = "watts that each GPU of a job may draw, such as [100W, 150W]"},
    {"budget", STAGESIM_FIELD_WATTS, offsetof(struct pairs_values, budget), .required = true, .least = 1e-3,
     .most = 1e12, .doc = "watts that all GPUs of both jobs may draw together"},
    {"objective", STAGESIM_FIELD_NAME, offsetof(struct pairs_values, objective), .names = objectives,
     .doc =
         "what makes a pair the best: most throughput, least energy, or least energy times time; default throughput"},
    {0},
};
static const struct fields_section section = {"pairs", true, fields};
const char *const pairs_keys[] = {"platform", "pairs", "name", NULL};

void pairs_schema(struct json_writer *json)
{
    schema_section(json, section.name, &section, NULL);
}

struct reading {
    const struct scenario_request *request;
    struct node *root;
    const struct node *node; /* of `pairs` */
    struct arena *arena;
    struct diag *diag;
    struct pairs *pairs;
    struct scenario **parts;
};

static const struct node *entry(const struct node *list, size_t index)
{
    const struct node *at = list->kind == NODE_LIST ? list->first : list;
    while (index-- && at->next)
        at = at->next;
    return at;
}

static void take_caps(struct reading *reading, const struct pairs_values *values)
{
    struct pairs *pairs = reading->pairs;
    const struct node *list = node_get(reading->node, "caps");
    double *caps = arena_array(reading->arena, values->caps.count, sizeof *caps);
    struct quantity_reason reason;
    pairs->caps = caps;
    pairs->cap_count = values->caps.count;
    pairs->cap_texts = values->caps.texts;
    if (values->caps.count > PAIRS_CAPS_MAX)
        diag_error(reading->diag, list->at, "caps: there are %zu; expected at most %d", values->caps.count,
                   PAIRS_CAPS_MAX);
    for (size_t i = 0; i < values->caps.count; i++)
        if (!quantity_parse(QUANTITY_POWER, values->caps.texts[i], &caps[i], &reason))
            diag_error(reading->diag, entry(list, i)->at, "caps: %s", reason.text);
        else if (i && !(caps[i] > caps[i - 1]))
            diag_error(reading->diag, entry(list, i)->at,
                       "caps: %s is not above the one before it; expected ascending caps", values->caps.texts[i]);
}

/* A job as `run` takes it, on the platform of the pairs and with watts. */
static struct scenario *load_job(struct reading *reading, const struct node *file, const char *platform)
{
    struct arena *arena = reading->arena;
    const char *path =
        path_of_file(path_directory(reading->request->file, arena), file->text, file->at.line == 0, arena);
    struct fault fault = {""};
    if (!path_check_readable(path, &fault)) {
        diag_error(reading->diag, file->at, "jobs: %s; expected a scenario's file", fault.text);
        return NULL;
    }
    struct scenario_set *sets = arena_array(arena, 3, sizeof *sets);
    sets[0].text = arena_print(arena, "platform=%s", platform);
    sets[1].text = arena_print(arena, "power.cap=%s", reading->pairs->cap_texts[reading->pairs->cap_count - 1]);
    sets[2].text = "engine=analytic";
    struct scenario_request request = {
        .file = path, .sets = sets, .set_count = 3, .plugins = reading->request->plugins};
    return scenario_load(&request, arena, reading->diag);
}

/* Where the platform is seen from anywhere; NULL with the mistake reported. */
static const char *platform_of(struct reading *reading)
{
    const struct node *node = node_get(reading->root, "platform");
    const char *directory = path_directory(reading->request->file, reading->arena);
    if (node && node->kind == NODE_REFUSED)
        return NULL;
    if (!node || (node->kind != NODE_SCALAR && node->kind != NODE_MAP) || node_is_empty(node)) {
        diag_error(reading->diag, node ? node->at : reading->root->at,
                   "expected 'platform', a file or a preset such as dgx-a100:1");
        return NULL;
    }
    return scenario_platform_value(node, directory, reading->arena);
}

static void load_jobs(struct reading *reading, const struct pairs_values *values)
{
    const char *platform = platform_of(reading);
    const struct node *list = node_get(reading->node, "jobs");
    unsigned errors = reading->diag->errors;
    reading->parts = arena_array(reading->arena, values->jobs.count + 1, sizeof *reading->parts);
    if (values->jobs.count < 2 || values->jobs.count > PAIRS_JOBS_MAX)
        diag_error(reading->diag, list->at, "jobs: there are %zu; expected 2 to %d", values->jobs.count,
                   PAIRS_JOBS_MAX);
    for (size_t i = 0; platform && i < values->jobs.count && reading->diag->errors == errors; i++)
        reading->parts[i] = load_job(reading, entry(list, i), platform);
    reading->pairs->count = (uint32_t)values->jobs.count;
}

struct scenario *pairs_read(const struct scenario_request *request, struct node *root, struct arena *arena,
                            struct diag *diag)
{
    struct reading reading = {.request = request,
                              .root = root,
                              .arena = arena,
                              .diag = diag,
                              .pairs = arena_alloc(arena, sizeof(struct pairs))};
    unsigned errors = diag->errors;
    struct pairs_values values = {{0}};
    for (size_t i = 0; i < request->set_count; i++)
        scenario_apply_set(root, &request->sets[i], "pairs.budget=300W", arena, diag);
    reading.node = node_get(root, "pairs");
    struct fields_reader reader = {path_directory(request->file, arena), arena, diag};
    scenario_check_keys(&reader, root, pairs_keys, "a scenario of pairs");
    fields_check_keys(&reader, &section, NULL, reading.node);
    fields_read(&reader, &section, reading.node, root->at, &values);
    if (diag->errors == errors && values.caps.count)
        take_caps(&reading, &values);
    if (diag->errors == errors)
        load_jobs(&reading, &values);
    if (diag->errors != errors)
        return NULL;
    reading.pairs->budget = values.budget;
    reading.pairs->objective = (enum pairs_objective)values.objective;
    struct scenario *scenario = arena_alloc(arena, sizeof *scenario);
    *scenario = *reading.parts[0];
    scenario->file = arena_copy(arena, request->file);
    scenario->name = path_name(path_name(request->file, ".yaml", arena), ".yml", arena);
    scenario->schedule = NULL;
    scenario->schedule_file = NULL;
    scenario->schedule_name = arena_print(arena, "%u jobs", reading.pairs->count);
    scenario->whole = reading.pairs;
    scenario->parts = reading.parts;
    scenario->part_count = reading.pairs->count;
    return scenario;
}
