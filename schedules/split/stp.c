/* SPDX-License-Identifier: Apache-2.0 */
/* STP: two half stages a worker in a V, and forwards braided with whatever else the worker can run, so that the
 * collectives of tensor parallelism of either hide behind the computations of the other. Nine steps make the order of a
 * worker; some input gradients leave their weight gradients for later, and those are braided with forwards, too. */
#include "base/arena.h"
#include "schedules/kit/zero_bubble.h"
#include "schedules/split/split.h"

#include <stdlib.h>

/* A worker's order while it is made. */
struct braider {
    struct plan *plan;
    uint32_t worker;
    uint32_t forwards[2], backwards[2]; /* [chunk] */
    struct slot *deferred;              /* backwards whose weight gradient is due, in order */
    uint32_t due, done;
};

static struct slot *put(struct braider *braider, enum slot_kind kind, uint32_t chunk, uint32_t micro_batch)
{
    uint32_t stage = chunk ? braider->plan->stages - 1 - braider->worker : braider->worker;
    return plan_append(braider->plan, braider->worker, kind, 0, stage, micro_batch);
}

static struct slot *forward(struct braider *braider, uint32_t chunk)
{
    return put(braider, SLOT_FORWARD, chunk, braider->forwards[chunk]++);
}

static struct slot *backward(struct braider *braider, uint32_t chunk)
{
    return put(braider, SLOT_BACKWARD, chunk, braider->backwards[chunk]++);
}

/* The input gradient alone. */
static struct slot *input(struct braider *braider, uint32_t chunk)
{
    struct slot *slot = backward(braider, chunk);
    slot->split = 1;
    braider->deferred[braider->due++] = *slot;
    return slot;
}

/* The oldest weight gradient that is due. */
static struct slot *weight(struct braider *braider)
{
    struct slot due = braider->deferred[braider->done++];
    return plan_append(braider->plan, braider->worker, SLOT_WEIGHT, 0, due.stage, due.micro_batch);
}

/* Steps 1 to 3. */
static void fill(struct braider *braider, uint32_t above)
{
    for (uint32_t i = 0; i < 2 * above; i++)
        forward(braider, 0);
    for (uint32_t i = 0; i <= braider->worker; i++) {
        forward(braider, 0);
        forward(braider, 1);
    }
    for (uint32_t i = 0; i <= braider->worker; i++) {
        bool second = i > 0 && i % 2 != (braider->worker + 1) % 2; /* of a pair; of an odd number the first is alone */
        forward(braider, 0)->joined = second ? SLOT_BRAIDED : 0;
    }
}

/* Steps 4 to 6. */
static void steady(struct braider *braider, uint32_t above)
{
    uint32_t count = braider->plan->micro_batches, workers = braider->plan->workers;
    for (uint32_t i = 0; i < above; i++) {
        forward(braider, 1);
        input(braider, 1)->joined = SLOT_BRAIDED;
        forward(braider, 0);
        weight(braider)->joined = SLOT_BRAIDED;
    }
    uint32_t whole = 2 * (count - (3 * workers - 1)) + 1 + braider->worker, blocks = whole + braider->worker;
    for (uint32_t i = 0; i < blocks; i++) {
        uint32_t chunk = i % 2 ? 0 : 1;
        forward(braider, chunk);
        struct slot *back = i < whole ? backward(braider, chunk) : input(braider, chunk);
        back->joined = SLOT_BRAIDED;
    }
    for (uint32_t i = workers + blocks / 2 + 1; i < count; i++) {
        backward(braider, 0);
        forward(braider, 1);
        input(braider, 1)->joined = SLOT_BRAIDED;
    }
}

/* Steps 7 to 9. */
static void drain(struct braider *braider, uint32_t above)
{
    for (uint32_t i = 0; i <= braider->worker; i++) {
        backward(braider, 0);
        backward(braider, 1);
    }
    for (uint32_t i = 0; i < 1 + 2 * above; i++) {
        if (i % 2 == 0) {
            backward(braider, 0);
        } else {
            weight(braider);
            weight(braider);
        }
    }
    while (braider->done < braider->due)
        weight(braider);
}

static struct plan *generate(const struct schedule_request *request)
{
    struct plan *plan = plan_create_waves(request, 2 * request->workers);
    size_t capacity = 0;
    struct slot *deferred = array_grow(NULL, &capacity, (size_t)2 * plan->micro_batches, sizeof *deferred);
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        struct braider braider = {.plan = plan, .worker = worker, .deferred = deferred};
        uint32_t above = plan->workers - 1 - worker;
        plan_expect(plan, worker, (size_t)6 * plan->micro_batches);
        fill(&braider, above);
        steady(&braider, above);
        drain(&braider, above);
    }
    free(deferred);
    return plan;
}

static bool fits(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    uint64_t least = 3 * (uint64_t)request->workers - 1;
    if (request->micro_batches >= least)
        return true;
    return schedule_refuse(refusal, REFUSED_MICRO_BATCHES, NULL,
                           "stp on %u workers needs at least %llu micro-batches, not %u", request->workers,
                           (unsigned long long)least, request->micro_batches);
}

const struct schedule schedule_stp = {
    .name = "stp",
    .summary = "two half stages a worker in a V, forwards braided with backwards, which hides tensor parallelism",
    .when = "tensor parallelism whose collectives are long; N of at least 3 D - 1",
    .source = "Synergistic Tensor and Pipeline Parallelism, arXiv 2510.27257, and its implementation",
    .split_backward = true,
    .stages = stages_two_per_worker,
    .fits = fits,
    .plan = generate,
};
