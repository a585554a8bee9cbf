/* SPDX-License-Identifier: Apache-2.0 */
/* Reads jobs.json back. */
#include "analysis/output/saved/kept_fields.h"
#include "base/arena.h"
#include "cluster/jobs/jobs_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Longer than any run; pictures compute with it. */
static const double seconds_most = 1e12;

struct loading {
    struct jobs_view *view;
    struct kept_file file;
};

static void read_table(struct loading *loading, const struct node *map)
{
    double which = map->kind == NODE_MAP ? kept_number(&loading->file, node_get(map, "table"), map) : -1;
    if (!loading->file.good || which < 0 || which >= JOBS_TABLES || loading->view->tables[(int)which]) {
        kept_refuse(&loading->file, map, "one of its tables");
        return;
    }
    struct table *table = loading->view->tables[(int)which] = table_create();
    kept_table_read(&loading->file, map, false, table);
}

static void read_box(struct loading *loading, const struct node *entry)
{
    struct gantt *gantt = loading->view->gantt;
    const struct node *kind = kept_next(entry->first), *number = kept_next(kind), *start = kept_next(number);
    double row = kept_number(&loading->file, entry->first, entry), count = kept_number(&loading->file, number, entry);
    const char *what = kept_text(&loading->file, kind, entry);
    bool computes = !strcmp(what, "compute"), known = computes || !strcmp(what, "transfer");
    struct gantt_box box = {.start = kept_number(&loading->file, start, entry),
                            .end = kept_number(&loading->file, kept_next(start), entry),
                            .number = GANTT_NO_NUMBER,
                            .kind = computes ? GANTT_COMPUTE : GANTT_COLLECTIVE,
                            .lane = computes ? GANTT_LANE_COMPUTE : GANTT_LANE_COLLECTIVE};
    bool sound = known && row >= 0 && row < (double)gantt->row_count && count >= 0 && count < UINT32_MAX &&
                 box.start >= 0 && box.start <= box.end && box.end <= seconds_most;
    if (!sound)
        kept_refuse(&loading->file, entry, "a box [job, compute or transfer, iteration, start, end]");
    if (!loading->file.good)
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
    for (const struct node *row = kept_list(&loading->file, root, "jobs")->first; row && loading->file.good;
         row = row->next) {
        double busy = kept_number(&loading->file, kept_next(row->first), row);
        gantt_add_row(view->gantt, kept_text(&loading->file, row->first, row), busy);
        if (busy < -1 || busy > 1)
            kept_refuse(&loading->file, row, "a share");
    }
    if (!view->gantt->row_count || view->gantt->row_count > JOBS_MAX)
        kept_refuse(&loading->file, root, "one to 256 jobs");
    for (const struct node *box = kept_list(&loading->file, root, "boxes")->first; box && loading->file.good;
         box = box->next)
        read_box(loading, box);
    gantt_finish(view->gantt);
}

bool jobs_view_read(const char *path, struct jobs_view *view, struct arena *arena, struct diag *diag)
{
    struct loading loading = {view, {JOBS_SAVED, arena, diag, true}};
    struct kept_file *file = &loading.file;
    const struct node *root = kept_load(path, file);
    *view = (struct jobs_view){0};
    if (!root)
        return false;
    view->title = kept_text(file, node_get(root, "title"), root);
    view->subtitle = kept_text(file, node_get(root, "subtitle"), root);
    view->verdict = kept_text(file, node_get(root, "verdict"), root);
    view->remarks = kept_text(file, node_get(root, "remarks"), root);
    int tiles = 0;
    for (const struct node *tile = kept_list(file, root, "tiles")->first; tile && tiles < JOBS_TILES;
         tile = tile->next, tiles++)
        view->tiles[tiles] =
            (struct jobs_tile){kept_text(file, tile->first, tile), kept_text(file, kept_next(tile->first), tile)};
    if (tiles < JOBS_TILES)
        kept_refuse(file, root, "four tiles");
    for (const struct node *table = kept_list(file, root, "tables")->first; table && file->good; table = table->next)
        read_table(&loading, table);
    read_gantt(&loading, root);
    if (!file->good)
        jobs_view_finish(view);
    return file->good;
}
