/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/kit/zero_bubble.h"

enum optimizer { POST_VALIDATION, BLOCKING };

const char *const optimizer_names[] = {"post-validation", "blocking", NULL};

const struct schedule_option optimizer_options[] = {OPTIMIZER_OPTION, {0}};

struct schedule_request optimizer_request(const struct schedule_request *request, uint32_t option)
{
    struct schedule_request spelled = *request;
    if (request->options[option] == BLOCKING)
        spelled.iterations = 1;
    return spelled;
}

void optimizer_apply(const struct schedule_request *request, uint32_t option, struct plan *plan)
{
    plan->step = request->options[option] == BLOCKING ? PLAN_STEP_BLOCKING : PLAN_STEP_LOCAL;
}

uint32_t stages_two_per_worker(const struct schedule_request *request)
{
    return 2 * request->workers;
}

struct plan *plan_create_waves(const struct schedule_request *request, uint32_t stages)
{
    uint32_t workers = request->workers;
    struct plan *plan = plan_create(workers, stages, 1, request->micro_batches * request->iterations);
    plan->iterations = request->iterations;
    for (uint32_t stage = 0; stage < stages; stage++) {
        uint32_t along = stage % workers;
        plan_place(plan, 0, stage, stage / workers % 2 ? workers - 1 - along : along);
    }
    return plan;
}

void append_split_backward(struct plan *plan, uint32_t worker, uint32_t stage, uint32_t micro_batch)
{
    plan_append(plan, worker, SLOT_BACKWARD, 0, stage, micro_batch)->split = 1;
}
