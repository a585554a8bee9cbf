/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "workloads/generation/batching_sequences.h"

#include <math.h>
#include <stdlib.h>

double batching_tokens(const struct batching_request *request)
{
    double tokens = request->prompt + request->output;
    for (uint32_t i = 0; i < request->pause_count; i++)
        tokens += request->pauses[i].answer;
    return tokens;
}

double batching_room(const struct batching_limits *limits, const struct batching_request *request)
{
    return batching_tokens(request) + limits->each;
}

/* ---- those that go on ---- */

static void end_those(struct batching *b)
{
    while (b->going.count && b->sequences[b->going.items[0]].ends <= b->counted + 1e-9) {
        uint32_t request = b->going.items[0];
        batching_leave(b, 0);
        if (b->sequences[request].calls < b->requests[request].pause_count) {
            batching_call_tool(b, request);
            continue;
        }
        b->begun--;
        b->run->outcomes[request].last = b->now;
        b->run->end = fmax(b->run->end, b->now);
    }
}

/* ---- time ---- */

/* Seconds of the step in which `steps` before it have been taken, without prompts. */
static double decode_seconds(const struct batching *b, double steps)
{
    struct generation_step step = {.decoding = b->going.count,
                                   .context = b->context + steps * b->going.count * b->limits->accepted,
                                   .sampled = b->going.count};
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
    run->sequences += steps * b->going.count;
    run->spans = array_grow(run->spans, &run->span_room, run->span_count + 1, sizeof *run->spans);
    run->spans[run->span_count++] = (struct batching_span){from, b->now, b->going.count, prefill};
}

/* Those that go on do so by some steps. */
static void go_on(struct batching *b, double steps)
{
    double tokens = steps * b->limits->accepted;
    b->counted += tokens;
    b->context += tokens * b->going.count;
    b->used += tokens * b->going.count;
    b->run->most_tokens = fmax(b->run->most_tokens, b->used);
}

/* ---- when the cache is full ---- */

/* The youngest of those that go on has to wait, and its tokens to be computed again. */
static void throw_out(struct batching *b)
{
    uint32_t at = 0;
    for (uint32_t i = 1; i < b->going.count; i++)
        if (b->going.items[i] > b->going.items[at])
            at = i;
    uint32_t request = b->going.items[at];
    struct batching_sequence *s = &b->sequences[request];
    s->made += 1 + (b->counted - s->begins);
    batching_leave(b, at);
    b->again[b->again_count++] = request;
    b->run->preempted++;
}

/* What a sequence left there that waits for a tool goes first. False: only one sequence has tokens there. */
static bool make_room(struct batching *b)
{
    if (b->keeping_count)
        batching_forget(b, b->keeping[0]);
    else if (b->going.count > 1)
        throw_out(b);
    else
        return false;
    return true;
}

/* ---- prompts ---- */

/* Requests come, as long as others have ended; a server reads one after the other. */
static void receive(struct batching *b)
{
    const struct batching_limits *limits = b->limits;
    for (; b->sent < b->count && (!limits->begun || b->begun < limits->begun); b->sent++, b->begun++) {
        const struct batching_request *r = &b->requests[b->sent];
        double came = limits->begun ? fmax(b->now, r->arrival) : r->arrival;
        b->front = fmax(b->front, came) + limits->front + limits->front_token * r->prompt;
        b->ready[b->sent] = b->front;
    }
    if (b->since >= limits->polls || !b->going.count) {
        b->polled = b->now;
        b->since = 0;
    }
}

/* The next one that waits; count: none has come. */
static uint32_t waiting(const struct batching *b)
{
    if (b->again_count)
        return b->again[b->again_count - 1];
    if (b->back_end > b->back_first)
        return b->back[b->back_first % b->count];
    return b->next < b->sent && b->ready[b->next] <= b->polled ? b->next : b->count;
}

static void take_waiting(struct batching *b)
{
    if (b->again_count) {
        b->again_count--;
    } else if (b->back_end > b->back_first) {
        b->back_first++;
    } else {
        b->next++;
    }
}

/* Tokens that have to be computed before a sequence goes on. */
static double fresh_tokens(const struct batching *b, uint32_t request)
{
    const struct batching_request *r = &b->requests[request];
    const struct batching_sequence *s = &b->sequences[request];
    double all = r->prompt + s->answers + s->made;
    if (s->kept > 0)
        return all - s->kept;
    return b->limits->shares && b->holders[r->group] > 0 ? all - r->prompt : all;
}

/* Whether there is room for it beside the next tokens of those that go on, without so many tokens of others. */
static bool has_room(const struct batching *b, uint32_t request, double others)
{
    double more = fresh_tokens(b, request) + (b->sequences[request].kept > 0 ? 0 : b->limits->each);
    return b->used - others + more + b->going.count <= b->limits->tokens;
}

/* Tokens that there would be room for without what others left, with prompts that nobody else has. */
static double kept_by_others(const struct batching *b, uint32_t request)
{
    double tokens = 0;
    for (uint32_t i = 0; i < b->keeping_count; i++) {
        const struct batching_request *r = &b->requests[b->keeping[i]];
        bool last =
            b->limits->shares && r->group != b->requests[request].group && b->keepers[r->group] == b->holders[r->group];
        if (b->keeping[i] != request)
            tokens += batching_kept(b, b->keeping[i]) + (last ? r->prompt / b->keepers[r->group] : 0);
    }
    return tokens;
}

/* Takes room from those that wait for tools if that is enough. */
static bool find_room(struct batching *b, uint32_t request)
{
    bool alone = b->going.count + (b->fill_end - b->fill_first) == 0;
    if (has_room(b, request, 0))
        return true;
    if (!alone && !has_room(b, request, kept_by_others(b, request) + 1e-9))
        return false;
    for (uint32_t i = 0; i < b->keeping_count && !has_room(b, request, 0);)
        if (b->keeping[i] == request)
            i++;
        else
            batching_forget(b, b->keeping[i]);
    return alone || has_room(b, request, 0);
}

/* Lets it in if there is room. */
static bool admit(struct batching *b, uint32_t request)
{
    const struct batching_request *r = &b->requests[request];
    struct batching_sequence *s = &b->sequences[request];
    if (!find_room(b, request))
        return false;
    double fresh = fresh_tokens(b, request);
    if (s->kept > 0)
        batching_forget(b, request);
    else if (s->answered)
        b->run->forgotten++;
    s->answered = false;
    b->used += fresh_tokens(b, request) + b->limits->each;
    b->holders[r->group] += b->limits->shares;
    s->shared = b->limits->shares;
    s->left = fmax(1, fresh);
    s->held = r->prompt + s->answers + s->made;
    b->run->most_tokens = fmax(b->run->most_tokens, b->used);
    if (b->run->outcomes[request].scheduled < 0)
        b->run->outcomes[request].scheduled = b->now;
    b->filling[b->fill_end++ % b->count] = request;
    return true;
}

/* Tokens of prompts in a step: those that go on take their part of it where they are in it. */
static double room_for_prompts(const struct batching *b)
{
    return b->limits->budget - (b->limits->separate ? 0 : (double)b->going.count);
}

static void admit_those(struct batching *b)
{
    double budget = room_for_prompts(b);
    for (uint32_t i = b->fill_first; i < b->fill_end; i++)
        budget -= b->sequences[b->filling[i % b->count]].left;
    while (budget > 0 && b->going.count + (b->fill_end - b->fill_first) < b->limits->sequences) {
        uint32_t request = waiting(b);
        if (request == b->count || !admit(b, request))
            return;
        take_waiting(b);
        budget -= b->sequences[request].left;
    }
}

/* Of the pieces of prompts of one step the tokens and the pairs; those that end begin to go on behind it. */
static struct generation_step fill(struct batching *b, uint32_t *ended)
{
    double budget = fmax(1, room_for_prompts(b));
    struct generation_step step = {0};
    if (!b->limits->separate)
        step = (struct generation_step){.decoding = b->going.count, .context = b->context, .sampled = b->going.count};
    for (uint32_t i = b->fill_first; i < b->fill_end && budget > 0; i++) {
        struct batching_sequence *s = &b->sequences[b->filling[i % b->count]];
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

/* Tokens of the output that a request has when it calls the next tool, or ends. */
static double until(const struct batching_request *request, uint32_t calls)
{
    return calls < request->pause_count ? request->pauses[calls].behind : request->output;
}

static void begin_those(struct batching *b, uint32_t ended)
{
    for (uint32_t i = 0; i < ended; i++) {
        uint32_t request = b->filling[b->fill_first++ % b->count];
        struct batching_sequence *s = &b->sequences[request];
        struct batching_outcome *outcome = &b->run->outcomes[request];
        outcome->first = outcome->first < 0 ? b->now : outcome->first;
        s->begins = b->counted;
        s->ends = b->counted + until(&b->requests[request], s->calls) - s->made - 1;
        b->context += s->held;
        batching_go(b, request);
    }
}

static void fill_step(struct batching *b)
{
    uint32_t ended = 0;
    while (b->used + b->going.count * b->limits->accepted > b->limits->tokens + 1e-9 && make_room(b))
        continue;
    double from = b->now;
    struct generation_step step = fill(b, &ended);
    b->now += generation_seconds(b->generation, &step, NULL);
    if (!b->limits->separate)
        go_on(b, 1);
    b->since = b->limits->polls;
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

/* When the next request comes, for the first time or back from a tool. */
static double next_coming(const struct batching *b)
{
    double next = b->away.count ? b->sequences[b->away.items[0]].ends : INFINITY;
    if (b->next < b->sent && b->ready[b->next] > b->now)
        next = fmin(next, b->ready[b->next]);
    return next;
}

static void decode(struct batching *b)
{
    double accepted = b->limits->accepted, from = b->now, coming = next_coming(b);
    double steps = ceil((b->sequences[b->going.items[0]].ends - b->counted) / accepted - 1e-9);
    double room = floor((b->limits->tokens - b->used) / (b->going.count * accepted) + 1e-9);
    if (room < 1 && make_room(b))
        return;
    steps = fmax(1, b->going.count > 1 || b->keeping_count ? fmin(steps, room) : steps);
    if (!b->again_count && b->going.count < b->limits->sequences && coming < INFINITY)
        steps = steps_until(b, steps, coming);
    if (b->limits->polls > 1 && b->next < b->sent)
        steps = fmin(steps, b->limits->polls - b->since);
    b->since += steps;
    if (b->since > b->limits->polls) /* it looked in vain */
        b->since -= b->limits->polls * (ceil(b->since / b->limits->polls) - 1);
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
    b->going.items = array_zeroed(b->count + 1, sizeof *b->going.items);
    b->away.items = array_zeroed(b->count + 1, sizeof *b->away.items);
    b->back = array_zeroed(b->count + 1, sizeof *b->back);
    b->keeping = array_zeroed(b->count + 1, sizeof *b->keeping);
    b->filling = array_zeroed(b->count + 1, sizeof *b->filling);
    b->again = array_zeroed(b->count + 1, sizeof *b->again);
    b->ready = array_zeroed(b->count + 1, sizeof *b->ready);
    for (uint32_t i = 0; i < b->count; i++)
        groups = b->requests[i].group >= groups ? b->requests[i].group + 1 : groups;
    b->holders = array_zeroed(groups + 1, sizeof *b->holders);
    b->keepers = array_zeroed(groups + 1, sizeof *b->keepers);
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
    while (b.next < count || b.again_count || b.going.count || b.fill_end > b.fill_first || b.away.count ||
           b.back_end > b.back_first) {
        batching_come_back(&b);
        receive(&b);
        admit_those(&b);
        if (b.fill_end > b.fill_first)
            fill_step(&b);
        else if (b.going.count)
            decode(&b);
        else
            b.now = next_coming(&b);
    }
    run->sequences = run->steps > 0 ? run->sequences / run->steps : 0;
    free(b.sequences);
    free(b.going.items);
    free(b.away.items);
    free(b.back);
    free(b.keeping);
    free(b.filling);
    free(b.again);
    free(b.ready);
    free(b.holders);
    free(b.keepers);
}

void batching_finish(struct batching_run *run)
{
    free(run->outcomes);
    free(run->spans);
    *run = (struct batching_run){0};
}
