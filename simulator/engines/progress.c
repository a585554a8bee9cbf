/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/progress.h"

#include "base/process/clock.h"
#include "base/process/guard.h"

#include <math.h>
#include <unistd.h>

/* Runs shorter than this show no bar. */
static const double patience_seconds = 0.7, interval_seconds = 0.1;
enum { BAR_WIDTH = 32 };

void progress_init(struct progress *progress, FILE *out, const char *label)
{
    *progress = (struct progress){out && isatty(fileno(out)) ? out : NULL, label, clock_now(), 0, -1, -1, false};
    guard_doing("%s", label);
}

void progress_step(struct progress *progress, const char *label)
{
    progress->label = label;
    progress->left = -1;
    guard_doing("%s", label);
}

void progress_left(struct progress *progress, double seconds, bool least)
{
    progress->left = seconds;
    progress->least = least;
    guard_left(seconds, least);
}

void progress_behind(struct progress *progress, double seconds, bool least)
{
    progress->behind = seconds;
    progress->least = least;
}

static double seconds_left(const struct progress *progress, double share, double elapsed)
{
    double left = progress->left >= 0 ? progress->left : share > 0 ? elapsed / share - elapsed : 0;
    return left + fmax(progress->behind, 0);
}

static void draw(struct progress *progress, double share, double elapsed)
{
    char bar[BAR_WIDTH + 1];
    int filled = (int)(share * BAR_WIDTH);
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    fprintf(progress->out, "\r%s [%s] %3.0f %%  %s%.0f s left \033[K", progress->label, bar, 100 * share,
            progress->least ? "at least " : "", seconds_left(progress, share, elapsed));
    fflush(progress->out);
}

static void report(void *user, uint64_t done, uint64_t total)
{
    struct progress *progress = user;
    double share = total ? (double)done / (double)total : 0;
    double time = clock_now();
    guard_share(share);
    if (progress->behind >= 0)
        guard_left(seconds_left(progress, share, time - progress->started), progress->least);
    if (!progress->out)
        return;
    if (time - progress->started < patience_seconds || time - progress->drawn < interval_seconds)
        return;
    progress->drawn = time;
    guard_shown();
    draw(progress, share, time - progress->started);
}

struct engine_progress progress_hook(struct progress *progress)
{
    return (struct engine_progress){report, progress};
}

void progress_finish(struct progress *progress)
{
    if (progress->out && progress->drawn > 0) {
        fputs("\r\033[K", progress->out);
        fflush(progress->out);
    }
}
