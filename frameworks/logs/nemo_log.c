/* SPDX-License-Identifier: Apache-2.0 */
/* NeMo 1 and 2: train_step_timing of nemo/utils/timers.py and nemo/lightning/pytorch/callbacks, in a progress bar or on
 * lines of its own; and Lightning's line about its processes. */
#include "frameworks/logs/log_parts.h"

static void read_line(struct log_cursor *cursor)
{
    double value;
    const char *timing = log_behind(cursor, "train_step_timing in s");
    if (timing) {
        timing += *timing == ':' || *timing == '=';
        cursor->batch = 0;
        timing += *timing == ' ';
        if (log_behind(cursor, "global_batch_size:") && !log_value(cursor, "global_batch_size:", &cursor->batch))
            return;
        if (log_number(cursor, timing, &value))
            log_step(cursor, value);
        if (log_value(cursor, "peak_memory_usage:", &value)) /* bytes; older releases print MiB */
            log_bytes(cursor, value < 1e7 ? value * 1048576 : value);
        return;
    }
    log_fact_behind(cursor, LOG_GPUS, "All distributed processes registered. Starting with");
    if (log_behind(cursor, "Saving checkpoint") || log_behind(cursor, "Scheduled async checkpoint save"))
        cursor->event = LOG_CHECKPOINT;
    else if (log_behind(cursor, "Validation epoch") || log_behind(cursor, "Validation: iteration"))
        cursor->event = LOG_EVALUATION;
}

const struct log_format log_nemo = {"NeMo", LOG_SECONDS, read_line};
