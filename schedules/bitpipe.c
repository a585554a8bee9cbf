/* SPDX-License-Identifier: Apache-2.0 */
/* BitPipe: two pipelines in opposite directions, each of two chunks a worker that form a V: what came down the workers
 * goes back up. Every worker holds two half stages of each of two copies. A unit has D micro-batches, half of them
 * in each pipeline. A worker takes its forwards, and its backwards, from two lists that weave the four chunks; how many
 * forwards come before the first backward follows from its place. */
#include "schedules/schedules.h"

/* A worker's place among the lists: those of the pipeline that begins on its half of the workers come first. */
struct weave {
    struct plan *plan;
    uint32_t worker, half, ahead; /* half: D / 2; ahead: of its own pipeline's micro-batches before the other's come */
    uint32_t own;                 /* pipeline that begins on its half */
    uint64_t forwards, backwards; /* done */
};

/* The chunk (0, 1) of a pipeline, own or not, and micro-batch of the unit at a place of the list of forwards. */
struct place {
    uint32_t chunk, number;
    bool own;
};

/* Own micro-batches come in first, then the other pipeline's between them; each goes on to its second chunk when the
 * list is through with the first. A unit's list has five parts. */
static struct place forward_place(const struct weave *w, uint32_t at)
{
    uint32_t q = w->ahead, rest = w->half - q;
    if (at < q)
        return (struct place){0, at, true};
    at -= q;
    if (at < 2 * rest)
        return at % 2 ? (struct place){0, at / 2 + q, true} : (struct place){0, at / 2, false};
    at -= 2 * rest;
    if (at < 2 * q)
        return at % 2 ? (struct place){1, at / 2, false} : (struct place){0, at / 2 + rest, false};
    at -= 2 * q;
    if (at < 2 * rest)
        return at % 2 ? (struct place){1, at / 2 + q, false} : (struct place){1, at / 2, true};
    return (struct place){1, at - rest, true};
}

/* Backwards: the same list with the second chunks before the first. */
static struct place backward_place(const struct weave *w, uint32_t at)
{
    struct place place = forward_place(w, at);
    place.chunk = 1 - place.chunk;
    return place;
}

/* The stage of a pipeline's chunk on a worker: pipeline 0 goes down the workers, pipeline 1 up, second chunks back. */
static uint32_t stage_of(const struct weave *w, uint32_t pipeline, uint32_t chunk)
{
    uint32_t workers = w->plan->workers, along = pipeline == 0 ? w->worker : workers - 1 - w->worker;
    return chunk == 0 ? along : 2 * workers - 1 - along;
}

static void append(struct weave *w, enum slot_kind kind)
{
    uint64_t *done = kind == SLOT_FORWARD ? &w->forwards : &w->backwards;
    uint32_t unit = (uint32_t)(*done / (4 * w->half)), at = (uint32_t)(*done % (4 * w->half));
    struct place place = kind == SLOT_FORWARD ? forward_place(w, at) : backward_place(w, at);
    uint32_t pipeline = place.own ? w->own : 1 - w->own;
    ++*done;
    plan_append(w->plan, w->worker, kind, pipeline, stage_of(w, pipeline, place.chunk),
                unit * 2 * w->half + pipeline * w->half + place.number);
}

static void pairs(struct weave *w, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        append(w, SLOT_FORWARD);
        append(w, SLOT_BACKWARD);
    }
}

static void alone(struct weave *w, enum slot_kind kind, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        append(w, kind);
}

/* A unit has 2 D forwards of a worker. Between units it first drains, as far as the next one lets it, and then fills
 * again. */
static void order(struct weave *w)
{
    uint32_t workers = w->plan->workers, units = w->plan->micro_batches / workers;
    uint32_t outer = w->worker < w->half ? w->worker : workers - 1 - w->worker;
    uint32_t warm = workers + w->half + outer, paired = 2 * workers - warm;
    plan_expect(w->plan, w->worker, (size_t)4 * w->plan->micro_batches);
    alone(w, SLOT_FORWARD, warm);
    for (uint32_t unit = 1; unit < units; unit++) {
        pairs(w, paired);
        alone(w, SLOT_BACKWARD, warm - paired + 1);
        pairs(w, paired - 1);
        alone(w, SLOT_FORWARD, warm - paired + 1);
    }
    pairs(w, paired);
    alone(w, SLOT_BACKWARD, warm);
}

static uint32_t stages(const struct schedule_request *request)
{
    return 2 * request->workers;
}

static struct plan *generate(const struct schedule_request *request)
{
    uint32_t workers = request->workers, half = workers / 2;
    struct plan *plan = plan_create(workers, 2 * workers, 2, request->micro_batches);
    for (uint32_t worker = 0; worker < workers; worker++) {
        bool lower = worker >= half;
        struct weave w = {.plan = plan, .worker = worker, .half = half, .own = lower};
        w.ahead = lower ? worker - half + 1 : half - worker;
        for (uint32_t pipeline = 0; pipeline < 2; pipeline++)
            for (uint32_t chunk = 0; chunk < 2; chunk++)
                plan_place(plan, pipeline, stage_of(&w, pipeline, chunk), worker);
        order(&w);
    }
    return plan;
}

static bool fits(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    if (request->workers % 2)
        return schedule_refuse(refusal, REFUSED_WORKERS, NULL,
                               "bitpipe runs pipelines in both directions and needs an even number of workers, not %u",
                               request->workers);
    return request->micro_batches % request->workers == 0 ||
           schedule_refuse(refusal, REFUSED_MICRO_BATCHES, NULL, "bitpipe needs a multiple of %u micro-batches, not %u",
                           request->workers, request->micro_batches);
}

const struct schedule schedule_bitpipe = {
    .name = "bitpipe",
    .summary = "pipelines in both directions, each with two chunks a worker in a V: less bubble than chimera's",
    .when = "about as many micro-batches as workers, fast links, weights small enough for two copies",
    .source = "Wu et al., BitPipe: Bidirectional Interleaved Pipeline Parallelism for Accelerating Large Models "
              "Training, arXiv 2410.19367, and its implementation",
    .stages = stages,
    .fits = fits,
    .plan = generate,
};
