/* SPDX-License-Identifier: Apache-2.0 */
/* DeepSpeed: ThroughputTimer of deepspeed/utils/timer.py, the pipeline engine's line of
 * deepspeed/runtime/pipe/engine.py, and with wall_clock_breakdown the phases of deepspeed/runtime/engine.py, which
 * leave out what reads the data. */
#include "frameworks/logs/log_parts.h"

static void read_job(struct log_cursor *cursor)
{
    log_fact_dotted(cursor, LOG_GLOBAL_BATCH, "train_batch_size ");
    log_fact_dotted(cursor, LOG_MICRO_BATCH, "train_micro_batch_size_per_gpu ");
    log_fact_dotted(cursor, LOG_GPUS, "world_size ");
    if (log_behind(cursor, "Saving model checkpoint") || log_behind(cursor, "Saving checkpoint"))
        cursor->event = LOG_CHECKPOINT;
}

static void read_memory(struct log_cursor *cursor)
{
    double gibibytes;
    if (log_value(cursor, "MaxMemAllocated=", &gibibytes))
        log_bytes(cursor, gibibytes * 1073741824);
}

static void read_rate(struct log_cursor *cursor)
{
    double value;
    const char *current = log_behind(cursor, "CurrSamplesPerSec="); /* releases before 0.7.1 have the mean alone */
    const char *rate = current ? current : log_behind(cursor, " SamplesPerSec=");
    if (rate) {
        if (log_number(cursor, rate, &value))
            log_step(cursor, value);
        read_memory(cursor);
    } else if (log_behind(cursor, "iter time (s):")) {
        if (log_value(cursor, "samples/sec:", &value))
            log_step(cursor, value);
    } else {
        read_job(cursor);
    }
}

/* The line that sums up an iteration, not that of a micro-step; newer releases shorten the words. */
static void read_phases(struct log_cursor *cursor)
{
    static const char *const words[][3] = {{"| forward:", "| backward:", "| step:"}, {"| fwd:", "| bwd:", "| step:"}};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        double parts[3];
        if (!log_behind(cursor, "time (ms)") || !log_behind(cursor, words[i][0]) || !log_behind(cursor, words[i][2]))
            continue;
        for (unsigned part = 0; part < 3; part++)
            if (!log_value(cursor, words[i][part], &parts[part]))
                return;
        log_step(cursor, (parts[0] + parts[1] + parts[2]) / 1e3);
        return;
    }
    read_job(cursor);
}

const struct log_format log_deepspeed = {"DeepSpeed", LOG_SAMPLES_PER_S, read_rate};
const struct log_format log_deepspeed_phases = {"DeepSpeed (wall_clock_breakdown)", LOG_SECONDS, read_phases};
