/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/comparison_steps.h"

#include "analysis/output/html.h"
#include "analysis/pictures/picture_chart.h"
#include "base/arena.h"

#include <math.h>
#include <string.h>

/* Runs that are longer than the shortest by more than this factor are left out: the others would be on a heap. */
static const double SHOWN = 2;

static bool is_drawn(const struct comparison_row *row)
{
    return !*row->reason && row->tails.known;
}

bool comparison_has_steps(const struct comparison_row *rows, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any |= is_drawn(&rows[i]);
    return any;
}

static const char *label_of(const struct comparison_row *rows, size_t count, size_t index, struct arena *arena)
{
    bool several = false;
    for (size_t i = 1; i < count; i++)
        several |= strcmp(rows[i].scenario, rows[0].scenario) != 0;
    if (!*rows[index].schedule)
        return rows[index].scenario;
    return several ? arena_print(arena, "%s %s", rows[index].scenario, rows[index].schedule) : rows[index].schedule;
}

bool comparison_steps_picture(FILE *out, const struct comparison_row *rows, size_t count, enum canvas_format format,
                              const struct picture_form *form, struct fault *fault)
{
    struct arena *arena = arena_create();
    double *x = arena_array(arena, count + 1, sizeof *x), *y = arena_array(arena, count + 1, sizeof *y);
    const char **labels = arena_array(arena, count + 1, sizeof *labels);
    struct chart_series runs = {.name = "runs", .form = CHART_POINTS, .x = x, .y = y, .labels = labels};
    double least = INFINITY;
    size_t drawn = 0;
    for (size_t i = 0; i < count; i++)
        if (is_drawn(&rows[i])) {
            least = fmin(least, rows[i].tails.mean);
            drawn++;
        }
    for (size_t i = 0; i < count; i++)
        if (is_drawn(&rows[i]) && rows[i].tails.mean <= SHOWN * least) {
            labels[runs.count] = label_of(rows, count, i, arena);
            x[runs.count] = rows[i].tails.mean;
            y[runs.count++] = rows[i].tails.p95.value;
        }
    struct chart chart = {.title = "Steps on average and one time in twenty",
                          .subtitle = runs.count < drawn
                                          ? "the line: steps that are all alike; runs of more than twice "
                                            "the shortest mean are left out"
                                          : "the line: steps that are all alike",
                          .x = {.label = "mean", .quantity = CHART_SECONDS, .fitted = true},
                          .y = {.label = "p95", .quantity = CHART_SECONDS, .fitted = true},
                          .series = &runs,
                          .series_count = 1,
                          .diagonal = true,
                          .height = 640};
    bool done = picture_chart(&chart, format, form, out, fault);
    arena_destroy(arena);
    return done;
}

struct drawn {
    const struct comparison_row *rows;
    size_t count;
};

static bool draw(FILE *out, const struct picture_form *form, void *user, struct fault *fault)
{
    const struct drawn *drawn = user;
    return comparison_steps_picture(out, drawn->rows, drawn->count, CANVAS_SVG, form, fault);
}

bool comparison_steps_section(FILE *out, const struct comparison_row *rows, size_t count, struct fault *fault)
{
    struct drawn drawn = {rows, count};
    if (!comparison_has_steps(rows, count))
        return true;
    fputs("<h2>Steps that vary</h2>\n", out);
    return html_chart(out, draw, &drawn, "steps", "slim-steps", false, fault);
}
