/* SPDX-License-Identifier: Apache-2.0 */
/* Events of Chrome's trace format (one object each), with those arguments that some reader asks for. */
#ifndef STAGESIM_TRACES_EVENT_H
#define STAGESIM_TRACES_EVENT_H

#include "base/json/json_reader.h"

#include <stdbool.h>
#include <stdint.h>

enum trace_argument {
    TRACE_STREAM,
    TRACE_DEVICE,
    TRACE_CORRELATION,
    TRACE_EXTERNAL,
    TRACE_BYTES,
    TRACE_COLLECTIVE,
    TRACE_IN_ELEMENTS,
    TRACE_OUT_ELEMENTS,
    TRACE_DTYPE,
    TRACE_GROUP_SIZE,
    TRACE_GROUP_NAME,
    TRACE_GROUP_WHAT,
    TRACE_GROUP_RANKS,
    TRACE_RANK_START,
    TRACE_RANK_STRIDE,
    TRACE_SOURCE,
    TRACE_DESTINATION,
    TRACE_AWAITED_STREAM,
    TRACE_RECORD,
    TRACE_DIMENSIONS,
    TRACE_TYPES,
    TRACE_NAME,
    TRACE_LABELS,
    TRACE_STEP,
    TRACE_MICRO_BATCH,
    TRACE_CHUNK,
    TRACE_SEQUENCE,
    TRACE_WAITED,
    TRACE_ARGUMENTS
};

struct trace_value {
    uint32_t at, size; /* in texts */
    bool known;
};

/* Times beyond the year 2096 are mistakes: sums of them in nanoseconds have to stay numbers. */
#define TRACE_MICROS_MAX INT64_C(4000000000000000)

struct trace_event {
    struct place at;
    char phase;
    struct trace_value category, name, pid, tid, arguments[TRACE_ARGUMENTS];
    bool has_time, has_duration;
    int64_t micros;            /* the time, µs: whole ones and the rest */
    double fraction, duration; /* duration: µs */
    char *texts;               /* each with a zero behind it */
    size_t size, capacity;
};

/* Reads the event whose object has begun. False when the reader has failed. `event` is zero to begin with, and is given
 * to trace_event_finish in the end. */
bool trace_event_read(struct json_reader *json, struct trace_event *event);
void trace_event_finish(struct trace_event *event);

/* The text of a value; NULL: it is not there. */
static inline const char *trace_text(const struct trace_event *event, struct trace_value value)
{
    return value.known ? event->texts + value.at : NULL;
}

/* The number of an argument, also from a text; NaN: it is not there or none. */
double trace_number(const struct trace_event *event, enum trace_argument argument);
/* The same as a whole number below `most`; RECORDED_NONE (all bits set) where it is none. */
uint32_t trace_whole(const struct trace_event *event, enum trace_argument argument);

#endif
