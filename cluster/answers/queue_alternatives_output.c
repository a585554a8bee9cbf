/* SPDX-License-Identifier: Apache-2.0 */
/* What another cluster, policy or budget would bring, for people and for programs. */
#include "base/arena.h"
#include "base/table.h"
#include "cluster/answers/queue_output.h"

#include <math.h>

static const char *verb_of(double from, double to)
{
    return to < from ? "falls" : to > from ? "rises" : "stays";
}

/* "with 20 % more nodes (19) the median waiting falls from 3.1 h to 1.4 h": of means where nobody waits at the median.
 */
static const char *sentence(const struct queue_view *view, const struct queue_alternative *row, struct arena *arena)
{
    char now[READABLE_MAX], then[READABLE_MAX];
    const struct queue_mean *wait = &view->figures->means[QUEUE_WAIT];
    bool median = wait->median > 0 || row->median > 0;
    double from = median ? wait->median : wait->mean, to = median ? row->median : row->wait;
    if (row->reason)
        return arena_print(arena, "%s: %s", row->what, row->reason);
    readable_seconds(now, from);
    readable_seconds(then, to);
    return from == to ? arena_print(arena, "%s the %s waiting stays at %s", row->what, median ? "median" : "mean", now)
                      : arena_print(arena, "%s the %s waiting %s from %s to %s", row->what, median ? "median" : "mean",
                                    verb_of(from, to), now, then);
}

static void put_row(struct table *table, const struct queue_energy *energy, const char *what,
                    const struct queue_alternative *row)
{
    table_cell(table, "%s", what);
    table_seconds(table, row->wait);
    table_seconds(table, row->median);
    table_seconds(table, row->completion);
    table_percent(table, row->allocated);
    table_percent(table, row->useful);
    queue_energy_cells(table, energy, row->joules, row->grams, row->cost);
}

/* The run as it is, and those that could be run. */
static struct table *table_of(const struct queue_view *view)
{
    const struct queue_figures *figures = view->figures;
    const struct queue_energy *energy = &figures->energy;
    struct queue_alternative now = {.wait = figures->means[QUEUE_WAIT].mean,
                                    .median = figures->means[QUEUE_WAIT].median,
                                    .completion = figures->means[QUEUE_COMPLETION].mean,
                                    .allocated = figures->allocated,
                                    .useful = figures->parts[PART_USEFUL],
                                    .joules = energy->joules,
                                    .grams = energy->grams,
                                    .cost = energy->cost};
    struct table *table = table_create();
    table_columns(table, "<what if", ">waiting", ">median", ">completion", ">allocated", ">useful", NULL);
    queue_energy_columns(table, energy);
    put_row(table, energy, "as it is", &now);
    for (size_t i = 0; i < view->alternatives.count; i++)
        if (!view->alternatives.rows[i].reason)
            put_row(table, energy, view->alternatives.rows[i].what, &view->alternatives.rows[i]);
    return table;
}

void queue_alternatives_print(FILE *out, const struct queue_view *view, enum table_format format)
{
    if (!view->alternatives.count || !table_is_read(format))
        return;
    struct arena *arena = arena_create();
    table_remarks(out, format, "\nWhat if\n\n");
    table_finish(table_of(view), out, table_style_of(format, out));
    table_remarks(out, format, "\n");
    for (size_t i = 0; i < view->alternatives.count; i++)
        table_remarks(out, format, arena_print(arena, "%s\n", sentence(view, &view->alternatives.rows[i], arena)));
    arena_destroy(arena);
}

void queue_alternatives_json(struct json_writer *json, const struct queue_view *view)
{
    if (!view->alternatives.count)
        return;
    json_array_begin(json, "alternatives", true);
    for (size_t i = 0; i < view->alternatives.count; i++) {
        const struct queue_alternative *row = &view->alternatives.rows[i];
        json_object_begin(json, NULL, false);
        json_text(json, "what", row->what);
        json_text(json, "set", row->set);
        if (row->reason) {
            json_text(json, "reason", row->reason);
        } else {
            json_number(json, "wait_s", row->wait);
            json_number(json, "wait_median_s", row->median);
            json_number(json, "completion_s", row->completion);
            json_number(json, "allocated", row->allocated);
            json_number(json, "useful", row->useful);
            queue_energy_json(json, &view->figures->energy, row->joules, row->grams, row->cost);
        }
        json_object_end(json);
    }
    json_array_end(json);
}

void queue_alternatives_page(struct queue_page *page, const struct queue_view *view, struct arena *arena)
{
    if (!view->alternatives.count)
        return;
    struct queue_section *section = queue_page_table(page, "What if", table_of(view));
    for (size_t i = 0; i < view->alternatives.count; i++)
        section->items =
            arena_print(arena, "%s%s\n", section->items, sentence(view, &view->alternatives.rows[i], arena));
    section->notes = "The same jobs, simulated once more for each. Jobs come when they did: users who wait less may "
                     "send more.";
}
