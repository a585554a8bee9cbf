/* SPDX-License-Identifier: Apache-2.0 */
/* Which steps count. */
#include "frameworks/logs/log_parts.h"

#include "base/arena.h"
#include "base/numbers/median.h"

#include <math.h>

/* How far from the others a step may lie. */
static double allowed(const struct training_log *log, double *scratch, double *middle)
{
    const double share = 0.05, deviations = 4, robust = 1.4826;
    size_t count = 0;
    for (size_t i = 0; i < log->count; i++)
        if (log->steps[i].sort == LOG_KEPT)
            scratch[count++] = log->steps[i].value;
    if (!count)
        return 0;
    *middle = median(scratch, count);
    for (size_t i = 0, at = 0; i < log->count; i++)
        if (log->steps[i].sort == LOG_KEPT)
            scratch[at++] = fabs(log->steps[i].value - *middle);
    return fmax(share * *middle, deviations * robust * median(scratch, count));
}

/* Adds what a step takes beside its timers, where these are all that there are. */
static void add_outside(const struct log_step *step, double *sum, size_t *count)
{
    double inside = 0;
    bool all = !step->others;
    for (int timer = 0; timer < LOG_TIMERS; timer++) {
        inside += step->timers[timer];
        all &= step->timers[timer] > 0;
    }
    if (!all)
        return;
    *sum += step->value - inside;
    ++*count;
}

static void sum_up(struct training_log *log)
{
    double sum = 0, squares = 0, outside = 0;
    size_t kept = 0, timed = 0;
    for (size_t i = 0; i < log->count; i++) {
        const struct log_step *step = &log->steps[i];
        log->counts[step->sort]++;
        if (step->sort != LOG_KEPT)
            continue;
        sum += step->value;
        add_outside(step, &outside, &timed);
        log->first_line = kept++ ? log->first_line : step->line;
        log->last_line = step->line;
    }
    log->mean = kept ? sum / (double)kept : 0;
    log->outside = timed ? fmax(0, outside / (double)timed) : 0;
    for (size_t i = 0; i < log->count; i++)
        if (log->steps[i].sort == LOG_KEPT)
            squares += (log->steps[i].value - log->mean) * (log->steps[i].value - log->mean);
    log->spread = kept > 1 ? sqrt(squares / (double)(kept - 1)) : 0;
}

void log_sort_steps(struct training_log *log, struct arena *arena)
{
    double *scratch = arena_array(arena, log->count, sizeof *scratch), middle = 0;
    double batch = log->count ? log->steps[log->count - 1].batch : 0;
    for (size_t i = 0; i < log->count; i++)
        if (log->steps[i].batch > 0 && (log->steps[i].batch < batch || log->steps[i].batch > batch))
            log->steps[i].sort = LOG_OTHER_BATCH;
    double most = allowed(log, scratch, &middle);
    bool warm = true;
    for (size_t i = 0; i < log->count; i++) {
        struct log_step *step = &log->steps[i];
        bool far = fabs(step->value - middle) > most;
        if (step->sort == LOG_KEPT && far)
            step->sort = warm ? LOG_WARM_UP : LOG_OUTLIER;
        else if (step->sort == LOG_KEPT)
            warm = false;
    }
    sum_up(log);
}
