/* SPDX-License-Identifier: Apache-2.0 */
/* Reads jobs.json back. */
#include "base/arena.h"
#include "base/document.h"
#include "cluster/jobs/jobs_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Longer than any run; pictures compute with it. */
static const double seconds_most = 1e12;

struct loading {
    struct jobs_view *view;
    struct arena *arena;
    struct diag *diag;
    bool good;
};

static void refuse(struct loading *loading, const struct node *node, const char *expected)
{
    if (loading->good)
        diag_error(loading->diag, node->at, "jobs.json: %s; expected %s, as `stagesim run -o` writes it",
                   node_describe(node, loading->arena), expected);
    loading->good = false;
}

static const char *text_of(struct loading *loading, const struct node *node, const struct node *parent)
{
    if (node && node->kind == NODE_SCALAR)
        return node->text;
    refuse(loading, node ? node : parent, "a text");
    return "";
}

static double number_of(struct loading *loading, const struct node *node, const struct node *parent)
{
    const char *text = text_of(loading, node, parent);
    char *end;
    double number = strtod(text, &end);
    if (end != text && !*end && isfinite(number))
        return number;
    if (loading->good)
        refuse(loading, node ? node : parent, "a number");
    return 0;
}

static const struct node *list_of(struct loading *loading, const struct node *map, const char *key)
{
    static const struct node empty = {.kind = NODE_LIST};
    const struct node *list = node_get(map, key);
    if (list && list->kind == NODE_LIST)
        return list;
    refuse(loading, list ? list : map, "a list");
    return &empty;
}

static const struct node *next_of(const struct node *node)
{
    return node ? node->next : NULL;
}

static void read_cells(struct loading *loading, const struct node *row, struct table *table)
{
    size_t cells = 0;
    for (const struct node *cell = row->first; cell && loading->good; cell = cell->next, cells++) {
        if (cell->kind != NODE_LIST || cells == table_column_count(table)) {
            refuse(loading, cell, "a cell for each column");
            return;
        }
        table_cell(table, "%s", text_of(loading, cell->first, cell));
        if (cell->count > 1)
            table_value(table, number_of(loading, cell->first->next, cell));
    }
    if (cells != table_column_count(table))
        refuse(loading, row, "a cell for each column");
}

static void read_table(struct loading *loading, const struct node *map)
{
    double which = map->kind == NODE_MAP ? number_of(loading, node_get(map, "table"), map) : -1;
    if (!loading->good || which < 0 || which >= JOBS_TABLES || loading->view->tables[(int)which]) {
        refuse(loading, map, "one of its tables");
        return;
    }
    struct table *table = loading->view->tables[(int)which] = table_create();
    const struct node *columns = list_of(loading, map, "columns");
    for (const struct node *column = columns->first; column; column = column->next) {
        if (columns->count > TABLE_COLUMNS_MAX || column->kind != NODE_SCALAR)
            refuse(loading, columns, "1 to 24 titles");
        else
            table_column(table, text_of(loading, column, columns), column == columns->first ? '<' : '>');
    }
    if (!columns->count)
        refuse(loading, columns, "1 to 24 titles");
    for (const struct node *row = list_of(loading, map, "rows")->first; row && loading->good; row = row->next)
        read_cells(loading, row, table);
}

static void read_box(struct loading *loading, const struct node *entry)
{
    struct gantt *gantt = loading->view->gantt;
    const struct node *kind = next_of(entry->first), *number = next_of(kind), *start = next_of(number);
    double row = number_of(loading, entry->first, entry), count = number_of(loading, number, entry);
    const char *what = text_of(loading, kind, entry);
    bool computes = !strcmp(what, "compute"), known = computes || !strcmp(what, "transfer");
    struct gantt_box box = {.start = number_of(loading, start, entry),
                            .end = number_of(loading, next_of(start), entry),
                            .number = GANTT_NO_NUMBER,
                            .kind = computes ? GANTT_COMPUTE : GANTT_COLLECTIVE,
                            .lane = computes ? GANTT_LANE_COMPUTE : GANTT_LANE_COLLECTIVE};
    bool sound = known && row >= 0 && row < (double)gantt->row_count && count >= 0 && count < UINT32_MAX &&
                 box.start >= 0 && box.start <= box.end && box.end <= seconds_most;
    if (!sound)
        refuse(loading, entry, "a box [job, compute or transfer, iteration, start, end]");
    if (!loading->good)
        return;
    box.row = (uint32_t)row;
    if (computes)
        box.number = (uint32_t)count;
    gantt_add_box(gantt, &box);
}

static void read_gantt(struct loading *loading, const struct node *root)
{
    struct jobs_view *view = loading->view;
    view->gantt = gantt_create(view->title, view->subtitle, GANTT_SECONDS);
    view->gantt->jobs = 1;
    for (const struct node *row = list_of(loading, root, "jobs")->first; row && loading->good; row = row->next) {
        double busy = number_of(loading, next_of(row->first), row);
        gantt_add_row(view->gantt, text_of(loading, row->first, row), busy);
        if (busy < -1 || busy > 1)
            refuse(loading, row, "a share");
    }
    if (!view->gantt->row_count || view->gantt->row_count > JOBS_MAX)
        refuse(loading, root, "one to 256 jobs");
    for (const struct node *box = list_of(loading, root, "boxes")->first; box && loading->good; box = box->next)
        read_box(loading, box);
    gantt_finish(view->gantt);
}

bool jobs_view_read(const char *file, struct jobs_view *view, struct arena *arena, struct diag *diag)
{
    static const struct document_kind kind = {.top = NODE_MAP,
                                              .bytes_max = (size_t)256 << 20,
                                              .expected = "what `stagesim run -o` writes",
                                              .second = "it holds one run"};
    struct loading loading = {view, arena, diag, true};
    *view = (struct jobs_view){0};
    const struct node *root = document_load_kind(&kind, file, (struct place){.file = file}, arena, diag);
    if (!root || root->kind != NODE_MAP)
        return false;
    view->title = text_of(&loading, node_get(root, "title"), root);
    view->subtitle = text_of(&loading, node_get(root, "subtitle"), root);
    view->verdict = text_of(&loading, node_get(root, "verdict"), root);
    view->remarks = text_of(&loading, node_get(root, "remarks"), root);
    int tiles = 0;
    for (const struct node *tile = list_of(&loading, root, "tiles")->first; tile && tiles < JOBS_TILES;
         tile = tile->next, tiles++)
        view->tiles[tiles] =
            (struct jobs_tile){text_of(&loading, tile->first, tile), text_of(&loading, next_of(tile->first), tile)};
    if (tiles < JOBS_TILES)
        refuse(&loading, root, "four tiles");
    for (const struct node *table = list_of(&loading, root, "tables")->first; table && loading.good;
         table = table->next)
        read_table(&loading, table);
    read_gantt(&loading, root);
    if (!loading.good)
        jobs_view_finish(view);
    return loading.good;
}
