/* SPDX-License-Identifier: Apache-2.0 */
#include "traces/viewer_events.h"

#include "base/arena.h"
#include "traces/drawn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { OTHERS_MAX = 1 << 22, NUMBER_MAX = 1 << 24 };

/* An event of somebody else's. */
struct other {
    double begin, end;
    uint64_t process, thread;
    uint32_t name;
};

/* One end of an arrow. */
struct arrow_end {
    uint32_t rank, thread;
};

struct viewer_events {
    struct drawn *drawn; /* NULL: the file is not stagesim's own */
    struct arrow_end from;
    struct arrow_end *arrows; /* pairs, 2 arrow_count of them */
    size_t arrow_count, arrow_capacity;
    struct other *others;
    size_t count, capacity;
    uint64_t left_out;
};

static struct viewer_events *events_of(struct trace_reader *reader)
{
    if (!reader->viewer)
        reader->viewer = array_zeroed(1, sizeof *reader->viewer);
    return reader->viewer;
}

static bool is(const char *text, const char *word)
{
    return text && !strcmp(text, word);
}

static uint32_t whole(const char *text)
{
    char *end = NULL;
    unsigned long value = text && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : RECORDED_NONE;
    return end && !*end && value < NUMBER_MAX ? (uint32_t)value : RECORDED_NONE;
}

/* ---- our own ---- */

static bool begins(struct trace_reader *reader, const struct trace_event *event)
{
    if (event->phase != 'M' || !is(trace_text(event, event->name), "trace_name") ||
        !is(trace_text(event, event->arguments[TRACE_NAME]), "stagesim"))
        return false;
    struct viewer_events *events = events_of(reader);
    if (!events->drawn)
        events->drawn = drawn_create(reader);
    return true;
}

static void take_arrow(struct viewer_events *events, char phase, struct arrow_end end)
{
    if (phase == 's') {
        events->from = end;
        return;
    }
    struct arrow_end *last = events->arrow_count ? &events->arrows[2 * (events->arrow_count - 1)] : NULL;
    if (last && last->rank == events->from.rank && last->thread == events->from.thread)
        return; /* all of a stream go the same way */
    events->arrows =
        array_grow(events->arrows, &events->arrow_capacity, 2 * (events->arrow_count + 1), sizeof *events->arrows);
    events->arrows[2 * events->arrow_count] = events->from;
    events->arrows[2 * events->arrow_count++ + 1] = end;
}

static void take_slice(struct trace_reader *reader, const struct trace_event *event, uint32_t rank, uint32_t thread)
{
    struct recorded *recorded = reader->recorded;
    const char *text = trace_text(event, event->name);
    if (!event->has_time || !event->has_duration || event->duration < 0 || !text) {
        reader->broken++;
        return;
    }
    uint32_t stream = recorded_stream(recorded, recorded_rank(recorded, rank, reader->file), thread, false, "");
    double begin = trace_reader_time(reader, event), waited = trace_number(event, TRACE_WAITED);
    if (!drawn_has(reader->viewer->drawn, stream)) {
        diag_error(reader->diag, event->at,
                   "the thread has no name before it; expected one such as \"compute\" or "
                   "\"send:1:activation\"");
        return;
    }
    drawn_operation(reader->viewer->drawn, stream, text, begin, begin + (waited > 0 ? waited * 1e-6 : 0),
                    begin + event->duration * 1e-6, trace_number(event, TRACE_BYTES));
}

bool viewer_take(struct trace_reader *reader, const struct trace_event *event)
{
    if (begins(reader, event))
        return true;
    if (!reader->viewer || !reader->viewer->drawn)
        return false;
    const char *name = trace_text(event, event->name), *label = trace_text(event, event->arguments[TRACE_NAME]);
    uint32_t rank = whole(trace_text(event, event->pid)), thread = whole(trace_text(event, event->tid));
    if (rank == RECORDED_NONE || thread == RECORDED_NONE)
        diag_error(reader->diag, event->at, "pid and tid are whole numbers: the rank and its stream");
    else if (event->phase == 'M' && is(name, "thread_name") && label &&
             drawn_stream(reader->viewer->drawn, rank, thread, label) == RECORDED_NONE)
        diag_error(reader->diag, event->at, "'%.40s' is no stream's name; expected one such as \"send:1:activation\"",
                   label);
    else if (event->phase == 's' || event->phase == 'f')
        take_arrow(reader->viewer, event->phase, (struct arrow_end){rank, thread});
    else if (event->phase == 'X')
        take_slice(reader, event, rank, thread);
    return true;
}

static void join_arrows(struct trace_reader *reader)
{
    struct recorded *recorded = reader->recorded;
    struct viewer_events *events = reader->viewer;
    for (size_t i = 0; i < events->arrow_count; i++) {
        uint32_t ends[2];
        for (int k = 0; k < 2; k++) {
            const struct arrow_end *end = &events->arrows[2 * i + (size_t)k];
            ends[k] =
                recorded_stream(recorded, recorded_rank(recorded, end->rank, reader->file), end->thread, false, "");
        }
        if (drawn_has(events->drawn, ends[0]) && drawn_has(events->drawn, ends[1]))
            drawn_link(events->drawn, ends[0], ends[1]);
    }
}

/* ---- others' ---- */

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    while (text && *text)
        hash = (hash ^ (unsigned char)*text++) * 0x100000001b3ull;
    return hash;
}

void viewer_remember(struct trace_reader *reader, const struct trace_event *event)
{
    const char *name = trace_text(event, event->name);
    if (event->phase != 'X' || !event->has_time || !event->has_duration || event->duration < 0 || !name ||
        reader->recorded->count > reader->first)
        return;
    struct viewer_events *events = events_of(reader);
    if (events->count == OTHERS_MAX) {
        events->left_out++;
        return;
    }
    events->others = array_grow(events->others, &events->capacity, events->count + 1, sizeof *events->others);
    double begin = trace_reader_time(reader, event);
    events->others[events->count++] =
        (struct other){begin, begin + event->duration * 1e-6, hash_of(trace_text(event, event->pid)),
                       hash_of(trace_text(event, event->tid)), recorded_name(reader->recorded, name, strlen(name))};
}

/* By what names of communication libraries and of other programs say. */
static enum recorded_kind kind_of(const char *name)
{
    static const char *const exchanges[] = {"nccl",      "rccl",       "allreduce",      "all_reduce", "all-reduce",
                                            "allgather", "all_gather", "all-gather",     "broadcast",  "reduce_scatter",
                                            "sendrecv",  "alltoall",   "reduce-scatter", "all_to_all", "all-to-all"};
    for (size_t i = 0; i < sizeof exchanges / sizeof *exchanges; i++)
        if (strcasestr(name, exchanges[i]))
            return RECORDED_COLLECTIVE;
    return strcasestr(name, "memcpy") || strcasestr(name, "memset") ? RECORDED_MEMORY : RECORDED_COMPUTE;
}

static void take_others(struct trace_reader *reader)
{
    struct recorded *recorded = reader->recorded;
    const struct viewer_events *events = reader->viewer;
    uint64_t *processes = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < events->count; i++) {
        const struct other *it = &events->others[i];
        uint32_t rank = 0;
        while (rank < count && processes[rank] != it->process)
            rank++;
        if (rank == count) {
            processes = array_grow(processes, &capacity, count + 1, sizeof *processes);
            processes[count++] = it->process;
        }
        uint32_t stream = recorded_stream(recorded, recorded_rank(recorded, rank, reader->file), it->thread, false, "");
        recorded_add(recorded, kind_of(recorded->names[it->name]), stream, it->begin, it->end)->name = it->name;
    }
    free(processes);
    recorded->format = "Chrome trace";
    recorded_note(recorded,
                  "%s is of no program that is known: each of its %zu processes is taken for a rank, each event for "
                  "what runs there, and names alone tell communication from computation",
                  reader->file, count);
    if (events->left_out)
        recorded_note(recorded, "%s has %ju events more than are looked at", reader->file, (uintmax_t)events->left_out);
}

bool viewer_finish(struct trace_reader *reader)
{
    unsigned errors = reader->diag->errors;
    if (reader->viewer && reader->viewer->drawn) {
        join_arrows(reader);
        drawn_finish(reader->viewer->drawn);
        reader->recorded->format = "Chrome trace (stagesim)";
    } else if (reader->viewer && reader->recorded->count == reader->first && reader->viewer->count) {
        if (*reader->recorded->format)
            diag_error(reader->diag, (struct place){reader->file, 0, 0},
                       "it is of no program that is known; expected no other trace beside it");
        else
            take_others(reader);
    }
    viewer_forget(reader);
    return reader->diag->errors == errors;
}

void viewer_forget(struct trace_reader *reader)
{
    if (!reader->viewer)
        return;
    drawn_destroy(reader->viewer->drawn);
    free(reader->viewer->arrows);
    free(reader->viewer->others);
    free(reader->viewer);
    reader->viewer = NULL;
}
