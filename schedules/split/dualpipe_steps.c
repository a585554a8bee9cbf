/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/split/dualpipe_steps.h"

#include "base/arena.h"

#include <stdlib.h>

enum { WHOLE, SEPARATE };

static const char *const backwards[] = {"whole", "separate", NULL};

const struct schedule_option dualpipe_options[] = {
    {.key = "backward",
     .names = backwards,
     .initial = WHOLE,
     .doc =
         "a backward outside of blocks: whole, one piece; separate, input gradient and weight gradient by themselves"},
    {0},
};

/* Weight gradients put off, first in first out. */
struct deferred {
    struct {
        uint32_t pipeline, stage, micro_batch;
    } * items;
    size_t head, count, capacity;
};

struct steps {
    struct dualpipe_worker at;
    struct deferred deferred;
};

static struct slot *forward(struct steps *steps, unsigned phase)
{
    struct dualpipe_phase *of = &steps->at.phase[phase];
    return plan_append(steps->at.plan, steps->at.worker, SLOT_FORWARD, of->pipeline, of->stage,
                       of->first + of->forwards++);
}

static struct slot *backward(struct steps *steps, unsigned phase)
{
    struct dualpipe_phase *of = &steps->at.phase[phase];
    return plan_append(steps->at.plan, steps->at.worker, SLOT_BACKWARD, of->pipeline, of->stage,
                       of->first + of->backwards++);
}

/* A whole backward outside of a block. */
static void backward_alone(struct steps *steps, unsigned phase)
{
    struct slot *slot = backward(steps, phase);
    if (steps->at.backward != SEPARATE)
        return;
    slot->split = 1;
    struct slot gradient = *slot;
    plan_append(steps->at.plan, steps->at.worker, SLOT_WEIGHT, gradient.pipeline, gradient.stage, gradient.micro_batch);
}

/* The input gradient alone; its weight gradient queues up. */
static void backward_deferred(struct steps *steps, unsigned phase)
{
    struct slot *slot = backward(steps, phase);
    slot->split = 1;
    struct deferred *deferred = &steps->deferred;
    deferred->items = array_grow(deferred->items, &deferred->capacity, deferred->count + 1, sizeof *deferred->items);
    deferred->items[deferred->count].pipeline = slot->pipeline;
    deferred->items[deferred->count].stage = slot->stage;
    deferred->items[deferred->count++].micro_batch = slot->micro_batch;
}

static void weight(struct steps *steps)
{
    struct deferred *deferred = &steps->deferred;
    size_t item = deferred->head++;
    plan_append(steps->at.plan, steps->at.worker, SLOT_WEIGHT, deferred->items[item].pipeline,
                deferred->items[item].stage, deferred->items[item].micro_batch);
}

static void block(struct steps *steps, unsigned forward_phase, unsigned backward_phase)
{
    forward(steps, forward_phase);
    backward(steps, backward_phase)->joined = 1;
}

/* Steps 1 to 3: fill. */
static void fill(struct steps *steps, uint32_t beyond)
{
    for (uint32_t i = 0; i < 2 * beyond; i++)
        forward(steps, 0);
    for (uint32_t i = 0; i <= steps->at.rank; i++) {
        forward(steps, 0);
        forward(steps, 1);
    }
    for (uint32_t i = 0; i < beyond; i++) {
        backward_deferred(steps, 1);
        weight(steps);
        forward(steps, 1);
    }
}

/* Steps 4 and 5: blocks. At the turning point the first backward is that of a forward that has just run: no block. */
static void steady(struct steps *steps, uint32_t beyond)
{
    uint32_t blocks = steps->at.micro_batches - 2 * steps->at.length + steps->at.rank + 1;
    for (uint32_t i = 0; i < blocks; i++) {
        if (i == 0 && beyond == 0) {
            forward(steps, 0);
            backward_alone(steps, 1);
        } else {
            block(steps, 0, 1);
        }
        block(steps, 1, 0);
    }
    for (uint32_t i = 0; i < beyond; i++) {
        backward_alone(steps, 1);
        block(steps, 1, 0);
    }
}

/* Steps 6 to 8: drain. Of the 2 (rank + 1) backwards of step 6 the second half puts its weight gradients off. */
static void drain(struct steps *steps, uint32_t beyond)
{
    uint32_t half = steps->at.rank + 1;
    for (uint32_t i = 0; i < 2 * half; i++) {
        unsigned phase = i % 2 ? 0 : 1;
        if (i < half)
            backward_alone(steps, phase);
        else
            backward_deferred(steps, phase);
    }
    for (uint32_t i = 0; i < beyond; i++) {
        weight(steps);
        backward_deferred(steps, 0);
    }
    for (uint32_t i = 0; i < half; i++)
        weight(steps);
}

void dualpipe_order(struct dualpipe_worker worker)
{
    struct steps steps = {.at = worker};
    uint32_t beyond = worker.length - worker.rank - 1; /* workers between this one and the turning point */
    fill(&steps, beyond);
    steady(&steps, beyond);
    drain(&steps, beyond);
    free(steps.deferred.items);
}
