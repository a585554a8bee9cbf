/* SPDX-License-Identifier: Apache-2.0 */
/* Fair share: the users who have used least come first, what they used long ago counting less. Backfilling as EASY, and
 * no user has more nodes at a time than the quota says. */
#include "base/arena.h"
#include "base/rounded/rounded.h"
#include "cluster/scheduling/queue_state.h"
#include "cluster/scheduling/running.h"

#include <math.h>
#include <stdlib.h>

static const double LN2 = 0.69314718055994530942;

/* What a user has used and has. */
struct purse {
    double used, at; /* node-seconds, at this time */
    uint32_t nodes;
};

/* A job that waits, and how much its user has used for the share that is due to him. */
struct turn {
    double used;
    uint32_t job;
};

struct fair {
    struct running running;
    struct purse *purses; /* by account */
    struct turn *turns;
    size_t capacity;
};

static void begin(struct queue *queue)
{
    struct fair *fair = queue->own = array_zeroed(1, sizeof *fair);
    fair->purses = array_zeroed((size_t)queue->request->account_count + 1, sizeof *fair->purses);
}

static void finish(struct queue *queue)
{
    struct fair *fair = queue->own;
    free(fair->purses);
    free(fair->turns);
    running_finish(queue);
}

static const struct queue_account *account_of(const struct queue *queue, uint32_t job)
{
    return &queue->request->accounts[queue->request->jobs[job].account];
}

static struct purse *purse_of(const struct queue *queue, uint32_t job)
{
    return &((struct fair *)queue->own)->purses[queue->request->jobs[job].account];
}

/* Up to now; of what is used for ever, so much is left that it halves in each half-life. */
static void settle(const struct queue *queue, struct purse *purse)
{
    double half_life = queue->request->options.half_life;
    double left = rounded_exp(-LN2 * (queue->now - purse->at) / half_life);
    purse->used = purse->used * left + purse->nodes * (1 - left) * half_life / LN2;
    purse->at = queue->now;
}

static void start(struct queue *queue, uint32_t job)
{
    struct purse *purse = purse_of(queue, job);
    settle(queue, purse);
    purse->nodes += queue->request->jobs[job].nodes;
    running_start(queue, job);
}

static void ended(struct queue *queue, uint32_t job)
{
    struct purse *purse = purse_of(queue, job);
    settle(queue, purse);
    purse->nodes -= queue->request->jobs[job].nodes;
    running_ended(queue, job);
}

static int by_turn(const void *left, const void *right)
{
    const struct turn *a = left, *b = right;
    if (a->used < b->used || a->used > b->used)
        return a->used < b->used ? -1 : 1;
    return a->job < b->job ? -1 : a->job > b->job;
}

static uint32_t order(struct queue *queue)
{
    struct fair *fair = queue->own;
    uint32_t count = 0;
    for (uint32_t i = 0; i < queue->request->account_count; i++)
        settle(queue, &fair->purses[i]);
    fair->turns = array_grow(fair->turns, &fair->capacity, queue->waiting, sizeof *fair->turns);
    for (uint32_t job = queue->first; job != NO_JOB; job = queue->tasks[job].next)
        fair->turns[count++] = (struct turn){purse_of(queue, job)->used / account_of(queue, job)->share, job};
    qsort(fair->turns, count, sizeof *fair->turns, by_turn);
    return count;
}

static bool within_quota(const struct queue *queue, uint32_t job)
{
    return purse_of(queue, job)->nodes + queue->request->jobs[job].nodes <= account_of(queue, job)->nodes_most;
}

static void decide(struct queue *queue)
{
    const struct fair *fair = queue->own;
    if (queue->first == NO_JOB || queue_free(queue) == 0)
        return;
    uint32_t count = order(queue), extra = 0;
    double reserved = -1; /* nobody has a reservation */
    for (uint32_t i = 0; i < count && queue_free(queue) > 0; i++) {
        uint32_t job = fair->turns[i].job, nodes = queue->request->jobs[job].nodes;
        if (!within_quota(queue, job))
            continue;
        if (reserved < 0 && running_fits(queue, job)) {
            start(queue, job);
        } else if (reserved < 0) {
            reserved = running_reserve(queue, job, &extra);
        } else if (running_fits(queue, job)) {
            bool in_time = queue->now + queue_expected(queue, job) <= reserved;
            if (!in_time && nodes > extra)
                continue;
            extra -= in_time ? 0 : nodes;
            start(queue, job);
        }
    }
}

const struct queue_policy queue_fair = {
    .name = "fair",
    .title = "fair share",
    .summary = "as easy, but jobs of users who have used least for their shares come first, and no user has more nodes "
               "than his quota",
    .endures = true,
    .shares = true,
    .begin = begin,
    .finish = finish,
    .ended = ended,
    .postponed = running_postponed,
    .decide = decide,
};
