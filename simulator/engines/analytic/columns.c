/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/analytic/columns.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "base/sum.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/analytic/columns_walk.h"

#include <math.h>
#include <string.h>

/* The last end of all, and the sum of those of all streams; ends do not decrease along a stream. */
static void note_ends(struct columns *c)
{
    struct sum sum = {0, 0};
    for (uint32_t index = 0; index < c->program->mesh->positions; index++) {
        const struct lane_position *lanes = &c->positions[index];
        for (uint32_t i = 0; i < lanes->position->stream_count; i++) {
            const struct stream *stream = &lanes->position->streams[i];
            for (uint32_t column = 0; stream->count && column < c->count; column++) {
                double end = columns_ends(c->count, lanes, stream->first + stream->count - 1)[column];
                c->last = fmax(c->last, end);
                sum_add(&sum, end);
            }
        }
    }
    c->stream_ends = sum_total(&sum);
}

static double mean_busy(const struct columns *c)
{
    struct sum sum = {0, 0};
    for (uint32_t index = 0; index < c->program->mesh->positions; index++)
        for (uint32_t column = 0; column < c->count; column++)
            sum_add(&sum, c->weights[column] * c->positions[index].busy[column]);
    return sum_total(&sum) / c->program->mesh->ranks;
}

static double busy_max(const struct columns *c)
{
    double most = 0;
    for (uint32_t index = 0; index < c->program->mesh->positions; index++)
        for (uint32_t column = 0; column < c->count; column++)
            most = fmax(most, c->positions[index].busy[column]);
    return most;
}

/* Whether streams go on by what they wait for alone. */
static bool is_simple(const struct engine_job *job)
{
    const struct platform *platform = job->platform;
    for (uint32_t rank = 0; rank < job->program->mesh->ranks; rank++)
        if (platform->hosts[job->hosts[rank]].varies)
            return false;
    return !job->program->pipelined && !job->resumes && platform->library.overlap_node <= 0 &&
           platform->library.overlap_network <= 0;
}

/* False: the program cannot finish. */
static bool run_all(struct columns *c)
{
    size_t bytes = c->total * c->count * sizeof(double);
    double *ends = bulk_alloc(bytes + 1);
    for (uint32_t index = 0, first = 0; index < c->program->mesh->positions; index++) {
        c->positions[index].ends = &ends[(size_t)first * c->count];
        first += c->positions[index].position->operation_count;
    }
    if (c->beats)
        columns_walk_repeating(c);
    else
        columns_walk(c);
    bool finished = c->done == c->total;
    if (finished)
        note_ends(c);
    if (finished && c->activity)
        columns_activity_note(c);
    bulk_free(ends, bytes + 1);
    return finished;
}

/* With what has been said of columns so far. */
static bool run_once(struct columns *c, bool exposed, struct columns_time *time)
{
    const struct program *program = c->program;
    bool once = program->iterations == 1 && !program->overlapping && !program->independent && program->period == 1;
    if (!once || !is_simple(c->job) || !columns_init(c))
        return false;
    if (exposed)
        columns_activity_create(c);
    if (!run_all(c))
        return false;
    *time = (struct columns_time){c->last - (isinf(c->begun) ? 0 : c->begun), mean_busy(c), busy_max(c),
                                  exposed ? columns_activity_exposed(c) : NAN, c->stream_ends};
    return true;
}

bool columns_run_repeating(const struct engine_job *job, const struct beats *beats, uint32_t more, struct arena *arena,
                           struct columns_time *time)
{
    struct columns c = {
        .job = job, .program = job->program, .arena = arena, .begun = INFINITY, .beats = beats, .more = more};
    return run_once(&c, false, time);
}

bool columns_run(const struct engine_job *job, struct arena *arena, struct columns_time *time)
{
    return columns_run_repeating(job, NULL, 0, arena, time);
}

bool columns_run_exposed(const struct engine_job *job, struct arena *arena, struct columns_time *time)
{
    struct columns c = {.job = job, .program = job->program, .arena = arena, .begun = INFINITY};
    return run_once(&c, true, time);
}

bool columns_fill(const struct engine_job *job)
{
    struct columns c = {.job = job, .program = job->program, .timeline = job->timeline};
    if (!job->folding || job->program->mesh->extra || !is_simple(job))
        return false;
    c.arena = arena_create();
    bool fills = columns_init(&c);
    if (fills && !run_all(&c)) {
        timeline_reset(job->timeline);
        fills = false;
    }
    if (fills)
        job->timeline->activities = c.activities;
    arena_destroy(c.arena);
    return fills;
}
