/* SPDX-License-Identifier: Apache-2.0 */
/* The messages and field numbers are those of protos/perfetto/trace of the Perfetto project (TracePacket, TrackEvent,
 * TrackDescriptor, InternedData); the encoding is that of protocol buffers. All packets form one sequence; names are
 * written once and referred to by number. */
#include "analysis/output/traces/perfetto.h"

#include "analysis/figures/memory_use.h"
#include "analysis/figures/partner.h"
#include "base/arena.h"
#include "base/sum.h"
#include "simulator/program/operation_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_MAX = 2048, SEQUENCE = 1 };
enum { SLICE_BEGIN = 1, SLICE_END = 2, COUNTER = 4 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };
enum { ARGUMENT_ID = 1, ARGUMENT_STAGE, ARGUMENT_MICRO_BATCH, ARGUMENT_BYTES, ARGUMENTS };

/* A message under way; what does not fit is left out, and nothing that is written is near that long. */
struct message {
    size_t size;
    uint8_t bytes[MESSAGE_MAX];
};

struct trace {
    FILE *out;
    const struct trace_source *source;
    const struct program *program;
    uint64_t *first_message; /* [rank]: number of its first send, for flows */
    uint64_t *first_track;   /* [rank]: number of its track; its counter and its streams follow */
    bool begun;              /* the first packet is written */
    const char *job;         /* of several; NULL */
    double start;            /* seconds that its time begins at */
    uint64_t processes;      /* of the jobs before it */
    uint64_t tracks, messages;
};

/* ---- protocol buffers ---- */

static void put_varint(struct message *message, uint64_t value)
{
    for (; value > 127 && message->size < MESSAGE_MAX; value >>= 7)
        message->bytes[message->size++] = (uint8_t)(value | 128);
    if (message->size < MESSAGE_MAX)
        message->bytes[message->size++] = (uint8_t)value;
}

static void put_number(struct message *message, unsigned field, uint64_t value)
{
    put_varint(message, field << 3);
    put_varint(message, value);
}

static void put_bytes(struct message *message, unsigned field, const void *data, size_t size)
{
    put_varint(message, field << 3 | 2);
    put_varint(message, size);
    size = size < MESSAGE_MAX - message->size ? size : MESSAGE_MAX - message->size;
    memcpy(message->bytes + message->size, data, size);
    message->size += size;
}

static void put_text(struct message *message, unsigned field, const char *text)
{
    put_bytes(message, field, text, strlen(text));
}

static void put_message(struct message *message, unsigned field, const struct message *part)
{
    put_bytes(message, field, part->bytes, part->size);
}

/* 8 bytes, the low one first. */
static void put_fixed(struct message *message, unsigned field, uint64_t bits)
{
    put_varint(message, field << 3 | 1);
    for (int i = 0; i < 8 && message->size < MESSAGE_MAX; i++)
        message->bytes[message->size++] = (uint8_t)(bits >> 8 * i);
}

static void put_double(struct message *message, unsigned field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_fixed(message, field, bits);
}

/* ---- packets ---- */

static void write_packet(struct trace *trace, struct message *packet)
{
    struct message head = {0};
    put_number(packet, 10, SEQUENCE);
    put_number(packet, 13, trace->begun ? NEEDS_STATE : STATE_CLEARED);
    trace->begun = true;
    put_varint(&head, 1 << 3 | 2);
    put_varint(&head, packet->size);
    fwrite(head.bytes, 1, head.size, trace->out);
    fwrite(packet->bytes, 1, packet->size, trace->out);
}

static uint64_t nanoseconds(double seconds)
{
    return seconds > 0 ? (uint64_t)llround(seconds * 1e9) : 0;
}

/* Tracks: of a rank, of its counter, and of its streams. */
static uint64_t rank_track(const struct trace *trace, uint32_t rank)
{
    return trace->first_track[rank];
}

static uint64_t counter_track(const struct trace *trace, uint32_t rank)
{
    return trace->first_track[rank] + 1;
}

static uint64_t stream_track(const struct trace *trace, uint32_t rank, uint32_t stream)
{
    return trace->first_track[rank] + 2 + stream;
}

static void write_track(struct trace *trace, const struct message *track)
{
    struct message packet = {0};
    put_message(&packet, 60, track);
    write_packet(trace, &packet);
}

static void write_tracks(struct trace *trace, uint32_t rank, const char *const *streams)
{
    struct message process = {0}, track = {0};
    const struct platform_host *host = trace_source_host(trace->source, rank);
    char name[512];
    uint64_t number = trace->processes + rank;
    snprintf(name, sizeof name, "%.60s%srank %u %.200s (%.200s)", trace->job ? trace->job : "", trace->job ? ": " : "",
             rank, host->name, host->node ? host->node : "");
    put_number(&process, 1, number + 1);
    put_text(&process, 6, name);
    put_number(&track, 1, rank_track(trace, rank));
    put_message(&track, 3, &process);
    write_track(trace, &track);
    for (uint32_t i = 0; i < trace_source_position(trace->source, rank)->stream_count; i++) {
        struct message thread = {0}, stream = {0};
        put_number(&thread, 1, number + 1);
        put_number(&thread, 2, (number << 12) + i + 1);
        put_text(&thread, 5, streams[i]);
        put_number(&stream, 1, stream_track(trace, rank, i));
        put_number(&stream, 5, rank_track(trace, rank));
        put_message(&stream, 4, &thread);
        write_track(trace, &stream);
    }
    struct message counter = {0}, kind = {0};
    put_number(&counter, 1, counter_track(trace, rank));
    put_number(&counter, 5, rank_track(trace, rank));
    put_text(&counter, 2, "stashed activations");
    put_message(&counter, 8, &kind);
    write_track(trace, &counter);
}

/* ---- names that are written once ---- */

static void write_name(struct trace *trace, unsigned list, uint64_t number, const char *name)
{
    struct message entry = {0}, interned = {0}, packet = {0};
    put_number(&entry, 1, number);
    put_text(&entry, 2, name);
    put_message(&interned, list, &entry);
    put_message(&packet, 12, &interned);
    write_packet(trace, &packet);
}

static void write_names(struct trace *trace)
{
    static const char *const arguments[ARGUMENTS] = {[ARGUMENT_ID] = "id",
                                                     [ARGUMENT_STAGE] = "stage",
                                                     [ARGUMENT_MICRO_BATCH] = "micro_batch",
                                                     [ARGUMENT_BYTES] = "bytes"};
    for (unsigned kind = 0; kind < STAGESIM_KINDS; kind++)
        write_name(trace, 1, kind + 1, kind_name((enum stagesim_kind)kind));
    for (unsigned i = 1; i < ARGUMENTS; i++)
        write_name(trace, 3, i, arguments[i]);
}

/* ---- slices ---- */

static void put_argument(struct message *event, unsigned name, uint64_t value)
{
    struct message argument = {0};
    put_number(&argument, 1, name);
    put_number(&argument, 3, value);
    put_message(event, 4, &argument);
}

/* Flows begin with the slice of a send and end with that of its receive. */
static void put_flow(struct trace *trace, struct message *event, uint32_t rank, uint32_t id,
                     const struct operation *operation, const struct stream *stream)
{
    if (operation->type != OPERATION_SEND && operation->type != OPERATION_RECEIVE)
        return;
    uint32_t peer = partner_rank(trace->program, rank, stream);
    if (!trace_source_shows(trace->source, peer))
        return;
    bool sends = operation->type == OPERATION_SEND;
    uint32_t sender = sends ? rank : peer, number = sends ? id : partner_id(trace->program, stream, id);
    put_fixed(event, sends ? 47 : 48, trace->first_message[sender] + number + 1);
}

static void write_event(struct trace *trace, double time, const struct message *event)
{
    struct message packet = {0};
    put_number(&packet, 8, nanoseconds(trace->start + time));
    put_message(&packet, 11, event);
    write_packet(trace, &packet);
}

static void begin_slice(struct trace *trace, uint32_t rank, uint32_t id, double start)
{
    const struct position *position = trace_source_position(trace->source, rank);
    const struct operation *operation = &position->operations[id];
    struct message event = {0};
    char name[OPERATION_TEXT_MAX];
    put_number(&event, 9, SLICE_BEGIN);
    put_number(&event, 11, stream_track(trace, rank, operation->stream));
    put_number(&event, 3, operation->kind + 1u); /* category_iids */
    put_text(&event, 23, operation_text(name, position, operation));
    put_argument(&event, ARGUMENT_ID, id);
    if (operation->stage != STAGE_NONE)
        put_argument(&event, ARGUMENT_STAGE, operation->stage);
    if (operation->micro_batch != MICRO_BATCH_NONE)
        put_argument(&event, ARGUMENT_MICRO_BATCH, operation->micro_batch);
    double bytes = operation_cost(trace->program, operation)->bytes;
    if (bytes > 0)
        put_argument(&event, ARGUMENT_BYTES, (uint64_t)llround(bytes));
    put_flow(trace, &event, rank, id, operation, &position->streams[operation->stream]);
    write_event(trace, start, &event);
}

static void end_slice(struct trace *trace, uint32_t rank, uint32_t stream, double end)
{
    struct message event = {0};
    put_number(&event, 9, SLICE_END);
    put_number(&event, 11, stream_track(trace, rank, stream));
    write_event(trace, end, &event);
}

/* Slices of a track do not overlap: pipelined messages, which do, begin with the end of the one before. */
static void write_slices(struct trace *trace, uint32_t rank)
{
    const struct position *position = trace_source_position(trace->source, rank);
    const struct moment *moments = timeline_rank(trace->source->timeline, rank);
    for (uint32_t i = 0; i < position->stream_count; i++) {
        const struct stream *stream = &position->streams[i];
        double before = 0;
        for (uint32_t id = stream->first; id < stream->first + stream->count; id++) {
            double start = stream->type == OPERATION_RECEIVE ? moments[id].data_start : moments[id].start;
            begin_slice(trace, rank, id, fmax(start, before));
            end_slice(trace, rank, i, moments[id].end);
            before = moments[id].end;
        }
    }
}

static void write_level(struct trace *trace, uint32_t rank, double time, double level)
{
    struct message event = {0};
    put_number(&event, 9, COUNTER);
    put_number(&event, 11, counter_track(trace, rank));
    put_double(&event, 44, level);
    write_event(trace, time, &event);
}

static void write_levels(struct trace *trace, struct memory_use *memory, uint32_t rank)
{
    size_t count;
    struct sum level = {0, 0};
    const struct memory_step *steps = memory_use_steps(memory, trace->source->timeline->index_of[rank], &count);
    for (size_t i = 0; i < count; i++) {
        sum_add(&level, steps[i].stash);
        if (steps[i].stash != 0 && (i + 1 == count || steps[i + 1].time != steps[i].time))
            write_level(trace, rank, steps[i].time, sum_total(&level));
    }
}

/* Small numbers take few bytes. */
static void number_all(struct trace *trace, struct arena *arena)
{
    const struct mesh *mesh = trace->program->mesh;
    uint64_t total = trace->messages, tracks = trace->tracks;
    trace->first_track = arena_array(arena, mesh->ranks, sizeof *trace->first_track);
    trace->first_message = arena_array(arena, mesh->ranks, sizeof *trace->first_message);
    for (uint32_t rank = 0; rank < mesh->ranks; rank++) {
        trace->first_message[rank] = total;
        trace->first_track[rank] = tracks;
        tracks += trace_source_position(trace->source, rank)->stream_count + 2;
        total += trace_source_position(trace->source, rank)->operation_count;
    }
    trace->messages = total;
    trace->tracks = tracks;
}

static void write_job(struct trace *trace, const struct trace_job *job)
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
    number_all(trace, arena);
    for (uint32_t i = 0; i < count && !ferror(trace->out); i++) {
        write_tracks(trace, ranks[i], streams[trace->program->mesh->position_of[ranks[i]]]);
        write_slices(trace, ranks[i]);
        write_levels(trace, memory, ranks[i]);
    }
    trace->processes += trace->program->mesh->ranks;
    free(ranks);
    arena_destroy(arena);
}

void perfetto_write_jobs(FILE *out, const struct trace_job *jobs, uint32_t count)
{
    struct trace trace = {.out = out, .tracks = 1};
    write_names(&trace);
    for (uint32_t i = 0; i < count; i++)
        write_job(&trace, &jobs[i]);
}

void perfetto_write(FILE *out, const struct trace_source *source)
{
    perfetto_write_jobs(out, &(struct trace_job){*source, NULL, 0}, 1);
}
