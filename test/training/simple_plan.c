/* SPDX-License-Identifier: Apache-2.0 */
#include "test/training/simple_plan.h"

#include <math.h>

void simple_plan_init(struct simple_plan *simple, double work, double between)
{
    *simple = (struct simple_plan){
        .component = {
            .name = "node", .unit = UNIT_NODE, .every = between, .shape = 1, .effect = EFFECT_STOP, .slow = 1}};
    simple->plan = (struct training_plan){.work = work,
                                          .step = 1,
                                          .nodes = 1,
                                          .gpus_per_node = 1,
                                          .replicas = 1,
                                          .stages = 1,
                                          .rack = 1,
                                          .behind_switch = 1,
                                          .components = &simple->component,
                                          .component_count = 1,
                                          .rate = 1,
                                          .start = &simple->start,
                                          .detect = &simple->detect,
                                          .replacement = &simple->replacement,
                                          .repair = &simple->repair,
                                          .restart = &simple->restart,
                                          .load = &simple->load,
                                          .load_near = &simple->load,
                                          .stall = &simple->stall,
                                          .interval = INFINITY,
                                          .save = &simple->save,
                                          .write = &simple->write,
                                          .write_near = &simple->write,
                                          .far_interval = INFINITY,
                                          .evaluate_every = INFINITY};
}

void simple_plan_checkpoints(struct simple_plan *simple, double interval, double save)
{
    simple->plan.interval = interval;
    simple->save = distribution_fixed(save);
}
