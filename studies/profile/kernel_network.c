/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/profile/kernel_network.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "job/job.h"
#include "studies/explain/engine_replay.h"
#include "studies/profile/kernel_replay.h"
#include "studies/simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct asking {
    const struct scenario *scenario;
    const struct recorded *recorded;
    struct kernel_network *network;
    bool alone_only;
};

static double message_bytes(void *user, uint32_t operation)
{
    const struct asking *asking = user;
    return (double)asking->recorded->operations[operation].bytes;
}

static bool collective_cost(void *user, uint32_t operation, const uint32_t *ranks, uint32_t count,
                            struct replay_collective *collective)
{
    static const enum stagesim_collective kinds[RECORDED_COLLECTIVES] = {
        [RECORDED_ALL_REDUCE] = STAGESIM_ALL_REDUCE,         [RECORDED_ALL_GATHER] = STAGESIM_ALL_GATHER,
        [RECORDED_REDUCE_SCATTER] = STAGESIM_REDUCE_SCATTER, [RECORDED_ALL_TO_ALL] = STAGESIM_ALL_TO_ALL,
        [RECORDED_BROADCAST] = STAGESIM_BROADCAST,           [RECORDED_REDUCE] = STAGESIM_REDUCE};
    struct asking *asking = user;
    const struct recorded_operation *it = &asking->recorded->operations[operation];
    (void)ranks;
    (void)count;
    if (it->collective == RECORDED_NO_COLLECTIVE || isnan(it->bytes)) {
        asking->network->left_out++;
        return false;
    }
    *collective = (struct replay_collective){.collective = kinds[it->collective], .cost = {.bytes = (double)it->bytes}};
    return true;
}

/* Fills seconds of the operations. False with the fault filled. */
static bool simulate_steps(struct engine_replay *replay, const struct replay *graph, const struct engine *engine,
                           double *seconds, struct fault *fault)
{
    double *own = array_zeroed(graph->node_count, sizeof *own);
    bool good = !isnan(engine_replay_simulate(replay, engine, own, fault));
    for (uint32_t i = 0; i < graph->node_count && good; i++)
        if (graph->nodes[i].kind == REPLAY_WORK)
            seconds[graph->nodes[i].operation] = own[i];
    free(own);
    return good;
}

static bool replay_on(struct asking *asking, const struct replay_network *network, struct fault *fault)
{
    struct kernel_network *found = asking->network;
    bool analytic = asking->scenario->engine == ENGINE_ANALYTIC;
    struct replay *graph = kernel_graph_create(asking->recorded, fault);
    struct engine_replay *replay = graph ? engine_replay_create(graph, network, fault) : NULL;
    bool good = replay && simulate_steps(replay, graph, &engine_analytic, found->alone, fault);
    if (good && !asking->alone_only)
        good = simulate_steps(replay, graph, analytic ? &engine_analytic : &engine_simgrid, found->shared, fault);
    engine_replay_finish(replay);
    replay_finish(graph);
    return good;
}

static int run(void *user, struct platform *platform, FILE *results, struct diag *diag)
{
    struct asking *asking = user;
    struct arena *arena = arena_create();
    const struct recorded *recorded = asking->recorded;
    struct kernel_network *found = asking->network;
    uint32_t *hosts = arena_array(arena, recorded->rank_count + 1, sizeof *hosts);
    struct replay_network network = {platform,      hosts,           &asking->scenario->collectives,
                                     message_bytes, collective_cost, asking};
    struct fault fault = {.text = ""};
    const struct job *job = job_create_steady(asking->scenario, platform, arena, diag);
    for (uint32_t i = 0; job && i < recorded->rank_count; i++)
        hosts[i] = job->hosts[recorded->ranks[i].number];
    bool good = job && replay_on(asking, &network, &fault);
    if (good) {
        fwrite(found->shared, sizeof *found->shared, recorded->count, results);
        fwrite(found->alone, sizeof *found->alone, recorded->count, results);
        fwrite(&found->left_out, sizeof found->left_out, 1, results);
    } else if (job) {
        diag_error(diag, scenario_place(asking->scenario, ""), "%s", fault.text);
    }
    arena_destroy(arena);
    return good ? EXIT_DONE : EXIT_BAD_INPUT;
}

static double *unknown(size_t count, struct arena *arena)
{
    double *values = arena_array_unset(arena, count + 1, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = NAN;
    return values;
}

/* Asks in a process of its own; an exit code. */
static int ask(struct asking *asking)
{
    FILE *results;
    struct kernel_network *network = asking->network;
    size_t count = asking->recorded->count;
    bool simulates = !asking->alone_only && asking->scenario->engine != ENGINE_ANALYTIC;
    int code = simulation_visit(&(struct simulation_visit){asking->scenario, run, asking, simulates}, &results);
    if (code != EXIT_DONE || !results)
        return code == EXIT_DONE ? EXIT_FAILED : code;
    network->known = fread(network->shared, sizeof *network->shared, count, results) == count &&
                     fread(network->alone, sizeof *network->alone, count, results) == count &&
                     fread(&network->left_out, sizeof network->left_out, 1, results) == 1;
    fclose(results);
    return network->known ? EXIT_DONE : EXIT_FAILED;
}

int kernel_network_find(const struct scenario *scenario, const struct recorded *recorded, struct arena *arena,
                        struct kernel_network *network)
{
    *network = (struct kernel_network){.shared = unknown(recorded->count, arena),
                                       .alone = unknown(recorded->count, arena),
                                       .missing = scenario->mesh.ranks - (uint32_t)recorded->rank_count};
    struct asking asking = {.scenario = scenario, .recorded = recorded, .network = network};
    return network->missing || !kernel_replay_possible(recorded) ? EXIT_DONE : ask(&asking);
}

int kernel_network_alone(const struct scenario *scenario, const struct recorded *recorded, double *seconds)
{
    struct arena *arena = arena_create();
    struct kernel_network network = {.shared = unknown(recorded->count, arena),
                                     .alone = unknown(recorded->count, arena)};
    struct asking asking = {.scenario = scenario, .recorded = recorded, .network = &network, .alone_only = true};
    int code = ask(&asking);
    memcpy(seconds, network.alone, recorded->count * sizeof *seconds);
    arena_destroy(arena);
    return code;
}

/* Whether its data move when others have come, too. */
static bool meets(const struct replay *graph, uint32_t node)
{
    for (uint32_t i = graph->first_before[node]; i < graph->first_before[node + 1]; i++)
        if (graph->nodes[graph->before[i]].kind == REPLAY_MEETING)
            return true;
    return false;
}

double *kernel_network_own(const struct recorded *recorded, struct arena *arena, struct fault *fault)
{
    double *seconds = unknown(recorded->count, arena);
    struct replay *graph = kernel_graph_create(recorded, fault);
    if (!graph)
        return NULL;
    for (uint32_t i = 0; i < graph->node_count; i++)
        if (graph->nodes[i].kind == REPLAY_WORK && meets(graph, i))
            seconds[graph->nodes[i].operation] = graph->nodes[i].seconds;
    replay_finish(graph);
    return seconds;
}
