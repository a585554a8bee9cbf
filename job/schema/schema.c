/* SPDX-License-Identifier: Apache-2.0 */
#include "job/schema/schema.h"

#include "base/arena.h"
#include "job/scenario/scenario_kind.h"
#include "job/scenario/scenario_tables.h"
#include "job/schema/schema_own.h"
#include "job/schema/schema_value.h"
#include "workloads/workload_table.h"

#include <string.h>

enum { SECTIONS_MAX = 16 };

/* ---- workloads ---- */

/* Names of the sections that its fields are in, NULL-terminated. */
static void list_sections(const struct stagesim_workload *workload, const char *names[SECTIONS_MAX + 1],
                          struct arena *arena)
{
    size_t count = 0;
    for (const struct stagesim_field *field = workload->fields; field && field->key; field++) {
        size_t length = strcspn(field->key, ".");
        const char *name = field->key[length] ? arena_copy_part(arena, field->key, length) : workload->name;
        bool known = false;
        for (size_t i = 0; i < count; i++)
            known |= !strcmp(names[i], name);
        if (!known && count < SECTIONS_MAX)
            names[count++] = name;
    }
    names[count] = NULL;
}

static const char *definition_name(const struct stagesim_workload *workload, const char *section, struct arena *arena)
{
    return arena_print(arena, "%s.%s", workload->name, section);
}

/* Sections of a workload may be files of their own, but communication, which others share. */
static void write_definitions(struct json_writer *json, const struct stagesim_workload *workload, struct arena *arena)
{
    const char *names[SECTIONS_MAX + 1];
    list_sections(workload, names, arena);
    for (const char **name = names; *name; name++) {
        const struct fields_section section = {*name, !strcmp(*name, workload->name), workload->fields};
        const char *definition = definition_name(workload, *name, arena);
        const struct stagesim_field file = {
            "file", STAGESIM_FIELD_PATH,
            .doc = "file with a description of the model; keys beside this one replace its values"};
        if (!strcmp(*name, communication_section.name)) {
            schema_communication(json, definition, workload, arena);
            continue;
        }
        json_object_begin(json, definition, true);
        json_array_begin(json, "anyOf", true);
        schema_type(json, NULL, "string");
        schema_type(json, NULL, "null");
        json_object_begin(json, NULL, true);
        schema_section_begin(json, &section);
        if (!strcmp(*name, "model"))
            schema_value(json, file.key, &file);
        schema_section_end(json);
        json_object_end(json);
        json_array_end(json);
        json_object_end(json);
    }
}

/* {"properties": {KEY: {"const": VALUE}}, "required": [KEY]} as the condition of an `if`. */
static void write_condition(struct json_writer *json, const char *key, const char *value)
{
    json_object_begin(json, "if", false);
    json_object_begin(json, "properties", false);
    json_object_begin(json, key, false);
    json_text(json, "const", value);
    json_object_end(json);
    json_object_end(json);
    schema_needs(json, (const char *const[]){key, NULL});
    json_object_end(json);
}

static void write_top_words(struct json_writer *json, const char *const *more)
{
    json_object_begin(json, "propertyNames", false);
    json_array_begin(json, "enum", false);
    for (const struct stagesim_field *field = root_fields; field->key; field++)
        json_text(json, NULL, field->key);
    for (const char *const *name = section_names; *name; name++)
        json_text(json, NULL, *name);
    json_text(json, NULL, communication_section.name);
    for (; *more; more++)
        if (strcmp(*more, communication_section.name) != 0)
            json_text(json, NULL, *more);
    json_array_end(json);
    json_object_end(json);
}

/* Keys that have to be in a section, where no framework may give them and the section is no file. */
static void write_needed(struct json_writer *json, const struct stagesim_workload *workload, const char *const *names)
{
    schema_unless(json, "framework");
    json_object_begin(json, "properties", false);
    for (const char *const *name = names; *name; name++) {
        const struct fields_section section = {*name, !strcmp(*name, workload->name), workload->fields};
        if (!schema_has_required(&section))
            continue;
        json_object_begin(json, *name, false);
        json_array_begin(json, "anyOf", false);
        json_object_begin(json, NULL, false);
        schema_required(json, &section);
        json_object_end(json);
        if (!strcmp(*name, "model")) {
            json_object_begin(json, NULL, false);
            schema_needs(json, (const char *const[]){"file", NULL});
            json_object_end(json);
        }
        json_array_end(json);
        json_object_end(json);
    }
    json_object_end(json);
    json_array_begin(json, "required", false);
    for (const char *const *name = names; *name; name++) {
        const struct fields_section section = {*name, !strcmp(*name, workload->name), workload->fields};
        if (schema_has_required(&section))
            json_text(json, NULL, *name);
    }
    json_array_end(json);
    json_object_end(json);
}

static void write_workload(struct json_writer *json, const struct stagesim_workload *workload, struct arena *arena)
{
    const char *names[SECTIONS_MAX + 1];
    list_sections(workload, names, arena);
    json_object_begin(json, NULL, true);
    write_condition(json, "workload", workload->name);
    json_object_begin(json, "then", true);
    write_top_words(json, names);
    json_object_begin(json, "properties", true);
    bool communicates = false;
    for (const char **name = names; *name; name++) {
        communicates |= !strcmp(*name, communication_section.name);
        schema_reference(json, *name, definition_name(workload, *name, arena));
    }
    if (!communicates)
        schema_reference(json, communication_section.name, communication_section.name);
    json_object_end(json);
    json_array_begin(json, "allOf", false);
    json_object_begin(json, NULL, false);
    write_needed(json, workload, names);
    json_object_end(json);
    json_array_end(json);
    json_object_end(json);
    json_object_end(json);
}

/* ---- scenarios that are more than one job ---- */

static bool is_among(const char *word, const char *const *words)
{
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

/* Sections of a transformer, which some of them have, too. */
static void write_transformer(struct json_writer *json, const char *const *keys, struct arena *arena)
{
    const char *names[SECTIONS_MAX + 1];
    const struct stagesim_workload *const *workload = workload_table;
    while (strcmp((*workload)->name, "transformer") != 0)
        workload++;
    list_sections(*workload, names, arena);
    json_object_begin(json, "properties", false);
    for (const char **name = names; *name; name++)
        if (is_among(*name, keys))
            schema_reference(json, *name, definition_name(*workload, *name, arena));
    json_object_end(json);
}

/* Which keys stand beside the one that says the kind. */
static void write_kind(struct json_writer *json, const struct scenario_kind *kind, struct arena *arena)
{
    json_object_begin(json, NULL, false);
    json_object_begin(json, "if", false);
    schema_needs(json, (const char *const[]){kind->key, NULL});
    json_object_end(json);
    json_object_begin(json, "then", false);
    json_object_begin(json, "propertyNames", false);
    schema_words(json, kind->keys);
    json_object_end(json);
    write_transformer(json, kind->keys, arena);
    if (kind->platform)
        schema_needs(json, (const char *const[]){platform_section.name, NULL});
    json_object_end(json);
    json_object_end(json);
}

/* A scenario without such a key is that of a job. */
static void write_job(struct json_writer *json)
{
    json_object_begin(json, NULL, false);
    json_object_begin(json, "if", false);
    json_object_begin(json, "not", false);
    json_array_begin(json, "anyOf", false);
    for (const struct scenario_kind *const *kind = scenario_kinds; kind && *kind; kind++) {
        json_object_begin(json, NULL, false);
        schema_needs(json, (const char *const[]){(*kind)->key, NULL});
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
    json_object_end(json);
    json_object_begin(json, "then", false);
    schema_needs(json, (const char *const[]){"platform", "workload", NULL});
    json_object_end(json);
    json_object_end(json);
}

void schema_write_scenario(FILE *out)
{
    struct arena *arena = arena_create();
    struct json_writer json = schema_begin(out, "a scenario of stagesim");
    schema_communication(&json, communication_section.name, NULL, arena);
    for (const struct stagesim_workload *const *workload = workload_table; *workload; workload++)
        write_definitions(&json, *workload, arena);
    json_object_end(&json);
    json_object_begin(&json, "properties", true);
    schema_own_keys(&json, arena);
    for (const struct scenario_kind *const *kind = scenario_kinds; kind && *kind; kind++)
        (*kind)->schema(&json);
    json_object_end(&json);
    json_array_begin(&json, "allOf", true);
    write_job(&json);
    for (const struct scenario_kind *const *kind = scenario_kinds; kind && *kind; kind++)
        write_kind(&json, *kind, arena);
    for (const struct stagesim_workload *const *workload = workload_table; *workload; workload++)
        write_workload(&json, *workload, arena);
    json_array_end(&json);
    schema_end(&json);
    arena_destroy(arena);
}
