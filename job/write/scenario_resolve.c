/* SPDX-License-Identifier: Apache-2.0 */
#include "job/write/scenario_resolve.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "base/document.h"
#include "base/paths.h"
#include "job/scenario/plugin.h"
#include "job/scenario/scenario_tables.h"
#include "job/scenario/schedule_option.h"
#include "job/write/field_text.h"
#include "job/write/inputs.h"
#include "job/write/relative.h"
#include "job/write/scenario_write.h"
#include "platforms/settings.h"

#include <stdlib.h>
#include <string.h>

struct resolving {
    FILE *out;
    const struct scenario *scenario;
    const char *directory;
    struct arena *arena;
    const struct scenario_input *inputs; /* input_count of them */
    size_t input_count;
    bool study; /* values will be changed: what follows from them is left open */
};

/* A section that is being written: its name goes before its first value. */
struct section {
    const struct resolving *resolving;
    const char *name;
    FILE *lines;
    char *text;
    size_t size;
    bool values; /* a key has one */
};

static void section_begin(struct section *section, const struct resolving *resolving, const char *name)
{
    *section = (struct section){.resolving = resolving, .name = name};
    section->lines = memory_stream_open(&section->text, &section->size);
}

/* A section without a value would not be the same as none. */
static void section_end(struct section *section)
{
    FILE *out = section->resolving->out;
    memory_stream_close(section->lines);
    if (*section->text)
        fprintf(out, section->values ? "%s:\n%s" : "# %s: not given\n%s", section->name, section->text);
    free(section->text);
}

/* text NULL: there is no value, and `doc` says what is done then. */
static void write_key(struct section *section, const char *key, const char *text, const char *doc)
{
    section->values |= text != NULL;
    if (text)
        fprintf(section->lines, "  %s: %s\n", key, text);
    else
        fprintf(section->lines, "  # %s: (%s)\n", key, doc ? doc : "not given");
}

static const char *text_of(const struct resolving *resolving, const struct stagesim_field *field, const void *values)
{
    return field_text(field, values, resolving->directory, resolving->arena);
}

/* What changes nothing and is the framework's, which gives it again, or would be refused: a remark in its place. */
static bool is_left_out(const struct section *section, const char *key)
{
    const struct resolving *resolving = section->resolving;
    const char *path = arena_print(resolving->arena, "%s.%s", section->name, key);
    const struct scenario_unmet *unmet = scenario_unmet_find(resolving->scenario, path);
    return unmet && (unmet->profile || (unmet->refused && !resolving->study));
}

/* A value that counts, or what is said in its place. */
static void write_effective(struct section *section, const char *key, const char *text, const char *doc)
{
    bool left_out = text && is_left_out(section, key);
    if (left_out)
        doc = arena_print(section->resolving->arena, "%s, which changes nothing here", text);
    write_key(section, key, left_out ? NULL : text, doc);
}

/* All keys of a table that are in the section. */
static void write_fields(struct section *section, const struct fields_section *table, const void *values)
{
    for (const struct stagesim_field *field = table->fields; field && field->key; field++) {
        const char *key = fields_key(table, field);
        if (key)
            write_effective(section, key, text_of(section->resolving, field, values), field->doc);
    }
}

/* Reads what the scenario gives over the defaults in `values`. */
static void read_given(const struct resolving *resolving, const struct fields_section *table, void *values)
{
    struct diag silent = {0};
    const struct node *root = resolving->scenario->root;
    struct fields_reader reader = {resolving->scenario->directory, resolving->arena, &silent, NULL};
    fields_read(&reader, table, table == &root_section ? root : node_get(root, table->name), root->at, values);
}

static void write_own(const struct resolving *resolving, const struct fields_section *table, const void *values)
{
    struct section section;
    section_begin(&section, resolving, table->name);
    write_fields(&section, table, values);
    section_end(&section);
}

/* ---- stagesim's own sections ---- */

static void write_platform(const struct resolving *resolving)
{
    const struct platform_source *source = &resolving->scenario->platform;
    const struct platform_request *request = &source->request;
    struct platform_values values = {.preset = source->file ? NULL : request->preset,
                                     .nic = request->nic,
                                     .nodes = request->nodes,
                                     .gpus_per_node = request->per_node,
                                     .pod = request->pod,
                                     .oversubscription = request->oversubscription,
                                     .group = request->group,
                                     .group_oversubscription = request->group_oversubscription,
                                     .group_links = request->group_direct,
                                     .flow_rate = request->flow_rate,
                                     .flow_window = request->flow_window,
                                     .sites = request->sites,
                                     .site_rate = request->site_rate,
                                     .site_latency = request->site_latency,
                                     .torus = request->torus,
                                     .rails = request->rails,
                                     .routing = request->ecmp ? ROUTING_ECMP : ROUTING_ADAPTIVE,
                                     .paths = request->paths,
                                     .flows = request->flows,
                                     .seed = request->seed};
    if (platform_source_is_product(source))
        values.preset = path_relative(resolving->directory, request->preset, resolving->arena);
    if (source->file)
        values.file = path_relative(resolving->directory, source->file, resolving->arena);
    struct section section;
    section_begin(&section, resolving, platform_section.name);
    for (const struct stagesim_field *field = platform_fields; field->key; field++) {
        bool applies = !source->file || !strcmp(field->key, "file");
        write_key(&section, field->key, applies ? text_of(resolving, field, &values) : NULL, field->doc);
    }
    section_end(&section);
}

/* The workload as it is found from the new place. */
static const char *workload_text(const struct resolving *resolving)
{
    const char *text = node_find(resolving->scenario->root, "workload")->text;
    const char *path = plugin_path(text, resolving->scenario->directory, resolving->arena);
    if (!path || !plugin_is_path(text))
        return text;
    const char *way = path_relative(resolving->directory, path, resolving->arena);
    return strchr(way, '/') ? way : arena_print(resolving->arena, "./%s", way);
}

/* The name of an installed profile, with a release or without, or the file's as it is found from the new place. */
static const char *framework_text(const struct resolving *resolving, const char *text)
{
    const char *file = resolving->scenario->framework_file;
    const char *name = arena_print(resolving->arena, "%.*s", (int)strcspn(text, "@"), text);
    if (!file || path_find_installed(INSTALLED_FRAMEWORKS, text, ".yaml", resolving->arena) ||
        (strchr(text, '@') && path_find_installed(INSTALLED_FRAMEWORKS, name, ".yaml", resolving->arena)))
        return text;
    return path_relative(resolving->directory, file, resolving->arena);
}

static void write_root(const struct resolving *resolving)
{
    static const char *const unchanged[] = {"none"};
    struct root_values values = {.iterations = "1", .what_if = {1, unchanged}, .framework = "none"};
    read_given(resolving, &root_section, &values);
    values.workload = workload_text(resolving);
    values.framework = framework_text(resolving, values.framework);
    values.name = resolving->scenario->name;
    for (const struct stagesim_field *field = root_fields; field->key; field++)
        if (!strcmp(field->key, platform_section.name))
            write_platform(resolving);
        else
            fprintf(resolving->out, "%s: %s\n", field->key, text_of(resolving, field, &values));
}

/* Without an order every axis has its place, so that its size may be changed. */
static void write_order(const struct resolving *resolving)
{
    const struct node *order = node_get(resolving->scenario->root, "order");
    const char *between = "";
    fputs("order: [", resolving->out);
    for (const struct node *entry = order ? order->first : NULL; entry; entry = entry->next, between = ", ")
        fprintf(resolving->out, "%s%s", between, entry->text);
    for (unsigned axis = 0; axis < AXIS_NAMES && !order; axis++)
        if (axis != AXIS_EXPERT) {
            fprintf(resolving->out, "%s%s", between, axis_names[axis]);
            between = ", ";
        }
    fputs("]\n", resolving->out);
}

static void write_parallel(const struct resolving *resolving)
{
    const struct scenario *scenario = resolving->scenario;
    uint64_t sizes[PARALLEL_SIZES] = {0}; /* 0: expert_tensor follows from tensor */
    for (unsigned i = 0; i < AXIS_NAMES; i++)
        sizes[i] = mesh_size(&scenario->mesh, axis_names[i]);
    const struct node *given = node_find(scenario->root, "parallel.expert_tensor");
    if (given)
        sizes[SIZE_EXPERT_TENSOR] = strtoull(given->text, NULL, 10);
    write_own(resolving, &parallel_section, sizes);
    write_order(resolving);
}

/* Any two give the third: it is a comment, so that another one may be changed. */
static void write_batch(const struct resolving *resolving)
{
    const struct scenario *scenario = resolving->scenario;
    struct batch_values values = {.global = scenario->global_batch,
                                  .micro = scenario->micro_batch_size,
                                  .micro_batches = scenario->micro_batches};
    const struct node *given = node_get(scenario->root, batch_section.name);
    struct section section;
    section_begin(&section, resolving, batch_section.name);
    for (const struct stagesim_field *field = batch_fields; field->key; field++) {
        const char *text = text_of(resolving, field, &values), *doc = field->doc;
        bool follows = text && !node_get(given, field->key);
        if (follows)
            doc = arena_print(resolving->arena, "%s, which follows from the others", text);
        write_key(&section, field->key, follows ? NULL : text, doc);
    }
    section_end(&section);
}

/* The option's value; NULL where it stands for what follows from the rest. */
static const char *option_text(const struct resolving *resolving, const struct schedule_option *option, int64_t value)
{
    struct diag silent = {0};
    struct fields_reader reader = {".", resolving->arena, &silent, NULL};
    struct node node = {.kind = NODE_SCALAR, .at = {.file = option->key}, .key = option->key};
    node.text = schedule_option_text(option, value, &resolving->scenario->stashes, resolving->arena);
    int64_t read;
    struct schedule_stashes each;
    return schedule_option_read(&reader, option, &node, &read, &each) && read == value ? node.text : NULL;
}

/* In a study other schedules have defaults of their own. */
static void write_option(struct section *section, const struct schedule_option *option, int64_t value)
{
    const struct resolving *resolving = section->resolving;
    const char *text = option_text(resolving, option, value), *doc = option->doc;
    char path[80];
    snprintf(path, sizeof path, "%s.%s", schedule_section.name, option->key);
    bool left = text && resolving->study && !node_find(resolving->scenario->root, path);
    if (left)
        doc = arena_print(resolving->arena, "%s, the default of this schedule", text);
    write_key(section, option->key, left ? NULL : text, doc);
}

/* One word, or one for each stage. */
static struct stagesim_texts recompute_words(const struct scenario *scenario, struct arena *arena)
{
    size_t count = scenario->recompute_of ? scenario->recompute_count : 1;
    const char **words = arena_array(arena, count, sizeof *words);
    for (size_t i = 0; i < count; i++)
        words[i] = scenario_recompute_names[scenario->recompute_of ? scenario->recompute_of[i] : scenario->recompute];
    return (struct stagesim_texts){count, words};
}

static void write_schedule(const struct resolving *resolving)
{
    const struct scenario *scenario = resolving->scenario;
    const struct schedule *schedule = scenario->schedule;
    if (!schedule && !scenario->schedule_file)
        return;
    struct schedule_values values = {.name = schedule ? schedule->name : NULL,
                                     .file = scenario->schedule_file,
                                     .recompute = recompute_words(scenario, resolving->arena)};
    struct section section;
    section_begin(&section, resolving, schedule_section.name);
    write_fields(&section, &schedule_section, &values);
    for (unsigned i = 0; schedule && schedule->options && schedule->options[i].key; i++)
        write_option(&section, &schedule->options[i], scenario->options[i]);
    section_end(&section);
}

/* With the workload's keys that are in the same section. */
static void write_communication(const struct resolving *resolving)
{
    static const char *const unchanged[] = {"none"};
    struct communication_values values = {.links = {1, unchanged}};
    const struct scenario *scenario = resolving->scenario;
    struct fields_section table = communication_section;
    table.fields = communication_fields_create(node_get(scenario->root, communication_section.name), resolving->arena);
    read_given(resolving, &table, &values);
    struct section section;
    section_begin(&section, resolving, communication_section.name);
    write_fields(&section, &table, &values);
    table = (struct fields_section){communication_section.name, false, scenario->workload->fields};
    write_fields(&section, &table, scenario->parameters);
    section_end(&section);
}

static void write_memory(const struct resolving *resolving)
{
    struct memory_values values = {arena_print(resolving->arena, "%.15g%%", 100 * resolving->scenario->reserve)};
    write_own(resolving, &memory_section, &values);
}

static void write_power(const struct resolving *resolving)
{
    struct power_values values = power_defaults;
    if (!resolving->scenario->power.given)
        return;
    struct fields_section section =
        power_section_create(node_get(resolving->scenario->root, power_section.name), resolving->arena);
    read_given(resolving, &section, &values);
    write_own(resolving, &section, &values);
}

static void write_training(const struct resolving *resolving)
{
    static const struct fields_section *const sections[] = {&training_section, &failures_section, &checkpoint_section};
    struct training_values values = training_values_default(resolving->arena);
    if (!resolving->scenario->training.given)
        return;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        read_given(resolving, sections[i], &values);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        write_own(resolving, sections[i], &values);
}

static void write_tails(const struct resolving *resolving)
{
    struct tails_values values = tails_defaults;
    if (!resolving->scenario->tails.given)
        return;
    read_given(resolving, &tails_section, &values);
    values.like = resolving->scenario->tails.like;
    write_own(resolving, &tails_section, &values);
}

static void write_output(const struct resolving *resolving)
{
    struct output_values values = {0};
    read_given(resolving, &output_section, &values);
    write_own(resolving, &output_section, &values);
}

/* SimGrid's settings have no default that would be stagesim's to write: those of its network model differ. */
static void write_simgrid(const struct resolving *resolving)
{
    struct section section;
    section_begin(&section, resolving, simgrid_section.name);
    for (const struct stagesim_field *field = simgrid_settings; field->key; field++) {
        const struct node *node = node_get(node_get(resolving->scenario->root, simgrid_section.name), field->key);
        write_key(&section, field->key, node ? node->text : NULL, field->doc);
    }
    section_end(&section);
}

static void write_inputs(const struct resolving *resolving)
{
    struct section section;
    const struct scenario_input *list = resolving->inputs;
    section_begin(&section, resolving, inputs_section_name);
    for (size_t i = 1; i < resolving->input_count && section.lines; i++) {
        if (!list[i].file)
            continue;
        fputs("  ", section.lines);
        scenario_write_text(section.lines, path_relative(resolving->directory, list[i].file, resolving->arena), false);
        fprintf(section.lines, ": %s\n", list[i].sha256);
        section.values = true;
    }
    section_end(&section);
}

/* ---- the workload's sections ---- */

/* A table that is a file of its own stays one. */
static const char *rows_file(const struct resolving *resolving, const char *name, const char *key)
{
    const struct node *node = node_get(node_get(resolving->scenario->root, name), key);
    if (!node || node->kind != NODE_SCALAR)
        return NULL;
    const char *role = arena_print(resolving->arena, "%s.%s", name, key);
    for (size_t i = 0; i < resolving->input_count; i++)
        if (!strcmp(resolving->inputs[i].role, role))
            return path_relative(resolving->directory, resolving->inputs[i].file, resolving->arena);
    return NULL;
}

/* Columns that some rows have no value of. */
static void write_columns(struct section *section, const char *key, const struct stagesim_field *field)
{
    const struct resolving *resolving = section->resolving;
    const struct stagesim_rows *rows = (const void *)((const char *)resolving->scenario->parameters + field->offset);
    for (const struct stagesim_field *column = field->rows->fields; column->key; column++) {
        bool whole = true;
        for (size_t i = 0; i < rows->count && whole; i++)
            whole = text_of(resolving, column, (const char *)rows->rows + i * field->rows->size);
        if (!whole)
            write_key(section, arena_print(resolving->arena, "%s[].%s", key, column->key), NULL, column->doc);
    }
}

static void write_workload_section(const struct resolving *resolving, const char *name)
{
    const struct scenario *scenario = resolving->scenario;
    const struct fields_section table = {name, !strcmp(name, scenario->workload->name), scenario->workload->fields};
    struct section section;
    section_begin(&section, resolving, name);
    if (!strcmp(name, "model") && scenario->model_file)
        write_key(&section, "file", path_relative(resolving->directory, scenario->model_file, resolving->arena), NULL);
    for (const struct stagesim_field *field = table.fields; field && field->key; field++) {
        const char *key = fields_key(&table, field), *file = NULL;
        if (key && field->type == STAGESIM_FIELD_ROWS)
            file = rows_file(resolving, name, key);
        if (key && field->type == STAGESIM_FIELD_ROWS && !file)
            write_columns(&section, key, field);
        if (key)
            write_effective(&section, key, file ? file : text_of(resolving, field, scenario->parameters), field->doc);
    }
    section_end(&section);
}

/* In the order of the workload's table; each once. */
static void write_workload(const struct resolving *resolving)
{
    const struct stagesim_workload *workload = resolving->scenario->workload;
    const char *names[64];
    size_t count = 0;
    for (const struct stagesim_field *field = workload->fields; field && field->key && count < 64; field++) {
        const char *dot = strchr(field->key, '.'), *name = workload->name;
        if (dot)
            name = arena_print(resolving->arena, "%.*s", (int)(dot - field->key), field->key);
        bool known = !strcmp(name, communication_section.name);
        for (size_t i = 0; i < count; i++)
            known |= !strcmp(names[i], name);
        if (!known)
            names[count++] = name;
    }
    for (size_t i = 0; i < count; i++)
        write_workload_section(resolving, names[i]);
}

/* What is asked about many layouts and clusters. */
static void write_studies(const struct resolving *resolving)
{
    const struct scenario *scenario = resolving->scenario;
    write_own(resolving, &search_section, &scenario->search);
    if (scenario->plan.given)
        write_own(resolving, &plan_section, &scenario->plan);
    if (scenario->plan.offers.count)
        write_own(resolving, &prices_section, &scenario->plan);
}

bool scenario_write_resolved(FILE *out, const struct scenario *scenario, const char *directory, bool study,
                             const char *remark, struct fault *fault)
{
    struct resolving resolving = {
        .out = out, .scenario = scenario, .directory = directory, .arena = arena_create(), .study = study};
    resolving.inputs = scenario_input_list(scenario, &resolving.input_count, resolving.arena, fault);
    if (resolving.inputs) {
        fprintf(out, "# %s\n", remark);
        write_root(&resolving);
        write_parallel(&resolving);
        write_batch(&resolving);
        write_schedule(&resolving);
        write_communication(&resolving);
        write_workload(&resolving);
        write_memory(&resolving);
        write_power(&resolving);
        write_training(&resolving);
        write_tails(&resolving);
        write_output(&resolving);
        write_simgrid(&resolving);
        if (study)
            write_studies(&resolving);
        if (scenario->imported)
            write_own(&resolving, &imported_section, scenario->imported);
        write_inputs(&resolving);
    }
    arena_destroy(resolving.arena);
    return resolving.inputs != NULL;
}
