/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a job of which beats repeat. */
#include "job/job_parts.h"

#include "base/arena.h"
#include "schedules/plan/plan_repeats.h"
#include "schedules/plan_store.h"
#include "simulator/program/beats.h"

#include <stdlib.h>

/* A part has at most this share of the micro-batches. */
static const double worthwhile = 0.6;
/* A beat to spare costs little where there are so many. */
static const double several = 8;

bool job_may_repeat(const struct scenario *scenario, const struct platform *platform)
{
    return scenario->steady == STEADY_AUTO && scenario->fold == FOLD_AUTO && scenario->schedule &&
           !scenario->schedule->adapts && !scenario->schedule->crosses && !scenario->schedule->slices &&
           !scenario->schedule->searches && scenario->micro_batches && scenario->iterations == 1 &&
           !scenario->power.given && !(platform->host_count && platform->hosts[0].varies);
}

/* ---- the plan ---- */

static bool is_work(const struct slot *slot)
{
    return slot->kind == SLOT_FORWARD || slot->kind == SLOT_BACKWARD || slot->kind == SLOT_WEIGHT;
}

/* The newest computation before the place where beats are put in that is another one a beat later. */
static bool find_pair(const struct plan_order *order, const struct order_beat *beat, struct slot *pair)
{
    for (size_t next = beat->place; next-- > beat->length;) {
        const struct slot *later = &order->slots[next], *slot = later - beat->length;
        if (!is_work(slot) || slot->joined)
            continue;
        pair[0] = *slot;
        pair[1] = *later;
        return slot->kind == later->kind && slot->stage == later->stage && slot->pipeline == later->pipeline &&
               slot->part == later->part && slot->joined == later->joined && slot->micro_batch < later->micro_batch;
    }
    return false;
}

static bool find_pairs(struct stagesim_job *job, const struct plan *part, const struct order_beat *beats)
{
    for (uint32_t worker = 0; worker < part->workers; worker++)
        if (!find_pair(&part->orders[worker], &beats[worker], &job->pairs[2 * (size_t)worker]))
            return false;
    return true;
}

/* Whether the plan of so many micro-batches is a part of the whole one. */
static bool is_part(struct stagesim_job *job, const struct plan *whole, const struct schedule_request *request,
                    uint32_t more)
{
    struct schedule_refusal refusal;
    if (!schedule_fits(job->scenario->schedule, request, &refusal))
        return false;
    struct plan *part = job->scenario->schedule->plan(request);
    struct order_beat *beats = array_zeroed(whole->workers, sizeof *beats);
    bool fits = part && beats && plan_extends(whole, part, more, beats) && find_pairs(job, part, beats);
    free(beats);
    plan_destroy(part);
    return fits;
}

/* How many beats can be left out so that the order still shows them, and some to spare: the fewer micro-batches are
 * tried first. 0: none, or not enough to be worth it. */
static uint32_t choose(struct stagesim_job *job, const struct plan *whole, struct schedule_request *request,
                       uint32_t step)
{
    uint32_t all = request->micro_batches, least = all;
    while (least >= whole->workers + step)
        least -= step;
    for (uint32_t beats = 0; least + (double)beats * step <= worthwhile * all; beats += beats ? beats : 1) {
        request->micro_batches = least + beats * step;
        if (!is_part(job, whole, request, (all - request->micro_batches) / step))
            continue;
        uint32_t spare = job->repetition->spare + (several * step <= request->micro_batches);
        request->micro_batches += spare * step;
        uint32_t more = request->micro_batches < all ? (all - request->micro_batches) / step : 0;
        bool fits = spare == 0 || (request->micro_batches <= worthwhile * all && is_part(job, whole, request, more));
        return fits ? more : 0;
    }
    return 0;
}

const struct plan *job_plan_part(struct stagesim_job *job, const struct plan *whole,
                                 const struct schedule_request *request)
{
    struct schedule_request shorter = *request;
    uint32_t step = whole->iterations == 1 ? plan_step(whole) : 0, more = 0;
    bool own = false;
    job->pairs = arena_array(job->arena, 2 * (size_t)whole->workers, sizeof *job->pairs);
    for (uint32_t factor = 1; step && factor <= 2 && !more; factor++) {
        shorter.micro_batches = request->micro_batches;
        more = choose(job, whole, &shorter, factor * step);
    }
    const struct plan *part =
        more ? plan_store_take(job->scenario->plans, job->scenario->schedule, &shorter, NULL, &own) : NULL;
    if (!part)
        return whole;
    if (job->own_plan)
        plan_destroy((struct plan *)(uintptr_t)whole);
    job->own_plan = own;
    job->repetition->more = more;
    return part;
}

/* ---- the program ---- */

static enum stagesim_kind work_of(const struct slot *slot)
{
    return slot->kind == SLOT_FORWARD  ? STAGESIM_FORWARD
           : slot->kind == SLOT_WEIGHT ? STAGESIM_WEIGHT
                                       : STAGESIM_BACKWARD;
}

/* The first computation of a slot; UINT32_MAX: it is part of another one's. */
static uint32_t find_computation(const struct position *position, const struct slot *slot)
{
    const struct stream *stream = &position->streams[0];
    for (uint32_t id = stream->first; id < stream->first + stream->count; id++) {
        const struct operation *operation = &position->operations[id];
        if (operation->micro_batch == slot->micro_batch && operation->stage == slot->stage &&
            operation->pipeline == slot->pipeline && operation->part == slot->part &&
            (operation->kind == work_of(slot) || (operation->is_block && slot->kind == SLOT_FORWARD)))
            return id;
    }
    return UINT32_MAX;
}

bool job_find_beats(struct stagesim_job *job)
{
    const struct program *program = job->job->program;
    struct job_repetition *repetition = job->repetition;
    uint32_t positions = program->mesh->positions;
    struct beat_pair *pairs = arena_array(job->arena, positions, sizeof *pairs);
    if (job->adds || positions != job->plan->workers)
        return false;
    for (uint32_t index = 0; index < positions; index++) {
        pairs[index].first = find_computation(&program->positions[index], &job->pairs[2 * (size_t)index]);
        pairs[index].next = find_computation(&program->positions[index], &job->pairs[2 * (size_t)index + 1]);
        if (pairs[index].first == UINT32_MAX || pairs[index].next == UINT32_MAX)
            return false;
    }
    repetition->beats = beats_around(program, pairs, job->arena);
    return repetition->beats;
}
