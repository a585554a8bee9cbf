/* SPDX-License-Identifier: Apache-2.0 */
/* GPipe: all forwards, then all backwards. */
#include "schedules/schedules.h"

enum { OPTION_BACKWARDS };
enum { FIFO, LIFO };

static const char *const backwards[] = {"fifo", "lifo", NULL};

static const struct schedule_option options[] = {
    [OPTION_BACKWARDS] = {.key = "backwards",
                          .names = backwards,
                          .initial = FIFO,
                          .doc = "which micro-batch's backward comes first: the first one's or the last one's"},
    {0},
};

static struct plan *generate(const struct schedule_request *request)
{
    struct plan *plan = plan_create_looped(request, request->workers);
    uint32_t count = request->micro_batches;
    bool last_first = request->options[OPTION_BACKWARDS] == LIFO;
    for (uint32_t worker = 0; worker < request->workers; worker++) {
        plan_expect(plan, worker, 2 * (size_t)count);
        for (uint32_t i = 0; i < count; i++)
            plan_append(plan, worker, SLOT_FORWARD, 0, worker, i);
        for (uint32_t i = 0; i < count; i++)
            plan_append(plan, worker, SLOT_BACKWARD, 0, worker, last_first ? count - 1 - i : i);
    }
    return plan;
}

const struct schedule schedule_gpipe = {
    .name = "gpipe",
    .summary = "all forwards, then all backwards; stashes every micro-batch",
    .when = "the baseline; where recomputation makes stashes small",
    .source = "Huang et al., GPipe: Efficient Training of Giant Neural Networks using Pipeline Parallelism, NeurIPS "
              "2019, arXiv 1811.06965",
    .plain = true,
    .options = options,
    .stages = stages_one_per_worker,
    .plan = generate,
};
