/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/fields/fields_distribution.h"

#include "abi/fields/fields_rows.h"
#include "base/arena.h"
#include "base/bulk.h"
#include "base/number_text.h"
#include "base/paths.h"
#include "base/quantity.h"
#include "base/text/names.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char fields_distribution_expected[] =
    "a time such as 5min, or a distribution such as {log-normal: {median: 4min, mean: 39min}}";
const char fields_factors_expected[] =
    "a factor such as 1.05, or a distribution such as {log-normal: {mean: 1, deviation: 0.2}}";

#define TIME_MOST 1e10
#define TIME_LEAST 1e-9

struct reading {
    const struct fields_reader *reader;
    const char *key;        /* for messages */
    enum quantity quantity; /* a time, or a ratio: factors */
};

static const char *expected(const struct reading *reading)
{
    return reading->quantity == QUANTITY_RATIO ? fields_factors_expected : fields_distribution_expected;
}

/* What a mistake's example is with factors. */
static const char *example(const struct reading *reading, const char *times, const char *factors)
{
    return reading->quantity == QUANTITY_RATIO ? factors : times;
}

static bool mistake(const struct reading *reading, struct place at, const char *what)
{
    diag_error(reading->reader->diag, at, "%s: %s", reading->key, what);
    return false;
}

static bool unknown(const struct reading *reading, const struct node *node, const char *what, const char *const *words,
                    size_t count)
{
    struct names_text list;
    const char *near = diag_nearest(node->key, words, count);
    if (near)
        diag_error(reading->reader->diag, node->key_at, "'%.60s' is not a key of %s; did you mean '%s'?", node->key,
                   what, near);
    else
        diag_error(reading->reader->diag, node->key_at, "'%.60s' is not a key of %s; expected %s", node->key, what,
                   names_list(&list, node->key, words, count, "doc/scenario.md"));
    return false;
}

/* ---- numbers ---- */

/* A time, or a plain number; from `least` on. */
static bool read_number(const struct reading *reading, const struct node *node, enum quantity quantity, double least,
                        double *value)
{
    struct quantity_reason reason;
    struct diag *diag = reading->reader->diag;
    double number;
    if (node->kind == NODE_REFUSED)
        return false;
    if (node->kind != NODE_SCALAR || node_is_empty(node))
        diag_error(diag, node->at, "%s is %s; expected %s", reading->key, node_describe(node, reading->reader->arena),
                   quantity_expected(quantity));
    else if (!quantity_parse(quantity, node->text, &number, &reason))
        diag_error(diag, node->at, "%s: %s", reading->key, reason.text);
    else if (number < least || number > TIME_MOST)
        diag_error(diag, node->at, "%s is %s; expected from %g to %g", reading->key, node->text, least, TIME_MOST);
    else
        return *value = number, true;
    return false;
}

/* What describes one; 0: not given. */
enum description { MEAN, DEVIATION, MEDIAN, SHAPE, DESCRIPTIONS };
struct described {
    double mean, deviation, median, shape;
};

/* Those of the keys that a kind has, bits 1 << enum description; false after a mistake. */
static bool read_described(const struct reading *reading, const struct node *node, unsigned keys,
                           struct described *described)
{
    static const char *const names[DESCRIPTIONS] = {"mean", "deviation", "median", "shape"};
    double *const values[DESCRIPTIONS] = {&described->mean, &described->deviation, &described->median,
                                          &described->shape};
    const char *words[DESCRIPTIONS];
    size_t count = 0;
    bool good = true;
    if (node->kind != NODE_MAP)
        return node->kind != NODE_REFUSED && mistake(reading, node->at,
                                                     example(reading, "expected a map such as {mean: 5min, ...}",
                                                             "expected a map such as {mean: 1, ...}"));
    for (int i = 0; i < DESCRIPTIONS; i++)
        if (keys >> i & 1)
            words[count++] = names[i];
    for (const struct node *child = node->first; child; child = child->next) {
        int which = 0;
        while (which < DESCRIPTIONS && (!(keys >> which & 1) || strcmp(names[which], child->key) != 0))
            which++;
        good &= which < DESCRIPTIONS ? read_number(reading, child, which == SHAPE ? QUANTITY_RATIO : reading->quantity,
                                                   which == SHAPE ? 0.2 : TIME_LEAST, values[which])
                                     : unknown(reading, child, node->key, words, count);
    }
    return good;
}

static bool read_normal(const struct reading *reading, const struct node *node, struct distribution *d)
{
    struct described given = {0};
    if (!read_described(reading, node, 1u << MEAN | 1u << DEVIATION, &given))
        return false;
    if (!(given.mean > 0 && given.deviation > 0 && given.deviation <= given.mean / 5))
        return mistake(reading, node->at,
                       example(reading,
                               "expected a mean, and a deviation of at most a fifth of it, so that no time is below 0; "
                               "log-normal and gamma take larger ones",
                               "expected a mean, and a deviation of at most a fifth of it, so that no factor is below "
                               "0; log-normal and gamma take larger ones"));
    *d = (struct distribution){.kind = DISTRIBUTION_NORMAL, .a = given.mean, .b = given.deviation};
    return true;
}

static bool read_log_normal(const struct reading *reading, const struct node *node, struct distribution *d)
{
    struct described given = {0};
    if (!read_described(reading, node, 1u << MEAN | 1u << DEVIATION | 1u << MEDIAN, &given))
        return false;
    if (!(given.mean > 0 && (given.deviation > 0) != (given.median > 0)))
        return mistake(reading, node->at, "expected a mean, and a median or a deviation");
    if (given.median >= given.mean)
        return mistake(reading, node->at, "the median is not below the mean; a log-normal one has its tail above");
    *d = given.median > 0 ? distribution_log_normal_of_median(given.median, given.mean)
                          : distribution_log_normal(given.mean, given.deviation);
    return true;
}

static bool read_gamma(const struct reading *reading, const struct node *node, struct distribution *d)
{
    struct described given = {0};
    if (!read_described(reading, node, 1u << MEAN | 1u << DEVIATION, &given))
        return false;
    if (!(given.mean > 0 && given.deviation >= given.mean / 1000 && given.deviation <= 100 * given.mean))
        return mistake(reading, node->at, "expected a mean, and a deviation of a thousandth to a hundred times of it");
    *d = distribution_gamma(given.mean, given.deviation);
    return true;
}

static bool read_weibull(const struct reading *reading, const struct node *node, struct distribution *d)
{
    struct described given = {0};
    if (!read_described(reading, node, 1u << MEAN | 1u << SHAPE, &given))
        return false;
    if (!(given.mean > 0 && given.shape > 0))
        return mistake(reading, node->at, "expected a mean and a shape; below 1, what has lived long lives longer");
    *d = distribution_weibull(given.mean, given.shape);
    return true;
}

/* ---- one or two times, and many ---- */

/* One time, or a list of them. */
static bool read_list(const struct reading *reading, const struct node *node, struct stagesim_list *list)
{
    bool scalar = node->kind != NODE_LIST, good = true;
    size_t count = scalar ? 1 : node->count, i = 0;
    double *values = arena_array(reading->reader->arena, count + 1, sizeof *values);
    for (const struct node *entry = scalar ? node : node->first; i < count; entry = entry->next, i++)
        good &= read_number(reading, entry, reading->quantity, 0, &values[i]);
    *list = (struct stagesim_list){count, values};
    return good && (count || mistake(reading, node->at,
                                     example(reading, "expected times such as [1min, 2min]",
                                             "expected factors such as [1, 1.1]")));
}

static bool read_exponential(const struct reading *reading, const struct node *node, struct distribution *d)
{
    *d = distribution_exponential(0);
    return read_number(reading, node, reading->quantity, TIME_LEAST, &d->a);
}

static bool read_uniform(const struct reading *reading, const struct node *node, struct distribution *d)
{
    struct stagesim_list list = {0};
    if (!read_list(reading, node, &list))
        return false;
    if (list.count != 2 || !(list.values[0] < list.values[1]))
        return mistake(reading, node->at,
                       example(reading, "expected the least and the most time, such as [5min, 20min]",
                               "expected the least and the most factor, such as [0.9, 1.1]"));
    *d = (struct distribution){.kind = DISTRIBUTION_UNIFORM, .a = list.values[0], .b = list.values[1]};
    return true;
}

static const struct stagesim_field sample_fields[] = {{"time", STAGESIM_FIELD_TIME, 0, .required = true}, {0}};
static const struct stagesim_row_type sample_type = {"a sample", sample_fields, sizeof(double), NULL};
static const struct stagesim_field factor_fields[] = {{"factor", STAGESIM_FIELD_RATIO, 0, .required = true}, {0}};
static const struct stagesim_row_type factor_type = {"a sample", factor_fields, sizeof(double), NULL};

/* The rows of a table as a list of times. */
static bool read_file(const struct reading *reading, const struct node *node, struct stagesim_list *list)
{
    const struct fields_reader *reader = reading->reader;
    const char *directory = node->at.line ? path_directory(node->at.file, reader->arena) : reader->directory;
    const char *path = path_of_file(directory, node->text, node->at.line == 0, reader->arena);
    struct fault fault = {0};
    if (!path_check_readable(path, &fault))
        return mistake(reading, node->at, fault.text);
    const struct stagesim_row_type *type = reading->quantity == QUANTITY_RATIO ? &factor_type : &sample_type;
    const char *column = type->fields[0].key;
    const struct node *rows = fields_load_rows(path, type, node->at, reader->arena, reader->diag);
    double *values = arena_array(reader->arena, rows ? rows->count + 1 : 1, sizeof *values);
    bool good = rows && (rows->count || mistake(reading, node->at, "the file has no rows"));
    size_t count = 0;
    for (const struct node *row = rows ? rows->first : NULL; row; row = row->next, count++)
        good &= node_get(row, column)
                    ? read_number(reading, node_get(row, column), reading->quantity, 0, &values[count])
                    : mistake(reading, row->at, example(reading, "the row has no time", "the row has no factor"));
    *list = (struct stagesim_list){count, values};
    return good;
}

static bool read_samples(const struct reading *reading, const struct node *node, struct distribution *d)
{
    struct stagesim_list list = {0};
    bool file = node->kind == NODE_SCALAR && strstr(node->text, ".csv");
    if (!(file ? read_file : read_list)(reading, node, &list))
        return false;
    *d = (struct distribution){.kind = DISTRIBUTION_SAMPLES, .values = list.values, .count = list.count};
    return d->count <= DISTRIBUTION_SAMPLES_MAX || mistake(reading, node->at, "expected at most 10,000 samples");
}

static bool read_mixture(const struct reading *reading, const struct node *node, struct distribution *d);

/* ---- kinds ---- */

static const struct {
    const char *name;
    bool (*read)(const struct reading *reading, const struct node *node, struct distribution *distribution);
} kinds[] = {{"uniform", read_uniform}, {"exponential", read_exponential},
             {"normal", read_normal},   {"log-normal", read_log_normal},
             {"gamma", read_gamma},     {"weibull", read_weibull},
             {"samples", read_samples}, {"mixture", read_mixture}};

enum { KINDS = sizeof kinds / sizeof *kinds, SIMPLE_KINDS = KINDS - 1 };

const char *fields_distribution_kind(size_t index)
{
    return index < KINDS ? kinds[index].name : NULL;
}

/* `count` of the kinds may be meant. */
static bool read_value(const struct reading *reading, const struct node *node, size_t count, struct distribution *d)
{
    const char *names[KINDS];
    if (node->kind == NODE_REFUSED)
        return false;
    if (node->kind == NODE_SCALAR && !node_is_empty(node)) {
        *d = distribution_fixed(0);
        return read_number(reading, node, reading->quantity, 0, &d->a);
    }
    if (node->kind != NODE_MAP || node->count != 1) {
        diag_error(reading->reader->diag, node->at, "%s is %s; expected %s", reading->key,
                   node_describe(node, reading->reader->arena), expected(reading));
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        names[i] = kinds[i].name;
        if (!strcmp(kinds[i].name, node->first->key))
            return kinds[i].read(reading, node->first, d);
    }
    return unknown(reading, node->first, "a distribution", names, count);
}

/* Shares of 1 and what each is of; shares[i] is what parts up to i have together. */
static bool read_part(const struct reading *reading, const struct node *node, double *share, struct distribution *d)
{
    const struct node *given = node_get(node, "share"), *of = node_get(node, "of");
    if (node->kind != NODE_MAP || node->count != 2 || !given || !of)
        return node->kind != NODE_REFUSED && mistake(reading, node->at,
                                                     example(reading, "expected a part such as {share: 0.95, of: 5min}",
                                                             "expected a part such as {share: 0.95, of: 1}"));
    return read_number(reading, given, QUANTITY_RATIO, 0, share) && read_value(reading, of, SIMPLE_KINDS, d);
}

static bool read_mixture(const struct reading *reading, const struct node *node, struct distribution *d)
{
    struct arena *arena = reading->reader->arena;
    if (node->kind != NODE_LIST || node->count < 2)
        return node->kind != NODE_REFUSED &&
               mistake(reading, node->at,
                       example(reading, "expected parts such as [{share: 0.95, of: 5min}, {share: 0.05, of: 3h}]",
                               "expected parts such as [{share: 0.95, of: 1}, {share: 0.05, of: 1.5}]"));
    struct distribution *parts = arena_array(arena, node->count, sizeof *parts);
    double *shares = arena_array(arena, node->count, sizeof *shares), all = 0;
    size_t count = 0;
    bool good = true;
    for (const struct node *part = node->first; part; part = part->next, count++) {
        good &= read_part(reading, part, &shares[count], &parts[count]);
        shares[count] = all += shares[count];
    }
    if (good && fabs(all - 1) > 1e-9)
        return mistake(reading, node->at, "the shares do not add up to 1");
    *d = (struct distribution){.kind = DISTRIBUTION_MIXTURE, .values = shares, .parts = parts, .count = count};
    return good;
}

/* ---- as a text ---- */

static const char *text_of_node(const struct node *node, struct arena *arena)
{
    bool map = node->kind == NODE_MAP;
    const char *text = map ? "{" : "[", *between = "";
    if (node->kind == NODE_SCALAR)
        return node->text;
    for (const struct node *child = node->first; child; child = child->next, between = ", ")
        text = map ? arena_print(arena, "%s%s%s: %s", text, between, child->key, text_of_node(child, arena))
                   : arena_print(arena, "%s%s%s", text, between, text_of_node(child, arena));
    return arena_print(arena, "%s%s", text, map ? "}" : "]");
}

/* Those of a file as well. */
static const char *text_of_samples(const struct distribution *d, const char *unit, struct arena *arena)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = memory_stream_open(&text, &size);
    for (size_t i = 0; i < d->count; i++) {
        char number[NUMBER_TEXT_MAX];
        fprintf(out, "%s%.*s%s", i ? ", " : "{samples: [", (int)number_write(number, d->values[i]), number, unit);
    }
    fputs("]}", out);
    memory_stream_close(out);
    char *copy = arena_copy(arena, text);
    free(text);
    return copy;
}

static const char *text_of_simple(const struct distribution *d, const struct node *node, const char *unit,
                                  struct arena *arena)
{
    return d->kind == DISTRIBUTION_SAMPLES ? text_of_samples(d, unit, arena) : text_of_node(node, arena);
}

static const char *text_of(const struct distribution *d, const struct node *node, const char *unit, struct arena *arena)
{
    const char *text = "{mixture: [", *between = "";
    const struct node *part = node->first ? node->first->first : NULL;
    if (d->kind != DISTRIBUTION_MIXTURE)
        return text_of_simple(d, node, unit, arena);
    for (size_t i = 0; i < d->count; i++, part = part->next, between = ", ")
        text = arena_print(arena, "%s%s{share: %s, of: %s}", text, between, node_get(part, "share")->text,
                           text_of_simple(&d->parts[i], node_get(part, "of"), unit, arena));
    return arena_print(arena, "%s]}", text);
}

const struct fields_distribution *fields_read_distribution(const struct fields_reader *reader, const char *key,
                                                           const struct node *node, bool factors)
{
    struct reading reading = {reader, key, factors ? QUANTITY_RATIO : QUANTITY_TIME};
    struct fields_distribution *value = arena_alloc(reader->arena, sizeof *value);
    if (!read_value(&reading, node, KINDS, &value->distribution))
        return NULL;
    value->text = text_of(&value->distribution, node, factors ? "" : "s", reader->arena);
    return value;
}

const struct fields_distribution *fields_distribution_of(const char *text, struct arena *arena)
{
    struct diag silent = {0};
    struct node root = {.kind = NODE_MAP};
    struct fields_reader reader = {".", arena, &silent, NULL};
    bool good = document_set(&root, "value", text, (struct place){.file = "value"}, arena, &silent);
    const struct fields_distribution *value =
        good ? fields_read_distribution(&reader, "value", root.first, false) : NULL;
    assert(value);
    return value;
}
