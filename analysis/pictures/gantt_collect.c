/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/gantt_collect.h"

#include "analysis/figures/memory_use.h"
#include "base/arena.h"
#include "base/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the boxes of a run need to know. */
struct collecting {
    struct gantt *gantt;
    const struct report *report;
    const struct timeline *timeline;
    const struct gantt_choice *choice;
    bool bidirectional;
    bool **critical; /* [row][operation id] */
};

void gantt_set_shades(struct gantt *gantt, bool bidirectional, uint32_t chunks)
{
    gantt->shades = bidirectional ? 2 : chunks < 1 ? 1 : chunks < GANTT_SHADES_MAX ? chunks : GANTT_SHADES_MAX;
    for (uint32_t i = 0; i < gantt->shades; i++)
        snprintf(gantt->shade_names[i], sizeof gantt->shade_names[i], "chunk %u",
                 i < gantt->shades - 1 ? i : chunks - 1);
    if (bidirectional) {
        strcpy(gantt->shade_names[0], "down");
        strcpy(gantt->shade_names[1], "up");
    }
}

uint8_t gantt_shade_of(const struct gantt *gantt, bool bidirectional, uint32_t chunks, uint32_t pipeline,
                       uint32_t chunk)
{
    if (bidirectional)
        return pipeline & 1;
    if (chunks < 2 || chunk >= chunks)
        return 0;
    return (uint8_t)((uint64_t)chunk * gantt->shades / chunks);
}

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

static const char *subtitle_of(const struct report *report, char *subtitle, size_t size)
{
    const struct run_description *run = &report->run;
    size_t used = 0;
    if (run->scenario_name)
        used = (size_t)snprintf(subtitle, size, "%.60s: ", run->scenario_name);
    used += (size_t)snprintf(subtitle + used, size - used, "%u worker%s, %u micro-batch%s, %u rank%s",
                             report->worker_count, readable_plural(report->worker_count), report->micro_batches,
                             report->micro_batches == 1 ? "" : "es", report->ranks, readable_plural(report->ranks));
    if (run->platform_file)
        used += (size_t)snprintf(subtitle + used, size - used, ", %.60s", base_name(run->platform_file));
    if (run->engine)
        snprintf(subtitle + used, size - used, ", %.16s engine", run->engine);
    return subtitle;
}

static uint32_t chunks_of(const struct report *report)
{
    return report->pipeline_workers > 0 && report->stages > report->pipeline_workers
               ? (report->stages + report->pipeline_workers - 1) / report->pipeline_workers
               : 1;
}

struct gantt *gantt_of_report(const struct report *report, bool bidirectional)
{
    const struct run_description *run = &report->run;
    char text[224];
    subtitle_of(report, text, sizeof text);
    struct gantt *gantt = gantt_create(run->schedule   ? run->schedule
                                       : run->workload ? run->workload
                                                       : "",
                                       text, GANTT_SECONDS);
    gantt->iteration = report->iteration;
    gantt->bubble = report->bubble;
    memcpy(gantt->causes, report->causes, sizeof gantt->causes);
    gantt->end = fmax(report->makespan, 0);
    gantt->window_start = report->window_start;
    gantt->window_end = report->window_end;
    gantt_set_shades(gantt, bidirectional, chunks_of(report));
    for (uint32_t row = 0; row < report->worker_count; row++) {
        char label[16];
        snprintf(label, sizeof label, "%u", report->workers[row].position);
        gantt_add_row(gantt, label, 1 - report->workers[row].bubble);
    }
    return gantt;
}

static enum gantt_kind kind_of(unsigned kind)
{
    switch (kind) {
    case STAGESIM_FORWARD:
        return GANTT_FORWARD;
    case STAGESIM_BACKWARD:
        return GANTT_BACKWARD;
    case STAGESIM_WEIGHT:
        return GANTT_WEIGHT;
    case STAGESIM_OPTIMIZER:
        return GANTT_OPTIMIZER;
    default:
        return GANTT_COMPUTE;
    }
}

static const struct position *position_of(const struct collecting *run, uint32_t row)
{
    return &run->timeline->program->positions[run->report->workers[row].position];
}

/* Flags for the steps of the critical path that lie in the rows. */
static void mark_critical(struct collecting *run)
{
    const struct critical_path *path = run->choice->critical;
    uint32_t rows = run->report->worker_count;
    size_t capacity = 0, entries = 0;
    run->critical = array_grow(NULL, &capacity, rows + (size_t)1, sizeof *run->critical);
    bool **of_entry = array_grow(NULL, &entries, run->timeline->rank_count + (size_t)1, sizeof *of_entry);
    memset(of_entry, 0, entries * sizeof *of_entry);
    for (uint32_t row = 0; row < rows; row++) {
        size_t flags = 0, count = position_of(run, row)->operation_count + (size_t)1;
        run->critical[row] = array_grow(NULL, &flags, count, sizeof *run->critical[row]);
        memset(run->critical[row], 0, count * sizeof *run->critical[row]);
        of_entry[run->timeline->index_of[run->report->workers[row].rank]] = run->critical[row];
    }
    for (size_t i = 0; path && i < path->step_count; i++) {
        if (of_entry[path->steps[i].entry])
            of_entry[path->steps[i].entry][path->steps[i].id] = true;
    }
    free(of_entry);
}

static void free_critical(struct collecting *run)
{
    for (uint32_t row = 0; row < run->report->worker_count; row++)
        free(run->critical[row]);
    free(run->critical);
}

static struct gantt_box box_of(const struct gantt *gantt, const struct report *report, bool bidirectional,
                               struct gantt_box box, const struct gantt_work *work)
{
    uint32_t workers = report->pipeline_workers,
             chunk = work->stage == STAGE_NONE || workers == 0 ? 0 : work->stage / workers;
    box.number = work->micro_batch == MICRO_BATCH_NONE ? GANTT_NO_NUMBER : work->micro_batch;
    box.part = work->part;
    box.shade = gantt_shade_of(gantt, bidirectional, chunks_of(report), work->pipeline, chunk);
    return box;
}

void gantt_add_work(struct gantt *gantt, const struct report *report, bool bidirectional, struct gantt_box box,
                    const struct gantt_work *work, const struct gantt_work *second)
{
    box.kind = kind_of(work->kind);
    if (second && work->kind == STAGESIM_BLOCK)
        box.kind = second->kind == STAGESIM_BACKWARD ? GANTT_FORWARD : GANTT_BACKWARD;
    box.half = second ? GANTT_UPPER : GANTT_WHOLE;
    box = box_of(gantt, report, bidirectional, box, work);
    gantt_add_box(gantt, &box);
    if (!second)
        return;
    box.kind = kind_of(second->kind);
    box.half = GANTT_LOWER;
    box = box_of(gantt, report, bidirectional, box, second);
    gantt_add_box(gantt, &box);
}

/* A computation; a block of two becomes an upper and a lower box. */
static void add_compute(struct collecting *run, struct gantt_box box, const struct position *position,
                        const struct operation *operation)
{
    const struct block *block = operation_block(position, operation);
    struct gantt_work work = {operation->kind, operation->stage, operation->micro_batch, operation->pipeline,
                              operation->part},
                      second;
    if (block)
        second = (struct gantt_work){block->kind, block->stage, block->micro_batch, block->pipeline, block->part};
    gantt_add_work(run->gantt, run->report, run->bidirectional, box, &work, block ? &second : NULL);
}

static void add_stream(struct collecting *run, uint32_t row, const struct stream *stream, bool is_compute)
{
    const struct worker_report *worker = &run->report->workers[row];
    const struct position *position = position_of(run, row);
    const struct moment *moments = timeline_rank(run->timeline, worker->rank);
    for (uint32_t id = stream->first; id < stream->first + stream->count; id++) {
        struct gantt_box box = {
            .start = moments[id].start, .end = moments[id].end, .row = row, .number = GANTT_NO_NUMBER};
        box.critical = run->critical[row][id];
        if (is_compute) {
            add_compute(run, box, position, &position->operations[id]);
            continue;
        }
        box.start = moments[id].data_start;
        box.kind = stream->type == OPERATION_SEND ? GANTT_TRANSFER : GANTT_COLLECTIVE;
        box.lane = GANTT_LANE_COLLECTIVE;
        gantt_add_box(run->gantt, &box);
    }
}

static void add_boxes(struct collecting *run, uint32_t row)
{
    const struct position *position = position_of(run, row);
    for (uint32_t i = 0; i < position->stream_count; i++) {
        if (i == 0 || position->streams[i].type == OPERATION_COLLECTIVE ||
            (position->streams[i].type == OPERATION_SEND &&
             position->streams[i].peer == run->report->workers[row].position)) /* to host memory and back */
            add_stream(run, row, &position->streams[i], i == 0);
    }
}

/* The messages between rows; all rows are there already. Row of a position: its index, since workers are listed in
 * order. */
static void add_messages(struct collecting *run, uint32_t row)
{
    const struct worker_report *worker = &run->report->workers[row];
    const struct position *position = position_of(run, row);
    const struct moment *moments = timeline_rank(run->timeline, worker->rank);
    for (uint32_t i = 0; i < position->stream_count; i++) {
        const struct stream *stream = &position->streams[i];
        if (stream->type != OPERATION_SEND || stream->peer == worker->position ||
            stream->peer >= run->report->worker_count)
            continue;
        for (uint32_t id = stream->first; id < stream->first + stream->count; id++) {
            struct gantt_arrow arrow = {moments[id].data_start, moments[id].end, row, stream->peer};
            if (run->gantt->arrow_count < GANTT_ARROWS_KEPT && arrow.end > arrow.start)
                gantt_add_arrow(run->gantt, &arrow);
        }
    }
}

/* The memory of the rows over time: what is held for the whole run first, then every change. */
static void add_levels(struct collecting *run)
{
    struct arena *arena = arena_create();
    struct memory_use *use = memory_use_create(run->timeline, arena);
    for (uint32_t row = 0; row < run->report->worker_count; row++) {
        const struct stagesim_static_memory *held = &position_of(run, row)->memory;
        struct gantt_level level = {.row = row,
                                    .bytes = held->parameters + held->gradients + held->optimizer + held->buffers};
        gantt_add_level(run->gantt, &level);
        size_t count;
        const struct memory_step *steps =
            memory_use_steps(use, run->timeline->index_of[run->report->workers[row].rank], &count);
        for (size_t i = 0; i < count; i++) {
            level.time = steps[i].time;
            level.bytes += steps[i].bytes;
            level.in_flight += steps[i].stash;
            gantt_add_level(run->gantt, &level);
        }
        level.time = fmax(level.time, run->gantt->end);
        gantt_add_level(run->gantt, &level);
    }
    arena_destroy(arena);
}

static bool has_up_pipelines(const struct program *program)
{
    for (uint32_t i = 0; i < program->mesh->positions; i++) {
        const struct position *position = &program->positions[i];
        for (uint32_t id = 0; id < position->operation_count; id++) {
            if (position->operations[id].pipeline & 1 && position->operations[id].type == OPERATION_COMPUTE)
                return true;
        }
    }
    return false;
}

/* What only a picture shows. */
static void add_drawn(struct collecting *run)
{
    uint32_t rows = run->report->worker_count;
    mark_critical(run);
    for (uint32_t row = 0; row < rows; row++)
        add_boxes(run, row);
    for (uint32_t row = 0; row < rows && run->choice->messages; row++)
        add_messages(run, row);
    free_critical(run);
}

struct gantt *gantt_of_run(const struct report *report, const struct timeline *timeline,
                           const struct gantt_choice *choice)
{
    bool bidirectional = !choice->rows_only && has_up_pipelines(timeline->program);
    struct collecting run = {gantt_of_report(report, bidirectional), report, timeline, choice,
                             .bidirectional = bidirectional};
    if (!choice->rows_only)
        add_drawn(&run);
    if (choice->levels)
        add_levels(&run);
    gantt_finish(run.gantt);
    return run.gantt;
}
