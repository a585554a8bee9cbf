/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/sweep/sweep_view.h"

#include "analysis/pictures/picture_heat.h"
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/text/names.h"
#include "job/scenario/scenario_kind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MOST = 24 };

/* ---- what to show ---- */

static bool varies(const struct sweep *sweep, size_t axis)
{
    return sweep->request->axes[axis].count > 1;
}

/* The place of an axis by its key; false after the mistake was reported. */
static bool find_axis(const struct sweep *sweep, const char *option, const char *key, size_t *axis)
{
    const struct sweep_request *request = sweep->request;
    const char **keys = arena_array(sweep->arena, request->axis_count + 1, sizeof *keys);
    for (*axis = 0; *axis < request->axis_count; (*axis)++) {
        keys[*axis] = request->axes[*axis].key;
        if (!strcmp(keys[*axis], key))
            return true;
    }
    const char *nearest = diag_nearest(key, keys, request->axis_count);
    diag_print(stderr, "%s: error: '%s' is not varied%s%s%s\n", option, key, nearest ? "; did you mean '" : "",
               nearest ? nearest : "", nearest ? "'?" : "; expected a key of --set, schedule or what_if");
    return false;
}

static bool find_figure(const char *name, const struct sweep_figure **figure)
{
    const char *names[64];
    size_t count = 0;
    *figure = sweep_figure_find(name ? name : "iteration_s");
    if (*figure)
        return true;
    for (; sweep_figures[count].name; count++)
        names[count] = sweep_figures[count].name;
    const char *nearest = diag_nearest(name, names, count);
    struct names_text list;
    const char *known = names_list(&list, name, names, count, "`stagesim sweep --help`");
    diag_print(stderr, "--y: error: '%s' is no figure; %s%s%s\n", name, nearest ? "did you mean '" : "expected ",
               nearest ? nearest : known, nearest ? "'?" : "");
    return false;
}

/* The first axis that varies, with numbers or with words; axis_count: there is none. */
static size_t first_axis(const struct sweep *sweep, bool numbers, size_t other)
{
    const struct sweep_request *request = sweep->request;
    size_t axis = 0;
    while (axis < request->axis_count &&
           (axis == other || !varies(sweep, axis) || (request->axes[axis].numbers != NULL) != numbers))
        axis++;
    return axis;
}

static size_t choose_x(const struct sweep *sweep, size_t by)
{
    size_t none = sweep->request->axis_count, numbers = first_axis(sweep, true, by),
           words = first_axis(sweep, false, by);
    return numbers < none ? numbers : words < none ? words : 0;
}

static size_t choose_by(const struct sweep *sweep, size_t x)
{
    size_t none = sweep->request->axis_count, words = first_axis(sweep, false, x);
    return words < none ? words : first_axis(sweep, true, x);
}

bool sweep_view_choose(struct sweep_view *view, const struct sweep *sweep, const char *x, const char *y, const char *by)
{
    const struct sweep_axis *axes = sweep->request->axes;
    size_t none = sweep->request->axis_count;
    *view = (struct sweep_view){.sweep = sweep, .x = none, .by = none};
    const struct scenario_kind *kind = view->sweep->base ? view->sweep->base->kind : NULL;
    bool ok = find_figure(!y && kind && kind->figure ? kind->figure : y, &view->y);
    ok = (!x || find_axis(sweep, "--x", x, &view->x)) && ok;
    ok = (!by || find_axis(sweep, "--by", by, &view->by)) && ok;
    if (!ok)
        return false;
    if (view->x == none)
        view->x = choose_x(sweep, view->by);
    if (view->by == none)
        view->by = choose_by(sweep, view->x);
    if (view->x == view->by)
        view->by = none;
    bool fields = view->by < none && axes[view->by].numbers && axes[view->x].count > 2 && axes[view->by].count > 2;
    view->heat = !axes[view->x].numbers || (fields && !by) || (view->by < none && axes[view->by].count > LINES_MOST);
    return true;
}

/* ---- what came out ---- */

static double value_of(const struct sweep_view *view, size_t combination)
{
    const struct sweep_result *result = &view->sweep->results[combination];
    return result->status == SWEEP_RAN ? view->y->of(&result->row) : NAN;
}

static bool is_better(const struct sweep_view *view, double value, double than)
{
    return !isnan(value) && (isnan(than) || (view->y->better < 0 ? value < than : value > than));
}

size_t sweep_view_best(const struct sweep_view *view)
{
    const struct sweep *sweep = view->sweep;
    for (int choosy = 1; choosy >= 0; choosy--) {
        size_t best = sweep->count;
        for (size_t i = 0; i < sweep->count; i++)
            if ((!choosy || comparison_is_choice(&sweep->results[i].row)) &&
                is_better(view, value_of(view, i), best < sweep->count ? value_of(view, best) : NAN))
                best = i;
        if (best < sweep->count)
            return best;
    }
    return sweep->count;
}

const char *sweep_view_values(const struct sweep_view *view, size_t combination, struct arena *arena)
{
    const struct sweep *sweep = view->sweep;
    const char *text = "";
    for (size_t i = 0; i < sweep->request->axis_count; i++)
        if (varies(sweep, i))
            text = arena_print(arena, "%s%s%s %s", text, *text ? ", " : "", sweep->request->axes[i].key,
                               sweep->request->axes[i].labels[sweep_value(sweep, combination, i)]);
    return *text ? text : sweep->name;
}

/* ---- the picture ---- */

/* One value for each pair of values of x and by: the best over the axes that are not shown. */
struct field {
    size_t columns, rows;
    double *values; /* [row * columns + column] */
    size_t best;    /* of them; columns * rows: none */
    bool hides;     /* there are axes that are not shown */
};

static struct field field_of(const struct sweep_view *view, struct arena *arena)
{
    const struct sweep *sweep = view->sweep;
    const struct sweep_request *request = sweep->request;
    bool rows = view->by < request->axis_count;
    struct field field = {request->axes[view->x].count, rows ? request->axes[view->by].count : 1, NULL, 0, false};
    field.values = arena_array(arena, field.columns * field.rows, sizeof *field.values);
    for (size_t i = 0; i < field.columns * field.rows; i++)
        field.values[i] = NAN;
    for (size_t i = 0; i < sweep->count; i++) {
        size_t cell = sweep_value(sweep, i, view->x) + (rows ? sweep_value(sweep, i, view->by) * field.columns : 0);
        if (is_better(view, value_of(view, i), field.values[cell]))
            field.values[cell] = value_of(view, i);
    }
    for (size_t axis = 0; axis < request->axis_count; axis++)
        field.hides |= varies(sweep, axis) && axis != view->x && axis != view->by;
    size_t best = sweep_view_best(view);
    field.best = best == sweep->count ? field.columns * field.rows
                                      : sweep_value(sweep, best, view->x) +
                                            (rows ? sweep_value(sweep, best, view->by) * field.columns : 0);
    return field;
}

static const char *title_of(const struct sweep_view *view, struct arena *arena)
{
    return arena_print(arena, "%.60s: %s", view->sweep->name, view->y->label);
}

static const char *subtitle_of(const struct sweep_view *view, const struct field *field, struct arena *arena)
{
    const struct sweep *sweep = view->sweep;
    size_t best = sweep_view_best(view);
    const char *text =
        best < sweep->count ? arena_print(arena, "best: %s", sweep_view_values(view, best, arena)) : "nothing ran";
    return field->hides ? arena_print(arena, "%s; each value is the best over what is not shown", text) : text;
}

static bool draw_heat(const struct sweep_view *view, const struct field *field, enum canvas_format format,
                      const struct picture_form *form, struct arena *arena, FILE *out, struct fault *fault)
{
    const struct sweep_request *request = view->sweep->request;
    bool rows = view->by < request->axis_count;
    struct heat heat = {.title = title_of(view, arena),
                        .subtitle = subtitle_of(view, field, arena),
                        .x = request->axes[view->x].key,
                        .y = rows ? request->axes[view->by].key : NULL,
                        .columns = request->axes[view->x].labels,
                        .rows = rows ? request->axes[view->by].labels : NULL,
                        .column_count = field->columns,
                        .row_count = field->rows,
                        .values = field->values,
                        .quantity = view->y->quantity,
                        .best = field->best};
    return picture_heat(&heat, format, form, out, fault);
}

/* What the numbers of an axis are, and how they are drawn: in seconds or bytes where they have such a unit. */
static struct chart_axis axis_of(const struct sweep_axis *axis, struct arena *arena)
{
    double least = INFINITY, largest = -INFINITY;
    for (size_t i = 0; i < axis->count; i++) {
        least = fmin(least, axis->numbers[i]);
        largest = fmax(largest, axis->numbers[i]);
    }
    const char *label = *axis->unit ? arena_print(arena, "%s (%s)", axis->key, axis->unit) : axis->key;
    return (struct chart_axis){label, CHART_NUMBER, least > 0 && largest / least >= 8};
}

static int by_x(const void *left, const void *right)
{
    double a = ((const double *)left)[0], b = ((const double *)right)[0];
    return (a > b) - (a < b);
}

/* The points of a row, x ascending. */
static struct chart_series series_of(const struct sweep_axis *x, const struct field *field, size_t row,
                                     struct arena *arena)
{
    struct chart_series series = {.form = CHART_LINE};
    double(*points)[2] = arena_array(arena, field->columns, sizeof *points);
    double *xs = arena_array(arena, field->columns, sizeof *xs), *ys = arena_array(arena, field->columns, sizeof *ys);
    for (size_t i = 0; i < field->columns; i++) {
        double value = field->values[row * field->columns + i];
        if (isfinite(value)) {
            points[series.count][0] = x->numbers[i];
            points[series.count++][1] = value;
        }
    }
    qsort(points, series.count, sizeof *points, by_x);
    for (size_t i = 0; i < series.count; i++) {
        xs[i] = points[i][0];
        ys[i] = points[i][1];
    }
    series.x = xs;
    series.y = ys;
    return series;
}

/* A number says what it is of. */
static const char *row_name(const struct sweep_axis *axis, size_t row, struct arena *arena)
{
    return axis->numbers ? arena_print(arena, "%s %s", axis->key, axis->labels[row]) : axis->labels[row];
}

static bool draw_lines(const struct sweep_view *view, const struct field *field, enum canvas_format format,
                       const struct picture_form *form, struct arena *arena, FILE *out, struct fault *fault)
{
    const struct sweep_request *request = view->sweep->request;
    struct chart_series *series = arena_array(arena, field->rows, sizeof *series);
    for (size_t row = 0; row < field->rows; row++) {
        series[row] = series_of(&request->axes[view->x], field, row, arena);
        series[row].name =
            view->by < request->axis_count ? row_name(&request->axes[view->by], row, arena) : view->y->label;
    }
    struct chart chart = {.title = title_of(view, arena),
                          .subtitle = subtitle_of(view, field, arena),
                          .x = axis_of(&request->axes[view->x], arena),
                          .y = {view->y->label, view->y->quantity, false},
                          .series = series,
                          .series_count = field->rows};
    return picture_chart(&chart, format, form, out, fault);
}

bool sweep_view_picture(const struct sweep_view *view, enum canvas_format format, const struct picture_form *form,
                        FILE *out, struct fault *fault)
{
    struct arena *arena = arena_create();
    struct field field = field_of(view, arena);
    bool done = view->heat ? draw_heat(view, &field, format, form, arena, out, fault)
                           : draw_lines(view, &field, format, form, arena, out, fault);
    arena_destroy(arena);
    return done;
}
