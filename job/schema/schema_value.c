/* SPDX-License-Identifier: Apache-2.0 */
#include "job/schema/schema_value.h"

#include "abi/fields/fields_distribution.h"

#include <stdlib.h>
#include <string.h>

/* Texts that base/quantity.c takes; a plain number is one that needs no unit. */
#define NUMBER "^(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?"

static const struct {
    const char *name, *pattern, *what;
    bool bare; /* a number without unit is one */
} quantities[] = {
    {"number", NUMBER "[kMGT]?$", "a plain number such as 0.6", true},
    {"time", NUMBER "(s|ms|us|ns|min|h|d)$", "a time such as 1.5us", false},
    {"size", NUMBER "(B|[kMGTP]B|[KMGTP]iB)$", "a size such as 80GiB", false},
    {"rate", NUMBER "([kMGT]?(bps|Bps)|[KMGT]iBps)$", "a rate such as 400Gbps or 25GBps", false},
    {"speed", NUMBER "[kMGTPE]?f$", "a speed such as 312Tf", false},
    {"power", NUMBER "[kMG]?W$", "a power such as 500W", false},
    {"amount", NUMBER "(B|[kMGTP]B|[KMGTP]iB)?$", "elements such as 9408, or a size such as 37kB", true},
};

void schema_type(struct json_writer *json, const char *key, const char *type)
{
    json_object_begin(json, key, false);
    json_text(json, "type", type);
    json_object_end(json);
}

void schema_reference(struct json_writer *json, const char *key, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "#/definitions/%s", name);
    json_object_begin(json, key, false);
    json_text(json, "$ref", path);
    json_object_end(json);
}

static void write_quantity(struct json_writer *json, size_t index)
{
    json_object_begin(json, quantities[index].name, false);
    json_text(json, "description", quantities[index].what);
    json_array_begin(json, "type", false);
    json_text(json, NULL, "string");
    if (quantities[index].bare)
        json_text(json, NULL, "number");
    json_array_end(json);
    json_text(json, "pattern", quantities[index].pattern);
    if (quantities[index].bare)
        json_integer(json, "minimum", 0);
    json_object_end(json);
}

/* Of times, or of factors. */
static void write_distribution(struct json_writer *json, const char *name, const char *expected, const char *fixed)
{
    json_object_begin(json, name, false);
    json_text(json, "description", expected);
    json_array_begin(json, "anyOf", false);
    schema_reference(json, NULL, fixed);
    json_object_begin(json, NULL, false);
    json_text(json, "type", "object");
    json_integer(json, "minProperties", 1);
    json_integer(json, "maxProperties", 1);
    json_object_begin(json, "propertyNames", false);
    json_array_begin(json, "enum", false);
    for (size_t i = 0; fields_distribution_kind(i); i++)
        json_text(json, NULL, fields_distribution_kind(i));
    json_array_end(json);
    json_object_end(json);
    json_object_end(json);
    json_array_end(json);
    json_object_end(json);
}

static void write_value_definitions(struct json_writer *json)
{
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++)
        write_quantity(json, i);
    json_object_begin(json, "text", false);
    json_array_begin(json, "type", false);
    json_text(json, NULL, "string");
    json_text(json, NULL, "number");
    json_text(json, NULL, "boolean");
    json_array_end(json);
    json_object_end(json);
    json_object_begin(json, "entry", false);
    json_array_begin(json, "anyOf", false);
    schema_reference(json, NULL, "text");
    json_object_begin(json, NULL, false);
    json_text(json, "type", "array");
    schema_reference(json, "items", "text");
    json_object_end(json);
    json_array_end(json);
    json_object_end(json);
    write_distribution(json, "distribution", fields_distribution_expected, "time");
    write_distribution(json, "factor", fields_factors_expected, "number");
}

struct json_writer schema_begin(FILE *out, const char *title)
{
    struct json_writer json = json_writer_init(out);
    json_object_begin(&json, NULL, true);
    json_text(&json, "$schema", "http://json-schema.org/draft-07/schema#");
    json_text(&json, "title", title);
    json_text(&json, "type", "object");
    json_object_begin(&json, "definitions", true);
    write_value_definitions(&json);
    return json;
}

/* ---- values ---- */

const char *schema_quantity(enum quantity quantity)
{
    return quantity == QUANTITY_TIME    ? "time"
           : quantity == QUANTITY_BYTES ? "size"
           : quantity == QUANTITY_RATE  ? "rate"
                                        : "number";
}

/* What of a field's value has a definition; NULL: something else. */
static const char *definition_of(const struct stagesim_field *field)
{
    switch (field->type) {
    case STAGESIM_FIELD_TIME:
    case STAGESIM_FIELD_TIMES:
        return "time";
    case STAGESIM_FIELD_BYTES:
    case STAGESIM_FIELD_BYTES_LIST:
        return "size";
    case STAGESIM_FIELD_RATE:
        return "rate";
    case STAGESIM_FIELD_FLOPS:
        return "speed";
    case STAGESIM_FIELD_WATTS:
        return "power";
    case STAGESIM_FIELD_AMOUNT:
        return "amount";
    case STAGESIM_FIELD_DISTRIBUTION:
        return "distribution";
    case STAGESIM_FIELD_FACTORS:
        return "factor";
    case STAGESIM_FIELD_TEXT:
    case STAGESIM_FIELD_PATH:
        return "text";
    case STAGESIM_FIELD_TEXTS:
        return "entry";
    default:
        return NULL;
    }
}

static bool is_list(enum stagesim_field_type type)
{
    return type == STAGESIM_FIELD_TIMES || type == STAGESIM_FIELD_BYTES_LIST || type == STAGESIM_FIELD_NAMES ||
           type == STAGESIM_FIELD_COUNTS || type == STAGESIM_FIELD_TEXTS || type == STAGESIM_FIELD_RATIOS;
}

void schema_words(struct json_writer *json, const char *const *words)
{
    json_array_begin(json, "enum", false);
    for (; *words; words++) {
        char *end;
        double number = strtod(*words, &end);
        json_text(json, NULL, *words);
        if (!strcmp(*words, "true") || !strcmp(*words, "false"))
            json_flag(json, NULL, **words == 't');
        else if (end != *words && !*end)
            json_number(json, NULL, number);
    }
    json_array_end(json);
}

static void write_bounds(struct json_writer *json, const struct stagesim_field *field)
{
    bool bounded = field->least < field->most;
    json_number(json, "minimum", bounded ? field->least : 0);
    if (bounded)
        json_number(json, "maximum", field->most);
}

/* One value: of a list, one of its entries. */
static void write_one(struct json_writer *json, const char *key, const struct stagesim_field *field)
{
    const char *definition = field->names ? NULL : definition_of(field);
    if (definition) {
        schema_reference(json, key, definition);
        return;
    }
    json_object_begin(json, key, false);
    switch (field->type) {
    case STAGESIM_FIELD_COUNT:
    case STAGESIM_FIELD_COUNTS:
        json_text(json, "type", "integer");
        write_bounds(json, field);
        break;
    case STAGESIM_FIELD_FLAG:
        json_text(json, "type", "boolean");
        break;
    case STAGESIM_FIELD_NAME:
    case STAGESIM_FIELD_NAMES:
    case STAGESIM_FIELD_TEXTS: /* with words */
        schema_words(json, field->names);
        break;
    default: /* a ratio, which may be written as 4k */
        json_array_begin(json, "type", false);
        json_text(json, NULL, "number");
        json_text(json, NULL, "string");
        json_array_end(json);
        write_bounds(json, field);
        json_text(json, "pattern", quantities[0].pattern);
    }
    json_object_end(json);
}

/* A list of values, or one of them. Words may be none. */
static void write_list(struct json_writer *json, const struct stagesim_field *field)
{
    json_array_begin(json, "anyOf", false);
    write_one(json, NULL, field);
    json_object_begin(json, NULL, false);
    json_text(json, "type", "array");
    json_integer(json, "minItems", field->type != STAGESIM_FIELD_NAMES);
    write_one(json, "items", field);
    json_object_end(json);
    json_array_end(json);
}

static void write_row(struct json_writer *json, const char *key, const struct stagesim_row_type *rows)
{
    const struct fields_section section = {rows->what, true, rows->fields};
    json_object_begin(json, key, false);
    schema_required(json, &section);
    schema_section_begin(json, &section);
    schema_section_end(json);
    json_object_end(json);
}

/* A list of maps, or a file. */
static void write_rows(struct json_writer *json, const struct stagesim_field *field)
{
    json_array_begin(json, "anyOf", false);
    schema_type(json, NULL, "string");
    json_object_begin(json, NULL, false);
    json_text(json, "type", "array");
    json_integer(json, "minItems", 1);
    write_row(json, "items", field->rows);
    json_object_end(json);
    json_array_end(json);
}

void schema_value(struct json_writer *json, const char *key, const struct stagesim_field *field)
{
    json_object_begin(json, key, false);
    if (field->doc)
        json_text(json, "description", field->doc);
    if (field->type == STAGESIM_FIELD_ROWS) {
        write_rows(json, field);
    } else if (is_list(field->type)) {
        write_list(json, field);
    } else {
        json_array_begin(json, "allOf", false); /* beside a $ref nothing else counts */
        write_one(json, NULL, field);
        json_array_end(json);
    }
    json_object_end(json);
}

/* ---- sections ---- */

void schema_section_begin(struct json_writer *json, const struct fields_section *section)
{
    json_text(json, "type", "object");
    json_flag(json, "additionalProperties", false);
    json_object_begin(json, "properties", true);
    for (const struct stagesim_field *field = section->fields; field && field->key; field++)
        if (fields_key(section, field))
            schema_value(json, fields_key(section, field), field);
}

void schema_section_end(struct json_writer *json)
{
    json_object_end(json);
}

void schema_end(struct json_writer *json)
{
    json_object_end(json);
    fputc('\n', json->out);
}

void schema_needs(struct json_writer *json, const char *const *keys)
{
    json_array_begin(json, "required", false);
    for (; *keys; keys++)
        json_text(json, NULL, *keys);
    json_array_end(json);
}

void schema_unless(struct json_writer *json, const char *key)
{
    json_object_begin(json, "if", false);
    json_object_begin(json, "not", false);
    schema_needs(json, (const char *const[]){key, NULL});
    json_object_end(json);
    json_object_end(json);
    json_object_begin(json, "then", false);
}

bool schema_has_required(const struct fields_section *section)
{
    for (const struct stagesim_field *field = section->fields; field && field->key; field++)
        if (field->required && fields_key(section, field))
            return true;
    return false;
}

void schema_required(struct json_writer *json, const struct fields_section *section)
{
    if (!schema_has_required(section))
        return;
    json_array_begin(json, "required", false);
    for (const struct stagesim_field *field = section->fields; field && field->key; field++)
        if (field->required && fields_key(section, field))
            json_text(json, NULL, fields_key(section, field));
    json_array_end(json);
}

void schema_section(struct json_writer *json, const char *key, const struct fields_section *section,
                    const struct stagesim_field *others)
{
    const struct fields_section more = {section->name, true, others};
    json_object_begin(json, key, true);
    schema_required(json, section);
    schema_section_begin(json, section);
    for (const struct stagesim_field *field = others; field && field->key; field++)
        schema_value(json, fields_key(&more, field), field);
    schema_section_end(json);
    json_object_end(json);
}

void schema_sections_by_name(struct json_writer *json, const char *key, const struct fields_section *section,
                             const struct stagesim_field *others)
{
    json_object_begin(json, key, true);
    json_text(json, "type", "object");
    json_integer(json, "minProperties", 1);
    schema_section(json, "additionalProperties", section, others);
    json_object_end(json);
}
