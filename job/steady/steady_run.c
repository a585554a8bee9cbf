/* SPDX-License-Identifier: Apache-2.0 */
#include "job/steady/steady_run.h"

#include "base/arena.h"
#include "simulator/program/drift.h"
#include "simulator/program/extension.h"

#include <math.h>
#include <stdio.h>

/* What is being made shorter. */
struct attempt {
    const struct scenario *scenario;
    const struct engine *engine;
    const struct engine_job *job; /* the whole one */
    struct arena *arena;
    struct diag diag; /* of shorter jobs: says nothing */
    uint32_t step;    /* micro-batches with which the order repeats: a beat */
    double spent;     /* micro-batches that were run on SimGrid in vain */
    struct steady *steady;
};

/* A job with fewer micro-batches. */
struct shorter {
    struct scenario *scenario; /* the arena's, as long as the job, which refers to it */
    struct job *job;           /* NULL: the schedule does not go with so few, or they do not repeat */
    uint32_t more;             /* beats that the whole has more */
    struct beats *beats;
};

/* A run of it that came back to a state. */
struct found {
    struct folded_run run;
    struct cycle cycle;
};

static bool refuse(struct steady *steady, const char *reason)
{
    snprintf(steady->reason, sizeof steady->reason, "%s", reason);
    return false;
}

/* ---- shorter jobs ---- */

static void make_shorter(struct attempt *attempt, uint32_t more, struct shorter *shorter)
{
    *shorter = (struct shorter){.scenario = arena_alloc(attempt->arena, sizeof *shorter->scenario), .more = more};
    *shorter->scenario = *attempt->scenario;
    uint32_t micro_batches = attempt->scenario->micro_batches - more * attempt->step;
    shorter->scenario->global_batch =
        attempt->scenario->global_batch / attempt->scenario->micro_batches * micro_batches;
    shorter->scenario->micro_batches = micro_batches;
    struct job *job = job_create(shorter->scenario, attempt->job->platform, 1, attempt->arena, &attempt->diag);
    if (job)
        shorter->beats = extension_beats(attempt->job->program, job->program, more, attempt->arena);
    if (shorter->beats)
        shorter->job = job;
}

static bool run_timed(const struct attempt *attempt, const struct engine *engine, const struct shorter *shorter,
                      double lasts, struct folded_run *run)
{
    struct fault fault = {""};
    struct engine_job job = *attempt->job;
    job.program = shorter->job->program;
    job.hosts = shorter->job->hosts;
    job.lasts = lasts;
    job.apart = engine == &engine_simgrid;
    return folded_run(engine, &job, attempt->scenario->fold == FOLD_AUTO, attempt->arena, run, &fault);
}

/* Runs a shorter job and looks for a state that comes back. */
static bool run_shorter(const struct attempt *attempt, const struct engine *engine, const struct shorter *shorter,
                        double lasts, struct found *found)
{
    if (!run_timed(attempt, engine, shorter, lasts, &found->run))
        return false;
    if (beats_find_cycle(shorter->beats, found->run.timeline, engine->rounding, &found->cycle, attempt->arena))
        return true;
    timeline_destroy(found->run.timeline);
    found->run.timeline = NULL;
    return false;
}

/* ---- the whole job ---- */

static double last_end(const struct timeline *timeline)
{
    double last = 0;
    for (uint32_t entry = 0; entry < timeline->rank_count; entry++) {
        const struct position *position =
            &timeline->program->positions[timeline->program->mesh->position_of[timeline->ranks[entry]]];
        for (uint32_t i = 0; i < position->stream_count; i++)
            if (position->streams[i].count)
                last = fmax(last,
                            timeline->moments[entry][position->streams[i].first + position->streams[i].count - 1].end);
    }
    return last;
}

/* A timeline of the whole job that simulates the ranks that a part's does. */
static struct timeline *create_whole(const struct attempt *attempt, const struct timeline *part)
{
    const struct mesh *mesh = attempt->job->program->mesh;
    uint32_t *equals = arena_array(attempt->arena, mesh->ranks, sizeof *equals);
    for (uint32_t rank = 0; rank < mesh->ranks; rank++)
        equals[rank] = part->ranks[part->index_of[rank]];
    struct timeline *whole = timeline_create_folded(attempt->job->program, equals, false);
    timeline_note_latencies(whole, attempt->job->platform, attempt->job->hosts);
    whole->rounding = part->rounding;
    whole->activities = part->activities;
    return whole;
}

/* In place of the shorter job's timeline that of the whole one. */
static void extend(const struct attempt *attempt, const struct shorter *shorter, struct found *found,
                   struct folded_run *run)
{
    const struct timeline *part = found->run.timeline;
    struct timeline *whole = create_whole(attempt, part);
    extension_fill(whole, part, shorter->beats, &found->cycle, shorter->more);
    timeline_destroy(found->run.timeline);
    *run = (struct folded_run){whole, found->run.folding};
    attempt->steady->micro_batches = shorter->scenario->micro_batches;
    attempt->steady->period = found->cycle.beats * attempt->step;
    attempt->steady->start = found->cycle.start;
    attempt->steady->length = found->cycle.length;
}

/* ---- how short ---- */

/* The shortest job with at least so many micro-batches that comes back to a state without contention, in as many beats
 * as go into what is left out. False: this one does not. */
static bool try_analytic(struct attempt *attempt, uint32_t least, struct shorter *shorter, struct found *found)
{
    uint32_t more = (attempt->scenario->micro_batches - least) / attempt->step;
    for (int turn = 0; turn < 3 && more; turn++) {
        make_shorter(attempt, more, shorter);
        if (!shorter->job || !run_shorter(attempt, &engine_analytic, shorter, 0, found))
            return false;
        if (more % found->cycle.beats == 0)
            return true;
        timeline_destroy(found->run.timeline);
        more -= more % found->cycle.beats;
    }
    return false;
}

/* The same job on SimGrid, where a cycle may be longer. */
static bool try_simgrid(struct attempt *attempt, struct shorter *shorter, struct found *alone, struct found *found)
{
    double lasts = last_end(alone->run.timeline) + shorter->more / alone->cycle.beats * alone->cycle.length;
    timeline_destroy(alone->run.timeline);
    for (int turn = 0; turn < 2; turn++) {
        if (2 * (attempt->spent + shorter->scenario->micro_batches) > attempt->scenario->micro_batches)
            return false;
        attempt->spent += shorter->scenario->micro_batches;
        if (!run_shorter(attempt, &engine_simgrid, shorter, lasts, found))
            return false;
        if (shorter->more % found->cycle.beats == 0)
            return true;
        timeline_destroy(found->run.timeline);
        make_shorter(attempt, shorter->more - shorter->more % found->cycle.beats, shorter);
        if (!shorter->job || !shorter->more)
            return false;
    }
    return false;
}

static bool try_all(struct attempt *attempt, struct folded_run *run)
{
    uint32_t workers = attempt->scenario->workers, step = attempt->step, tried = 0;
    bool simgrid = attempt->engine == &engine_simgrid;
    double most = attempt->scenario->micro_batches / (simgrid ? 2.0 : 4.0);
    for (double least = workers + 3.0 * step; least <= most; least = fmax(1.4 * least, least + 2.0 * step)) {
        struct shorter shorter;
        struct found alone, found;
        tried = (uint32_t)least;
        if (!try_analytic(attempt, tried, &shorter, &alone))
            continue;
        if (!simgrid)
            found = alone;
        else if (!try_simgrid(attempt, &shorter, &alone, &found))
            continue;
        extend(attempt, &shorter, &found, run);
        return true;
    }
    snprintf(attempt->steady->reason, sizeof attempt->steady->reason,
             tried ? "no state came back in %u micro-batches" : "%u micro-batches are too few to repeat",
             tried ? tried : attempt->scenario->micro_batches);
    return false;
}

/* ---- linear drift, on the analytic engine ---- */

/* Beats that are tried as one. */
enum { DRIFT_BEATS_MAX = 6 };

/* The rest of the shorter job from the place on, as it is after `more` beats. */
static bool drift_over(const struct attempt *attempt, const struct shorter *shorter, const struct drift *drift,
                       struct folded_run *part, struct folded_run *run)
{
    struct fault fault = {""};
    struct timeline *resumed = timeline_create(shorter->job->program);
    struct engine_job job = *attempt->job;
    job.program = shorter->job->program;
    job.hosts = shorter->job->hosts;
    job.timeline = resumed;
    job.resumes = true;
    drift_resume(drift, shorter->beats, part->timeline, shorter->more, resumed);
    bool ok = engine_analytic.run(&job, &fault);
    if (ok) {
        *run = (struct folded_run){create_whole(attempt, part->timeline), part->folding};
        drift_fill(drift, shorter->beats, part->timeline, resumed, shorter->more, run->timeline);
        attempt->steady->micro_batches = shorter->scenario->micro_batches;
    }
    timeline_destroy(resumed);
    return ok;
}

/* Whether the job's beats, so many as one, drift up to all that is left out and behind it. */
static bool drifts_by(const struct attempt *attempt, struct shorter *shorter, uint32_t beats, struct folded_run *part,
                      struct folded_run *run)
{
    struct drift drift;
    struct shorter joined = *shorter;
    joined.more = shorter->more / beats;
    if (beats > 1)
        joined.beats = extension_beats(attempt->job->program, shorter->job->program, joined.more, attempt->arena);
    return joined.beats && drift_find(joined.beats, part->timeline, attempt->arena, &drift) &&
           drift.holds >= joined.more && drift_over(attempt, &joined, &drift, part, run);
}

/* Where all that is left out lies before the first wait that changes its winner. */
static bool try_drift(struct attempt *attempt, double share, struct folded_run *run)
{
    uint32_t more = (uint32_t)(share * attempt->scenario->micro_batches / attempt->step);
    uint32_t multiple = more >= 60 ? 60 : more >= 12 ? 12 : 2;
    struct shorter shorter;
    struct folded_run part;
    make_shorter(attempt, more / multiple * multiple, &shorter);
    if (!shorter.job || !run_timed(attempt, &engine_analytic, &shorter, 0, &part))
        return false;
    bool ok = false;
    for (uint32_t beats = 1; beats <= DRIFT_BEATS_MAX && !ok; beats++)
        ok = shorter.more % beats == 0 && drifts_by(attempt, &shorter, beats, &part, run);
    timeline_destroy(part.timeline);
    return ok;
}

/* The fewer micro-batches are left out the longer times have to settle. */
static bool try_drifts(struct attempt *attempt, struct folded_run *run)
{
    const struct platform *platform = attempt->job->platform;
    if (attempt->engine != &engine_analytic || attempt->scenario->fold == FOLD_AUTO ||
        attempt->job->program->pipelined || platform->library.overlap_node > 0 || platform->library.overlap_network > 0)
        return false;
    return try_drift(attempt, 0.75, run) || try_drift(attempt, 0.35, run);
}

/* ---- whether at all ---- */

/* Micro-batches of one direction of a pipeline count on by one where two are added. */
static bool find_step(struct attempt *attempt)
{
    uint32_t least = extension_step(attempt->job->program), micro_batches = attempt->scenario->micro_batches;
    for (uint32_t factor = 1; least && factor <= 2; factor++) {
        struct shorter shorter;
        attempt->step = factor * least;
        if (micro_batches / 2 < attempt->step)
            break;
        make_shorter(attempt, micro_batches / 2 / attempt->step, &shorter);
        if (shorter.job)
            return true;
    }
    return false;
}

static bool may_be_shorter(struct attempt *attempt)
{
    const struct scenario *scenario = attempt->scenario;
    const struct program *program = attempt->job->program;
    if (scenario->steady == STEADY_OFF)
        return refuse(attempt->steady, "the scenario says steady: off");
    if (attempt->engine == &engine_analytic && scenario->fold == FOLD_AUTO)
        return refuse(attempt->steady, "the analytic engine evaluates one rank of each class in less time");
    if (!scenario->schedule || !scenario->micro_batches)
        return refuse(attempt->steady, "the job has no schedule that stagesim could make shorter");
    if (scenario->schedule->slices)
        return refuse(attempt->steady, "the schedule cuts micro-batches into slices");
    if (scenario->schedule->adapts)
        return refuse(attempt->steady, "the schedule makes an order for just so many micro-batches");
    if (program->uneven)
        return refuse(attempt->steady, "micro-batches do not take equal times");
    if (program->iterations > 1)
        return refuse(attempt->steady, "several iterations are run");
    if (attempt->job->platform->host_count && attempt->job->platform->hosts[0].varies)
        return refuse(attempt->steady, "the platform has profiles: speeds or bandwidths change over time");
    return find_step(attempt) || refuse(attempt->steady, "the order of the micro-batches does not repeat");
}

bool steady_run(const struct scenario *scenario, const struct engine *engine, const struct engine_job *job,
                struct arena *arena, struct folded_run *run, struct steady *steady, struct fault *fault)
{
    *steady = (struct steady){0};
    struct attempt attempt = {.scenario = scenario, .engine = engine, .job = job, .arena = arena, .steady = steady};
    bool extended = may_be_shorter(&attempt) && (try_all(&attempt, run) || try_drifts(&attempt, run));
    if (attempt.diag.trouble)
        return fault_set(fault, "%s: a file that it names cannot be read again", scenario->file);
    return extended || folded_run(engine, job, scenario->fold == FOLD_AUTO, arena, run, fault);
}
