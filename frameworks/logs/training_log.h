/* SPDX-License-Identifier: Apache-2.0 */
/* What a training framework prints while it trains: how long its steps take, how much memory its ranks hold, and what
 * it says of the job. Formats are those of the frameworks' own sources, named in each reader. */
#ifndef STAGESIM_TRAINING_LOG_H
#define STAGESIM_TRAINING_LOG_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;

/* What a log says of each step. */
enum log_measure {
    LOG_SECONDS,             /* of an iteration */
    LOG_SAMPLES_PER_S,       /* of the whole job */
    LOG_TOKENS_PER_S_PER_GPU /* of each GPU */
};

/* Why a step counts or does not. */
enum log_sort {
    LOG_KEPT,
    LOG_WARM_UP,     /* at the beginning, until steps are as long as the others */
    LOG_CHECKPOINT,  /* the log says that a checkpoint was written since the step before */
    LOG_EVALUATION,  /* the same of an evaluation */
    LOG_OTHER_BATCH, /* of another global batch than the last step's: the batch grew */
    LOG_OUTLIER,     /* too far from the others, and the log does not say why */
    LOG_SORTS
};
extern const char *const log_sort_names[LOG_SORTS]; /* in plain words, for tables */

/* What a log may say of parts of a step. */
enum log_timer { LOG_FORWARD_BACKWARD, LOG_OPTIMIZER, LOG_TIMERS };

struct log_step {
    double value;  /* in the log's measure */
    double batch;  /* global batch that the line names; 0: none */
    unsigned line; /* from 1 */
    enum log_sort sort;
    double timers[LOG_TIMERS]; /* seconds of the slowest rank; 0: not said */
    bool others;               /* there are timers outside of these */
};

/* What a log may say of its job, each once. */
enum log_fact {
    LOG_GPUS,
    LOG_TENSOR,
    LOG_PIPELINE,
    LOG_CONTEXT,
    LOG_EXPERT,
    LOG_DATA,
    LOG_MICRO_BATCH,
    LOG_GLOBAL_BATCH,
    LOG_SEQUENCE,
    LOG_FACTS
};
extern const char *const log_fact_names[LOG_FACTS]; /* "GPUs", "tensor", ...: for messages */

struct log_number {
    double value; /* 0: the log does not say it */
    unsigned line;
};

struct training_log {
    const char *file;   /* as it was given */
    const char *format; /* "Megatron-LM" */
    enum log_measure measure;
    struct log_step *steps; /* count of them, as they stand in the file */
    size_t count;
    struct log_number facts[LOG_FACTS];
    const char *gpu; /* "H100": the first GPU that a line names; NULL: none */
    unsigned gpu_line;
    struct log_number bytes; /* largest memory that PyTorch's allocator held; 0: not said */
    char date[11];           /* "2026-11-20", the first that a line has; "": none */
    /* Of the steps that are kept: */
    double mean, spread; /* of `value`; the spread is their standard deviation */
    double outside;      /* seconds beside all timers, of those that have them: data, logging; 0: not said */
    size_t counts[LOG_SORTS];
    unsigned first_line, last_line; /* of the first and the last of them */
};

/* Reads a log whose steps are those of one of the formats. NULL after a mistake was reported: a file that cannot be
 * read, a line of a step whose number cannot be read, no step of any format. Memory from the arena. */
struct training_log *training_log_read(const char *file, struct arena *arena, struct diag *diag);

/* The same of a text in memory, of `size` bytes. */
struct training_log *training_log_parse(const char *file, const char *text, size_t size, struct arena *arena,
                                        struct diag *diag);

#endif
