/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of one file share, for the sources of traces/ alone. */
#ifndef STAGESIM_TRACE_READER_H
#define STAGESIM_TRACE_READER_H

#include "traces/event.h"
#include "traces/recorded.h"

struct trace_reader {
    struct recorded *recorded;
    struct diag *diag;
    const char *file;
    size_t first;      /* operations of the files before */
    size_t first_sync; /* syncs likewise */
    bool has_origin;   /* the two below are known */
    int64_t origin;    /* µs: the first time of this file; times of operations count from it until the file ends */
    int64_t base;      /* ns: what times count from, 0: from 1970 or not known */
    uint32_t rank;     /* index of the rank of a profile, which has one; RECORDED_NONE: not made yet */
    uint32_t number;   /* of that rank; RECORDED_NONE: the file does not say */
    uint32_t passed;   /* events without a meaning for us, and such with broken times */
    uint32_t broken;
    struct timeline_rows *rows;   /* of traces/job_timeline.c; NULL: none yet */
    struct viewer_events *viewer; /* of traces/viewer_events.c; NULL: none yet */
};

/* Seconds after the file's origin, which the first event sets. */
double trace_reader_time(struct trace_reader *reader, const struct trace_event *event);

#endif
