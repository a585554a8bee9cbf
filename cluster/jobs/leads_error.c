/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/jobs/leads_error.h"

#include "base/arena.h"
#include "cluster/jobs/job_links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ranks that are simulated with turns for this: some seconds. Two jobs may have more, up to RANKS_TWO. */
enum { RANKS_MOST = 512, RANKS_TWO = 768, ITERATIONS_MOST = 2 };

struct sample {
    const struct crowd_world *world;
    const struct job_run *runs;
    const uint32_t *members;
    uint32_t *chosen; /* members that were */
    uint32_t count, chosen_count, ranks;
    struct arena *arena;
};

/* ---- which jobs ---- */

static uint32_t links_in_common(const uint64_t *a, const uint64_t *b, size_t words)
{
    uint32_t count = 0;
    for (size_t i = 0; i < words; i++)
        count += (uint32_t)__builtin_popcountll(a[i] & b[i]);
    return count;
}

static void take(struct sample *sample, const struct job_link_sets *sets, uint64_t *links, uint32_t member)
{
    uint32_t job = sample->members[member];
    sample->chosen[sample->chosen_count++] = job;
    sample->ranks += sample->runs[job].part->host_count;
    for (size_t i = 0; i < sets->words; i++)
        links[i] |= sets->sets[job][i];
}

/* The first job, and again and again the one that shares most links with those that were chosen. */
static void choose(struct sample *sample, const struct job_link_sets *sets)
{
    uint64_t *links = arena_array(sample->arena, sets->words, sizeof *links);
    bool *taken = arena_array(sample->arena, sample->count, sizeof *taken);
    for (uint32_t next = 0; next < sample->count;) {
        uint32_t most = 0;
        taken[next] = true;
        take(sample, sets, links, next);
        next = sample->count;
        for (uint32_t i = 0; i < sample->count; i++) {
            const struct job_run *run = &sample->runs[sample->members[i]];
            uint32_t limit = sample->chosen_count < 2 ? RANKS_TWO : RANKS_MOST;
            if (taken[i] || sample->ranks + run->part->host_count > limit)
                continue;
            uint32_t common = links_in_common(links, sets->sets[sample->members[i]], sets->words);
            if (common > most) {
                most = common;
                next = i;
            }
        }
    }
}

/* ---- on which links ---- */

/* flows: [link] */
static void count_use(void *flows, const struct link_use *use)
{
    for (uint32_t i = 0; i < use->route->link_count; i++)
        ((double *)flows)[use->route->links[i]]++;
}

static double *count_flows(const struct sample *sample, const uint32_t *jobs, uint32_t count)
{
    struct platform *whole = sample->world->platform;
    double *flows = arena_array(sample->arena, whole->link_count + (size_t)1, sizeof *flows);
    for (uint32_t i = 0; i < count; i++) {
        struct job_run run = sample->runs[jobs[i]];
        run.timeline = NULL;
        job_links_visit(&run, whole, count_use, flows);
    }
    return flows;
}

static struct platform cut_links(const struct sample *sample)
{
    const struct platform *whole = sample->world->platform;
    const double *own = count_flows(sample, sample->chosen, sample->chosen_count);
    const double *all = count_flows(sample, sample->members, sample->count);
    struct platform cut = *whole;
    cut.links = arena_array(sample->arena, whole->link_count + (size_t)1, sizeof *cut.links);
    memcpy(cut.links, whole->links, whole->link_count * sizeof *cut.links);
    for (uint32_t i = 0; i < cut.link_count; i++)
        if (own[i] > 0 && own[i] < all[i] && link_is_shared(&cut.links[i]))
            cut.links[i].bandwidth *= own[i] / all[i];
    return cut;
}

/* ---- both ways ---- */

/* [chosen]: when each job has ended. NULL with the fault filled. */
static double *simulate(const struct sample *sample, struct platform *cut, struct job_run *runs, uint32_t turns_most,
                        struct fault *fault)
{
    struct job_site site = {.whole = cut, .engine = sample->world->engine, .rule = {true, {.most = turns_most}}};
    double *ends = arena_array(sample->arena, sample->chosen_count, sizeof *ends);
    if (!job_runs_simulate(runs, sample->chosen_count, &site, fault))
        return NULL;
    for (uint32_t i = 0; i < sample->chosen_count; i++)
        ends[i] = job_run_ends(&runs[i], sample->arena)[runs[i].iterations - 1];
    job_runs_finish(runs, sample->chosen_count);
    return ends;
}

static bool compare(const struct sample *sample, struct leads_error *error, struct fault *fault)
{
    struct platform cut = cut_links(sample);
    struct job_run *runs = arena_array(sample->arena, sample->chosen_count, sizeof *runs);
    for (uint32_t i = 0; i < sample->chosen_count; i++) {
        const struct job_run *run = &sample->runs[sample->chosen[i]];
        uint32_t iterations =
            run->described->iterations < ITERATIONS_MOST ? run->described->iterations : ITERATIONS_MOST;
        if (!job_run_again(run, iterations, sample->arena, sample->world->diag, &runs[i]))
            return false;
        runs[i].start = 0; /* with so few iterations those that begin later would be alone */
    }
    const double *exact = simulate(sample, &cut, runs, CLASS_TURNS_ALL, fault);
    const double *even = exact ? simulate(sample, &cut, runs, 0, fault) : NULL;
    for (uint32_t i = 0; even && i < sample->chosen_count; i++) {
        double off = fabs(even[i] / exact[i] - 1);
        error->mean += off / sample->chosen_count;
        error->most = fmax(error->most, off);
    }
    error->jobs = sample->chosen_count;
    return even;
}

bool leads_error_find(const struct crowd_world *world, const struct job_run *runs, const struct job_link_sets *sets,
                      const uint32_t *members, uint32_t count, struct leads_error *error, struct fault *fault)
{
    struct arena *arena = arena_create();
    struct sample sample = {.world = world,
                            .runs = runs,
                            .members = members,
                            .chosen = arena_array(arena, count, sizeof *sample.chosen),
                            .count = count,
                            .arena = arena};
    *error = (struct leads_error){0};
    choose(&sample, sets);
    bool ok = sample.chosen_count < 2 || compare(&sample, error, fault);
    arena_destroy(arena);
    return ok;
}
