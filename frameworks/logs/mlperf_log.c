/* SPDX-License-Identifier: Apache-2.0 */
/* MLPerf training: lines of mlperf_logging, with the throughput and the time of a step that submissions track. */
#include "frameworks/logs/log_parts.h"

static void read_line(struct log_cursor *cursor)
{
    double value;
    if (!log_behind(cursor, ":::MLLOG"))
        return;
    if (log_behind(cursor, "\"key\": \"tracked_stats\"")) {
        if (log_value(cursor, "\"throughput\":", &value))
            log_step(cursor, value);
    } else if (log_behind(cursor, "\"key\": \"global_batch_size\"")) {
        log_fact_behind(cursor, LOG_GLOBAL_BATCH, "\"value\":");
    } else if (log_behind(cursor, "\"key\": \"max_sequence_length\"")) {
        log_fact_behind(cursor, LOG_SEQUENCE, "\"value\":");
    } else if (log_behind(cursor, "\"key\": \"eval_start\"")) {
        cursor->event = LOG_EVALUATION;
    }
}

const struct log_format log_mlperf = {"MLPerf", LOG_SAMPLES_PER_S, read_line};
