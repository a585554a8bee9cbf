/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron-LM, Megatron-DeepSpeed and Megatron-Bridge: training_log of megatron/training/training.py, report_memory,
 * the list of arguments of megatron/training/arguments.py, and the timers of megatron/core/timers.py. Argonne's fork
 * writes "elapsed_time_per_iteration_ms=8457.2". */
#include "frameworks/logs/log_parts.h"

#include <string.h>

static void read_step(struct log_cursor *cursor)
{
    double value;
    cursor->batch = 0;
    static const char *const batches[] = {"global batch size:", "global_batch_size="};
    static const struct {
        const char *label;
        double per_second;
    } times[] = {{"elapsed time per iteration (ms):", 1e3},
                 {"elapsed_time_per_iteration_ms=", 1e3},
                 {"elapsed time per iteration (s):", 1}};
    for (unsigned i = 0; i < sizeof batches / sizeof *batches; i++)
        if (log_behind(cursor, batches[i]) && !log_value(cursor, batches[i], &cursor->batch))
            return;
    for (unsigned i = 0; i < sizeof times / sizeof *times; i++)
        if (log_behind(cursor, times[i].label)) {
            if (log_value(cursor, times[i].label, &value))
                log_step(cursor, value / times[i].per_second);
            return;
        }
}

/* "optimizer ......: (39.21, 40.11)", the fastest and the slowest rank, or the slowest alone; milliseconds of the step
 * before. Releases before core 0.4 synchronise gradients outside of both. */
static bool read_timer(struct log_cursor *cursor)
{
    static const char *const names[] = {"forward-backward .", "optimizer .", "grads-all-reduce .",
                                        "grads-reduce-scatter ."};
    const char *line = cursor->line + strspn(cursor->line, " ");
    unsigned timer = 0;
    while (timer < sizeof names / sizeof *names && strncmp(line, names[timer], strlen(names[timer])) != 0)
        timer++;
    const char *dots = timer < sizeof names / sizeof *names ? log_behind(cursor, ".: ") : NULL;
    const char *slowest = dots && *dots == '(' ? log_behind(cursor, ", ") : dots;
    double value;
    if (!slowest || !log_number(cursor, slowest, &value) || !cursor->log->count)
        return dots;
    struct log_step *step = &cursor->log->steps[cursor->log->count - 1];
    if (timer < LOG_TIMERS)
        step->timers[timer] = value / 1e3;
    else
        step->others = true;
    return true;
}

/* "using world size: 64, data-parallel size: 8, ...": words changed between releases. */
static void read_layout(struct log_cursor *cursor)
{
    log_fact_behind(cursor, LOG_GPUS, "world size:");
    static const struct {
        enum log_fact fact;
        const char *label;
    } labels[] = {{LOG_DATA, "data-parallel size:"},
                  {LOG_DATA, "data-parallel-size:"},
                  {LOG_CONTEXT, "context-parallel size:"},
                  {LOG_CONTEXT, "context-parallel-size:"},
                  {LOG_TENSOR, "tensor-model-parallel size:"},
                  {LOG_TENSOR, "tensor-model-parallel-size:"},
                  {LOG_PIPELINE, "pipeline-model-parallel size:"},
                  {LOG_PIPELINE, "pipeline-model-parallel-size:"}};
    for (unsigned i = 0; i < sizeof labels / sizeof *labels; i++)
        log_fact_behind(cursor, labels[i].fact, labels[i].label);
}

static void read_argument(struct log_cursor *cursor)
{
    static const struct {
        enum log_fact fact;
        const char *name;
    } names[] = {{LOG_GPUS, "world_size "},
                 {LOG_TENSOR, "tensor_model_parallel_size "},
                 {LOG_PIPELINE, "pipeline_model_parallel_size "},
                 {LOG_CONTEXT, "context_parallel_size "},
                 {LOG_EXPERT, "expert_model_parallel_size "},
                 {LOG_DATA, "data_parallel_size "},
                 {LOG_MICRO_BATCH, "micro_batch_size "},
                 {LOG_GLOBAL_BATCH, "global_batch_size "},
                 {LOG_SEQUENCE, "seq_length "}};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        log_fact_dotted(cursor, names[i].fact, names[i].name);
}

static void read_line(struct log_cursor *cursor)
{
    double mebibytes;
    if (log_behind(cursor, "elapsed time per iteration (") || log_behind(cursor, "elapsed_time_per_iteration_ms=")) {
        read_step(cursor);
        return;
    }
    if (log_behind(cursor, ".: ") && read_timer(cursor))
        return;
    if (log_behind(cursor, "using world size:"))
        read_layout(cursor);
    else if (log_behind(cursor, "...."))
        read_argument(cursor);
    else if (log_behind(cursor, "memory (MB)") && log_value(cursor, "max allocated:", &mebibytes))
        log_bytes(cursor, mebibytes * 1048576);
    else if (log_behind(cursor, "saving checkpoint at iteration"))
        cursor->event = LOG_CHECKPOINT;
    else if (log_behind(cursor, "validation loss at iteration"))
        cursor->event = LOG_EVALUATION;
}

const struct log_format log_megatron = {"Megatron-LM", LOG_SECONDS, read_line};
