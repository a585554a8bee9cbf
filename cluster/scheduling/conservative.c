/* SPDX-License-Identifier: Apache-2.0 */
/* Conservative backfilling: all that wait have reservations, made in the order in which they came. They stay as long as
 * jobs end when they are due. Else all are made anew at every event; who starts now is all that counts of them then, so
 * that a round ends when nobody behind can start, and reservations behind a horizon are made only where another one
 * that begins before it may depend on them. */
#include "base/arena.h"
#include "cluster/scheduling/running.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How many nodes are free from a time on, until the next step. */
struct step {
    double time;
    uint32_t free;
};

struct profile {
    struct step *steps;
    uint32_t head, count; /* steps before `head` are over */
    size_t capacity;
};

/* Jobs with least keys first; of equal ones that which came first. */
struct heap {
    uint32_t *jobs, count;
    size_t capacity;
};

/* Before when no job begins that is as wide and no shorter than one that was looked for: jobs of each width are in the
 * order of their lengths, and a tree of each width (Fenwick 1994) has the greatest of these times up to a length. */
struct bounds {
    uint32_t *first; /* [nodes + 2]: where the jobs of a width begin */
    uint32_t *place; /* [job]: among those of its width, from 1 on; equal ones have that of the last of them; 0: its
                      * length is another one since, and nothing is known */
    double *tree;    /* [job]: at first[width] + place - 1 */
    uint32_t *round; /* [job]: in which it was set; older ones are void */
    uint32_t now;    /* the round */
};

/* Who may start now ends before a horizon, as the reservations go that have been made. A job that fits nowhere before
 * the horizon, beside these alone, begins behind it, so that it stands in the way of nobody who ends before it: its
 * reservation waits. Those reservations are made, in their order, when a job is to begin before the horizon and end
 * behind it. */
struct horizon {
    double time;            /* INFINITY: none */
    double *shortest;       /* [nodes + 1]: seconds, from which on jobs as wide fit nowhere before it */
    uint32_t *later, count; /* [job]: whose reservations wait */
};

struct conservative {
    struct running running;
    struct profile profile;
    struct heap *heaps; /* [nodes + 1]: by how long they are expected to run. Those that have started since are taken
                         * out when they come to the top */
    struct heap soon;   /* those with a reservation, by its beginning, while `kept` */
    struct bounds bounds;
    struct horizon horizon;
    double *expected, *starts; /* [job]: seconds; when the reservation begins */
    uint32_t newest;           /* of those that wait, when the heaps were last filled */
    bool kept;                 /* all that wait, but for the new ones, have reservations that still hold */
};

/* ---- bounds ---- */

struct sized {
    uint32_t nodes, job;
    double expected;
};

static int compare_sized(const void *left, const void *right)
{
    const struct sized *a = left, *b = right;
    int by_width = (a->nodes > b->nodes) - (a->nodes < b->nodes);
    return by_width ? by_width : (a->expected > b->expected) - (a->expected < b->expected);
}

/* Jobs by width and length. */
static void bounds_sort(const struct queue *queue, struct conservative *own)
{
    uint32_t count = queue->request->job_count, widths = queue->request->nodes;
    struct bounds *bounds = &own->bounds;
    struct sized *jobs = array_zeroed((size_t)count + 1, sizeof *jobs);
    for (uint32_t i = 0; i < count; i++)
        jobs[i] = (struct sized){queue->request->jobs[i].nodes, i, own->expected[i]};
    qsort(jobs, count, sizeof *jobs, compare_sized);
    for (uint32_t i = 0, width = 0; width <= widths + 1; width++) {
        bounds->first[width] = i;
        while (i < count && jobs[i].nodes == width)
            i++;
    }
    for (uint32_t i = count; i-- > 0;) {
        bool same = i + 1 < count && !compare_sized(&jobs[i], &jobs[i + 1]);
        bounds->place[jobs[i].job] = same ? bounds->place[jobs[i + 1].job] : i + 1 - bounds->first[jobs[i].nodes];
    }
    free(jobs);
    bounds->now++;
}

static double bounds_of(const struct bounds *bounds, uint32_t nodes, uint32_t job)
{
    double most = 0;
    for (uint32_t i = bounds->place[job]; i > 0; i -= i & -i) {
        uint32_t at = bounds->first[nodes] + i - 1;
        if (bounds->round[at] == bounds->now && bounds->tree[at] > most)
            most = bounds->tree[at];
    }
    return most;
}

static void bounds_note(struct bounds *bounds, uint32_t nodes, uint32_t job, double time)
{
    uint32_t first = bounds->first[nodes], count = bounds->first[nodes + 1] - first;
    for (uint32_t i = bounds->place[job]; i > 0 && i <= count; i += i & -i) {
        uint32_t at = first + i - 1;
        if (bounds->round[at] == bounds->now && bounds->tree[at] >= time)
            break; /* so have those behind */
        bounds->tree[at] = time;
        bounds->round[at] = bounds->now;
    }
}

static void begin(struct queue *queue)
{
    uint32_t count = queue->request->job_count;
    struct conservative *own = queue->own = array_zeroed(1, sizeof *own);
    own->bounds = (struct bounds){
        .first = array_zeroed((size_t)queue->request->nodes + 2, sizeof *own->bounds.first),
        .place = array_zeroed((size_t)count + 1, sizeof *own->bounds.place),
        .tree = array_zeroed((size_t)count + 1, sizeof *own->bounds.tree),
        .round = array_zeroed((size_t)count + 1, sizeof *own->bounds.round),
    };
    own->heaps = array_zeroed((size_t)queue->request->nodes + 1, sizeof *own->heaps);
    own->expected = array_zeroed((size_t)count + 1, sizeof *own->expected);
    own->starts = array_zeroed((size_t)count + 1, sizeof *own->starts);
    own->horizon.shortest = array_zeroed((size_t)queue->request->nodes + 1, sizeof *own->horizon.shortest);
    own->horizon.later = array_zeroed((size_t)count + 1, sizeof *own->horizon.later);
    own->newest = NO_JOB;
    for (uint32_t i = 0; i < count; i++)
        own->expected[i] = queue->request->jobs[i].expected;
    bounds_sort(queue, own);
}

static void finish(struct queue *queue)
{
    struct conservative *own = queue->own;
    for (uint32_t i = 0; i <= queue->request->nodes; i++)
        free(own->heaps[i].jobs);
    free(own->heaps);
    free(own->soon.jobs);
    free(own->bounds.first);
    free(own->bounds.place);
    free(own->bounds.tree);
    free(own->bounds.round);
    free(own->horizon.shortest);
    free(own->horizon.later);
    free(own->expected);
    free(own->starts);
    free(own->profile.steps);
    running_finish(queue);
}

/* ---- who waits ---- */

static bool is_before(const double *keys, uint32_t a, uint32_t b)
{
    return keys[a] < keys[b] || (keys[a] == keys[b] && a < b);
}

static void push(struct heap *heap, const double *keys, uint32_t job)
{
    heap->jobs = array_grow(heap->jobs, &heap->capacity, heap->count + (size_t)1, sizeof *heap->jobs);
    uint32_t hole = heap->count++;
    for (uint32_t parent; hole > 0 && is_before(keys, job, heap->jobs[parent = (hole - 1) / 2]); hole = parent)
        heap->jobs[hole] = heap->jobs[parent];
    heap->jobs[hole] = job;
}

static void pop(struct heap *heap, const double *keys)
{
    uint32_t last = heap->jobs[--heap->count], hole = 0;
    for (uint32_t child; (child = 2 * hole + 1) < heap->count; hole = child) {
        if (child + 1 < heap->count && is_before(keys, heap->jobs[child + 1], heap->jobs[child]))
            child++;
        if (!is_before(keys, heap->jobs[child], last))
            break;
        heap->jobs[hole] = heap->jobs[child];
    }
    heap->jobs[hole] = last;
}

/* Jobs are numbered in the order in which they come, so that new ones are those behind the newest known. Returns the
 * first of them, NO_JOB: there is none. */
static uint32_t take_new(struct queue *queue, struct conservative *own)
{
    uint32_t known = own->newest, first = NO_JOB;
    for (uint32_t job = queue->last; job != NO_JOB && (known == NO_JOB || job > known);
         job = queue->tasks[job].previous) {
        push(&own->heaps[queue->request->jobs[job].nodes], own->expected, job);
        first = job;
    }
    if (first != NO_JOB)
        own->newest = queue->last;
    return first;
}

/* Seconds of the shortest job that waits for so many nodes; INFINITY: none does. */
static double shortest(const struct queue *queue, const struct conservative *own, struct heap *heap)
{
    while (heap->count && !queue->tasks[heap->jobs[0]].waits)
        pop(heap, own->expected);
    return heap->count ? own->expected[heap->jobs[0]] : INFINITY;
}

/* ---- reservations ---- */

static void insert_step(struct profile *profile, uint32_t at, struct step step)
{
    profile->steps = array_grow(profile->steps, &profile->capacity, profile->count + 1, sizeof *profile->steps);
    for (uint32_t i = profile->count++; i > at; i--)
        profile->steps[i] = profile->steps[i - 1];
    profile->steps[at] = step;
}

/* The first step from `from` on that begins at a time or later. */
static uint32_t find_step(const struct profile *profile, double time, uint32_t from)
{
    uint32_t end = profile->count;
    while (from < end) {
        uint32_t middle = from + (end - from) / 2;
        if (profile->steps[middle].time < time)
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

/* The step that begins at a time, made where there is none. */
static uint32_t step_at(struct profile *profile, double time, uint32_t from)
{
    from = find_step(profile, time, from);
    if (from == profile->count || profile->steps[from].time > time)
        insert_step(profile, from, (struct step){time, profile->steps[from - 1].free});
    return from;
}

/* From what runs. */
static void fill_profile(const struct queue *queue, struct conservative *own)
{
    const struct running *running = &own->running;
    struct profile *profile = &own->profile;
    own->bounds.now++;
    profile->head = profile->count = 0;
    insert_step(profile, 0, (struct step){queue->now, queue_free(queue)});
    for (uint32_t i = 0; i < running->count; i++) {
        const struct queue_task *task = &queue->tasks[running->jobs[i]];
        uint32_t last = profile->count - 1;
        if (task->due > profile->steps[last].time) {
            insert_step(profile, last + 1, (struct step){task->due, profile->steps[last].free});
            last++;
        }
        profile->steps[last].free += task->count;
    }
}

/* What is over goes. */
static void advance(struct profile *profile, double now)
{
    enum { OVER_MAX = 1024 };
    while (profile->head + 1 < profile->count && profile->steps[profile->head + 1].time <= now)
        profile->head++;
    profile->steps[profile->head].time = now;
    if (profile->head < OVER_MAX)
        return;
    profile->count -= profile->head;
    memmove(profile->steps, profile->steps + profile->head, profile->count * sizeof *profile->steps);
    profile->head = 0;
}

/* The first step from which on a job has so many nodes for so long. */
static uint32_t find_hole(struct conservative *own, uint32_t job, uint32_t nodes)
{
    struct profile *profile = &own->profile;
    double seconds = own->expected[job];
    uint32_t first = find_step(profile, bounds_of(&own->bounds, nodes, job), profile->head), from = first;
    double end = profile->steps[from].time + seconds;
    for (uint32_t i = from; i < profile->count && (profile->steps[i].time < end || i == from); i++)
        if (profile->steps[i].free < nodes && i + 1 < profile->count) {
            from = i + 1;
            end = profile->steps[from].time + seconds;
        }
    if (from > first)
        bounds_note(&own->bounds, nodes, job, profile->steps[from].time);
    return from;
}

/* Returns when the job's reservation begins; INFINITY where not enough nodes are up: it gets none. */
static double reserve(const struct queue *queue, struct conservative *own, uint32_t job)
{
    struct profile *profile = &own->profile;
    uint32_t nodes = queue->request->jobs[job].nodes;
    if (profile->steps[profile->count - 1].free < nodes)
        return INFINITY;
    uint32_t from = find_hole(own, job, nodes);
    double start = profile->steps[from].time;
    uint32_t past = step_at(profile, start + own->expected[job], from);
    for (uint32_t i = from; i < past; i++)
        profile->steps[i].free -= nodes;
    return start;
}

/* A job that waits and could start now, as far as the reservations made so far go; NO_JOB: none could. Where `behind`
 * is not NULL, it is set to when the last of all those that could has to have ended. */
static uint32_t who_starts(const struct queue *queue, struct conservative *own, double *behind)
{
    const struct profile *profile = &own->profile;
    uint32_t step = 0, found = NO_JOB;
    for (uint32_t nodes = queue_free(queue); nodes > 0 && (behind || found == NO_JOB); nodes--) {
        while (step < profile->count && profile->steps[step].free >= nodes)
            step++;
        double until = step < profile->count ? profile->steps[step].time : INFINITY;
        double seconds = shortest(queue, own, &own->heaps[nodes]);
        if (step == 0 || seconds == INFINITY || queue->now + seconds > until)
            continue;
        if (found == NO_JOB)
            found = own->heaps[nodes].jobs[0];
        if (behind)
            *behind = until;
    }
    return found;
}

/* ---- the horizon ---- */

/* The horizon only comes nearer, so that what was behind it stays there. */
static uint32_t look_ahead(const struct queue *queue, struct conservative *own)
{
    struct horizon *horizon = &own->horizon;
    double behind = INFINITY;
    uint32_t candidate = who_starts(queue, own, &behind);
    for (uint32_t i = 0; i <= queue->request->nodes && isinf(horizon->time) && behind < INFINITY; i++)
        horizon->shortest[i] = INFINITY;
    horizon->time = fmin(horizon->time, behind);
    return candidate;
}

static void reserve_later(const struct queue *queue, struct conservative *own)
{
    struct horizon *horizon = &own->horizon;
    for (uint32_t i = 0; i < horizon->count; i++)
        own->starts[horizon->later[i]] = reserve(queue, own, horizon->later[i]);
    horizon->count = 0;
}

static bool is_behind(const struct queue *queue, struct conservative *own, uint32_t job)
{
    struct horizon *horizon = &own->horizon;
    uint32_t nodes = queue->request->jobs[job].nodes;
    double seconds = own->expected[job];
    if (isinf(horizon->time) || own->profile.steps[own->profile.count - 1].free < nodes)
        return false;
    if (seconds >= horizon->shortest[nodes])
        return true;
    double start = own->profile.steps[find_hole(own, job, nodes)].time;
    bool behind = start >= horizon->time;
    for (uint32_t i = nodes; behind && i <= queue->request->nodes && horizon->shortest[i] > seconds; i++)
        horizon->shortest[i] = seconds;
    if (!behind && start + seconds > horizon->time)
        reserve_later(queue, own);
    return behind;
}

/* False: its reservation waits. */
static bool reserve_now(const struct queue *queue, struct conservative *own, uint32_t job)
{
    struct horizon *horizon = &own->horizon;
    bool behind = is_behind(queue, own, job);
    if (behind)
        horizon->later[horizon->count++] = job;
    else
        own->starts[job] = reserve(queue, own, job);
    return !behind;
}

/* All anew, as far as it counts. */
static void begin_again(struct queue *queue, struct conservative *own)
{
    uint32_t job, next, passed = 0, look = 8;
    fill_profile(queue, own);
    own->horizon.time = INFINITY;
    own->horizon.count = 0;
    uint32_t candidate = who_starts(queue, own, NULL);
    for (job = queue->first; job != NO_JOB && candidate != NO_JOB; job = next) {
        next = queue->tasks[job].next;
        bool made = reserve_now(queue, own, job);
        bool touched = job == candidate || (made && own->starts[job] < queue->now + own->expected[candidate]);
        /* What is overdue may still have the nodes that it was to leave now. */
        if (made && own->starts[job] <= queue->now && running_fits(queue, job))
            running_start(queue, job);
        if (++passed == look) {
            look *= 2;
            candidate = look_ahead(queue, own);
        } else if (touched)
            candidate = who_starts(queue, own, NULL);
    }
    own->kept = job == NO_JOB;
    if (own->kept)
        reserve_later(queue, own);
    own->soon.count = 0;
    for (job = own->kept ? queue->first : NO_JOB; job != NO_JOB; job = queue->tasks[job].next)
        push(&own->soon, own->starts, job);
}

/* The reservations hold: new jobs get theirs, and those begin whose time it is. */
static void go_on(struct queue *queue, struct conservative *own, uint32_t first_new)
{
    advance(&own->profile, queue->now);
    for (uint32_t job = first_new; job != NO_JOB; job = queue->tasks[job].next) {
        own->starts[job] = reserve(queue, own, job);
        push(&own->soon, own->starts, job);
    }
    while (own->soon.count && own->starts[own->soon.jobs[0]] <= queue->now) {
        uint32_t job = own->soon.jobs[0];
        pop(&own->soon, own->starts);
        running_start(queue, job);
    }
}

static bool is_overdue(const struct queue *queue, const struct running *running)
{
    return running->count && queue->tasks[running->jobs[0]].due <= queue->now;
}

static void ended(struct queue *queue, uint32_t job)
{
    struct conservative *own = queue->own;
    own->kept = own->kept && queue->tasks[job].due == queue->now;
    running_ended(queue, job);
}

/* Those that wait are taken for new. */
static void again(struct queue *queue, uint32_t job)
{
    struct conservative *own = queue->own;
    for (uint32_t i = 0; i <= queue->request->nodes; i++)
        own->heaps[i].count = 0;
    own->expected[job] = queue_expected(queue, job);
    own->bounds.place[job] = 0;
    own->newest = NO_JOB;
    own->kept = false;
}

static void postponed(struct queue *queue, uint32_t job)
{
    ((struct conservative *)queue->own)->kept = false;
    running_postponed(queue, job);
}

static void nodes_changed(struct queue *queue)
{
    ((struct conservative *)queue->own)->kept = false;
}

static void decide(struct queue *queue)
{
    struct conservative *own = queue->own;
    uint32_t first_new = take_new(queue, own);
    if (is_overdue(queue, &own->running))
        own->kept = false;
    if (own->kept)
        go_on(queue, own, first_new);
    else if (queue->first != NO_JOB && queue_free(queue) > 0)
        begin_again(queue, own);
}

const struct queue_policy queue_conservative = {
    .name = "conservative",
    .title = "conservative backfilling",
    .summary = "every job that waits has a reservation, and later jobs may pass it where they delay none",
    .endures = true,
    .begin = begin,
    .finish = finish,
    .ended = ended,
    .again = again,
    .postponed = postponed,
    .nodes_changed = nodes_changed,
    .decide = decide,
};
