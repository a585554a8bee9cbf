/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/search/search_picture.h"

#include "analysis/pictures/picture_chart.h"
#include "base/arena.h"
#include "commands/search/search_view.h"

#include <math.h>
#include <string.h>

enum { COLOURS = 8 };

/* The front, then the layouts of each schedule; those of rare schedules are in the last one together. */
struct drawing {
    const struct search *search;
    struct arena *arena;
    struct chart_series series[1 + COLOURS];
    double *x[1 + COLOURS], *y[1 + COLOURS];
    const char **labels;
    size_t count;
    double slowest, fastest, least, most, capacity;
};

static const char *schedule_at(const struct drawing *drawing, uint64_t at)
{
    const char *name = search_schedule_name(drawing->search, at, drawing->arena);
    return name ? name : "no pipeline";
}

/* The Pareto front is of the objective and memory: of a training's figures, those are what the picture is of. */
static double across(const struct search *search, const struct search_result *result)
{
    double value = search_value(search, result, false);
    return search_quantile_name(search)          ? value
           : search->objective < OBJECTIVE_DAYS  ? result->iteration
           : search->objective == OBJECTIVE_DAYS ? value / 86400
                                                 : value;
}

static const char *across_words(const struct search *search)
{
    return search->objective == OBJECTIVE_P50     ? "p50 of steps that vary, analytic engine"
           : search->objective == OBJECTIVE_P95   ? "p95 of steps that vary, analytic engine"
           : search->objective == OBJECTIVE_P99   ? "p99 of steps that vary, analytic engine"
           : search->objective == OBJECTIVE_DAYS  ? "days of the training, analytic engine"
           : search->objective == OBJECTIVE_PRICE ? "price of the training, analytic engine"
           : search->objective == OBJECTIVE_GOODPUT
               ? "time of the training over that of steps that count, analytic engine"
               : "iteration time, analytic engine";
}

static void add_point(struct drawing *drawing, size_t series, const struct search_result *result)
{
    size_t at = drawing->series[series].count++;
    drawing->x[series][at] = across(drawing->search, result);
    drawing->y[series][at] = result->peak_bytes;
}

/* Which series a schedule has; a new one as long as there are colours. */
static size_t series_of(struct drawing *drawing, const char *name)
{
    size_t i = 1;
    while (i < drawing->count && strcmp(drawing->series[i].name, name) != 0)
        i++;
    if (i < drawing->count)
        return i;
    if (i > COLOURS) {
        drawing->series[COLOURS].name = "other schedules";
        return COLOURS;
    }
    drawing->count++;
    drawing->series[i] = (struct chart_series){.name = name, .form = CHART_POINTS};
    return i;
}

static void add_layout(struct drawing *drawing, uint64_t at)
{
    const struct search_result *result = search_result_at(drawing->search, at);
    struct arena *arena = drawing->arena;
    add_point(drawing, series_of(drawing, schedule_at(drawing, at)), result);
    drawing->fastest = fmin(drawing->fastest, across(drawing->search, result));
    drawing->slowest = fmax(drawing->slowest, across(drawing->search, result));
    drawing->least = fmin(drawing->least, result->peak_bytes);
    drawing->most = fmax(drawing->most, result->peak_bytes);
    drawing->capacity = fmax(drawing->capacity, result->capacity_bytes);
    if (!result->pareto)
        return;
    const char *name = search_layout_name(drawing->search, at, arena);
    drawing->labels[drawing->series[0].count] =
        drawing->search->best_count && drawing->search->best[0] == at ? arena_print(arena, "%s: best", name) : name;
    add_point(drawing, 0, result);
}

static void collect(struct drawing *drawing)
{
    size_t room = (size_t)drawing->search->ranked_count + 1;
    for (int i = 0; i <= COLOURS; i++) {
        drawing->x[i] = arena_array(drawing->arena, room, sizeof(double));
        drawing->y[i] = arena_array(drawing->arena, room, sizeof(double));
    }
    drawing->labels = arena_array(drawing->arena, room, sizeof *drawing->labels);
    drawing->series[0] =
        (struct chart_series){.name = "Pareto front", .form = CHART_STEPS, .labels = drawing->labels, .faint = true};
    drawing->count = 1;
    for (uint64_t at = 0; at < drawing->search->ranked_count; at++)
        add_layout(drawing, at);
    for (size_t i = 0; i < drawing->count; i++) {
        drawing->series[i].x = drawing->x[i];
        drawing->series[i].y = drawing->y[i];
    }
}

/* An axis over much more than its least value is logarithmic; one over less shows the difference. */
static bool is_wide(double least, double most)
{
    return least > 0 && most > 8 * least;
}

bool search_picture(FILE *out, const struct search *search, enum canvas_format format, const struct picture_form *form,
                    struct fault *fault)
{
    struct drawing drawing = {.search = search, .arena = arena_create(), .fastest = INFINITY, .least = INFINITY};
    collect(&drawing);
    struct chart chart = {
        .title =
            arena_print(drawing.arena, "%.60s: layouts on %s GPUs", search->scenario->name, search->space.gpus_text),
        .subtitle = "layouts that were timed; d data, t tensor, p pipeline, m samples of a micro-batch, Z ZeRO",
        .x = {across_words(search), search->objective < OBJECTIVE_DAYS ? CHART_SECONDS : CHART_NUMBER,
              is_wide(drawing.fastest, drawing.slowest), true},
        .y = {"memory of the fullest GPU", CHART_BYTES, is_wide(drawing.least, drawing.most), true},
        .series = drawing.series,
        .series_count = drawing.count,
        .limit = drawing.capacity <= 1.5 * drawing.most ? drawing.capacity : 0,
        .limit_name = search->scenario->reserve > 0 ? "memory of a GPU, less what is held back" : "memory of a GPU"};
    bool done = picture_chart(&chart, format, form, out, fault);
    arena_destroy(drawing.arena);
    return done;
}
