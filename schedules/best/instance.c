/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/best/instance.h"

#include "base/arena.h"
#include "base/numbers/divisor.h"

#include <math.h>
#include <string.h>

enum { DECIMALS_MAX = 12 };

/* Sums of times stay below 2^50 units. */
static const double SUM_MAX = 1125899906842624.0;

static double longest(const struct instance_request *request)
{
    double most = request->latency;
    for (uint32_t stage = 0; stage < request->stages; stage++)
        most = fmax(most, fmax(request->forward[stage], request->backward[stage]));
    return most;
}

static bool is_whole(double value)
{
    return fabs(value - round(value)) <= fmin(1e-7 + 1e-15 * fabs(value), 1e-2);
}

static bool all_whole(const struct instance_request *request, double scale)
{
    for (uint32_t stage = 0; stage < request->stages; stage++)
        if (!is_whole(request->forward[stage] * scale) || !is_whole(request->backward[stage] * scale) ||
            (request->weight && !is_whole(request->weight[stage] * scale)))
            return false;
    return is_whole(request->latency * scale);
}

/* Units in one of the caller's. Times are usually decimals, thirds or sixths (a share cut into chunks). */
static double find_scale(const struct instance_request *request, bool *exact)
{
    static const double parts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16};
    double most = longest(request), power = 1;
    double room = SUM_MAX / (3.0 * request->stages * request->batches + request->stages + 1) / fmax(most, 1e-300);
    while (most > 0 && power * most < 1)
        power *= 10;
    for (int digits = 0; digits <= DECIMALS_MAX; digits++, power *= 10)
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if (power * parts[i] <= room && all_whole(request, power * parts[i])) {
                *exact = true;
                return power * parts[i];
            }
    *exact = false;
    return most > 0 ? room : 1;
}

static int64_t *scaled(const struct instance *instance, const double *times, const double *less, double scale,
                       struct arena *arena)
{
    int64_t *units = arena_array(arena, instance->stages, sizeof *units);
    for (uint32_t stage = 0; stage < instance->stages; stage++) {
        double value = (times[stage] - (less ? less[stage] : 0)) * scale;
        units[stage] = (int64_t)fmax(round(value), 0);
    }
    return units;
}

static void list_stages(struct instance *instance, struct arena *arena)
{
    instance->stage_count = arena_array(arena, instance->workers, sizeof *instance->stage_count);
    instance->stages_of = arena_array(arena, instance->workers, sizeof *instance->stages_of);
    instance->one_each = true;
    for (uint32_t stage = 0; stage < instance->stages; stage++)
        instance->one_each &= ++instance->stage_count[instance->worker_of[stage]] == 1;
    for (uint32_t worker = 0; worker < instance->workers; worker++) {
        instance->stages_of[worker] = arena_array(arena, instance->stage_count[worker] + 1, sizeof(uint32_t));
        instance->stage_count[worker] = 0;
    }
    for (uint32_t stage = 0; stage < instance->stages; stage++) {
        uint32_t worker = instance->worker_of[stage];
        instance->stages_of[worker][instance->stage_count[worker]++] = stage;
    }
}

/* The largest unit there is, so that the numbers do not depend on the unit of the times. */
static void reduce(struct instance *instance)
{
    int64_t divisor = instance->latency;
    for (uint32_t kind = 0; kind < instance->kinds; kind++)
        for (uint32_t stage = 0; stage < instance->stages; stage++)
            divisor = (int64_t)common_divisor((uint64_t)divisor, (uint64_t)instance->length[kind][stage]);
    if (divisor < 2)
        return;
    instance->latency /= divisor;
    instance->unit *= (double)divisor;
    for (uint32_t kind = 0; kind < instance->kinds; kind++)
        for (uint32_t stage = 0; stage < instance->stages; stage++)
            instance->length[kind][stage] /= divisor;
}

struct instance *instance_create(const struct instance_request *request, struct arena *arena)
{
    struct instance *instance = arena_alloc(arena, sizeof *instance);
    *instance = (struct instance){.workers = request->workers,
                                  .stages = request->stages,
                                  .batches = request->batches,
                                  .kinds = request->weight ? 3 : 2,
                                  .worker_of = request->worker_of};
    instance->limits = arena_array(arena, request->workers, sizeof *instance->limits);
    for (uint32_t worker = 0; worker < request->workers; worker++)
        instance->limits[worker] = request->limits ? request->limits[worker] : request->limit;
    double scale = find_scale(request, &instance->exact);
    instance->unit = 1 / scale;
    instance->length[BEST_FORWARD] = scaled(instance, request->forward, NULL, scale, arena);
    instance->length[BEST_BACKWARD] = scaled(instance, request->backward, request->weight, scale, arena);
    if (request->weight)
        instance->length[BEST_WEIGHT] = scaled(instance, request->weight, NULL, scale, arena);
    instance->latency = (int64_t)round(request->latency * scale);
    reduce(instance);
    instance->operations = instance->kinds * instance->stages * instance->batches;
    list_stages(instance, arena);
    return instance;
}

/* ---- words ---- */

void words_full(const struct instance *instance, struct words *words)
{
    for (uint32_t worker = 0; worker < instance->workers; worker++)
        words->count[worker] = instance->kinds * instance->stage_count[worker] * instance->batches;
}

void words_of_chains(const struct instance *instance, const uint16_t *chains, uint32_t count, struct words *words)
{
    for (uint32_t worker = 0; worker < instance->workers; worker++)
        words->count[worker] = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t worker = instance->worker_of[chains[i] % instance->stages];
        words->chains[worker][words->count[worker]++] = chains[i];
    }
}

struct words *words_create(const struct instance *instance, struct arena *arena)
{
    struct words *words = arena_alloc(arena, sizeof *words);
    words->count = arena_array(arena, instance->workers, sizeof *words->count);
    words->chains = arena_array(arena, instance->workers, sizeof *words->chains);
    words_full(instance, words);
    for (uint32_t worker = 0; worker < instance->workers; worker++) {
        words->chains[worker] = arena_array(arena, words->count[worker] + (size_t)1, sizeof(uint16_t));
    }
    return words;
}

void words_copy(const struct instance *instance, struct words *to, const struct words *from)
{
    for (uint32_t worker = 0; worker < instance->workers; worker++)
        memcpy(to->chains[worker], from->chains[worker], from->count[worker] * sizeof(uint16_t));
}

/* State of an evaluation: what has been done. */
struct replay {
    const struct instance *instance;
    const struct words *words;
    int64_t *ends;          /* [operation] */
    int64_t *starts;        /* [operation] or NULL */
    uint32_t done[3 * 512]; /* [chain]: operations that have ended */
};

/* When the inputs of the next operation of a chain are there; -1: not known yet. */
static int64_t inputs_at(const struct replay *replay, uint32_t kind, uint32_t stage, uint32_t batch)
{
    const struct instance *instance = replay->instance;
    uint32_t stages = instance->stages;
    int64_t at = 0;
    if (kind > 0) {
        if (replay->done[(kind - 1) * stages + stage] <= batch)
            return -1;
        at = replay->ends[operation_of(instance, kind - 1, stage, batch)];
    }
    uint32_t other = kind == BEST_FORWARD ? stage - 1 : stage + 1;
    if (kind == BEST_WEIGHT || other >= stages)
        return at;
    if (replay->done[kind * stages + other] <= batch)
        return -1;
    int64_t arrival = replay->ends[operation_of(instance, kind, other, batch)] + instance_lag(instance, other, stage);
    return arrival > at ? arrival : at;
}

/* Runs a worker's word as far as it goes; the number of operations run, or UINT32_MAX where the limit is broken. */
static uint32_t run_worker(struct replay *replay, uint32_t worker, uint32_t *next, int64_t *free, uint32_t *held)
{
    const struct instance *instance = replay->instance;
    uint32_t first = *next;
    for (; *next < replay->words->count[worker]; ++*next) {
        uint32_t chain = replay->words->chains[worker][*next];
        uint32_t kind = chain / instance->stages, stage = chain % instance->stages, batch = replay->done[chain];
        int64_t start = inputs_at(replay, kind, stage, batch);
        if (start < 0)
            break;
        if (kind == BEST_FORWARD && instance->limits[worker] && *held >= instance->limits[worker])
            return UINT32_MAX;
        *held += kind == BEST_FORWARD;
        *held -= kind == instance_release(instance);
        start = start > *free ? start : *free;
        uint32_t operation = operation_of(instance, kind, stage, batch);
        *free = replay->ends[operation] = start + instance->length[kind][stage];
        if (replay->starts)
            replay->starts[operation] = start;
        replay->done[chain]++;
    }
    return *next - first;
}

int64_t words_makespan(const struct instance *instance, const struct words *words, int64_t *starts, int64_t *scratch)
{
    struct replay replay = {.instance = instance, .words = words};
    replay.ends = scratch;
    replay.starts = starts;
    uint32_t next[512] = {0}, held[512] = {0}, left = instance->operations;
    int64_t free[512] = {0}, end = 0;
    for (bool moved = true; moved && left > 0;) {
        moved = false;
        for (uint32_t worker = 0; worker < instance->workers; worker++) {
            uint32_t run = run_worker(&replay, worker, &next[worker], &free[worker], &held[worker]);
            if (run == UINT32_MAX)
                return -1;
            moved |= run > 0;
            left -= run;
        }
    }
    for (uint32_t worker = 0; worker < instance->workers; worker++)
        end = free[worker] > end ? free[worker] : end;
    return left ? -1 : end;
}

/* ---- stashes ---- */

void instance_stays(const struct instance *instance, int64_t *stays)
{
    int64_t behind = 0; /* from the end of the forward to the start of the backward */
    for (uint32_t stage = instance->stages; stage-- > 0;) {
        if (stage + 1 < instance->stages)
            behind += 2 * instance_lag(instance, stage, stage + 1);
        int64_t both = instance->length[BEST_FORWARD][stage] + instance->length[BEST_BACKWARD][stage];
        stays[stage] = both + behind + (instance->kinds == 3 ? instance->length[BEST_WEIGHT][stage] : 0);
        behind += both;
    }
}

/* ---- words backwards ---- */

/* The time from the end of an operation that its followers in the model need; -1: not known yet. `left` ([chain]):
 * operations whose tail is not known. */
static int64_t followers_need(const struct instance *instance, const int64_t *tails, const uint32_t *left,
                              uint32_t kind, uint32_t stage, uint32_t batch)
{
    uint32_t stages = instance->stages, other = kind == BEST_FORWARD ? stage + 1 : stage - 1;
    int64_t need = 0;
    if (kind + 1 < instance->kinds) {
        if (left[(kind + 1) * stages + stage] > batch)
            return -1;
        need = instance->length[kind + 1][stage] + tails[operation_of(instance, kind + 1, stage, batch)];
    }
    if (kind == BEST_WEIGHT || other >= stages)
        return need;
    if (left[kind * stages + other] > batch)
        return -1;
    int64_t there = instance_lag(instance, stage, other) + instance->length[kind][other] +
                    tails[operation_of(instance, kind, other, batch)];
    return there > need ? there : need;
}

/* Goes back through a worker's word as far as it can; how far. */
static uint32_t run_back(const struct instance *instance, const struct words *words, uint32_t worker, uint32_t *next,
                         int64_t *after, uint32_t *left, int64_t *tails)
{
    uint32_t first = *next;
    for (; *next > 0; --*next) {
        uint32_t chain = words->chains[worker][*next - 1], kind = chain / instance->stages;
        uint32_t stage = chain % instance->stages, batch = left[chain] - 1;
        int64_t need = followers_need(instance, tails, left, kind, stage, batch);
        if (need < 0)
            break;
        need = need > *after ? need : *after;
        tails[operation_of(instance, kind, stage, batch)] = need;
        *after = need + instance->length[kind][stage];
        left[chain]--;
    }
    return first - *next;
}

void words_tails(const struct instance *instance, const struct words *words, int64_t *tails)
{
    uint32_t next[512], left[3 * 512];
    int64_t after[512] = {0};
    memcpy(next, words->count, instance->workers * sizeof *next);
    for (uint32_t chain = 0; chain < instance->kinds * instance->stages; chain++)
        left[chain] = instance->batches;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t worker = instance->workers; worker-- > 0;)
            moved |= run_back(instance, words, worker, &next[worker], &after[worker], left, tails) > 0;
    }
}
