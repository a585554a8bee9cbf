/* SPDX-License-Identifier: Apache-2.0 */
/* What a value may be, as JSON Schema, from the field that reads it. */
#ifndef STAGESIM_SCHEMA_VALUE_H
#define STAGESIM_SCHEMA_VALUE_H

#include "abi/fields/fields.h"
#include "base/json_writer.h"
#include "base/quantity.h"

/* A schema of an object. Its member "definitions", with those that values point to, stays open for more. */
struct json_writer schema_begin(FILE *out, const char *title);
/* Ends it, and its line. */
void schema_end(struct json_writer *json);
/* What "#/definitions/" has for a quantity. */
const char *schema_quantity(enum quantity quantity);
/* A member of the object that is open: the schema of a field's value. */
void schema_value(struct json_writer *json, const char *key, const struct stagesim_field *field);
/* Members "type", "properties" and "additionalProperties" of a section with these fields: those that fields_key finds
 * in it. The object "properties" stays open for more, until schema_section_end. */
void schema_section_begin(struct json_writer *json, const struct fields_section *section);
void schema_section_end(struct json_writer *json);
/* The whole object, with the keys of `others` (a table; NULL: none), which are read by other means. */
void schema_section(struct json_writer *json, const char *key, const struct fields_section *section,
                    const struct stagesim_field *others);
/* An object with any keys, each of which has such a section. */
void schema_sections_by_name(struct json_writer *json, const char *key, const struct fields_section *section,
                             const struct stagesim_field *others);
/* A member "required" with the keys that the section must have, where there are any. */
void schema_required(struct json_writer *json, const struct fields_section *section);
bool schema_has_required(const struct fields_section *section);
/* The same with these keys, NULL-terminated. */
void schema_needs(struct json_writer *json, const char *const *keys);
/* Members "if" and "then" of an object without a key. The object "then" stays open. */
void schema_unless(struct json_writer *json, const char *key);
/* {"$ref": "#/definitions/NAME"} */
void schema_reference(struct json_writer *json, const char *key, const char *name);
/* A member "enum" with these words, NULL-terminated. Words that YAML reads as numbers or flags are there as such, too.
 */
void schema_words(struct json_writer *json, const char *const *words);
/* {"type": TYPE} */
void schema_type(struct json_writer *json, const char *key, const char *type);

#endif
