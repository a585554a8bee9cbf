/* SPDX-License-Identifier: Apache-2.0 */
/* Processes are ranks, threads are streams; times are microseconds. */
#include "analysis/output/traces/chrome_trace.h"

#include "analysis/figures/memory_use.h"
#include "analysis/figures/partner.h"
#include "analysis/output/traces/trace_walk.h"
#include "base/arena.h"
#include "base/bulk.h"
#include "base/json_writer.h"
#include "base/sum.h"
#include "base/text_writer.h"
#include "simulator/program/operation_text.h"

#include <stdlib.h>

static const double microseconds = 1e6;

struct trace {
    struct trace_walk walk;
    struct text_writer *text;
    uint64_t *first_message; /* [rank]: number of its first send, for the ids of flows */
    uint64_t messages;
};

/* `,{"ph":"X","pid":1,"tid":0`; the first event of the file has no comma: it is the one without rank. */
static void begin_event(struct trace *trace, char phase, uint32_t rank, uint32_t stream)
{
    text_string(trace->text, ",\n{\"ph\":\"");
    text_char(trace->text, phase);
    text_string(trace->text, "\",\"pid\":");
    text_integer(trace->text, trace->walk.processes + rank);
    text_string(trace->text, ",\"tid\":");
    text_integer(trace->text, stream);
}

static void put_time(struct trace *trace, const char *key, double seconds)
{
    text_string(trace->text, key);
    text_number(trace->text, seconds * microseconds);
}

static void put_moment(struct trace *trace, const char *key, double seconds)
{
    put_time(trace, key, trace->walk.start + seconds);
}

static void put_quoted(struct trace *trace, const char *key, const char *text)
{
    text_string(trace->text, key);
    text_char(trace->text, '"');
    text_string(trace->text, text);
    text_char(trace->text, '"');
}

/* Text of the user's own goes through a memory stream that escapes it. */
static void put_escaped(struct trace *trace, const char *text)
{
    char *buffer = NULL;
    size_t size = 0;
    FILE *memory = memory_stream_open(&buffer, &size);
    json_escape(memory, text);
    memory_stream_close(memory);
    text_string(trace->text, buffer);
    free(buffer);
}

static void put_names(struct trace *trace, uint32_t rank, const char *const *streams)
{
    char name[TRACE_RANK_NAME];
    trace_walk_rank_name(&trace->walk, rank, name);
    begin_event(trace, 'M', rank, 0);
    text_string(trace->text, ",\"name\":\"process_name\",\"args\":{\"name\":");
    put_escaped(trace, name);
    text_string(trace->text, "}}");
    begin_event(trace, 'M', rank, 0);
    text_string(trace->text, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":");
    text_integer(trace->text, trace->walk.processes + rank);
    text_string(trace->text, "}}");
    for (uint32_t i = 0; i < trace_source_position(trace->walk.source, rank)->stream_count; i++) {
        begin_event(trace, 'M', rank, i);
        put_quoted(trace, ",\"name\":\"thread_name\",\"args\":{\"name\":", streams[i]);
        text_string(trace->text, "}}");
    }
}

static void put_slice(struct trace *trace, uint32_t rank, uint32_t id, const struct operation *operation,
                      const struct moment *moment)
{
    char name[OPERATION_TEXT_MAX];
    double start = operation->type == OPERATION_RECEIVE ? moment->data_start : moment->start;
    begin_event(trace, 'X', rank, operation->stream);
    put_quoted(trace, ",\"name\":", operation_text(name, trace_source_position(trace->walk.source, rank), operation));
    put_quoted(trace, ",\"cat\":", kind_name(operation->kind));
    put_moment(trace, ",\"ts\":", start);
    put_time(trace, ",\"dur\":", moment->end - start);
    text_string(trace->text, ",\"args\":{\"id\":");
    text_integer(trace->text, id);
    if (operation->stage != STAGE_NONE) {
        text_string(trace->text, ",\"stage\":");
        text_integer(trace->text, operation->stage);
    }
    if (operation->micro_batch != MICRO_BATCH_NONE) {
        text_string(trace->text, ",\"micro_batch\":");
        text_integer(trace->text, operation->micro_batch);
    }
    double bytes = operation_cost(trace->walk.program, operation)->bytes;
    if (bytes > 0) {
        text_string(trace->text, ",\"bytes\":");
        text_number(trace->text, bytes);
    }
    if (moment->data_start > start) {
        put_time(trace, ",\"waited_us\":", moment->data_start - start);
    }
    text_string(trace->text, "}}");
}

/* One end of a message's arrow, at the start of its slice. */
static void put_arrow(struct trace *trace, char phase, uint32_t rank, uint32_t stream, uint64_t number, double time,
                      const struct operation *operation)
{
    begin_event(trace, phase, rank, stream);
    put_quoted(trace, phase == 'f' ? ",\"bp\":\"e\",\"name\":" : ",\"name\":", kind_name(operation->kind));
    text_string(trace->text, ",\"cat\":\"message\",\"id\":");
    text_integer(trace->text, number);
    put_moment(trace, ",\"ts\":", time);
    text_string(trace->text, "}");
}

static void put_arrows(struct trace *trace, uint32_t rank)
{
    const struct position *position = trace_source_position(trace->walk.source, rank);
    const struct moment *moments = timeline_rank(trace->walk.source->timeline, rank);
    uint64_t number = trace->first_message[rank];
    for (uint32_t i = 1; i < position->stream_count; i++) {
        const struct stream *stream = &position->streams[i];
        if (stream->type != OPERATION_SEND ||
            !trace_source_shows(trace->walk.source, partner_rank(trace->walk.program, rank, stream)))
            continue;
        for (uint32_t id = stream->first; id < stream->first + stream->count; id++, number++) {
            const struct operation *operation = &position->operations[id];
            uint32_t peer = partner_rank(trace->walk.program, rank, stream);
            put_arrow(trace, 's', rank, i, number, moments[id].start, operation);
            put_arrow(trace, 'f', peer, stream->opposite, number, moments[id].data_start, operation);
        }
    }
}

static void put_levels(struct trace *trace, uint32_t rank)
{
    size_t count;
    struct sum level = {0, 0};
    const struct memory_step *steps =
        memory_use_steps(trace->walk.memory, trace->walk.source->timeline->index_of[rank], &count);
    for (size_t i = 0; i < count; i++) {
        sum_add(&level, steps[i].stash);
        if (steps[i].stash == 0 || (i + 1 < count && steps[i + 1].time == steps[i].time))
            continue;
        begin_event(trace, 'C', rank, 0);
        put_moment(trace, ",\"name\":\"stashed activations\",\"ts\":", steps[i].time);
        text_string(trace->text, ",\"args\":{\"micro-batches\":");
        text_number(trace->text, sum_total(&level));
        text_string(trace->text, "}}");
    }
}

static void number_messages(struct trace *trace)
{
    const struct mesh *mesh = trace->walk.program->mesh;
    uint64_t total = trace->messages;
    trace->first_message = arena_array(trace->walk.arena, mesh->ranks, sizeof *trace->first_message);
    for (uint32_t rank = 0; rank < mesh->ranks; rank++) {
        const struct position *position = trace_source_position(trace->walk.source, rank);
        trace->first_message[rank] = total;
        for (uint32_t i = 1; i < position->stream_count; i++)
            total += position->streams[i].type == OPERATION_SEND ? position->streams[i].count : 0;
    }
    trace->messages = total;
}

static void write_job(struct trace *trace, const struct trace_job *job, FILE *out)
{
    struct trace_walk *walk = &trace->walk;
    trace_walk_begin(walk, job);
    number_messages(trace);
    for (uint32_t i = 0; i < walk->count && !ferror(out); i++) {
        uint32_t rank = walk->ranks[i], position = walk->program->mesh->position_of[rank];
        const struct moment *moments = timeline_rank(job->source.timeline, rank);
        put_names(trace, rank, walk->streams[position]);
        for (uint32_t id = 0; id < walk->program->positions[position].operation_count; id++)
            put_slice(trace, rank, id, &walk->program->positions[position].operations[id], &moments[id]);
        put_arrows(trace, rank);
        put_levels(trace, rank);
    }
    trace_walk_end(walk);
}

void chrome_trace_write_jobs(FILE *out, const struct trace_job *jobs, uint32_t count)
{
    struct trace trace = {.text = text_writer_create(out)};
    text_string(trace.text, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
                            "{\"ph\":\"M\",\"pid\":0,\"name\":\"trace_name\",\"args\":{\"name\":\"stagesim\"}}");
    for (uint32_t i = 0; i < count; i++)
        write_job(&trace, &jobs[i], out);
    text_string(trace.text, "\n]}\n");
    text_writer_destroy(trace.text);
}

void chrome_trace_write(FILE *out, const struct trace_source *source)
{
    chrome_trace_write_jobs(out, &(struct trace_job){*source, NULL, 0}, 1);
}
