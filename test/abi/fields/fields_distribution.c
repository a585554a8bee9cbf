/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/fields/fields_distribution.h"

#include "base/arena.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct answer {
    const struct fields_distribution *value; /* NULL after a mistake */
    char *messages;
};

static struct answer read_text(const char *text, struct arena *arena)
{
    struct answer answer = {NULL, NULL};
    size_t size = 0;
    FILE *out = open_memstream(&answer.messages, &size);
    struct diag diag = {.out = out};
    struct node root = {.kind = NODE_MAP};
    struct fields_reader reader = {".", arena, &diag, NULL};
    static const struct stagesim_field field = {"detect", STAGESIM_FIELD_DISTRIBUTION, 0};
    cr_assert(document_set(&root, "detect", text, (struct place){.file = "--set detect"}, arena, &diag));
    bool good = fields_read_value(&reader, &field, "detect", root.first, &answer.value);
    cr_assert_eq(good, answer.value != NULL);
    cr_assert_eq(good, diag.errors == 0);
    fclose(out);
    return answer;
}

/* What is read, its mean, and the same once more from the text that it is written as. */
static void check(const char *text, enum distribution_kind kind, double mean)
{
    struct arena *arena = arena_create();
    struct answer answer = read_text(text, arena);
    cr_assert(answer.value, "%s: %s", text, answer.messages);
    cr_assert_eq((int)answer.value->distribution.kind, (int)kind);
    cr_assert_float_eq(distribution_mean(&answer.value->distribution) / mean, 1, 1e-12, "%s", text);
    struct answer again = read_text(answer.value->text, arena);
    cr_assert(again.value, "%s: %s", answer.value->text, again.messages);
    struct draws one = {5}, other = {5};
    for (int i = 0; i < 20; i++)
        cr_assert_eq(distribution_draw(&answer.value->distribution, &one),
                     distribution_draw(&again.value->distribution, &other));
    free(answer.messages);
    free(again.messages);
    arena_destroy(arena);
}

Test(fields_distribution, every_kind_is_read)
{
    check("5min", DISTRIBUTION_FIXED, 300);
    check("{uniform: [5min, 20min]}", DISTRIBUTION_UNIFORM, 750);
    check("{exponential: 2h}", DISTRIBUTION_EXPONENTIAL, 7200);
    check("{normal: {mean: 10s, deviation: 2s}}", DISTRIBUTION_NORMAL, 10);
    check("{log-normal: {median: 222s, mean: 2334s}}", DISTRIBUTION_LOG_NORMAL, 2334);
    check("{log-normal: {mean: 10s, deviation: 20s}}", DISTRIBUTION_LOG_NORMAL, 10);
    check("{gamma: {mean: 10s, deviation: 20s}}", DISTRIBUTION_GAMMA, 10);
    check("{weibull: {mean: 30h, shape: 0.7}}", DISTRIBUTION_WEIBULL, 108000);
    check("{samples: [1min, 2min, 6min]}", DISTRIBUTION_SAMPLES, 180);
    check("{mixture: [{share: 0.75, of: 1min}, {share: 0.25, of: {samples: [1h, 3h]}}]}", DISTRIBUTION_MIXTURE, 1845);
}

Test(fields_distribution, samples_come_from_a_file)
{
    FILE *file = fopen("fields_distribution.csv", "w");
    cr_assert(file);
    fputs("time\n1.5min\n90s\n4h\n", file);
    fclose(file);
    check("{samples: fields_distribution.csv}", DISTRIBUTION_SAMPLES, (90 + 90 + 14400) / 3.0);
    check("{mixture: [{share: 0.5, of: {samples: fields_distribution.csv}}, {share: 0.5, of: 0s}]}",
          DISTRIBUTION_MIXTURE, (90 + 90 + 14400) / 6.0);
    remove("fields_distribution.csv");
}

static void check_refused(const char *text, const char *message)
{
    struct arena *arena = arena_create();
    struct answer answer = read_text(text, arena);
    cr_assert(!answer.value, "%s", text);
    cr_assert(strstr(answer.messages, message), "%s: %s", text, answer.messages);
    free(answer.messages);
    arena_destroy(arena);
}

Test(fields_distribution, what_cannot_be_meant_is_refused)
{
    check_refused("5", "expected a time such as");
    check_refused("[5min]", "expected a time such as 5min, or a distribution such as");
    check_refused("{log-norml: {median: 1s, mean: 2s}}", "did you mean 'log-normal'?");
    check_refused("{log-normal: {median: 3s, mean: 2s}}", "the median is not below the mean");
    check_refused("{log-normal: {mean: 2s}}", "expected a mean, and a median or a deviation");
    check_refused("{log-normal: {mean: 2s, median: 1s, deviation: 1s}}",
                  "expected a mean, and a median or a deviation");
    check_refused("{normal: {mean: 2s, deviation: 1s}}", "a deviation of at most a fifth of it");
    check_refused("{gamma: {mean: 2s}}", "expected a mean, and a deviation");
    check_refused("{weibull: {mean: 2s}}", "expected a mean and a shape");
    check_refused("{weibull: {mean: 2s, shap: 1}}", "did you mean 'shape'?");
    check_refused("{uniform: [5min]}", "expected the least and the most time");
    check_refused("{uniform: [5min, 1min]}", "expected the least and the most time");
    check_refused("{exponential: {mean: 5min}}", "detect is a map; expected a time");
    check_refused("{samples: nowhere.csv}", "nowhere.csv");
    check_refused("{mixture: [{share: 1, of: 1s}]}", "expected parts such as");
    check_refused("{mixture: [{share: 0.5, of: 1s}, {share: 0.4, of: 2s}]}", "the shares do not add up to 1");
    check_refused("{mixture: [{share: 0.5, of: 1s}, {of: 2s}]}", "expected a part such as");
    check_refused("{mixture: [{share: 0.5, of: 1s}, {share: 0.5, of: {mixture: [1s]}}]}", "'mixture' is not a key");
}
