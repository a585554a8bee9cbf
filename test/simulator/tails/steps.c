/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that were drawn against what is known of them otherwise: the engine that goes through every rank on a platform
 * whose GPUs are as slow as they were drawn, closed forms, and what may change nothing. Arguments: cases [seed]. */
#include "base/arena.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/engine.h"
#include "simulator/tails/quantile.h"
#include "simulator/tails/quick_draw.h"
#include "simulator/tails/tails_run.h"
#include "test/support/random_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned failures;

static void check(bool good, const char *what, double found, double expected)
{
    if (good)
        return;
    failures++;
    fprintf(stderr, "%s: %.12g, expected %.12g\n", what, found, expected);
}

static double latest_end(const struct timeline *timeline)
{
    double last = 0;
    const struct program *program = timeline->program;
    for (uint32_t rank = 0; rank < timeline->rank_count; rank++)
        for (uint32_t id = 0; id < program->positions[program->mesh->position_of[rank]].operation_count; id++)
            last = fmax(last, timeline->moments[rank][id].end);
    return last;
}

static struct timeline *run_engine(const struct program *program, struct platform *platform, const uint32_t *hosts)
{
    struct fault fault = {""};
    struct timeline *timeline = timeline_create(program);
    struct engine_job job = {.program = program, .platform = platform, .hosts = hosts, .timeline = timeline};
    if (!engine_analytic.run(&job, &fault)) {
        fprintf(stderr, "%s\n", fault.text);
        exit(1);
    }
    return timeline;
}

static struct step_walk *make_walk(const struct timeline *timeline, const struct tails_settings *settings,
                                   const struct kernel_shares *shares, const struct platform *platform,
                                   const uint32_t *hosts, struct arena *arena)
{
    struct fault fault = {""};
    struct step_net *net = step_net_create(timeline, arena, &fault);
    struct step_walk *walk =
        net ? step_walk_create(step_model_create(net, settings, shares, platform, hosts, arena), arena, &fault) : NULL;
    check(walk != NULL, fault.text, 0, 1);
    return walk;
}

/* ---- random jobs ---- */

static void slow_down(struct platform *platform, const struct random_job *job, const double *full,
                      const struct step_walk *walk, int lane)
{
    for (uint32_t rank = 0; rank < job->mesh.ranks; rank++) {
        struct platform_host *host = &platform->hosts[job->hosts[rank]];
        host->full_speed = full[job->hosts[rank]];
        host->speed = host->full_speed / walk->draw->ranks[rank * (size_t)STEP_LANES + (size_t)lane];
    }
}

/* Drawn steps of a job whose GPUs are slow by one of three factors are what the engine says of such GPUs. */
static void try_random_job(uint64_t seed, unsigned *compared)
{
    static const double factors[] = {1, 1.3, 2.1};
    struct distribution device = {.kind = DISTRIBUTION_SAMPLES, .values = factors, .count = 3};
    struct tails_settings settings = {.device = &device, .seed = seed};
    struct arena *arena = arena_create();
    struct random_job *job = random_job_create(seed, seed % 2, arena);
    double *full = arena_array(arena, job->platform.host_count, sizeof *full);
    for (uint32_t host = 0; host < job->platform.host_count; host++)
        full[host] = platform_full_speed(&job->platform.hosts[host]);
    struct timeline *timeline = run_engine(job->program, &job->platform, job->hosts);
    struct step_walk *walk = make_walk(timeline, &settings, NULL, &job->platform, job->hosts, arena);
    bool alike = true; /* otherwise hosts are slow already */
    for (uint32_t host = 0; host < job->platform.host_count; host++)
        alike &= fabs(job->platform.hosts[host].speed / full[0] - 1) < 1e-12;
    timeline_destroy(timeline);
    if (walk && walk->model->net->exact && !job->overlaps && alike) {
        double seconds[STEP_LANES];
        step_walk_seconds(walk, 0, TAILS_CHANGES, seconds);
        for (int lane = 0; lane < STEP_LANES; lane++) {
            slow_down(&job->platform, job, full, walk, lane);
            timeline = run_engine(job->program, &job->platform, job->hosts);
            double expected = latest_end(timeline);
            check(fabs(seconds[lane] - expected) <= 1e-9 * expected, job->schedule, seconds[lane], expected);
            timeline_destroy(timeline);
            ++*compared;
        }
    }
    arena_destroy(arena);
}

/* ---- ranks side by side ---- */

struct bench {
    struct arena *arena;
    struct mesh mesh;
    struct program *program;
    struct platform platform;
    uint32_t *hosts;
    struct timeline *timeline;
};

static void no_route(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    (void)platform, (void)from, (void)to;
    *route = (struct platform_route){1e-6, 1e9, 0, NULL};
}

/* Ranks that compute micro-batches forwards, one behind the other, each 1 s; two to a node. The step ends with the
 * last. */
static struct bench *make_bench(uint32_t ranks, uint32_t micro_batches)
{
    struct arena *arena = arena_create();
    struct bench *bench = arena_alloc(arena, sizeof *bench);
    struct platform_host *hosts = arena_array(arena, ranks, sizeof *hosts);
    *bench = (struct bench){.arena = arena};
    bench->mesh = (struct mesh){.axis_count = 2,
                                .axes = {{"data", ranks, 0, false}, {"pipeline", 1, 0, true}},
                                .name_count = 2,
                                .names = {{"data", ranks, 1}, {"pipeline", 1, 2}}};
    mesh_finish(&bench->mesh, arena);
    bench->hosts = arena_array(arena, ranks, sizeof *bench->hosts);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        bench->hosts[rank] = rank;
        hosts[rank] =
            (struct platform_host){.name = "gpu", .node = arena_print(arena, "node-%u", rank / 2), .speed = 1};
    }
    bench->platform = (struct platform){.hosts = hosts, .host_count = ranks, .route = no_route};
    struct program_builder *builder = program_builder_create(&bench->mesh);
    uint32_t cost = program_add_cost(builder, &(struct stagesim_cost){.seconds = 1});
    for (uint32_t i = 0; i < micro_batches; i++)
        program_add_compute(
            builder, 0, (struct stagesim_identity){.kind = STAGESIM_FORWARD, .micro_batch = i, .layer = STAGESIM_NONE},
            cost);
    bench->program = program_finish(builder, arena);
    program_builder_destroy(builder);
    bench->program->iterations = 1;
    assignment_create(bench->program, arena);
    bench->timeline = run_engine(bench->program, &bench->platform, bench->hosts);
    return bench;
}

static void destroy_bench(struct bench *bench)
{
    timeline_destroy(bench->timeline);
    arena_destroy(bench->arena);
}

static struct step_walk *walk_bench(struct bench *bench, const struct tails_settings *settings)
{
    return make_walk(bench->timeline, settings, NULL, &bench->platform, bench->hosts, bench->arena);
}

/* The slowest of 64 workers that deviate by 2 %: mu (1 + 0.02 e_64) with e_64 = 2.3437. */
static void slowest_of_64(void)
{
    enum { STEPS = 20000 };
    struct distribution device = {.kind = DISTRIBUTION_NORMAL, .a = 1, .b = 0.02};
    struct tails_settings settings = {.device = &device};
    struct bench *bench = make_bench(64, 1);
    struct step_walk *walk = walk_bench(bench, &settings);
    struct tails_step *steps = array_zeroed(STEPS, sizeof *steps);
    tails_run(walk, 0, STEPS, steps);
    struct tails_figures figures = tails_figures_of(walk, steps, STEPS);
    check(fabs(figures.mean / 1.0469 - 1) < 0.001, "slowest of 64", figures.mean, 1.0469);
    for (int i = 0; i < 3; i++) {
        static const double shares[] = {0.5, 0.95, 0.99};
        const struct tails_quantile *quantile[] = {&figures.p50, &figures.p95, &figures.p99};
        double expected = 1 + 0.02 * normal_quantile(pow(shares[i], 1.0 / 64));
        check(fabs(quantile[i]->value - expected) < 0.001, "quantile of the slowest", quantile[i]->value, expected);
    }
    check(figures.changes[CHANGE_SLOWEST].known && figures.changes[CHANGE_SLOWEST].mean < figures.compared_mean,
          "without the slowest", figures.changes[CHANGE_SLOWEST].mean, figures.compared_mean);
    free(steps);
    destroy_bench(bench);
}

/* Of 500 samples of 400 steps, intervals have the quantile of all in 95 of 100 cases: 90 to 98. */
static void intervals_cover(void)
{
    enum { SAMPLES = 500, STEPS = 1000 };
    static const double shares[] = {0.5, 0.95, 0.99};
    struct distribution device = {.kind = DISTRIBUTION_NORMAL, .a = 1, .b = 0.02};
    unsigned covered[3] = {0};
    struct bench *bench = make_bench(16, 1);
    struct tails_step *steps = array_zeroed(STEPS, sizeof *steps);
    for (uint64_t seed = 0; seed < SAMPLES; seed++) {
        struct tails_settings settings = {.device = &device, .seed = seed};
        struct step_walk *walk = walk_bench(bench, &settings);
        double seconds[STEP_LANES], values[STEPS];
        for (uint32_t i = 0; i < STEPS; i += STEP_LANES) {
            step_walk_seconds(walk, i, TAILS_CHANGES, seconds);
            memcpy(&values[i], seconds, sizeof seconds);
        }
        for (uint32_t i = 0; i < STEPS; i++)
            steps[i] = (struct tails_step){.seconds = values[i], .straggler = STEP_NONE};
        struct tails_figures figures = tails_figures_of(walk, steps, STEPS);
        const struct tails_quantile *quantile[] = {&figures.p50, &figures.p95, &figures.p99};
        for (int i = 0; i < 3; i++) {
            double expected = 1 + 0.02 * normal_quantile(pow(shares[i], 1.0 / 16));
            covered[i] += quantile[i]->low <= expected && expected <= quantile[i]->high;
        }
    }
    for (int i = 0; i < 3; i++) {
        printf("# %u of %d intervals have the quantile %g\n", covered[i], SAMPLES, shares[i]);
        check(covered[i] >= 0.90 * SAMPLES && covered[i] <= 0.98 * SAMPLES, "intervals that cover", covered[i],
              0.95 * SAMPLES);
    }
    free(steps);
    destroy_bench(bench);
}

/* Each of n ranks loses d with probability p: d (1 - (1 - p)^n) a step; all at a time d p. */
static void pauses(void)
{
    enum { STEPS = 40000 };
    struct distribution pause = distribution_fixed(0.25);
    struct tails_settings settings = {.pause = &pause, .pause_every = 40};
    struct bench *bench = make_bench(20, 3);
    struct step_walk *walk = walk_bench(bench, &settings);
    struct tails_step *steps = array_zeroed(STEPS, sizeof *steps);
    tails_run(walk, 0, STEPS, steps);
    struct tails_figures figures = tails_figures_of(walk, steps, STEPS);
    double expected = 3 + 0.25 * (1 - pow(1 - 1.0 / 40, 20)), together = 0;
    for (uint32_t i = 0; i < TAILS_COMPARED; i++)
        together += steps[i].changes[CHANGE_TOGETHER] / TAILS_COMPARED;
    check(fabs(figures.mean - expected) < 4 * figures.error, "pauses", figures.mean, expected);
    check(figures.error < 0.001, "pauses are known", figures.error, 0.001);
    check(fabs(together - 3 - 0.25 / 40) < 4 * 0.25 * sqrt(1.0 / 40 / TAILS_COMPARED), "together", together,
          3 + 0.25 / 40);
    free(steps);
    destroy_bench(bench);
}

/* Of which a share is of kernels that take f, a second becomes (1 - share) + share f; what f takes on average says what
 * the computation does. */
static void shares_of_kernels(void)
{
    enum { STEPS = 20000 };
    static const double norms[] = {0.1, 0.25}, matrices[] = {0.5, 0.75};
    const struct kernel_shares shares = {(const size_t[]){0, 2}, {[TAILS_NORM] = norms, [TAILS_MATRIX] = matrices}};
    const struct distribution norm = distribution_fixed(3), matrix = {.kind = DISTRIBUTION_NORMAL, .a = 2, .b = 0.1};
    struct tails_settings settings = {.kernels = {[TAILS_NORM] = &norm}};
    struct bench *bench = make_bench(4, 2);
    struct step_walk *walk =
        make_walk(bench->timeline, &settings, &shares, &bench->platform, bench->hosts, bench->arena);
    double seconds[STEP_LANES], sum = 0, squares = 0, deviation = 0.1 * sqrt(0.5 * 0.5 + 0.75 * 0.75);
    step_walk_seconds(walk, 0, TAILS_CHANGES, seconds);
    check(fabs(seconds[0] - (0.9 + 0.1 * 3 + 0.75 + 0.25 * 3)) < 1e-12, "shares of kernels", seconds[0], 2.7);
    destroy_bench(bench);
    bench = make_bench(1, 2);
    settings.kernels[TAILS_MATRIX] = &matrix;
    walk = make_walk(bench->timeline, &settings, &shares, &bench->platform, bench->hosts, bench->arena);
    for (uint32_t i = 0; i < STEPS; i += STEP_LANES) {
        step_walk_seconds(walk, i, TAILS_CHANGES, seconds);
        for (int lane = 0; lane < STEP_LANES; lane++) {
            sum += (seconds[lane] - 2.7 - 1.25) / STEPS;
            squares += (seconds[lane] - 2.7 - 1.25) * (seconds[lane] - 2.7 - 1.25) / STEPS;
        }
    }
    check(fabs(sum) < 4 * deviation / sqrt(STEPS), "mean of two classes", sum, 0);
    check(fabs(sqrt(squares) / deviation - 1) < 0.02, "each computation for itself", sqrt(squares), deviation);
    check(fabs(step_walk_control_mean(walk) - 3.95) < 1e-12, "their mean is known", step_walk_control_mean(walk), 3.95);
    destroy_bench(bench);
}

/* ---- what may change nothing ---- */

static const double few[] = {0.9, 1, 1.4};

static struct tails_settings everything(struct distribution *own)
{
    own[0] = (struct distribution){.kind = DISTRIBUTION_NORMAL, .a = 1, .b = 0.03};
    own[1] = distribution_log_normal(1, 0.4);
    own[2] = (struct distribution){.kind = DISTRIBUTION_SAMPLES, .values = few, .count = 3};
    own[3] = distribution_gamma(1.1, 0.2);
    own[4] = distribution_fixed(0.3);
    return (struct tails_settings){.device = &own[0],
                                   .node = &own[3],
                                   .worker = &own[2],
                                   .micro_batch = &own[1],
                                   .operation = &own[0],
                                   .transfer = &own[1],
                                   .link = &own[3],
                                   .pause = &own[4],
                                   .pause_every = 5,
                                   .seed = 7};
}

/* One rank more, on a node of its own: the others draw what they drew. */
static void one_more(void)
{
    struct distribution own[5];
    struct tails_settings settings = everything(own);
    struct bench *small = make_bench(6, 3), *large = make_bench(7, 3);
    struct step_walk *few_ranks = walk_bench(small, &settings), *more = walk_bench(large, &settings);
    for (uint64_t step = 0; step < 40; step += STEP_LANES) {
        step_draw_begin(few_ranks->draw, step, TAILS_CHANGES);
        step_draw_begin(more->draw, step, TAILS_CHANGES);
        for (uint32_t node = 0, other = 0; node < few_ranks->model->net->count; node++, other = 0) {
            const struct step_task *task = &few_ranks->model->net->tasks[node];
            double a[STEP_LANES], b[STEP_LANES];
            while (more->model->net->tasks[other].rank != task->rank ||
                   more->model->net->tasks[other].operation != task->operation)
                other++;
            step_draw_seconds(few_ranks->draw, node, a);
            step_draw_seconds(more->draw, other, b);
            check(memcmp(a, b, sizeof a) == 0, "one rank more", b[0], a[0]);
        }
    }
    destroy_bench(small);
    destroy_bench(large);
}

/* Steps in parts, as processes do them. */
static void in_parts(void)
{
    struct distribution own[5];
    struct tails_settings settings = everything(own);
    struct bench *bench = make_bench(6, 3);
    struct step_walk *walk = walk_bench(bench, &settings);
    struct tails_step whole[30], parts[30];
    memset(whole, 0, sizeof whole);
    memset(parts, 0, sizeof parts);
    tails_run(walk, 0, 30, whole);
    tails_run(walk, 12, 18, parts + 12);
    tails_run(walk, 0, 12, parts);
    check(memcmp(whole, parts, sizeof whole) == 0, "steps in parts", parts[29].seconds, whole[29].seconds);
    destroy_bench(bench);
}

/* What the longest path's computations take on average is what is said of it, by all that varies. */
static void controls(void)
{
    enum { STEPS = 20000 };
    struct distribution own[5];
    struct tails_settings settings = everything(own);
    struct bench *bench = make_bench(5, 4);
    struct step_walk *walk = walk_bench(bench, &settings);
    double sum = 0, squares = 0, expected = step_walk_control_mean(walk);
    for (uint32_t i = 0; i < STEPS; i += STEP_LANES) {
        double seconds[STEP_LANES], own_controls[STEP_LANES];
        step_walk_seconds(walk, i, TAILS_CHANGES, seconds);
        step_walk_controls(walk, own_controls);
        for (int lane = 0; lane < STEP_LANES; lane++) {
            sum += own_controls[lane];
            squares += own_controls[lane] * own_controls[lane];
        }
    }
    double mean = sum / STEPS, error = sqrt((squares / STEPS - mean * mean) / STEPS);
    check(fabs(mean - expected) < 4 * error, "control", mean, expected);
    check(error < 0.01 * expected, "control is known", error, 0.01 * expected);
    destroy_bench(bench);
}

/* Quick draws are those of the same stream; and so are those that are drawn as they are. */
static void quick_draws(void)
{
    struct distribution all[] = {{.kind = DISTRIBUTION_UNIFORM, .a = 0.5, .b = 1.5},
                                 distribution_exponential(1),
                                 {.kind = DISTRIBUTION_NORMAL, .a = 1, .b = 0.2},
                                 distribution_log_normal(1, 0.5),
                                 distribution_weibull(1, 0.7),
                                 distribution_gamma(1, 0.3),
                                 {.kind = DISTRIBUTION_SAMPLES, .values = few, .count = 3},
                                 distribution_fixed(1.2)};
    struct arena *arena = arena_create();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct quick_draw quick = quick_draw_of(&all[i], arena);
        for (uint64_t n = 0; n < 100000; n++) {
            struct draws a = draws_of(1, i, n), b = a;
            double expected = distribution_draw(&all[i], &a), found = quick_draw(&quick, &b);
            check(fabs(found - expected) <= 2e-5 * expected + 1e-6, "quick draw", found, expected);
        }
    }
    struct draws draws = {1};
    check(quick_draw(&(struct quick_draw){NULL, NULL}, &draws) == 1, "none", 0, 1);
    arena_destroy(arena);
}

/* ---- recorded micro-batches ---- */

/* Two replicas, the second recorded twice as slow: it is the straggler, and its steps are sums of its own. */
static void recorded(void)
{
    static const double quick[][1] = {{1}, {1.5}}, slow[][1] = {{3}, {4}};
    const struct tails_record records[] = {
        {0, quick[0], quick[0]}, {0, quick[1], quick[1]}, {1, slow[0], slow[0]}, {1, slow[1], slow[1]}};
    static const size_t first[] = {0, 2, 4};
    struct tails_trace trace = {records, 4, 1, 2, first};
    struct tails_settings settings = {.trace = &trace};
    struct bench *bench = make_bench(2, 2);
    struct step_walk *walk = walk_bench(bench, &settings);
    struct tails_step steps[400];
    tails_run(walk, 0, 400, steps);
    unsigned counts[3] = {0};
    for (int i = 0; i < 400; i++) {
        double two = steps[i].seconds - 6;
        check(fabs(two - round(two)) < 1e-12 && two > -0.5 && two < 2.5, "recorded", two, 1);
        counts[two > 1.5 ? 2 : two > 0.5 ? 1 : 0]++;
        check(steps[i].straggler == 1, "straggler", steps[i].straggler, 1);
        check(steps[i].changes[CHANGE_BALANCED] < steps[i].seconds, "balanced", steps[i].changes[CHANGE_BALANCED],
              steps[i].seconds);
    }
    check(fabs(counts[1] / 400.0 - 0.5) < 0.1 && fabs(counts[0] / 400.0 - 0.25) < 0.09, "each as often", counts[1],
          200);
    destroy_bench(bench);
}

int main(int argc, char **argv)
{
    unsigned cases = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 300, compared = 0;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    puts("1..11");
    for (unsigned i = 0; i < cases; i++)
        try_random_job(seed + i, &compared);
    check(argc > 2 || compared >= cases / 3, "random jobs that were compared", compared, cases / 3.0);
    printf("# %u steps of %u random jobs\n%sok 1 - random jobs\n", compared, cases, failures ? "not " : "");
    static void (*const tests[])(void) = {quick_draws, slowest_of_64, intervals_cover,   pauses, one_more, in_parts,
                                          controls,    recorded,      shares_of_kernels, NULL};
    static const char *const names[] = {"quick draws", "slowest of 64", "intervals cover",
                                        "pauses",      "one more rank", "in parts",
                                        "controls",    "recorded",      "shares of kernels"};
    unsigned number = 2, all = failures;
    for (int i = 0; tests[i]; i++) {
        failures = 0;
        tests[i]();
        printf("%sok %u - %s\n", failures ? "not " : "", number++, names[i]);
        all += failures;
    }
    printf("%sok %u - all\n", all ? "not " : "", number);
    return all ? 1 : 0;
}
