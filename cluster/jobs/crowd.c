/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/jobs/crowd.h"

#include "base/arena.h"
#include "simulator/program/beats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Iterations of the slowest job in the first attempt; how many more in the next one. */
enum { FIRST_ITERATIONS = 8, MORE = 2 };
/* Shorter runs are tried while they take no more of the whole. */
static const double worthwhile = 0.5;
/* Operations of all ranks that are simulated, times these ranks, up to which groups that are alike have turns: some
 * seconds. */
static const double operations_times_ranks = 4e7;
/* Iterations of the slowest job after which others may come back to where they were. */
enum { TOGETHER_MAX = 12 };

struct attempt {
    const struct crowd_world *world;
    const struct job_run *const *wanted;
    uint32_t count;
    struct job_run *runs; /* built and simulated for `iterations` */
    uint32_t *iterations; /* [job] */
    double *pace;         /* [job]: seconds of an iteration */
    uint32_t turns_most;  /* see struct class_turns */
    double lasts;         /* seconds that the whole takes without contention, about */
    uint64_t spent;       /* operations */
    const char *unfolded; /* see struct crowd */
    bool even;
    struct fault *fault;
};

/* ---- one run ---- */

static const struct position *position_at(const struct timeline *timeline, uint32_t entry)
{
    return &timeline->program->positions[timeline->program->mesh->position_of[timeline->ranks[entry]]];
}

/* Builds and simulates the jobs with attempt->iterations. False with the fault filled or mistakes reported. */
static bool simulate(struct attempt *attempt)
{
    const struct crowd_world *world = attempt->world;
    attempt->runs = arena_array(world->arena, attempt->count, sizeof *attempt->runs);
    for (uint32_t i = 0; i < attempt->count; i++) {
        const struct job_run *wanted = attempt->wanted[i];
        struct job_run *run = &attempt->runs[i];
        if (attempt->iterations[i] == wanted->iterations)
            *run = *wanted;
        else if (!job_run_again(wanted, attempt->iterations[i], world->arena, world->diag, run))
            return false;
        run->timeline = NULL;
        run->lasts = attempt->lasts;
        attempt->spent += program_all_operations(run->job->program);
    }
    struct job_site site = {.whole = world->platform,
                            .engine = world->engine,
                            .rule = {world->fold, {.most = attempt->turns_most}},
                            .notes = world->notes};
    bool done = job_runs_simulate(attempt->runs, attempt->count, &site, attempt->fault);
    attempt->unfolded = site.reason[0] ? arena_copy(world->arena, site.reason) : NULL;
    attempt->even = site.rule.turns.even;
    return done;
}

static struct crowd *crowd_of(const struct attempt *attempt, const struct cycle *cycle, uint32_t repeats)
{
    struct arena *arena = attempt->world->arena;
    struct crowd *crowd = arena_alloc(arena, sizeof *crowd);
    *crowd = (struct crowd){.count = attempt->count,
                            .repeats = repeats,
                            .simulated = attempt->spent,
                            .unfolded = attempt->unfolded,
                            .even = attempt->even};
    crowd->jobs = arena_array(arena, attempt->count, sizeof *crowd->jobs);
    if (repeats)
        crowd->cycle = *cycle;
    for (uint32_t i = 0; i < attempt->count; i++) {
        struct crowd_job *job = &crowd->jobs[i];
        job->run = attempt->runs[i];
        job->ends = job_run_ends(&job->run, arena);
        job->duration = job->ends[job->run.iterations - 1] + repeats * crowd->cycle.length;
        job->left_out = job->run.described->iterations - job->run.iterations;
    }
    return crowd;
}

void crowd_finish(struct crowd *crowd)
{
    for (uint32_t i = 0; crowd && i < crowd->count; i++)
        job_runs_finish(&crowd->jobs[i].run, 1);
}

/* ---- a state that comes back ---- */

/* How many iterations of each job there are in `rounds` of the slowest one; false where they do not fit. */
static bool beats_in(const struct attempt *attempt, uint32_t rounds, uint32_t *beats)
{
    double slowest = 0;
    for (uint32_t i = 0; i < attempt->count; i++)
        slowest = fmax(slowest, attempt->pace[i]);
    for (uint32_t i = 0; i < attempt->count; i++) {
        double number = rounds * slowest / attempt->pace[i];
        beats[i] = (uint32_t)round(number);
        if (!beats[i] || fabs(number - beats[i]) > 0.02 * rounds)
            return false;
    }
    return true;
}

/* The lists of a job, in the time of all. */
static size_t list_job(const struct job_run *run, uint32_t beat, struct cycle_list *lists, struct arena *arena)
{
    size_t count = 0;
    const struct beats *beats = beats_of_iterations(run->job->program, arena);
    for (uint32_t entry = 0; beats && entry < run->timeline->rank_count; entry++) {
        const struct position *position = position_at(run->timeline, entry);
        struct moment *moments = arena_array(arena, position->operation_count + (size_t)1, sizeof *moments);
        for (uint32_t id = 0; id < position->operation_count; id++) {
            const struct moment *moment = &run->timeline->moments[entry][id];
            moments[id] =
                (struct moment){moment->start + run->start, moment->data_start + run->start, moment->end + run->start};
        }
        const struct stream_beat *streams =
            beats->streams[run->job->program->mesh->position_of[run->timeline->ranks[entry]]];
        for (uint32_t i = 0; i < position->stream_count; i++)
            lists[count++] = (struct cycle_list){.moments = moments + position->streams[i].first,
                                                 .count = position->streams[i].count,
                                                 .beat = beat * streams[i].length,
                                                 .from = streams[i].from,
                                                 .to = streams[i].to,
                                                 .passive = position->streams[i].type == OPERATION_RECEIVE};
    }
    return count;
}

static size_t count_lists(const struct job_run *run)
{
    size_t count = 0;
    for (uint32_t entry = 0; entry < run->timeline->rank_count; entry++)
        count += position_at(run->timeline, entry)->stream_count;
    return count;
}

/* Fills beats[job], iterations of each job in a beat of the cycle. */
static bool find_cycle(const struct attempt *attempt, struct cycle *cycle, uint32_t *beats)
{
    bool found = false;
    struct arena *arena = arena_create();
    size_t total = 0;
    for (uint32_t i = 0; i < attempt->count; i++)
        total += count_lists(&attempt->runs[i]);
    struct cycle_list *lists = arena_array(arena, total + 1, sizeof *lists);
    for (uint32_t rounds = 1; rounds <= TOGETHER_MAX && !found; rounds++) {
        size_t count = 0;
        if (!beats_in(attempt, rounds, beats))
            continue;
        bool repeats = true;
        for (uint32_t i = 0; i < attempt->count && repeats; i++) {
            size_t added = list_job(&attempt->runs[i], beats[i], lists + count, arena);
            repeats = added > 0;
            count += added;
        }
        found = repeats && cycle_find(lists, count, attempt->world->engine->rounding, cycle);
    }
    arena_destroy(arena);
    return found;
}

/* ---- whether it lasts ---- */

/* Differences between cycles that follow each other, the newest last. */
enum { DIFFERENCES = 4 };
/* How much each of them is larger than the one before where a state does not last. */
static const double growth = 1.2;

/* When the operation of that place in its stream ended, so many cycles before the newest that is looked at; NaN: there
 * is none. */
static double end_before(const struct job_run *run, uint32_t entry, const struct stream *stream, uint32_t place,
                         uint64_t cycle, uint32_t back)
{
    uint64_t behind = back * cycle;
    return place < behind ? NAN : run->timeline->moments[entry][stream->first + place - behind].end;
}

/* Differences of one job: how much the times of a cycle, counted from the end of the first job's, are others than
 * those of the cycle before. */
static bool find_differences(const struct job_run *run, uint32_t step, const double *reference, double *differences,
                             struct arena *arena)
{
    const struct beats *beats = beats_of_iterations(run->job->program, arena);
    for (uint32_t entry = 0; entry < run->timeline->rank_count; entry++) {
        const struct position *position = position_at(run->timeline, entry);
        const struct stream_beat *streams =
            beats->streams[run->job->program->mesh->position_of[run->timeline->ranks[entry]]];
        for (uint32_t i = 0; i < position->stream_count; i++) {
            const struct stream *stream = &position->streams[i];
            uint64_t cycle = (uint64_t)step * streams[i].length;
            if (!cycle || stream->count < streams[i].length)
                continue;
            uint32_t last = stream->count - streams[i].length; /* the last iteration may be another one */
            for (uint32_t place = last > cycle ? last - (uint32_t)cycle : 0; place < last; place++)
                for (uint32_t back = 0; back < DIFFERENCES; back++) {
                    double newer = end_before(run, entry, stream, place, cycle, back),
                           older = end_before(run, entry, stream, place, cycle, back + 1);
                    if (isnan(older))
                        return false;
                    differences[back] =
                        fmax(differences[back], fabs(newer - older - (reference[back] - reference[back + 1])));
                }
        }
    }
    return true;
}

/* A state in which a small difference grows is left sooner or later, for roundings make one: jobs that begin together
 * and drive each other apart. Then the cycle is none. False also where there are too few cycles to see that. */
static bool lasts(const struct attempt *attempt, const struct cycle *cycle, const uint32_t *beats)
{
    struct arena *arena = arena_create();
    double differences[DIFFERENCES] = {0}, reference[DIFFERENCES + 1];
    const double *ends = job_run_ends(&attempt->runs[0], arena);
    uint32_t step = cycle->beats * beats[0], last = attempt->runs[0].iterations;
    bool enough = last >= 2 + DIFFERENCES * step;
    for (uint32_t back = 0; back <= DIFFERENCES && enough; back++)
        reference[back] = ends[last - 2 - back * step];
    for (uint32_t i = 0; i < attempt->count && enough; i++)
        enough = find_differences(&attempt->runs[i], cycle->beats * beats[i], reference, differences, arena);
    bool grows = true;
    for (uint32_t back = 0; back + 1 < DIFFERENCES; back++)
        grows &= differences[back] > growth * differences[back + 1];
    arena_destroy(arena);
    return enough && !grows;
}

/* ---- shorter runs ---- */

/* Iterations of each job so that all take about as long as `slowest` iterations of the slowest. False: that is not
 * worth it. */
static bool choose(struct attempt *attempt, uint32_t slowest)
{
    double longest = 0, whole = 0, part = 0;
    for (uint32_t i = 0; i < attempt->count; i++)
        longest = fmax(longest, attempt->pace[i]);
    for (uint32_t i = 0; i < attempt->count; i++) {
        double missed = attempt->wanted[i]->start / attempt->pace[i]; /* others wait for those that start late */
        double number = ceil(slowest * longest / attempt->pace[i]);
        for (uint32_t k = 0; k < attempt->count; k++)
            missed = fmax(missed, attempt->wanted[k]->start / attempt->pace[i]);
        missed = fmax(missed - attempt->wanted[i]->start / attempt->pace[i], 0);
        uint32_t all = attempt->wanted[i]->described->iterations;
        attempt->iterations[i] = number + missed < all ? (uint32_t)(number + missed) : all;
        whole += all * (double)attempt->wanted[i]->part->host_count;
        part += attempt->iterations[i] * (double)attempt->wanted[i]->part->host_count;
    }
    return part <= worthwhile * whole;
}

/* How often the cycle can be left out of the whole, and how many iterations are left then. False: not once. */
static uint32_t cut(struct attempt *attempt, const struct cycle *cycle, const uint32_t *beats)
{
    uint32_t repeats = UINT32_MAX;
    for (uint32_t i = 0; i < attempt->count; i++) {
        uint32_t more = attempt->wanted[i]->described->iterations - attempt->iterations[i];
        uint32_t times = more / (cycle->beats * beats[i]);
        repeats = times < repeats ? times : repeats;
    }
    for (uint32_t i = 0; i < attempt->count; i++)
        attempt->iterations[i] = attempt->wanted[i]->described->iterations - repeats * cycle->beats * beats[i];
    return repeats;
}

/* Mean iterations of the second half, in which all have found their pace. */
static void measure_pace(struct attempt *attempt)
{
    struct arena *arena = arena_create();
    for (uint32_t i = 0; i < attempt->count; i++) {
        const struct job_run *run = &attempt->runs[i];
        const double *ends = job_run_ends(run, arena);
        uint32_t half = run->iterations / 2, last = run->iterations - 1;
        if (last > half && ends[last] > ends[half])
            attempt->pace[i] = (ends[last] - ends[half]) / (last - half);
    }
    arena_destroy(arena);
}

/* The crowd by way of a shorter one, from a run of attempt->iterations; NULL where that does not come to a state
 * again, or the shorter one does not. */
static struct crowd *extend(struct attempt *attempt)
{
    struct cycle cycle;
    uint32_t *beats = arena_array(attempt->world->arena, attempt->count, sizeof *beats);
    uint32_t *before = arena_array(attempt->world->arena, attempt->count, sizeof *before);
    measure_pace(attempt);
    if (!find_cycle(attempt, &cycle, beats) || !lasts(attempt, &cycle, beats))
        return NULL;
    memcpy(before, attempt->iterations, attempt->count * sizeof *before);
    uint32_t repeats = cut(attempt, &cycle, beats);
    bool same = !memcmp(before, attempt->iterations, attempt->count * sizeof *before);
    if (!repeats)
        return NULL;
    if (!same) {
        uint32_t period = cycle.beats, *again = arena_array(attempt->world->arena, attempt->count, sizeof *again);
        job_runs_finish(attempt->runs, attempt->count);
        if (!simulate(attempt) || !find_cycle(attempt, &cycle, again) || cycle.beats != period ||
            !lasts(attempt, &cycle, again) || memcmp(beats, again, attempt->count * sizeof *beats) != 0)
            return NULL;
    }
    return crowd_of(attempt, &cycle, repeats);
}

static struct crowd *try_shorter(struct attempt *attempt)
{
    for (uint32_t slowest = FIRST_ITERATIONS; choose(attempt, slowest); slowest *= MORE) {
        struct crowd *crowd = simulate(attempt) ? extend(attempt) : NULL;
        if (crowd)
            return crowd;
        if (attempt->fault->text[0] || attempt->world->diag->errors)
            return NULL;
        job_runs_finish(attempt->runs, attempt->count);
    }
    return NULL;
}

/* ---- all ---- */

/* Ranks that may be simulated with turns: what that costs goes at least with the square of how many they are. */
static uint32_t find_turns_most(const struct crowd_world *world, const struct job_run *const *runs, uint32_t count)
{
    double operations = 0, ranks = 0;
    if (world->leads != LEADS_AUTO)
        return world->leads == LEADS_EVEN ? 0 : CLASS_TURNS_ALL;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t all = runs[i]->described->iterations;
        double share = all < FIRST_ITERATIONS ? 1 : (double)FIRST_ITERATIONS / all;
        operations += share * (double)program_all_operations(runs[i]->job->program) * all / runs[i]->iterations;
        ranks += runs[i]->part->host_count;
    }
    return (uint32_t)ceil(sqrt(operations_times_ranks * ranks / operations));
}

static bool may_extend(const struct crowd_world *world)
{
    return world->steady && !(world->platform->host_count && world->platform->hosts[0].varies);
}

/* What an iteration takes about: of a few without contention. */
static bool estimate_pace(struct attempt *attempt)
{
    enum { FEW = 3 };
    const struct crowd_world *world = attempt->world;
    struct job_site site = {.whole = world->platform, .engine = &engine_analytic};
    for (uint32_t i = 0; i < attempt->count; i++) {
        struct job_run run;
        struct arena *arena = arena_create();
        bool ok = job_run_again(attempt->wanted[i], FEW, arena, world->diag, &run) &&
                  job_runs_simulate(&run, 1, &site, attempt->fault);
        if (ok) {
            const double *ends = job_run_ends(&run, arena);
            attempt->pace[i] = fmax(ends[FEW - 1] - ends[0], 1e-12) / (FEW - 1);
            job_runs_finish(&run, 1);
        }
        arena_destroy(arena);
        if (!ok)
            return false;
    }
    for (uint32_t i = 0; i < attempt->count; i++)
        attempt->lasts = fmax(attempt->lasts, attempt->pace[i] * attempt->wanted[i]->described->iterations);
    return true;
}

struct crowd *crowd_simulate(const struct crowd_world *world, const struct job_run *const *runs, uint32_t count,
                             struct fault *fault)
{
    struct attempt attempt = {.world = world, .wanted = runs, .count = count, .fault = fault};
    unsigned errors = world->diag->errors;
    attempt.turns_most = find_turns_most(world, runs, count);
    attempt.iterations = arena_array(world->arena, count, sizeof *attempt.iterations);
    attempt.pace = arena_array(world->arena, count, sizeof *attempt.pace);
    struct crowd *crowd = NULL;
    if (may_extend(world) && estimate_pace(&attempt))
        crowd = try_shorter(&attempt);
    if (crowd || fault->text[0] || world->diag->errors > errors)
        return crowd;
    for (uint32_t i = 0; i < count; i++)
        attempt.iterations[i] = runs[i]->described->iterations;
    return simulate(&attempt) ? crowd_of(&attempt, NULL, 0) : NULL;
}
