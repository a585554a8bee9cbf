/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/sweep/sweep_output.h"

#include "analysis/band/band.h"
#include "analysis/output/html.h"
#include "analysis/pictures/picture_heat.h"
#include "base/arena.h"
#include "base/csv.h"
#include "base/json_writer.h"
#include "base/number_text.h"
#include "base/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_PRINTED = 60, ROWS_BEST = 20, ROWS_PAGE = 2000 };

static const struct sweep_axis *axis_at(const struct sweep *sweep, size_t axis)
{
    return &sweep->request->axes[axis];
}

static const char *label_at(const struct sweep *sweep, size_t combination, size_t axis)
{
    return axis_at(sweep, axis)->labels[sweep_value(sweep, combination, axis)];
}

static const char *fits_text(const struct comparison_row *row)
{
    return *row->reason || !row->capacity_known ? "" : row->fits ? "true" : "false";
}

/* ---- csv ---- */

static void csv_head(FILE *out, const struct sweep *sweep, struct arena *arena)
{
    for (size_t i = 0; i < sweep->request->axis_count; i++)
        fprintf(out, "%s,", csv_cell(axis_at(sweep, i)->key, arena));
    for (const struct sweep_figure *figure = sweep_figures; figure->name; figure++)
        fprintf(out, "%s,", figure->name);
    fputs("fits," COMPARISON_SETTLED_COLUMNS ",reason\n", out);
}

static void print_csv(FILE *out, const struct sweep *sweep)
{
    struct arena *arena = arena_create();
    char text[NUMBER_TEXT_MAX];
    csv_head(out, sweep, arena);
    for (size_t i = 0; i < sweep->count; i++) {
        const struct sweep_result *result = &sweep->results[i];
        if (result->status == SWEEP_OPEN)
            continue;
        for (size_t axis = 0; axis < sweep->request->axis_count; axis++)
            fprintf(out, "%s,", csv_cell(label_at(sweep, i, axis), arena));
        for (const struct sweep_figure *figure = sweep_figures; figure->name; figure++) {
            double value = result->status == SWEEP_RAN ? figure->of(&result->row) : NAN;
            if (isfinite(value))
                fwrite(text, 1, number_write(text, value), out);
            fputc(',', out);
        }
        fprintf(out, "%s,", fits_text(&result->row));
        comparison_put_settled(out, &result->row);
        fprintf(out, ",%s\n", csv_cell(result->row.reason, arena));
    }
    arena_destroy(arena);
}

/* ---- json ---- */

static void json_row(struct json_writer *json, const struct sweep *sweep, size_t i)
{
    const struct sweep_result *result = &sweep->results[i];
    json_object_begin(json, NULL, false);
    json_object_begin(json, "set", false);
    for (size_t axis = 0; axis < sweep->request->axis_count; axis++)
        json_text(json, axis_at(sweep, axis)->key, label_at(sweep, i, axis));
    json_object_end(json);
    for (const struct sweep_figure *figure = sweep_figures; figure->name && result->status == SWEEP_RAN; figure++)
        if (isfinite(figure->of(&result->row)))
            json_number(json, figure->name, figure->of(&result->row));
    if (*fits_text(&result->row))
        json_flag(json, "fits", result->row.fits);
    comparison_write_settled(json, &result->row);
    if (*result->row.reason)
        json_text(json, "reason", result->row.reason);
    json_object_end(json);
}

static void print_json(FILE *out, const struct sweep *sweep)
{
    struct json_writer json = json_writer_init(out);
    json_array_begin(&json, NULL, true);
    for (size_t i = 0; i < sweep->count; i++)
        if (sweep->results[i].status != SWEEP_OPEN)
            json_row(&json, sweep, i);
    json_array_end(&json);
}

/* ---- which rows and columns people see ---- */

/* The columns beside the axes: what is always asked, and what --y names. */
static size_t list_figures(const struct sweep_view *view, const struct sweep_figure **figures)
{
    static const char *const usual[] = {"iteration_s", "samples_per_s", "mfu",          "bubble",
                                        "memory",      "wait_s",        "completion_s", "bounded_slowdown",
                                        "fairness",    "makespan_s",    "busy",         "useful",
                                        "wait_p10_s",  "wait_p90_s",    "useful_p10",   "useful_p90"};
    const struct sweep *sweep = view->sweep;
    size_t count = 0;
    bool shown = false;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        const struct sweep_figure *figure = sweep_figure_find(usual[i]);
        bool known = false;
        for (size_t k = 0; k < sweep->count && !known; k++)
            known = sweep->results[k].status == SWEEP_RAN && isfinite(figure->of(&sweep->results[k].row));
        if (known)
            figures[count++] = figure;
        shown |= known && figure == view->y;
    }
    if (!shown)
        figures[count++] = view->y;
    return count;
}

static double rank_of(const struct sweep_view *view, size_t i)
{
    const struct sweep_result *result = &view->sweep->results[i];
    double value = result->status == SWEEP_RAN ? view->y->of(&result->row) : NAN;
    return isnan(value) ? INFINITY : view->y->better < 0 ? value : -value;
}

static int by_rank(const void *left, const void *right, void *user)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    double x = rank_of(user, a), y = rank_of(user, b);
    if (x != y)
        return x < y ? -1 : 1;
    return (a > b) - (a < b);
}

/* All that are known, or, of very many, the best. */
static size_t list_rows(const struct sweep_view *view, size_t most, size_t best, size_t *rows)
{
    const struct sweep *sweep = view->sweep;
    size_t count = 0;
    for (size_t i = 0; i < sweep->count; i++)
        if (sweep->results[i].status != SWEEP_OPEN)
            rows[count++] = i;
    if (count <= most)
        return count;
    qsort_r(rows, count, sizeof *rows, by_rank, (void *)(uintptr_t)view);
    return best;
}

/* ---- table ---- */

static void table_row(struct table *table, const struct sweep_view *view, size_t i, bool best,
                      const struct sweep_figure *const *figures, size_t figure_count)
{
    char text[READABLE_MAX + 16];
    const struct sweep *sweep = view->sweep;
    const struct sweep_result *result = &sweep->results[i];
    bool ran = result->status == SWEEP_RAN;
    for (size_t axis = 0; axis < sweep->request->axis_count; axis++)
        if (axis_at(sweep, axis)->count > 1)
            table_cell(table, "%s", label_at(sweep, i, axis));
    for (size_t k = 0; k < figure_count; k++)
        table_cell(table, "%s",
                   ran ? heat_value_text(text, sizeof text, figures[k]->quantity, figures[k]->of(&result->row)) : "");
    table_cell(table, "%s", ran && result->row.capacity_known ? result->row.fits ? "yes" : "no" : "");
    table_cell(table, "%s", best ? "best" : ran ? "" : result->row.reason);
}

/* The axis of seeds, where nothing else varies; the number of axes: there is none. */
static size_t seed_axis(const struct sweep *sweep)
{
    size_t found = sweep->request->axis_count;
    for (size_t axis = 0; axis < sweep->request->axis_count; axis++) {
        if (axis_at(sweep, axis)->count < 2)
            continue;
        const char *dot = strrchr(axis_at(sweep, axis)->key, '.');
        if (!dot || strcmp(dot, ".seed") != 0 || found < sweep->request->axis_count)
            return sweep->request->axis_count;
        found = axis;
    }
    return found;
}

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* How much luck does: the figure over all seeds. */
static void print_spread(FILE *out, const struct sweep_view *view, struct arena *arena)
{
    static const struct {
        const char *name;
        double part; /* of the values are no larger */
    } points[] = {{"least", 0}, {"median", 0.5}, {"95 % up to", 0.95}, {"most", 1}};
    const struct sweep *sweep = view->sweep;
    double *values = arena_array(arena, sweep->count + 1, sizeof *values), sum = 0;
    size_t count = 0;
    char text[READABLE_MAX + 16];
    for (size_t i = 0; i < sweep->count && seed_axis(sweep) < sweep->request->axis_count; i++)
        if (sweep->results[i].status == SWEEP_RAN && isfinite(view->y->of(&sweep->results[i].row)))
            sum += values[count++] = view->y->of(&sweep->results[i].row);
    if (count < 2)
        return;
    qsort(values, count, sizeof *values, by_size);
    fprintf(out, "%s over %zu seeds: mean %s", view->y->label, count,
            heat_value_text(text, sizeof text, view->y->quantity, sum / (double)count));
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        double place = ceil(points[i].part * (double)count);
        fprintf(out, ", %s %s", points[i].name,
                heat_value_text(text, sizeof text, view->y->quantity, values[place < 1 ? 0 : (size_t)place - 1]));
    }
    fputc('\n', out);
}

/* Which of the figures are not of one iteration, and which are although the next may take another time. */
static void print_settled(FILE *out, const struct sweep *sweep)
{
    size_t settled = 0, unsettled = 0;
    for (size_t i = 0; i < sweep->count; i++) {
        const struct sweep_result *result = &sweep->results[i];
        settled += result->status == SWEEP_RAN && result->row.settled;
        unsettled += result->status == SWEEP_RAN && result->row.unsettled;
    }
    if (settled)
        fprintf(out, "combinations with iterations that are not alike: %zu; they were run with `iterations: settled`\n",
                settled);
    if (unsettled)
        fprintf(out,
                "combinations whose next iteration may take another time: %zu; figures are of one, for `iterations: "
                "settled` failed or takes too long\n",
                unsettled);
}

/* What the table does not say. */
static void print_remarks(FILE *out, const struct sweep_view *view, size_t shown, struct arena *arena)
{
    const struct sweep *sweep = view->sweep;
    size_t best = sweep_view_best(view);
    char text[READABLE_MAX + 16];
    if (shown < sweep->count)
        fprintf(out, "the %zu best of %zu combinations\n", shown, sweep->count);
    if (best < sweep->count)
        fprintf(out, "best %s: %s with %s\n", view->y->label,
                heat_value_text(text, sizeof text, view->y->quantity, view->y->of(&sweep->results[best].row)),
                sweep_view_values(view, best, arena));
    if (best < sweep->count)
        band_say(out, &sweep->results[best].row.band);
    if (best < sweep->count && sweep->results[best].row.outlook.jobs)
        memory_band_say(out, &sweep->results[best].row.memory);
    print_settled(out, sweep);
    print_spread(out, view, arena);
}

static void print_table(FILE *out, const struct sweep_view *view, enum table_format format)
{
    const struct sweep *sweep = view->sweep;
    const struct sweep_figure *figures[16];
    size_t figure_count = list_figures(view, figures), size = 0;
    char *lines = NULL;
    struct arena *arena = arena_create();
    size_t *rows = arena_array(arena, sweep->count + 1, sizeof *rows);
    size_t count = list_rows(view, ROWS_PRINTED, ROWS_BEST, rows), best = sweep_view_best(view);
    struct table *table = table_create();
    for (size_t axis = 0; axis < sweep->request->axis_count; axis++)
        if (axis_at(sweep, axis)->count > 1)
            table_column(table, axis_at(sweep, axis)->key, axis_at(sweep, axis)->numbers ? '>' : '<');
    for (size_t k = 0; k < figure_count; k++)
        table_column(table, figures[k]->name, '>');
    table_columns(table, "<fits", "<", NULL);
    for (size_t i = 0; i < count; i++)
        table_row(table, view, rows[i], rows[i] == best, figures, figure_count);
    table_finish(table, out, table_style_of(format, out));
    FILE *remarks = table_remarks_begin(&lines, &size);
    print_remarks(remarks, view, count, arena);
    table_remarks_end(out, format, remarks, &lines);
    arena_destroy(arena);
}

void sweep_print(FILE *out, const struct sweep_view *view, enum table_format format)
{
    if (format == TABLE_CSV)
        print_csv(out, view->sweep);
    else if (format == TABLE_JSON)
        print_json(out, view->sweep);
    else
        print_table(out, view, format);
}

/* ---- the page ---- */

static void page_cell(FILE *out, const struct sweep_figure *figure, double value)
{
    char text[READABLE_MAX + 16], number[NUMBER_TEXT_MAX + 1] = "";
    if (isfinite(value))
        number[number_write(number, value)] = '\0';
    fprintf(out, "<td class=\"n\" data-v=\"%s\">", number);
    html_text(out, heat_value_text(text, sizeof text, figure->quantity, value));
    fputs("</td>", out);
}

static void page_row(FILE *out, const struct sweep_view *view, size_t i, bool best,
                     const struct sweep_figure *const *figures, size_t figure_count)
{
    const struct sweep *sweep = view->sweep;
    const struct sweep_result *result = &sweep->results[i];
    bool ran = result->status == SWEEP_RAN;
    fputs(best ? "<tr class=\"best\">" : "<tr>", out);
    for (size_t axis = 0; axis < sweep->request->axis_count; axis++) {
        if (axis_at(sweep, axis)->count < 2)
            continue;
        fputs(axis_at(sweep, axis)->numbers ? "<td class=\"n\">" : "<td>", out);
        html_text(out, label_at(sweep, i, axis));
        fputs("</td>", out);
    }
    for (size_t k = 0; k < figure_count; k++)
        page_cell(out, figures[k], ran ? figures[k]->of(&result->row) : NAN);
    fprintf(out, "<td>%s</td><td class=\"why\">",
            ran && result->row.capacity_known ? result->row.fits ? "yes" : "no" : "");
    html_text(out, result->row.reason);
    fputs("</td></tr>\n", out);
}

static void page_table(FILE *out, const struct sweep_view *view, struct arena *arena)
{
    const struct sweep *sweep = view->sweep;
    const struct sweep_figure *figures[16];
    size_t figure_count = list_figures(view, figures);
    size_t *rows = arena_array(arena, sweep->count + 1, sizeof *rows);
    size_t count = list_rows(view, ROWS_PAGE, ROWS_PAGE, rows), best = sweep_view_best(view);
    fputs("<h2>All combinations</h2>\n<div class=\"wide\"><table class=\"sort\">\n<thead><tr>", out);
    for (size_t axis = 0; axis < sweep->request->axis_count; axis++) {
        if (axis_at(sweep, axis)->count < 2)
            continue;
        fputs(axis_at(sweep, axis)->numbers ? "<th class=\"n\">" : "<th>", out);
        html_text(out, axis_at(sweep, axis)->key);
        fputs("</th>", out);
    }
    for (size_t k = 0; k < figure_count; k++)
        fprintf(out, "<th class=\"n\">%s</th>", figures[k]->label);
    fputs("<th>fits</th><th>why not</th></tr></thead>\n<tbody>\n", out);
    for (size_t i = 0; i < count; i++)
        page_row(out, view, rows[i], rows[i] == best, figures, figure_count);
    fputs("</tbody>\n</table></div>\n", out);
    if (count < sweep->count)
        fprintf(out, "<p class=\"note\">The %zu best of %zu; all are in sweep.csv.</p>\n", count, sweep->count);
}

static bool draw_chart(FILE *out, const struct picture_form *form, void *user, struct fault *fault)
{
    return sweep_view_picture(user, CANVAS_SVG, form, out, fault);
}

bool sweep_page(FILE *out, const struct sweep_view *view, struct fault *fault)
{
    const struct sweep *sweep = view->sweep;
    struct arena *arena = arena_create();
    char text[READABLE_MAX + 16];
    size_t best = sweep_view_best(view), ran = 0;
    for (size_t i = 0; i < sweep->count; i++)
        ran += sweep->results[i].status == SWEEP_RAN;
    html_begin(out, arena_print(arena, "%s: %zu combinations", sweep->name, sweep->count),
               arena_print(arena, "%zu of them could be simulated", ran));
    fputs("<p class=\"verdict\">", out);
    if (best < sweep->count) {
        fprintf(out, "The best %s is %s with ", view->y->label,
                heat_value_text(text, sizeof text, view->y->quantity, view->y->of(&sweep->results[best].row)));
        html_text(out, sweep_view_values(view, best, arena));
        fputs(".</p>\n", out);
    } else {
        fputs("Nothing ran.</p>\n", out);
    }
    struct sweep_view shown = *view;
    bool done = html_chart(out, draw_chart, &shown, "sweep-", "slim-", view->heat, fault);
    page_table(out, view, arena);
    html_end(out);
    arena_destroy(arena);
    return done;
}
