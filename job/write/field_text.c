/* SPDX-License-Identifier: Apache-2.0 */
#include "job/write/field_text.h"

#include "abi/fields/fields_distribution.h"
#include "base/arena.h"
#include "base/bulk.h"
#include "base/document.h"
#include "base/number_text.h"
#include "base/quantity.h"
#include "job/write/relative.h"
#include "job/write/scenario_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Units from the base unit on, and what values of them are. */
static const struct units {
    enum quantity quantity;
    const char *names[9]; /* NULL-terminated, the base unit first */
    double sizes[9];
} times = {QUANTITY_TIME, {"s", "ms", "us"}, {1, 1e-3, 1e-6}},
  sizes = {QUANTITY_BYTES,
           {"B", "kB", "MB", "GB", "KiB", "MiB", "GiB", "TiB"},
           {1, 1e3, 1e6, 1e9, 0x1p10, 0x1p20, 0x1p30, 0x1p40}},
  rates = {QUANTITY_RATE, {"Bps", "MBps", "GBps"}, {1, 1e6, 1e9}},
  powers = {QUANTITY_POWER, {"W", "kW", "MW"}, {1, 1e3, 1e6}},
  speeds = {QUANTITY_FLOPS, {"f", "Gf", "Tf"}, {1, 1e9, 1e12}}, none = {QUANTITY_RATIO, {""}, {1}};

static const struct units *units_of(enum stagesim_field_type type)
{
    switch (type) {
    case STAGESIM_FIELD_TIME:
    case STAGESIM_FIELD_TIMES:
        return &times;
    case STAGESIM_FIELD_BYTES:
    case STAGESIM_FIELD_BYTES_LIST:
        return &sizes;
    case STAGESIM_FIELD_RATE:
        return &rates;
    case STAGESIM_FIELD_FLOPS:
        return &speeds;
    case STAGESIM_FIELD_WATTS:
        return &powers;
    default:
        return &none;
    }
}

/* The shortest text of all units that is read as exactly this value. */
static void write_number(FILE *out, double value, const struct units *units)
{
    enum { TEXT_MAX = NUMBER_TEXT_MAX + 8 };
    char best[TEXT_MAX] = "";
    for (size_t i = 0; units->names[i]; i++) {
        char number[NUMBER_TEXT_MAX], text[TEXT_MAX];
        struct quantity_reason reason;
        double read;
        snprintf(text, sizeof text, "%.*s%s", (int)number_write(number, value / units->sizes[i]), number,
                 units->names[i]);
        bool exact = quantity_parse(units->quantity, text, &read, &reason) && read == value;
        if (!*best || (exact && strlen(text) < strlen(best)))
            memcpy(best, text, sizeof best);
    }
    fputs(best, out);
}

static bool write_list(FILE *out, const struct stagesim_list *list, const struct units *units)
{
    for (size_t i = 0; i < list->count; i++) {
        fputs(i ? ", " : "[", out);
        write_number(out, list->values[i], units);
    }
    putc(']', out);
    return list->count > 0;
}

/* A text that is a list stands as one in the list of texts. */
static bool write_texts(FILE *out, const struct stagesim_texts *list)
{
    bool one = list->count == 1 && list->texts[0][0] != '[';
    for (size_t i = 0; i < list->count; i++) {
        fputs(i ? ", " : one ? "" : "[", out);
        if (list->texts[i][0] == '[')
            fputs(list->texts[i], out);
        else
            scenario_write_text(out, list->texts[i], false);
    }
    fputs(one ? "" : "]", out);
    return list->count > 0;
}

static void write_names(FILE *out, const char *const *names, unsigned bits)
{
    const char *between = "";
    putc('[', out);
    for (unsigned i = 0; names[i]; i++)
        if (bits >> i & 1) {
            fprintf(out, "%s%s", between, names[i]);
            between = ", ";
        }
    putc(']', out);
}

static bool write_word(FILE *out, const char *text)
{
    if (text)
        scenario_write_text(out, text, false);
    return text != NULL;
}

static bool write_rows(FILE *out, const struct stagesim_field *field, const struct stagesim_rows *rows,
                       const char *directory, struct arena *arena)
{
    const char *row = rows->rows;
    for (size_t i = 0; i < rows->count; i++, row += field->rows->size) {
        const char *between = "{";
        fputs(i ? ",\n    " : "[\n    ", out);
        for (const struct stagesim_field *column = field->rows->fields; column->key; column++) {
            const char *text = field_text(column, row, directory, arena);
            if (!text)
                continue;
            fprintf(out, "%s%s: %s", between, column->key, text);
            between = ", ";
        }
        putc('}', out);
    }
    putc(']', out);
    return rows->count > 0;
}

/* False: there is no value. */
static bool write_value(FILE *out, const struct stagesim_field *field, const void *target, const char *directory,
                        struct arena *arena)
{
    const void *value = (const char *)target + field->offset;
    const struct stagesim_amount *amount = value;
    switch (field->type) {
    case STAGESIM_FIELD_COUNT:
        return fprintf(out, "%llu", (unsigned long long)*(const uint64_t *)value) > 0;
    case STAGESIM_FIELD_FLAG:
        return fputs(*(const bool *)value ? "true" : "false", out) >= 0;
    case STAGESIM_FIELD_NAME:
        return fputs(field->names[*(const unsigned *)value], out) >= 0;
    case STAGESIM_FIELD_NAMES:
        write_names(out, field->names, *(const unsigned *)value);
        return true;
    case STAGESIM_FIELD_TEXT:
        return write_word(out, *(const char *const *)value);
    case STAGESIM_FIELD_PATH:
        return *(const char *const *)value &&
               write_word(out, path_relative(directory, *(const char *const *)value, arena));
    case STAGESIM_FIELD_TIMES:
    case STAGESIM_FIELD_BYTES_LIST:
    case STAGESIM_FIELD_COUNTS:
    case STAGESIM_FIELD_RATIOS:
        return write_list(out, value, units_of(field->type));
    case STAGESIM_FIELD_TEXTS:
        return write_texts(out, value);
    case STAGESIM_FIELD_AMOUNT:
        write_number(out, amount->bytes > 0 ? amount->bytes : amount->elements, amount->bytes > 0 ? &sizes : &none);
        return amount->given;
    case STAGESIM_FIELD_DISTRIBUTION:
    case STAGESIM_FIELD_FACTORS:
        return *(const struct fields_distribution *const *)value &&
               fputs((*(const struct fields_distribution *const *)value)->text, out) >= 0;
    case STAGESIM_FIELD_ROWS:
        return write_rows(out, field, value, directory, arena);
    default:
        if (!isfinite(*(const double *)value))
            return false;
        write_number(out, *(const double *)value, units_of(field->type));
        return true;
    }
}

/* Whether the reader takes the text. A value that stands for "not given" is outside a key's bounds, and is refused. */
static bool is_taken(const struct stagesim_field *field, const char *text, struct arena *arena)
{
    struct diag silent = {0};
    struct node root = {.kind = NODE_MAP};
    struct fields_reader reader = {".", arena, &silent, NULL};
    struct stagesim_field alone = *field;
    alone.offset = 0;
    void *scratch = arena_alloc(arena, fields_type_size(field->type));
    bool taken = document_set(&root, "value", text, (struct place){.file = "value"}, arena, &silent) &&
                 fields_read_value(&reader, &alone, field->key, root.first, scratch);
    if (silent.trouble) /* that says nothing of the value */
        die_of_memory(strlen(text));
    return taken;
}

const char *field_text(const struct stagesim_field *field, const void *target, const char *directory,
                       struct arena *arena)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = memory_stream_open(&text, &size);
    bool known = write_value(out, field, target, directory, arena);
    memory_stream_close(out);
    const char *copy = known ? arena_copy(arena, text) : NULL;
    free(text);
    bool plain = field->type == STAGESIM_FIELD_PATH || field->type == STAGESIM_FIELD_ROWS; /* need no check */
    return copy && (plain || is_taken(field, copy, arena)) ? copy : NULL;
}
