/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/fields/fields.h"

#include "abi/fields/fields_distribution.h"
#include "abi/fields/fields_rows.h"
#include "base/arena.h"
#include "base/path_near.h"
#include "base/paths.h"
#include "base/quantity.h"
#include "base/text/names.h"
#include "base/words/aliases.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t size;
    enum quantity quantity; /* of the types that are quantities */
    const char *unit;       /* as in messages about bounds */
} types[] = {
    [STAGESIM_FIELD_COUNT] = {"count", sizeof(uint64_t), QUANTITY_RATIO, ""},
    [STAGESIM_FIELD_RATIO] = {"ratio", sizeof(double), QUANTITY_RATIO, ""},
    [STAGESIM_FIELD_TIME] = {"time", sizeof(double), QUANTITY_TIME, "s"},
    [STAGESIM_FIELD_BYTES] = {"size", sizeof(double), QUANTITY_BYTES, "B"},
    [STAGESIM_FIELD_RATE] = {"rate", sizeof(double), QUANTITY_RATE, "Bps"},
    [STAGESIM_FIELD_FLOPS] = {"speed", sizeof(double), QUANTITY_FLOPS, "f"},
    [STAGESIM_FIELD_FLAG] = {"flag", sizeof(bool), QUANTITY_RATIO, ""},
    [STAGESIM_FIELD_NAME] = {"word", sizeof(unsigned), QUANTITY_RATIO, ""},
    [STAGESIM_FIELD_TEXT] = {"text", sizeof(char *), QUANTITY_RATIO, ""},
    [STAGESIM_FIELD_PATH] = {"file", sizeof(char *), QUANTITY_RATIO, ""},
    [STAGESIM_FIELD_TIMES] = {"time or list", sizeof(struct stagesim_list), QUANTITY_TIME, "s"},
    [STAGESIM_FIELD_BYTES_LIST] = {"size or list", sizeof(struct stagesim_list), QUANTITY_BYTES, "B"},
    [STAGESIM_FIELD_NAMES] = {"word or list", sizeof(unsigned), QUANTITY_RATIO, ""},
    [STAGESIM_FIELD_COUNTS] = {"count or list", sizeof(struct stagesim_list), QUANTITY_RATIO, ""},
    [STAGESIM_FIELD_AMOUNT] = {"elements or size", sizeof(struct stagesim_amount), QUANTITY_BYTES, ""},
    [STAGESIM_FIELD_ROWS] = {"list of maps, or csv file", sizeof(struct stagesim_rows), QUANTITY_RATIO, ""},
    [STAGESIM_FIELD_TEXTS] = {"text or list", sizeof(struct stagesim_texts), QUANTITY_RATIO, ""},
    [STAGESIM_FIELD_WATTS] = {"power", sizeof(double), QUANTITY_POWER, "W"},
    [STAGESIM_FIELD_RATIOS] = {"number or list", sizeof(struct stagesim_list), QUANTITY_RATIO, ""},
    [STAGESIM_FIELD_DISTRIBUTION] = {"time or distribution", sizeof(void *), QUANTITY_TIME, ""},
    [STAGESIM_FIELD_FACTORS] = {"factor or distribution", sizeof(void *), QUANTITY_RATIO, ""},
};

const char *fields_type_name(enum stagesim_field_type type)
{
    return types[type].name;
}

size_t fields_type_size(enum stagesim_field_type type)
{
    return types[type].size;
}

const char *fields_key(const struct fields_section *section, const struct stagesim_field *field)
{
    const char *dot = strchr(field->key, '.');
    if (!dot)
        return section->owner ? field->key : NULL;
    size_t length = (size_t)(dot - field->key);
    return length == strlen(section->name) && !strncmp(field->key, section->name, length) ? dot + 1 : NULL;
}

bool fields_known(const struct fields_section *section, const char *key)
{
    for (const struct stagesim_field *field = section->fields; field->key; field++) {
        const char *known = fields_key(section, field);
        if (known && !strcmp(known, key))
            return true;
    }
    return false;
}

static size_t count_words(const char *const *names)
{
    size_t count = 0;
    while (names[count])
        count++;
    return count;
}

/* Where all keys and words are, for lists that are too long to be shown. */
static const char keys_page[] = "doc/scenario.md";

static const char *list_names(const char *word, const char *const *names, struct arena *arena)
{
    struct names_text list;
    return arena_copy(arena, names_list(&list, word, names, count_words(names), keys_page));
}

/* What a field's value looks like, with an example. */
static const char *expected(const struct fields_reader *reader, const struct stagesim_field *field)
{
    switch (field->type) {
    case STAGESIM_FIELD_COUNT:
    case STAGESIM_FIELD_COUNTS:
        return "a plain integer such as 8";
    case STAGESIM_FIELD_FLAG:
        return "true or false";
    case STAGESIM_FIELD_NAME:
    case STAGESIM_FIELD_NAMES:
        return list_names(NULL, field->names, reader->arena);
    case STAGESIM_FIELD_TEXT:
    case STAGESIM_FIELD_TEXTS:
        return "a text";
    case STAGESIM_FIELD_PATH:
        return "the name of a file";
    case STAGESIM_FIELD_AMOUNT:
        return "elements such as 9408, or a size such as 37kB";
    case STAGESIM_FIELD_ROWS:
        return "a list of maps, or the name of a csv file";
    case STAGESIM_FIELD_DISTRIBUTION:
        return fields_distribution_expected;
    case STAGESIM_FIELD_FACTORS:
        return fields_factors_expected;
    default:
        return quantity_expected(types[field->type].quantity);
    }
}

/* A scalar with a value; everything else is reported. */
static bool check_scalar(const struct fields_reader *reader, const char *key, const struct node *node, const char *what)
{
    if (node->kind == NODE_REFUSED)
        return false;
    if (node->kind == NODE_SCALAR && *node->text)
        return true;
    diag_error(reader->diag, node->at, "%s is %s; expected %s", key, node_describe(node, reader->arena), what);
    return false;
}

static bool check_bounds(const struct fields_reader *reader, const struct stagesim_field *field, const char *key,
                         const struct node *node, double value)
{
    if (field->least >= field->most || (value >= field->least && value <= field->most))
        return true;
    const char *unit = types[field->type].unit;
    if (value < field->least && field->least < 1e-100)
        diag_error(reader->diag, node->at, "%s is %s; expected more than 0", key, node->text);
    else if (value < field->least)
        diag_error(reader->diag, node->at, "%s is %s; expected at least %g%s", key, node->text, field->least, unit);
    else
        diag_error(reader->diag, node->at, "%s is %s; expected at most %.10g%s", key, node->text, field->most, unit);
    return false;
}

static bool read_number(const struct fields_reader *reader, const struct stagesim_field *field, const char *key,
                        const struct node *node, double *value)
{
    struct quantity_reason reason;
    double number;
    if (!check_scalar(reader, key, node, expected(reader, field)))
        return false;
    if (!quantity_parse(types[field->type].quantity, node->text, &number, &reason)) {
        diag_error(reader->diag, node->at, "%s: %s", key, reason.text);
        return false;
    }
    if (!check_bounds(reader, field, key, node, number))
        return false;
    *value = number;
    return true;
}

static bool read_count(const struct fields_reader *reader, const struct stagesim_field *field, const char *key,
                       const struct node *node, uint64_t *value)
{
    struct quantity_reason reason;
    uint64_t number;
    if (!check_scalar(reader, key, node, expected(reader, field)))
        return false;
    if (!quantity_count(node->text, &number, &reason)) {
        diag_error(reader->diag, node->at, "%s: %s", key, reason.text);
        return false;
    }
    if (!check_bounds(reader, field, key, node, (double)number))
        return false;
    *value = number;
    return true;
}

/* A number alone counts elements; with a unit it is a size. */
static bool read_amount(const struct fields_reader *reader, const struct stagesim_field *field, const char *key,
                        const struct node *node, struct stagesim_amount *value)
{
    struct quantity_reason reason;
    double number;
    if (!check_scalar(reader, key, node, expected(reader, field)))
        return false;
    bool plain = !node->text[strspn(node->text, "0123456789.eE+-")];
    if (!quantity_parse(plain ? QUANTITY_RATIO : QUANTITY_BYTES, node->text, &number, &reason)) {
        diag_error(reader->diag, node->at, "%s: %s", key, reason.text);
        return false;
    }
    if (!check_bounds(reader, field, key, node, number))
        return false;
    *value = (struct stagesim_amount){plain ? number : 0, plain ? 0 : number, true};
    return true;
}

static bool read_whole(const struct fields_reader *reader, const struct stagesim_field *field, const char *key,
                       const struct node *node, double *value)
{
    uint64_t count;
    if (!read_count(reader, field, key, node, &count))
        return false;
    *value = (double)count;
    return true;
}

static void report_empty(const struct fields_reader *reader, const struct stagesim_field *field, const char *key,
                         const struct node *node)
{
    diag_error(reader->diag, node->at, "%s is an empty list; expected %s, or a list of them", key,
               expected(reader, field));
}

static bool read_list(const struct fields_reader *reader, const struct stagesim_field *field, const char *key,
                      const struct node *node, struct stagesim_list *list)
{
    bool scalar = node->kind != NODE_LIST;
    size_t count = scalar ? 1 : node->count;
    double *values = arena_array(reader->arena, count, sizeof *values);
    bool good = true;
    if (!count) {
        report_empty(reader, field, key, node);
        return false;
    }
    const struct node *entry = scalar ? node : node->first;
    for (size_t i = 0; i < count; i++, entry = entry->next)
        good &= field->type == STAGESIM_FIELD_COUNTS ? read_whole(reader, field, key, entry, &values[i])
                                                     : read_number(reader, field, key, entry, &values[i]);
    if (good)
        *list = (struct stagesim_list){.count = count, .values = values};
    return good;
}

/* A list in a list of texts is one of them: "[gather, scatter]". */
static const char *join(const struct node *list, struct arena *arena)
{
    const char *text = "[", *separator = "";
    for (const struct node *part = list->first; part; part = part->next, separator = ", ")
        text = arena_print(arena, "%s%s%s", text, separator, part->kind == NODE_SCALAR ? part->text : "");
    return arena_print(arena, "%s]", text);
}

static bool read_texts(const struct fields_reader *reader, const struct stagesim_field *field, const char *key,
                       const struct node *node, struct stagesim_texts *list)
{
    bool scalar = node->kind != NODE_LIST, good = true;
    size_t count = scalar ? 1 : node->count;
    const char **texts = arena_array(reader->arena, count, sizeof *texts);
    if (!count) {
        report_empty(reader, field, key, node);
        return false;
    }
    const struct node *entry = scalar ? node : node->first;
    for (size_t i = 0; i < count; i++, entry = entry->next) {
        bool joined = !scalar && entry->kind == NODE_LIST && !field->names;
        good &= joined || check_scalar(reader, key, entry, expected(reader, field));
        texts[i] = joined ? join(entry, reader->arena) : entry->text;
    }
    if (good)
        *list = (struct stagesim_texts){count, texts};
    return good;
}

bool fields_read_word(const struct fields_reader *reader, const char *key, const struct node *node,
                      const char *const *names, unsigned *index)
{
    bool scalar = node->kind == NODE_SCALAR && *node->text; /* what is expected takes time to say */
    if (!scalar && !check_scalar(reader, key, node, list_names(NULL, names, reader->arena)))
        return false;
    for (unsigned i = 0; names[i]; i++) {
        if (strcmp(names[i], node->text))
            continue;
        *index = i;
        return true;
    }
    const char *near = diag_nearest(node->text, names, count_words(names));
    diag_error(reader->diag, node->at, "%s: '%.60s' is not known; expected %s%s%s%s", key, node->text,
               list_names(node->text, names, reader->arena), near ? "; did you mean '" : "", near ? near : "",
               near ? "'?" : "");
    return false;
}

static bool read_words(const struct fields_reader *reader, const char *key, const struct node *node,
                       const char *const *names, unsigned *bits)
{
    unsigned index = 0, result = 0;
    bool good = true;
    const struct node *entry = node->kind == NODE_LIST ? node->first : node;
    for (; entry; entry = entry == node ? NULL : entry->next) {
        bool known = fields_read_word(reader, key, entry, names, &index);
        good &= known;
        result |= known ? 1u << index : 0;
    }
    if (good)
        *bits = result;
    return good;
}

static bool read_flag(const struct fields_reader *reader, const char *key, const struct node *node, bool *value)
{
    if (!check_scalar(reader, key, node, "true or false"))
        return false;
    bool yes = !strcmp(node->text, "true");
    if (!yes && strcmp(node->text, "false")) {
        diag_error(reader->diag, node->at, "%s is '%.60s'; expected true or false", key, node->text);
        return false;
    }
    *value = yes;
    return true;
}

static bool read_path(const struct fields_reader *reader, const char *key, const struct node *node, const char **value)
{
    struct fault fault = {0};
    if (!check_scalar(reader, key, node, "the name of a file"))
        return false;
    const char *directory = node->at.line ? path_directory(node->at.file, reader->arena) : reader->directory;
    const char *path = path_of_file(directory, node->text, node->at.line == 0, reader->arena);
    if (!path_check_readable(path, &fault)) {
        diag_error(reader->diag, node->at, "%s: %s%s", key, fault.text,
                   path_near_file(directory, node->text, node->at.line == 0, reader->arena));
        return false;
    }
    *value = path;
    return true;
}

/* A misspelt required key is one mistake, not two. */
static bool is_misspelt(const struct fields_section *section, const struct node *node, const char *key)
{
    for (const struct node *child = node ? node->first : NULL; child; child = child->next)
        if (!fields_known(section, child->key) && diag_nearest(child->key, &key, 1))
            return true;
    return false;
}

static bool read_distribution(const struct fields_reader *reader, const struct stagesim_field *field, const char *key,
                              const struct node *node, const struct fields_distribution **value)
{
    const struct fields_distribution *read =
        fields_read_distribution(reader, key, node, field->type == STAGESIM_FIELD_FACTORS);
    *value = read ? read : *value;
    return read != NULL;
}

static bool read_row(const struct fields_reader *reader, const struct stagesim_row_type *type, const struct node *node,
                     void *row)
{
    struct fields_section section = {type->what, true, type->fields};
    unsigned errors = reader->diag->errors;
    if (type->defaults)
        memcpy(row, type->defaults, type->size);
    fields_check_keys(reader, &section, NULL, node);
    fields_read(reader, &section, node, node->at, row);
    return reader->diag->errors == errors;
}

/* The rows of a table: written out, or in a csv file of their own. */
static bool read_rows(const struct fields_reader *reader, const struct stagesim_field *field, const char *key,
                      const struct node *node, struct stagesim_rows *value)
{
    const struct node *list = node;
    const char *file = NULL;
    if (node->kind != NODE_LIST) {
        if (!check_scalar(reader, key, node, expected(reader, field)) || !read_path(reader, key, node, &file))
            return false;
        list = fields_load_rows(file, field->rows, node->at, reader->arena, reader->diag);
        if (!list)
            return false;
    }
    if (!list->count) {
        diag_error(reader->diag, list->at, "%s has no rows; expected %s in each", key, field->rows->what);
        return false;
    }
    char *rows = arena_array(reader->arena, list->count, field->rows->size);
    bool good = true;
    size_t index = 0;
    for (const struct node *entry = list->first; entry; entry = entry->next)
        good &= read_row(reader, field->rows, entry, rows + index++ * field->rows->size);
    if (good)
        *value = (struct stagesim_rows){list->count, rows};
    return good;
}

bool fields_read_value(const struct fields_reader *reader, const struct stagesim_field *field, const char *key,
                       const struct node *node, void *target)
{
    void *value = (char *)target + field->offset;
    if (node->kind == NODE_REFUSED)
        return false;
    switch (field->type) {
    case STAGESIM_FIELD_COUNT:
        return read_count(reader, field, key, node, value);
    case STAGESIM_FIELD_TIMES:
    case STAGESIM_FIELD_BYTES_LIST:
    case STAGESIM_FIELD_COUNTS:
    case STAGESIM_FIELD_RATIOS:
        return read_list(reader, field, key, node, value);
    case STAGESIM_FIELD_FLAG:
        return read_flag(reader, key, node, value);
    case STAGESIM_FIELD_NAME:
        return fields_read_word(reader, key, node, field->names, value);
    case STAGESIM_FIELD_NAMES:
        return read_words(reader, key, node, field->names, value);
    case STAGESIM_FIELD_TEXT:
        if (!check_scalar(reader, key, node, "a text"))
            return false;
        *(const char **)value = node->text;
        return true;
    case STAGESIM_FIELD_TEXTS:
        return read_texts(reader, field, key, node, value);
    case STAGESIM_FIELD_PATH:
        return read_path(reader, key, node, value);
    case STAGESIM_FIELD_AMOUNT:
        return read_amount(reader, field, key, node, value);
    case STAGESIM_FIELD_ROWS:
        return read_rows(reader, field, key, node, value);
    case STAGESIM_FIELD_DISTRIBUTION:
    case STAGESIM_FIELD_FACTORS:
        return read_distribution(reader, field, key, node, value);
    default:
        return read_number(reader, field, key, node, value);
    }
}

void fields_report_unknown(const struct fields_reader *reader, const char *what, const struct node *node,
                           const char *const *words, size_t count)
{
    struct names_text list;
    const char *near = alias_nearest(node->key, words, count);
    const char *elsewhere = reader->paths ? alias_elsewhere(node->key, reader->paths(reader->user)) : NULL;
    bool sure = near && alias_is(node->key, near);
    if (elsewhere && !sure)
        near = elsewhere;
    if (near)
        diag_error(reader->diag, node->key_at, "'%.60s' is not a key of %s; did you mean '%s'?", node->key, what, near);
    else if (count)
        diag_error(reader->diag, node->key_at, "'%.60s' is not a key of %s; expected %s", node->key, what,
                   names_list(&list, node->key, words, count, keys_page));
    else
        diag_error(reader->diag, node->key_at, "'%.60s' is not a key of %s, which has none", node->key, what);
}

void fields_check_keys(const struct fields_reader *reader, const struct fields_section *section,
                       const char *const *others, const struct node *node)
{
    size_t room = 0, count = 0;
    for (const struct stagesim_field *field = section->fields; field->key; field++)
        room++;
    for (const char *const *other = others; other && *other; other++)
        room++;
    const char **words = arena_array(reader->arena, room + 1, sizeof *words);
    for (const struct stagesim_field *field = section->fields; field->key; field++)
        if (fields_key(section, field))
            words[count++] = fields_key(section, field);
    for (; others && *others; others++)
        words[count++] = *others;
    for (const struct node *child = node && node->kind == NODE_MAP ? node->first : NULL; child; child = child->next) {
        bool known = false;
        for (size_t i = 0; i < count && !known; i++)
            known = !strcmp(words[i], child->key);
        if (!known)
            fields_report_unknown(reader, section->name, child, words, count);
    }
}

static void report_missing(const struct fields_reader *reader, const struct fields_section *section,
                           const struct stagesim_field *field, const char *key, struct place at)
{
    const char *what = field->type == STAGESIM_FIELD_TEXT && field->doc ? field->doc : expected(reader, field);
    diag_error(reader->diag, at, "%s has no '%s'; expected %s", section->name, key, what);
}

void fields_read(const struct fields_reader *reader, const struct fields_section *section, const struct node *node,
                 struct place missing, void *target)
{
    if (node && node->kind == NODE_REFUSED)
        return;
    if (node && node->kind != NODE_MAP && !node_is_empty(node)) {
        diag_error(reader->diag, node->at, "%s is %s; expected a map such as {key: value}", section->name,
                   node_describe(node, reader->arena));
        return;
    }
    for (const struct stagesim_field *field = section->fields; field->key; field++) {
        const char *key = fields_key(section, field);
        if (!key)
            continue;
        const struct node *value = node_get(node, key);
        if (value)
            fields_read_value(reader, field, key, value, target);
        else if (field->required && !is_misspelt(section, node, key))
            report_missing(reader, section, field, key, node ? node->at : missing);
    }
}
