/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/fields/needs.h"

#include "abi/fields/fields.h"
#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 80 };

/* One alternative: a path, an operator and what is behind it, up to `end`. */
struct condition {
    char path[PATH_SIZE];
    char operation;       /* one of "><=!?-" */
    const char *operands; /* behind the operator */
    const char *end;
};

static const char *condition_read(const char *text, struct condition *out)
{
    size_t path = strcspn(text, "><=!?-|");
    snprintf(out->path, sizeof out->path, "%.*s", (int)path, text);
    out->operation = text[path];
    out->operands = text + path + 1;
    out->end = text + strcspn(text, "|");
    return *out->end ? out->end + 1 : NULL;
}

/* The next of the words between commas; NULL: there is none. */
static const char *word_next(const struct condition *condition, const char *at, char word[PATH_SIZE])
{
    if (at >= condition->end)
        return NULL;
    size_t length = strcspn(at, ",|");
    snprintf(word, PATH_SIZE, "%.*s", (int)length, at);
    return at + length + 1;
}

static bool is_word(const struct need_value *value, const char *word)
{
    if (value->word)
        return !strcmp(value->word, word);
    double difference = value->number - strtod(word, NULL);
    return !(difference > 0) && !(difference < 0);
}

static bool is_among(const struct condition *condition, const struct need_value *value)
{
    char word[PATH_SIZE];
    bool found = false;
    for (const char *at = condition->operands; (at = word_next(condition, at, word));)
        found |= is_word(value, word);
    return found;
}

static bool is_larger(const struct condition *condition, const struct need_value *value,
                      const struct need_values *values)
{
    char bound[PATH_SIZE];
    word_next(condition, condition->operands, bound);
    if (bound[0] != '@')
        return value->number > strtod(bound, NULL);
    struct need_value other = values->find(values->user, bound + 1);
    return !other.known || value->number > other.number;
}

static bool condition_holds(const struct condition *condition, const struct need_values *values)
{
    struct need_value value = values->find(values->user, condition->path);
    bool given = value.number > 0 || value.number < 0;
    if (!value.known)
        return true;
    switch (condition->operation) {
    case '>':
        return is_larger(condition, &value, values);
    case '=':
        return is_among(condition, &value);
    case '!':
        return !is_among(condition, &value);
    case '?':
        return given;
    default:
        return !given;
    }
}

bool need_holds(const char *needs, const struct need_values *values)
{
    struct condition condition;
    bool holds = false;
    for (const char *at = needs; at && !holds;) {
        at = condition_read(at, &condition);
        holds = condition_holds(&condition, values);
    }
    return holds;
}

/* ---- in words ---- */

static const char *list_words(const struct condition *condition, struct arena *arena)
{
    char word[PATH_SIZE];
    const char *text = "", *between = "";
    for (const char *at = condition->operands; (at = word_next(condition, at, word)); between = " or ")
        text = arena_print(arena, "%s%s%s", text, between, word);
    return text;
}

static const char *condition_words(const struct condition *condition, struct arena *arena)
{
    const char *path = condition->path, *operand = *condition->operands == '@' ? condition->operands + 1 : NULL;
    switch (condition->operation) {
    case '>':
        return operand ? arena_print(arena, "%s above %.*s", path, (int)(condition->end - operand), operand)
                       : arena_print(arena, "%s above %s", path, list_words(condition, arena));
    case '=':
        return arena_print(arena, "%s: %s", path, list_words(condition, arena));
    case '!':
        return arena_print(arena, "another %s than %s", path, list_words(condition, arena));
    case '?':
        return arena_copy(arena, path);
    default:
        return arena_print(arena, "no %s", path);
    }
}

const char *need_words(const char *needs, struct arena *arena)
{
    struct condition condition;
    const char *text = "", *between = "";
    for (const char *at = needs; at; between = ", or ") {
        at = condition_read(at, &condition);
        text = arena_print(arena, "%s%s%s", text, between, condition_words(&condition, arena));
    }
    return text;
}

/* ---- fields ---- */

struct need_value need_field_value(const struct stagesim_field *field, const void *parameters)
{
    const void *value = (const char *)parameters + field->offset;
    switch (field->type) {
    case STAGESIM_FIELD_COUNT:
        return (struct need_value){true, (double)*(const uint64_t *)value, NULL};
    case STAGESIM_FIELD_FLAG:
        return (struct need_value){true, *(const bool *)value, *(const bool *)value ? "true" : "false"};
    case STAGESIM_FIELD_NAME:
        return (struct need_value){true, *(const unsigned *)value, field->names[*(const unsigned *)value]};
    case STAGESIM_FIELD_NAMES:
        return (struct need_value){true, *(const unsigned *)value, NULL};
    case STAGESIM_FIELD_TEXT:
    case STAGESIM_FIELD_PATH:
    case STAGESIM_FIELD_DISTRIBUTION:
    case STAGESIM_FIELD_FACTORS:
        return (struct need_value){true, *(const void *const *)value != NULL, NULL};
    case STAGESIM_FIELD_TIMES:
    case STAGESIM_FIELD_BYTES_LIST:
    case STAGESIM_FIELD_COUNTS:
    case STAGESIM_FIELD_RATIOS:
        return (struct need_value){true, ((const struct stagesim_list *)value)->count > 0, NULL};
    case STAGESIM_FIELD_TEXTS:
        return (struct need_value){true, ((const struct stagesim_texts *)value)->count > 0, NULL};
    case STAGESIM_FIELD_ROWS:
        return (struct need_value){true, ((const struct stagesim_rows *)value)->count > 0, NULL};
    case STAGESIM_FIELD_AMOUNT:
        return (struct need_value){true, ((const struct stagesim_amount *)value)->given, NULL};
    default:
        return (struct need_value){true, *(const double *)value, NULL};
    }
}

bool need_field_differs(const struct stagesim_field *field, const void *parameters, const void *defaults)
{
    static const char zero[64];
    size_t size = fields_type_size(field->type);
    return memcmp((const char *)parameters + field->offset, defaults ? (const char *)defaults + field->offset : zero,
                  size) != 0;
}
