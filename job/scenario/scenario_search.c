/* SPDX-License-Identifier: Apache-2.0 */
/* The section `search`: values of keys that stand elsewhere in the scenario, checked by the tables of those. */
#include "base/arena.h"
#include "job/scenario/scenario_parts.h"
#include "job/scenario/scenario_tables.h"

#include <string.h>

#define DIMENSION(key, path, role, defaults, text) {#key, path, defaults, role},

const struct search_dimension_line search_dimensions[DIMENSIONS] = {SEARCH_DIMENSIONS(DIMENSION)};

/* ---- the key of a dimension ---- */

static const struct stagesim_field *find_in(const struct fields_section *section, const char *key)
{
    for (const struct stagesim_field *field = section->fields; field && field->key; field++) {
        const char *known = fields_key(section, field);
        if (known && !strcmp(known, key))
            return field;
    }
    return NULL;
}

/* A key of stagesim's own, or of the workload; NULL: there is none. */
static const struct stagesim_field *find_field(const struct scenario *scenario, const char *path)
{
    static const struct fields_section *const own[] = {&parallel_section,      &batch_section,      &schedule_section,
                                                       &communication_section, &power_section,      &training_section,
                                                       &failures_section,      &checkpoint_section, &tails_section};
    const char *dot = strchr(path, '.'), *key = dot + 1;
    size_t length = (size_t)(dot - path);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strlen(own[i]->name) == length && !strncmp(path, own[i]->name, length)) {
            const struct stagesim_field *field = find_in(own[i], key);
            if (field)
                return field;
        }
    const struct stagesim_workload *workload = scenario->workload;
    for (const struct stagesim_field *field = workload ? workload->fields : NULL; field && field->key; field++) {
        bool section = strlen(workload->name) == length && !strncmp(path, workload->name, length);
        if (!strcmp(field->key, path) || (section && !strcmp(field->key, key)))
            return field;
    }
    return NULL;
}

static const struct schedule_option *find_option(const char *key)
{
    for (const struct schedule *const *schedule = schedule_table; *schedule; schedule++) {
        const struct schedule_option *option = schedule_find_option(*schedule, key);
        if (option)
            return option;
    }
    return NULL;
}

bool scenario_has_dimension(const struct scenario *scenario, enum search_dimension dimension)
{
    const struct search_dimension_line *line = &search_dimensions[dimension];
    return line->role == SEARCH_OPTION || find_field(scenario, line->path);
}

const char *const *scenario_dimension_words(const struct scenario *scenario, enum search_dimension dimension)
{
    static const char *const flags[] = {"false", "true", NULL};
    const struct search_dimension_line *line = &search_dimensions[dimension];
    if (line->role == SEARCH_OPTION) {
        const struct schedule_option *option = find_option(strchr(line->path, '.') + 1);
        return option ? option->names : NULL;
    }
    const struct stagesim_field *field = find_field(scenario, line->path);
    return !field ? NULL : field->type == STAGESIM_FIELD_FLAG ? flags : field->names;
}

/* ---- reading ---- */

/* Schedules may have options of the same name and another kind. */
static bool is_taken(const char *key, const char *text)
{
    for (const struct schedule *const *schedule = schedule_table; *schedule; schedule++) {
        const struct schedule_option *option = schedule_find_option(*schedule, key);
        if (option && schedule_option_takes(option, text))
            return true;
    }
    return false;
}

static void check_option(struct loader *loader, const struct search_dimension_line *line, const struct node *value)
{
    const struct schedule_option *option = find_option(strchr(line->path, '.') + 1);
    const char *key = line->key;
    uint64_t count;
    unsigned index;
    if (value->kind == NODE_SCALAR && option && is_taken(option->key, value->text))
        return;
    if (option && option->names) {
        fields_read_word(&loader->fields, key, value, option->names, &index);
        return;
    }
    struct stagesim_field field = {.key = key, .type = STAGESIM_FIELD_COUNT, .least = 0, .most = 0x1p32};
    fields_read_value(&loader->fields, &field, key, value, &count);
}

static void check_value(struct loader *loader, enum search_dimension dimension, const struct node *value)
{
    const struct search_dimension_line *line = &search_dimensions[dimension];
    if (line->role == SEARCH_SCHEDULE) {
        const char *name;
        struct stagesim_field field = {.key = line->key, .type = STAGESIM_FIELD_TEXT};
        if (fields_read_value(&loader->fields, &field, line->key, value, &name) && strcmp(name, "all") != 0)
            scenario_find_schedule(loader, value->text, value->at);
        return;
    }
    if (line->role == SEARCH_OPTION) {
        check_option(loader, line, value);
        return;
    }
    const struct stagesim_field *field = find_field(loader->scenario, line->path);
    if (!field)
        return;
    struct stagesim_field alone = *field; /* the value is read into memory of its own, not into the section's struct */
    alone.offset = 0;
    if (field->type == STAGESIM_FIELD_TEXTS && field->names)
        alone.type = STAGESIM_FIELD_NAME; /* a word for all stages, or one for each */
    bool parts = alone.type != field->type && value->kind == NODE_LIST;
    for (const struct node *part = parts ? value->first : value; part; part = parts ? part->next : NULL)
        fields_read_value(&loader->fields, &alone, line->key, part,
                          arena_alloc(loader->fields.arena, fields_type_size(field->type)));
}

static void check_dimension(struct loader *loader, enum search_dimension dimension, const struct node *node)
{
    bool many = node->kind == NODE_LIST;
    if (loader->scenario->workload && !scenario_has_dimension(loader->scenario, dimension)) {
        diag_error(loader->fields.diag, node->key_at, "the workload '%s' has no '%s' to search",
                   loader->scenario->workload->name, search_dimensions[dimension].path);
        return;
    }
    for (const struct node *value = many ? node->first : node; value; value = many ? value->next : NULL)
        if ((value->kind == NODE_SCALAR && !node_is_empty(value)) || (many && value->kind == NODE_LIST))
            check_value(loader, dimension, value);
}

void scenario_read_search(struct loader *loader)
{
    const struct node *node = node_get(loader->root, search_section.name);
    fields_check_keys(&loader->fields, &search_section, NULL, node);
    fields_read(&loader->fields, &search_section, node, loader->root->at, &loader->scenario->search);
    const struct node *objective = node_get(node, "objective");
    unsigned wanted = loader->scenario->search.objective;
    if ((wanted == OBJECTIVE_ENERGY || wanted == OBJECTIVE_ENERGY_DELAY) && !loader->scenario->power.given)
        diag_error(loader->fields.diag, objective->at,
                   "objective: energy needs watts; expected the section power, such as power: {cap: 500W}");
    if (wanted >= OBJECTIVE_P50 && wanted <= OBJECTIVE_P99 && !loader->scenario->tails.given &&
        !loader->fields.diag->errors) /* what is wrong in tails was said */
        diag_error(loader->fields.diag, objective->at,
                   "objective: %s is of steps that vary, and nothing is said of them; expected the section tails, such "
                   "as tails: uneven-sequences",
                   search_objective_names[wanted]);
    for (enum search_dimension i = 0; node && i < DIMENSIONS; i++) {
        const struct node *values = node_get(node, search_dimensions[i].key);
        if (values)
            check_dimension(loader, i, values);
    }
}
