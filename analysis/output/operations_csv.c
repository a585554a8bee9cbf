/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/operations_csv.h"

#include "analysis/figures/critical_path.h"
#include "analysis/figures/partner.h"
#include "analysis/figures/traffic.h"
#include "base/arena.h"
#include "base/csv.h"
#include "base/text_writer.h"
#include "base/timed.h"
#include "simulator/program/operation_text.h"

#include <stdlib.h>
#include <string.h>

/* A file of rows under way. */
struct rows {
    FILE *out;
    const struct trace_source *source;
    const struct program *program;
    double *const *slack;     /* [simulated rank][id]; NULL: no such column */
    struct idle_alone *alone; /* NULL: no such column */
    struct arena *arena;
    const char ***streams;    /* [position][stream] */
    uint32_t *first_instance; /* [group]: number of its first instance, counted over all groups */
    struct text_writer *text;
    const char *name, *cell; /* the last name, and how it is written */
    const char *job;         /* in the first column; NULL: no such column */
    double begin;            /* seconds at which its time begins */
};

/* ---- fields ---- */

/* Names come from the user's platform; the same one stands in many rows. */
static void put_name(struct rows *rows, const char *text)
{
    if (rows->name != text)
        rows->cell = csv_cell(text, rows->arena);
    rows->name = text;
    text_string(rows->text, rows->cell);
}

/* One number of an operation's identity; where it is a block whose second part differs, "first+second". */
static void put_pair(struct rows *rows, uint32_t first, uint32_t second, uint32_t none)
{
    if (first != none)
        text_integer(rows->text, first);
    if (second == first)
        return;
    text_char(rows->text, '+');
    if (second != none)
        text_integer(rows->text, second);
}

static void put_part(struct rows *rows, uint8_t part)
{
    if (part)
        text_char(rows->text, part == 1 ? 'a' : 'b');
}

static void put_identity(struct rows *rows, const struct operation *operation, const struct block *block)
{
    text_string(rows->text, kind_name(operation->kind));
    text_char(rows->text, ',');
    put_pair(rows, operation->stage, block ? block->stage : operation->stage, STAGE_NONE);
    text_char(rows->text, ',');
    put_pair(rows, operation->micro_batch, block ? block->micro_batch : operation->micro_batch, MICRO_BATCH_NONE);
    text_char(rows->text, ',');
    put_pair(rows, operation->pipeline, block ? block->pipeline : operation->pipeline, UINT32_MAX);
    text_char(rows->text, ',');
    put_part(rows, operation->part);
    if (block && block->part != operation->part) {
        text_char(rows->text, '+');
        put_part(rows, block->part);
    }
    text_char(rows->text, ',');
}

static void put_partners(struct rows *rows, uint32_t rank, const struct operation *operation,
                         const struct stream *stream)
{
    const struct program *program = rows->program;
    if (operation->type == OPERATION_COLLECTIVE)
        text_integer(rows->text,
                     rows->first_instance[stream->peer] +
                         group_instance_of(program, &program->groups[stream->peer], program->mesh->replica_of[rank]));
    text_char(rows->text, ',');
    if (operation->type == OPERATION_SEND || operation->type == OPERATION_RECEIVE)
        text_integer(rows->text, partner_rank(program, rank, stream));
    text_char(rows->text, ',');
}

static void put_costs(struct rows *rows, const struct position *position, const struct operation *operation,
                      const struct block *block, uint32_t rank)
{
    const struct stagesim_cost *cost = operation_cost(rows->program, operation);
    double memory = cost->memory;
    if (block)
        memory += rows->program->costs[block->cost].memory;
    text_number(rows->text,
                operation->type == OPERATION_RECEIVE ? cost->bytes : traffic_sent(rows->program, operation, position));
    text_char(rows->text, ',');
    text_number(rows->text,
                cost->flops * operation_factor(rows->program, operation, rows->program->mesh->replica_of[rank]));
    text_char(rows->text, ',');
    text_number(rows->text, memory);
    text_char(rows->text, ',');
}

static void put_row(struct rows *rows, uint32_t rank, uint32_t id)
{
    const struct trace_source *source = rows->source;
    uint32_t index = rows->program->mesh->position_of[rank], entry = source->timeline->index_of[rank];
    const struct position *position = &rows->program->positions[index];
    const struct operation *operation = &position->operations[id];
    const struct block *block = operation_block(position, operation);
    const struct moment *moment = &source->timeline->moments[entry][id];
    if (rows->job) {
        text_string(rows->text, rows->job);
        text_char(rows->text, ',');
    }
    text_integer(rows->text, rank);
    text_char(rows->text, ',');
    put_name(rows, trace_source_host(source, rank)->name);
    text_char(rows->text, ',');
    text_integer(rows->text, index);
    text_char(rows->text, ',');
    text_string(rows->text, rows->streams[index][operation->stream]);
    text_char(rows->text, ',');
    text_integer(rows->text, id);
    text_char(rows->text, ',');
    put_identity(rows, operation, block);
    put_partners(rows, rank, operation, &position->streams[operation->stream]);
    put_costs(rows, position, operation, block, rank);
    for (uint32_t i = 0; i < operation_wait_count(operation); i++) {
        if (i)
            text_char(rows->text, ' ');
        text_integer(rows->text, operation_wait(position, operation, i));
    }
    const double times[] = {moment->start, moment->data_start, moment->end};
    for (size_t i = 0; i < 3; i++) {
        text_char(rows->text, ',');
        text_number(rows->text, rows->begin + times[i]);
    }
    if (rows->alone) {
        text_char(rows->text, ',');
        text_number(rows->text, idle_alone_seconds(rows->alone, rank, id));
    }
    if (rows->program->iterations > 1 || rows->job) {
        text_char(rows->text, ',');
        text_integer(rows->text, operation->iteration);
    }
    if (rows->slack) {
        text_char(rows->text, ',');
        text_number(rows->text, rows->slack[entry][id]);
    }
    text_char(rows->text, '\n');
}

/* ---- files ---- */

static struct rows *rows_create(FILE *out, const struct trace_source *source, double *const *slack)
{
    struct arena *arena = arena_create();
    struct rows *rows = arena_alloc(arena, sizeof *rows);
    *rows = (struct rows){
        .out = out, .source = source, .program = source->timeline->program, .slack = slack, .arena = arena};
    rows->streams = stream_names_create(rows->program, rows->arena);
    rows->first_instance =
        arena_array(rows->arena, (size_t)rows->program->group_count + 1, sizeof *rows->first_instance);
    for (uint32_t group = 0; group < rows->program->group_count; group++)
        rows->first_instance[group + 1] =
            rows->first_instance[group] + group_instances(rows->program, &rows->program->groups[group]);
    rows->text = text_writer_create(out);
    return rows;
}

static const char columns[] =
    "rank,host,position,stream,id,kind,stage,micro_batch,pipeline,part,group,peer,bytes,flops,"
    "memory_delta_bytes,waits_for,start_s,data_start_s,end_s";

static struct rows *rows_begin(FILE *out, const struct trace_source *source, double *const *slack)
{
    struct rows *rows = rows_create(out, source, slack);
    text_string(rows->text, columns);
    rows->alone = source->nested ? idle_alone_create(source->nested, rows->arena) : NULL;
    text_string(rows->text, rows->alone ? ",alone_s" : "");
    text_string(rows->text, rows->program->iterations > 1 ? ",iteration" : "");
    text_string(rows->text, slack ? ",slack_s\n" : "\n");
    return rows;
}

static void rows_end(struct rows *rows)
{
    text_writer_destroy(rows->text);
    idle_alone_destroy(rows->alone);
    arena_destroy(rows->arena);
}

/* Ids of a position are in the order of streams, so that a stable sort by start leaves rank and stream in order. */
static void put_all(struct rows *rows)
{
    const struct trace_source *source = rows->source;
    uint32_t count;
    uint32_t *ranks = trace_source_ranks(source, &count);
    size_t total = 0, capacity = 0, scratch_capacity = 0;
    for (uint32_t i = 0; i < count; i++)
        total += rows->program->positions[rows->program->mesh->position_of[ranks[i]]].operation_count;
    struct timed *items = array_grow(NULL, &capacity, total + 1, sizeof *items);
    struct timed *scratch = array_grow(NULL, &scratch_capacity, total + 1, sizeof *scratch);
    total = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct moment *moments = timeline_rank(source->timeline, ranks[i]);
        uint32_t operations = rows->program->positions[rows->program->mesh->position_of[ranks[i]]].operation_count;
        for (uint32_t id = 0; id < operations; id++)
            items[total++] = (struct timed){moments[id].start, ranks[i], id};
    }
    free(ranks);
    timed_sort(items, scratch, total);
    free(scratch);
    for (size_t i = 0; i < total && !ferror(rows->out); i++)
        put_row(rows, items[i].entry, items[i].id);
    free(items);
}

void operations_csv_write(FILE *out, const struct trace_source *source)
{
    struct rows *rows = rows_begin(out, source, NULL);
    put_all(rows);
    rows_end(rows);
}

void operations_csv_write_jobs(FILE *out, const struct trace_job *jobs, uint32_t count)
{
    fprintf(out, "job,%s,iteration\n", columns);
    for (uint32_t i = 0; i < count && !ferror(out); i++) {
        struct rows *rows = rows_create(out, &jobs[i].source, NULL);
        rows->job = csv_cell(jobs[i].name, rows->arena);
        rows->begin = jobs[i].start;
        put_all(rows);
        rows_end(rows);
    }
}

void slack_csv_write(FILE *out, const struct trace_source *source)
{
    struct arena *arena = arena_create();
    double **slack = slack_create(frame_create(source->timeline, arena));
    struct rows *rows = rows_begin(out, source, slack);
    put_all(rows);
    rows_end(rows);
    slack_destroy(slack);
    arena_destroy(arena);
}

void critical_path_csv_write(FILE *out, const struct trace_source *source)
{
    struct arena *arena = arena_create();
    const struct frame *frame = frame_create(source->timeline, arena);
    const struct critical_path *path = critical_path_create(frame, arena);
    double **slack = slack_create(frame);
    struct rows *rows = rows_begin(out, source, slack);
    for (size_t i = 0; i < path->step_count; i++)
        put_row(rows, source->timeline->ranks[path->steps[i].entry], path->steps[i].id);
    rows_end(rows);
    slack_destroy(slack);
    arena_destroy(arena);
}
