/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated are: what is written alone, what is loaded alone, and what is written while the job goes through so many
 * iterations that all of it is there before their end; the same iterations without it. */
#include "studies/calendar/checkpoint_traffic.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "base/isolate.h"
#include "base/process/guard.h"
#include "job/job.h"
#include "platforms/storage.h"
#include "simulator/engines/engine.h"
#include "studies/calendar/checkpoint_program.h"

#include <math.h>
#include <string.h>

/* Every rank is simulated: none stands for another one. */
enum { RANKS_SIMULATED = 4096 };
/* Iterations beside which all of a state is written; of a longer one an equal share of each part is, and the rest takes
 * as long in proportion. And those after which what is still not there is given up. */
enum { ITERATIONS_BESIDE = 8, ITERATIONS_MOST = 64 };

struct search {
    const struct scenario *scenario;
    struct platform *platform, *whole; /* whole: with the storage's own links */
    struct checkpoint_places places;
    struct diag *diag;
    struct arena *arena;
};

/* One simulation: the job for some iterations, 0: without it; and bytes of each rank, 0: without them. */
struct trial {
    const struct search *search;
    uint32_t iterations;
    enum checkpoint_direction direction;
    double bytes;
};

struct ends {
    double job, traffic; /* seconds; 0: was not there */
};

/* ---- one simulation ---- */

static double end_of(const struct timeline *timeline)
{
    double end = 0;
    for (uint32_t entry = 0; entry < timeline->rank_count; entry++) {
        uint32_t position = timeline->program->mesh->position_of[timeline->ranks[entry]];
        for (uint32_t id = 0; id < timeline->program->positions[position].operation_count; id++)
            end = fmax(end, timeline->moments[entry][id].end);
    }
    return end;
}

static const struct job *build(const struct search *search, uint32_t iterations, struct diag *diag)
{
    struct scenario *longer = arena_alloc(search->arena, sizeof *longer);
    *longer = *search->scenario;
    longer->iterations = iterations;
    longer->settled = false;
    return job_create_steady(longer, search->platform, search->arena, diag);
}

/* In a process of its own. */
static int simulate_trial(void *user, struct isolated *self)
{
    const struct trial *trial = user;
    const struct search *search = trial->search;
    struct diag silent = {0};
    struct fault fault = {""};
    struct ends ends = {0};
    struct engine_job parts[2];
    uint32_t count = 0;
    if (trial->iterations) {
        const struct job *job = build(search, trial->iterations, &silent);
        if (!job)
            return EXIT_BAD_INPUT;
        parts[count++] = (struct engine_job){.program = job->program, .hosts = job->hosts};
    }
    if (trial->bytes > 0) {
        struct checkpoint_program *made =
            checkpoint_program_create(&search->places, trial->direction, trial->bytes, search->arena);
        parts[count++] = (struct engine_job){.program = made->program, .hosts = made->hosts};
    }
    for (uint32_t i = 0; i < count; i++) {
        parts[i].platform = search->whole;
        parts[i].timeline = timeline_create(parts[i].program);
        timeline_note_latencies(parts[i].timeline, search->whole, parts[i].hosts);
        parts[i].beside = i + 1 < count ? &parts[i + 1] : NULL;
    }
    bool ok = engine_simgrid.run(parts, &fault);
    if (ok && trial->iterations)
        ends.job = end_of(parts[0].timeline);
    if (ok && trial->bytes > 0)
        ends.traffic = end_of(parts[count - 1].timeline);
    if (!ok)
        diag_print(self->console, "stagesim: %s\n", fault.text);
    fwrite(&ends, sizeof ends, 1, self->results);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

static bool try(const struct trial *trial, struct ends *ends, struct fault *fault)
{
    if (isolate_value(simulate_trial, (void *)(uintptr_t)trial, ends, sizeof *ends, fault))
        return true;
    return fault->text[0] ? false : fault_set(fault, "the traffic of checkpoints could not be simulated");
}

/* ---- beside the job ---- */

/* How long the bytes of each rank take to be written while the job goes on, and how much longer the job takes. */
static bool find_beside(const struct search *search, enum checkpoint_direction direction, double bytes, double alone,
                        double iteration, double *write, double *slowed, struct fault *fault)
{
    double parts = fmax(1, alone / (ITERATIONS_BESIDE * iteration));
    uint32_t iterations = (uint32_t)ceil(alone / parts / iteration) + 1;
    struct ends with = {0}, without = {0};
    for (;; iterations *= 2) {
        struct trial trial = {search, iterations, direction, bytes / parts};
        if (!try(&trial, &with, fault))
            return false;
        if (with.traffic <= with.job)
            break;
        if (iterations >= ITERATIONS_MOST)
            return fault_set(fault,
                             "the job leaves a checkpoint so little of the links that it is not written in %u "
                             "iterations",
                             iterations);
    }
    struct trial trial = {search, iterations, direction, 0};
    if (!try(&trial, &without, fault))
        return false;
    *write = parts * with.traffic;
    *slowed = parts * fmax(0, with.job - without.job);
    return true;
}

static bool find_all(const struct search *search, double state, struct training_traffic *traffic, struct fault *fault)
{
    unsigned way = search->scenario->training.way;
    double bytes = state / search->places.ranks;
    struct ends one = {0}, write = {0}, near = {0}, load = {0};
    bool near_asked = way == CHECKPOINT_MEMORY;
    if (!try(&(struct trial){search, 1, CHECKPOINT_WRITES, 0}, &one, fault) ||
        !try(&(struct trial){search, 0, CHECKPOINT_WRITES, bytes}, &write, fault) ||
        !try(&(struct trial){search, 0, CHECKPOINT_LOADS, bytes}, &load, fault) ||
        (near_asked && !try(&(struct trial){search, 0, CHECKPOINT_COPIES, bytes}, &near, fault)))
        return false;
    *traffic = (struct training_traffic){.known = true, .write = write.traffic, .load = load.traffic};
    if (way == CHECKPOINT_BLOCKING)
        return true;
    if (near_asked && !find_beside(search, CHECKPOINT_COPIES, bytes, near.traffic, one.job, &traffic->write_near,
                                   &traffic->slowed_near, fault))
        return false;
    return find_beside(search, CHECKPOINT_WRITES, bytes, write.traffic, one.job, &traffic->write, &traffic->slowed,
                       fault);
}

/* ---- all ---- */

static int refuse(const struct search *search, const char *key, const struct fault *fault)
{
    diag_error(search->diag, scenario_place(search->scenario, key), "%s", fault->text);
    return EXIT_BAD_INPUT;
}

static bool allow(const struct search *search, struct fault *fault)
{
    const struct platform *platform = search->platform;
    if (platform->loader && !strcmp(platform->loader, "simgrid"))
        return fault_set(fault,
                         "traffic: simulated needs a platform that stagesim reads itself; %s. Expected another "
                         "platform, or traffic: apart",
                         platform->loader_reason ? platform->loader_reason : "SimGrid has read this one");
    if (search->scenario->mesh.ranks > RANKS_SIMULATED)
        return fault_set(fault,
                         "traffic: simulated simulates each rank; expected at most %d ranks, or traffic: apart, but "
                         "these are %u",
                         RANKS_SIMULATED, search->scenario->mesh.ranks);
    return true;
}

static int find(struct search *search, double bytes, struct training_traffic *traffic)
{
    struct fault fault = {""};
    const struct training_settings *settings = &search->scenario->training;
    if (!allow(search, &fault))
        return refuse(search, "checkpoint.traffic", &fault);
    const struct job *job = build(search, 1, search->diag);
    if (!job)
        return EXIT_BAD_INPUT;
    if (!checkpoint_places_find(settings->servers, settings->server_count, search->platform, job,
                                settings->way == CHECKPOINT_MEMORY, &search->places, search->arena, &fault))
        return refuse(search, settings->server_count ? "checkpoint.servers" : "checkpoint.traffic", &fault);
    search->whole = storage_platform(search->platform, search->places.servers, search->places.server_count,
                                     settings->storage, search->arena);
    if (bytes > 0 && find_all(search, bytes, traffic, &fault))
        return EXIT_DONE;
    if (!fault.text[0])
        fault_set(&fault, "nothing says how large a state is, so its traffic is not known; expected bytes, such as "
                          "bytes: 100GB");
    return refuse(search, "checkpoint.traffic", &fault);
}

int checkpoint_traffic_find(const struct scenario *scenario, struct platform *platform, double bytes,
                            struct training_traffic *traffic, struct diag *diag)
{
    struct search search = {.scenario = scenario, .platform = platform, .diag = diag, .arena = arena_create()};
    guard_doing("simulating the checkpoints of %s", scenario->name);
    int code = find(&search, bytes, traffic);
    arena_destroy(search.arena);
    return code;
}
