/* SPDX-License-Identifier: Apache-2.0 */
/* Processes are ranks, threads are streams; times are microseconds. */
#include "analysis/output/traces/chrome_trace.h"

#include "analysis/figures/memory_use.h"
#include "analysis/figures/partner.h"
#include "base/arena.h"
#include "base/bulk.h"
#include "base/json_writer.h"
#include "base/sum.h"
#include "base/text_writer.h"
#include "simulator/program/operation_text.h"

#include <stdlib.h>

static const double microseconds = 1e6;

struct trace {
    const struct trace_source *source;
    const struct program *program;
    struct text_writer *text;
    uint64_t *first_message; /* [rank]: number of its first send, for the ids of flows */
    const char *job;         /* of several; NULL */
    double start;            /* seconds that its time begins at */
    uint64_t processes;      /* of the jobs before it */
    uint64_t messages;
};

/* `,{"ph":"X","pid":1,"tid":0`; the first event of the file has no comma: it is the one without rank. */
static void begin_event(struct trace *trace, char phase, uint32_t rank, uint32_t stream)
{
    text_string(trace->text, ",\n{\"ph\":\"");
    text_char(trace->text, phase);
    text_string(trace->text, "\",\"pid\":");
    text_integer(trace->text, trace->processes + rank);
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
    put_time(trace, key, trace->start + seconds);
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
    const struct platform_host *host = trace_source_host(trace->source, rank);
    char name[512];
    snprintf(name, sizeof name, "%s%srank %u %s (%s)", trace->job ? trace->job : "", trace->job ? ": " : "", rank,
             host->name, host->node ? host->node : "");
    begin_event(trace, 'M', rank, 0);
    text_string(trace->text, ",\"name\":\"process_name\",\"args\":{\"name\":");
    put_escaped(trace, name);
    text_string(trace->text, "}}");
    begin_event(trace, 'M', rank, 0);
    text_string(trace->text, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":");
    text_integer(trace->text, trace->processes + rank);
    text_string(trace->text, "}}");
    for (uint32_t i = 0; i < trace_source_position(trace->source, rank)->stream_count; i++) {
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
    put_quoted(trace, ",\"name\":", operation_text(name, trace_source_position(trace->source, rank), operation));
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
    double bytes = operation_cost(trace->program, operation)->bytes;
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
    const struct position *position = trace_source_position(trace->source, rank);
    const struct moment *moments = timeline_rank(trace->source->timeline, rank);
    uint64_t number = trace->first_message[rank];
    for (uint32_t i = 1; i < position->stream_count; i++) {
        const struct stream *stream = &position->streams[i];
        if (stream->type != OPERATION_SEND ||
            !trace_source_shows(trace->source, partner_rank(trace->program, rank, stream)))
            continue;
        for (uint32_t id = stream->first; id < stream->first + stream->count; id++, number++) {
            const struct operation *operation = &position->operations[id];
            uint32_t peer = partner_rank(trace->program, rank, stream);
            put_arrow(trace, 's', rank, i, number, moments[id].start, operation);
            put_arrow(trace, 'f', peer, stream->opposite, number, moments[id].data_start, operation);
        }
    }
}

static void put_levels(struct trace *trace, struct memory_use *memory, uint32_t rank)
{
    size_t count;
    struct sum level = {0, 0};
    const struct memory_step *steps = memory_use_steps(memory, trace->source->timeline->index_of[rank], &count);
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

static void number_messages(struct trace *trace, struct arena *arena)
{
    const struct mesh *mesh = trace->program->mesh;
    uint64_t total = trace->messages;
    trace->first_message = arena_array(arena, mesh->ranks, sizeof *trace->first_message);
    for (uint32_t rank = 0; rank < mesh->ranks; rank++) {
        const struct position *position = trace_source_position(trace->source, rank);
        trace->first_message[rank] = total;
        for (uint32_t i = 1; i < position->stream_count; i++)
            total += position->streams[i].type == OPERATION_SEND ? position->streams[i].count : 0;
    }
    trace->messages = total;
}

static void write_job(struct trace *trace, const struct trace_job *job, FILE *out)
{
    struct arena *arena = arena_create();
    uint32_t count;
    uint32_t *ranks = trace_source_ranks(&job->source, &count);
    trace->source = &job->source;
    trace->program = job->source.timeline->program;
    trace->job = job->name;
    trace->start = job->start;
    const char ***streams = stream_names_create(trace->program, arena);
    struct memory_use *memory = memory_use_create(job->source.timeline, arena);
    number_messages(trace, arena);
    for (uint32_t i = 0; i < count && !ferror(out); i++) {
        uint32_t position = trace->program->mesh->position_of[ranks[i]];
        const struct moment *moments = timeline_rank(job->source.timeline, ranks[i]);
        put_names(trace, ranks[i], streams[position]);
        for (uint32_t id = 0; id < trace->program->positions[position].operation_count; id++)
            put_slice(trace, ranks[i], id, &trace->program->positions[position].operations[id], &moments[id]);
        put_arrows(trace, ranks[i]);
        put_levels(trace, memory, ranks[i]);
    }
    trace->processes += trace->program->mesh->ranks;
    free(ranks);
    arena_destroy(arena);
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
