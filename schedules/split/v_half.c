/* SPDX-License-Identifier: Apache-2.0 */
/* V-Half: a building block in which stashes live half as long as in 1F1B: 6 D slots of time instead of 12 D, for two
 * half stages a worker in a V. Its bubble is about half of 1F1B's. */
#include "schedules/kit/zero_bubble.h"
#include "schedules/split/split.h"
#include "schedules/split/v_block.h"

struct v_block v_half_block(const void *shape, uint32_t workers, uint32_t worker)
{
    (void)shape;
    uint32_t shift = workers % 2 ? 0 : 3; /* keeps the four apart modulo 6 */
    return (struct v_block){
        {2 * worker, 3 * workers - worker - 2, 3 * workers + shift + 2 * worker - 1, 6 * workers + shift - worker - 2}};
}

static struct plan *generate(const struct schedule_request *request)
{
    return v_block_plan(request, v_half_block, NULL, 2 * ((request->workers + 2) / 2));
}

const struct schedule schedule_v_half = {
    .name = "v-half",
    .summary = "half of 1F1B's memory and about half of its bubble: split backward, two half stages a worker in a V",
    .when = "activations do not fit: half of 1f1b's",
    .source = "Qi et al., Pipeline Parallelism with Controllable Memory, NeurIPS 2024, arXiv 2405.15362",
    .split_backward = true,
    .plain = true,
    .stages = stages_two_per_worker,
    .plan = generate,
};
