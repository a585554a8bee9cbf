/* SPDX-License-Identifier: Apache-2.0 */
/* The contention-free engine: the longest path through the program's operations and transfers. Every stream advances as
 * far as what it waits for allows; what ends sets others going; each operation is looked at once. A message takes its
 * route's latency plus its bytes over the narrowest link, a collective as long as its flows take that share links with
 * each other, whatever else is under way. Where collectives take a share of their ranks' compute, computations end and
 * members come to such collectives in the order of time (analytic_overlap.h); all else runs ahead as before. */
#include "simulator/engines/analytic/columns.h"
#include "simulator/engines/analytic/walk.h"
#include "simulator/engines/deadlock.h"

enum { PROGRESS_INTERVAL = 1 << 16 };

/* ---- computations and messages ---- */

static inline double seconds_of(const struct walk *walk, const struct entry *entry, const struct operation *operation)
{
    if (walk->free && operation_reads_storage(operation))
        return 0;
    return operation_cost(walk->program, operation)->seconds *
           operation_factor(walk->program, operation, entry->replica);
}

/* The computations or delays of a stream, until one has to wait. */
static void advance_local(struct walk *walk, uint32_t index, struct cursor *cursor)
{
    const struct entry *entry = &walk->entries[index];
    double slowness = cursor->type == OPERATION_COMPUTE ? entry->slowness : 1;
    while (cursor->next < cursor->end) {
        uint32_t id = cursor->next;
        const struct operation *operation = &entry->position->operations[id];
        double start = ready_at(entry, operation, cursor->free);
        if (isnan(start))
            return;
        double duration = seconds_of(walk, entry, operation) * slowness;
        foresee(entry, id);
        entry->times[id] = (struct moment){start, start, start + duration};
        cursor->free = start + duration;
        cursor->next++;
        walk->timeline->activities += cursor->type == OPERATION_COMPUTE && duration > 0;
        set_off(walk, index, id);
    }
}

/* The next computation of a rank that collectives slow down: it begins. */
static void begin_compute(struct walk *walk, uint32_t index, struct cursor *cursor)
{
    const struct entry *entry = &walk->entries[index];
    uint32_t id = cursor->next;
    if (id == cursor->end || !isnan(entry->times[id].start)) /* the latter: it is under way */
        return;
    const struct operation *operation = &entry->position->operations[id];
    double start = ready_at(entry, operation, cursor->free);
    if (isnan(start))
        return;
    double seconds = seconds_of(walk, entry, operation) * entry->slowness;
    entry->times[id].start = entry->times[id].data_start = start;
    walk->timeline->activities += seconds > 0;
    overlaps_compute(walk->overlaps, index, start, seconds);
}

/* Stream 0 of a rank is the one that computes. */
static void end_compute(struct walk *walk, uint32_t index, double end)
{
    struct entry *entry = &walk->entries[index];
    struct cursor *cursor = &entry->cursors[0];
    uint32_t id = cursor->next++;
    entry->times[id].end = cursor->free = end;
    set_off(walk, index, id);
    push(walk, index, 0);
}

static inline void deliver(struct walk *walk, uint32_t index, uint32_t stream, double data_start, double end)
{
    const struct entry *entry = &walk->entries[index];
    struct cursor *cursor = &entry->cursors[stream];
    uint32_t id = cursor->next++;
    foresee(entry, id);
    entry->times[id] = (struct moment){cursor->free, data_start, end};
    cursor->free = end;
    set_off(walk, index, id);
}

/* The messages of a stream, each with its receive. */
static void advance_sends(struct walk *walk, uint32_t index, struct cursor *cursor)
{
    const struct entry *entry = &walk->entries[index];
    while (cursor->next < cursor->end) {
        uint32_t id = cursor->next;
        const struct operation *operation = &entry->position->operations[id];
        double start = ready_at(entry, operation, cursor->free - cursor->ahead);
        if (isnan(start))
            return;
        double end =
            start + (cursor->latency + operation_cost(walk->program, operation)->bytes * cursor->seconds_per_byte);
        foresee(entry, id);
        entry->times[id] = (struct moment){start, start, end};
        cursor->free = end;
        cursor->next++;
        walk->timeline->activities++;
        set_off(walk, index, id);
        deliver(walk, cursor->peer, cursor->opposite, start, end);
    }
}

/* ---- all streams ---- */

static void advance(struct walk *walk, uint32_t index, uint32_t stream)
{
    struct cursor *cursor = &walk->entries[index].cursors[stream];
    cursor->queued = false;
    switch ((enum operation_type)cursor->type) {
    case OPERATION_COMPUTE:
        if (walk->overlaps) {
            begin_compute(walk, index, cursor);
            return;
        }
        advance_local(walk, index, cursor);
        return;
    case OPERATION_DELAY:
        advance_local(walk, index, cursor);
        return;
    case OPERATION_SEND:
        advance_sends(walk, index, cursor);
        return;
    case OPERATION_COLLECTIVE:
        analytic_arrive(walk, index, cursor);
        return;
    case OPERATION_RECEIVE: /* goes on when the message is sent */
        return;
    }
}

static void report_progress(struct walk *walk)
{
    walk->report_at = walk->done + PROGRESS_INTERVAL;
    if (walk->progress)
        walk->progress->report(walk->progress->user, walk->done, walk->total);
}

/* The next computation ends, or somebody comes to a collective that slows computations down; false when there is none.
 */
static bool next_event(struct walk *walk)
{
    struct overlap_event event;
    if (!walk->overlaps || !overlaps_next(walk->overlaps, &event))
        return false;
    if (event.collective)
        analytic_begin_collective(walk, event.collective);
    else
        end_compute(walk, event.rank, event.time);
    return true;
}

/* All that follows from what is known. */
static void walk_ahead(struct walk *walk)
{
    while (walk->stack_count || walk->queued) {
        if (!walk->stack_count) {
            struct instance *instance = walk->queued;
            walk->queued = instance->next_queued;
            analytic_evaluate_instance(walk, instance);
            continue;
        }
        struct participant next = walk->stack[--walk->stack_count];
        advance(walk, next.entry, next.stream);
        if (walk->done >= walk->report_at)
            report_progress(walk);
    }
}

static void walk_all(struct walk *walk)
{
    for (uint32_t index = walk->timeline->rank_count; index-- > 0;)
        for (uint32_t stream = walk->entries[index].position->stream_count; stream-- > 0;)
            push(walk, index, stream);
    walk->report_at = PROGRESS_INTERVAL;
    do
        walk_ahead(walk);
    while (next_event(walk));
}

static bool analytic_run(const struct engine_job *job, struct fault *fault)
{
    if (columns_fill(job))
        return true;
    struct walk walk = {.program = job->program,
                        .platform = job->platform,
                        .hosts = job->hosts,
                        .timeline = job->timeline,
                        .progress = job->progress,
                        .resumes = job->resumes,
                        .free = job->transfers_free,
                        .fault = fault,
                        .arena = arena_create()};
    job->timeline->activities = 0;
    timeline_note_latencies(job->timeline, job->platform, job->hosts);
    bool ok = analytic_init(&walk);
    if (ok) {
        walk_all(&walk);
        if (walk.done != walk.total)
            ok = deadlock_explain(job->timeline, fault);
    }
    overlaps_destroy(walk.overlaps);
    arena_destroy(walk.arena);
    return ok;
}

const struct engine engine_analytic = {
    "analytic", "contention-free: the longest path; messages and collectives do not disturb each other", analytic_run,
    1e-11, NULL};
