/* SPDX-License-Identifier: Apache-2.0 */
/* V-Min: the building block of the shortest life of stashes, 4 D slots of time instead of 1F1B's 12 D, for two half
 * stages a worker in a V. Passes follow each other as directly as dependencies allow, so it suffers when their times
 * differ. */
#include "schedules/kit/zero_bubble.h"
#include "schedules/split/split.h"
#include "schedules/split/v_block.h"

struct v_block v_min_block(const void *shape, uint32_t workers, uint32_t worker)
{
    (void)shape;
    uint32_t shift = workers % 3 ? 0 : 2; /* keeps the four apart modulo 6 */
    return (struct v_block){
        {worker, 2 * workers - worker - 1, 2 * workers + shift + worker, 4 * workers + shift - worker - 1}};
}

static struct plan *generate(const struct schedule_request *request)
{
    return v_block_plan(request, v_min_block, NULL, 2 * ((request->workers + 4) / 3));
}

const struct schedule schedule_v_min = {
    .name = "v-min",
    .summary = "a third of 1F1B's memory and two thirds of its bubble: split backward, two half stages a worker in a V",
    .when = "activations do not fit by far: a third of 1f1b's",
    .source = "Qi et al., Pipeline Parallelism with Controllable Memory, NeurIPS 2024, arXiv 2405.15362",
    .split_backward = true,
    .plain = true,
    .stages = stages_two_per_worker,
    .plan = generate,
};
