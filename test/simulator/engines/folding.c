/* SPDX-License-Identifier: Apache-2.0 */
/* Folded and unfolded simulations agree: random platforms with shared and private links, stragglers, unequal latencies
 * and collectives that slow computing down, under random schedules, with collectives along every axis, and several, by
 * all algorithms. `folding [CASES [FIRST SEED]]`.
 *
 * Both as they are by default. SimGrid's shortcut overlooks links of flows that begin with others at one moment
 * (adopted.cpp), so some jobs are compared with all ranks without it, network/optim: Full, at a precision of their own.
 */
#include "base/arena.h"
#include "schedules/schedule.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/simgrid/bridge.h"
#include "simulator/run/folded_run.h"
#include "test/support/pipeline_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CASES = 250, TIMES_MAX = 1 << 18, EXACT_EVERY = 5 };

/* How a job is run. */
struct way {
    bool fold;
    const char *config[2];
    size_t config_count;
};

static const struct way folded_way = {.fold = true}, whole_way = {.fold = false},
                        exact_way = {false, {"network/optim:Full", "surf/precision:1e-13"}, 2};

/* A small generator of our own (xorshift64*), so that a seed means the same everywhere. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12, *state ^= *state << 25, *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static uint32_t pick(uint64_t *state, uint32_t count)
{
    return (uint32_t)(next_random(state) >> 33) % count;
}

static double choose(uint64_t *state, const double *values, uint32_t count)
{
    return values[pick(state, count)];
}

static bool chance(uint64_t *state, uint32_t percent)
{
    return pick(state, 100) < percent;
}

/* Every GPU has an up and a down link, every node a NIC each way, and all nodes one trunk between two halves. */
static char *write_platform(uint64_t *random, uint32_t hosts, uint32_t per_node)
{
    static const double rates[] = {1e9, 2e9, 4e9, 1e10}, latencies[] = {0, 1e-3, 1e-2}, trunks[] = {1e9, 4e9, 1e12};
    char *name = strdup("/tmp/stagesim-fold-XXXXXX");
    FILE *out = fdopen(mkstemp(name), "w");
    double gpu_rate = choose(random, rates, 4), nic_rate = chance(random, 40) ? gpu_rate : choose(random, rates, 4);
    double trunk_rate = choose(random, trunks, 3);
    double latency = choose(random, latencies, 3), far = latency + (chance(random, 50) ? 5e-3 : 0);
    const char *policy = chance(random, 15) ? "FATPIPE" : "SHARED";
    bool nodes = chance(random, 50), overlaps = chance(random, 30);
    uint32_t named = chance(random, 50) ? per_node : 1 + pick(random, 4); /* what is called a node need not be one */
    uint32_t straggler = chance(random, 15) ? pick(random, hosts) : hosts;
    fputs("<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
          "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\n",
          out);
    if (overlaps)
        fputs("<prop id=\"collective_overlap_node\" value=\"0.15\"/><prop id=\"collective_overlap_network\" "
              "value=\"0.4\"/>\n",
              out);
    if (nodes && chance(random, 50))
        fputs("<prop id=\"collective_bulk_efficiency\" value=\"0.8\"/><prop id=\"collective_bulk_efficiency_network\" "
              "value=\"0.5\"/>\n",
              out);
    for (uint32_t i = 0; i < hosts; i++)
        fprintf(out, "<host id=\"g-%u\" speed=\"%sGf\"><prop id=\"node\" value=\"n-%u\"/></host>\n", i,
                i == straggler ? "0.7" : "1", nodes ? i / named : 0);
    for (uint32_t i = 0; i < hosts; i++)
        for (int way = 0; way < 2; way++)
            fprintf(out, "<link id=\"%s-%u\" bandwidth=\"%gBps\" latency=\"%gs\"/>\n", way ? "down" : "up", i, gpu_rate,
                    latency);
    for (uint32_t node = 0; node < (hosts + per_node - 1) / per_node; node++)
        for (int way = 0; way < 2; way++)
            fprintf(out, "<link id=\"nic-%s-%u\" bandwidth=\"%gBps\" latency=\"0s\" sharing_policy=\"%s\"/>\n",
                    way ? "down" : "up", node, nic_rate, policy);
    fprintf(out,
            "<link id=\"trunk-0\" bandwidth=\"%gBps\" latency=\"%gs\"/>\n<link id=\"trunk-1\" bandwidth=\"%gBps\" "
            "latency=\"%gs\"/>\n",
            trunk_rate, far - latency, trunk_rate, far - latency);
    for (uint32_t i = 0; i < hosts; i++)
        for (uint32_t j = 0; j < hosts; j++) {
            if (i == j)
                continue;
            fprintf(out, "<route src=\"g-%u\" dst=\"g-%u\" symmetrical=\"NO\"><link_ctn id=\"up-%u\"/>", i, j, i);
            if (i / per_node != j / per_node)
                fprintf(out, "<link_ctn id=\"nic-up-%u\"/>", i / per_node);
            if ((2 * i >= hosts) != (2 * j >= hosts))
                fprintf(out, "<link_ctn id=\"trunk-%d\"/>", 2 * i >= hosts);
            if (i / per_node != j / per_node)
                fprintf(out, "<link_ctn id=\"nic-down-%u\"/>", j / per_node);
            fprintf(out, "<link_ctn id=\"down-%u\"/></route>\n", j);
        }
    fputs("</zone></platform>\n", out);
    fclose(out);
    return name;
}

/* A plan of a random schedule that fits. */
static struct plan *random_plan(uint64_t *random, struct setting *setting, const char **name)
{
    uint32_t count = 0;
    while (schedule_table[count])
        count++;
    for (;;) {
        const struct schedule *schedule = schedule_table[pick(random, count)];
        setting->workers = 2 + 2 * pick(random, 2);
        setting->micro_batches = setting->workers * (1 + pick(random, 2));
        struct schedule_request request = schedule_request_default(schedule, setting->workers, setting->micro_batches);
        struct schedule_refusal refusal;
        if (!schedule_fits(schedule, &request, &refusal))
            continue;
        request.iterations = schedule->crosses ? 2 : 1;
        *name = schedule->name;
        struct plan *plan = schedule->plan(&request);
        if (!plan_offloads_anywhere(plan)) /* random platforms have no host memory */
            return plan;
        plan_destroy(plan);
    }
}

/* Of one process, in memory that it shares. */
struct outcome {
    char name[64];
    bool folded, classes; /* of ranks, not of whole replicas */
    size_t count;
    double times[TIMES_MAX]; /* start and end of every operation of every rank */
};

static void write_times(const struct program *program, const struct timeline *timeline, double *times, size_t *count)
{
    *count = 0;
    for (uint32_t rank = 0; rank < program->mesh->ranks; rank++) {
        const struct moment *moments = timeline_rank(timeline, rank);
        uint32_t operations = program->positions[program->mesh->position_of[rank]].operation_count;
        for (uint32_t id = 0; id < operations && *count + 2 <= TIMES_MAX; id++) {
            times[(*count)++] = moments[id].start;
            times[(*count)++] = moments[id].end;
        }
    }
}

/* As a share of the whole time. */
static double difference(const struct outcome *a, const struct outcome *b)
{
    double makespan = 0, worst = a->count == b->count ? 0 : INFINITY;
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        makespan = fmax(makespan, b->times[i]);
        worst = fmax(worst, fabs(a->times[i] - b->times[i]));
    }
    return worst / makespan;
}

/* Half of the jobs leave the algorithm to auto. */
static struct collective_policy random_policy(uint64_t *random)
{
    static const char *const names[] = {"ring", "double-tree", "recursive-doubling", "halving-doubling",
                                        "hierarchical"};
    struct collective_policy policy = {.stepwise = chance(random, 20)};
    if (chance(random, 50))
        policy.algorithms[STAGESIM_ALL_REDUCE] =
            collective_algorithm_find(names[pick(random, sizeof names / sizeof *names)]);
    return policy;
}

/* Collectives within a replica: one behind each forward, one beside each backward. */
static void random_exchanges(uint64_t *random, struct setting *setting, struct stagesim_exchanges exchanges[2])
{
    static const enum stagesim_collective kinds[] = {STAGESIM_ALL_TO_ALL, STAGESIM_ALL_TO_ALL, STAGESIM_ALL_REDUCE,
                                                     STAGESIM_ALL_GATHER};
    static const double sizes[] = {1e8, 1e9, 3e9};
    if (chance(random, 40))
        return;
    setting->tensor = 2 + pick(random, 4);
    setting->tensor_outside = chance(random, 30);
    const char *axes = chance(random, 20) ? "data,tensor" : "tensor";
    setting->data = setting->data > 4 ? setting->data / 2 : setting->data;
    for (int i = 0; i < 2; i++)
        exchanges[i].items[0] = (struct stagesim_exchange){.collective = kinds[pick(random, 4)],
                                                           .kind = STAGESIM_TENSOR,
                                                           .moment = i ? STAGESIM_BESIDE : STAGESIM_AFTER,
                                                           .axes = axes,
                                                           .bytes = choose(random, sizes, 3)};
    setting->forward_exchanges = &exchanges[0];
    setting->backward_exchanges = &exchanges[1];
}

/* Simulates a random job. Returns what the process exits with. */
static int run_case(uint64_t seed, const struct engine *engine, const struct way *way, struct outcome *outcome)
{
    static const double messages[] = {0, 1e8, 1e9}, gradients[] = {0, 5e8, 4e9};
    uint64_t random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    struct arena *arena = arena_create();
    struct fault fault = {""};
    struct setting setting = {.data = 2 + pick(&random, 7), .forward = 1, .backward = 2};
    setting.message = choose(&random, messages, 3);
    setting.gradient = choose(&random, gradients, 3);
    struct stagesim_exchanges exchanges[2] = {{.items = {{.bytes = 0}}}};
    random_exchanges(&random, &setting, exchanges);
    const char *name;
    struct plan *plan = random_plan(&random, &setting, &name);
    struct mesh mesh = {0};
    struct program *program = pipeline_job(plan, &setting, chance(&random, 40), &mesh, arena);
    char *file = write_platform(&random, mesh.ranks, 1 + pick(&random, 4));
    struct platform *platform =
        bridge_configure(way->config, way->config_count, &fault) ? bridge_load(file, arena, &fault) : NULL;
    unlink(file);
    uint32_t *hosts = arena_array(arena, mesh.ranks, sizeof *hosts);
    for (uint32_t rank = 0; rank < mesh.ranks; rank++)
        hosts[rank] = rank;
    struct collective_policy policy = random_policy(&random);
    if (platform)
        assignment_place(program->assignment, platform, hosts, &policy);
    struct engine_job job = {.program = program, .platform = platform, .hosts = hosts};
    struct folded_run run;
    if (!platform || !folded_run(engine, &job, way->fold, arena, &run, &fault))
        return fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, fault.text), 1;
    outcome->folded = run.folding->classes > 0;
    outcome->classes = run.folding->equals != NULL;
    write_times(program, run.timeline, outcome->times, &outcome->count);
    snprintf(outcome->name, sizeof outcome->name, "%s D=%u N=%u data=%u tensor=%u", name, setting.workers,
             setting.micro_batches, setting.data, setting.tensor);
    return 0;
}

static bool run_apart(uint64_t seed, const struct engine *engine, const struct way *way, struct outcome *outcome)
{
    fflush(stdout);
    outcome->folded = outcome->classes = false;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(60);
        _exit(run_case(seed, engine, way, outcome));
    }
    int status;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Runs the job another way, and compares. */
static bool is_near(uint64_t seed, const struct engine *engine, const struct way *way, struct outcome outcomes[2],
                    const char *what)
{
    if (!run_apart(seed, engine, way, &outcomes[1]))
        return false;
    double apart = difference(&outcomes[0], &outcomes[1]);
    if (apart <= 1e-6)
        return true;
    fprintf(stderr, "seed %llu: %s differs by %g from %s, folded by %s\n", (unsigned long long)seed, outcomes[0].name,
            apart, what, outcomes[0].classes ? "classes" : "replicas");
    return false;
}

/* Where nothing is folded there is nothing to compare. */
static bool agrees(uint64_t seed, const struct engine *engine, struct outcome outcomes[2])
{
    if (!run_apart(seed, engine, &folded_way, &outcomes[0]))
        return false;
    if (!outcomes[0].folded)
        return true;
    bool exact = engine == &engine_simgrid && seed % EXACT_EVERY == 0;
    return is_near(seed, engine, &whole_way, outcomes, "all ranks") &&
           (!exact || is_near(seed, engine, &exact_way, outcomes, "all ranks without the shortcut"));
}

int main(int argc, char **argv)
{
    uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : CASES, first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const struct engine *const engines[] = {&engine_simgrid, &engine_analytic};
    struct outcome *outcomes =
        mmap(NULL, 2 * sizeof *outcomes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcomes == MAP_FAILED)
        return 1;
    puts("1..6");
    for (int i = 0; i < 2; i++) {
        uint64_t folded = 0, classes = 0, failed = 0;
        for (uint64_t seed = first; seed < first + cases; seed++) {
            failed += !agrees(seed, engines[i], outcomes);
            folded += outcomes[0].folded;
            classes += outcomes[0].folded && outcomes[0].classes;
        }
        printf("%s %d - %s: folded and unfolded agree in %llu of %llu cases\n", failed ? "not ok" : "ok", 3 * i + 1,
               engines[i]->name, (unsigned long long)(cases - failed), (unsigned long long)cases);
        /* All ways must be taken, or the test says nothing. */
        printf("%s %d - %s: %llu cases were folded, the others not\n",
               folded * 10 >= cases && folded < cases ? "ok" : "not ok", 3 * i + 2, engines[i]->name,
               (unsigned long long)folded);
        printf("%s %d - %s: %llu of them by classes of ranks\n", classes * 10 >= cases ? "ok" : "not ok", 3 * i + 3,
               engines[i]->name, (unsigned long long)classes);
    }
    return 0;
}
