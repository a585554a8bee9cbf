/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of stagesim's own at the top level. */
#include "job/schema/schema_own.h"

#include "base/arena.h"
#include "base/words/aliases.h"
#include "job/scenario/scenario_tables.h"
#include "job/schema/schema_value.h"
#include "platforms/settings.h"
#include "schedules/schedule.h"
#include "training/failure_rates.h"

#include <string.h>

/* Axes by their names and by what other tools call them. */
static void write_parallel(struct json_writer *json)
{
    static const char *const others[] = {"tp", "pp", "dp", "cp", "ep", NULL};
    json_object_begin(json, parallel_section.name, true);
    schema_section_begin(json, &parallel_section);
    for (const char *const *other = others; *other; other++)
        for (const struct stagesim_field *field = parallel_fields; field->key; field++)
            if (!strcmp(field->key, alias_axis(*other)))
                schema_value(json, *other, field);
    schema_section_end(json);
    json_object_end(json);
}

/* A section that a word may stand for. `words` NULL: any. */
static void begin_section_or_word(struct json_writer *json, const char *name, const char *const *words)
{
    json_object_begin(json, name, true);
    json_array_begin(json, "anyOf", true);
    if (words) {
        json_object_begin(json, NULL, false);
        schema_words(json, words);
        json_object_end(json);
    } else {
        schema_reference(json, NULL, "text");
    }
    json_object_begin(json, NULL, true);
}

static void end_section_or_word(struct json_writer *json)
{
    json_object_end(json);
    json_array_end(json);
    json_object_end(json);
}

static void write_section_or_word(struct json_writer *json, const struct fields_section *section,
                                  const char *const *words)
{
    begin_section_or_word(json, section->name, words);
    schema_section_begin(json, section);
    schema_section_end(json);
    end_section_or_word(json);
}

static const char *const *schedule_names(struct arena *arena)
{
    size_t count = 0;
    while (schedule_table[count])
        count++;
    const char **names = arena_array(arena, count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = schedule_table[i]->name;
    names[count] = NULL;
    return names;
}

static void write_option(struct json_writer *json, const struct schedule_option *option)
{
    json_object_begin(json, option->key, false);
    json_text(json, "description", option->doc);
    if (option->stashes) { /* words, numbers such as 7/2, or one for each worker */
        json_array_begin(json, "allOf", false);
        schema_reference(json, NULL, "entry");
        json_array_end(json);
    } else if (option->names) {
        schema_words(json, option->names);
    } else {
        json_text(json, "type", "integer");
        json_number(json, "minimum", (double)option->least);
        if (option->most > option->least)
            json_number(json, "maximum", (double)option->most);
    }
    json_object_end(json);
}

/* The keys that a schedule takes. */
static void write_schedule_keys(struct json_writer *json, const struct schedule *schedule)
{
    json_object_begin(json, NULL, false);
    json_object_begin(json, "if", false);
    json_object_begin(json, "properties", false);
    json_object_begin(json, "name", false);
    json_text(json, "const", schedule->name);
    json_object_end(json);
    json_object_end(json);
    schema_needs(json, (const char *const[]){"name", NULL});
    json_object_end(json);
    json_object_begin(json, "then", false);
    json_object_begin(json, "properties", false);
    for (const struct stagesim_field *field = schedule_fields; field->key; field++) {
        json_object_begin(json, field->key, false);
        json_object_end(json);
    }
    for (const struct schedule_option *option = schedule->options; option && option->key; option++)
        write_option(json, option);
    json_object_end(json);
    json_flag(json, "additionalProperties", false);
    json_object_end(json);
    json_object_end(json);
}

/* What the option of that key is called is in several schedules; there each has its own words. */
static bool is_new_option(const struct schedule *const *schedule, const char *key)
{
    for (const struct schedule *const *before = schedule_table; before < schedule; before++)
        if (schedule_find_option(*before, key))
            return false;
    return true;
}

static void write_schedule(struct json_writer *json, struct arena *arena)
{
    const char *const *names = schedule_names(arena);
    struct stagesim_field name = schedule_fields[0];
    begin_section_or_word(json, schedule_section.name, names);
    const struct fields_section rest = {schedule_section.name, true, schedule_fields + 1};
    schema_section_begin(json, &rest);
    json_object_begin(json, name.key, false);
    json_text(json, "description", name.doc);
    schema_words(json, names);
    json_object_end(json);
    for (const struct schedule *const *schedule = schedule_table; *schedule; schedule++)
        for (const struct schedule_option *option = (*schedule)->options; option && option->key; option++)
            if (is_new_option(schedule, option->key)) {
                json_object_begin(json, option->key, false);
                json_text(json, "description", option->doc);
                json_object_end(json);
            }
    schema_section_end(json);
    json_array_begin(json, "allOf", true);
    for (const struct schedule *const *schedule = schedule_table; *schedule; schedule++)
        write_schedule_keys(json, *schedule);
    json_array_end(json);
    json_object_begin(json, "not", false);
    schema_needs(json, (const char *const[]){name.key, "file", NULL});
    json_object_end(json);
    end_section_or_word(json);
}

/* Algorithms are words, or files of programs. */
void schema_communication_value(struct json_writer *json, const struct stagesim_field *field)
{
    if (communication_collective(field) == STAGESIM_COLLECTIVES) {
        schema_value(json, field->key, field);
        return;
    }
    json_object_begin(json, field->key, false);
    json_text(json, "description", field->doc);
    json_array_begin(json, "anyOf", false);
    json_object_begin(json, NULL, false);
    schema_words(json, field->names);
    json_object_end(json);
    json_object_begin(json, NULL, false);
    json_text(json, "type", "string");
    json_text(json, "pattern", "\\.xml$");
    json_object_end(json);
    json_array_end(json);
    json_object_end(json);
}

void schema_communication(struct json_writer *json, const char *name, const struct stagesim_workload *workload,
                          struct arena *arena)
{
    const struct fields_section own = {communication_section.name, true, communication_fields_create(NULL, arena)};
    const struct fields_section more = {communication_section.name, false, workload ? workload->fields : NULL};
    json_object_begin(json, name, true);
    json_array_begin(json, "type", false);
    json_text(json, NULL, "object");
    json_text(json, NULL, "null");
    json_array_end(json);
    json_flag(json, "additionalProperties", false);
    json_object_begin(json, "properties", true);
    for (const struct stagesim_field *field = own.fields; field->key; field++)
        schema_communication_value(json, field);
    for (const struct stagesim_field *field = more.fields; field && field->key; field++)
        if (fields_key(&more, field))
            schema_value(json, fields_key(&more, field), field);
    json_object_end(json);
    json_object_end(json);
}

static void write_order(struct json_writer *json)
{
    json_object_begin(json, "order", false);
    json_text(json, "description", "order of the axes, innermost first");
    json_text(json, "type", "array");
    json_flag(json, "uniqueItems", true);
    json_object_begin(json, "items", false);
    schema_words(json, axis_names);
    json_object_end(json);
    json_object_end(json);
}

/* Carbon is numbers, or rows. */
static void write_power(struct json_writer *json, struct arena *arena)
{
    const struct stagesim_field *fields = power_section.fields, *rows = NULL;
    const struct stagesim_field number = {"carbon", STAGESIM_FIELD_RATIOS, .least = 0, .most = 1e6};
    size_t count = 0, kept = 0;
    while (fields[count].key)
        count++;
    struct stagesim_field *others = arena_array(arena, count + 1, sizeof *others);
    memset(others, 0, (count + 1) * sizeof *others);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(fields[i].key, number.key))
            rows = &fields[i];
        else
            others[kept++] = fields[i];
    const struct fields_section section = {power_section.name, true, others};
    json_object_begin(json, power_section.name, true);
    schema_section_begin(json, &section);
    json_object_begin(json, number.key, false);
    json_array_begin(json, "anyOf", false);
    schema_value(json, NULL, &number);
    schema_value(json, NULL, rows);
    json_array_end(json);
    json_object_end(json);
    schema_section_end(json);
    json_object_end(json);
}

static void write_failures(struct json_writer *json, struct arena *arena)
{
    size_t count = 0;
    while (failure_rates_table[count])
        count++;
    const char **names = arena_array(arena, count + 2, sizeof *names);
    names[0] = "none";
    for (size_t i = 0; i < count; i++)
        names[i + 1] = failure_rates_table[i]->name;
    names[count + 1] = NULL;
    write_section_or_word(json, &failures_section, names);
}

static void write_plain_section(struct json_writer *json, const struct fields_section *section)
{
    json_object_begin(json, section->name, true);
    schema_section_begin(json, section);
    schema_section_end(json);
    json_object_end(json);
}

static void write_inputs(struct json_writer *json)
{
    json_object_begin(json, inputs_section_name, false);
    json_text(json, "description", "files that the scenario read, with their hashes");
    json_text(json, "type", "object");
    schema_type(json, "additionalProperties", "string");
    json_object_end(json);
}

/* What every key of stagesim's own at the top level may be. */
void schema_own_keys(struct json_writer *json, struct arena *arena)
{
    for (const struct stagesim_field *field = root_fields; field->key; field++)
        if (strcmp(field->key, platform_section.name) != 0)
            schema_value(json, field->key, field);
    write_section_or_word(json, &platform_section, NULL);
    write_parallel(json);
    write_order(json);
    write_plain_section(json, &batch_section);
    write_schedule(json, arena);
    json_object_begin(json, communication_section.name, false); /* which keys it has, the workload says */
    json_object_end(json);
    write_plain_section(json, &search_section);
    write_section_or_word(json, &plan_section, NULL);
    write_section_or_word(json, &prices_section, NULL);
    write_plain_section(json, &simgrid_section);
    write_plain_section(json, &memory_section);
    write_power(json, arena);
    write_plain_section(json, &training_section);
    write_failures(json, arena);
    write_section_or_word(json, &checkpoint_section, NULL);
    write_section_or_word(json, &tails_section, NULL);
    write_plain_section(json, &output_section);
    write_inputs(json);
    write_plain_section(json, &imported_section);
}
