/* SPDX-License-Identifier: Apache-2.0 */
/* Hanayo: the model is cut into 2 W D stages that run to and fro over the workers in W waves, so that the bubble
 * shrinks as in Chimera without a second copy of the weights. The order is that of a list schedule in the request's
 * times: a worker that is free takes a backward before a forward, then the lowest micro-batch, then the latest stage.
 * Times are whole numbers in the ratio of forward to backward, so that what ends together does so in every unit. */
#include "base/arena.h"
#include "schedules/kit/zero_bubble.h"
#include "schedules/ratio.h"
#include "schedules/schedules.h"

#include <stdlib.h>
#include <string.h>

enum { OPTION_WAVES, OPTION_ORDER };
enum { TIMED, ROUNDS };

static const char *const orders[] = {"timed", "rounds", NULL};

static const struct schedule_option options[] = {
    [OPTION_WAVES] = {.key = "waves",
                      .initial = 2,
                      .least = 1,
                      .most = 1024,
                      .doc = "how often a micro-batch runs to and fro over the workers (W)"},
    [OPTION_ORDER] = {.key = "order",
                      .names = orders,
                      .initial = TIMED,
                      .doc = "timed: a list schedule by the times of forward and backward; rounds: an order that does "
                             "not depend on times"},
    {0},
};

static uint32_t stages(const struct schedule_request *request)
{
    return 2 * (uint32_t)request->options[OPTION_WAVES] * request->workers;
}

/* What a free worker can run. The key orders: kind, micro-batch, stage from the last on. */
struct heap {
    uint64_t *keys;
    size_t count, capacity;
};

static void heap_push(struct heap *heap, uint64_t key)
{
    if (heap->count == heap->capacity)
        heap->keys = array_grow(heap->keys, &heap->capacity, heap->count + 1, sizeof *heap->keys);
    size_t at = heap->count++;
    for (; at > 0 && heap->keys[(at - 1) / 2] > key; at = (at - 1) / 2)
        heap->keys[at] = heap->keys[(at - 1) / 2];
    heap->keys[at] = key;
}

static uint64_t heap_pop(struct heap *heap)
{
    uint64_t least = heap->keys[0], last = heap->keys[--heap->count];
    size_t at = 0;
    for (size_t child = 1; child < heap->count; child = 2 * at + 1) {
        child += child + 1 < heap->count && heap->keys[child + 1] < heap->keys[child];
        if (heap->keys[child] >= last)
            break;
        heap->keys[at] = heap->keys[child];
        at = child;
    }
    heap->keys[at] = last;
    return least;
}

/* Operations that run and take the same time, so that they end in the order in which they started: a ring of at most
 * one for each worker. */
struct lane {
    uint64_t length;
    struct running {
        uint64_t end;
        uint32_t worker, micro_batch, stage;
    } * running;
    uint32_t head, count;
};

/* What of the operations that end at one moment counts before a worker starts its next: all of them; or one after the
 * other, so that a worker takes what is there then, backwards or forwards first. */
enum ties { ALL_TOGETHER, BACKWARDS_FIRST, FORWARDS_FIRST, TIES };

struct station {
    bool busy;
    uint32_t done, stashed; /* stages of micro-batches whose backward has not ended */
    struct heap ready;
    uint16_t *order; /* stages and kinds: micro-batches follow each other in each stage */
};

/* Where a stage is: on which worker, and in which run over the workers. */
struct home {
    uint32_t worker, run;
};

struct machine {
    uint32_t workers, stages, micro_batches;
    enum ties ties;
    uint64_t now;
    uint32_t most_stashed;    /* on one worker */
    struct station *stations; /* [worker] */
    const struct home *homes; /* [stage] */
    struct lane lanes[2];     /* forwards, backwards */
    uint32_t *touched;        /* workers that may be able to start something */
    size_t touched_count, touched_capacity;
};

enum { STAGE_BITS = 16, BATCH_BITS = 32 };

static void touch(struct machine *machine, uint32_t worker)
{
    if (machine->touched_count == machine->touched_capacity)
        machine->touched = array_grow(machine->touched, &machine->touched_capacity, machine->touched_count + 1,
                                      sizeof *machine->touched);
    machine->touched[machine->touched_count++] = worker;
}

static void offer(const struct machine *machine, uint32_t worker, enum slot_kind kind, uint32_t stage,
                  uint32_t micro_batch)
{
    uint64_t rank = kind == SLOT_BACKWARD ? 0 : 1, from_last = machine->stages - 1 - stage;
    heap_push(&machine->stations[worker].ready,
              rank << (STAGE_BITS + BATCH_BITS) | (uint64_t)micro_batch << STAGE_BITS | from_last);
}

static void start(struct machine *machine, uint32_t worker)
{
    struct station *station = &machine->stations[worker];
    if (station->busy || station->ready.count == 0)
        return;
    uint64_t key = heap_pop(&station->ready);
    enum slot_kind kind = key >> (STAGE_BITS + BATCH_BITS) ? SLOT_FORWARD : SLOT_BACKWARD;
    uint32_t stage = machine->stages - 1 - (uint32_t)(key & ((1u << STAGE_BITS) - 1));
    uint32_t micro_batch = (uint32_t)(key >> STAGE_BITS);
    station->order[station->done++] = (uint16_t)(2 * machine->homes[stage].run + (kind == SLOT_BACKWARD));
    if (kind == SLOT_FORWARD && stage == 0 && micro_batch + 1 < machine->micro_batches)
        offer(machine, worker, SLOT_FORWARD, 0, micro_batch + 1);
    struct lane *lane = &machine->lanes[kind];
    uint32_t index = lane->head + lane->count++;
    lane->running[index < machine->workers ? index : index - machine->workers] =
        (struct running){machine->now + lane->length, worker, micro_batch, stage};
    station->busy = true;
    station->stashed += kind == SLOT_FORWARD;
    if (station->stashed > machine->most_stashed)
        machine->most_stashed = station->stashed;
}

/* Ends the first operation of a lane: what it makes possible. */
static void finish(struct machine *machine, enum slot_kind kind)
{
    struct lane *lane = &machine->lanes[kind];
    struct running ended = lane->running[lane->head];
    uint32_t last = machine->stages - 1, stage = ended.stage, next = stage;
    lane->head = lane->head + 1 < machine->workers ? lane->head + 1 : 0;
    lane->count--;
    struct station *station = &machine->stations[ended.worker];
    station->busy = false;
    station->stashed -= kind == SLOT_BACKWARD;
    touch(machine, ended.worker);
    if (kind == SLOT_BACKWARD && stage == 0)
        return;
    if (kind == SLOT_FORWARD && stage == last)
        kind = SLOT_BACKWARD;
    else
        next = kind == SLOT_FORWARD ? stage + 1 : stage - 1;
    uint32_t worker = machine->homes[next].worker;
    offer(machine, worker, kind, next, ended.micro_batch);
    touch(machine, worker);
}

static uint64_t next_end(const struct lane *lane)
{
    return lane->count ? lane->running[lane->head].end : UINT64_MAX;
}

static void start_touched(struct machine *machine)
{
    while (machine->touched_count > 0)
        start(machine, machine->touched[--machine->touched_count]);
}

/* Until nothing runs; machine->now is the makespan then. */
static void run(struct machine *machine)
{
    const struct lane *forwards = &machine->lanes[SLOT_FORWARD], *backwards = &machine->lanes[SLOT_BACKWARD];
    offer(machine, 0, SLOT_FORWARD, 0, 0);
    start(machine, 0);
    while (forwards->count || backwards->count) {
        uint64_t forward = next_end(forwards), backward = next_end(backwards);
        bool first = forward < backward || (forward == backward && machine->ties == FORWARDS_FIRST);
        machine->now = first ? forward : backward;
        finish(machine, first ? SLOT_FORWARD : SLOT_BACKWARD);
        bool more = next_end(forwards) == machine->now || next_end(backwards) == machine->now;
        if (machine->ties != ALL_TOGETHER || !more)
            start_touched(machine);
    }
}

static void *array(size_t count, size_t size)
{
    size_t capacity = 0;
    void *items = array_grow(NULL, &capacity, count, size);
    return memset(items, 0, capacity * size);
}

struct listed {
    uint64_t makespan;
    uint32_t most_stashed;
    uint16_t *entries; /* the workers' orders, to be freed: [worker * row + i] */
};

/* Slots of a worker. */
static size_t slots_each(const struct schedule_request *request)
{
    return (size_t)4 * (uint32_t)request->options[OPTION_WAVES] * request->micro_batches;
}

/* Workers are about equally far: rows whose lengths are powers of two would all want the same places of a cache. */
static size_t row_length(const struct schedule_request *request)
{
    return slots_each(request) + 32;
}

static struct home *find_homes(const struct schedule_request *request)
{
    struct home *homes = array(stages(request), sizeof *homes);
    for (uint32_t stage = 0; stage < stages(request); stage++) {
        uint32_t run = stage / request->workers, along = stage % request->workers;
        homes[stage] = (struct home){run % 2 ? request->workers - 1 - along : along, run};
    }
    return homes;
}

static struct listed list_schedule(const struct schedule_request *request, enum ties ties)
{
    uint32_t workers = request->workers;
    struct home *homes = find_homes(request);
    struct machine machine = {.workers = workers,
                              .stages = stages(request),
                              .micro_batches = request->micro_batches,
                              .ties = ties,
                              .stations = array(workers, sizeof *machine.stations),
                              .homes = homes};
    uint16_t *entries = array(workers * row_length(request), sizeof *entries);
    struct time_ratio times = time_ratio_of(request, (struct time_ratio){1, 2});
    machine.lanes[SLOT_FORWARD].length = times.forward;
    machine.lanes[SLOT_BACKWARD].length = times.backward;
    for (int i = 0; i < 2; i++)
        machine.lanes[i].running = array(workers, sizeof *machine.lanes[i].running);
    for (uint32_t worker = 0; worker < workers; worker++)
        machine.stations[worker].order = entries + worker * row_length(request);
    run(&machine);
    for (uint32_t worker = 0; worker < workers; worker++)
        free(machine.stations[worker].ready.keys);
    free(machine.stations);
    free(machine.lanes[0].running);
    free(machine.lanes[1].running);
    free(machine.touched);
    free(homes);
    return (struct listed){machine.now, machine.most_stashed, entries};
}

static struct plan *plan_listed(const struct schedule_request *request, const uint16_t *entries)
{
    struct plan *plan = plan_create_waves(request, stages(request));
    uint32_t kinds = 4 * (uint32_t)request->options[OPTION_WAVES], workers = request->workers;
    uint32_t *done = array(kinds, sizeof *done);
    for (uint32_t worker = 0; worker < workers; worker++) {
        memset(done, 0, kinds * sizeof *done);
        plan_expect(plan, worker, slots_each(request));
        for (size_t i = 0; i < slots_each(request); i++) {
            uint32_t entry = entries[worker * row_length(request) + i], run = entry / 2;
            uint32_t stage = run * workers + (run % 2 ? workers - 1 - worker : worker);
            plan_append(plan, worker, entry % 2 ? SLOT_BACKWARD : SLOT_FORWARD, 0, stage, done[entry]++);
        }
    }
    free(done);
    return plan;
}

/* ---- rounds ---- */

/* Fixed rounds: what a worker runs of its stages down the workers (2i of its own) and up (2i + 1), micro-batch by
 * micro-batch, `ahead` of them in the passes that start a wave. */
struct rounds {
    struct plan *plan;
    uint32_t worker, waves, forwards, backwards; /* passes done ahead of the others */
};

/* The i-th stage of the worker. */
static void round_slot(struct rounds *rounds, enum slot_kind kind, uint32_t i, uint32_t micro_batch)
{
    uint32_t workers = rounds->plan->workers, along = i % 2 ? workers - 1 - rounds->worker : rounds->worker;
    plan_append(rounds->plan, rounds->worker, kind, 0, i * workers + along, micro_batch);
}

static void round_forward_ahead(struct rounds *rounds)
{
    uint32_t count = rounds->plan->micro_batches, done = rounds->forwards++;
    round_slot(rounds, SLOT_FORWARD, 2 * (done / count), done % count);
}

static void round_backward_ahead(struct rounds *rounds)
{
    uint32_t count = rounds->plan->micro_batches, done = rounds->backwards++;
    round_slot(rounds, SLOT_BACKWARD, 2 * rounds->waves - 1 - 2 * (done / count), done % count);
}

static void order_in_rounds(struct rounds rounds)
{
    uint32_t count = rounds.plan->micro_batches, warm = rounds.plan->workers - rounds.worker;
    uint64_t all = (uint64_t)count * rounds.waves;
    for (uint32_t i = 0; i < warm && i < count; i++)
        round_forward_ahead(&rounds);
    for (uint64_t i = 0; i < all; i++) {
        round_slot(&rounds, SLOT_FORWARD, 2 * (uint32_t)(i / count) + 1, i % count);
        if (rounds.forwards < all)
            round_forward_ahead(&rounds);
        else
            round_backward_ahead(&rounds);
    }
    for (uint64_t i = 0; i < all; i++) {
        round_slot(&rounds, SLOT_BACKWARD, 2 * rounds.waves - 2 - 2 * (uint32_t)(i / count), i % count);
        if (rounds.backwards < all)
            round_backward_ahead(&rounds);
    }
}

static struct plan *generate_rounds(const struct schedule_request *request)
{
    struct plan *plan = plan_create_waves(request, stages(request));
    for (uint32_t worker = 0; worker < request->workers; worker++)
        order_in_rounds((struct rounds){plan, worker, (uint32_t)request->options[OPTION_WAVES], 0, 0});
    return plan;
}

/* Of the ways to break ties the one with the shortest schedule, of equal ones the first; but none that stashes as much
 * as twice the workers' micro-batches. */
static struct plan *generate(const struct schedule_request *request)
{
    if (request->options[OPTION_ORDER] == ROUNDS)
        return generate_rounds(request);
    uint32_t limit = 2 * stages(request);
    struct listed best = list_schedule(request, ALL_TOGETHER);
    for (enum ties ties = ALL_TOGETHER + 1; ties < TIES; ties++) {
        struct listed other = list_schedule(request, ties);
        bool better = other.makespan < best.makespan && other.most_stashed < limit;
        free(better ? best.entries : other.entries);
        best = better ? other : best;
    }
    struct plan *plan = plan_listed(request, best.entries);
    free(best.entries);
    return plan;
}

const struct schedule schedule_hanayo = {
    .name = "hanayo",
    .summary =
        "waves: the stages run to and fro over the workers, a smaller bubble without a second copy of the weights",
    .when = "about as many micro-batches as workers and fast links, without a second copy of the weights",
    .source = "Liu et al., Hanayo: Harnessing Wave-like Pipeline Parallelism for Enhanced Large Model Training "
              "Efficiency, SC 2023, "
              "arXiv 2308.15762; the order is a list schedule after its description",
    .plain = true,
    .timed = true,
    .options = options,
    .stages = stages,
    .plan = generate,
};
