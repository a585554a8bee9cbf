/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that move to better nodes while they run: one at a time, the one that gains most. */
#include "base/arena.h"
#include "cluster/scheduling/outage_parts.h"
#include "cluster/scheduling/outages.h"

/* Work a second on the nodes that it would have if its own were free. */
static double rate_elsewhere(struct queue *queue, uint32_t job, uint32_t *nodes)
{
    const struct queue_task *task = &queue->tasks[job];
    node_pool_give(queue->pool, task->nodes, task->count);
    node_pool_take(queue->pool, task->count, nodes);
    double rate = queue->request->rate(queue->request->user, job, nodes, task->count);
    node_pool_give(queue->pool, nodes, task->count);
    for (uint32_t i = 0; i < task->count; i++)
        node_pool_take_node(queue->pool, task->nodes[i]);
    return rate;
}

/* Seconds by which it would end earlier, as if it were alone and nothing failed; below 0: later, or less than `most` on
 * whatever nodes, so that nobody has to ask how fast these are. */
static double gain_of(struct queue *queue, uint32_t job, double most, uint32_t *nodes)
{
    const struct queue_task *task = &queue->tasks[job];
    const struct queue_job *asked = &queue->request->jobs[job];
    const struct queue_options *options = &queue->request->options;
    double left = outages_left(queue, job) * asked->work / asked->alone;
    double bound = left / task->full - options->save - options->resume;
    if (bound <= 0 || bound < most)
        return -1;
    double rate = rate_elsewhere(queue, job, nodes);
    return rate > task->full ? left / task->full - left / rate - options->save - options->resume : -1;
}

void queue_migrate(struct queue *queue)
{
    uint32_t best = NO_JOB;
    double most = 0;
    if (queue->moving != NO_JOB || !node_pool_free(queue->pool))
        return;
    if (!queue->elsewhere)
        queue->elsewhere = array_zeroed(queue->request->nodes, sizeof *queue->elsewhere);
    for (uint32_t i = 0; i < queue->beside_count; i++) {
        uint32_t job = queue->beside[i];
        if (!queue->request->jobs[job].placed || queue->now < queue->tasks[job].since)
            continue;
        double gain = gain_of(queue, job, most, queue->elsewhere);
        if (gain > most || (gain == most && gain > 0 && job < best)) {
            most = gain;
            best = job;
        }
    }
    if (best != NO_JOB)
        outages_move(queue, best);
}
