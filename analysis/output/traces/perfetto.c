/* SPDX-License-Identifier: Apache-2.0 */
/* The messages and field numbers are those of protos/perfetto/trace of the Perfetto project (TracePacket, TrackEvent,
 * TrackDescriptor, InternedData); the encoding is that of protocol buffers. All packets form one sequence; names are
 * written once and referred to by number. */
#include "analysis/output/traces/perfetto.h"

#include "analysis/figures/memory_use.h"
#include "analysis/figures/partner.h"
#include "analysis/output/traces/trace_walk.h"
#include "base/arena.h"
#include "base/protobuf/protobuf.h"
#include "base/sum.h"
#include "simulator/program/operation_text.h"

#include <math.h>
#include <stdlib.h>

enum { SEQUENCE = 1 };
enum { SLICE_BEGIN = 1, SLICE_END = 2, COUNTER = 4 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };
enum { ARGUMENT_ID = 1, ARGUMENT_STAGE, ARGUMENT_MICRO_BATCH, ARGUMENT_BYTES, ARGUMENTS };

struct trace {
    FILE *out;
    struct trace_walk walk;
    struct protobuf packet;  /* under way */
    uint64_t *first_message; /* [rank]: number of its first send, for flows */
    uint64_t *first_track;   /* [rank]: number of its track; its counter and its streams follow */
    bool begun;              /* the first packet is written */
    uint64_t tracks, messages;
};

/* ---- packets ---- */

/* A packet is a field of the trace. Until write_packet its own fields are written to `packet`. */
static struct protobuf *begin_packet(struct trace *trace)
{
    trace->packet.size = 0;
    return &trace->packet;
}

static void write_packet(struct trace *trace)
{
    struct protobuf *packet = &trace->packet;
    protobuf_number(packet, 10, SEQUENCE);
    protobuf_number(packet, 13, trace->begun ? NEEDS_STATE : STATE_CLEARED);
    trace->begun = true;
    size_t size = packet->size;
    protobuf_varint(packet, 1 << 3 | PROTOBUF_BYTES);
    protobuf_varint(packet, size);
    fwrite(packet->bytes + size, 1, packet->size - size, trace->out);
    fwrite(packet->bytes, 1, size, trace->out);
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

static void write_rank_track(struct trace *trace, uint32_t rank, uint64_t number)
{
    struct protobuf *packet = begin_packet(trace);
    char name[TRACE_RANK_NAME];
    size_t track = protobuf_begin(packet, 60);
    protobuf_number(packet, 1, rank_track(trace, rank));
    size_t process = protobuf_begin(packet, 3);
    protobuf_number(packet, 1, number + 1);
    protobuf_text(packet, 6, trace_walk_rank_name(&trace->walk, rank, name));
    protobuf_end(packet, process);
    protobuf_end(packet, track);
    write_packet(trace);
}

static void write_stream_track(struct trace *trace, uint32_t rank, uint64_t number, uint32_t stream, const char *name)
{
    struct protobuf *packet = begin_packet(trace);
    size_t track = protobuf_begin(packet, 60);
    protobuf_number(packet, 1, stream_track(trace, rank, stream));
    protobuf_number(packet, 5, rank_track(trace, rank));
    size_t thread = protobuf_begin(packet, 4);
    protobuf_number(packet, 1, number + 1);
    protobuf_number(packet, 2, (number << 12) + stream + 1);
    protobuf_text(packet, 5, name);
    protobuf_end(packet, thread);
    protobuf_end(packet, track);
    write_packet(trace);
}

static void write_counter_track(struct trace *trace, uint32_t rank)
{
    struct protobuf *packet = begin_packet(trace);
    size_t track = protobuf_begin(packet, 60);
    protobuf_number(packet, 1, counter_track(trace, rank));
    protobuf_number(packet, 5, rank_track(trace, rank));
    protobuf_text(packet, 2, "stashed activations");
    protobuf_end(packet, protobuf_begin(packet, 8));
    protobuf_end(packet, track);
    write_packet(trace);
}

static void write_tracks(struct trace *trace, uint32_t rank)
{
    const struct trace_walk *walk = &trace->walk;
    const char *const *streams = walk->streams[walk->program->mesh->position_of[rank]];
    uint64_t number = walk->processes + rank;
    write_rank_track(trace, rank, number);
    for (uint32_t i = 0; i < trace_source_position(walk->source, rank)->stream_count; i++)
        write_stream_track(trace, rank, number, i, streams[i]);
    write_counter_track(trace, rank);
}

/* ---- names that are written once ---- */

static void write_name(struct trace *trace, unsigned list, uint64_t number, const char *name)
{
    struct protobuf *packet = begin_packet(trace);
    size_t interned = protobuf_begin(packet, 12), entry = protobuf_begin(packet, list);
    protobuf_number(packet, 1, number);
    protobuf_text(packet, 2, name);
    protobuf_end(packet, entry);
    protobuf_end(packet, interned);
    write_packet(trace);
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

static void put_argument(struct protobuf *packet, unsigned name, uint64_t value)
{
    size_t argument = protobuf_begin(packet, 4);
    protobuf_number(packet, 1, name);
    protobuf_number(packet, 3, value);
    protobuf_end(packet, argument);
}

/* Flows begin with the slice of a send and end with that of its receive. */
static void put_flow(struct trace *trace, uint32_t rank, uint32_t id, const struct operation *operation,
                     const struct stream *stream)
{
    if (operation->type != OPERATION_SEND && operation->type != OPERATION_RECEIVE)
        return;
    uint32_t peer = partner_rank(trace->walk.program, rank, stream);
    if (!trace_source_shows(trace->walk.source, peer))
        return;
    bool sends = operation->type == OPERATION_SEND;
    uint32_t sender = sends ? rank : peer, number = sends ? id : partner_id(trace->walk.program, stream, id);
    protobuf_fixed(&trace->packet, sends ? 47 : 48, trace->first_message[sender] + number + 1);
}

/* A packet with an event on a track; its further fields follow, until end_event. */
static size_t begin_event(struct trace *trace, double time, unsigned type, uint64_t track)
{
    struct protobuf *packet = begin_packet(trace);
    protobuf_number(packet, 8, nanoseconds(trace->walk.start + time));
    size_t event = protobuf_begin(packet, 11);
    protobuf_number(packet, 9, type);
    protobuf_number(packet, 11, track);
    return event;
}

static void end_event(struct trace *trace, size_t event)
{
    protobuf_end(&trace->packet, event);
    write_packet(trace);
}

static void begin_slice(struct trace *trace, uint32_t rank, uint32_t id, double start)
{
    const struct position *position = trace_source_position(trace->walk.source, rank);
    const struct operation *operation = &position->operations[id];
    struct protobuf *packet = &trace->packet;
    char name[OPERATION_TEXT_MAX];
    size_t event = begin_event(trace, start, SLICE_BEGIN, stream_track(trace, rank, operation->stream));
    protobuf_number(packet, 3, operation->kind + 1u); /* category_iids */
    protobuf_text(packet, 23, operation_text(name, position, operation));
    put_argument(packet, ARGUMENT_ID, id);
    if (operation->stage != STAGE_NONE)
        put_argument(packet, ARGUMENT_STAGE, operation->stage);
    if (operation->micro_batch != MICRO_BATCH_NONE)
        put_argument(packet, ARGUMENT_MICRO_BATCH, operation->micro_batch);
    double bytes = operation_cost(trace->walk.program, operation)->bytes;
    if (bytes > 0)
        put_argument(packet, ARGUMENT_BYTES, (uint64_t)llround(bytes));
    put_flow(trace, rank, id, operation, &position->streams[operation->stream]);
    end_event(trace, event);
}

static void end_slice(struct trace *trace, uint32_t rank, uint32_t stream, double end)
{
    end_event(trace, begin_event(trace, end, SLICE_END, stream_track(trace, rank, stream)));
}

/* Slices of a track do not overlap: pipelined messages, which do, begin with the end of the one before. */
static void write_slices(struct trace *trace, uint32_t rank)
{
    const struct position *position = trace_source_position(trace->walk.source, rank);
    const struct moment *moments = timeline_rank(trace->walk.source->timeline, rank);
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
    size_t event = begin_event(trace, time, COUNTER, counter_track(trace, rank));
    protobuf_double(&trace->packet, 44, level);
    end_event(trace, event);
}

static void write_levels(struct trace *trace, uint32_t rank)
{
    size_t count;
    struct sum level = {0, 0};
    const struct memory_step *steps =
        memory_use_steps(trace->walk.memory, trace->walk.source->timeline->index_of[rank], &count);
    for (size_t i = 0; i < count; i++) {
        sum_add(&level, steps[i].stash);
        if (steps[i].stash != 0 && (i + 1 == count || steps[i + 1].time != steps[i].time))
            write_level(trace, rank, steps[i].time, sum_total(&level));
    }
}

/* Small numbers take few bytes. */
static void number_all(struct trace *trace)
{
    const struct mesh *mesh = trace->walk.program->mesh;
    uint64_t total = trace->messages, tracks = trace->tracks;
    trace->first_track = arena_array(trace->walk.arena, mesh->ranks, sizeof *trace->first_track);
    trace->first_message = arena_array(trace->walk.arena, mesh->ranks, sizeof *trace->first_message);
    for (uint32_t rank = 0; rank < mesh->ranks; rank++) {
        trace->first_message[rank] = total;
        trace->first_track[rank] = tracks;
        tracks += trace_source_position(trace->walk.source, rank)->stream_count + 2;
        total += trace_source_position(trace->walk.source, rank)->operation_count;
    }
    trace->messages = total;
    trace->tracks = tracks;
}

static void write_job(struct trace *trace, const struct trace_job *job)
{
    struct trace_walk *walk = &trace->walk;
    trace_walk_begin(walk, job);
    number_all(trace);
    for (uint32_t i = 0; i < walk->count && !ferror(trace->out); i++) {
        write_tracks(trace, walk->ranks[i]);
        write_slices(trace, walk->ranks[i]);
        write_levels(trace, walk->ranks[i]);
    }
    trace_walk_end(walk);
}

void perfetto_write_jobs(FILE *out, const struct trace_job *jobs, uint32_t count)
{
    struct trace trace = {.out = out, .tracks = 1};
    write_names(&trace);
    for (uint32_t i = 0; i < count; i++)
        write_job(&trace, &jobs[i]);
    free(trace.packet.bytes);
}

void perfetto_write(FILE *out, const struct trace_source *source)
{
    perfetto_write_jobs(out, &(struct trace_job){*source, NULL, 0}, 1);
}
