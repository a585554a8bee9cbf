/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/jobs/jobs_view.h"

#include "analysis/output/saved/kept_fields.h"
#include "analysis/pictures/picture_timeline.h"
#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double slow_of(const struct job_figures *job)
{
    return job->together / job->alone;
}

/* ---- from the figures ---- */

static const char *verdict_of(const struct jobs_figures *figures, struct arena *arena)
{
    uint32_t slowed = 0, worst = 0;
    for (uint32_t i = 0; i < figures->count; i++) {
        slowed += slow_of(&figures->jobs[i]) > 1.001;
        worst = slow_of(&figures->jobs[i]) > slow_of(&figures->jobs[worst]) ? i : worst;
    }
    const struct job_figures *job = &figures->jobs[worst];
    if (!slowed)
        return "No job is slowed down by another one by more than 0.1 %.";
    const char *where = "";
    char text[READABLE_MAX];
    if (job->meeting_count)
        where = arena_print(arena, ", with %s on %s %s of the time",
                            figures->jobs[job->meetings[0].other].run.described->name, job->meetings[0].link,
                            readable_percent(text, job->meetings[0].share));
    return arena_print(arena,
                       "%u of %u jobs are slowed down by others. Most of all %s: %.4f times its iteration alone%s.",
                       slowed, figures->count, job->run.described->name, slow_of(job), where);
}

struct jobs_view jobs_view_create(const struct jobs_figures *figures, const struct jobs_description *description,
                                  struct gantt *gantt, struct arena *arena)
{
    char text[READABLE_MAX], *lines = NULL;
    double slow = 0, hosts = 0;
    size_t size = 0;
    for (uint32_t i = 0; i < figures->count; i++) {
        slow += figures->jobs[i].run.part->host_count * slow_of(&figures->jobs[i]);
        hosts += figures->jobs[i].run.part->host_count;
    }
    FILE *remarks = table_remarks_begin(&lines, &size);
    jobs_remarks(remarks, figures, description);
    fclose(remarks);
    struct jobs_view view = {
        .title = description->scenario->name,
        .subtitle = arena_copy(arena, gantt->subtitle),
        .verdict = verdict_of(figures, arena),
        .remarks = arena_copy(arena, lines),
        .tiles = {{arena_print(arena, "%u", figures->count), "jobs"},
                  {arena_print(arena, "%.0f", hosts), "GPUs"},
                  {arena_print(arena, "%.4f", slow / hosts), "mean slow-down, by GPUs"},
                  {arena_copy(arena, readable_seconds(text, figures->makespan)), "until all have ended"}},
        .gantt = gantt};
    free(lines);
    for (int which = 0; which < JOBS_TABLES; which++)
        view.tables[which] = jobs_table_create(figures, (enum jobs_table)which);
    return view;
}

void jobs_view_finish(struct jobs_view *view)
{
    for (int which = 0; which < JOBS_TABLES; which++)
        table_destroy(view->tables[which]);
    gantt_destroy(view->gantt);
}

/* ---- jobs.json ---- */

static void write_table(struct json_writer *json, const struct table *table, int which)
{
    json_object_begin(json, NULL, true);
    json_integer(json, "table", (uint64_t)which);
    kept_table_write(json, table, false);
    json_object_end(json);
}

static void write_gantt(struct json_writer *json, const struct gantt *gantt)
{
    json_array_begin(json, "jobs", true);
    for (size_t i = 0; i < gantt->row_count; i++) {
        json_array_begin(json, NULL, false);
        json_text(json, NULL, gantt->rows[i].label);
        json_number(json, NULL, gantt->rows[i].busy);
        json_array_end(json);
    }
    json_array_end(json);
    json_array_begin(json, "boxes", true);
    for (size_t i = 0; i < gantt->box_count; i++) {
        const struct gantt_box *box = &gantt->boxes[i];
        json_array_begin(json, NULL, false);
        json_integer(json, NULL, box->row);
        json_text(json, NULL, box->kind == GANTT_COMPUTE ? "compute" : "transfer");
        json_integer(json, NULL, box->number == GANTT_NO_NUMBER ? 0 : box->number);
        json_number(json, NULL, box->start);
        json_number(json, NULL, box->end);
        json_array_end(json);
    }
    json_array_end(json);
}

void jobs_view_write(FILE *out, const struct jobs_view *view)
{
    struct json_writer json = json_writer_init(out);
    json_object_begin(&json, NULL, true);
    json_text(&json, "title", view->title);
    json_text(&json, "subtitle", view->subtitle);
    json_text(&json, "verdict", view->verdict);
    json_text(&json, "remarks", view->remarks);
    json_array_begin(&json, "tiles", true);
    for (int i = 0; i < JOBS_TILES; i++) {
        json_array_begin(&json, NULL, false);
        json_text(&json, NULL, view->tiles[i].value);
        json_text(&json, NULL, view->tiles[i].name);
        json_array_end(&json);
    }
    json_array_end(&json);
    json_array_begin(&json, "tables", true);
    for (int which = 0; which < JOBS_TABLES; which++)
        if (view->tables[which])
            write_table(&json, view->tables[which], which);
    json_array_end(&json);
    write_gantt(&json, view->gantt);
    json_object_end(&json);
    putc('\n', out);
}

/* ---- pictures ---- */

bool jobs_view_draw(const struct run_files *files, const struct jobs_view *view, struct fault *fault)
{
    for (int format = 0; format < PICTURE_FORMATS; format++)
        if (files->pictures[format] &&
            !picture_timeline(view->gantt, (enum canvas_format)format, &files->form, files->pictures[format], fault))
            return false;
    return !files->html || jobs_page_write(files->html, view, fault);
}
