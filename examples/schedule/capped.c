/* SPDX-License-Identifier: Apache-2.0 */
/* An example of a schedule: 1F1B in which no worker stashes more than `cap` micro-batches, at the price of bubbles when
 * that is fewer than there are workers. */
#include "schedules/schedules.h"

enum { OPTION_CAP };

static const struct schedule_option options[] = {
    [OPTION_CAP] = {"cap", NULL, 4, 1, SCHEDULE_STAGES_MAX, "micro-batches that a worker stashes at most"},
    {0},
};

static struct plan *generate(const struct schedule_request *request)
{
    uint32_t workers = request->workers, cap = (uint32_t)request->options[OPTION_CAP];
    struct plan *plan = plan_create_looped(request, workers); /* stage s lives on worker s */
    for (uint32_t worker = 0; worker < workers; worker++) {
        uint32_t warm = workers - 1 - worker; /* forwards before the first backward */
        order_one_forward_one_backward(plan, worker, warm < cap ? warm : cap - 1);
    }
    return plan;
}

extern const struct schedule schedule_capped; /* belongs into schedules.h */
const struct schedule schedule_capped = {
    .name = "capped",
    .summary = "1f1b that stashes at most `cap` micro-batches on any worker",
    .source = "none: an example",
    .options = options,
    .stages = stages_one_per_worker,
    .plan = generate,
};
