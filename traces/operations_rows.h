/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of operations.csv, the table that `stagesim run --trace csv` writes, one after the other: for what makes a
 * recorded trace of them, and for what draws them. */
#ifndef STAGESIM_TRACES_OPERATIONS_ROWS_H
#define STAGESIM_TRACES_OPERATIONS_ROWS_H

#include "base/csv.h"
#include "traces/recorded.h"

/* A run of thirty thousand years: what is more is damage, and would break pictures. */
#define OPERATIONS_SECONDS_MOST 1e12

/* Columns, for mistakes that a reader of rows finds. */
enum operations_column {
    OPERATIONS_RANK,
    OPERATIONS_STREAM,
    OPERATIONS_ID,
    OPERATIONS_KIND,
    OPERATIONS_STAGE,
    OPERATIONS_MICRO_BATCH,
    OPERATIONS_START,
    OPERATIONS_DATA_START,
    OPERATIONS_END, /* those up to here every table has */
    OPERATIONS_PIPELINE,
    OPERATIONS_PART, /* those up to here every table has that is drawn */
    OPERATIONS_HOST,
    OPERATIONS_POSITION,
    OPERATIONS_GROUP,
    OPERATIONS_PEER,
    OPERATIONS_BYTES,
    OPERATIONS_FLOPS,
    OPERATIONS_MEMORY,
    OPERATIONS_WAITS,
    OPERATIONS_ITERATION,
    OPERATIONS_SLACK,
    OPERATIONS_ALONE,
    OPERATIONS_COLUMNS
};

/* Both of "0+3", or the one twice; RECORDED_NONE: the field is empty, or that half of it. */
struct operations_pair {
    uint32_t first, second;
};

/* What a row says; RECORDED_NONE: its field is empty or not there. */
struct operations_row {
    uint32_t rank, id, iteration, position, group;
    uint32_t peer;                 /* rank at the other end of a message */
    uint32_t peer_position;        /* and its position; RECORDED_NONE: it is no message */
    enum recorded_kind type;       /* of its stream; RECORDED_MEMORY: a delay */
    struct csv_field stream, kind; /* the texts */
    struct operations_pair stage, micro_batch, pipeline;
    uint8_t parts[2];              /* 0: whole, 1: a, 2: b */
    bool two;                      /* it is a block of two operations */
    double start, data_start, end; /* in this order, from 0 to 1e12 */
    double bytes;                  /* NaN: not there */
};

enum operations_table {
    OPERATIONS_TRACE,   /* operations.csv, of which a recorded trace is made */
    OPERATIONS_DRAWN,   /* the same with the columns of pictures */
    OPERATIONS_CRITICAL /* critical-path.csv, whose ids are some */
};

struct operations_rows {
    struct csv *csv; /* of the current row, for mistakes */
    const char *file, *text;
    size_t size;
    enum operations_table table;
    struct diag *diag;
    unsigned errors; /* of diag, before */
    struct operations_number *numbers;
    size_t count, capacity;
};

/* The text stays where it is until operations_rows_close. False after a mistake in the first line was reported; it has
 * to be closed all the same. */
bool operations_rows_open(struct operations_rows *rows, enum operations_table table, const char *file, const char *text,
                          size_t size, struct diag *diag);
/* The next row without a mistake; others are reported and passed over. False at the end. */
bool operations_rows_next(struct operations_rows *rows, struct operations_row *row);
/* Takes one id after the other of what the current row waits for; `at` is 0 at first. False at the end, or after a
 * mistake was reported. */
bool operations_rows_wait(struct operations_rows *rows, size_t *at, uint32_t *id);
/* Whether the table is whole: its last line is, and the ids of each rank are 0, 1, 2, ... (not of a critical path).
 * False after a mistake, of this or of any row, was reported. */
bool operations_rows_whole(struct operations_rows *rows);
void operations_rows_close(struct operations_rows *rows);

/* The same of any text: false after it was reported that it is empty or ends within a line. */
bool operations_text_whole(const char *file, const char *text, size_t size, struct diag *diag);

#endif
