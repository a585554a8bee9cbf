/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of logs share: a line at a time, without colours. */
#ifndef STAGESIM_LOG_PARTS_H
#define STAGESIM_LOG_PARTS_H

#include "frameworks/logs/training_log.h"

#include <stdint.h>

/* Which of a log's progress bars are those of the training; others are of evaluations, files and data. */
struct log_bars {
    enum { BARS_OPEN, BARS_ANNOUNCED, BARS_PLAIN, BARS_NAMED } known; /* nothing yet; by the log; by the first bar */
    uint64_t total;                                                   /* updates of the training; 0: not said */
    uint64_t done;                                                    /* of them, as its last bar says */
    enum { EVALUATION_NONE, EVALUATION_BEGUN, EVALUATION_SAME } evaluation; /* _SAME: its bars have that total, too */
    uint64_t evaluated;                                                     /* of those, as the last of them says */
};

/* A log being read. */
struct log_cursor {
    struct training_log *log;
    const char *line;    /* ends with a zero */
    unsigned number;     /* of it, from 1 */
    size_t room;         /* of log->steps */
    enum log_sort event; /* what the lines since the last step say */
    double batch;        /* global batch of the line; 0: it names none */
    struct log_bars bars;
    bool tokens; /* MLPerf's benchmark counts tokens where others count samples */
    struct diag *diag;
    struct arena *arena;
};

struct log_format {
    const char *name;
    enum log_measure measure;
    void (*read_line)(struct log_cursor *cursor);
};

extern const struct log_format log_deepspeed, log_deepspeed_phases, log_megatron, log_mlperf, log_nemo, log_titan,
    log_trainer, log_trainer_end;

/* What comes behind a label in the line, without blanks; NULL: the line does not have it. */
const char *log_behind(const struct log_cursor *cursor, const char *label);
/* A decimal number, such as 9012.3 or 1e-3, at `text`. False after a mistake was reported: also where a comma follows
 * as if it were a decimal point. */
bool log_number(const struct log_cursor *cursor, const char *text, double *value);
/* A whole number that may have a comma between groups of three digits, as 6,123. */
bool log_grouped(const struct log_cursor *cursor, const char *text, double *value);
/* The number behind a label, where the line has the label; false: it has none, or none that can be read, and then a
 * mistake was reported. */
bool log_value(const struct log_cursor *cursor, const char *label, double *value);
/* Notes a fact of the job; the first line that says it counts. */
void log_fact(struct log_cursor *cursor, enum log_fact fact, double value);
/* The same with the count behind a label, if there is a digit; one that cannot be read is reported. */
void log_fact_behind(struct log_cursor *cursor, enum log_fact fact, const char *label);
/* A whole number without a letter or a point behind it, as facts are; `grouped`: that may have a comma between groups
 * of three digits. False after a mistake was reported. */
bool log_count(const struct log_cursor *cursor, const char *text, bool grouped, double *value);
/* "name .......... value": notes the fact where the line is of that name. */
void log_fact_dotted(struct log_cursor *cursor, enum log_fact fact, const char *name);
/* The largest memory so far. */
void log_bytes(struct log_cursor *cursor, double bytes);
/* Forgets the steps so far: they were none of the training. */
void log_forget_steps(struct log_cursor *cursor);
/* A step: a positive number in the format's measure; others are reported. */
void log_step(struct log_cursor *cursor, double value);

/* Says of each step whether it counts, and fills mean, spread, counts and lines. Steps that lie more than 5 % and more
 * than four robust standard deviations (1.4826 times the median deviation) from the median do not count; those of them
 * before the first that counts are warm-up. */
void log_sort_steps(struct training_log *log, struct arena *arena);

#endif
