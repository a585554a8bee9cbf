/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/generation/batching_sequences.h"

#include <string.h>

/* ---- those that go on ---- */

static bool sooner(const struct batching *b, uint32_t one, uint32_t other)
{
    double difference = b->sequences[one].ends - b->sequences[other].ends;
    return difference < 0 || (!(difference > 0) && one < other);
}

static void put(const struct batching *b, struct batching_heap *heap, uint32_t request)
{
    uint32_t at = heap->count++;
    for (; at && sooner(b, request, heap->items[(at - 1) / 2]); at = (at - 1) / 2)
        heap->items[at] = heap->items[(at - 1) / 2];
    heap->items[at] = request;
}

static uint32_t take(const struct batching *b, struct batching_heap *heap, uint32_t at)
{
    uint32_t *items = heap->items, taken = items[at], last = items[--heap->count];
    if (at == heap->count)
        return taken;
    for (; at && sooner(b, last, items[(at - 1) / 2]); at = (at - 1) / 2)
        items[at] = items[(at - 1) / 2];
    for (uint32_t child = 2 * at + 1; child < heap->count; child = 2 * at + 1) {
        child += child + 1 < heap->count && sooner(b, items[child + 1], items[child]);
        if (!sooner(b, items[child], last))
            break;
        items[at] = items[child];
        at = child;
    }
    items[at] = last;
    return taken;
}

void batching_go(struct batching *b, uint32_t request)
{
    put(b, &b->going, request);
}

/* Tokens that a sequence has in the cache beside a prompt that others share. */
static double own_tokens(const struct batching *b, uint32_t request)
{
    const struct batching_sequence *s = &b->sequences[request];
    return s->held + (b->counted - s->begins) - (s->shared ? b->requests[request].prompt : 0) + b->limits->each;
}

static void give_back(struct batching *b, uint32_t request)
{
    const struct batching_request *r = &b->requests[request];
    b->used -= own_tokens(b, request);
    if (b->sequences[request].shared && --b->holders[r->group] == 0)
        b->used -= r->prompt;
}

void batching_leave(struct batching *b, uint32_t at)
{
    uint32_t request = take(b, &b->going, at);
    b->context -= b->sequences[request].held + (b->counted - b->sequences[request].begins);
    give_back(b, request);
}

/* ---- tools ---- */

double batching_kept(const struct batching *b, uint32_t request)
{
    const struct batching_sequence *s = &b->sequences[request];
    return s->kept - (s->shared ? b->requests[request].prompt : 0) + b->limits->each;
}

static void keep(struct batching *b, uint32_t request, double tokens)
{
    struct batching_sequence *s = &b->sequences[request];
    const struct batching_request *r = &b->requests[request];
    s->kept = tokens;
    if (s->shared && b->holders[r->group]++ == 0)
        b->used += r->prompt;
    b->used += batching_kept(b, request);
    b->keeping[b->keeping_count++] = request;
    b->keepers[r->group] += s->shared;
}

void batching_forget(struct batching *b, uint32_t request)
{
    const struct batching_request *r = &b->requests[request];
    uint32_t at = 0;
    while (b->keeping[at] != request)
        at++;
    memmove(&b->keeping[at], &b->keeping[at + 1], (--b->keeping_count - at) * sizeof *b->keeping);
    b->used -= batching_kept(b, request);
    b->keepers[r->group] -= b->sequences[request].shared;
    if (b->sequences[request].shared && --b->holders[r->group] == 0)
        b->used -= r->prompt;
    b->sequences[request].kept = 0;
}

void batching_call_tool(struct batching *b, uint32_t request)
{
    const struct batching_pause *pause = &b->requests[request].pauses[b->sequences[request].calls++];
    struct batching_sequence *s = &b->sequences[request];
    s->made = pause->behind;
    if (b->limits->keeps)
        keep(b, request, b->requests[request].prompt + s->answers + s->made - 1);
    s->answers += pause->answer;
    s->ends = b->now + pause->seconds;
    put(b, &b->away, request);
}

void batching_come_back(struct batching *b)
{
    while (b->away.count && b->sequences[b->away.items[0]].ends <= b->now) {
        uint32_t request = take(b, &b->away, 0);
        b->sequences[request].answered = true;
        b->back[b->back_end++ % b->count] = request;
    }
}
