/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of months. What it accepts draws jobs in order and within bounds, where there are few; a fit to
 * these is written as a month that is accepted again. */
#include "base/arena.h"
#include "cluster/months/month.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

enum { JOBS_FUZZED = 1000 };

static char folder[] = "/tmp/fuzz-months-XXXXXX", file[sizeof folder + 8];

static void remove_files(void)
{
    unlink(file);
    rmdir(folder);
}

/* A month of a text in the file of this process; NULL: it was refused. */
static struct month *load(const void *text, size_t size, struct arena *arena)
{
    struct diag diag = {.out = NULL};
    if (!*file) {
        if (!mkdtemp(folder))
            abort();
        snprintf(file, sizeof file, "%s/m.yaml", folder);
        atexit(remove_files);
    }
    FILE *out = fopen(file, "wb");
    if (!out || fwrite(text, 1, size, out) != size || fclose(out))
        abort();
    struct month *month = month_load(file, (struct place){0}, NULL, 0, arena, &diag);
    if (!month != (diag.errors > 0))
        abort();
    return month;
}

static void check_month(const struct month *month)
{
    double sum = 0, hours = 0;
    for (size_t i = 0; i < month->size_count; i++)
        sum += month->sizes[i].share;
    for (size_t i = 0; i < MONTH_HOURS; i++)
        hours += month->hours[i];
    bool good = isfinite(month->days) && isfinite(month->jobs_per_day) && month->size_count > 0 &&
                fabs(sum - 1) < 1e-6 && fabs(hours - MONTH_HOURS) < 1e-6 && month->together >= 1 &&
                month->failed + month->cancelled <= 1 + 1e-9 && month->longest > 0;
    if (!good)
        abort();
}

static void check_jobs(const struct month *month, const struct arrival_log *log)
{
    double last = 0;
    for (size_t i = 0; i < log->count; i++) {
        const struct arrival *job = &log->arrivals[i];
        if (!(job->submit >= last) || !(job->run >= 0) || !(job->run <= month->longest) || !isfinite(job->run) ||
            (!job->nodes && !job->processors))
            abort();
        last = job->submit;
    }
}

/* The fit to what was drawn is a month. */
static void check_fit(const struct arrival_log *log, struct arena *arena)
{
    struct month_errors errors;
    struct month *fitted = month_fit(log, log->count, &errors, arena);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    month_write(out, fitted, &errors);
    fclose(out);
    if (!load(text, size, arena))
        abort();
    free(text);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct arena *arena = arena_create();
    struct month *month = load(data, size, arena);
    if (month) {
        struct diag diag = {.out = NULL};
        check_month(month);
        bool few = month->days * month->jobs_per_day <= JOBS_FUZZED && month->together <= JOBS_FUZZED;
        const struct arrival_log *log = few ? month_generate(month, 0, file, (struct place){0}, arena, &diag) : NULL;
        if (few && !log != (diag.errors > 0))
            abort();
        if (log)
            check_jobs(month, log);
        if (log && log->count > 1 && !month_refuses(log))
            check_fit(log, arena);
    }
    arena_destroy(arena);
    return 0;
}
