/* SPDX-License-Identifier: Apache-2.0 */
#include "job/scenario/scenario.h"

#include "base/arena.h"
#include "base/path_near.h"
#include "base/paths.h"
#include "base/process/apart.h"
#include "base/words/aliases.h"
#include "job/scenario/plugin.h"
#include "job/scenario/scenario_kind.h"
#include "job/scenario/scenario_parts.h"
#include "job/scenario/scenario_tables.h"
#include "simulator/collectives/msccl/msccl.h"
#include "simulator/program/ends.h"
#include "simulator/program/program.h"

#include <stdlib.h>
#include <string.h>

enum { KEYS_MAX = 64 };

/* ---- the document: overrides, and sections that are files of their own ---- */

static bool is_among(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(*words, word))
            return true;
    return false;
}

static bool is_own_key(const char *key)
{
    return is_among(key, section_names) || fields_known(&root_section, key);
}

/* `model: bert.yaml` stands for the content of that file, whose path comes back; NULL after a mistake. */
static const char *expand_file(struct loader *loader, struct node *node)
{
    struct arena *arena = loader->fields.arena;
    const char *directory = node->at.line ? path_directory(node->at.file, arena) : loader->scenario->directory;
    const char *path = path_of_file(directory, node->text, node->at.line == 0, arena);
    const char *found = path_find_installed(INSTALLED_MODELS, node->text, ".yaml", arena);
    struct fault fault = {0};
    const struct node *content = NULL;
    if (found && !path_check_readable(path, &fault))
        path = found;
    fault.text[0] = '\0';
    if (path_check_readable(path, &fault))
        content = document_load(path, node->at, arena, loader->fields.diag);
    else
        diag_error(loader->fields.diag, node->at, "%s; expected the section's keys, or the file that holds them%s",
                   fault.text,
                   path_suggest_file(INSTALLED_MODELS, directory, node->text, ".yaml", node->at.line == 0, arena));
    content = content ? scenario_model_keys(loader, content) : NULL;
    node->kind = NODE_REFUSED;
    if (!content)
        return NULL;
    node->kind = NODE_MAP;
    node->first = content->first;
    node->last = content->last;
    node->count = content->count;
    return path;
}

/* `model: {file: config.json, sequence: 4096}`: what is written beside the file counts before what is in it. */
static void expand_model(struct loader *loader, struct node *node)
{
    struct node *file = node_get(node, "file");
    if (!file || file->kind != NODE_SCALAR || node_is_empty(file))
        return;
    struct node own = *node, content = *file, *next;
    loader->scenario->model_file = expand_file(loader, &content);
    node->first = node->last = NULL;
    node->count = 0;
    for (struct node *child = own.first; child; child = next) {
        next = child->next;
        child->next = NULL;
        if (child != file)
            node_append(node, child);
    }
    for (struct node *child = content.first; child && content.kind == NODE_MAP; child = next) {
        next = child->next;
        child->next = NULL;
        if (!node_get(&own, child->key))
            node_append(node, child);
    }
    if (content.kind != NODE_MAP)
        node->kind = NODE_REFUSED;
}

/* Makes a map of a section that is written as a single word, and puts a model's file in its place. */
static void expand_section(struct loader *loader, const char *name)
{
    struct node *node = node_get(loader->root, name);
    if (node && node->kind == NODE_MAP && !strcmp(name, "model"))
        expand_model(loader, node);
    if (!node || node->kind != NODE_SCALAR || node_is_empty(node))
        return;
    if (scenario_expand_training(loader, node, name) || scenario_expand_tails(loader, node, name) ||
        scenario_expand_plan(loader, node, name))
        return;
    if (!strcmp(name, "schedule")) /* `schedule: gpipe` is short for `schedule: {name: gpipe}` */
        node_wrap(node, "name", loader->fields.arena);
    else if (!strcmp(name, "platform"))
        scenario_expand_platform(loader, node);
    else if (!strcmp(name, "model"))
        loader->scenario->model_file = expand_file(loader, node);
    else if (!is_own_key(name))
        expand_file(loader, node);
}

/* parallel.tp is parallel.tensor. */
static const char *path_of(const char *typed, struct arena *arena)
{
    static const char section[] = "parallel.";
    if (strncmp(typed, section, sizeof section - 1) != 0)
        return typed;
    return arena_print(arena, "%s%s", section, alias_axis(typed + sizeof section - 1));
}

/* tp, pp, dp, cp and ep are names of axes, too; beside the name itself they are mistakes. */
static void expand_axes(struct loader *loader)
{
    struct node *parallel = node_get(loader->root, parallel_section.name);
    for (struct node *child = parallel && parallel->kind == NODE_MAP ? parallel->first : NULL; child;
         child = child->next)
        if (!node_get(parallel, alias_axis(child->key)))
            child->key = alias_axis(child->key);
}

static void apply_set(struct loader *loader, const struct scenario_set *set)
{
    struct arena *arena = loader->fields.arena;
    const char *equals = strchr(set->text, '=');
    bool plain = !set->option || !strcmp(set->option, "--set");
    const char *key = arena_copy_part(arena, set->text, equals ? (size_t)(equals - set->text) : strlen(set->text));
    struct place at = {.file = plain ? arena_print(arena, "--set %s", key) : set->option};
    if (!equals) {
        diag_error(loader->fields.diag, at, "there is no '='; expected KEY=VALUE such as parallel.pipeline=8");
        return;
    }
    const char *path = path_of(key, arena);
    if (strchr(path, '.'))
        expand_section(loader, arena_copy_part(arena, path, strcspn(path, ".")));
    document_set(loader->root, path, equals + 1, at, arena, loader->fields.diag);
}

/* ---- workload and its sections ---- */

static void read_workload(struct loader *loader, const char *text)
{
    struct fault fault = {0};
    struct scenario *scenario = loader->scenario;
    bool typed = node_place(loader->root, "workload").line == 0;
    const char *path = plugin_path(text, scenario->directory, loader->fields.arena);
    if (path && plugin_is_path(text) && !scenario->request.plugins && !typed)
        fault_set(&fault, "%s is a plug-in, whose code would run with your rights; --plugins lets it", text);
    else if (!path || apart_enter(path, &fault)) {
        scenario->plugin = path;
        scenario->workload = plugin_find(text, scenario->directory, loader->fields.arena, &fault);
        apart_loaded();
    }
    if (!scenario->workload)
        diag_error(loader->fields.diag, node_place(loader->root, "workload"), "workload: %s", fault.text);
}

static bool is_part_among(const char *word, size_t length, const char *const *words)
{
    for (; *words; words++)
        if (!strncmp(*words, word, length) && !(*words)[length])
            return true;
    return false;
}

/* Names of the sections that the workload's fields are in, at most `most` of them. */
static size_t list_sections(const struct stagesim_workload *workload, const char **names, size_t most,
                            struct arena *arena)
{
    size_t count = 0;
    names[0] = NULL;
    for (const struct stagesim_field *field = workload->fields; field && field->key && count < most; field++) {
        const char *dot = strchr(field->key, '.'), *name = dot ? field->key : workload->name;
        size_t length = dot ? (size_t)(dot - field->key) : strlen(name);
        if (is_part_among(name, length, names))
            continue;
        names[count++] = arena_copy_part(arena, name, length);
        names[count] = NULL;
    }
    return count;
}

static void read_sections(struct loader *loader, const char *const *names)
{
    struct scenario *scenario = loader->scenario;
    const struct stagesim_workload *workload = scenario->workload;
    struct arena *arena = loader->fields.arena;
    void *parameters = arena_alloc(arena, workload->parameters_size ? workload->parameters_size : 1);
    if (workload->defaults)
        memcpy(parameters, workload->defaults, workload->parameters_size);
    scenario->parameters = parameters;
    struct place at = node_place(loader->root, "workload");
    for (; *names; names++) {
        if (is_own_key(*names)) {
            diag_error(loader->fields.diag, at, "the workload '%s' wants the section '%s', which is stagesim's own",
                       workload->name, *names);
            continue;
        }
        expand_section(loader, *names);
        struct fields_section section = {*names, !strcmp(*names, workload->name), workload->fields};
        scenario_apply_framework(loader, &section);
        const struct node *node = node_get(loader->root, *names);
        fields_check_keys(&loader->fields, &section,
                          strcmp(*names, communication_section.name) ? NULL : communication_keys, node);
        fields_read(&loader->fields, &section, node, at, parameters);
    }
}

/* Keys of the top level that nobody reads. Without a workload its sections are not known, and only keys that look like
 * misspelt ones of stagesim's own are reported. */
static void check_top_level(struct loader *loader, const char *const *sections)
{
    const char *words[3 * KEYS_MAX];
    size_t count = 0;
    for (const struct stagesim_field *field = root_fields; field->key; field++)
        words[count++] = field->key;
    for (const char *const *name = section_names; *name; name++)
        words[count++] = *name;
    words[count++] = communication_section.name;
    for (; *sections; sections++)
        words[count++] = *sections;
    words[count] = NULL;
    for (const struct node *child = loader->root->first; child; child = child->next)
        if (!is_among(child->key, words) && (loader->scenario->workload || diag_nearest(child->key, words, count)))
            fields_report_unknown(&loader->fields, "the scenario", child, words, count);
}

/* ---- small sections ---- */

/* An algorithm of the user's. NULL after a mistake was reported. */
static const struct collective_algorithm *load_program(struct loader *loader, enum stagesim_collective kind,
                                                       const char *file, struct place at)
{
    struct diag *diag = loader->fields.diag;
    const struct collective_algorithm *program = file ? msccl_load(file, at, loader->fields.arena, diag) : NULL;
    if (program && !(program->kinds & KIND(kind)))
        diag_error(diag, at, "%s is no program for %s", file, collective_name(kind));
    return program;
}

/* The keys that are stagesim's own; those of the workload were read with its other sections. */
static void read_communication(struct loader *loader, const char *const *sections)
{
    struct communication_values values = {.form = 0};
    const struct node *node = node_get(loader->root, communication_section.name);
    struct collective_policy *policy = &loader->scenario->collectives;
    if (!is_among(communication_section.name, sections))
        fields_check_keys(&loader->fields, &communication_section, NULL, node);
    const struct fields_section section = {communication_section.name, true,
                                           communication_fields_create(node, loader->fields.arena)};
    fields_read(&loader->fields, &section, node, loader->root->at, &values);
    for (const struct stagesim_field *field = section.fields; field->key; field++) {
        enum stagesim_collective kind = communication_collective(field);
        if (kind != STAGESIM_COLLECTIVES && field->type == STAGESIM_FIELD_PATH)
            policy->algorithms[kind] =
                load_program(loader, kind, values.programs[kind], node_get(node, field->key)->at);
        else if (kind != STAGESIM_COLLECTIVES)
            policy->algorithms[kind] = collective_algorithm_find(field->names[values.algorithms[kind]]);
    }
    policy->stepwise = values.form == 1;
    loader->scenario->messages = (enum scenario_messages)values.messages;
    scenario_read_links(loader, &values.links);
}

static void read_iterations(struct loader *loader, const char *text)
{
    struct scenario *scenario = loader->scenario;
    char *end;
    unsigned long count = strtoul(text, &end, 10);
    scenario->iterations = 1;
    scenario->settled = !strcmp(text, "settled");
    if (scenario->settled)
        scenario->iterations = ENDS_FEWEST;
    else if (text[0] < '1' || text[0] > '9' || *end || count > SCENARIO_ITERATIONS_MAX)
        diag_error(loader->fields.diag, node_place(loader->root, "iterations"),
                   "'%s' is no number of iterations; expected 1 to %d, or settled", text, (int)SCENARIO_ITERATIONS_MAX);
    else
        scenario->iterations = (uint32_t)count;
    scenario->spelt = !scenario->settled && scenario->iterations > 1;
}

static void read_root(struct loader *loader)
{
    struct scenario *scenario = loader->scenario;
    struct root_values values = {.iterations = "1"};
    const char *sections[KEYS_MAX + 1] = {NULL};
    fields_read(&loader->fields, &root_section, scenario_platform_plain(loader), loader->root->at, &values);
    scenario->engine = (enum scenario_engine)values.engine;
    scenario->fold = (enum scenario_fold)values.fold;
    scenario->steady = (enum scenario_steady)values.steady;
    scenario->placement = (enum scenario_placement)values.placement;
    read_iterations(loader, values.iterations);
    if (values.name)
        scenario->name = values.name;
    if (values.platform)
        scenario_read_platform(loader, values.platform, (enum platform_loader)values.loader);
    scenario->platform_name = scenario->platform.text;
    scenario_read_what_if(loader, &values.what_if);
    if (values.workload)
        read_workload(loader, values.workload);
    if (scenario->workload)
        list_sections(scenario->workload, sections, KEYS_MAX, loader->fields.arena);
    check_top_level(loader, sections);
    if (scenario->workload) {
        read_sections(loader, sections);
        scenario_shape_mesh(loader);
    }
    read_communication(loader, sections);
}

/* What allocators lose to fragments at the least, as measured and as manuals advise; see doc/scenario.md. */
static const double reserve_default = 0.06;

/* "6%", or 0. */
static void read_memory(struct loader *loader)
{
    struct memory_values values = {NULL};
    const struct node *node = node_get(loader->root, memory_section.name);
    fields_check_keys(&loader->fields, &memory_section, NULL, node);
    fields_read(&loader->fields, &memory_section, node, loader->root->at, &values);
    loader->scenario->reserve = reserve_default;
    if (!values.reserve)
        return;
    char *end;
    double percent = strtod(values.reserve, &end);
    bool whole = end != values.reserve && (!strcmp(end, "%") || (*end == '\0' && percent == 0));
    if (whole && percent >= 0 && percent <= 90)
        loader->scenario->reserve = percent / 100;
    else
        diag_error(loader->fields.diag, node_place(loader->root, "memory.reserve"),
                   "reserve is '%.60s'; expected a share from 0%% to 90%%, such as 6%%", values.reserve);
}

static void read_simgrid(struct loader *loader)
{
    const struct node *node = node_get(loader->root, "simgrid");
    struct arena *arena = loader->fields.arena;
    fields_check_keys(&loader->fields, &simgrid_section, NULL, node);
    union simgrid_value value;
    fields_read(&loader->fields, &simgrid_section, node, loader->root->at, &value);
    if (!node || node->kind != NODE_MAP)
        return;
    const char **config = arena_array(arena, node->count, sizeof *config);
    size_t count = 0;
    for (const struct node *child = node->first; child; child = child->next)
        if (child->kind == NODE_SCALAR)
            config[count++] = arena_print(arena, "%s:%s", child->key, child->text);
    loader->scenario->simgrid = config;
    loader->scenario->simgrid_count = count;
}

/* ---- all together ---- */

static void read_scenario(struct loader *loader, const struct scenario_request *request)
{
    unsigned errors = loader->fields.diag->errors;
    loader->fields.paths = scenario_key_paths;
    loader->fields.user = loader;
    expand_section(loader, "schedule");
    scenario_read_framework(loader);
    scenario_read_mesh(loader);
    scenario_read_batch(loader);
    scenario_read_schedule(loader, request->schedule);
    bool sound = loader->fields.diag->errors == errors;
    if (sound && !request->schedule && loader->scenario->schedule && loader->scenario->micro_batches)
        scenario_check_pipeline(loader->scenario, loader->fields.diag);
    read_root(loader);
    scenario_read_output_keys(loader);
    read_memory(loader);
    scenario_read_power(loader);
    scenario_read_training(loader);
    scenario_read_tails(loader);
    scenario_read_search(loader);
    scenario_read_plan(loader);
    read_simgrid(loader);
    scenario_check_inputs(loader);
    scenario_read_imported(loader);
    if (loader->fields.diag->errors == errors)
        scenario_check_needs(loader);
}

static struct scenario *finish(const struct scenario_request *request, struct node *root, unsigned errors,
                               struct arena *arena, struct diag *diag)
{
    if (!root)
        return NULL;
    struct scenario *scenario = arena_alloc(arena, sizeof *scenario);
    scenario->file = arena_copy(arena, request->file);
    scenario->name = path_name(path_name(request->file, ".yaml", arena), ".yml", arena);
    scenario->directory = path_directory(request->file, arena);
    scenario->root = root;
    scenario->request = *request;
    struct loader loader = {.scenario = scenario, .root = root, .fields = {scenario->directory, arena, diag}};
    expand_axes(&loader);
    for (size_t i = 0; i < request->set_count; i++)
        apply_set(&loader, &request->sets[i]);
    expand_axes(&loader);
    read_scenario(&loader, request);
    diag_rest(diag);
    return diag->errors == errors ? scenario : NULL;
}

struct scenario_request scenario_request_with(const struct scenario_request *request, const struct scenario_set *sets,
                                              size_t count, struct arena *arena)
{
    struct scenario_request longer = *request;
    struct scenario_set *all = arena_array(arena, request->set_count + count + 1, sizeof *all);
    if (request->set_count)
        memcpy(all, request->sets, request->set_count * sizeof *all);
    if (count)
        memcpy(all + request->set_count, sets, count * sizeof *all);
    longer.sets = all;
    longer.set_count += count;
    return longer;
}

/* ---- more than one job ---- */

const struct scenario_kind *const *scenario_kinds;

void scenario_apply_set(struct node *root, const struct scenario_set *set, const char *example, struct arena *arena,
                        struct diag *diag)
{
    const char *equals = strchr(set->text, '=');
    bool plain = !set->option || !strcmp(set->option, "--set");
    const char *path = arena_print(arena, "%.*s", (int)strcspn(set->text, "="), set->text);
    struct place at = {.file = plain ? arena_print(arena, "--set %s", path) : set->option};
    if (equals)
        document_set(root, path, equals + 1, at, arena, diag);
    else
        diag_error(diag, at, "there is no '='; expected KEY=VALUE such as %s", example);
}

void scenario_read_output(struct scenario *scenario, struct node *root, const struct fields_reader *fields)
{
    struct loader loader = {.scenario = scenario, .root = root, .fields = *fields};
    scenario_read_output_keys(&loader);
}

static const struct scenario_kind *find_kind(const struct node *root)
{
    for (const struct scenario_kind *const *kind = scenario_kinds; root && kind && *kind; kind++)
        if (node_get(root, (*kind)->key))
            return *kind;
    return NULL;
}

static struct scenario *read_kind(const struct scenario_kind *kind, const struct scenario_request *request,
                                  struct node *root, unsigned errors, struct arena *arena, struct diag *diag)
{
    struct scenario *scenario = NULL;
    if (request->kinds && request->schedule && !kind->schedules)
        diag_error(diag, node_get(root, kind->key)->key_at,
                   "'%s' makes this a scenario of %s, which has no schedule for another to take the place of",
                   kind->key, kind->summary);
    else if (request->kinds)
        scenario = kind->read(request, root, arena, diag);
    else
        diag_error(diag, node_get(root, kind->key)->key_at,
                   "'%s' makes this a scenario of %s, which %s take; expected one of a job", kind->key, kind->summary,
                   kind->rows || kind->figure ? "run, compare, check and sweep" : "run and check");
    diag_rest(diag);
    if (!scenario || diag->errors > errors)
        return NULL;
    scenario->kind = kind;
    scenario->root = root;
    scenario->request = *request;
    return scenario;
}

struct scenario *scenario_load_part(const struct scenario_request *request, struct node *root, const char *name,
                                    struct arena *arena, struct diag *diag)
{
    struct scenario *scenario = finish(request, root, diag->errors, arena, diag);
    if (scenario && name)
        scenario->name = name;
    return scenario;
}

struct scenario *scenario_load(const struct scenario_request *request, struct arena *arena, struct diag *diag)
{
    unsigned errors = diag->errors;
    struct place at = {.file = arena_copy(arena, request->file)};
    struct node *root = document_load(request->file, at, arena, diag);
    const struct scenario_kind *kind = find_kind(root);
    return kind ? read_kind(kind, request, root, errors, arena, diag) : finish(request, root, errors, arena, diag);
}
