/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/explain/shared_network.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "job/job.h"
#include "studies/explain/engine_replay.h"
#include "studies/simulation.h"
#include "traces/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what transfers of the scenario's program are like one of the trace ---- */

/* A message or collective, by whose it is and what for. Those alike are in the order in which they begin. */
struct transfer {
    uint32_t side;   /* position; rank in the trace */
    uint32_t what;   /* kind of operation, work and stage */
    uint32_t kind;   /* enum stagesim_kind, where the work says nothing */
    uint32_t step;   /* iteration */
    uint32_t number; /* id; operation of the trace */
};

struct asking {
    const struct scenario *scenario;
    const struct expected_table *model;
    const struct recorded *trace;
    const uint32_t *steps;
    size_t step_count;
    /* in the process of the platform */
    const struct job *job;
    struct transfer *own; /* of the scenario's program */
    size_t own_count;
    uint32_t *place; /* [operation of the trace]: how many alike come before it in its step */
    double *seconds; /* [operation of the trace] */
    uint32_t left_out;
};

static uint32_t what_of(enum recorded_kind kind, unsigned work, unsigned stage)
{
    return (uint32_t)kind << 24 | work << 16 | stage;
}

static uint32_t kind_of(const char *name)
{
    uint32_t kind = 0;
    while (kind < STAGESIM_KINDS && strcmp(name, kind_name((enum stagesim_kind)kind)) != 0)
        kind++;
    return kind;
}

static int by_what(const void *left, const void *right)
{
    const struct transfer *a = left, *b = right;
    if (a->side != b->side)
        return a->side < b->side ? -1 : 1;
    if (a->what != b->what)
        return a->what < b->what ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return (a->step > b->step) - (a->step < b->step);
}

static int by_all(const void *left, const void *right)
{
    const struct transfer *a = left, *b = right;
    int order = by_what(left, right);
    return order ? order : (a->number > b->number) - (a->number < b->number);
}

static void list_own(struct asking *asking)
{
    const struct program *program = asking->job->program;
    size_t capacity = 0;
    for (uint32_t p = 0; p < program->mesh->positions; p++)
        for (uint32_t id = 0; id < program->positions[p].operation_count; id++) {
            const struct operation *operation = &program->positions[p].operations[id];
            bool sends = operation->type == OPERATION_SEND;
            if (!sends && operation->type != OPERATION_COLLECTIVE)
                continue;
            const char *name = kind_name((enum stagesim_kind)operation->kind);
            enum recorded_work work = words_work(name, strlen(name));
            asking->own = array_grow(asking->own, &capacity, asking->own_count + 1, sizeof *asking->own);
            asking->own[asking->own_count++] =
                (struct transfer){p, what_of(sends ? RECORDED_SEND : RECORDED_COLLECTIVE, work, operation->stage),
                                  work == RECORDED_OTHER ? operation->kind : 0, operation->iteration, id};
        }
    if (asking->own_count)
        qsort(asking->own, asking->own_count, sizeof *asking->own, by_all);
}

static struct transfer transfer_of(const struct recorded *trace, uint32_t number)
{
    const struct recorded_operation *operation = &trace->operations[number];
    return (struct transfer){
        recorded_rank_of(trace, operation), what_of(operation->kind, operation->work, operation->stage),
        operation->work == RECORDED_OTHER ? kind_of(recorded_name_of(trace, operation)) : 0, operation->step, number};
}

/* Operations of the trace come by stream and begin, so that the numbers of those alike are in their order but for
 * groups that take turns. */
static void count_places(struct asking *asking)
{
    const struct recorded *trace = asking->trace;
    struct transfer *all = array_zeroed(trace->count, sizeof *all);
    size_t count = 0;
    asking->place = array_zeroed(trace->count, sizeof *asking->place);
    for (uint32_t i = 0; i < trace->count; i++)
        if (trace->operations[i].kind == RECORDED_SEND || trace->operations[i].kind == RECORDED_COLLECTIVE)
            all[count++] = transfer_of(trace, i);
    if (count)
        qsort(all, count, sizeof *all, by_all);
    for (size_t i = 1; i < count; i++) {
        bool same = !by_what(&all[i - 1], &all[i]);
        asking->place[all[i].number] = same ? asking->place[all[i - 1].number] + 1 : 0;
    }
    free(all);
}

static void find_alike(const struct asking *asking, const struct transfer *key, size_t *first, size_t *end)
{
    size_t low = 0, high = asking->own_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (by_what(&asking->own[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *first = low;
    for (*end = low; *end < asking->own_count && !by_what(&asking->own[*end], key); (*end)++) {}
}

/* The operation of the scenario's program that is like one of the trace; NULL: there is none. */
static const struct operation *alike(const struct asking *asking, uint32_t number)
{
    const struct recorded *trace = asking->trace;
    struct transfer key = transfer_of(trace, number);
    const struct program *program = asking->job->program;
    key.side = program->mesh->position_of[trace->ranks[key.side].number];
    size_t low, end;
    find_alike(asking, &key, &low, &end);
    if (end == low && key.step) { /* of the scenario's first iteration */
        key.step = 0;
        find_alike(asking, &key, &low, &end);
    }
    if (end == low)
        return NULL;
    return &program->positions[key.side].operations[asking->own[low + asking->place[number] % (end - low)].number];
}

static double bytes_of(const struct asking *asking, const struct operation *own, uint32_t number)
{
    return operation_cost(asking->job->program, own)->bytes *
           expected_ratio(asking->model, asking->trace, &asking->trace->operations[number]);
}

static double message_bytes(void *user, uint32_t operation)
{
    const struct asking *asking = user;
    const struct operation *own = alike(asking, operation);
    return own ? bytes_of(asking, own, operation) : (double)asking->trace->operations[operation].bytes;
}

/* Whether those ranks of the trace are the members of a collective that is a rank's own. */
static bool has_members(const struct asking *asking, const struct operation *own, uint32_t rank, const uint32_t *ranks,
                        uint32_t count)
{
    const struct program *program = asking->job->program;
    uint32_t number = asking->trace->ranks[rank].number, position = program->mesh->position_of[number];
    const struct group *group = &program->groups[program->positions[position].streams[own->stream].peer];
    bool good = group_size(program, group) == count;
    uint32_t *members = array_zeroed(good ? count : 1, sizeof *members);
    if (good)
        group_ranks(program, group, group_instance_of(program, group, program->mesh->replica_of[number]), members);
    for (uint32_t i = 0; i < count && good; i++)
        good = members[i] == asking->trace->ranks[ranks[i]].number;
    free(members);
    return good;
}

/* The caller frees them. */
static double *bytes_of_pairs(const struct pair_bytes *pairs, double bytes)
{
    size_t count = (size_t)pairs->members * pairs->members;
    double *all = array_zeroed(count, sizeof *all);
    for (size_t i = 0; i < count; i++)
        all[i] = pairs->shares[i] * bytes;
    return all;
}

static bool collective_cost(void *user, uint32_t operation, const uint32_t *ranks, uint32_t count,
                            struct replay_collective *collective)
{
    struct asking *asking = user;
    const struct operation *own = alike(asking, operation);
    uint32_t rank = recorded_rank_of(asking->trace, &asking->trace->operations[operation]);
    if (!own || !has_members(asking, own, rank, ranks, count)) {
        asking->left_out++;
        return false;
    }
    const struct pair_bytes *pairs = operation_pairs(asking->job->program, own);
    *collective = (struct replay_collective){.collective = (enum stagesim_collective)own->collective,
                                             .cost = {.bytes = bytes_of(asking, own, operation),
                                                      .repeats = operation_cost(asking->job->program, own)->repeats}};
    if (pairs)
        collective->pairs = bytes_of_pairs(pairs, collective->cost.bytes);
    return true;
}

/* ---- the replay, in a process of its own ---- */

static bool simulate_step(struct asking *asking, const struct replay_network *network, uint32_t step, double *total,
                          struct fault *fault)
{
    bool analytic = asking->scenario->engine == ENGINE_ANALYTIC;
    struct replay *replay = replay_create(asking->trace, step, fault);
    struct engine_replay *engine = replay ? engine_replay_create(replay, network, fault) : NULL;
    double *seconds = array_zeroed(replay ? replay->node_count : 0, sizeof *seconds), took = NAN;
    if (engine)
        took = engine_replay_simulate(engine, analytic ? &engine_analytic : &engine_simgrid, seconds, fault);
    for (uint32_t i = 0; engine && !isnan(took) && i < replay->node_count; i++)
        if (replay->nodes[i].kind == REPLAY_WORK)
            asking->seconds[replay->nodes[i].operation] = seconds[i];
    *total += took;
    free(seconds);
    engine_replay_finish(engine);
    replay_finish(replay);
    return !isnan(took);
}

static int run_steps(void *user, struct platform *platform, FILE *results, struct diag *diag)
{
    struct asking *asking = user;
    struct arena *arena = arena_create();
    const struct recorded *trace = asking->trace;
    uint32_t *hosts = arena_array(arena, trace->rank_count + 1, sizeof *hosts);
    struct replay_network network = {platform,      hosts,           &asking->scenario->collectives,
                                     message_bytes, collective_cost, asking};
    struct fault fault = {.text = ""};
    double total = 0;
    bool good = true;
    asking->job = job_create_steady(asking->scenario, platform, arena, diag);
    for (uint32_t i = 0; asking->job && i < trace->rank_count; i++)
        hosts[i] = asking->job->hosts[trace->ranks[i].number];
    if (asking->job) {
        list_own(asking);
        count_places(asking);
        for (size_t s = 0; s < asking->step_count && good; s++)
            good = simulate_step(asking, &network, asking->steps[s], &total, &fault);
        if (!good)
            diag_error(diag, scenario_place(asking->scenario, ""), "%s", fault.text);
        total /= (double)asking->step_count;
        fwrite(&total, sizeof total, 1, results);
        fwrite(asking->seconds, sizeof *asking->seconds, trace->count, results);
        fwrite(&asking->left_out, sizeof asking->left_out, 1, results);
    }
    good &= asking->job != NULL;
    free(asking->own);
    free(asking->place);
    arena_destroy(arena);
    return good ? EXIT_DONE : EXIT_BAD_INPUT;
}

int shared_network_find(const struct scenario *scenario, const struct expected_table *model,
                        const struct recorded *trace, const uint32_t *steps, size_t step_count, struct arena *arena,
                        struct shared_network *shared)
{
    replay_join(trace, &steps, &step_count);
    struct asking asking = {
        .scenario = scenario, .model = model, .trace = trace, .steps = steps, .step_count = step_count};
    FILE *results;
    uint32_t left_out = 0;
    asking.seconds = arena_array_unset(arena, trace->count + 1, sizeof *asking.seconds);
    for (size_t i = 0; i < trace->count; i++)
        asking.seconds[i] = NAN;
    *shared = (struct shared_network){.step = NAN, .seconds = asking.seconds};
    shared->missing = scenario->mesh.ranks - (uint32_t)trace->rank_count;
    if (shared->missing)
        return EXIT_DONE;
    int code = simulation_visit(
        &(struct simulation_visit){scenario, run_steps, &asking, scenario->engine != ENGINE_ANALYTIC}, &results);
    if (code != EXIT_DONE || !results)
        return code == EXIT_DONE ? EXIT_FAILED : code;
    bool good = fread(&shared->step, sizeof shared->step, 1, results) == 1 &&
                fread(shared->seconds, sizeof *shared->seconds, trace->count, results) == trace->count &&
                fread(&left_out, sizeof left_out, 1, results) == 1;
    shared->left_out = left_out;
    fclose(results);
    return good ? EXIT_DONE : EXIT_FAILED;
}
