/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/search/search_output.h"

#include "analysis/pictures/picture_chart.h"
#include "base/arena.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "base/text_writer.h"

#include <stdlib.h>

static const char *const status_names[] = {
    [SEARCH_FITS] = "fits", [SEARCH_DOES_NOT_FIT] = "does not fit", [SEARCH_ILLEGAL] = "illegal"};

static const struct search_result *ranked(const struct search *search, uint32_t rank)
{
    return &search->results[search->ranked[rank]];
}

/* ---- table ---- */

static struct table *begin_table(bool verified)
{
    static const char *const columns[] = {"data", "tensor", "pipeline", "micro"};
    struct table *table = table_create();
    table_column(table, "rank", '>');
    for (size_t i = 0; i < 4; i++)
        table_column(table, columns[i], '>');
    table_column(table, "schedule", '<');
    table_column(table, "recompute", '<');
    table_column(table, "zero", '>');
    if (verified)
        table_column(table, "iteration", '>');
    table_column(table, verified ? "analytic" : "iteration", '>');
    table_column(table, "samples/s", '>');
    table_column(table, "MFU", '>');
    table_column(table, "bubble", '>');
    table_column(table, "memory", '>');
    return table;
}

static double time_of(const struct search_result *result)
{
    return result->verified > 0 ? result->verified : result->iteration;
}

/* A figure that goes with the inverse of the time, at the verified time. */
static double at_time(const struct search_result *result, double figure)
{
    return time_of(result) > 0 ? figure * result->iteration / time_of(result) : figure;
}

static void add_row(struct table *table, const struct search *search, uint32_t rank, bool verified)
{
    const struct search_result *result = ranked(search, rank);
    const struct search_candidate *candidate = &search->space.candidates[result->index];
    char text[QUANTITY_MAX];
    table_cell(table, "%u", rank + 1);
    table_cell(table, "%u", candidate->data);
    table_cell(table, "%u", candidate->tensor);
    table_cell(table, "%u", candidate->pipeline);
    table_cell(table, "%u", candidate->micro);
    table_cell(table, "%s", candidate->schedule->name);
    table_cell(table, "%s", recompute_name(candidate->recompute));
    table_cell(table, "%u", candidate->zero);
    if (verified)
        table_cell(table, "%s", quantity_seconds(text, result->verified));
    table_cell(table, "%s", quantity_seconds(text, result->iteration));
    table_cell(table, "%.4g", at_time(result, result->samples_per_s));
    table_cell(table, "%s", result->mfu > 0 ? quantity_percent(text, at_time(result, result->mfu)) : "");
    table_cell(table, "%s", quantity_percent(text, result->bubble));
    table_cell(table, "%s", quantity_binary_bytes(text, result->peak_bytes));
}

static void print_table(FILE *out, const struct search *search, uint32_t top)
{
    bool verified = search->ranked_count && ranked(search, 0)->verified > 0;
    if (search->ranked_count) {
        struct table *table = begin_table(verified);
        for (uint32_t rank = 0; rank < top && rank < search->ranked_count; rank++)
            add_row(table, search, rank, verified);
        table_print(table, out, 0);
        table_destroy(table);
        putc('\n', out);
    }
    fprintf(out, "candidates %u on %u GPUs: fit %u (%u like another), do not fit in memory %u, illegal %u\n",
            search->space.count, search->space.gpus, search->fit_count, search->fit_count - search->ranked_count,
            search->unfit_count, search->illegal_count);
    for (size_t i = 0; i < search->reason_count; i++)
        fprintf(out, "%8u  %s\n", search->reasons[i].count, search->reasons[i].text);
}

/* ---- csv ---- */

static void put_integer(struct text_writer *text, uint64_t value)
{
    text_integer(text, value);
    text_char(text, ',');
}

static void put_number(struct text_writer *text, double value, bool applies)
{
    if (applies)
        text_number(text, value);
    text_char(text, ',');
}

static void put_quoted(struct text_writer *text, const char *value)
{
    text_char(text, '"');
    for (; *value; value++) {
        if (*value == '"')
            text_char(text, '"');
        text_char(text, *value);
    }
    text_char(text, '"');
}

/* rank 0: none. */
static void put_row(struct text_writer *text, const struct search *search, const struct search_result *result,
                    uint32_t rank)
{
    const struct search_candidate *candidate = &search->space.candidates[result->index];
    bool legal = result->status != SEARCH_ILLEGAL;
    if (rank)
        text_integer(text, rank);
    text_char(text, ',');
    text_string(text, status_names[result->status]);
    text_char(text, ',');
    put_integer(text, candidate->data);
    put_integer(text, candidate->tensor);
    put_integer(text, candidate->pipeline);
    put_integer(text, candidate->micro);
    text_string(text, candidate->schedule->name);
    text_char(text, ',');
    text_string(text, recompute_name(candidate->recompute));
    text_char(text, ',');
    put_integer(text, candidate->zero);
    put_number(text, result->micro_batches, legal);
    put_number(text, result->iteration, legal);
    put_number(text, result->verified, result->verified > 0);
    put_number(text, time_of(result) / (double)search->scenario->global_batch, legal);
    put_number(text, at_time(result, result->samples_per_s), legal);
    put_number(text, at_time(result, result->mfu), legal && result->mfu > 0);
    put_number(text, result->bubble, legal);
    put_number(text, result->peak_bytes, legal && result->peak_bytes > 0);
    text_string(text, !legal ? "," : result->pareto ? "true," : "false,");
    if (!legal)
        put_quoted(text, result->reason);
    text_char(text, '\n');
}

/* The ranking, each followed by those like it. */
static void put_ranked(struct text_writer *text, const struct search *search)
{
    size_t count = search->space.count;
    uint32_t *next = array_grow(NULL, &(size_t){0}, 2 * count + 2, sizeof *next), *last = next + count;
    for (uint32_t i = 0; i < count; i++) {
        const struct search_result *result = &search->results[i];
        next[i] = last[i] = i; /* chains of those alike; the end points to itself */
        if (result->status != SEARCH_FITS || result->like == i)
            continue;
        next[last[result->like]] = i; /* the one in the ranking has the lower number */
        last[result->like] = i;
    }
    for (uint32_t rank = 0; rank < search->ranked_count; rank++)
        for (uint32_t i = search->ranked[rank], before = UINT32_MAX; i != before; before = i, i = next[i])
            put_row(text, search, &search->results[i], rank + 1);
    free(next);
}

static void print_csv(FILE *out, const struct search *search)
{
    struct text_writer *text = text_writer_create(out);
    text_string(
        text,
        "rank,status,data,tensor,pipeline,micro,schedule,recompute,zero,micro_batches,iteration_s,verified_iteration_s,"
        "seconds_per_sample,samples_per_s,mfu,bubble_ratio,peak_bytes,pareto,reason\n");
    put_ranked(text, search);
    for (int status = SEARCH_DOES_NOT_FIT; status <= SEARCH_ILLEGAL; status++)
        for (uint32_t i = 0; i < search->space.count; i++)
            if ((int)search->results[i].status == status)
                put_row(text, search, &search->results[i], 0);
    text_writer_destroy(text);
}

/* ---- json ---- */

static void put_layout(struct json_writer *json, const struct search *search, uint32_t rank)
{
    const struct search_result *result = ranked(search, rank);
    const struct search_candidate *candidate = &search->space.candidates[result->index];
    json_object_begin(json, NULL, false);
    json_integer(json, "rank", rank + 1);
    json_integer(json, "data", candidate->data);
    json_integer(json, "tensor", candidate->tensor);
    json_integer(json, "pipeline", candidate->pipeline);
    json_integer(json, "micro", candidate->micro);
    json_text(json, "schedule", candidate->schedule->name);
    json_text(json, "recompute", recompute_name(candidate->recompute));
    json_integer(json, "zero", candidate->zero);
    json_integer(json, "micro_batches", result->micro_batches);
    json_number(json, "iteration_s", result->iteration);
    if (result->verified > 0)
        json_number(json, "verified_iteration_s", result->verified);
    json_number(json, "seconds_per_sample", time_of(result) / (double)search->scenario->global_batch);
    json_number(json, "samples_per_s", at_time(result, result->samples_per_s));
    if (result->mfu > 0)
        json_number(json, "mfu", at_time(result, result->mfu));
    json_number(json, "bubble_ratio", result->bubble);
    if (result->peak_bytes > 0)
        json_number(json, "peak_bytes", result->peak_bytes);
    json_flag(json, "pareto", result->pareto);
    json_object_end(json);
}

static void print_json(FILE *out, const struct search *search, uint32_t top)
{
    struct json_writer json = json_writer_init(out);
    json_object_begin(&json, NULL, true);
    json_text(&json, "scenario", search->scenario->name);
    json_integer(&json, "gpus", search->space.gpus);
    json_integer(&json, "candidates", search->space.count);
    json_integer(&json, "fit", search->fit_count);
    json_integer(&json, "different", search->ranked_count);
    json_integer(&json, "do_not_fit", search->unfit_count);
    json_integer(&json, "illegal", search->illegal_count);
    json_array_begin(&json, "reasons", true);
    for (size_t i = 0; i < search->reason_count; i++) {
        json_object_begin(&json, NULL, false);
        json_integer(&json, "count", search->reasons[i].count);
        json_text(&json, "example", search->reasons[i].text);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_array_begin(&json, "best", true);
    for (uint32_t rank = 0; rank < top && rank < search->ranked_count; rank++)
        put_layout(&json, search, rank);
    json_array_end(&json);
    json_array_begin(&json, "pareto", true);
    for (uint32_t rank = 0; rank < search->ranked_count; rank++)
        if (ranked(search, rank)->pareto)
            put_layout(&json, search, rank);
    json_array_end(&json);
    json_object_end(&json);
}

void search_print(FILE *out, const struct search *search, uint32_t top, enum comparison_format format)
{
    if (format == COMPARISON_TABLE)
        print_table(out, search, top);
    else if (format == COMPARISON_CSV)
        print_csv(out, search);
    else
        print_json(out, search, top);
}

/* ---- picture ---- */

enum series { FITTING, UNFIT, FRONT, BEST, SERIES };

/* The coordinates of one series; the caller's arrays have room for all candidates. */
struct points {
    double *x, *y;
    size_t count;
};

static void add_point(struct points *points, const struct search_result *result)
{
    points->x[points->count] = result->iteration;
    points->y[points->count++] = result->peak_bytes;
}

static void collect_points(const struct search *search, struct points *points)
{
    for (uint32_t i = 0; i < search->space.count; i++)
        if (search->results[i].status != SEARCH_ILLEGAL)
            add_point(&points[search->results[i].status == SEARCH_FITS ? FITTING : UNFIT], &search->results[i]);
    for (uint32_t rank = 0; rank < search->ranked_count; rank++)
        if (ranked(search, rank)->pareto)
            add_point(&points[FRONT], ranked(search, rank));
    if (search->ranked_count)
        add_point(&points[BEST], ranked(search, 0));
}

bool search_picture(FILE *out, const struct search *search, enum canvas_format format, struct fault *fault)
{
    static const char *const names[SERIES] = {"fits", "does not fit", "Pareto front", "best"};
    struct arena *arena = arena_create();
    struct points points[SERIES];
    struct chart_series series[SERIES];
    for (int i = 0; i < SERIES; i++)
        points[i] = (struct points){arena_array(arena, (size_t)search->space.count + 1, sizeof(double)),
                                    arena_array(arena, (size_t)search->space.count + 1, sizeof(double)), 0};
    collect_points(search, points);
    size_t count = 0;
    for (int i = 0; i < SERIES; i++)
        if (points[i].count)
            series[count++] = (struct chart_series){names[i], i == FRONT ? CHART_LINE : CHART_POINTS, points[i].x,
                                                    points[i].y, points[i].count};
    double capacity = 0;
    for (uint32_t i = 0; i < search->space.count; i++)
        capacity = search->results[i].capacity_bytes > 0 ? search->results[i].capacity_bytes : capacity;
    struct chart chart = {
        .title = arena_print(arena, "%.60s: layouts on %u GPUs", search->scenario->name, search->space.gpus),
        .subtitle = "each mark is a layout: axes, micro-batch, schedule, recomputation, ZeRO",
        .x = {"iteration time, analytic engine", CHART_SECONDS, true},
        .y = {"memory of the fullest GPU", CHART_BYTES, true},
        .series = series,
        .series_count = count,
        .limit = capacity,
        .limit_name = "memory of a GPU"};
    bool done = picture_chart(&chart, format, NULL, out, fault);
    arena_destroy(arena);
    return done;
}
