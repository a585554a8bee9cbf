/* SPDX-License-Identifier: Apache-2.0 */
/* MLPerf training: lines of mlperf_logging, with the throughput and the time of a step that submissions track. */
#include "frameworks/logs/log_parts.h"

/* Of a sample: the rules fix them for gpt3, whose throughput in training_results_v3.1 is 5,154,997 where 2,688 samples
 * take 1.07 s. */
static double tokens_of(const struct log_cursor *cursor)
{
    double said = cursor->log->facts[LOG_SEQUENCE].value;
    return said > 0 ? said : 2048;
}

static void read_line(struct log_cursor *cursor)
{
    double value;
    if (!log_behind(cursor, ":::MLLOG"))
        return;
    if (log_behind(cursor, "\"key\": \"tracked_stats\"")) {
        if (log_value(cursor, "\"throughput\":", &value))
            log_step(cursor, cursor->tokens ? value / tokens_of(cursor) : value);
    } else if (log_behind(cursor, "\"key\": \"submission_benchmark\"")) {
        cursor->tokens = log_behind(cursor, "\"value\": \"gpt3\"") != NULL;
    } else if (log_behind(cursor, "\"key\": \"global_batch_size\"")) {
        log_fact_behind(cursor, LOG_GLOBAL_BATCH, "\"value\":");
    } else if (log_behind(cursor, "\"key\": \"max_sequence_length\"")) {
        log_fact_behind(cursor, LOG_SEQUENCE, "\"value\":");
    } else if (log_behind(cursor, "\"key\": \"eval_start\"")) {
        cursor->event = LOG_EVALUATION;
    }
}

const struct log_format log_mlperf = {"MLPerf", LOG_SAMPLES_PER_S, read_line};
