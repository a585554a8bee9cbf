/* SPDX-License-Identifier: Apache-2.0 */
#include "traces/recorded.h"

#include "base/arena.h"
#include "traces/annotated.h"
#include "traces/chakra_trace.h"
#include "traces/job_timeline.h"
#include "traces/kineto.h"
#include "traces/nsight.h"
#include "traces/operations_table.h"
#include "traces/paje_file.h"
#include "traces/source.h"
#include "traces/trace_reader.h"
#include "traces/viewer_events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ---- */

static void take_event(struct trace_reader *reader, const struct trace_event *event)
{
    struct recorded *recorded = reader->recorded;
    size_t before = recorded->count;
    if (viewer_take(reader, event))
        return;
    bool profile = kineto_take(reader, event);
    if (!profile && !job_timeline_take(reader, event)) {
        viewer_remember(reader, event);
        reader->passed++;
    }
    if (recorded->count == before)
        return;
    if (!*recorded->format) {
        recorded->format = profile ? "PyTorch's profiler (Kineto)" : "job timeline (StragglerAnalysis)";
        recorded->timeline = !profile;
    } else if (recorded->timeline == profile) {
        diag_error(reader->diag, event->at, "the trace has events of a profile and of a job's timeline; expected one");
    }
}

static void read_events(struct trace_reader *reader, struct json_reader *json)
{
    struct trace_event event = {0};
    for (enum json_piece piece; (piece = json_next(json)) != JSON_ARRAY_END && piece != JSON_END;) {
        if (piece != JSON_OBJECT_BEGIN) {
            json_refuse(json, "an event is an object such as {\"ph\": \"X\", \"ts\": 1, \"dur\": 2}");
            break;
        }
        if (!trace_event_read(json, &event))
            break;
        if (reader->recorded->count >= RECORDED_NONE - 1) {
            json_refuse(json, "more than four thousand million operations");
            break;
        }
        take_event(reader, &event);
    }
    trace_event_finish(&event);
}

/* "deviceProperties": the name of the first device. */
static void read_devices(struct trace_reader *reader, struct json_reader *json, const char **device)
{
    if (json_next(json) != JSON_ARRAY_BEGIN)
        return;
    unsigned depth = json_depth(json);
    for (enum json_piece piece; json_depth(json) >= depth && (piece = json_next(json)) != JSON_END;) {
        if (piece != JSON_KEY || *device || strcmp(json_piece_text(json, NULL), "name") != 0)
            continue;
        if (json_next(json) == JSON_STRING)
            *device = arena_copy(reader->recorded->arena, json_piece_text(json, NULL));
    }
}

static void read_base(struct trace_reader *reader, struct json_reader *json)
{
    if (json_next(json) != JSON_NUMBER)
        return;
    reader->base = strtoll(json_piece_text(json, NULL), NULL, 10);
    if (reader->base < 0 || reader->base > TRACE_MICROS_MAX * 1000)
        json_refuse(json, "baseTimeNanoseconds is nanoseconds since 1970");
}

static void read_distributed(struct trace_reader *reader, struct json_reader *json)
{
    enum json_piece piece = json_next(json);
    if (piece == JSON_OBJECT_BEGIN)
        kineto_read_distributed(reader, json);
    else if (piece == JSON_ARRAY_BEGIN)
        json_skip_rest(json);
}

/* The members of the object at the top. */
static void read_top(struct trace_reader *reader, struct json_reader *json, const char **device, bool *has_events)
{
    while (json_next(json) == JSON_KEY) {
        const char *key = json_piece_text(json, NULL);
        if (!strcmp(key, "traceEvents")) {
            *has_events = true;
            if (json_next(json) == JSON_ARRAY_BEGIN)
                read_events(reader, json);
            else
                json_refuse(json, "traceEvents is a list of events");
        } else if (!strcmp(key, "distributedInfo")) {
            read_distributed(reader, json);
        } else if (!strcmp(key, "deviceProperties")) {
            read_devices(reader, json, device);
        } else if (!strcmp(key, "baseTimeNanoseconds")) {
            read_base(reader, json);
        } else {
            json_skip(json);
        }
    }
}

/* What the whole file says of its rank. */
static bool name_rank(struct trace_reader *reader, const char *device, uint32_t file_number)
{
    struct recorded *recorded = reader->recorded;
    if (reader->rank == RECORDED_NONE)
        return true;
    if (reader->number == RECORDED_NONE) {
        reader->number = file_number;
        recorded_note(recorded, "%s does not say which rank it is: taken for rank %u, its number among the files",
                      reader->file, file_number);
    }
    for (size_t i = 0; i < recorded->rank_count; i++)
        if (i != reader->rank && recorded->ranks[i].number == reader->number) {
            diag_error(reader->diag, (struct place){reader->file, 0, 0}, "it is of rank %u, as is %s", reader->number,
                       recorded->ranks[i].file);
            return false;
        }
    recorded->ranks[reader->rank].number = reader->number;
    recorded->ranks[reader->rank].device = device;
    return true;
}

/* Times of a file's operations count from the first file's origin from now on. */
static void move_origin(struct trace_reader *reader)
{
    struct recorded *recorded = reader->recorded;
    int64_t origin = reader->base + reader->origin * 1000;
    if (!reader->first)
        recorded->origin = origin;
    /* Of halves: the difference of two may be more than a number holds. */
    double shift =
        (double)(origin / 2 - recorded->origin / 2) * 2e-9 + (double)(origin % 2 - recorded->origin % 2) * 1e-9;
    for (size_t i = reader->first; i < recorded->count; i++) {
        recorded->operations[i].begin += shift;
        recorded->operations[i].end += shift;
    }
}

static bool read_json(struct trace_reader *reader, struct trace_file *file, uint32_t file_number)
{
    struct json_reader *json = json_reader_create(reader->file, trace_file_read, file);
    const char *device = NULL;
    bool has_events = true;
    enum json_piece piece = json_next(json);
    if (piece == JSON_ARRAY_BEGIN) {
        read_events(reader, json);
        json_next(json);
    } else if (piece == JSON_OBJECT_BEGIN) {
        has_events = false;
        read_top(reader, json, &device, &has_events);
        json_next(json);
    } else {
        json_refuse(json, "a trace is an object with traceEvents, or a list of events");
    }
    struct place at;
    bool trouble = false;
    const char *why = json_reader_failed(json, &at, &trouble);
    if (why && trouble)
        diag_trouble(reader->diag, (struct place){reader->file, 0, 0}, "%s", why);
    else if (why)
        diag_error(reader->diag, at, "%s", why);
    else if (!has_events)
        diag_error(reader->diag, (struct place){reader->file, 0, 0},
                   "it has no traceEvents; expected a trace of "
                   "PyTorch's profiler, a job's timeline or an operations.csv");
    json_reader_destroy(json);
    if (why || !has_events) {
        job_timeline_forget(reader);
        viewer_forget(reader);
        return false;
    }
    return viewer_finish(reader) && job_timeline_finish(reader) && name_rank(reader, device, file_number);
}

/* ---- files ---- */

static void note_events(const struct trace_reader *reader)
{
    if (reader->broken)
        recorded_note(reader->recorded, "%s: %u events have no time or no duration and were passed over", reader->file,
                      reader->broken);
}

/* Closes the file. */
static bool read_file(struct recorded *recorded, struct trace_file *file, const char *path, uint32_t number,
                      struct diag *diag)
{
    if (!file)
        return false;
    struct trace_reader reader = {.recorded = recorded,
                                  .diag = diag,
                                  .file = path,
                                  .first = recorded->count,
                                  .first_sync = recorded->sync_count,
                                  .rank = RECORDED_NONE,
                                  .number = RECORDED_NONE};
    unsigned errors = diag->errors;
    char head[256];
    size_t size = trace_file_peek(file, head, sizeof head);
    bool good;
    if (nsight_is(head, size))
        good = nsight_read(&reader) && name_rank(&reader, NULL, number);
    else if (chakra_trace_is(path))
        good = chakra_trace_read(&reader) && name_rank(&reader, NULL, number);
    else if (paje_file_is(head, size))
        good = paje_file_read(&reader, file);
    else
        good =
            operations_table_is(head, size) ? operations_table_read(&reader, file) : read_json(&reader, file, number);
    trace_file_close(file);
    if (!good || diag->errors != errors)
        return false;
    if (recorded->timeline)
        reader.rank = RECORDED_NONE; /* it is no profile of a rank, whose steps are to be found */
    if (recorded->count == reader.first) {
        diag_error(diag, (struct place){path, 0, 0},
                   "it has no operation of a training: none of a device, and no "
                   "forward or backward");
        return false;
    }
    kineto_finish(&reader);
    if (reader.rank != RECORDED_NONE && recorded->sync_count == reader.first_sync)
        recorded->annotated += annotated_take(recorded, reader.first);
    move_origin(&reader);
    note_events(&reader);
    return true;
}

/* Files whose training loops say what they do are a timeline, all of them or none. */
static bool join_annotated(struct recorded *recorded, size_t files, struct diag *diag)
{
    if (!recorded->annotated)
        return true;
    if (recorded->annotated != files) {
        diag_error(diag, (struct place){recorded->ranks[0].file, 0, 0},
                   "%zu of %zu profiles have annotations such as \"forward 0.1\"; expected all or none",
                   recorded->annotated, files);
        return false;
    }
    recorded->timeline = true;
    recorded->format = "PyTorch's profiler (Kineto) with annotated forwards and backwards";
    annotated_join(recorded);
    return true;
}

/* The recorded, or NULL and what was read goes. */
static struct recorded *finish(struct recorded *recorded, size_t files, bool good, struct diag *diag)
{
    good = good && join_annotated(recorded, files, diag);
    diag_rest(diag);
    if (!good) {
        recorded_destroy(recorded);
        return NULL;
    }
    recorded_finish(recorded);
    return recorded;
}

struct recorded *recorded_read(const char *const *files, size_t count, struct diag *diag)
{
    struct recorded *recorded = recorded_create();
    bool good = true;
    for (size_t i = 0; i < count; i++)
        good &= read_file(recorded, trace_file_open(files[i], diag), files[i], (uint32_t)i, diag);
    return finish(recorded, count, good, diag);
}

struct recorded *recorded_read_stream(const char *name, FILE *stream, struct diag *diag)
{
    struct recorded *recorded = recorded_create();
    return finish(recorded, 1, read_file(recorded, trace_file_of_stream(name, stream, diag), name, 0, diag), diag);
}
