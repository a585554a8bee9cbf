/* SPDX-License-Identifier: Apache-2.0 */
#include "traces/job_timeline.h"

#include "base/arena.h"
#include "traces/trace_reader.h"

#include <stdlib.h>
#include <string.h>

static const struct sort {
    const char *name;
    enum recorded_kind kind;
    enum recorded_work work;
} sorts[] = {
    {"forward-compute", RECORDED_COMPUTE, RECORDED_FORWARD},
    {"backward-compute", RECORDED_COMPUTE, RECORDED_BACKWARD},
    {"forward-send", RECORDED_SEND, RECORDED_ACTIVATION},
    {"forward-recv", RECORDED_RECEIVE, RECORDED_ACTIVATION},
    {"backward-send", RECORDED_SEND, RECORDED_GRADIENT},
    {"backward-recv", RECORDED_RECEIVE, RECORDED_GRADIENT},
    {"params-all-gather", RECORDED_COLLECTIVE, RECORDED_PARAMETER_GATHER},
    {"grads-reduce-scatter", RECORDED_COLLECTIVE, RECORDED_GRADIENT_SYNC},
    {"layernorm-grads-all-reduce", RECORDED_COLLECTIVE, RECORDED_OTHER},
    {"embedding-grads-all-reduce", RECORDED_COLLECTIVE, RECORDED_OTHER},
    {"optimizer-clip-main-grad", RECORDED_COLLECTIVE, RECORDED_OTHER},
    {"optimizer", RECORDED_COMPUTE, RECORDED_OPTIMIZER},
};

/* A thread of the file: one stream of one rank. */
struct timeline_row {
    uint32_t data, thread; /* pid, tid */
    uint32_t rank, stream; /* indices */
    uint32_t stage, tensor;
};

struct timeline_rows {
    struct timeline_row *rows;
    size_t count, capacity, last; /* last: that was asked for; events of a thread come together */
};

enum { STREAMS_OF_RANK = 5, NUMBER_MAX = 1 << 24 };

static uint32_t whole(const char *text)
{
    char *end = NULL;
    unsigned long value = text && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : RECORDED_NONE;
    return end && !*end && value < NUMBER_MAX ? (uint32_t)value : RECORDED_NONE;
}

/* The thread of an event; NULL after a mistake was reported. */
static struct timeline_row *row_of(struct trace_reader *reader, const struct trace_event *event)
{
    const char *pid = trace_text(event, event->pid), *tid = trace_text(event, event->tid);
    uint32_t data = whole(pid), thread = whole(tid);
    if (data == RECORDED_NONE || thread == RECORDED_NONE) {
        diag_error(reader->diag, event->at,
                   "pid and tid of an event are whole numbers: the data rank, and five times "
                   "the rank plus its stream; not '%.20s', '%.20s'",
                   pid ? pid : "", tid ? tid : "");
        return NULL;
    }
    if (!reader->rows)
        reader->rows = array_zeroed(1, sizeof *reader->rows);
    struct timeline_rows *rows = reader->rows;
    if (rows->count && rows->rows[rows->last].thread == thread && rows->rows[rows->last].data == data)
        return &rows->rows[rows->last];
    for (rows->last = 0; rows->last < rows->count; rows->last++)
        if (rows->rows[rows->last].thread == thread && rows->rows[rows->last].data == data)
            return &rows->rows[rows->last];
    static const char *const names[STREAMS_OF_RANK] = {"compute", "pp-comm", "tp-comm", "dp-comm", "misc"};
    rows->rows = array_grow(rows->rows, &rows->capacity, rows->count + 1, sizeof *rows->rows);
    uint32_t rank = recorded_rank(reader->recorded, thread / STREAMS_OF_RANK, reader->file);
    uint32_t stream =
        recorded_stream(reader->recorded, rank, thread % STREAMS_OF_RANK, false, names[thread % STREAMS_OF_RANK]);
    reader->recorded->ranks[rank].data = data;
    rows->rows[rows->count++] = (struct timeline_row){data, thread, rank, stream, RECORDED_NONE, RECORDED_NONE};
    return &rows->rows[rows->count - 1];
}

/* "PP rank 0, TP rank 0, compute". */
static void take_name(struct trace_reader *reader, const struct trace_event *event)
{
    const char *name = trace_text(event, event->arguments[TRACE_NAME]);
    if (!name || strncmp(name, "PP rank ", 8) != 0)
        return;
    struct timeline_row *row = row_of(reader, event);
    const char *tensor = strstr(name, "TP rank ");
    if (!row)
        return;
    row->stage = (uint32_t)strtoul(name + 8, NULL, 10) % NUMBER_MAX;
    row->tensor = tensor ? (uint32_t)strtoul(tensor + 8, NULL, 10) % NUMBER_MAX : RECORDED_NONE;
    reader->recorded->ranks[row->rank].stage = row->stage;
    reader->recorded->ranks[row->rank].tensor = row->tensor;
}

static const struct sort *sort_of(const struct trace_event *event)
{
    const char *category = trace_text(event, event->category);
    for (size_t i = 0; category && i < sizeof sorts / sizeof *sorts; i++)
        if (!strcmp(sorts[i].name, category))
            return &sorts[i];
    return NULL;
}

static void take_operation(struct trace_reader *reader, const struct trace_event *event, const struct sort *sort)
{
    const struct timeline_row *row = row_of(reader, event);
    if (!row)
        return;
    double begin = trace_reader_time(reader, event);
    struct recorded_operation *operation =
        recorded_add(reader->recorded, sort->kind, row->stream, begin, begin + event->duration * 1e-6);
    operation->name = recorded_name(reader->recorded, sort->name, strlen(sort->name));
    operation->work = (uint8_t)sort->work;
    operation->step = trace_whole(event, TRACE_STEP);
    operation->micro_batch = trace_whole(event, TRACE_MICRO_BATCH);
    operation->sequence = trace_whole(event, TRACE_SEQUENCE);
    uint32_t chunk = trace_whole(event, TRACE_CHUNK);
    operation->chunk = chunk < RECORDED_NO_STAGE ? (uint16_t)chunk : RECORDED_NO_STAGE;
    if (operation->step == RECORDED_NONE)
        diag_error(reader->diag, event->at, "an event of category %s has args.step, a whole number", sort->name);
    if (sort->kind == RECORDED_COMPUTE && sort->work != RECORDED_OPTIMIZER && operation->micro_batch == RECORDED_NONE)
        diag_error(reader->diag, event->at, "an event of category %s has args.mb_id, the micro-batch", sort->name);
}

bool job_timeline_take(struct trace_reader *reader, const struct trace_event *event)
{
    const char *name = trace_text(event, event->name), *category = trace_text(event, event->category);
    if (event->phase == 'M' && name && !strcmp(name, "thread_name")) {
        take_name(reader, event);
        return true;
    }
    if (category && !strcmp(category, "gc"))
        return true; /* always empty in what is published */
    const struct sort *sort = sort_of(event);
    if (!sort || event->phase != 'X')
        return false;
    if (!event->has_time || !event->has_duration || event->duration < 0)
        reader->broken++;
    else
        take_operation(reader, event, sort);
    return true;
}

void job_timeline_forget(struct trace_reader *reader)
{
    if (reader->rows)
        free(reader->rows->rows);
    free(reader->rows);
    reader->rows = NULL;
}

bool job_timeline_finish(struct trace_reader *reader)
{
    struct recorded *recorded = reader->recorded;
    bool good = true;
    for (size_t i = 0; reader->rows && i < reader->rows->count; i++)
        if (recorded->ranks[reader->rows->rows[i].rank].stage == RECORDED_NONE) {
            diag_error(reader->diag, (struct place){reader->file, 0, 0},
                       "thread %u has no name; expected a thread_name such as \"PP rank 0, TP rank 0, compute\", which "
                       "says its stage",
                       reader->rows->rows[i].thread);
            good = false;
        }
    for (size_t i = reader->first; reader->rows && good && i < recorded->count; i++) {
        struct recorded_operation *operation = &recorded->operations[i];
        if (operation->chunk != RECORDED_NO_STAGE && operation->chunk > 0) {
            diag_error(reader->diag, (struct place){reader->file, 0, 0},
                       "its stages have several model chunks; expected timelines with one, model_chunk 0");
            good = false;
        }
        uint32_t stage = recorded->ranks[recorded_rank_of(recorded, operation)].stage;
        operation->stage = stage < RECORDED_NO_STAGE ? (uint16_t)stage : RECORDED_NO_STAGE;
    }
    job_timeline_forget(reader);
    return good;
}
