/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/tails/step_ready_walk.h"

#include "base/arena.h"

#include <string.h>

/* Of so many of its computations a rank looks whether their inputs are there. */
enum { AHEAD = 64 };
/* Ends that are this share of the time apart are at a time. */
static const double AT_ONCE = 1e-12;

struct event {
    double time;
    uint32_t node;
};

struct ready_scratch {
    const double *seconds;
    size_t stride;
    struct event *heap; /* nodes under way, the first to end at the top */
    uint32_t heap_count;
    double *ends;                   /* [node] */
    uint32_t *missing;              /* [node]: what it still waits for */
    bool *begun;                    /* [node] */
    bool *busy;                     /* [server] */
    uint32_t *head, *tail, *behind; /* [server]: messages in the order in which they were ready; [node]; node + 1 */
    uint32_t *next;                 /* [rank]: place of the first computation that has not begun */
    int32_t *held;                  /* [rank] */
    uint32_t *touched;              /* servers that may begin something */
    uint32_t touched_count;
    bool *is_touched;
};

struct ready_scratch *ready_scratch_create(const struct step_ready *ready, struct arena *arena)
{
    struct ready_scratch *s = arena_alloc(arena, sizeof *s);
    size_t nodes = (size_t)ready->net->count + 1, servers = (size_t)ready->servers + 1;
    *s = (struct ready_scratch){.heap = arena_array(arena, nodes, sizeof *s->heap),
                                .ends = ready->ends,
                                .missing = arena_array(arena, nodes, sizeof *s->missing),
                                .begun = arena_array(arena, nodes, sizeof *s->begun),
                                .busy = arena_array(arena, servers, sizeof *s->busy),
                                .head = arena_array(arena, servers, sizeof *s->head),
                                .tail = arena_array(arena, servers, sizeof *s->tail),
                                .behind = arena_array(arena, nodes, sizeof *s->behind),
                                .next = arena_array(arena, servers, sizeof *s->next),
                                .held = arena_array(arena, servers, sizeof *s->held),
                                .touched = arena_array(arena, servers, sizeof *s->touched),
                                .is_touched = arena_array(arena, servers, sizeof *s->is_touched)};
    return s;
}

/* ---- events ---- */

static bool is_before(const struct event *a, const struct event *b)
{
    return a->time < b->time || (!(b->time < a->time) && a->node < b->node);
}

static void push(struct ready_scratch *s, double time, uint32_t node)
{
    uint32_t at = s->heap_count++;
    struct event event = {time, node};
    for (; at && is_before(&event, &s->heap[(at - 1) / 2]); at = (at - 1) / 2)
        s->heap[at] = s->heap[(at - 1) / 2];
    s->heap[at] = event;
}

static struct event pop(struct ready_scratch *s)
{
    struct event top = s->heap[0], last = s->heap[--s->heap_count];
    uint32_t at = 0;
    for (uint32_t child = 1; child < s->heap_count; child = 2 * at + 1) {
        child += child + 1 < s->heap_count && is_before(&s->heap[child + 1], &s->heap[child]);
        if (!is_before(&s->heap[child], &last))
            break;
        s->heap[at] = s->heap[child];
        at = child;
    }
    s->heap[at] = last;
    return top;
}

/* ---- who begins what ---- */

static void touch(struct ready_scratch *s, uint32_t server)
{
    if (!s->is_touched[server])
        s->touched[s->touched_count++] = server;
    s->is_touched[server] = true;
}

static void begin(struct ready_scratch *s, uint32_t node, double now)
{
    s->begun[node] = true;
    push(s, now + s->seconds[node * s->stride], node);
}

/* Everything that a node waits for is there. */
static void come(const struct step_ready *ready, uint32_t node, double now)
{
    struct ready_scratch *s = ready->scratch;
    uint32_t server = ready->server[node];
    if (server == STEP_ALONE) {
        begin(s, node, now);
        return;
    }
    if (server >= ready->ranks) {
        s->behind[node] = 0;
        *(s->head[server] ? &s->behind[s->tail[server] - 1] : &s->head[server]) = node + 1;
        s->tail[server] = node + 1;
    }
    touch(s, server);
}

/* The first computation of the rank's order whose inputs are there. One that needs a stash more comes before others
 * only if there is room for it until its turn: then those others still find the room that they have in the order. */
static uint32_t choose(const struct step_ready *ready, uint32_t rank)
{
    struct ready_scratch *s = ready->scratch;
    const uint32_t *own = ready->own + ready->first_own[rank];
    uint32_t count = ready->first_own[rank + 1] - ready->first_own[rank];
    while (s->next[rank] < count && s->begun[own[s->next[rank]]])
        s->next[rank]++;
    int32_t held = s->held[rank], most = held;
    for (uint32_t place = s->next[rank]; place < count && place < s->next[rank] + AHEAD; place++) {
        uint32_t node = own[place];
        if (s->begun[node])
            continue;
        if (!s->missing[node] && (ready->holds[node] <= 0 || most < ready->limit[rank]))
            return node;
        held += ready->holds[node];
        most = held > most ? held : most;
    }
    return STEP_ALONE;
}

static void serve(const struct step_ready *ready, uint32_t server, double now)
{
    struct ready_scratch *s = ready->scratch;
    uint32_t node = STEP_ALONE;
    s->is_touched[server] = false;
    if (s->busy[server])
        return;
    if (server < ready->ranks) {
        node = choose(ready, server);
    } else if (s->head[server]) {
        node = s->head[server] - 1;
        s->head[server] = s->behind[node];
    }
    if (node == STEP_ALONE)
        return;
    s->busy[server] = true;
    if (server < ready->ranks && ready->holds[node] > 0)
        s->held[server]++;
    begin(s, node, now);
}

static void end(const struct step_ready *ready, const struct event *event)
{
    struct ready_scratch *s = ready->scratch;
    uint32_t node = event->node, server = ready->server[node];
    s->ends[node] = event->time;
    if (server != STEP_ALONE) {
        s->busy[server] = false;
        s->held[server] -= ready->holds[node] < 0;
        touch(s, server);
    }
    for (uint32_t i = ready->first_next[node]; i < ready->first_next[node + 1]; i++)
        if (--s->missing[ready->nexts[i]] == 0)
            come(ready, ready->nexts[i], event->time);
}

static void clear(const struct step_ready *ready)
{
    struct ready_scratch *s = ready->scratch;
    uint32_t nodes = ready->net->count, servers = ready->servers;
    s->heap_count = s->touched_count = 0;
    memset(s->begun, 0, nodes * sizeof *s->begun);
    memset(s->busy, 0, servers * sizeof *s->busy);
    memset(s->is_touched, 0, servers * sizeof *s->is_touched);
    memset(s->head, 0, servers * sizeof *s->head);
    memset(s->next, 0, servers * sizeof *s->next);
    memset(s->held, 0, servers * sizeof *s->held);
    for (uint32_t node = 0; node < nodes; node++)
        s->missing[node] = ready->first_wait[node + 1] - ready->first_wait[node];
}

double step_ready_seconds(struct step_ready *ready, const double *seconds, size_t stride)
{
    struct ready_scratch *s = ready->scratch;
    double now = 0;
    s->seconds = seconds;
    s->stride = stride;
    clear(ready);
    for (uint32_t node = 0; node < ready->net->count; node++)
        if (ready->first_wait[node] == ready->first_wait[node + 1])
            come(ready, node, 0);
    for (;;) {
        for (uint32_t i = 0; i < s->touched_count; i++)
            serve(ready, s->touched[i], now);
        s->touched_count = 0;
        if (!s->heap_count)
            return now;
        now = s->heap[0].time;
        do {
            struct event event = pop(s);
            now = event.time > now ? event.time : now;
            end(ready, &event);
        } while (s->heap_count && s->heap[0].time <= now * (1 + AT_ONCE));
    }
}
