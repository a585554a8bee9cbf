/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/generation/batching.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

/* A sequence as the engine has it. */
struct sequence {
    double made;   /* tokens that it has of its output, while it waits */
    double ends;   /* while it goes on: where the engine's count of tokens is when it has them all */
    double left;   /* of its prompt, tokens that were not computed yet */
    double held;   /* tokens in the cache before it goes on */
    double begins; /* where the count was when it went on */
    bool shared;   /* its prompt is another one's, too */
};

struct batching {
    struct generation *generation;
    const struct batching_limits *limits;
    const struct batching_request *requests;
    uint32_t count;
    struct batching_run *run;
    struct sequence *sequences;
    uint32_t *heap, running; /* by `ends`, the nearest first */
    uint32_t *filling;       /* whose prompts are computed, from fill_first to fill_end */
    uint32_t fill_first, fill_end;
    uint32_t next;                /* that has not come in yet */
    uint32_t *again, again_count; /* that were thrown out, the last one on top */
    uint32_t *holders;            /* [group]: sequences with its prompt in the cache */
    double now, counted;          /* counted: tokens of a sequence that has gone on from the beginning */
    double context;               /* of those that go on */
    double used;                  /* tokens of the cache */
};

double batching_room(const struct batching_limits *limits, const struct batching_request *request)
{
    return request->prompt + request->output + limits->each;
}

/* ---- those that go on ---- */

static bool sooner(const struct batching *b, uint32_t one, uint32_t other)
{
    double difference = b->sequences[one].ends - b->sequences[other].ends;
    return difference < 0 || (!(difference > 0) && one < other);
}

static void put(struct batching *b, uint32_t request)
{
    uint32_t at = b->running++;
    for (; at && sooner(b, request, b->heap[(at - 1) / 2]); at = (at - 1) / 2)
        b->heap[at] = b->heap[(at - 1) / 2];
    b->heap[at] = request;
}

static uint32_t take(struct batching *b, uint32_t at)
{
    uint32_t taken = b->heap[at], last = b->heap[--b->running];
    if (at == b->running)
        return taken;
    for (; at && sooner(b, last, b->heap[(at - 1) / 2]); at = (at - 1) / 2)
        b->heap[at] = b->heap[(at - 1) / 2];
    for (uint32_t child = 2 * at + 1; child < b->running; child = 2 * at + 1) {
        child += child + 1 < b->running && sooner(b, b->heap[child + 1], b->heap[child]);
        if (!sooner(b, b->heap[child], last))
            break;
        b->heap[at] = b->heap[child];
        at = child;
    }
    b->heap[at] = last;
    return taken;
}

/* Tokens that a sequence has in the cache beside a prompt that others share. */
static double own_tokens(const struct batching *b, uint32_t request)
{
    const struct sequence *s = &b->sequences[request];
    return s->held + (b->counted - s->begins) - (s->shared ? b->requests[request].prompt : 0) + b->limits->each;
}

static void give_back(struct batching *b, uint32_t request)
{
    const struct batching_request *r = &b->requests[request];
    b->used -= own_tokens(b, request);
    if (b->sequences[request].shared && --b->holders[r->group] == 0)
        b->used -= r->prompt;
}

/* Takes it out of those that go on. */
static void leave(struct batching *b, uint32_t at)
{
    uint32_t request = take(b, at);
    b->context -= b->sequences[request].held + (b->counted - b->sequences[request].begins);
    give_back(b, request);
}

static void end_those(struct batching *b)
{
    while (b->running && b->sequences[b->heap[0]].ends <= b->counted + 1e-9) {
        uint32_t request = b->heap[0];
        leave(b, 0);
        b->run->outcomes[request].last = b->now;
        b->run->end = fmax(b->run->end, b->now);
    }
}

/* ---- time ---- */

/* Seconds of the step in which `steps` before it have been taken, without prompts. */
static double decode_seconds(const struct batching *b, double steps)
{
    struct generation_step step = {.decoding = b->running,
                                   .context = b->context + steps * b->running * b->limits->accepted,
                                   .sampled = b->running};
    return generation_seconds(b->generation, &step, NULL);
}

static bool on_line(double value, double line)
{
    return fabs(value - line) <= 1e-12 * line;
}

/* Seconds of `count` steps from the first-th on. The time of a step is made of lines; between two of its kinks the sum
 * is that of the ends. */
static double sum_seconds(const struct batching *b, double first, double count)
{
    enum { FEW = 8 };
    double sum = 0;
    if (count <= FEW) {
        for (double i = 0; i < count; i++)
            sum += decode_seconds(b, first + i);
        return sum;
    }
    double begin = decode_seconds(b, first), end = decode_seconds(b, first + count - 1), span = count - 1;
    double near = floor(span / 3), half = floor(span / 2);
    if (on_line(decode_seconds(b, first + half), begin + (end - begin) * half / span) &&
        on_line(decode_seconds(b, first + near), begin + (end - begin) * near / span))
        return count * (begin + end) / 2;
    half = floor(count / 2);
    return sum_seconds(b, first, half) + sum_seconds(b, first + half, count - half);
}

static void add_span(struct batching *b, double from, double steps, double prefill)
{
    struct batching_run *run = b->run;
    run->busy += b->now - from;
    run->steps += steps;
    run->sequences += steps * b->running;
    run->spans = array_grow(run->spans, &run->span_room, run->span_count + 1, sizeof *run->spans);
    run->spans[run->span_count++] = (struct batching_span){from, b->now, b->running, prefill};
}

/* Those that go on do so by some steps. */
static void go_on(struct batching *b, double steps)
{
    double tokens = steps * b->limits->accepted;
    b->counted += tokens;
    b->context += tokens * b->running;
    b->used += tokens * b->running;
    b->run->most_tokens = fmax(b->run->most_tokens, b->used);
}

/* ---- when the cache is full ---- */

/* The youngest of those that go on has to wait, and its tokens to be computed again. */
static void throw_out(struct batching *b)
{
    uint32_t at = 0;
    for (uint32_t i = 1; i < b->running; i++)
        if (b->heap[i] > b->heap[at])
            at = i;
    uint32_t request = b->heap[at];
    struct sequence *s = &b->sequences[request];
    s->made += 1 + (b->counted - s->begins);
    leave(b, at);
    b->again[b->again_count++] = request;
    b->run->preempted++;
}

/* ---- prompts ---- */

/* The next one that waits; count: none has come. */
static uint32_t waiting(const struct batching *b)
{
    if (b->again_count)
        return b->again[b->again_count - 1];
    return b->next < b->count && b->requests[b->next].arrival <= b->now ? b->next : b->count;
}

/* Lets it in if there is room. */
static bool admit(struct batching *b, uint32_t request)
{
    const struct batching_request *r = &b->requests[request];
    struct sequence *s = &b->sequences[request];
    bool shares = b->limits->shares, there = shares && b->holders[r->group] > 0;
    double all = r->prompt + s->made, fresh = there ? all - r->prompt : all;
    double others = b->running; /* that need room for their next tokens */
    if (b->used + fresh + b->limits->each + others > b->limits->tokens && b->running + (b->fill_end - b->fill_first))
        return false;
    b->holders[r->group] += shares;
    s->shared = shares;
    s->left = fmax(1, fresh);
    s->held = all;
    b->used += fresh + b->limits->each;
    b->run->most_tokens = fmax(b->run->most_tokens, b->used);
    if (b->run->outcomes[request].scheduled < 0)
        b->run->outcomes[request].scheduled = b->now;
    b->filling[b->fill_end++ % b->count] = request;
    return true;
}

static void admit_those(struct batching *b)
{
    double budget = b->limits->budget - (double)b->running;
    for (uint32_t i = b->fill_first; i < b->fill_end; i++)
        budget -= b->sequences[b->filling[i % b->count]].left;
    while (budget > 0 && b->running + (b->fill_end - b->fill_first) < b->limits->sequences) {
        uint32_t request = waiting(b);
        if (request == b->count || !admit(b, request))
            return;
        if (b->again_count)
            b->again_count--;
        else
            b->next++;
        budget -= b->sequences[request].left;
    }
}

/* Of the pieces of prompts of one step the tokens and the pairs; those that end begin to go on behind it. */
static struct generation_step fill(struct batching *b, uint32_t *ended)
{
    double budget = fmax(1, b->limits->budget - (double)b->running);
    struct generation_step step = {.decoding = b->running, .context = b->context, .sampled = b->running};
    for (uint32_t i = b->fill_first; i < b->fill_end && budget > 0; i++) {
        struct sequence *s = &b->sequences[b->filling[i % b->count]];
        double piece = fmin(budget, s->left), before = s->held - s->left;
        step.prefill += piece;
        step.pieces++;
        step.pairs += piece * before + piece * (piece + 1) / 2;
        s->left -= piece;
        budget -= piece;
        *ended += !(s->left > 0);
    }
    step.sampled += *ended;
    return step;
}

static void begin_those(struct batching *b, uint32_t ended)
{
    for (uint32_t i = 0; i < ended; i++) {
        uint32_t request = b->filling[b->fill_first++ % b->count];
        struct sequence *s = &b->sequences[request];
        struct batching_outcome *outcome = &b->run->outcomes[request];
        outcome->first = outcome->first < 0 ? b->now : outcome->first;
        s->begins = b->counted;
        s->ends = b->counted + b->requests[request].output - s->made - 1;
        b->context += s->held;
        put(b, request);
    }
}

static void fill_step(struct batching *b)
{
    uint32_t ended = 0;
    while (b->running > 1 && b->used + b->running * b->limits->accepted > b->limits->tokens + 1e-9)
        throw_out(b);
    double from = b->now;
    struct generation_step step = fill(b, &ended);
    b->now += generation_seconds(b->generation, &step, NULL);
    go_on(b, 1);
    add_span(b, from, 1, step.prefill);
    begin_those(b, ended);
    end_those(b);
}

/* ---- steps without prompts ---- */

/* Of so many steps those until a moment, at least one. */
static double steps_until(const struct batching *b, double count, double moment)
{
    double low = 0, high = count;
    if (b->now + sum_seconds(b, 0, count) <= moment)
        return count;
    while (high - low > 1) {
        double middle = floor((low + high) / 2);
        if (b->now + sum_seconds(b, 0, middle) < moment)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static void decode(struct batching *b)
{
    double accepted = b->limits->accepted, from = b->now;
    double steps = ceil((b->sequences[b->heap[0]].ends - b->counted) / accepted - 1e-9);
    double room = floor((b->limits->tokens - b->used) / (b->running * accepted) + 1e-9);
    if (room < 1 && b->running > 1) {
        throw_out(b);
        return;
    }
    steps = fmax(1, b->running > 1 ? fmin(steps, room) : steps);
    if (!b->again_count && b->next < b->count && b->running < b->limits->sequences &&
        b->requests[b->next].arrival > b->now)
        steps = steps_until(b, steps, b->requests[b->next].arrival);
    b->now += sum_seconds(b, 0, steps);
    go_on(b, steps);
    add_span(b, from, steps, 0);
    end_those(b);
}

/* ---- all together ---- */

static void start(struct batching *b)
{
    uint32_t groups = 0;
    b->sequences = array_zeroed(b->count + 1, sizeof *b->sequences);
    b->heap = array_zeroed(b->count + 1, sizeof *b->heap);
    b->filling = array_zeroed(b->count + 1, sizeof *b->filling);
    b->again = array_zeroed(b->count + 1, sizeof *b->again);
    for (uint32_t i = 0; i < b->count; i++)
        groups = b->requests[i].group >= groups ? b->requests[i].group + 1 : groups;
    b->holders = array_zeroed(groups + 1, sizeof *b->holders);
    b->run->outcomes = array_zeroed(b->count + 1, sizeof *b->run->outcomes);
    for (uint32_t i = 0; i < b->count; i++)
        b->run->outcomes[i] = (struct batching_outcome){-1, -1, -1};
}

void batching_simulate(struct generation *generation, const struct batching_limits *limits,
                       const struct batching_request *requests, uint32_t count, struct batching_run *run)
{
    *run = (struct batching_run){0};
    struct batching b = {.generation = generation, .limits = limits, .requests = requests, .count = count, .run = run};
    start(&b);
    while (b.next < count || b.again_count || b.running || b.fill_end > b.fill_first) {
        admit_those(&b);
        if (b.fill_end > b.fill_first)
            fill_step(&b);
        else if (b.running)
            decode(&b);
        else
            b.now = requests[b.next].arrival;
    }
    run->sequences = run->steps > 0 ? run->sequences / run->steps : 0;
    free(b.sequences);
    free(b.heap);
    free(b.filling);
    free(b.again);
    free(b.holders);
}

void batching_finish(struct batching_run *run)
{
    free(run->outcomes);
    free(run->spans);
    *run = (struct batching_run){0};
}
