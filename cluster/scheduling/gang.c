/* SPDX-License-Identifier: Apache-2.0 */
/* Gang scheduling by Ousterhout's matrix: a row is a set of jobs on nodes of their own, and rows have the cluster in
 * turns. A job keeps its nodes from its start to its end, so nothing is ever moved. */
#include "base/arena.h"
#include "cluster/scheduling/queue_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct row {
    struct node_pool *pool; /* of its nodes */
    uint32_t *jobs, count;  /* in the order in which they came into it */
    size_t capacity;
};

struct gang {
    struct row *rows;
    uint32_t count, active;
    size_t capacity;
    double ready; /* when the active row has been changed to */
};

static void begin(struct queue *queue)
{
    queue->own = array_zeroed(1, sizeof(struct gang));
}

static void drop_row(struct gang *gang, uint32_t row)
{
    node_pool_destroy(gang->rows[row].pool);
    free(gang->rows[row].jobs);
    gang->count--;
    memmove(gang->rows + row, gang->rows + row + 1, (gang->count - row) * sizeof *gang->rows);
}

static void finish(struct queue *queue)
{
    struct gang *gang = queue->own;
    while (gang->count)
        drop_row(gang, gang->count - 1);
    free(gang->rows);
    free(gang);
}

/* Jobs end in the active row only. */
static void ended(struct queue *queue, uint32_t job)
{
    struct gang *gang = queue->own;
    struct row *row = &gang->rows[gang->active];
    uint32_t place = 0;
    while (row->jobs[place] != job)
        place++;
    row->count--;
    memmove(row->jobs + place, row->jobs + place + 1, (row->count - place) * sizeof *row->jobs);
    node_pool_give(row->pool, queue->tasks[job].nodes, queue->tasks[job].count);
}

/* Its jobs, which the cluster does not run now, go on after the time that changing over takes. */
static void turn_to(struct queue *queue, uint32_t index)
{
    struct gang *gang = queue->own;
    const struct queue_options *options = &queue->request->options;
    gang->active = index;
    gang->ready = queue->now + options->change;
    queue->wake = queue->now + options->slice;
    for (uint32_t i = 0; i < gang->rows[index].count; i++) {
        uint32_t job = gang->rows[index].jobs[i];
        queue->run->records[job].changes += queue->run->records[job].spans > 0;
        queue_resume(queue, job, gang->ready);
    }
}

static void turn(struct queue *queue)
{
    struct gang *gang = queue->own;
    const struct row *row = &gang->rows[gang->active];
    for (uint32_t i = 0; i < row->count; i++)
        queue_pause(queue, row->jobs[i]);
    turn_to(queue, (gang->active + 1) % gang->count);
}

/* The row whose jobs have all ended goes, and the next one has its turn. */
static void drop_empty(struct queue *queue)
{
    struct gang *gang = queue->own;
    if (gang->count == 0 || gang->rows[gang->active].count > 0)
        return;
    drop_row(gang, gang->active);
    if (gang->count)
        turn_to(queue, gang->active % gang->count);
    else
        gang->active = 0;
}

/* The first row with room for the job, or a new one; the number of rows where there may be no more. */
static uint32_t find_row(struct queue *queue, uint32_t nodes)
{
    struct gang *gang = queue->own;
    const struct queue_request *request = queue->request;
    uint32_t row = 0;
    while (row < gang->count && node_pool_free(gang->rows[row].pool) < nodes)
        row++;
    if (row < gang->count || row == request->options.rows)
        return row;
    gang->rows = array_grow(gang->rows, &gang->capacity, row + 1, sizeof *gang->rows);
    gang->rows[gang->count++] =
        (struct row){.pool = node_pool_create(request->nodes, request->options.placement, request->options.block)};
    if (gang->count == 1)
        gang->ready = queue->now; /* nobody had the cluster: there is nothing to change */
    return row;
}

static bool place(struct queue *queue, uint32_t job)
{
    struct gang *gang = queue->own;
    struct queue_task *task = &queue->tasks[job];
    uint32_t nodes = queue->request->jobs[job].nodes, index = find_row(queue, nodes);
    if (index == gang->count)
        return false;
    struct row *row = &gang->rows[index];
    queue_unlist(queue, job);
    task->count = nodes;
    task->nodes = arena_array(queue->arena, nodes, sizeof *task->nodes);
    node_pool_take(row->pool, nodes, task->nodes);
    row->jobs = array_grow(row->jobs, &row->capacity, row->count + 1, sizeof *row->jobs);
    row->jobs[row->count++] = job;
    if (index == gang->active)
        queue_resume(queue, job, fmax(queue->now, gang->ready));
    return true;
}

static void decide(struct queue *queue)
{
    struct gang *gang = queue->own;
    drop_empty(queue);
    while (queue->first != NO_JOB && place(queue, queue->first)) {}
    if (gang->count > 1 && queue->now >= queue->wake)
        turn(queue);
    else if (gang->count > 1 && isinf(queue->wake)) /* a row that was alone has its slice from now on */
        queue->wake = queue->now + queue->request->options.slice;
    else if (gang->count < 2)
        queue->wake = INFINITY;
}

const struct queue_policy queue_gang = {
    .name = "gang",
    .title = "gang scheduling",
    .summary = "rows of jobs have the cluster in turns, a slice each; changing from one to the next takes time",
    .changes = "turns after the first",
    .begin = begin,
    .finish = finish,
    .ended = ended,
    .decide = decide,
};
