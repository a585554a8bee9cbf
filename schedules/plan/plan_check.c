/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/plan/plan_check.h"

#include "base/arena.h"
#include "schedules/plan/plan_lock.h"
#include "schedules/plan/plan_walk.h"
#include "schedules/plan/plan_weights.h"
#include "schedules/plan/plan_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEARCHED = 100 }; /* mistakes after which the other slot of a double one is no longer searched for */

struct check {
    const struct plan *plan;
    const struct plan_reporter *reporter;
    uint16_t *seen;     /* [cell_of]: enum plan_done bits of the slots met so far */
    bool *again;        /* the same index: whether R was met */
    bool *split;        /* the same index: whether a backward announced a W */
    uint32_t *pipeline; /* [micro_batch], PLAN_NOWHERE: not met */
    unsigned mistakes;
    bool unclear; /* a slot does not say what it runs, so that nothing can be said to be missing */
    bool stopped; /* nobody wants to hear of more */
};

/* A worker's slots of a stage are near each other. */
static size_t cell_of(const struct check *check, uint32_t micro_batch, uint32_t stage)
{
    return (size_t)stage * check->plan->micro_batches + micro_batch;
}

__attribute__((format(printf, 3, 4))) static void report(struct check *check, struct plan_mistake at,
                                                         const char *format, ...)
{
    check->mistakes++;
    if (!check->reporter)
        check->stopped = true; /* one mistake is as bad as many */
    if (check->stopped)
        return;
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    at.text = text;
    check->stopped = !check->reporter->report(check->reporter->user, &at);
}

static struct plan_mistake at_slot(uint32_t worker, size_t index)
{
    return (struct plan_mistake){.worker = worker, .index = index, .other_worker = PLAN_NOWHERE};
}

static struct plan_mistake nowhere(void)
{
    return (struct plan_mistake){.worker = PLAN_NOWHERE, .other_worker = PLAN_NOWHERE};
}

/* ---- slot by slot ---- */

static bool check_range(struct check *check, uint32_t worker, size_t index, const struct slot *slot)
{
    const struct plan *plan = check->plan;
    unsigned before = check->mistakes;
    if (slot->kind > SLOT_OUTPUT_GRADIENT || slot->part > PART_B)
        report(check, at_slot(worker, index), "there is no kind %u, part %u", slot->kind, slot->part);
    else if (slot->part != PART_WHOLE && (slot->kind != SLOT_BACKWARD || slot->split))
        report(check, at_slot(worker, index), "only a backward that is not split can be halved");
    if (slot->stage >= plan->stages)
        report(check, at_slot(worker, index), "stage %u does not exist: there are %u, from 0", slot->stage,
               plan->stages);
    if (slot->pipeline >= plan->pipelines)
        report(check, at_slot(worker, index), "pipeline %u does not exist: there are %u, from 0", slot->pipeline,
               plan->pipelines);
    if (slot->micro_batch >= plan->micro_batches)
        report(check, at_slot(worker, index), "micro-batch %u does not exist: there are %u, from 0", slot->micro_batch,
               plan->micro_batches);
    return check->mistakes == before;
}

/* The worker in whose order a slot may stand besides that of its stage: the partner, for moving stashes. */
static bool is_partner(const struct plan *plan, uint32_t home, uint32_t worker, const struct slot *slot)
{
    return slot_moves(slot) && plan->partners && home < plan->workers && plan->partners[home] == worker;
}

static void check_place(struct check *check, uint32_t worker, size_t index, const struct slot *slot)
{
    uint32_t home = plan_worker(check->plan, slot->pipeline, slot->stage);
    if (home != worker && !is_partner(check->plan, home, worker, slot) && !slot_hands_on(slot))
        report(check, at_slot(worker, index),
               "stage %u of pipeline %u lives on worker %u, but worker %u runs %s of micro-batch %u", slot->stage,
               slot->pipeline, home, worker, plan_words_of(slot->kind, slot->part).text, slot->micro_batch);
    uint32_t *pipeline = &check->pipeline[slot->micro_batch];
    if (*pipeline == PLAN_NOWHERE)
        *pipeline = slot->pipeline;
    if (*pipeline != slot->pipeline)
        report(check, at_slot(worker, index),
               "micro-batch %u runs in pipeline %u and cannot run in pipeline %u as well", slot->micro_batch, *pipeline,
               slot->pipeline);
}

/* Finds the slot before (worker, index) in reading order that does part of the same. */
static struct plan_mistake with_first(const struct check *check, uint32_t worker, size_t index, const struct slot *slot)
{
    struct plan_mistake mistake = at_slot(worker, index);
    for (uint32_t other = 0; other <= worker; other++) {
        const struct plan_order *order = &check->plan->orders[other];
        for (size_t i = 0; i < (other < worker ? order->count : index); i++) {
            const struct slot *first = &order->slots[i];
            if (first->micro_batch == slot->micro_batch && first->stage == slot->stage && first->kind == slot->kind &&
                (plan_mask(check->plan, other, first) & plan_mask(check->plan, worker, slot))) {
                mistake.other_worker = other;
                mistake.other_index = i;
                return mistake;
            }
        }
    }
    return mistake;
}

/* Moving a stash must stand between its forward and its backward, and at the partner its return after its coming. */
static void check_stash(struct check *check, uint32_t worker, size_t index, const struct slot *slot, uint16_t mask,
                        uint16_t seen)
{
    const char *mistake = NULL;
    if (mask == DONE_EVICT && !(seen & DONE_FORWARD))
        mistake = "is evicted before its forward";
    if ((mask == DONE_EVICT || mask == DONE_FETCH) && (seen & DONE_BACKWARD))
        mistake = "moves after its backward";
    if (mask == DONE_FETCH && !(seen & DONE_EVICT))
        mistake = "is fetched but was not evicted";
    if (slot->kind == SLOT_BACKWARD && (seen & DONE_EVICT) && !(seen & DONE_FETCH))
        mistake = "is not fetched before its backward";
    if (mask == DONE_RETURN && !(seen & DONE_TAKE))
        mistake = "is returned but was not taken";
    if (mistake)
        report(check, at_slot(worker, index), "the stash of micro-batch %u, stage %u %s", slot->micro_batch,
               slot->stage, mistake);
}

/* The passes of a micro-batch's slices in a stage follow each other, forwards from the first slice on and backwards
 * from the last one back. `seen` is that of the slot's cell. */
static void check_slices(struct check *check, uint32_t worker, size_t index, const struct slot *slot,
                         const uint16_t *seen)
{
    uint32_t slices = check->plan->slices;
    if (slices == 1)
        return;
    uint32_t slice = slot->micro_batch % slices;
    if (slot->part != PART_WHOLE)
        report(check, at_slot(worker, index), "a slice of a sequence cannot be halved");
    if (slot->joined)
        report(check, at_slot(worker, index), "a slice of a sequence cannot be part of a block");
    if (slot->kind == SLOT_FORWARD && slice > 0 && !(seen[-1] & DONE_FORWARD))
        report(check, at_slot(worker, index),
               "slice %u of micro-batch %u, stage %u is run before slice %u, whose keys and values it needs", slice,
               slot->micro_batch / slices, slot->stage, slice - 1);
    if (slot->kind == SLOT_BACKWARD && slice + 1 < slices && !(seen[1] & DONE_BACKWARD))
        report(check, at_slot(worker, index),
               "the backward of slice %u of micro-batch %u, stage %u is run before that of slice %u", slice,
               slot->micro_batch / slices, slot->stage, slice + 1);
}

static void check_block(struct check *check, uint32_t worker, size_t first, size_t end)
{
    const struct slot *slots = &check->plan->orders[worker].slots[first];
    if (slots[0].joined)
        report(check, at_slot(worker, first), "the first slot of a worker has none before it to be joined with");
    if (end - first == 1)
        return;
    bool forwards = slots[0].kind == SLOT_FORWARD && slots[1].kind == SLOT_FORWARD &&
                    slots[0].stage == slots[1].stage && slots[0].pipeline == slots[1].pipeline;
    bool both = slots[0].kind + slots[1].kind == SLOT_FORWARD + SLOT_BACKWARD && !slots[0].part && !slots[1].part;
    bool again = slots[0].kind == SLOT_RECOMPUTE && slots[1].kind == SLOT_BACKWARD && !slots[1].part &&
                 slots[0].stage == slots[1].stage && slots[0].micro_batch == slots[1].micro_batch;
    bool weight = slots[0].kind == SLOT_FORWARD && slots[1].kind == SLOT_WEIGHT && slots[1].joined == SLOT_BRAIDED;
    if (end - first > 2 || !(forwards || both || weight || again))
        report(check, at_slot(worker, first), "a block is two forwards of one stage, or a whole forward and backward%s",
               slots[1].joined == SLOT_BRAIDED ? " or weight gradient" : "");
}

/* R stands between F and B, of every micro-batch of a stage that computes again. */
static void check_again(struct check *check, uint32_t worker, size_t index, const struct slot *slot)
{
    size_t cell = cell_of(check, slot->micro_batch, slot->stage);
    const char *mistake = NULL;
    if (slot->kind == SLOT_RECOMPUTE && check->again[cell])
        mistake = "is computed again more than once";
    else if (slot->kind == SLOT_RECOMPUTE && !(check->seen[cell] & DONE_FORWARD))
        mistake = "is computed again before its forward";
    else if (slot->kind == SLOT_RECOMPUTE && check->seen[cell] & DONE_BACKWARD)
        mistake = "is computed again after its backward";
    else if (slot->kind == SLOT_RECOMPUTE && plan_recomputed(check->plan, slot->stage) <= 0)
        mistake = "is computed again, but its stage keeps its stashes";
    else if (slot->kind == SLOT_BACKWARD && plan_recomputed(check->plan, slot->stage) > 0 && !check->again[cell])
        mistake = "is not computed again before its backward; others of its stage are";
    check->again[cell] |= slot->kind == SLOT_RECOMPUTE;
    if (mistake)
        report(check, at_slot(worker, index), "micro-batch %u, stage %u %s", slot->micro_batch, slot->stage, mistake);
}

/* Where weights travel; also that nothing is handed on where they do not. */
static void check_weights(struct check *check, uint32_t worker, size_t index, const struct slot *slot, uint16_t seen)
{
    char text[WEIGHTS_MISTAKE_MAX] = "weights are handed on, but those of this plan do not travel";
    bool fits =
        plan_travels(check->plan) ? plan_weights_fit(check->plan, worker, slot, seen, text) : !slot_hands_on(slot);
    if (!fits)
        report(check, at_slot(worker, index), "%s", text);
}

/* Where workers share the output layer, each has one stage; where they do not, there are no shares. */
static void check_output(struct check *check, uint32_t worker, size_t index, const struct slot *slot)
{
    const struct plan *plan = check->plan;
    if (slot_is_output(slot) && !plan->barriers)
        report(check, at_slot(worker, index), "workers do not share the output layer of this plan");
    else if (plan->barriers && (plan->stages != plan->workers || plan->pipelines > 1 || plan->slices > 1 ||
                                slot->part != PART_WHOLE || slot->joined))
        report(check, at_slot(worker, index),
               "where workers share the output layer, each has one stage, and slots are whole and not joined");
}

static void check_slot(struct check *check, uint32_t worker, size_t index)
{
    const struct slot *slot = &check->plan->orders[worker].slots[index];
    if (!check_range(check, worker, index, slot)) {
        check->unclear = true;
        return;
    }
    check_place(check, worker, index, slot);
    size_t cell = cell_of(check, slot->micro_batch, slot->stage);
    uint16_t mask = plan_mask(check->plan, worker, slot);
    if (check->seen[cell] & mask) {
        bool search = check->reporter && check->mistakes < SEARCHED;
        report(check, search ? with_first(check, worker, index, slot) : at_slot(worker, index),
               "%s of micro-batch %u, stage %u is there more than once", plan_words_of(slot->kind, slot->part).text,
               slot->micro_batch, slot->stage);
        return;
    }
    check_again(check, worker, index, slot);
    check_stash(check, worker, index, slot, mask, check->seen[cell]);
    check_slices(check, worker, index, slot, &check->seen[cell]);
    check_weights(check, worker, index, slot, check->seen[cell]);
    check_output(check, worker, index, slot);
    check->seen[cell] |= mask;
    if (slot->kind == SLOT_BACKWARD && slot->split)
        check->split[cell] = true;
}

static void check_order(struct check *check, uint32_t worker)
{
    const struct plan_order *order = &check->plan->orders[worker];
    for (size_t first = 0, end; first < order->count && !check->stopped; first = end) {
        end = plan_block_end(order, first);
        check_block(check, worker, first, end);
        for (size_t index = first; index < end; index++)
            check_slot(check, worker, index);
    }
}

/* ---- the whole ---- */

/* The first slot that is wanted, or else the last one of the worker `home`, to which something is missing; without such
 * a worker, nowhere.
 */
static struct plan_mistake find_slot(const struct check *check, uint32_t home,
                                     bool (*wanted)(const struct slot *slot, uint32_t a, uint32_t b), uint32_t a,
                                     uint32_t b)
{
    const struct plan *plan = check->plan;
    if (!check->reporter || check->mistakes >= SEARCHED)
        return nowhere();
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        for (size_t i = 0; i < plan->orders[worker].count; i++)
            if (wanted(&plan->orders[worker].slots[i], a, b))
                return at_slot(worker, i);
    return home < plan->workers && plan->orders[home].count ? at_slot(home, plan->orders[home].count - 1) : nowhere();
}

static bool is_of_cell(const struct slot *slot, uint32_t micro_batch, uint32_t stage)
{
    return slot->micro_batch == micro_batch && slot->stage == stage;
}

static bool is_weight_of_cell(const struct slot *slot, uint32_t micro_batch, uint32_t stage)
{
    return is_of_cell(slot, micro_batch, stage) && slot->kind == SLOT_WEIGHT;
}

static bool is_beyond(const struct slot *slot, uint32_t micro_batch, uint32_t unused)
{
    (void)unused;
    return slot->micro_batch > micro_batch;
}

static bool is_of_pipeline(const struct slot *slot, uint32_t pipeline, uint32_t unused)
{
    (void)unused;
    return slot->pipeline == pipeline;
}

/* Any slot of a micro-batch in a stage, or the last one of the stage's worker. */
static struct plan_mistake at_cell(const struct check *check, uint32_t micro_batch, uint32_t stage)
{
    return find_slot(check, plan_worker(check->plan, check->pipeline[micro_batch], stage), is_of_cell, micro_batch,
                     stage);
}

static void report_missing(struct check *check, uint32_t micro_batch, uint32_t stage, enum slot_kind kind,
                           enum slot_part part)
{
    report(check, at_cell(check, micro_batch, stage),
           "%s of micro-batch %u, stage %u is missing; it belongs on worker %u", plan_words_of(kind, part).text,
           micro_batch, stage, plan_worker(check->plan, check->pipeline[micro_batch], stage));
}

static void check_moves(struct check *check, uint32_t micro_batch, uint32_t stage, unsigned seen)
{
    static const char *const steps[] = {"evicted", "fetched", "taken by the partner", "returned by the partner"};
    unsigned moves = seen / DONE_EVICT % 16, home = plan_worker(check->plan, check->pipeline[micro_batch], stage);
    bool pairs = home < check->plan->workers && !plan_offloads(check->plan, home);
    for (unsigned i = 0; moves && i < (pairs ? 4 : 2); i++)
        if (!(moves >> i & 1))
            report(check, at_cell(check, micro_batch, stage),
                   "the stash of micro-batch %u, stage %u moves, but is not %s", micro_batch, stage, steps[i]);
}

static void check_passes(struct check *check, uint32_t micro_batch, uint32_t stage, unsigned seen)
{
    for (unsigned kind = SLOT_PASS_FORWARD; plan_travels(check->plan) && kind <= SLOT_PASS_GRADIENT; kind++) {
        if (seen & (unsigned)DONE_PASS_FORWARD << (kind - SLOT_PASS_FORWARD) ||
            !plan_passes(check->plan, kind, stage, micro_batch))
            continue;
        report(check, at_cell(check, micro_batch, stage),
               "%s of micro-batch %u, stage %u is missing; it belongs on worker %u",
               plan_words_of(kind, PART_WHOLE).text, micro_batch, stage,
               plan_pass_sender(check->plan, kind, stage, micro_batch));
    }
}

static void check_cell(struct check *check, uint32_t micro_batch, uint32_t stage)
{
    size_t cell = cell_of(check, micro_batch, stage);
    unsigned seen = check->seen[cell], half = seen & DONE_BACKWARD;
    bool split = check->split[cell];
    if (!(seen & DONE_FORWARD))
        report_missing(check, micro_batch, stage, SLOT_FORWARD, PART_WHOLE);
    if (half != DONE_BACKWARD)
        report_missing(check, micro_batch, stage, SLOT_BACKWARD, half == 0 ? PART_WHOLE : half == 2 ? PART_B : PART_A);
    if (split && !(seen & DONE_WEIGHT))
        report_missing(check, micro_batch, stage, SLOT_WEIGHT, PART_WHOLE);
    if (half == DONE_BACKWARD && !split && (seen & DONE_WEIGHT))
        report(check, find_slot(check, PLAN_NOWHERE, is_weight_of_cell, micro_batch, stage),
               "micro-batch %u, stage %u has a weight gradient of its own, but its backward is not split", micro_batch,
               stage);
    for (unsigned kind = SLOT_OUTPUT; check->plan->barriers && kind <= SLOT_OUTPUT_GRADIENT; kind++)
        if (!(seen & (unsigned)DONE_OUTPUT << (kind - SLOT_OUTPUT)))
            report_missing(check, micro_batch, stage, kind, PART_WHOLE);
    check_moves(check, micro_batch, stage, seen);
    check_passes(check, micro_batch, stage, seen);
}

/* Whether check_cell finds nothing in any cell: what it says goes by micro-batches, across the memory. */
static bool all_complete(const struct check *check)
{
    size_t cells = (size_t)check->plan->micro_batches * check->plan->stages;
    for (size_t cell = 0; cell < cells; cell++) {
        unsigned wanted = DONE_FORWARD | DONE_BACKWARD | (check->split[cell] ? DONE_WEIGHT : 0);
        unsigned moves = check->seen[cell] / DONE_EVICT;
        if (check->seen[cell] % DONE_EVICT != wanted || (moves != 0 && moves != 15))
            return false;
    }
    return true;
}

static void check_complete(struct check *check)
{
    const struct plan *plan = check->plan;
    if (!plan_travels(plan) && !plan->barriers && all_complete(check))
        return;
    for (uint32_t micro_batch = 0; micro_batch < plan->micro_batches && !check->stopped; micro_batch++) {
        if (check->pipeline[micro_batch] == PLAN_NOWHERE) {
            report(check, find_slot(check, PLAN_NOWHERE, is_beyond, micro_batch, 0), "micro-batch %u is not run at all",
                   micro_batch);
            continue;
        }
        for (uint32_t stage = 0; stage < plan->stages; stage++)
            check_cell(check, micro_batch, stage);
    }
}

/* The next slot of a kind from `index` on; the count of slots: there is none. */
static size_t next_of(const struct plan_order *order, size_t index, unsigned kind)
{
    while (index < order->count && order->slots[index].kind != kind)
        index++;
    return index;
}

/* Shares of the output layer meet in collectives, which all workers begin in one order. */
static void check_meetings(struct check *check, uint32_t worker, unsigned kind)
{
    const struct plan_order *first = &check->plan->orders[0], *own = &check->plan->orders[worker];
    size_t a = next_of(first, 0, kind), b = next_of(own, 0, kind);
    while (a < first->count && b < own->count && first->slots[a].micro_batch == own->slots[b].micro_batch) {
        a = next_of(first, a + 1, kind);
        b = next_of(own, b + 1, kind);
    }
    if (a == first->count || b == own->count)
        return;
    struct plan_mistake mistake = at_slot(worker, b);
    mistake.other_worker = 0;
    mistake.other_index = a;
    report(check, mistake,
           "%s of micro-batch %u is here where worker 0 has that of micro-batch %u: all workers meet in one order",
           plan_words_of((enum slot_kind)kind, PART_WHOLE).text, own->slots[b].micro_batch,
           first->slots[a].micro_batch);
}

static void check_copies(struct check *check)
{
    const struct plan *plan = check->plan;
    for (uint32_t pipeline = 0; pipeline < plan->pipelines && !check->stopped; pipeline++)
        for (uint32_t stage = 0; stage < plan->stages; stage++)
            if (plan_worker(plan, pipeline, stage) >= plan->workers)
                report(check, find_slot(check, PLAN_NOWHERE, is_of_pipeline, pipeline, 0),
                       "stage %u of pipeline %u lives on no worker", stage, pipeline);
    for (uint32_t worker = 0; plan->partners && worker < plan->workers; worker++)
        if (plan->partners[worker] >= plan->workers && plan->partners[worker] != UINT32_MAX)
            report(check, nowhere(), "worker %u cannot have worker %u as partner", worker, plan->partners[worker]);
}

static void report_lock(struct check *check, const struct plan_walk *walk)
{
    struct plan_lock lock;
    plan_lock_describe(check->plan, walk, &lock);
    struct plan_mistake mistake = at_slot(lock.worker, lock.index);
    mistake.notes = lock.notes;
    mistake.note_count = lock.note_count;
    report(check, mistake, "this order can never finish: %s", lock.text);
}

bool plan_check(const struct plan *plan, const struct plan_reporter *reporter)
{
    struct check check = {.plan = plan, .reporter = reporter};
    size_t cells = (size_t)plan->micro_batches * plan->stages, size = 0, split_size = 0, again_size = 0;
    check.seen = array_grow(NULL, &size, cells, sizeof *check.seen);
    memset(check.seen, 0, size * sizeof *check.seen);
    check.split = array_grow(NULL, &split_size, cells, sizeof *check.split);
    memset(check.split, 0, split_size * sizeof *check.split);
    check.again = array_grow(NULL, &again_size, cells, sizeof *check.again);
    memset(check.again, 0, again_size * sizeof *check.again);
    check.pipeline = array_grow(NULL, &(size_t){0}, plan->micro_batches, sizeof *check.pipeline);
    for (uint32_t micro_batch = 0; micro_batch < plan->micro_batches; micro_batch++)
        check.pipeline[micro_batch] = PLAN_NOWHERE;
    check_copies(&check);
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        check_order(&check, worker);
    if (!check.unclear)
        check_complete(&check);
    for (uint32_t worker = 1; plan->barriers && worker < plan->workers && !check.mistakes; worker++)
        for (unsigned kind = SLOT_OUTPUT; kind <= SLOT_OUTPUT_GRADIENT; kind++)
            check_meetings(&check, worker, kind);
    free(check.pipeline);
    free(check.split);
    free(check.again);
    free(check.seen);
    if (check.mistakes)
        return false;
    struct plan_walk walk;
    if (!plan_walk_run(&walk, plan, NULL, NULL))
        report_lock(&check, &walk);
    plan_walk_finish(&walk);
    return check.mistakes == 0;
}
