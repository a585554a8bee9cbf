/* SPDX-License-Identifier: Apache-2.0 */
/* The way of a micro-batch through what a relaxation keeps, and what follows from where those under way are. */
#include "base/arena.h"
#include "schedules/best/layers_parts.h"

#include <stdlib.h>

enum { UNDER_WAY_MAX = 64 };

/* ---- what is the same for all states ---- */

/* The stage of the i-th operation on the way; forwards first. */
static uint32_t stage_at(const struct instance *instance, uint32_t i)
{
    return i < instance->stages ? i : 2 * instance->stages - 1 - i;
}

static int64_t weight_of(const struct instance *instance, uint32_t stage)
{
    return instance->kinds == 3 ? instance->length[BEST_WEIGHT][stage] : 0;
}

/* What follows on the way from the start of its i-th operation: [i], weight gradients at the end included. */
static void find_rests(const struct instance *instance, int64_t *rests)
{
    uint32_t count = 2 * instance->stages;
    for (uint32_t i = count; i-- > 0;) {
        uint32_t stage = stage_at(instance, i), kind = i < instance->stages ? BEST_FORWARD : BEST_BACKWARD;
        int64_t after = kind == BEST_BACKWARD ? weight_of(instance, stage) : 0;
        if (i + 1 < count)
            after = larger(after, rests[i + 1] + instance_lag(instance, stage, stage_at(instance, i + 1)));
        rests[i] = instance->length[kind][stage] + after;
    }
}

static void add_points(struct way *way)
{
    const struct instance *instance = way->instance;
    uint32_t count = 2 * instance->stages;
    int64_t *rests = array_zeroed(count, sizeof *rests), lag = 0;
    find_rests(instance, rests);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t stage = stage_at(instance, i), kind = i < instance->stages ? BEST_FORWARD : BEST_BACKWARD;
        uint32_t worker = instance->worker_of[stage];
        int64_t length = instance->length[kind][stage];
        lag += i ? instance_lag(instance, stage_at(instance, i - 1), stage) : 0;
        if (way->keeps[worker] == LAYERS_DELAY) {
            lag += length;
            continue;
        }
        way->points[way->count++] = (struct point){stage, kind, worker, length, lag, rests[i]};
        way->ties &= length > 0;
        lag = 0;
    }
    free(rests);
}

static uint32_t point_of(const struct way *way, uint32_t kind, uint32_t stage)
{
    uint32_t i = 0;
    while (way->points[i].kind != kind || way->points[i].stage != stage)
        i++;
    return i;
}

static void add_stages(struct way *way)
{
    const struct instance *instance = way->instance;
    int64_t *stays = array_zeroed(instance->stages, sizeof *stays);
    instance_stays(instance, stays);
    for (uint32_t worker = 0; worker < instance->workers; worker++) {
        way->first_stage[worker] = way->stage_count;
        way->shortest[worker] = INT64_MAX;
        for (uint32_t i = 0; i < instance->stage_count[worker] && way->keeps[worker] == LAYERS_ALL; i++) {
            uint32_t stage = instance->stages_of[worker][i];
            int64_t release = instance->length[instance_release(instance)][stage];
            way->stages[way->stage_count++] = (struct held_stage){stage,
                                                                  worker,
                                                                  point_of(way, BEST_FORWARD, stage),
                                                                  point_of(way, BEST_BACKWARD, stage),
                                                                  weight_of(instance, stage),
                                                                  stays[stage]};
            way->all_stay[worker] += stays[stage];
            way->shortest[worker] = release < way->shortest[worker] ? release : way->shortest[worker];
            way->ties &= !way->splits || weight_of(instance, stage) > 0;
        }
        way->last_stage[worker] = way->stage_count;
    }
    free(stays);
}

/* Work of workers and releases of stashes from each point on. A weight gradient that a worker does not keep to is work
 * behind its backward all the same. */
static void add_sums(struct way *way)
{
    uint32_t workers = way->instance->workers, count = way->stage_count;
    for (uint32_t i = way->count; i-- > 0;) {
        const struct point *point = &way->points[i], *next = point + 1;
        int64_t weight = point->kind == BEST_BACKWARD ? weight_of(way->instance, point->stage) : 0;
        for (uint32_t worker = 0; worker < workers; worker++)
            way->work[i * workers + worker] = i + 1 < way->count ? way->work[(i + 1) * workers + worker] : 0;
        way->work[i * workers + point->worker] += point->length + weight;
        way->all_work[point->worker] += point->length + weight;
        for (uint32_t held = 0; held < count; held++)
            if (way->stages[held].backward > i)
                way->release[i * count + held] = point->length + next->lag + way->release[(i + 1) * count + held];
            else if (way->stages[held].backward == i)
                way->release[i * count + held] = point->length + weight;
    }
}

/* Whatever is under way, from its first point to its last, holds a stash of the first point's stage. */
static uint32_t find_most_under_way(const struct way *way)
{
    const struct instance *instance = way->instance;
    uint32_t most = instance->batches < UNDER_WAY_MAX ? instance->batches : UNDER_WAY_MAX;
    const struct point *first = &way->points[0];
    uint32_t limit = way->keeps[first->worker] == LAYERS_ALL ? instance->limits[first->worker] : 0;
    return limit && limit < most ? limit : most;
}

struct way *way_create(const struct instance *instance, const enum layers_keeps *keeps)
{
    struct way *way = array_zeroed(1, sizeof *way);
    uint32_t workers = instance->workers, most = 2 * instance->stages;
    *way = (struct way){.instance = instance, .splits = instance->kinds == 3, .ties = true};
    way->points = array_zeroed(most + 1, sizeof *way->points);
    way->stages = array_zeroed(instance->stages, sizeof *way->stages);
    way->first_stage = array_zeroed(2 * (size_t)workers, sizeof *way->first_stage);
    way->last_stage = way->first_stage + workers;
    way->keeps = array_zeroed(workers, sizeof *way->keeps);
    for (uint32_t worker = 0; worker < workers; worker++)
        way->keeps[worker] = keeps[worker];
    way->all_work = array_zeroed(3 * (size_t)workers, sizeof *way->all_work);
    way->all_stay = way->all_work + workers;
    way->shortest = way->all_stay + workers;
    add_points(way);
    add_stages(way);
    way->most_under_way = find_most_under_way(way);
    way->work = array_zeroed((size_t)way->count * workers + 1, sizeof *way->work);
    way->release = array_zeroed((size_t)way->count * way->stage_count + 1, sizeof *way->release);
    add_sums(way);
    return way;
}

void way_finish(struct way *way)
{
    free(way->points);
    free(way->stages);
    free(way->first_stage);
    free(way->keeps);
    free(way->all_work);
    free(way->work);
    free(way->release);
    free(way);
}

/* ---- states ---- */

uint32_t way_held(const struct way *way, struct state *state, uint32_t worker)
{
    const uint16_t *place = state_place(way, state), *left = state_left(way, state);
    uint32_t held = 0;
    for (uint32_t i = way->first_stage[worker]; i < way->last_stage[worker]; i++) {
        held += left[i];
        for (uint32_t k = 0; k < state->under_way; k++)
            held += place[k] > way->stages[i].forward && place[k] <= way->stages[i].backward;
    }
    return held;
}

bool way_is_open(const struct way *way, struct state *state, uint32_t worker)
{
    const uint16_t *place = state_place(way, state), *left = state_left(way, state);
    uint32_t held = way_held(way, state, worker), limit = way->instance->limits[worker];
    if (held > limit)
        return false;
    int64_t room = (int64_t)limit - held;
    for (uint32_t i = way->first_stage[worker]; i < way->last_stage[worker]; i++)
        room += left[i];
    for (uint32_t k = 0; k < state->under_way; k++) {
        int64_t needs = 0, has = 0;
        for (uint32_t i = way->first_stage[worker]; i < way->last_stage[worker]; i++) {
            needs += place[k] <= way->stages[i].forward;
            has += place[k] > way->stages[i].forward && place[k] <= way->stages[i].backward;
        }
        if (needs > room)
            return false;
        room += has;
    }
    return true;
}

/* What the stashes of a worker take of its limit from when it is free on: those of micro-batches that have not begun,
 * of those under way, and of what waits for its weight gradient. */
static int64_t stashes_of(const struct way *way, struct state *state, uint32_t worker)
{
    const uint16_t *place = state_place(way, state), *left = state_left(way, state);
    const int64_t *ready = state_ready(way, state);
    int64_t from = state_free(state)[worker], sum = way->all_stay[worker];
    sum *= (int64_t)way->instance->batches - state->begun;
    int64_t waiting = 0;
    for (uint32_t i = way->first_stage[worker]; i < way->last_stage[worker]; i++) {
        const struct held_stage *held = &way->stages[i];
        waiting += left[i];
        for (uint32_t k = 0; k < state->under_way; k++)
            if (place[k] <= held->forward)
                sum += held->stay;
            else if (place[k] <= held->backward)
                sum += larger(ready[k] + way->release[place[k] * way->stage_count + i] - from, 0);
    }
    return sum + waiting * (waiting + 1) / 2 * way->shortest[worker];
}

/* What bounds of a state say. */
struct outlook {
    int64_t end;      /* of everything at the earliest */
    double last, sum; /* of workers: of the one that seems to end last; of all, by their work and by their stashes */
};

static void look_at(struct outlook *outlook, double end)
{
    outlook->last = end > outlook->last ? end : outlook->last;
    outlook->sum += end;
}

/* When stashes that take so much of a limit are gone. Releases end one after the other, so at the end places empty one
 * after the other. */
static void look_at_stashes(const struct way *way, struct state *state, uint32_t worker, struct outlook *outlook)
{
    int64_t limit = way->instance->limits[worker], shortest = way->shortest[worker];
    int64_t sum = stashes_of(way, state, worker), from = state_free(state)[worker];
    int64_t taken = (sum + limit - 1) / limit;
    bool fills = limit < 2 || shortest <= taken / (limit - 1);
    double seems = (double)sum + (double)shortest * (double)limit * (double)(limit - 1) / 2;
    look_at(outlook, (double)from + seems / (double)limit);
    sum += fills ? (limit - 1) * shortest * limit / 2 : 0;
    outlook->end = larger(outlook->end, from + (sum + limit - 1) / limit);
}

static void look_at_work(const struct way *way, struct state *state, uint32_t worker, struct outlook *outlook)
{
    const uint16_t *place = state_place(way, state), *left = state_left(way, state);
    int64_t end = way->all_work[worker] * ((int64_t)way->instance->batches - state->begun);
    end += state_free(state)[worker];
    for (uint32_t k = 0; k < state->under_way; k++)
        end += way->work[place[k] * way->instance->workers + worker];
    for (uint32_t i = way->first_stage[worker]; i < way->last_stage[worker]; i++)
        end += left[i] * way->stages[i].weight;
    look_at(outlook, (double)end);
    outlook->end = larger(outlook->end, end);
}

int64_t way_bound(const struct way *way, struct state *state, double lean)
{
    const struct instance *instance = way->instance;
    const uint16_t *place = state_place(way, state);
    const int64_t *ready = state_ready(way, state);
    struct outlook outlook = {0};
    for (uint32_t k = 0; k < state->under_way; k++)
        outlook.end = larger(outlook.end, ready[k] + way->points[place[k]].rest);
    for (uint32_t worker = 0; worker < instance->workers; worker++) {
        if (way->keeps[worker] != LAYERS_DELAY)
            look_at_work(way, state, worker, &outlook);
        if (way->keeps[worker] == LAYERS_ALL && instance->limits[worker])
            look_at_stashes(way, state, worker, &outlook);
    }
    state->seems = outlook.last + lean * outlook.sum / instance->workers;
    return outlook.end;
}
