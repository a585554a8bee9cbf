/* SPDX-License-Identifier: Apache-2.0 */
/* Megatron-LM, Megatron-DeepSpeed and Megatron-Bridge: training_log of megatron/training/training.py, report_memory and
 * the list of arguments of megatron/training/arguments.py. */
#include "frameworks/logs/log_parts.h"

static void read_step(struct log_cursor *cursor)
{
    double value;
    cursor->batch = 0;
    if (log_behind(cursor, "global batch size:") && !log_value(cursor, "global batch size:", &cursor->batch))
        return;
    if (log_behind(cursor, "elapsed time per iteration (ms):")) {
        if (log_value(cursor, "elapsed time per iteration (ms):", &value))
            log_step(cursor, value / 1e3);
    } else if (log_value(cursor, "elapsed time per iteration (s):", &value)) {
        log_step(cursor, value);
    }
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
    if (log_behind(cursor, "elapsed time per iteration (")) {
        read_step(cursor);
        return;
    }
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
