/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/best/periodic.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIES = 8,     /* periods that are tried at a time */
    OFFSETS = 48,  /* places where a further micro-batch may begin, in longer periods */
    OF_STATE = 32, /* placements that count as one state of the budget */
    LATER = 4,     /* times as many partial patterns once there is more than one micro-batch */
    NOWHERE = -1
};

/* A partial pattern: when operations start, the first of the first micro-batch at 0. */
struct pattern {
    int64_t now, begun; /* when the next operation may start; when its micro-batch began */
    int64_t spent;      /* how long the micro-batches take in all */
    uint64_t key;       /* of all starts: breaks ties */
    int64_t *starts;    /* [(micro-batch * kinds + kind) * stages + stage]; NOWHERE: not placed */
};

/* How one may go on. */
struct placement {
    uint32_t of; /* pattern */
    int64_t start, weight, spent;
    uint64_t key;
};

struct periodic {
    const struct instance *instance;
    int64_t period;   /* that is tried */
    double least;     /* the shortest for a micro-batch that was found; INFINITY: none was */
    uint32_t batches; /* of a pattern */
    struct pattern *patterns, *others;
    uint32_t count, room;
    struct placement *placements;
    size_t placement_count, placement_room;
    uint32_t placed; /* since the budget was asked */
    int64_t *memory;
};

struct periodic *periodic_create(const struct instance *instance, struct arena *arena)
{
    struct periodic *p = arena_alloc(arena, sizeof *p);
    *p = (struct periodic){.instance = instance, .least = INFINITY};
    return p;
}

static void give_back(struct periodic *p)
{
    free(p->patterns);
    free(p->others);
    free(p->memory);
    free(p->placements);
    p->patterns = p->others = NULL;
    p->memory = NULL;
    p->placements = NULL;
    p->placement_count = p->placement_room = 0; /* of a try that was given up, some may be left */
}

static size_t cells(const struct periodic *p)
{
    return (size_t)p->batches * p->instance->kinds * p->instance->stages;
}

static int64_t *start_of(const struct periodic *p, const struct pattern *pattern, uint32_t batch, uint32_t kind,
                         uint32_t stage)
{
    return &pattern->starts[((size_t)batch * p->instance->kinds + kind) * p->instance->stages + stage];
}

static void make_room(struct periodic *p, uint32_t width)
{
    size_t each = cells(p);
    p->room = width;
    p->patterns = array_zeroed(width, sizeof *p->patterns);
    p->others = array_zeroed(width, sizeof *p->others);
    p->memory = array_zeroed(2 * width * each, sizeof *p->memory);
    for (uint32_t i = 0; i < width; i++) {
        p->patterns[i].starts = p->memory + 2 * i * each;
        p->others[i].starts = p->patterns[i].starts + each;
    }
}

/* ---- where there is room ---- */

static int64_t modulo(int64_t value, int64_t period)
{
    int64_t rest = value % period;
    return rest < 0 ? rest + period : rest;
}

/* The first time from `from` on at which a worker is free for `length` in every period; NOWHERE: there is none. */
static int64_t first_free(const struct periodic *p, const struct pattern *pattern, uint32_t worker, int64_t from,
                          int64_t length)
{
    const struct instance *instance = p->instance;
    int64_t start = from;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t batch = 0; batch < p->batches; batch++)
            for (uint32_t kind = 0; kind < instance->kinds; kind++)
                for (uint32_t i = 0; i < instance->stage_count[worker]; i++) {
                    uint32_t stage = instance->stages_of[worker][i];
                    int64_t other = *start_of(p, pattern, batch, kind, stage), busy = instance->length[kind][stage];
                    if (other == NOWHERE)
                        continue;
                    int64_t since = modulo(start - other, p->period);
                    if (since < busy)
                        start += busy - since;
                    else if (p->period - since < length)
                        start += p->period - since + busy;
                    else
                        continue;
                    moved = true;
                    if (start - from >= p->period)
                        return NOWHERE;
                }
    }
    return start;
}

/* How long a worker stays free from a time on at which it is. */
static int64_t free_for(const struct periodic *p, const struct pattern *pattern, uint32_t worker, int64_t from)
{
    const struct instance *instance = p->instance;
    int64_t least = p->period;
    for (uint32_t batch = 0; batch < p->batches; batch++)
        for (uint32_t kind = 0; kind < instance->kinds; kind++)
            for (uint32_t i = 0; i < instance->stage_count[worker]; i++) {
                int64_t other = *start_of(p, pattern, batch, kind, instance->stages_of[worker][i]);
                int64_t until = other == NOWHERE ? p->period : modulo(other - from, p->period);
                least = until < least ? until : least;
            }
    return least;
}

static int64_t floor_of(int64_t value, int64_t period)
{
    return (value - modulo(value, period)) / period;
}

/* The most stashes that a worker holds at a time, of those whose end is known. */
static int64_t most_held(const struct periodic *p, const struct pattern *pattern, uint32_t worker)
{
    const struct instance *instance = p->instance;
    uint32_t last = instance_release(instance), stages = instance->stage_count[worker], all = p->batches * stages;
    int64_t most = 0;
    for (uint32_t at = 0; at < all; at++) {
        uint32_t stage = instance->stages_of[worker][at % stages];
        int64_t time = *start_of(p, pattern, at / stages, BEST_FORWARD, stage), held = 0;
        if (*start_of(p, pattern, at / stages, last, stage) == NOWHERE)
            continue;
        for (uint32_t i = 0; i < all; i++) {
            uint32_t other = instance->stages_of[worker][i % stages];
            int64_t begin = *start_of(p, pattern, i / stages, BEST_FORWARD, other),
                    end = *start_of(p, pattern, i / stages, last, other);
            if (end != NOWHERE)
                held +=
                    floor_of(time - begin, p->period) - floor_of(time - end - instance->length[last][other], p->period);
        }
        most = held > most ? held : most;
    }
    return most;
}

/* ---- one operation more ---- */

/* Notes that an operation starts then, if there is room for its weight gradient and its worker's stashes. */
static void note(struct periodic *p, uint32_t of, uint32_t batch, uint32_t kind, uint32_t stage, int64_t start)
{
    const struct instance *instance = p->instance;
    struct pattern *pattern = &p->patterns[of];
    uint32_t worker = instance->worker_of[stage];
    int64_t end = start + instance->length[kind][stage], weight = NOWHERE;
    bool fits = true;
    *start_of(p, pattern, batch, kind, stage) = start;
    if (kind == BEST_BACKWARD && instance->kinds == 3) {
        weight = first_free(p, pattern, worker, end, instance->length[BEST_WEIGHT][stage]);
        fits = weight != NOWHERE;
        *start_of(p, pattern, batch, BEST_WEIGHT, stage) = weight;
    }
    if (fits && kind == BEST_BACKWARD && instance->limits[worker])
        fits = most_held(p, pattern, worker) <= instance->limits[worker];
    *start_of(p, pattern, batch, kind, stage) = NOWHERE;
    if (weight != NOWHERE)
        *start_of(p, pattern, batch, BEST_WEIGHT, stage) = NOWHERE;
    if (!fits)
        return;
    p->placements = array_grow(p->placements, &p->placement_room, p->placement_count + 1, sizeof *p->placements);
    p->placements[p->placement_count++] =
        (struct placement){of, start, weight, pattern->spent + end - pattern->begun,
                           instance_mix(pattern->key ^ instance_mix((uint64_t)start + stage))};
}

/* As early as can be; as late as the worker is free then; when it is free again. */
static void expand(struct periodic *p, uint32_t of, uint32_t batch, uint32_t kind, uint32_t stage)
{
    const struct pattern *pattern = &p->patterns[of];
    uint32_t worker = p->instance->worker_of[stage];
    int64_t length = p->instance->length[kind][stage], start = first_free(p, pattern, worker, pattern->now, length);
    for (int gap = 0; gap < 2 && start != NOWHERE && start - pattern->now < p->period; gap++) {
        int64_t until = free_for(p, pattern, worker, start);
        note(p, of, batch, kind, stage, start);
        if (until > length && until < p->period)
            note(p, of, batch, kind, stage, start + until - length);
        start = until < p->period ? first_free(p, pattern, worker, start + until, length) : NOWHERE;
    }
}

static int by_spent(const void *left, const void *right)
{
    const struct placement *a = left, *b = right;
    if (a->spent != b->spent)
        return a->spent < b->spent ? -1 : 1;
    return (a->key > b->key) - (a->key < b->key);
}

/* Keeps the shortest of what was noted. */
static void keep(struct periodic *p, uint32_t width, uint32_t batch, uint32_t kind, uint32_t stage)
{
    const struct instance *instance = p->instance;
    qsort(p->placements, p->placement_count, sizeof *p->placements, by_spent);
    uint32_t count = p->placement_count < width ? (uint32_t)p->placement_count : width;
    for (uint32_t i = 0; i < count; i++) {
        const struct placement *placement = &p->placements[i];
        const struct pattern *from = &p->patterns[placement->of];
        struct pattern *to = &p->others[i];
        memcpy(to->starts, from->starts, cells(p) * sizeof *to->starts);
        *start_of(p, to, batch, kind, stage) = placement->start;
        if (placement->weight != NOWHERE)
            *start_of(p, to, batch, BEST_WEIGHT, stage) = placement->weight;
        uint32_t next = kind == BEST_FORWARD ? stage + 1 < instance->stages ? stage + 1 : stage : stage ? stage - 1 : 0;
        to->now = placement->start + instance->length[kind][stage] + instance_lag(instance, stage, next);
        to->begun = from->begun;
        to->spent = from->spent;
        to->key = placement->key;
    }
    struct pattern *patterns = p->patterns;
    p->patterns = p->others;
    p->others = patterns;
    p->count = count;
    p->placement_count = 0;
}

/* Every pattern with all operations of a micro-batch more, which begins when `begun` says. */
static bool add_batch(struct periodic *p, uint32_t width, uint32_t batch, struct budget *budget)
{
    uint32_t stages = p->instance->stages;
    for (uint32_t step = 0; step < 2 * stages && p->count; step++) {
        uint32_t kind = step < stages ? BEST_FORWARD : BEST_BACKWARD;
        uint32_t stage = step < stages ? step : 2 * stages - 1 - step;
        for (uint32_t i = 0; i < p->count; i++) {
            expand(p, i, batch, kind, stage);
            if (++p->placed % OF_STATE == 0 && !budget_spend(budget))
                return false;
        }
        keep(p, width, batch, kind, stage);
    }
    return p->count > 0;
}

/* Each pattern once for each time at which another micro-batch may begin, the shortest first. */
static void begin_batch(struct periodic *p)
{
    uint32_t offsets = p->period < OFFSETS ? (uint32_t)p->period : OFFSETS, kept = 0;
    uint32_t most = p->room / offsets ? p->room / offsets : 1, from = p->count < most ? p->count : most;
    for (uint32_t i = 0; i < from; i++)
        for (uint32_t k = 0; k < offsets && kept < p->room; k++) {
            const struct pattern *pattern = &p->patterns[i];
            struct pattern *to = &p->others[kept++];
            memcpy(to->starts, pattern->starts, cells(p) * sizeof *to->starts);
            to->spent = pattern->spent + pattern->now - pattern->begun;
            to->now = to->begun = (int64_t)((double)p->period * k / offsets);
            to->key = instance_mix(pattern->key + k);
        }
    struct pattern *patterns = p->patterns;
    p->patterns = p->others;
    p->others = patterns;
    p->count = kept;
}

/* A pattern of that period, the first of what is left; false: none. */
static bool find(struct periodic *p, uint32_t width, struct budget *budget)
{
    p->count = 1;
    p->patterns[0] = (struct pattern){.starts = p->patterns[0].starts};
    for (size_t i = 0; i < cells(p); i++)
        p->patterns[0].starts[i] = NOWHERE;
    for (uint32_t batch = 0; batch < p->batches; batch++) {
        if (batch)
            begin_batch(p);
        if (!add_batch(p, batch ? LATER * width : width, batch, budget))
            return false;
    }
    return true;
}

/* ---- the order of all micro-batches ---- */

struct moment_of {
    int64_t time;
    uint32_t batch;
    uint16_t chain;
};

static int by_time(const void *left, const void *right)
{
    const struct moment_of *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->batch != b->batch)
        return a->batch < b->batch ? -1 : 1;
    return (a->chain > b->chain) - (a->chain < b->chain);
}

static void write_words(const struct periodic *p, struct words *words)
{
    const struct instance *instance = p->instance;
    const struct pattern *pattern = &p->patterns[0];
    struct moment_of *moments = array_zeroed(instance->operations, sizeof *moments);
    for (uint32_t worker = 0; worker < instance->workers; worker++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < instance->stage_count[worker]; i++)
            for (uint32_t kind = 0; kind < instance->kinds; kind++)
                for (uint32_t batch = 0; batch < instance->batches; batch++) {
                    uint32_t stage = instance->stages_of[worker][i];
                    int64_t first = *start_of(p, pattern, batch % p->batches, kind, stage);
                    moments[count++] = (struct moment_of){first + batch / p->batches * p->period, batch,
                                                          (uint16_t)(kind * instance->stages + stage)};
                }
        qsort(moments, count, sizeof *moments, by_time);
        words->count[worker] = count;
        for (uint32_t i = 0; i < count; i++)
            words->chains[worker][i] = moments[i].chain;
    }
    free(moments);
}

/* ---- periods ---- */

double periodic_rate(const struct periodic *periodic)
{
    return periodic->least;
}

double periodic_bound(const struct instance *instance)
{
    double longest = 0;
    int64_t *stays = array_zeroed(instance->stages, sizeof *stays);
    instance_stays(instance, stays);
    for (uint32_t worker = 0; worker < instance->workers; worker++) {
        double work = 0, held = 0;
        for (uint32_t i = 0; i < instance->stage_count[worker]; i++) {
            uint32_t stage = instance->stages_of[worker][i];
            held += (double)stays[stage];
            for (uint32_t kind = 0; kind < instance->kinds; kind++)
                work += (double)instance->length[kind][stage];
        }
        longest = fmax(longest, fmax(work, instance->limits[worker] ? held / instance->limits[worker] : 0));
    }
    free(stays);
    return longest;
}

bool periodic_try(struct periodic *p, uint32_t batches, uint32_t width, double most, struct budget *budget,
                  struct words *words)
{
    bool found = false;
    p->batches = batches;
    most = fmin(most, p->least);
    int64_t low = (int64_t)ceil(periodic_bound(p->instance) * batches - 1e-9),
            high = (int64_t)ceil(most * batches - 1e-9);
    make_room(p, batches > 1 ? LATER * width : width);
    for (int i = 0; i < TRIES && low < high && !budget_is_spent(budget); i++) {
        p->period = i ? low + (high - low) / 2 : low;
        if (find(p, width, budget)) {
            high = p->period;
            p->least = (double)p->period / batches;
            write_words(p, words);
            found = true;
        } else {
            low = p->period + 1;
        }
    }
    give_back(p);
    return found;
}
