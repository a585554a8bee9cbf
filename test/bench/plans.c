/* SPDX-License-Identifier: Apache-2.0 */
/* How long large plans take to make and check: 64 workers, 4,096 micro-batches, 4 chunks where a schedule has chunks;
 * 256 workers and 2,048 micro-batches for those that adapt or compact. Run by hand on a quiet machine; that the time is
 * linear in the slots is a test, product/growth.py. */
#include "schedules/plan/plan_check.h"
#include "schedules/schedule.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Whether the plan is right; prints its slots and the processor time of making and checking it. */
static bool measure(const struct schedule *schedule, uint32_t workers, uint32_t micro_batches)
{
    struct schedule_request request = schedule_request_default(schedule, workers, micro_batches);
    struct schedule_refusal refusal;
    for (unsigned i = 0; schedule->options && schedule->options[i].key; i++) {
        if (!strcmp(schedule->options[i].key, "chunks"))
            request.options[i] = workers == 64 ? 4 : 2;
        if (!strcmp(schedule->options[i].key, "waves"))
            request.options[i] = 2;
    }
    if (schedule->searches || !schedule_fits(schedule, &request, &refusal))
        return true; /* a search has a size of its own, and says so */
    double start = seconds();
    struct plan *plan = schedule->plan(&request);
    bool good = plan_check(plan, NULL);
    double taken = seconds() - start;
    size_t slots = 0;
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        slots += plan->orders[worker].count;
    printf("%-18s %3u x %4u %9zu slots %6.3f s%s\n", schedule->name, workers, micro_batches, slots, taken,
           good ? "" : ", wrong");
    plan_destroy(plan);
    return good;
}

int main(void)
{
    static const char *const large[] = {"zb-v-greedy", "zb-auto", "1f1b-v", "hanayo", "v-half", "v-min"};
    bool good = true;
    for (const struct schedule *const *schedule = schedule_table; *schedule; schedule++) {
        /* slimpipe has 64 slices of each micro-batch: as many slots as the others with chunks, not 16 times as many. */
        uint32_t micro_batches = strcmp((*schedule)->name, "slimpipe") ? 4096 : 256;
        good = measure(*schedule, 64, micro_batches) && good;
    }
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        good = measure(schedule_find(large[i]), 256, 2048) && good;
    return !good;
}
