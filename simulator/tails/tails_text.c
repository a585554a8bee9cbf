/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/tails/tails_text.h"

#include "base/arena.h"
#include "base/table.h"

#define NUMBER(key, name)                                                                                              \
    {                                                                                                                  \
        key, false, offsetof(struct tails_figures, name)                                                               \
    }
#define COUNT(key, name)                                                                                               \
    {                                                                                                                  \
        key, true, offsetof(struct tails_figures, name)                                                                \
    }

const struct tails_figure tails_figures_table[] = {
    COUNT("drawn", steps),
    NUMBER("even_s", even),
    NUMBER("mean_s", mean),
    NUMBER("mean_error_s", error),
    NUMBER("mean_error_plain_s", plain_error),
    NUMBER("p50_s", p50.value),
    NUMBER("p50_low_s", p50.low),
    NUMBER("p50_high_s", p50.high),
    NUMBER("p95_s", p95.value),
    NUMBER("p95_low_s", p95.low),
    NUMBER("p95_high_s", p95.high),
    NUMBER("p99_s", p99.value),
    NUMBER("p99_low_s", p99.low),
    NUMBER("p99_high_s", p99.high),
    {NULL, false, 0},
};

/* ---- summaries ---- */

static void write_change(struct json_writer *json, const struct tails_figures *figures, int change)
{
    const struct tails_what_if *what_if = &figures->changes[change];
    if (!what_if->known)
        return;
    json_object_begin(json, tails_change_names[change], false);
    json_number(json, "mean_s", what_if->mean);
    json_number(json, "p95_s", what_if->p95);
    json_number(json, "saves", 1 - what_if->mean / figures->compared_mean);
    json_object_end(json);
}

void tails_write(struct json_writer *json, const struct tails_figures *figures)
{
    if (!figures->known)
        return;
    json_object_begin(json, "step", true);
    for (const struct tails_figure *figure = tails_figures_table; figure->key; figure++) {
        const void *value = (const char *)figures + figure->offset;
        if (figure->count)
            json_integer(json, figure->key, *(const uint32_t *)value);
        else
            json_number(json, figure->key, *(const double *)value);
    }
    json_array_begin(json, "stragglers", false);
    for (uint32_t i = 0; i < figures->straggler_count; i++) {
        json_object_begin(json, NULL, false);
        json_integer(json, "worker", figures->stragglers[i].worker);
        json_integer(json, "replica", figures->stragglers[i].replica);
        json_number(json, "share", figures->stragglers[i].share);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_begin(json, "changes", false);
    for (int change = 0; change < TAILS_CHANGES; change++)
        write_change(json, figures, change);
    json_object_end(json);
    json_object_end(json);
}

/* ---- words ---- */

const char *tails_sentence(const struct tails_figures *figures, struct arena *arena)
{
    char p50[READABLE_MAX], p95[READABLE_MAX], p99[READABLE_MAX];
    return arena_print(arena,
                       "Steps take %s in the middle, one of twenty more than %s, and one of a hundred more than %s",
                       readable_seconds(p50, figures->p50.value), readable_seconds(p95, figures->p95.value),
                       readable_seconds(p99, figures->p99.value));
}

static void print_quantile(FILE *out, const char *between, const char *name, const struct tails_quantile *quantile)
{
    char value[READABLE_MAX], low[READABLE_MAX], high[READABLE_MAX];
    fprintf(out, "%s%s %s (%s to %s)", between, name, readable_seconds(value, quantile->value),
            readable_seconds(low, quantile->low), readable_seconds(high, quantile->high));
}

static void print_changes(FILE *out, const struct tails_figures *figures)
{
    char p95[READABLE_MAX];
    const char *label = "without it";
    for (int change = 0; change < TAILS_CHANGES; change++) {
        const struct tails_what_if *what_if = &figures->changes[change];
        if (!what_if->known)
            continue;
        fprintf(out, "%-18s %s: mean %+.2f %%, p95 %s\n", label, tails_change_words[change],
                100 * (what_if->mean / figures->compared_mean - 1), readable_seconds(p95, what_if->p95));
        label = "";
    }
}

static void print_stragglers(FILE *out, const struct tails_figures *figures)
{
    char text[READABLE_MAX];
    fprintf(out, "%-18s ", "stragglers");
    for (uint32_t i = 0; i < figures->straggler_count; i++)
        fprintf(out, "%sworker %u of replica %u in %s", i ? ", " : "", figures->stragglers[i].worker,
                figures->stragglers[i].replica, readable_percent(text, figures->stragglers[i].share));
    fprintf(out, "%s\n", figures->straggler_count ? " of the steps" : "none");
}

void tails_print(FILE *out, const struct tails_figures *figures)
{
    char mean[READABLE_MAX], even[READABLE_MAX];
    fprintf(out, "%-18s ", "step");
    print_quantile(out, "", "p50", &figures->p50);
    print_quantile(out, ", ", "p95", &figures->p95);
    print_quantile(out, ", ", "p99", &figures->p99);
    fprintf(out,
            "\n%-18s mean %s +- %.2g %%, %+.2f %% over one in which nothing varies (%s); %u steps without contention\n",
            "", readable_seconds(mean, figures->mean), 200 * figures->error / figures->mean,
            100 * (figures->mean / figures->even - 1), readable_seconds(even, figures->even), figures->steps);
    if (!figures->exact)
        fprintf(out,
                "%-18s data of some collectives move before all have come: there the even step's times are taken\n",
                "");
    print_stragglers(out, figures);
    print_changes(out, figures);
}
