/* SPDX-License-Identifier: Apache-2.0 */
/* Data files of hardware: products, devices, wires, cards, libraries, networks, links. */
#include "job/schema/schema.h"

#include "job/schema/schema_value.h"
#include "platforms/device.h"
#include "platforms/library.h"
#include "platforms/presets/interfaces.h"
#include "platforms/presets/library_read.h"
#include "platforms/presets/node_step.h"
#include "platforms/presets/presets.h"

#include <string.h>

/* The length of the name of the map that a field is in; 0: of none. */
static size_t map_length(const struct stagesim_field *field)
{
    const char *dot = strchr(field->key, '.');
    return dot ? (size_t)(dot - field->key) : 0;
}

/* Whether it is the first field of its map; its name in `name` of 40. */
static bool begins_map(const struct stagesim_field *fields, const struct stagesim_field *field, char name[40])
{
    size_t length = map_length(field);
    if (!length)
        return false;
    snprintf(name, 40, "%.*s", (int)length, field->key);
    for (; fields < field; fields++)
        if (!strncmp(fields->key, field->key, length + 1))
            return false;
    return true;
}

/* ---- parts that no field describes ---- */

static void write_words_or(struct json_writer *json, const char *key, const char *what, const char *definition)
{
    json_object_begin(json, key, false);
    json_text(json, "description", what);
    json_array_begin(json, "anyOf", false);
    schema_reference(json, NULL, "text");
    schema_reference(json, NULL, definition);
    json_array_end(json);
    json_object_end(json);
}

static void write_cables(struct json_writer *json)
{
    const struct fields_section section = {"a cable", true, cable_fields};
    json_object_begin(json, "cables", true);
    json_text(json, "description", "a name for each kind of cable in `node`");
    json_text(json, "type", "object");
    json_object_begin(json, "additionalProperties", true);
    json_array_begin(json, "anyOf", true);
    schema_reference(json, NULL, "text");
    json_object_begin(json, NULL, true);
    schema_section_begin(json, &section);
    write_words_or(json, "wire", "a wire's name, or what it is", hardware_kind_names[HARDWARE_WIRE]);
    schema_section_end(json);
    json_object_end(json);
    json_array_end(json);
    json_object_end(json);
    json_object_end(json);
}

static void write_list_of(struct json_writer *json, const char *key, const char *definition, unsigned least,
                          unsigned most)
{
    json_object_begin(json, key, false);
    json_text(json, "type", "array");
    if (least)
        json_integer(json, "minItems", least);
    if (most)
        json_integer(json, "maxItems", most);
    schema_reference(json, "items", definition);
    json_object_end(json);
}

static void write_product_parts(struct json_writer *json)
{
    write_words_or(json, "device", "the accelerator: its name, or what it is", hardware_kind_names[HARDWARE_DEVICE]);
    write_cables(json);
    write_list_of(json, "node", "step", 0, 0);
}

static void write_properties(struct json_writer *json)
{
    struct platform_property property;
    for (unsigned i = 0; library_property(i, &property); i++) {
        if (property.kind == PROPERTY_WORD) {
            json_object_begin(json, property.name, false);
            schema_words(json, property.words);
            json_object_end(json);
        } else if (property.kind == PROPERTY_COUNT) {
            schema_type(json, property.name, "integer");
        } else {
            schema_reference(json, property.name,
                             property.kind == PROPERTY_TEXT ? "text" : schema_quantity(property.quantity));
        }
    }
}

/* ---- steps ---- */

static void write_step_value(struct json_writer *json, const struct step_key *key)
{
    const char *name = key->field.key;
    switch (key->value) {
    case STEP_FIELD:
        schema_value(json, name, &key->field);
        return;
    case STEP_ENDS:
        write_list_of(json, name, "text", 2, 2);
        return;
    case STEP_PAIR_LIST:
        write_list_of(json, name, "pair", 0, 0);
        return;
    case STEP_LIST:
        write_list_of(json, name, "step", 0, 0);
        return;
    default:
        json_object_begin(json, name, false);
        json_array_begin(json, "anyOf", false);
        if (key->value == STEP_EXITS) {
            schema_type(json, NULL, "boolean");
        } else {
            json_object_begin(json, NULL, false);
            schema_words(json, (const char *const[]){"all", NULL});
            json_object_end(json);
        }
        schema_value(json, NULL, &key->field);
        json_array_end(json);
        json_object_end(json);
    }
}

/* A step is of the first kind whose key it has. */
static void write_step(struct json_writer *json)
{
    json_object_begin(json, "pair", false);
    json_text(json, "type", "array");
    json_integer(json, "minItems", 2);
    json_integer(json, "maxItems", 3);
    json_object_begin(json, "items", false);
    json_text(json, "type", "integer");
    json_integer(json, "minimum", 0);
    json_object_end(json);
    json_object_end(json);
    json_object_begin(json, "step", true);
    json_text(json, "type", "object");
    json_array_begin(json, "anyOf", true);
    for (int step = 0; step < STEPS; step++) {
        json_object_begin(json, NULL, true);
        json_flag(json, "additionalProperties", false);
        json_object_begin(json, "properties", true);
        for (const struct step_key *key = step_keys[step]; key->field.key; key++)
            write_step_value(json, key);
        json_object_end(json);
        json_array_begin(json, "required", false);
        for (const struct step_key *key = step_keys[step]; key->field.key; key++)
            if (key->field.required)
                json_text(json, NULL, key->field.key);
        json_array_end(json);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

/* ---- definitions ---- */

/* Of each kind: its table, what is there beside it, and a key of that part which it needs. */
static const struct {
    const struct stagesim_field *fields;
    void (*more)(struct json_writer *json);
    const char *needed;
} kinds[HARDWARE_KINDS] = {
    [HARDWARE_PRODUCT] = {product_fields, write_product_parts, "device"},
    [HARDWARE_DEVICE] = {device_fields, NULL, NULL},
    [HARDWARE_WIRE] = {wire_fields, NULL, NULL},
    [HARDWARE_CARD] = {card_fields, NULL, NULL},
    [HARDWARE_LIBRARY] = {library_fields, write_properties, NULL},
    [HARDWARE_NETWORK] = {network_fields, NULL, NULL},
    [HARDWARE_LINKS] = {links_fields, NULL, NULL},
};

static void write_keys(struct json_writer *json, unsigned kind)
{
    const struct stagesim_field *fields = kinds[kind].fields;
    const struct fields_section outer = {hardware_kind_names[kind], true, fields};
    char name[40];
    schema_section_begin(json, &outer);
    json_object_begin(json, "kind", false);
    json_text(json, "const", hardware_kind_names[kind]);
    json_object_end(json);
    json_object_begin(json, "from", false);
    json_text(json, "description", "one of the same kind to take over from");
    json_text(json, "type", "string");
    json_object_end(json);
    for (const struct stagesim_field *field = fields; field->key; field++)
        if (begins_map(fields, field, name)) {
            const struct fields_section inner = {name, false, fields};
            json_object_begin(json, name, true);
            schema_section_begin(json, &inner);
            schema_section_end(json);
            json_object_end(json);
        }
    if (kinds[kind].more)
        kinds[kind].more(json);
    schema_section_end(json);
}

/* What has to be there where nothing is taken over. */
static void write_needed(struct json_writer *json, unsigned kind)
{
    const struct stagesim_field *fields = kinds[kind].fields;
    char name[40];
    schema_unless(json, "from");
    json_array_begin(json, "required", false);
    if (kinds[kind].needed)
        json_text(json, NULL, kinds[kind].needed);
    for (const struct stagesim_field *field = fields; field->key; field++)
        if (begins_map(fields, field, name)) {
            const struct fields_section inner = {name, false, fields};
            if (schema_has_required(&inner))
                json_text(json, NULL, name);
        } else if (field->required && !map_length(field)) {
            json_text(json, NULL, field->key);
        }
    json_array_end(json);
    json_object_begin(json, "properties", false);
    for (const struct stagesim_field *field = fields; field->key; field++)
        if (begins_map(fields, field, name)) {
            const struct fields_section inner = {name, false, fields};
            json_object_begin(json, name, false);
            schema_required(json, &inner);
            json_object_end(json);
        }
    json_object_end(json);
    json_object_end(json);
}

/* A file that does not say what it is, is a product. */
static void write_choice(struct json_writer *json, unsigned kind)
{
    json_object_begin(json, NULL, false);
    json_object_begin(json, "if", false);
    json_object_begin(json, "properties", false);
    json_object_begin(json, "kind", false);
    json_text(json, "const", hardware_kind_names[kind]);
    json_object_end(json);
    json_object_end(json);
    if (kind != HARDWARE_PRODUCT) {
        schema_needs(json, (const char *const[]){"kind", NULL});
    }
    json_object_end(json);
    schema_reference(json, "then", hardware_kind_names[kind]);
    json_object_end(json);
}

void schema_write_hardware(FILE *out)
{
    struct json_writer json = schema_begin(out, "a data file of stagesim: a product, a GPU, a cable, a card, ...");
    write_step(&json);
    for (unsigned kind = 0; kind < HARDWARE_KINDS; kind++) {
        json_object_begin(&json, hardware_kind_names[kind], true);
        write_keys(&json, kind);
        write_needed(&json, kind);
        json_object_end(&json);
    }
    json_object_end(&json);
    json_object_begin(&json, "properties", false);
    json_object_begin(&json, "kind", false);
    json_text(&json, "description", "what the file describes; default: a product");
    schema_words(&json, hardware_kind_names);
    json_object_end(&json);
    json_object_end(&json);
    json_array_begin(&json, "allOf", true);
    for (unsigned kind = 0; kind < HARDWARE_KINDS; kind++)
        write_choice(&json, kind);
    json_array_end(&json);
    schema_end(&json);
}
