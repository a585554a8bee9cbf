/* SPDX-License-Identifier: Apache-2.0 */
/* Large plans are made and checked fast: 64 workers, 4,096 micro-batches, 4 chunks where a schedule has chunks; and
 * those that adapt or compact for 256 workers and 2,048 micro-batches. */
#include "base/sanitized.h"
#include "test/schedules/harness.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <time.h>

#if SANITIZED || !defined(__OPTIMIZE__)
static const double limit = 20;
#else
static const double limit = 1;
#endif

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Processor time of making and checking a plan; its slots. */
static double measure(const struct schedule *schedule, uint32_t workers, uint32_t micro_batches, size_t *slots)
{
    struct schedule_request request = schedule_request_default(schedule, workers, micro_batches);
    for (unsigned i = 0; schedule->options && schedule->options[i].key; i++) {
        if (!strcmp(schedule->options[i].key, "chunks"))
            request.options[i] = workers == 64 ? 4 : 2;
        if (!strcmp(schedule->options[i].key, "waves"))
            request.options[i] = 2;
    }
    double start = seconds();
    struct plan *plan = schedule->plan(&request);
    bool good = plan_check(plan, NULL);
    double taken = seconds() - start;
    cr_expect(good, "%s", schedule->name);
    *slots = 0;
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        *slots += plan->orders[worker].count;
    plan_destroy(plan);
    return taken;
}

Test(large, every_schedule)
{
    for (const struct schedule *const *schedule = schedule_table; *schedule; schedule++) {
        size_t slots;
        struct schedule_refusal refusal;
        struct schedule_request request = schedule_request_default(*schedule, 64, 4096);
        if ((*schedule)->adapts && !schedule_fits(*schedule, &request, &refusal))
            continue; /* a search has a size of its own, and says so */
        /* slimpipe has 64 slices of each micro-batch: as many slots as the others with chunks, not 16 times as many. */
        uint32_t micro_batches = strcmp((*schedule)->name, "slimpipe") ? 4096 : 256;
        double taken = measure(*schedule, 64, micro_batches, &slots);
        cr_log_info("%-14s %8zu slots %.3f s", (*schedule)->name, slots, taken);
        cr_expect_lt(taken, limit, "%s: %zu slots in %.2f s", (*schedule)->name, slots, taken);
        cr_expect_geq(slots, 2 * 64 * 4096);
    }
}

Test(large, many_workers)
{
    static const char *const names[] = {"zb-v-greedy", "zb-auto", "1f1b-v", "hanayo", "v-half", "v-min"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t slots;
        double taken = INFINITY; /* the least: other tests run beside this one */
        for (unsigned attempt = 0; attempt < 3 && taken >= limit; attempt++)
            taken = fmin(taken, measure(schedule_find(names[i]), 256, 2048, &slots));
        cr_log_info("%-14s %8zu slots %.3f s", names[i], slots, taken);
        cr_expect_lt(taken, limit, "%s: %zu slots in %.2f s", names[i], slots, taken);
    }
}
