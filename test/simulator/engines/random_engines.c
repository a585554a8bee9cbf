/* SPDX-License-Identifier: Apache-2.0 */
/* Properties that hold for every job, tried on random ones (seeded: the same on every machine):
 *   - the analytic engine's times are those of an independent evaluation, or where collectives slow computing down
 * follow from each other;
 *   - what the critical path says of faster hardware lies between what a slightly faster and a slightly slower one
 * really do;
 *   - SimGrid's are the same where no two transfers use a link at one time, and nowhere earlier (but where collectives
 * slow computing down: one that comes later may come too late to do so). Arguments: cases [seed]; a failure names the
 * seed of its case. */
#include "analysis/figures/sensitivity.h"
#include "base/arena.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/engine.h"
#include "simulator/engines/simgrid/bridge.h"
#include "test/support/brute_force.h"
#include "test/support/random_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum outcome { DIFFERENT = 1, EQUAL, LATER };

static double latest_end(const struct timeline *timeline)
{
    double last = 0;
    for (uint32_t index = 0; index < timeline->rank_count; index++)
        for (uint32_t id = 0;
             id < timeline->program->positions[timeline->program->mesh->position_of[index]].operation_count; id++)
            last = fmax(last, timeline->moments[index][id].end);
    return last;
}

static bool run(const struct engine *engine, const struct random_job *job, struct platform *platform,
                struct timeline *timeline)
{
    struct fault fault = {""};
    struct engine_job engine_job = {
        .program = job->program, .platform = platform, .hosts = job->hosts, .timeline = timeline};
    bool ok = engine->run(&engine_job, &fault);
    if (!ok)
        fprintf(stderr, "seed %llu, %s: %s: %s\n", (unsigned long long)job->seed, job->schedule, engine->name,
                fault.text);
    return ok;
}

static void report(const struct random_job *job, uint32_t rank, uint32_t id, const struct moment *a,
                   const struct moment *b)
{
    const struct operation *operation = &job->program->positions[job->mesh.position_of[rank]].operations[id];
    fprintf(stderr, "seed %llu, %s: rank %u operation %u (%s): %.9g %.9g %.9g, expected %.9g %.9g %.9g\n",
            (unsigned long long)job->seed, job->schedule, rank, id, kind_name(operation->kind), a->start, a->data_start,
            a->end, b->start, b->data_start, b->end);
}

/* How the times of `a` compare with those of `b`, all ranks. */
static enum outcome compare(const struct random_job *job, const struct timeline *a, const struct timeline *b,
                            double tolerance)
{
    enum outcome outcome = EQUAL;
    for (uint32_t rank = 0; rank < job->mesh.ranks; rank++)
        for (uint32_t id = 0; id < job->program->positions[job->mesh.position_of[rank]].operation_count; id++) {
            const struct moment *x = &a->moments[rank][id], *y = &b->moments[rank][id];
            double earliest = fmin(x->start - y->start, fmin(x->data_start - y->data_start, x->end - y->end));
            double latest = fmax(x->start - y->start, fmax(x->data_start - y->data_start, x->end - y->end));
            if (isnan(x->end + x->start + x->data_start) || earliest < -tolerance) {
                report(job, rank, id, x, y);
                return DIFFERENT;
            }
            outcome = latest > tolerance ? LATER : outcome;
        }
    return outcome;
}

/* ---- the analytic engine and the independent evaluation ---- */

static bool check_analytic(uint64_t seed, bool shared)
{
    struct arena *arena = arena_create();
    struct random_job *job = random_job_create(seed, shared, arena);
    struct timeline *analytic = timeline_create(job->program), *expected = timeline_create(job->program);
    bool ok = run(&engine_analytic, job, &job->platform, analytic);
    if (ok && job->overlaps) {
        double error = brute_force_error(job->program, &job->platform, job->hosts, analytic);
        ok = error <= 1e-9 * latest_end(analytic);
        if (!ok)
            fprintf(stderr, "seed %llu, %s: a time is %g s of %g from what it follows from\n", (unsigned long long)seed,
                    job->schedule, error, latest_end(analytic));
    } else if (ok) {
        ok = brute_force(job->program, &job->platform, job->hosts, expected);
        double tolerance = 1e-9 * latest_end(expected);
        ok = ok && brute_force_error(job->program, &job->platform, job->hosts, expected) <= tolerance;
        ok = ok && compare(job, analytic, expected, tolerance) == EQUAL &&
             compare(job, expected, analytic, tolerance) == EQUAL;
    }
    timeline_destroy(analytic);
    timeline_destroy(expected);
    arena_destroy(arena);
    return ok;
}

/* ---- sensitivity ---- */

/* How long the job takes when all computations, bytes and latencies take that many times as long. */
static double time_with(struct random_job *job, double compute, double bytes, double latency)
{
    struct timeline *timeline = timeline_create(job->program);
    for (uint32_t i = 0; i < job->program->cost_count; i++)
        job->program->costs[i].seconds *= compute;
    for (uint32_t i = 0; i < job->platform.link_count; i++) {
        job->platform.links[i].bandwidth /= bytes;
        job->platform.links[i].latency *= latency;
    }
    double time = run(&engine_analytic, job, &job->platform, timeline) ? latest_end(timeline) : NAN;
    for (uint32_t i = 0; i < job->program->cost_count; i++)
        job->program->costs[i].seconds /= compute;
    for (uint32_t i = 0; i < job->platform.link_count; i++) {
        job->platform.links[i].bandwidth *= bytes;
        job->platform.links[i].latency /= latency;
    }
    timeline_destroy(timeline);
    return time;
}

/* The longest path is convex in each factor, so its slope is no less than towards faster and no more than towards
 * slower. */
static bool bounds_slope(const struct random_job *job, const char *what, double slope, double faster, double time,
                         double slower)
{
    double step = 0.01, tolerance = 1e-9 * time;
    if (time - faster <= step * slope + tolerance && slower - time >= step * slope - tolerance)
        return true;
    fprintf(stderr,
            "seed %llu, %s: %s: %.9g s on the path, but %.9g s becomes %.9g with 1 %% less and %.9g with 1 %% more\n",
            (unsigned long long)job->seed, job->schedule, what, slope, time, faster, slower);
    return false;
}

/* Whether all collectives begin with their last member: then it is that one's path which counts. */
static bool begin_together(const struct program *program)
{
    for (uint32_t group = 0; group < program->group_count; group++) {
        uint32_t count = 0;
        const struct collective_flows *const *sets =
            program->groups[group].collective_count ? assignment_all_flows(program, group, &count) : NULL;
        for (uint32_t i = 0; i < count; i++)
            if (sets[i]->start != START_TOGETHER)
                return false;
    }
    return true;
}

static bool check_sensitivity(uint64_t seed, bool shared)
{
    struct arena *arena = arena_create();
    struct random_job *job = random_job_create(seed, shared, arena);
    struct timeline *timeline = timeline_create(job->program);
    bool ok = run(&engine_analytic, job, &job->platform, timeline);
    double time = latest_end(timeline);
    if (ok && job->program->iterations == 1 && time > 0 && !job->overlaps && begin_together(job->program)) {
        const struct frame *frame = frame_create(timeline, arena);
        const struct critical_path *path = critical_path_create(frame, arena);
        struct sensitivity slope = sensitivity_of(frame, path, &job->platform, job->hosts, arena);
        ok =
            fabs(slope.compute + slope.bandwidth + slope.latency + slope.fixed - time) <= 1e-9 * time &&
            bounds_slope(job, "compute", slope.compute, time_with(job, 0.99, 1, 1), time, time_with(job, 1.01, 1, 1)) &&
            bounds_slope(job, "bandwidth", slope.bandwidth, time_with(job, 1, 0.99, 1), time,
                         time_with(job, 1, 1.01, 1)) &&
            bounds_slope(job, "latency", slope.latency, time_with(job, 1, 1, 0.99), time, time_with(job, 1, 1, 1.01));
    }
    timeline_destroy(timeline);
    arena_destroy(arena);
    return ok;
}

static bool try_sensitivity(uint64_t first, unsigned cases)
{
    bool ok = true;
    for (unsigned i = 0; i < cases; i++)
        ok &= check_sensitivity(first + i, i % 2);
    return ok;
}

/* ---- SimGrid ---- */

struct use { /* of a link by a transfer */
    uint32_t link;
    double start, end;
};

struct uses {
    struct use *items;
    size_t count, capacity;
};

static void add_uses(struct uses *uses, const struct random_job *job, uint32_t from, uint32_t to,
                     const struct moment *moment)
{
    const struct random_route *route = &job->routes[job->hosts[from] * job->platform.host_count + job->hosts[to]];
    for (uint32_t i = 0; i < route->count; i++) {
        uses->items = array_grow(uses->items, &uses->capacity, uses->count + 1, sizeof *uses->items);
        uses->items[uses->count++] = (struct use){route->links[i], moment->data_start, moment->end};
    }
}

static void add_collective(struct uses *uses, const struct random_job *job, uint32_t rank, uint32_t group_index,
                           const struct operation *operation, const struct moment *moment)
{
    const struct group *group = &job->program->groups[group_index];
    uint32_t members[128];
    group_ranks(job->program, group, group_instance_of(job->program, group, job->mesh.replica_of[rank]), members);
    const struct collective_flows *flows = assignment_flows(job->program, group_index, operation);
    for (size_t i = 0; flows && i < flows->count; i++) {
        struct collective_phase_flow flow = collective_flow_at(flows, i);
        if (members[flow.from] == rank)
            add_uses(uses, job, rank, members[flow.to], moment);
    }
}

static int by_link_and_start(const void *left, const void *right)
{
    const struct use *a = left, *b = right;
    if (a->link != b->link)
        return a->link < b->link ? -1 : 1;
    return (a->start > b->start) - (a->start < b->start);
}

/* Whether two transfers use a link at one time. */
static bool shares_links(const struct random_job *job, const struct timeline *timeline, double tolerance)
{
    struct uses uses = {0};
    for (uint32_t rank = 0; rank < job->mesh.ranks; rank++) {
        const struct position *position = &job->program->positions[job->mesh.position_of[rank]];
        for (uint32_t id = 0; id < position->operation_count; id++) {
            const struct stream *stream = &position->streams[position->operations[id].stream];
            const struct moment *moment = &timeline->moments[rank][id];
            struct moment bytes = *moment; /* pipelined messages' latencies pass beside each other */
            bytes.data_start += timeline_send_latency(timeline, rank, &position->operations[id]);
            if (stream->type == OPERATION_SEND)
                add_uses(&uses, job, rank, mesh_rank(&job->mesh, stream->peer, job->mesh.replica_of[rank]), &bytes);
            else if (stream->type == OPERATION_COLLECTIVE)
                add_collective(&uses, job, rank, stream->peer, &position->operations[id], moment);
        }
    }
    if (uses.count)
        qsort(uses.items, uses.count, sizeof *uses.items, by_link_and_start);
    bool shares = false;
    double busy_until = 0;
    for (size_t i = 0; i < uses.count; i++) {
        if (i == 0 || uses.items[i].link != uses.items[i - 1].link)
            busy_until = -1;
        shares |= uses.items[i].start < busy_until - tolerance;
        busy_until = fmax(busy_until, uses.items[i].end);
    }
    free(uses.items);
    return shares;
}

/* In a process of its own. */
static enum outcome check_simgrid(uint64_t seed, bool shared)
{
    struct arena *arena = arena_create();
    struct fault fault = {""};
    struct random_job *job = random_job_create(seed, shared, arena);
    char *file = random_job_write(job);
    struct platform *platform = bridge_configure(NULL, 0, &fault) ? bridge_load(file, arena, &fault) : NULL;
    unlink(file);
    free(file);
    if (!platform) {
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, fault.text);
        return DIFFERENT;
    }
    struct timeline *analytic = timeline_create(job->program), *simulated = timeline_create(job->program);
    enum outcome outcome = DIFFERENT;
    if (run(&engine_analytic, job, &job->platform, analytic) && run(&engine_simgrid, job, platform, simulated)) {
        double tolerance = 1e-6 * latest_end(analytic);
        bool shares = shares_links(job, simulated, tolerance);
        outcome = job->overlaps && shares ? LATER : compare(job, simulated, analytic, tolerance);
        if (outcome == LATER && !shares) {
            compare(job, analytic, simulated, tolerance);
            outcome = DIFFERENT;
        }
        outcome = outcome == EQUAL && shares ? LATER : outcome; /* only what had to be equal counts as such */
    }
    timeline_destroy(analytic);
    timeline_destroy(simulated);
    arena_destroy(arena);
    return outcome;
}

static enum outcome apart(uint64_t seed, bool shared)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(check_simgrid(seed, shared));
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) >= DIFFERENT && WEXITSTATUS(status) <= LATER)
        return (enum outcome)WEXITSTATUS(status);
    fprintf(stderr, "seed %llu: the simulation ended with status %d\n", (unsigned long long)seed, status);
    return DIFFERENT;
}

/* ---- all of it ---- */

static bool try_analytic(uint64_t first, unsigned cases, bool shared)
{
    bool ok = true;
    for (unsigned i = 0; i < cases; i++)
        ok &= check_analytic(first + i, shared);
    return ok;
}

/* Counts the cases in which nothing may differ and the others: without either kind a property would say nothing. */
static bool try_simgrid(uint64_t first, unsigned cases, bool shared, unsigned *equal, unsigned *later)
{
    bool ok = true;
    *equal = *later = 0;
    for (unsigned i = 0; i < cases; i++) {
        enum outcome outcome = apart(first + i, shared);
        ok &= outcome != DIFFERENT;
        *equal += outcome == EQUAL;
        *later += outcome == LATER;
    }
    return ok;
}

int main(int argc, char **argv)
{
    unsigned cases = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2000, equal, later;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    unsigned simulated = cases / 25 + 1;
    puts("1..7");
    printf("%s 1 - analytic times are those of an independent evaluation, private links, %u jobs\n",
           try_analytic(seed, cases, false) ? "ok" : "not ok", cases);
    printf("%s 2 - and on nodes that share their network cards, %u jobs\n",
           try_analytic(seed, cases / 4 + 1, true) ? "ok" : "not ok", cases / 4 + 1);
    printf("%s 3 - SimGrid on private links: the same where nothing is shared, never earlier, %u jobs\n",
           try_simgrid(seed, simulated, false, &equal, &later) ? "ok" : "not ok", simulated);
    printf("%s 4 - among them enough of either kind: %u without sharing, %u with\n",
           cases < 1000 || (equal >= simulated / 10 && later >= simulated / 20) ? "ok" : "not ok", equal, later);
    printf("%s 5 - SimGrid on nodes that share their network cards: never earlier, %u jobs\n",
           try_simgrid(seed, simulated, true, &equal, &later) ? "ok" : "not ok", simulated);
    printf("%s 6 - among them enough that share links: %u\n", cases < 1000 || later >= simulated / 5 ? "ok" : "not ok",
           later);
    printf("%s 7 - the slopes read off the critical path lie between those of changed runs, %u jobs\n",
           try_sensitivity(seed, cases / 4 + 1) ? "ok" : "not ok", cases / 4 + 1);
    return 0;
}
