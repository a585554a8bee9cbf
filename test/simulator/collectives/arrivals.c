/* SPDX-License-Identifier: Apache-2.0 */
/* Members that arrive at random times: both engines' ends against the steps of the algorithms, one by one, for all
 * algorithms and 2 to 9 ranks on a full mesh of private links. Here a transfer begins when both its ranks have arrived
 * and ended their transfers of earlier rounds; a chain passes very many chunks, each of which moves on when it has
 * come. `arrivals [TRIALS [SEED]]`. */
#include "base/arena.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/engine.h"
#include "simulator/engines/simgrid/bridge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 9, CHUNKS = 4000 };
static const double latency = 1e-3, bandwidth = 1e9, launch = 2e-4, whole = 2e7;

struct setting {
    struct collective_shape shape;
    enum stagesim_collective kind;
    const struct collective_algorithm *algorithm;
    bool stepwise;
    unsigned trials;
    uint64_t seed;
};

static double random_unit(uint64_t *state)
{
    *state ^= *state >> 12, *state ^= *state << 25, *state ^= *state >> 27;
    return (double)((*state * UINT64_C(2685821657736338717)) >> 11) * 0x1p-53;
}

/* ---- step by step ---- */

/* Rounds by relaxation: every transfer begins no earlier than any of an earlier round ends that has a rank with it in
 * common. */
static void follow_steps(const struct setting *setting, const double *arrivals, double *ends)
{
    struct collective_steps steps = {0};
    setting->algorithm->steps(&setting->shape, setting->kind, &steps);
    double *done = calloc(steps.count + 1, sizeof *done);
    for (uint32_t m = 0; m <= setting->shape.ranks; m++)
        ends[m] = m < setting->shape.ranks ? arrivals[m] : 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < steps.count; i++) {
            const struct collective_transfer *one = &steps.transfers[i];
            double start = fmax(one->from < setting->shape.ranks ? arrivals[one->from] : 0,
                                one->to < setting->shape.ranks ? arrivals[one->to] : 0);
            for (size_t k = 0; k < steps.count; k++) {
                const struct collective_transfer *other = &steps.transfers[k];
                bool common = other->from == one->from || other->from == one->to || other->to == one->from ||
                              other->to == one->to;
                if (common && other->round < one->round)
                    start = fmax(start, done[k]);
            }
            double end = start + latency + steps_bytes(&steps, one, whole) / bandwidth;
            changed |= end > done[i];
            done[i] = fmax(done[i], end);
            ends[one->from] = fmax(ends[one->from], done[i]);
            ends[one->to] = fmax(ends[one->to], done[i]);
        }
    }
    free(done);
    steps_finish(&steps);
}

/* From rank 0 to the last one, or back. */
static void follow_chunks(const struct setting *setting, const double *arrivals, double *ends)
{
    uint32_t last = setting->shape.ranks - 1;
    double here[CHUNKS] = {0}; /* when the chunks are at the sender */
    memcpy(ends, arrivals, setting->shape.ranks * sizeof *ends);
    for (uint32_t place = 0; place < last; place++) {
        uint32_t from = setting->kind == STAGESIM_BROADCAST ? place : last - place;
        uint32_t to = setting->kind == STAGESIM_BROADCAST ? place + 1 : last - place - 1;
        double free = fmax(arrivals[from], arrivals[to]);
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            free = fmax(free, here[chunk]) + whole / CHUNKS / bandwidth;
            here[chunk] = free + latency;
        }
        ends[from] = fmax(ends[from], here[CHUNKS - 1]);
        ends[to] = fmax(ends[to], here[CHUNKS - 1]);
    }
}

/* Messages at once, each with the start-ups that its flow stands for. */
static void follow_messages(const struct setting *setting, const double *arrivals, double *ends)
{
    uint32_t ranks = setting->shape.ranks;
    bool all = setting->kind == STAGESIM_ALL_TO_ALL;
    double seconds = all ? (ranks - 1) * latency + whole / ranks / bandwidth : latency + whole / bandwidth;
    memcpy(ends, arrivals, ranks * sizeof *ends);
    for (uint32_t from = 0; from < ranks; from++)
        for (uint32_t to = 0; to < ranks; to++)
            if (from != to && (all || to == (from + 1) % ranks)) {
                double end = fmax(arrivals[from], arrivals[to]) + seconds;
                ends[from] = fmax(ends[from], end);
                ends[to] = fmax(ends[to], end);
            }
}

/* Steps are counted from the root on. */
static void follow(const struct setting *setting, const double *arrivals, double *expected)
{
    uint32_t ranks = setting->shape.ranks;
    double ready[RANKS] = {0}, ends[RANKS + 1] = {0};
    for (uint32_t m = 0; m < ranks; m++)
        ready[m] = arrivals[(m + setting->shape.root) % ranks] + launch;
    if (setting->algorithm == &algorithm_chain)
        follow_chunks(setting, ready, ends);
    else if (setting->algorithm == &algorithm_direct)
        follow_messages(setting, ready, ends);
    else
        follow_steps(setting, ready, ends);
    for (uint32_t m = 0; m < ranks; m++)
        expected[(m + setting->shape.root) % ranks] = ends[m];
}

/* ---- the engines ---- */

struct job {
    struct mesh mesh;
    struct program *program;
    struct platform *platform;
    uint32_t hosts[RANKS];
};

static char *platform_write(const struct collective_shape *shape)
{
    char *name = strdup("/tmp/stagesim-arrivals-XXXXXX");
    FILE *out = fdopen(mkstemp(name), "w");
    fprintf(out,
            "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform "
            "version=\"4.1\">"
            "<zone id=\"all\" routing=\"Full\"><prop id=\"collective_launch\" value=\"%gs\"/>%s\n",
            launch, shape->reduces ? "<prop id=\"collective_in_network\" value=\"cluster\"/>" : "");
    if (shape->dimensions[0])
        fprintf(out, "<prop id=\"collective_torus\" value=\"%ux%ux%u\"/>\n", shape->dimensions[0], shape->dimensions[1],
                shape->dimensions[2]);
    for (uint32_t i = 0; i < shape->ranks; i++)
        fprintf(out, "<host id=\"gpu-%u\" speed=\"1Gf\"><prop id=\"node\" value=\"node-%u\"/></host>\n", i,
                shape->node_size ? i / shape->node_size : i);
    for (uint32_t i = 0; i < shape->ranks * shape->ranks; i++)
        fprintf(out, "<link id=\"l-%u\" bandwidth=\"%gBps\" latency=\"%gs\"/>\n", i, bandwidth, latency);
    for (uint32_t i = 0; i < shape->ranks; i++)
        for (uint32_t k = 0; k < shape->ranks; k++)
            if (i != k)
                fprintf(out,
                        "<route src=\"gpu-%u\" dst=\"gpu-%u\" symmetrical=\"NO\"><link_ctn id=\"l-%u\"/></route>\n", i,
                        k, i * shape->ranks + k);
    fputs("</zone></platform>\n", out);
    fclose(out);
    return name;
}

/* Every rank computes until it arrives. */
static void program_create(const struct setting *setting, const double *arrivals, struct job *job, struct arena *arena)
{
    const struct stagesim_identity plain = {
        .kind = STAGESIM_OTHER, .stage = STAGESIM_NONE, .micro_batch = STAGESIM_NONE};
    uint32_t positions[RANKS] = {0};
    for (uint32_t m = 0; m < setting->shape.ranks; m++)
        positions[m] = (setting->shape.root + m) % setting->shape.ranks;
    job->mesh =
        (struct mesh){.axis_count = 1, .axes = {{.name = "pipeline", .size = setting->shape.ranks, .distinct = true}}};
    mesh_finish(&job->mesh, arena);
    struct program_builder *builder = program_builder_create(&job->mesh);
    uint32_t group = program_add_group(builder, 0, positions, setting->shape.ranks);
    uint32_t cost = program_add_cost(builder, &(struct stagesim_cost){.bytes = whole});
    for (uint32_t m = 0; m < setting->shape.ranks; m++) {
        uint32_t before = program_add_compute(
            builder, m, plain, program_add_cost(builder, &(struct stagesim_cost){.seconds = arrivals[m]}));
        uint32_t id = program_add_collective(builder, m, group, setting->kind, plain, cost);
        program_add_wait(builder, m, id, before);
        job->hosts[m] = m;
    }
    job->program = program_finish(builder, arena);
    assignment_create(job->program, arena);
    program_builder_destroy(builder);
    struct collective_policy policy = {.stepwise = setting->stepwise};
    policy.algorithms[setting->kind] = setting->algorithm;
    assignment_place(job->program->assignment, job->platform, job->hosts, &policy);
}

/* When each member ends; false: the engine failed, or data move before both members of any flow are there. */
static bool engine_ends(const struct engine *engine, struct job *job, const double *arrivals, double *ends)
{
    struct fault fault = {""};
    struct timeline *timeline = timeline_create(job->program);
    struct engine_job request = {
        .program = job->program, .platform = job->platform, .hosts = job->hosts, .timeline = timeline};
    bool ok = engine->run(&request, &fault);
    for (uint32_t m = 0; ok && m < job->mesh.ranks; m++) {
        const struct moment *moment = &timeline_rank(timeline, m)[1];
        ends[m] = moment->end;
        ok = fabs(moment->start - arrivals[m]) <= 1e-9 && moment->data_start >= moment->start &&
             moment->data_start <= moment->end;
    }
    if (!ok)
        fprintf(stderr, "%s: %s\n", engine->name, fault.text);
    timeline_destroy(timeline);
    return ok;
}

/* ---- the comparison ---- */

static double latest(const double *values, uint32_t count)
{
    double last = 0;
    for (uint32_t i = 0; i < count; i++)
        last = fmax(last, values[i]);
    return last;
}

static bool ends_apart(const struct setting *setting)
{
    return (setting->kind == STAGESIM_BROADCAST || setting->kind == STAGESIM_REDUCE) &&
           setting->algorithm != &algorithm_in_network;
}

/* Whether flows stand for more than the transfers of the steps: then not the times are compared but how much later all
 * is for the arrivals. A double tree's steps send few chunks, a switch's hand data on as a whole, a torus' use an edge
 * twice at once. */
static bool differs_by_itself(const struct setting *setting)
{
    return setting->algorithm == &algorithm_double_tree || setting->algorithm == &algorithm_in_network ||
           setting->algorithm == &algorithm_torus;
}

static double step_time(const struct setting *setting)
{
    double none[RANKS] = {0}, ends[RANKS];
    follow(setting, none, ends);
    return latest(ends, setting->shape.ranks);
}

static double engine_time(const struct setting *setting, struct job *job)
{
    double none[RANKS] = {0}, ends[RANKS];
    struct arena *arena = arena_create();
    program_create(setting, none, job, arena);
    bool ok = engine_ends(&engine_analytic, job, none, ends);
    arena_destroy(arena);
    return ok ? latest(ends, setting->shape.ranks) : NAN;
}

/* A double tree is the only one that gains by members that are there early: its last member comes into a tree that
 * others have been at. */
static bool compare(const struct setting *setting, struct job *job, const double *arrivals, const double *ends,
                    const char *engine)
{
    uint32_t ranks = setting->shape.ranks;
    double expected[RANKS], last = latest(ends, ranks);
    follow(setting, arrivals, expected);
    double least = latest(expected, ranks), most = least;
    double tolerance = setting->algorithm == &algorithm_chain ? 1.1 * ranks / CHUNKS * whole / bandwidth : 1e-6 * least;
    bool ok = true;
    if (differs_by_itself(setting)) {
        double later = engine_time(setting, job) - step_time(setting);
        least += later;
        most = latest(arrivals, ranks) + engine_time(setting, job);
    }
    if (setting->algorithm != &algorithm_double_tree)
        most = least;
    ok &= last >= least - tolerance && last <= most + tolerance;
    for (uint32_t m = 0; m < ranks; m++)
        ok &= fabs(ends[m] - (ends_apart(setting) ? expected[m] : last)) <= tolerance;
    for (uint32_t m = 0; !ok && m < ranks; m++)
        fprintf(stderr, "%s %s%s, %u ranks in nodes of %u, %s: rank %u comes at %.9g, ends at %.9g, not at %.9g\n",
                setting->algorithm->name, collective_name(setting->kind), setting->stepwise ? " stepwise" : "", ranks,
                setting->shape.node_size, engine, m, arrivals[m], ends[m], expected[m]);
    return ok;
}

/* Some arrive together, some long before or behind the others. */
static void draw_arrivals(uint64_t *random, const struct setting *setting, double *arrivals)
{
    double span = random_unit(random) < 0.3 ? 10 : 0.1, shared = span * random_unit(random);
    for (uint32_t m = 0; m < setting->shape.ranks; m++)
        arrivals[m] = random_unit(random) < 0.3 ? shared : span * random_unit(random);
}

static bool check(const struct setting *setting)
{
    struct arena *arena = arena_create();
    struct fault fault = {""};
    struct job job = {.platform = NULL};
    char *file = platform_write(&setting->shape);
    job.platform = bridge_configure(NULL, 0, &fault) ? bridge_load(file, arena, &fault) : NULL;
    unlink(file);
    free(file);
    if (!job.platform)
        return fprintf(stderr, "%s\n", fault.text), false;
    uint64_t random = setting->seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    bool ok = true;
    for (unsigned trial = 0; trial < setting->trials && ok; trial++) {
        double arrivals[RANKS], ends[RANKS];
        draw_arrivals(&random, setting, arrivals);
        program_create(setting, arrivals, &job, arena);
        ok = engine_ends(&engine_analytic, &job, arrivals, ends) && compare(setting, &job, arrivals, ends, "analytic");
        if (ok && trial + 1 == setting->trials) {
            program_create(setting, arrivals, &job, arena); /* compare makes others */
            ok =
                engine_ends(&engine_simgrid, &job, arrivals, ends) && compare(setting, &job, arrivals, ends, "simgrid");
        }
    }
    arena_destroy(arena);
    return ok;
}

/* One simulation per process. */
static bool check_apart(const struct setting *setting)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(check(setting) ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Where a rank sends to another one twice in a round, links are shared; the steps know nothing of it. */
static bool shares_links(const struct setting *setting)
{
    struct collective_steps steps = {0};
    setting->algorithm->steps(&setting->shape, setting->kind, &steps);
    bool shares = false;
    for (size_t i = 0; i < steps.count; i++)
        for (size_t k = 0; k < i; k++)
            shares |= steps.transfers[i].round == steps.transfers[k].round &&
                      steps.transfers[i].from == steps.transfers[k].from &&
                      steps.transfers[i].to == steps.transfers[k].to;
    steps_finish(&steps);
    return shares;
}

static void check_shape(const struct collective_shape *shape, const struct setting *base, unsigned *count,
                        unsigned *failed)
{
    for (const struct collective_algorithm *const *algorithm = collective_algorithms; *algorithm; algorithm++)
        for (int kind = 0; kind < STAGESIM_COLLECTIVES; kind++)
            for (int stepwise = 0; stepwise < 2; stepwise++) {
                struct setting setting = *base;
                setting.shape = *shape;
                setting.kind = (enum stagesim_collective)kind;
                setting.algorithm = *algorithm;
                setting.stepwise = stepwise;
                if (kind == STAGESIM_BROADCAST || kind == STAGESIM_REDUCE)
                    setting.shape.root = *count % shape->ranks;
                bool plain = !shape->node_size && !shape->dimensions[0] && !shape->reduces;
                bool fits = plain || (shape->node_size && *algorithm == &algorithm_hierarchical) ||
                            (shape->dimensions[0] && *algorithm == &algorithm_torus) ||
                            (shape->reduces && *algorithm == &algorithm_in_network);
                if (!fits || collective_algorithm_refuses(*algorithm, shape, setting.kind) ||
                    (stepwise && (*algorithm)->flowing))
                    continue;
                if (*algorithm == &algorithm_in_network && (kind == STAGESIM_BROADCAST || kind == STAGESIM_REDUCE))
                    continue; /* by definition as all others of a switch, not by its steps */
                if (stepwise && shares_links(&setting))
                    continue;
                *count += 1;
                *failed += !check_apart(&setting);
            }
}

int main(int argc, char **argv)
{
    struct setting base = {.trials = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 12,
                           .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    static const struct collective_shape others[] = {
        {.ranks = 4, .node_size = 2},          {.ranks = 6, .node_size = 2},
        {.ranks = 6, .node_size = 3},          {.ranks = 8, .node_size = 2},
        {.ranks = 8, .node_size = 4},          {.ranks = 9, .node_size = 3},
        {.ranks = 4, .dimensions = {2, 2, 1}}, {.ranks = 6, .dimensions = {3, 2, 1}},
        {.ranks = 8, .dimensions = {2, 2, 2}}, {.ranks = 9, .dimensions = {3, 3, 1}},
        {.ranks = 2, .reduces = true},         {.ranks = 7, .reduces = true},
    };
    unsigned count = 0, failed = 0;
    puts("1..1");
    for (uint32_t ranks = 2; ranks <= RANKS; ranks++)
        check_shape(&(struct collective_shape){.ranks = ranks}, &base, &count, &failed);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        check_shape(&others[i], &base, &count, &failed);
    printf("%s 1 - ends are those of the steps one by one, in %u of %u collectives with %u arrivals each\n",
           failed || count < 200 ? "not ok" : "ok", count - failed, count, base.trials);
    return 0;
}
