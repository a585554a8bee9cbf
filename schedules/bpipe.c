/* SPDX-License-Identifier: Apache-2.0 */
/* BPipe: 1F1B whose early workers give stashes to the late ones, which hold few. Worker x < D/2 works with D - 1 - x;
 * no worker holds more than K = ceil((D + 2) / 2).
 *
 * Worker x has M = min(N, D - x) micro-batches in flight. Where M > K, those with m mod M in a chosen set of E = M - K
 * + 1 residues move: m leaves right after its forward and comes back one slot before its backward. The residues are not
 * neighbours, so one room serves all moving stashes on x in turn (forward, leaving, coming back, backward) beside the K
 * - 1 that stay; on the partner each residue keeps one room, x + 1 + E = K in all.
 *
 * When the partner y takes and returns: with n = y - x and the grid of equal slots (forward of m on worker s in slot s
 * + 2m, its backward in slot 2D - 1 - s + 2m), the forward of m on x ends when y starts its forward of m - (n - 1) / 2,
 * and x wants m back from when y starts its backward of m + (n - 1) / 2. Longer backwards and latencies only leave more
 * time, so y makes room right before its forward of m - n / 2, rounded up, and returns m right before its backward of m
 * + (n - 1) / 2, rounded down; where backwards are the shorter ones, which needs steps of P = t_F + t_B, the shifts are
 * (n - 1) t_F / P and (n t_B - t_F) / P. The two add up to at most n, hence y returns a stash before it takes the next
 * of the same residue. */
#include "schedules/ratio.h"
#include "schedules/schedules.h"

/* What one worker moves, and when its partner answers. */
struct moves {
    uint32_t worker, partner;
    uint32_t in_flight;      /* M */
    uint32_t moving;         /* E; 0: nothing moves */
    uint32_t take, giveback; /* shifts of the partner's slots, in micro-batches */
};

static struct moves moves_of(const struct schedule_request *request, uint32_t worker)
{
    uint32_t workers = request->workers, most = (workers + 3) / 2;
    struct moves moves = {.worker = worker, .partner = workers - 1 - worker, .in_flight = workers - worker};
    if (moves.in_flight > request->micro_batches)
        moves.in_flight = request->micro_batches;
    if (moves.partner <= worker || moves.in_flight <= most)
        return moves;
    moves.moving = moves.in_flight - most + 1;
    /* take = max(apart / 2, (apart - 1) f), rounded up, giveback = min((apart - 1) / 2, apart (1 - f) - f), rounded
     * down and at least 0, where f is the forward's share of a forward and a backward. */
    struct time_ratio times = time_ratio_of(request, (struct time_ratio){1, 1});
    uint64_t apart = moves.partner - worker, period = times.forward + times.backward;
    uint64_t half = (apart + 1) / 2, shifted = ((apart - 1) * times.forward + period - 1) / period;
    uint64_t room = apart * times.backward, back = room > times.forward ? (room - times.forward) / period : 0;
    moves.take = (uint32_t)(half > shifted ? half : shifted);
    moves.giveback = (uint32_t)((apart - 1) / 2 < back ? (apart - 1) / 2 : back);
    return moves;
}

/* The highest residues, every other one. */
static bool does_move(const struct moves *moves, uint32_t micro_batch)
{
    uint32_t from_top = moves->in_flight - 1 - micro_batch % moves->in_flight;
    return from_top % 2 == 0 && from_top / 2 < moves->moving;
}

struct bpipe {
    struct plan *plan;
    struct moves own, partner; /* of this worker; of the worker that gives it stashes */
    uint32_t worker;
    uint32_t taken, returned; /* the partner's micro-batches below these have been taken and returned */
};

/* Slots of the guest stashes: all of the partner's micro-batches up to `last` that have not been dealt with. */
static void guests(struct bpipe *bpipe, enum slot_kind kind, uint32_t *next, uint64_t last)
{
    for (; *next < bpipe->plan->micro_batches && *next <= last; ++*next)
        if (does_move(&bpipe->partner, *next))
            plan_append(bpipe->plan, bpipe->worker, kind, 0, bpipe->partner.worker, *next);
}

/* Room for micro-batch m's stash to come back before the slot that precedes its backward. */
static void fetch(struct bpipe *bpipe, uint32_t micro_batch)
{
    if (bpipe->own.moving && micro_batch < bpipe->plan->micro_batches && does_move(&bpipe->own, micro_batch))
        plan_append(bpipe->plan, bpipe->worker, SLOT_FETCH, 0, bpipe->worker, micro_batch);
}

static void forward(struct bpipe *bpipe, uint32_t micro_batch)
{
    if (bpipe->partner.moving)
        guests(bpipe, SLOT_EVICT, &bpipe->taken, (uint64_t)micro_batch + bpipe->partner.take);
    plan_append(bpipe->plan, bpipe->worker, SLOT_FORWARD, 0, bpipe->worker, micro_batch);
    if (bpipe->own.moving && does_move(&bpipe->own, micro_batch))
        plan_append(bpipe->plan, bpipe->worker, SLOT_EVICT, 0, bpipe->worker, micro_batch);
}

static void backward(struct bpipe *bpipe, uint32_t micro_batch)
{
    if (bpipe->partner.moving && micro_batch >= bpipe->partner.giveback)
        guests(bpipe, SLOT_FETCH, &bpipe->returned, micro_batch - bpipe->partner.giveback);
    plan_append(bpipe->plan, bpipe->worker, SLOT_BACKWARD, 0, bpipe->worker, micro_batch);
}

static void order(struct bpipe *bpipe)
{
    uint32_t count = bpipe->plan->micro_batches, warm = bpipe->plan->workers - 1 - bpipe->worker;
    if (warm > count)
        warm = count;
    for (uint32_t i = 0; i < warm; i++) {
        if (i + 1 == count) /* no forward comes between the fill and the first backward */
            fetch(bpipe, 0);
        forward(bpipe, i);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (warm + i < count) {
            fetch(bpipe, i);
            forward(bpipe, warm + i);
        }
        if (warm + i + 1 >= count)
            fetch(bpipe, i + 1);
        backward(bpipe, i);
    }
    if (bpipe->partner.moving)
        guests(bpipe, SLOT_FETCH, &bpipe->returned, count);
}

static struct plan *generate(const struct schedule_request *request)
{
    struct plan *plan = plan_create_looped(request, request->workers);
    for (uint32_t worker = 0; worker < request->workers; worker++) {
        struct bpipe bpipe = {.plan = plan,
                              .worker = worker,
                              .own = moves_of(request, worker),
                              .partner = moves_of(request, request->workers - 1 - worker)};
        if (bpipe.own.moving)
            plan_pair(plan, worker, bpipe.own.partner);
        order(&bpipe);
    }
    return plan;
}

const struct schedule schedule_bpipe = {
    .name = "bpipe",
    .summary = "1F1B with stashes balanced over pairs of workers: at most ceil((D + 2) / 2) on each",
    .when = "1f1b whose first worker alone runs out of memory, fast links between partners",
    .source = "Kim et al., BPipe: Memory-Balanced Pipeline Parallelism for Training Large Language Models, ICML 2023",
    .timed = true,
    .stages = stages_one_per_worker,
    .plan = generate,
};
