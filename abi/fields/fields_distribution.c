/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/fields/fields_distribution.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "base/number_text.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char fields_distribution_expected[] =
    "a time such as 5min, or a distribution such as {log-normal: {median: 4min, mean: 39min}}";

#define TIME_MOST 1e10
#define TIME_LEAST 1e-9

struct reading {
    const struct fields_reader *reader;
    const char *key; /* for messages */
};

/* ---- numbers that describe one ---- */

/* Each is 0 where it is not given. */
struct described {
    double mean, deviation, median, shape;
};

#define NUMBER(name, field_type, low, high)                                                                            \
    {                                                                                                                  \
#name, field_type, offsetof(struct described, name), .least = low, .most = high                                \
    }

static const struct stagesim_field mean_deviation[] = {NUMBER(mean, STAGESIM_FIELD_TIME, TIME_LEAST, TIME_MOST),
                                                       NUMBER(deviation, STAGESIM_FIELD_TIME, 0, TIME_MOST),
                                                       {0}};
static const struct stagesim_field mean_deviation_median[] = {
    NUMBER(mean, STAGESIM_FIELD_TIME, TIME_LEAST, TIME_MOST),
    NUMBER(deviation, STAGESIM_FIELD_TIME, 0, TIME_MOST),
    NUMBER(median, STAGESIM_FIELD_TIME, TIME_LEAST, TIME_MOST),
    {0}};
static const struct stagesim_field mean_shape[] = {
    NUMBER(mean, STAGESIM_FIELD_TIME, TIME_LEAST, TIME_MOST), NUMBER(shape, STAGESIM_FIELD_RATIO, 0.2, 100), {0}};

static bool mistake(const struct reading *reading, struct place at, const char *what)
{
    diag_error(reading->reader->diag, at, "%s: %s", reading->key, what);
    return false;
}

/* The keys of a kind; false after a mistake. */
static bool read_described(const struct reading *reading, const struct node *node, const struct stagesim_field *fields,
                           struct described *described)
{
    unsigned errors = reading->reader->diag->errors;
    struct fields_section section = {node->key, true, fields};
    if (node->kind != NODE_MAP)
        return node->kind != NODE_REFUSED && mistake(reading, node->at, "expected a map such as {mean: 5min, ...}");
    fields_check_keys(reading->reader, &section, NULL, node);
    fields_read(reading->reader, &section, node, node->at, described);
    return reading->reader->diag->errors == errors;
}

static bool read_normal(const struct reading *reading, const struct node *node, struct distribution *d)
{
    struct described given = {0};
    if (!read_described(reading, node, mean_deviation, &given))
        return false;
    if (!(given.mean > 0 && given.deviation > 0 && given.deviation <= given.mean / 5))
        return mistake(reading, node->at,
                       "expected a mean, and a deviation of at most a fifth of it, so that no time is below 0; "
                       "log-normal and gamma take larger ones");
    *d = (struct distribution){.kind = DISTRIBUTION_NORMAL, .a = given.mean, .b = given.deviation};
    return true;
}

static bool read_log_normal(const struct reading *reading, const struct node *node, struct distribution *d)
{
    struct described given = {0};
    if (!read_described(reading, node, mean_deviation_median, &given))
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
    if (!read_described(reading, node, mean_deviation, &given))
        return false;
    if (!(given.mean > 0 && given.deviation >= given.mean / 1000 && given.deviation <= 100 * given.mean))
        return mistake(reading, node->at, "expected a mean, and a deviation of a thousandth to a hundred times of it");
    *d = distribution_gamma(given.mean, given.deviation);
    return true;
}

static bool read_weibull(const struct reading *reading, const struct node *node, struct distribution *d)
{
    struct described given = {0};
    if (!read_described(reading, node, mean_shape, &given))
        return false;
    if (!(given.mean > 0 && given.shape > 0))
        return mistake(reading, node->at, "expected a mean and a shape; below 1, what has lived long lives longer");
    *d = distribution_weibull(given.mean, given.shape);
    return true;
}

/* ---- one or two times, and many ---- */

static bool read_list(const struct reading *reading, const struct node *node, struct stagesim_list *list)
{
    static const struct stagesim_field times = {"", STAGESIM_FIELD_TIMES, 0, .least = 0, .most = TIME_MOST};
    return fields_read_value(reading->reader, &times, reading->key, node, list);
}

static bool read_exponential(const struct reading *reading, const struct node *node, struct distribution *d)
{
    static const struct stagesim_field time = {"", STAGESIM_FIELD_TIME, 0, .least = TIME_LEAST, .most = TIME_MOST};
    double mean = 0;
    if (!fields_read_value(reading->reader, &time, reading->key, node, &mean))
        return false;
    *d = distribution_exponential(mean);
    return true;
}

static bool read_uniform(const struct reading *reading, const struct node *node, struct distribution *d)
{
    struct stagesim_list list = {0};
    if (!read_list(reading, node, &list))
        return false;
    if (list.count != 2 || !(list.values[0] < list.values[1]))
        return mistake(reading, node->at, "expected the least and the most time, such as [5min, 20min]");
    *d = (struct distribution){.kind = DISTRIBUTION_UNIFORM, .a = list.values[0], .b = list.values[1]};
    return true;
}

static const struct stagesim_field sample_fields[] = {
    {"time", STAGESIM_FIELD_TIME, 0, .required = true, .least = 0, .most = TIME_MOST}, {0}};
static const struct stagesim_row_type sample_type = {"a sample", sample_fields, sizeof(double), NULL};

static bool read_samples(const struct reading *reading, const struct node *node, struct distribution *d)
{
    static const struct stagesim_field rows = {"", STAGESIM_FIELD_ROWS, 0, .rows = &sample_type};
    struct stagesim_rows table = {0};
    struct stagesim_list list = {0};
    bool file = node->kind == NODE_SCALAR && strstr(node->text, ".csv");
    if (file ? !fields_read_value(reading->reader, &rows, reading->key, node, &table)
             : !read_list(reading, node, &list))
        return false;
    *d = (struct distribution){.kind = DISTRIBUTION_SAMPLES,
                               .values = file ? table.rows : (const void *)list.values,
                               .count = file ? table.count : list.count};
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

/* `count` of the kinds may be meant. */
static bool read_value(const struct reading *reading, const struct node *node, size_t count, struct distribution *d)
{
    static const struct stagesim_field time = {"", STAGESIM_FIELD_TIME, 0, .least = 0, .most = TIME_MOST};
    const char *names[KINDS];
    if (node->kind == NODE_REFUSED)
        return false;
    if (node->kind == NODE_SCALAR && !node_is_empty(node)) {
        *d = distribution_fixed(0);
        return fields_read_value(reading->reader, &time, reading->key, node, &d->a);
    }
    if (node->kind != NODE_MAP || node->count != 1) {
        diag_error(reading->reader->diag, node->at, "%s is %s; expected %s", reading->key,
                   node_describe(node, reading->reader->arena), fields_distribution_expected);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        names[i] = kinds[i].name;
        if (!strcmp(kinds[i].name, node->first->key))
            return kinds[i].read(reading, node->first, d);
    }
    fields_report_unknown(reading->reader, "a distribution", node->first, names, count);
    return false;
}

/* Shares of 1 and what each is of; shares[i] is what parts up to i have together. */
static bool read_part(const struct reading *reading, const struct node *node, double *share, struct distribution *d)
{
    static const struct stagesim_field ratio = {"", STAGESIM_FIELD_RATIO, 0, .least = 0, .most = 1};
    const struct node *given = node_get(node, "share"), *of = node_get(node, "of");
    if (node->kind != NODE_MAP || node->count != 2 || !given || !of)
        return node->kind != NODE_REFUSED &&
               mistake(reading, node->at, "expected a part such as {share: 0.95, of: 5min}");
    return fields_read_value(reading->reader, &ratio, "share", given, share) &&
           read_value(reading, of, SIMPLE_KINDS, d);
}

static bool read_mixture(const struct reading *reading, const struct node *node, struct distribution *d)
{
    struct arena *arena = reading->reader->arena;
    if (node->kind != NODE_LIST || node->count < 2)
        return node->kind != NODE_REFUSED &&
               mistake(reading, node->at, "expected parts such as [{share: 0.95, of: 5min}, {share: 0.05, of: 3h}]");
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
static const char *text_of_samples(const struct distribution *d, struct arena *arena)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = memory_stream_open(&text, &size);
    for (size_t i = 0; i < d->count; i++) {
        char number[NUMBER_TEXT_MAX];
        fprintf(out, "%s%.*ss", i ? ", " : "{samples: [", (int)number_write(number, d->values[i]), number);
    }
    fputs("]}", out);
    memory_stream_close(out);
    char *copy = arena_copy(arena, text);
    free(text);
    return copy;
}

static const char *text_of_simple(const struct distribution *d, const struct node *node, struct arena *arena)
{
    return d->kind == DISTRIBUTION_SAMPLES ? text_of_samples(d, arena) : text_of_node(node, arena);
}

static const char *text_of(const struct distribution *d, const struct node *node, struct arena *arena)
{
    const char *text = "{mixture: [", *between = "";
    const struct node *part = node->first ? node->first->first : NULL;
    if (d->kind != DISTRIBUTION_MIXTURE)
        return text_of_simple(d, node, arena);
    for (size_t i = 0; i < d->count; i++, part = part->next, between = ", ")
        text = arena_print(arena, "%s%s{share: %s, of: %s}", text, between, node_get(part, "share")->text,
                           text_of_simple(&d->parts[i], node_get(part, "of"), arena));
    return arena_print(arena, "%s]}", text);
}

const struct fields_distribution *fields_read_distribution(const struct fields_reader *reader, const char *key,
                                                           const struct node *node)
{
    struct reading reading = {reader, key};
    struct fields_distribution *value = arena_alloc(reader->arena, sizeof *value);
    if (!read_value(&reading, node, KINDS, &value->distribution))
        return NULL;
    value->text = text_of(&value->distribution, node, reader->arena);
    return value;
}

const struct fields_distribution *fields_distribution_of(const char *text, struct arena *arena)
{
    struct diag silent = {0};
    struct node root = {.kind = NODE_MAP};
    struct fields_reader reader = {".", arena, &silent, NULL};
    bool good = document_set(&root, "value", text, (struct place){.file = "value"}, arena, &silent);
    const struct fields_distribution *value = good ? fields_read_distribution(&reader, "value", root.first) : NULL;
    assert(value);
    return value;
}
