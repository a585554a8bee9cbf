/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/jobs/jobs_figures.h"

#include "base/arena.h"
#include "cluster/jobs/components.h"
#include "studies/describe.h"

#include <math.h>
#include <stdlib.h>

/* A crowd that was simulated, for others that are alike. */
struct known_crowd {
    struct likeness likeness;
    struct crowd *crowd;
    uint32_t first; /* job of the cluster */
};

struct finding {
    const struct jobs *jobs;
    const struct crowd_world *world;
    struct job_run *runs; /* [job]: built for all iterations */
    struct known_crowd *known;
    size_t known_count, capacity;
    struct jobs_figures *figures;
    struct fault *fault;
};

/* ---- crowds ---- */

/* The crowd of some jobs, or of others that are alike. Starts count from the earliest. */
static const struct known_crowd *find_crowd(struct finding *finding, const uint32_t *members, uint32_t count)
{
    struct arena *arena = finding->world->arena;
    const struct job_run **runs = arena_array(arena, count, sizeof(struct job_run *));
    struct job_run *copies = arena_array(arena, count, sizeof *copies);
    double earliest = INFINITY;
    for (uint32_t i = 0; i < count; i++)
        earliest = fmin(earliest, finding->runs[members[i]].start);
    for (uint32_t i = 0; i < count; i++) {
        copies[i] = finding->runs[members[i]];
        copies[i].start -= earliest;
        runs[i] = &copies[i];
    }
    struct known_crowd found = {likeness_of(runs, count, finding->world->platform), NULL, members[0]};
    for (size_t i = 0; i < finding->known_count; i++)
        if (likeness_equal(&finding->known[i].likeness, &found.likeness)) {
            free(found.likeness.values);
            return &finding->known[i];
        }
    found.crowd = crowd_simulate(finding->world, runs, count, finding->fault);
    finding->figures->runs++;
    finding->known = array_grow(finding->known, &finding->capacity, finding->known_count + 1, sizeof *finding->known);
    finding->known[finding->known_count++] = found;
    return found.crowd ? &finding->known[finding->known_count - 1] : NULL;
}

/* ---- together ---- */

/* The times of a run that is alike are those of this one. */
static struct timeline *borrow(const struct timeline *timeline, const struct program *program, struct arena *arena)
{
    struct timeline *copy = arena_alloc(arena, sizeof *copy);
    *copy = *timeline;
    copy->program = program;
    return copy;
}

static void measure_iterations(struct job_figures *job)
{
    job->shortest = INFINITY;
    job->longest = 0;
    for (uint32_t i = 0; i < job->run.iterations; i++) {
        double iteration = job->ends[i] - (i ? job->ends[i - 1] : 0);
        job->shortest = fmin(job->shortest, iteration);
        job->longest = fmax(job->longest, iteration);
    }
}

/* The program of the crowd's run on the hosts of this one: alike, but for where it is. */
static bool take(struct finding *finding, const uint32_t *members, const struct known_crowd *known, uint32_t member)
{
    uint32_t index = members[member];
    struct arena *arena = finding->world->arena;
    struct job_figures *job = &finding->figures->jobs[index];
    const struct crowd_job *simulated = &known->crowd->jobs[member];
    const struct job_run *wanted = &finding->runs[index];
    job->run = *wanted;
    if (wanted->iterations != simulated->run.iterations &&
        !job_run_again(wanted, simulated->run.iterations, arena, finding->world->diag, &job->run))
        return false;
    job->run.timeline = borrow(simulated->run.timeline, job->run.job->program, arena);
    job->ends = simulated->ends;
    job->left_out = simulated->left_out;
    job->iterations = wanted->described->iterations;
    job->duration = simulated->duration;
    job->together = job->duration / job->iterations;
    job->like = known->first;
    bool own = known->first == members[0] && !simulated->run.like;
    job->ranks = own ? job->run.timeline->rank_count : 0;
    job->cycle = known->crowd->cycle;
    job->cycle.start += wanted->start - simulated->run.start;
    job->repeats = known->crowd->repeats;
    measure_iterations(job);
    return true;
}

/* The jobs of a set, which has the number of its first one. */
static uint32_t list_members(const uint32_t *component, uint32_t count, uint32_t first, uint32_t *members)
{
    uint32_t size = 0;
    for (uint32_t i = first; i < count; i++)
        if (component[i] == first)
            members[size++] = i;
    return size;
}

static bool find_set(struct finding *finding, uint32_t first, const uint32_t *members, uint32_t size,
                     const struct crowd **crowd)
{
    struct jobs_figures *figures = finding->figures;
    uint32_t runs = figures->runs;
    const struct known_crowd *known = find_crowd(finding, members, size);
    if (!known)
        return false;
    figures->components++;
    figures->simulated_components += figures->runs - runs;
    for (uint32_t i = 0; i < size; i++) {
        if (!take(finding, members, known, i))
            return false;
        figures->jobs[members[i]].component = first;
        figures->even_ranks += known->crowd->even ? figures->jobs[members[i]].ranks : 0;
    }
    if (known->crowd->unfolded)
        figures->unfolded = known->crowd->unfolded;
    *crowd = known->crowd;
    return true;
}

static bool find_together(struct finding *finding, const struct job_link_sets *sets, const uint32_t *component)
{
    uint32_t count = finding->jobs->count, largest = 1, even = count; /* the largest set in which nobody gets ahead */
    uint32_t *members = arena_array(finding->world->arena, count, sizeof *members);
    for (uint32_t first = 0; first < count; first++) {
        const struct crowd *crowd = NULL;
        uint32_t size = list_members(component, count, first, members);
        if (size && !find_set(finding, first, members, size, &crowd))
            return false;
        if (size > largest && crowd->even) {
            largest = size;
            even = first;
        }
    }
    return even == count || finding->world->leads != LEADS_AUTO ||
           leads_error_find(finding->world, finding->runs, sets, members, list_members(component, count, even, members),
                            &finding->figures->leads_error, finding->fault);
}

/* ---- alone, and in pairs ---- */

static bool find_alone(struct finding *finding)
{
    for (uint32_t i = 0; i < finding->jobs->count; i++) {
        const struct known_crowd *known = find_crowd(finding, &i, 1);
        if (!known)
            return false;
        struct job_figures *job = &finding->figures->jobs[i];
        job->alone = known->crowd->jobs[0].duration / job->iterations;
        job->left_out_alone = known->crowd->jobs[0].left_out;
    }
    return true;
}

static bool find_pairs(struct finding *finding, const struct job_link_sets *sets)
{
    uint32_t count = finding->jobs->count;
    double *slow = arena_array(finding->world->arena, (size_t)count * count, sizeof *slow);
    finding->figures->slow = slow;
    for (uint32_t a = 0; a < count; a++)
        slow[(size_t)a * count + a] = 1;
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a + 1; b < count; b++) {
            slow[(size_t)a * count + b] = slow[(size_t)b * count + a] = 1;
            if (!job_links_meet(sets, a, b))
                continue;
            const struct known_crowd *known = find_crowd(finding, (const uint32_t[]){a, b}, 2);
            if (!known)
                return false;
            const struct crowd_job *pair = known->crowd->jobs;
            const struct job_figures *jobs = finding->figures->jobs;
            slow[(size_t)a * count + b] = pair[0].duration / jobs[a].iterations / jobs[a].alone;
            slow[(size_t)b * count + a] = pair[1].duration / jobs[b].iterations / jobs[b].alone;
        }
    return true;
}

/* ---- all ---- */

static bool build(struct finding *finding, uint32_t *const *hosts)
{
    const struct crowd_world *world = finding->world;
    finding->runs = arena_array(world->arena, finding->jobs->count, sizeof *finding->runs);
    for (uint32_t i = 0; i < finding->jobs->count; i++)
        if (!job_run_create(&finding->jobs->items[i], world->platform, hosts[i], finding->jobs->items[i].iterations,
                            world->arena, world->diag, &finding->runs[i]))
            return false;
    return true;
}

static void report_all(struct finding *finding)
{
    struct jobs_figures *figures = finding->figures;
    for (uint32_t i = 0; i < figures->count; i++) {
        struct job_figures *job = &figures->jobs[i];
        struct run_description description;
        job_describe(job->run.job, &description);
        description.engine = finding->world->engine->name;
        job->report = report_create(&description, job->run.timeline, job->run.part, finding->world->arena);
        figures->makespan = fmax(figures->makespan, job->run.start + job->duration);
        figures->ranks += job->run.part->host_count;
        figures->simulated_ranks += job->ranks;
    }
}

static bool find_all(struct finding *finding, uint32_t *const *hosts)
{
    struct arena *arena = finding->world->arena;
    uint32_t count = finding->jobs->count;
    if (!build(finding, hosts))
        return false;
    struct job_link_sets sets = job_link_sets_create(finding->runs, count, finding->world->platform, arena);
    uint32_t *component = components_find(&sets, count, arena);
    for (uint32_t i = 0; i < count && !finding->world->steady; i++)
        component[i] = 0;
    if (!find_together(finding, &sets, component) || !find_alone(finding) ||
        (finding->jobs->interference && !find_pairs(finding, &sets)))
        return false;
    report_all(finding);
    jobs_links_find(finding->figures, finding->world->platform, arena);
    return true;
}

struct jobs_figures *jobs_figures_create(const struct jobs *jobs, uint32_t *const *hosts,
                                         const struct crowd_world *world, struct fault *fault)
{
    struct jobs_figures *figures = arena_alloc(world->arena, sizeof *figures);
    figures->count = jobs->count;
    figures->jobs = arena_array(world->arena, jobs->count, sizeof *figures->jobs);
    struct finding finding = {.jobs = jobs, .world = world, .figures = figures, .fault = fault};
    bool ok = find_all(&finding, hosts);
    for (size_t i = 0; i < finding.known_count; i++)
        free(finding.known[i].likeness.values);
    figures->crowds = arena_array(world->arena, finding.known_count + 1, sizeof(struct crowd *));
    for (size_t i = 0; i < finding.known_count; i++)
        figures->crowds[figures->crowd_count++] = finding.known[i].crowd;
    free(finding.known);
    if (ok)
        return figures;
    jobs_figures_finish(figures);
    return NULL;
}

void jobs_figures_finish(struct jobs_figures *figures)
{
    for (uint32_t i = 0; i < figures->crowd_count; i++)
        crowd_finish(figures->crowds[i]);
}
