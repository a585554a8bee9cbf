/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/picture_chart.h"
#include "base/arena.h"
#include "commands/plan/plan_view.h"

#include <math.h>
#include <string.h>

enum { SERIES_MAX = 9 };

/* The front, then the ways of each platform; those of further platforms are in the last one together. */
struct drawing {
    const struct fleet *fleet;
    struct arena *arena;
    struct chart_series series[SERIES_MAX];
    double *x[SERIES_MAX], *y[SERIES_MAX];
    const char **labels;
    size_t count;
    double least[2], most[2];
};

static void add_point(struct drawing *drawing, size_t series, const struct fleet_way *way)
{
    size_t at = drawing->series[series].count++;
    drawing->x[series][at] = way->seconds / PLAN_DAY;
    drawing->y[series][at] = way->money;
}

static size_t series_of(struct drawing *drawing, const char *name)
{
    size_t i = 1;
    while (i < drawing->count && strcmp(drawing->series[i].name, name) != 0)
        i++;
    if (i < drawing->count)
        return i;
    if (i == SERIES_MAX) {
        drawing->series[SERIES_MAX - 1].name = "other platforms";
        return SERIES_MAX - 1;
    }
    drawing->count++;
    drawing->series[i] = (struct chart_series){.name = name, .form = CHART_POINTS};
    return i;
}

static void note_extent(struct drawing *drawing, const struct fleet_way *way)
{
    double at[2] = {way->seconds / PLAN_DAY, way->money};
    for (int i = 0; i < 2; i++) {
        drawing->least[i] = fmin(drawing->least[i], at[i]);
        drawing->most[i] = fmax(drawing->most[i], at[i]);
    }
}

static void collect(struct drawing *drawing)
{
    const struct fleet *fleet = drawing->fleet;
    for (int i = 0; i < SERIES_MAX; i++) {
        drawing->x[i] = arena_array(drawing->arena, fleet->way_count + 1, sizeof(double));
        drawing->y[i] = arena_array(drawing->arena, fleet->way_count + 1, sizeof(double));
    }
    drawing->labels = arena_array(drawing->arena, fleet->way_count + 1, sizeof *drawing->labels);
    drawing->series[0] =
        (struct chart_series){.name = "front", .form = CHART_STEPS, .labels = drawing->labels, .faint = true};
    drawing->count = 1;
    for (size_t i = 0; i < fleet->way_count; i++) {
        const struct fleet_way *way = &fleet->ways[i];
        const struct fleet_question *question = plan_question(fleet, way);
        note_extent(drawing, way);
        add_point(drawing, series_of(drawing, question->platform), way);
        if (!way->front)
            continue;
        drawing->labels[drawing->series[0].count] =
            arena_print(drawing->arena, way == fleet->best ? "%u: taken" : "%u", question->gpus);
        add_point(drawing, 0, way);
    }
    for (size_t i = 0; i < drawing->count; i++) {
        drawing->series[i].x = drawing->x[i];
        drawing->series[i].y = drawing->y[i];
    }
}

bool plan_picture(FILE *out, const struct fleet *fleet, enum canvas_format format, const struct picture_form *form,
                  struct fault *fault)
{
    static const double wide = 8; /* an axis over more than this is logarithmic */
    struct drawing drawing = {.fleet = fleet, .arena = arena_create(), .least = {INFINITY, INFINITY}};
    collect(&drawing);
    const char *currency = fleet->scenario->plan.currency;
    struct chart chart = {
        .title =
            arena_print(drawing.arena, "%.60s: days and money of clusters, GPUs at the front", fleet->scenario->name),
        .x = {.label = "days", .quantity = CHART_NUMBER, .logarithmic = drawing.most[0] > wide * drawing.least[0]},
        .y = {.label = currency ? arena_print(drawing.arena, "money, %.20s", currency) : "money",
              .quantity = CHART_NUMBER,
              .logarithmic = drawing.most[1] > wide * drawing.least[1],
              .fitted = true},
        .series = drawing.series,
        .series_count = drawing.count};
    bool done = picture_chart(&chart, format, form, out, fault);
    arena_destroy(drawing.arena);
    return done;
}
