/* SPDX-License-Identifier: Apache-2.0 */
/* Split layers in a pipeline: which layers a stage has, which ranks work on it, and in which order. */
#include "workloads/layers/split_steps.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_scheduled(const struct split_steps *s)
{
    return s->worker_count > 1 || s->j->api->scheduled(s->j->job);
}

/* ---- ranks ---- */

static void set_workers(struct split_steps *s)
{
    uint32_t *count = array_zeroed(s->worker_count, sizeof *count);
    s->workers = array_zeroed(s->worker_count, sizeof *s->workers);
    for (uint32_t worker = 0; worker < s->worker_count; worker++)
        s->workers[worker].ranks = array_zeroed(s->group_size, sizeof(uint32_t));
    for (uint32_t rank = 0; rank < s->worker_count * s->group_size; rank++) {
        uint32_t worker = s->j->api->worker_of(s->j->job, rank);
        s->ranks[rank].worker = worker;
        s->ranks[rank].place = count[worker];
        s->workers[worker].ranks[count[worker]++] = rank;
    }
    free(count);
}

/* Schedules with a stage on several workers are refused later. */
static void set_stages(struct split_steps *s)
{
    s->stage_count = is_scheduled(s) ? s->j->api->stages(s->j->job) : 1;
    s->stages = array_zeroed(s->stage_count, sizeof *s->stages);
    for (uint32_t stage = 0; stage < s->stage_count; stage++) {
        s->stages[stage].parameters = array_zeroed(s->group_size, sizeof(double));
        s->stages[stage].optimizer = array_zeroed(s->group_size, sizeof(uint32_t));
        s->stages[stage].stepped = array_zeroed(s->group_size, sizeof(uint32_t));
    }
    for (uint32_t stage = 0; stage < s->stage_count && is_scheduled(s); stage++)
        s->j->api->stage_workers(s->j->job, stage, &s->stages[stage].worker, 1);
}

/* ---- times ---- */

static struct split_times times_of(const struct split_steps *s, const struct layer_split *split,
                                   const struct layer_part *parts, uint32_t stage, uint32_t layer)
{
    struct split_times times = {0};
    const uint32_t *ranks = s->workers[s->stages[stage].worker].ranks;
    for (uint32_t k = 0; k < split->count; k++) {
        struct layer_cost cost;
        layers_part_cost(s->j, s->ranks[ranks[split->devices[k]]].device, layer, &parts[k], s->samples, &cost);
        if (cost.forward + cost.backward > times.forward + times.backward)
            times = (struct split_times){cost.forward, cost.backward, cost.weight};
    }
    return times;
}

/* Whether the ranks of both have the same devices, one by one. */
static bool are_alike(const struct split_steps *s, uint32_t a, uint32_t b)
{
    const uint32_t *left = s->workers[a].ranks, *right = s->workers[b].ranks;
    for (uint32_t i = 0; i < s->group_size; i++)
        if (s->ranks[left[i]].device != s->ranks[right[i]].device)
            return false;
    return true;
}

static void set_times(struct split_steps *s, const struct layers_strategy *strategy, struct layer_part *const *parts)
{
    const uint32_t count = s->j->count;
    s->times = array_zeroed((size_t)s->stage_count * count, sizeof *s->times);
    for (uint32_t stage = 0; stage < s->stage_count; stage++) {
        struct split_times *times = s->times + (size_t)stage * count;
        uint32_t known = 0;
        while (known < stage && !are_alike(s, s->stages[known].worker, s->stages[stage].worker))
            known++;
        if (known < stage)
            memcpy(times, s->times + (size_t)known * count, count * sizeof *times);
        for (uint32_t layer = 0; layer < count && known == stage; layer++)
            times[layer] = times_of(s, &strategy->splits[layer], parts[layer], stage, layer);
    }
}

/* ---- layers ---- */

static bool assign_layers(struct split_steps *s)
{
    const uint32_t count = s->j->count;
    uint32_t *first = array_zeroed(s->stage_count + (size_t)1, sizeof *first);
    double *seconds = array_zeroed((size_t)s->stage_count * count, sizeof *seconds);
    for (size_t i = 0; i < (size_t)s->stage_count * count; i++)
        seconds[i] = s->times[i].forward + s->times[i].backward;
    first[1] = count;
    bool ok = !is_scheduled(s) || layers_assign(s->j, s->stage_count, seconds, count, first);
    for (uint32_t stage = 0; stage < s->stage_count && ok; stage++) {
        s->stages[stage].first = first[stage];
        s->stages[stage].end = first[stage + 1];
        s->workers[s->stages[stage].worker].stages++;
        for (uint32_t layer = first[stage]; layer < first[stage + 1]; layer++)
            s->layers[layer].stage = stage;
    }
    free(seconds);
    free(first);
    return ok;
}

/* Devices count the ranks of a worker from 0. */
static struct layers_strategy *place(const struct split_steps *s, const struct layers_strategy *strategy)
{
    size_t count = 0;
    for (uint32_t layer = 0; layer < s->j->count; layer++)
        count += strategy->splits[layer].count;
    struct layers_strategy *placed = array_zeroed(1, sizeof *placed);
    uint32_t *next = array_zeroed(count, sizeof *next);
    *placed = (struct layers_strategy){.splits = array_zeroed(s->j->count, sizeof *placed->splits),
                                       .ranks = s->worker_count * s->group_size,
                                       .devices = next};
    for (uint32_t layer = 0; layer < s->j->count; layer++) {
        const uint32_t *ranks = s->workers[s->stages[s->layers[layer].stage].worker].ranks;
        const struct layer_split *split = &strategy->splits[layer];
        placed->splits[layer] = *split;
        placed->splits[layer].devices = next;
        for (uint32_t k = 0; k < split->count; k++)
            *next++ = ranks[split->devices[k]];
    }
    return placed;
}

struct layers_strategy *split_stages_create(struct split_steps *s, const struct layers_strategy *strategy,
                                            struct layer_part *const *parts)
{
    set_workers(s);
    set_stages(s);
    set_times(s, strategy, parts);
    return assign_layers(s) ? place(s, strategy) : NULL;
}

/* ---- orders ---- */

enum { FORWARD, BACKWARD, WEIGHT, MESSAGE, ARRAYS };

/* The schedule is made for what the slowest parts take, and for the largest message to the stage behind. */
static bool take_orders(struct split_steps *s, const struct layers_transfers *transfers)
{
    double *arrays[ARRAYS];
    for (int i = 0; i < ARRAYS; i++)
        arrays[i] = array_zeroed(s->stage_count, sizeof *arrays[i]);
    for (uint32_t layer = 0; layer < s->j->count; layer++) {
        uint32_t stage = s->layers[layer].stage;
        const struct split_times *times = &s->times[(size_t)stage * s->j->count + layer];
        arrays[FORWARD][stage] += times->forward;
        arrays[BACKWARD][stage] += times->backward;
        arrays[WEIGHT][stage] += times->weight;
    }
    for (size_t i = 0; i < transfers->count; i++) {
        const struct layers_transfer *transfer = &transfers->items[i];
        uint32_t stage = s->layers[transfer->source].stage;
        if (s->layers[transfer->layer].stage != stage)
            arrays[MESSAGE][stage] = fmax(arrays[MESSAGE][stage], transfer->bytes);
    }
    struct stagesim_pipeline times = {.size = sizeof times,
                                      .stages = s->stage_count,
                                      .forward = arrays[FORWARD],
                                      .backward = arrays[BACKWARD],
                                      .weight = arrays[WEIGHT],
                                      .message = arrays[MESSAGE]};
    bool ok = true;
    for (uint32_t worker = 0; worker < s->worker_count && ok; worker++) {
        s->workers[worker].slots = s->j->api->order(s->j->job, &times, worker, &s->workers[worker].count);
        ok = s->workers[worker].slots;
    }
    for (int i = 0; i < ARRAYS; i++)
        free(arrays[i]);
    return ok;
}

/* Without a schedule a micro-batch follows the one before. */
static void follow(struct split_steps *s, uint32_t micro_batches)
{
    s->own = array_zeroed(2 * (size_t)micro_batches, sizeof *s->own);
    for (uint32_t i = 0; i < 2 * micro_batches; i++)
        s->own[i] = (struct stagesim_slot){.kind = i % 2 ? STAGESIM_BACKWARD : STAGESIM_FORWARD, .micro_batch = i / 2};
    s->workers[0].slots = s->own;
    s->workers[0].count = 2 * (size_t)micro_batches;
}

bool split_orders_create(struct split_steps *s, const struct layers_transfers *transfers)
{
    const uint32_t micro_batches = s->j->api->micro_batches(s->j->job);
    bool scheduled = is_scheduled(s);
    if (scheduled && !take_orders(s, transfers))
        return false;
    if (!scheduled)
        follow(s, micro_batches);
    s->iterations = 1;
    for (uint32_t worker = 0; worker < s->worker_count && scheduled; worker++) {
        const struct split_worker *w = &s->workers[worker];
        for (size_t i = 0; i < w->count; i++) {
            s->iterations = w->slots[i].iteration >= s->iterations ? w->slots[i].iteration + 1 : s->iterations;
            s->halved |= w->slots[i].split;
        }
    }
    s->flights = scheduled ? micro_batches * s->iterations : 1;
    for (uint32_t worker = 0; worker < s->worker_count; worker++)
        s->workers[worker].left = array_zeroed(s->iterations, sizeof(uint32_t));
    for (uint32_t stage = 0; stage < s->stage_count; stage++)
        s->stages[stage].left = array_zeroed(s->iterations, sizeof(uint32_t));
    return true;
}

void split_stages_destroy(struct split_steps *s)
{
    for (uint32_t worker = 0; s->workers && worker < s->worker_count; worker++) {
        free(s->workers[worker].ranks);
        free(s->workers[worker].left);
    }
    for (uint32_t stage = 0; s->stages && stage < s->stage_count; stage++) {
        free(s->stages[stage].left);
        free(s->stages[stage].parameters);
        free(s->stages[stage].optimizer);
        free(s->stages[stage].stepped);
        free(s->stages[stage].syncs);
    }
    free(s->workers);
    free(s->stages);
    free(s->times);
    free(s->own);
}
