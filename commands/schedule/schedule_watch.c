/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/schedule/schedule_watch.h"

#include "base/diagnostics.h"
#include "base/process/guard.h"
#include "base/process/interruption.h"
#include "schedules/best/best.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const double SHOWN_EVERY = 0.25; /* seconds */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void show(struct schedule_watcher *watcher, const struct best_progress *progress)
{
    char text[160];
    if (isfinite(progress->makespan) && progress->bound > 0)
        snprintf(text, sizeof text, "best %.6g, bound %.6g, gap %.2f %%", progress->makespan, progress->bound,
                 100 * (progress->makespan / progress->bound - 1));
    else
        snprintf(text, sizeof text, "no order yet, bound %.6g", progress->bound);
    guard_doing("searching an order: %s", text);
    if (!watcher->terminal)
        return;
    fprintf(stderr, "\r\033[K%s, %llu partial orders", text, (unsigned long long)progress->evaluations);
    fflush(stderr);
    guard_shown();
}

static bool report(void *user, const struct best_progress *progress)
{
    struct schedule_watcher *watcher = user;
    double time = now();
    watcher->states = progress->evaluations;
    if (time - watcher->shown >= SHOWN_EVERY) {
        watcher->shown = time;
        show(watcher, progress);
    }
    watcher->late = watcher->limit > 0 && time - watcher->began >= watcher->limit;
    return !watcher->late && !interruption_noted();
}

void schedule_watch_begin(struct schedule_watcher *watcher, double limit)
{
    *watcher = (struct schedule_watcher){.watch = {report, watcher}, .limit = limit, .began = now()};
    watcher->shown = watcher->began;
    watcher->terminal = isatty(STDERR_FILENO);
    interruption_await();
}

void schedule_watch_end(struct schedule_watcher *watcher)
{
    if (watcher->terminal && watcher->states)
        fputs("\r\033[K", stderr);
    if (interruption_noted())
        diag_print(stderr, "interrupted after %llu partial orders: this is the best order so far\n",
                   (unsigned long long)watcher->states);
    else if (watcher->late)
        diag_print(stderr,
                   "stopped by --time-limit after %llu partial orders: a faster machine may find a better order\n",
                   (unsigned long long)watcher->states);
}
