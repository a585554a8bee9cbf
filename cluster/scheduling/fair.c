/* SPDX-License-Identifier: Apache-2.0 */
/* Fair share: the users who have used least come first, what they used long ago counting less. Backfilling as EASY, and
 * no user has more nodes at a time than the quota says. */
#include "base/arena.h"
#include "base/rounded/rounded.h"
#include "cluster/scheduling/queue_state.h"
#include "cluster/scheduling/running.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LN2 = 0.69314718055994530942;

/* What a user has used and has. */
struct purse {
    double used, at; /* node-seconds, at this time */
    uint32_t nodes;
    uint32_t turn; /* of the users: equal for those who have used equally much for their shares */
};

/* A user, and how much he has used for the share that is due to him. */
struct due {
    double used;
    uint32_t account;
};

struct fair {
    struct running running;
    struct purse *purses;  /* by account */
    struct due *dues;      /* [accounts]: scratch */
    uint32_t *jobs, *ends; /* that wait, in order; [accounts]: where those of a turn end */
    size_t capacity;
};

static void begin(struct queue *queue)
{
    struct fair *fair = queue->own = array_zeroed(1, sizeof *fair);
    size_t accounts = (size_t)queue->request->account_count + 1;
    fair->purses = array_zeroed(accounts, sizeof *fair->purses);
    fair->dues = array_zeroed(accounts, sizeof *fair->dues);
    fair->ends = array_zeroed(accounts, sizeof *fair->ends);
}

static void finish(struct queue *queue)
{
    struct fair *fair = queue->own;
    free(fair->purses);
    free(fair->dues);
    free(fair->ends);
    free(fair->jobs);
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

static int compare_dues(const void *left, const void *right)
{
    const struct due *a = left, *b = right;
    return a->used < b->used ? -1 : a->used > b->used;
}

static void take_turns(struct queue *queue)
{
    struct fair *fair = queue->own;
    uint32_t accounts = queue->request->account_count, turn = 0;
    for (uint32_t i = 0; i < accounts; i++) {
        settle(queue, &fair->purses[i]);
        fair->dues[i] = (struct due){fair->purses[i].used / queue->request->accounts[i].share, i};
    }
    qsort(fair->dues, accounts, sizeof *fair->dues, compare_dues);
    for (uint32_t i = 0; i < accounts; i++) {
        turn += i && fair->dues[i].used > fair->dues[i - 1].used;
        fair->purses[fair->dues[i].account].turn = turn;
    }
}

/* Jobs wait in the order in which they came, and keep it within a turn: so they are counted by turns and not sorted,
 * for tens of thousands may wait. How many there are. */
static uint32_t order(struct queue *queue)
{
    struct fair *fair = queue->own;
    uint32_t before = 0, accounts = queue->request->account_count;
    take_turns(queue);
    fair->jobs = array_grow(fair->jobs, &fair->capacity, queue->waiting, sizeof *fair->jobs);
    memset(fair->ends, 0, accounts * sizeof *fair->ends);
    for (uint32_t job = queue->first; job != NO_JOB; job = queue->tasks[job].next)
        fair->ends[purse_of(queue, job)->turn]++;
    for (uint32_t turn = 0; turn < accounts; turn++) {
        uint32_t own = fair->ends[turn];
        fair->ends[turn] = before;
        before += own;
    }
    for (uint32_t job = queue->first; job != NO_JOB; job = queue->tasks[job].next)
        fair->jobs[fair->ends[purse_of(queue, job)->turn]++] = job;
    return before;
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
        uint32_t job = fair->jobs[i], nodes = queue->request->jobs[job].nodes;
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
