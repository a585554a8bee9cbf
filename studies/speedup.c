/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/speedup.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "base/process/interruption.h"
#include "studies/simulation.h"
#include "workloads/layers/layers.h"

#include <math.h>

/* ---- the rules ---- */

/* A round of G GPUs takes T_C + G T_O, one GPU takes T_C + T_O for a G-th of its samples. */
double speedup_of(double ratio, double gpus)
{
    return gpus * speedup_efficiency(ratio, gpus);
}

double speedup_limit(double ratio)
{
    return (1 + ratio) / ratio;
}

double speedup_efficiency(double ratio, double gpus)
{
    return (1 + ratio) / (1 + gpus * ratio);
}

double speedup_gpus(double ratio, double efficiency)
{
    return (1 + ratio - efficiency) / (efficiency * ratio);
}

double speedup_servers(double exchanged, double workers, double bandwidth, double computing)
{
    return exchanged * workers / (bandwidth * computing);
}

/* ---- the simulations ---- */

enum { SETS = 3 };

/* What a run gives with other numbers of workers and servers, the same samples for each worker; an exit code. */
static int run(const struct scenario *scenario, uint32_t workers, uint32_t servers, struct comparison_row *row)
{
    struct arena *arena = arena_create();
    const struct scenario_set sets[SETS] = {
        {NULL, arena_print(arena, "parallel={data: %u}", workers)},
        {NULL, arena_print(arena, "batch={micro: %llu, micro_batches: %u}",
                           (unsigned long long)scenario->micro_batch_size, scenario->micro_batches)},
        {NULL, arena_print(arena, "layers.servers=%u", servers)}};
    struct simulation_result result;
    int code = simulate_changed(scenario, sets, SETS, &result);
    if (code == EXIT_DONE)
        *row = result.rows[result.row_count - 1];
    arena_destroy(arena);
    return code;
}

static const struct layers_parameters *parameters_of(const struct scenario *scenario)
{
    return scenario->parameters;
}

/* Servers on workers' hosts are no more than these. */
static uint32_t servers_for(const struct scenario *scenario, uint32_t workers)
{
    const struct layers_parameters *p = parameters_of(scenario);
    return p->colocated && p->servers > workers ? workers : (uint32_t)p->servers;
}

/* The time that one GPU computes for, and what it takes beyond that. */
static int measure_one(const struct scenario *scenario, struct speedup_advice *advice)
{
    struct comparison_row row;
    int code = run(scenario, 1, servers_for(scenario, 1), &row);
    if (code != EXIT_DONE)
        return code;
    advice->computing = row.iteration * (row.limits.shares[LIMIT_COMPUTE] + row.limits.shares[LIMIT_MEMORY]);
    advice->overhead = fmax(0, row.iteration - advice->computing);
    if (advice->overhead < 1e-9 * row.iteration)
        advice->overhead = 0;
    advice->ratio = advice->computing > 0 ? advice->overhead / advice->computing : 0;
    advice->gpus[advice->gpu_count++] = (struct speedup_row){1, 1, row.iteration, 1};
    return EXIT_DONE;
}

static int measure_more(const struct scenario *scenario, size_t top, struct speedup_advice *advice)
{
    double one = advice->gpus[0].iteration;
    for (uint64_t gpus = 2; gpus < 2ull * advice->workers && advice->gpu_count < SPEEDUP_ROWS; gpus *= 2) {
        uint32_t count = (uint32_t)(gpus < advice->workers ? gpus : advice->workers);
        struct speedup_row *row = &advice->gpus[advice->gpu_count];
        *row = (struct speedup_row){count, speedup_of(advice->ratio, count), NAN, NAN};
        if (advice->gpu_count <= top) {
            struct comparison_row simulated;
            int code = run(scenario, count, servers_for(scenario, count), &simulated);
            if (code != EXIT_DONE)
                return code;
            row->iteration = simulated.iteration;
            row->simulated = count * one / simulated.iteration;
        }
        advice->gpu_count++;
    }
    return EXIT_DONE;
}

/* ---- servers ---- */

/* The narrowest link between the first worker and the host behind the last, where a server would be. */
static int find_bandwidth(void *user, struct platform *platform, FILE *results, struct diag *diag)
{
    const struct speedup_advice *advice = user;
    uint32_t server = advice->workers < platform->host_count ? advice->workers : platform->host_count - 1;
    struct platform_route route = {.bandwidth = 0};
    (void)diag;
    if (server > 0 && platform->reaches(platform, 0, server))
        platform->route(platform, 0, server, &route);
    double bandwidth = isfinite(route.bandwidth) ? route.bandwidth : 0;
    return fwrite(&bandwidth, sizeof bandwidth, 1, results) == 1 ? EXIT_DONE : EXIT_FAILED;
}

static int count_servers(const struct scenario *scenario, struct speedup_advice *advice)
{
    FILE *results = NULL;
    int code = simulation_visit(&(struct simulation_visit){scenario, find_bandwidth, advice}, &results);
    if (code == EXIT_DONE && fread(&advice->bandwidth, sizeof advice->bandwidth, 1, results) != 1)
        code = EXIT_FAILED;
    if (results)
        fclose(results);
    advice->exchanged = layers_exchanged_bytes(parameters_of(scenario));
    if (code == EXIT_DONE && advice->bandwidth > 0 && advice->computing > 0)
        advice->servers = speedup_servers(advice->exchanged, advice->workers, advice->bandwidth, advice->computing);
    return code;
}

/* 1, 2, 4, ... and as many as are needed, no more than the scenario has hosts for. */
static int measure_servers(const struct scenario *scenario, size_t top, struct speedup_advice *advice)
{
    const struct layers_parameters *p = parameters_of(scenario);
    double needed = fmax(1, ceil(advice->servers));
    uint32_t most = (uint32_t)fmin(needed, (double)p->servers);
    if (!p->servers || p->colocated || advice->servers <= 0)
        return EXIT_DONE;
    for (uint64_t servers = 1; servers < 2ull * most && advice->server_count < SPEEDUP_ROWS; servers *= 2) {
        uint32_t count = (uint32_t)(servers < most ? servers : most);
        struct speedup_row *row = &advice->server_rows[advice->server_count];
        double bound = advice->exchanged * advice->workers / (count * advice->bandwidth);
        *row = (struct speedup_row){count, bound, NAN, NAN};
        if (advice->server_count < top) {
            struct comparison_row simulated;
            int code = run(scenario, advice->workers, count, &simulated);
            if (code != EXIT_DONE)
                return code;
            row->iteration = simulated.iteration;
        }
        advice->server_count++;
    }
    return EXIT_DONE;
}

/* ---- all together ---- */

/* What the rules are about; false with the mistake reported. */
static bool check(const struct scenario *scenario)
{
    struct diag diag = {.out = stderr};
    if (!simulation_expects_samples(scenario, scenario->micro_batch_size > 0, &diag))
        return false;
    if (scenario->mesh.ranks - scenario->mesh.extra != scenario->data || scenario->schedule_name)
        diag_error(&diag, scenario_place(scenario, "parallel"),
                   "advice is for data parallelism alone; expected no axis but data and no schedule");
    return diag.errors == 0;
}

int speedup_advise(const struct scenario *scenario, size_t top, struct speedup_advice *advice)
{
    *advice = (struct speedup_advice){.workers = scenario->data};
    if (!check(scenario))
        return EXIT_BAD_INPUT;
    int code = measure_one(scenario, advice);
    if (code == EXIT_DONE)
        code = count_servers(scenario, advice);
    if (code == EXIT_DONE)
        code = measure_more(scenario, top, advice);
    if (code == EXIT_DONE)
        code = measure_servers(scenario, top, advice);
    advice->stopped = interruption_noted();
    return advice->stopped && advice->gpu_count ? EXIT_DONE : code;
}
