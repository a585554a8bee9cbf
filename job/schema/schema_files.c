/* SPDX-License-Identifier: Apache-2.0 */
/* Files that scenarios name: profiles of frameworks, models, and sections in a file of their own. */
#include "job/schema/schema.h"

#include "base/arena.h"
#include "job/scenario/scenario_tables.h"
#include "job/schema/schema_own.h"
#include "job/schema/schema_value.h"
#include "workloads/workload_table.h"

#include <assert.h>
#include <string.h>

/* ---- a section ---- */

void schema_write_file(FILE *out, const char *title, const struct fields_section *section)
{
    struct json_writer json = schema_begin(out, title);
    json_object_end(&json);
    schema_required(&json, section);
    json_flag(&json, "additionalProperties", false);
    schema_section_begin(&json, section);
    schema_section_end(&json);
    schema_end(&json);
}

/* ---- models ---- */

static bool has_model(const struct stagesim_workload *workload)
{
    const struct fields_section section = {"model", false, workload->fields};
    for (const struct stagesim_field *field = workload->fields; field && field->key; field++)
        if (fields_key(&section, field))
            return true;
    return false;
}

void schema_write_model(FILE *out)
{
    struct json_writer json = schema_begin(out, "a model of stagesim: the keys of the section `model` of a workload");
    for (const struct stagesim_workload *const *each = workload_table; *each; each++) {
        const struct fields_section section = {"model", false, (*each)->fields};
        if (!has_model(*each))
            continue;
        json_object_begin(&json, (*each)->name, true);
        schema_section_begin(&json, &section);
        schema_section_end(&json);
        json_object_end(&json);
    }
    json_object_end(&json);
    json_array_begin(&json, "anyOf", true);
    for (const struct stagesim_workload *const *each = workload_table; *each; each++)
        if (has_model(*each))
            schema_reference(&json, NULL, (*each)->name);
    json_array_end(&json);
    schema_end(&json);
}

/* ---- profiles ---- */

/* The fields of a profile's section, those of stagesim's own first; NULL behind the last. */
static const struct stagesim_field **list_fields(const char *name, struct arena *arena)
{
    const struct fields_section *own = profile_own_section(name);
    const struct stagesim_field *own_fields = own == &communication_section ? communication_fields_create(NULL, arena)
                                              : own                         ? own->fields
                                                                            : NULL;
    const struct stagesim_field **fields = NULL;
    size_t count = 0, capacity = 0;
    for (const struct stagesim_field *field = own_fields; field && field->key; field++) {
        fields = arena_grow(arena, fields, &capacity, count, sizeof *fields);
        fields[count++] = field;
    }
    for (const struct stagesim_workload *const *each = workload_table; *each; each++) {
        const struct fields_section section = {name, !strcmp(name, (*each)->name), (*each)->fields};
        for (const struct stagesim_field *field = section.fields; field && field->key; field++)
            if (fields_key(&section, field)) {
                fields = arena_grow(arena, fields, &capacity, count, sizeof *fields);
                fields[count++] = field;
            }
    }
    fields = arena_grow(arena, fields, &capacity, count, sizeof *fields);
    fields[count] = NULL;
    return fields;
}

/* The key of a field without its section. */
static const char *last_word(const struct stagesim_field *field)
{
    const char *dot = strrchr(field->key, '.');
    return dot ? dot + 1 : field->key;
}

/* Whether an earlier field has the same key. */
static bool is_there(const struct stagesim_field **fields, const struct stagesim_field **field)
{
    for (; fields < field; fields++)
        if (!strcmp(last_word(*fields), last_word(*field)))
            return true;
    return false;
}

/* Workloads may mean different things by a key: what is right for one of them is right. */
static void write_section(struct json_writer *json, const char *name, struct arena *arena)
{
    const struct stagesim_field **fields = list_fields(name, arena);
    json_object_begin(json, name, true);
    json_text(json, "type", "object");
    json_flag(json, "additionalProperties", false);
    json_object_begin(json, "properties", true);
    for (const struct stagesim_field **field = fields; *field; field++) {
        if (is_there(fields, field))
            continue;
        if (!strcmp(name, communication_section.name) && !strchr((*field)->key, '.')) {
            schema_communication_value(json, *field);
            continue;
        }
        json_object_begin(json, last_word(*field), false);
        json_array_begin(json, "anyOf", false);
        for (const struct stagesim_field **other = field; *other; other++)
            if (!strcmp(last_word(*other), last_word(*field)))
                schema_value(json, NULL, *other);
        json_array_end(json);
        json_object_end(json);
    }
    json_object_end(json);
    json_object_end(json);
}

static void write_sections(struct json_writer *json)
{
    for (const char *const *name = profile_sections; *name; name++)
        schema_reference(json, *name, *name);
}

/* Paths of the scenario, each with a word, several, or ">1" for any larger number. */
static void write_rule(struct json_writer *json)
{
    json_object_begin(json, "rule", true);
    json_text(json, "type", "object");
    json_flag(json, "additionalProperties", false);
    schema_needs(json, (const char *const[]){"if", NULL});
    json_object_begin(json, "properties", true);
    json_object_begin(json, "if", false);
    json_text(json, "description", "what the scenario has to say, such as {schedule.name: [1f1b, gpipe]}");
    json_text(json, "type", "object");
    schema_reference(json, "additionalProperties", "entry");
    json_object_end(json);
    write_sections(json);
    json_object_end(json);
    json_object_end(json);
}

/* As `stagesim calibrate` writes them; more may stand beside. */
static void write_run(struct json_writer *json)
{
    json_object_begin(json, "run", false);
    json_text(json, "type", "object");
    json_object_begin(json, "properties", false);
    schema_reference(json, "measured", schema_quantity(QUANTITY_TIME));
    schema_reference(json, "left_out", schema_quantity(QUANTITY_TIME));
    schema_reference(json, "memory", schema_quantity(QUANTITY_BYTES));
    schema_reference(json, "memory_left_out", schema_quantity(QUANTITY_BYTES));
    json_object_end(json);
    json_object_end(json);
}

/* A key beside the sections, by its name in profile_words. */
static void write_word(struct json_writer *json, const char *word)
{
    static const struct {
        const char *word, *what, *items; /* items NULL: it is a text */
        unsigned least;
    } words[] = {{"from", "a profile whose values count where this has none", NULL, 0},
                 {"when", "values that count where the scenario is such a one", "rule", 0},
                 {"calibrated", "the runs by which stagesim calibrate fitted the values", "run", 1},
                 {"releases", "releases of the framework, the newest last", "text", 1}};
    size_t i = 0;
    while (i < sizeof words / sizeof *words && strcmp(words[i].word, word) != 0)
        i++;
    assert(i < sizeof words / sizeof *words);
    json_object_begin(json, word, false);
    json_text(json, "description", words[i].what);
    json_text(json, "type", words[i].items ? "array" : "string");
    if (words[i].least)
        json_integer(json, "minItems", words[i].least);
    if (words[i].items)
        schema_reference(json, "items", words[i].items);
    json_object_end(json);
}

void schema_write_profile(FILE *out)
{
    struct arena *arena = arena_create();
    struct json_writer json = schema_begin(out, "a framework's profile of stagesim");
    for (const char *const *name = profile_sections; *name; name++)
        write_section(&json, *name, arena);
    write_rule(&json);
    write_run(&json);
    json_object_end(&json);
    json_flag(&json, "additionalProperties", false);
    json_object_begin(&json, "properties", true);
    write_sections(&json);
    for (const char *const *word = profile_words; *word; word++)
        write_word(&json, *word);
    json_object_end(&json);
    schema_end(&json);
    arena_destroy(arena);
}
