/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/plan/plan_pytorch.h"
#include "schedules/plan/plan_weights.h"

#include "base/arena.h"
#include "base/text_writer.h"

#include <stdlib.h>
#include <string.h>

/* ---- what can be held ---- */

static bool order_holds(const struct plan *plan, uint32_t worker, struct fault *fault)
{
    const struct plan_order *order = &plan->orders[worker];
    for (size_t i = 0; i < order->count; i++) {
        const struct slot *slot = &order->slots[i];
        if (slot->kind == SLOT_RECOMPUTE)
            return fault_set(fault,
                             "forwards are computed again (worker %u, micro-batch %u), which no action of PyTorch's "
                             "schedules says",
                             worker, slot->micro_batch);
        if (slot_is_output(slot))
            return fault_set(fault,
                             "workers share the output layer (worker %u, micro-batch %u), which no action of PyTorch's "
                             "schedules says",
                             worker, slot->micro_batch);
        if (slot->kind > SLOT_WEIGHT)
            return fault_set(
                fault, "stashes move %s (worker %u, micro-batch %u), which no action of PyTorch's schedules says",
                plan_offloads(plan, worker) ? "to host memory" : "between workers", worker, slot->micro_batch);
        if (slot->part != PART_WHOLE)
            return fault_set(fault,
                             "backwards are halved (worker %u, micro-batch %u), which no action of PyTorch's "
                             "schedules says",
                             worker, slot->micro_batch);
        if (slot->joined && slot->kind == SLOT_FORWARD && order->slots[i - 1].kind == SLOT_FORWARD)
            return fault_set(fault,
                             "two forwards run as one (worker %u, micro-batch %u), which no action of PyTorch's "
                             "schedules says",
                             worker, slot->micro_batch);
        if (slot->joined && slot->kind == SLOT_WEIGHT)
            return fault_set(fault,
                             "a forward and a weight gradient run as one (worker %u, micro-batch %u), which no action "
                             "of PyTorch's schedules says",
                             worker, slot->micro_batch);
    }
    return true;
}

bool plan_pytorch_holds(const struct plan *plan, struct fault *fault)
{
    if (plan_travels(plan))
        return fault_set(fault, "weights travel from worker to worker, which no action of PyTorch's schedules says");
    if (plan->pipelines > 1)
        return fault_set(fault, "each stage is on %u workers; PyTorch's loader takes one rank for each stage",
                         plan->pipelines);
    if (plan->iterations > 1)
        return fault_set(fault, "PyTorch's schedules are one iteration, this has %u", plan->iterations);
    if (plan->asynchronous)
        return fault_set(fault, "weights are updated while micro-batches are under way; PyTorch updates them after a "
                                "schedule, and the order alone would not be this schedule");
    if (plan->slices > 1)
        return fault_set(fault, "sequences are cut into slices, which no action of PyTorch's schedules says");
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        if (!order_holds(plan, worker, fault))
            return false;
    return true;
}

/* ---- actions ---- */

struct action {
    uint32_t micro_batch;
    uint16_t stage;
    uint8_t kind;   /* enum pytorch_action */
    uint8_t joined; /* the second of a block */
};

struct actions {
    struct action *items;
    size_t count, capacity, next; /* next: of those that wait for their turn */
};

static void append(struct actions *actions, struct action action)
{
    actions->items = array_grow(actions->items, &actions->capacity, actions->count + 1, sizeof *actions->items);
    actions->items[actions->count++] = action;
}

static struct action of_slot(const struct slot *slot)
{
    uint8_t kind = slot->kind == SLOT_FORWARD  ? PYTORCH_F
                   : slot->kind == SLOT_WEIGHT ? PYTORCH_W
                   : slot->split               ? PYTORCH_I
                                               : PYTORCH_B;
    return (struct action){slot->micro_batch, slot->stage, kind, slot->joined};
}

/* Computations alone; the forward of a block comes first. */
static struct actions computations(const struct plan_order *order)
{
    struct actions actions = {0};
    for (size_t i = 0; i < order->count; i++) {
        append(&actions, of_slot(&order->slots[i]));
        struct action *last = &actions.items[i];
        if (last->joined && last->kind == PYTORCH_F) {
            struct action forward = *last;
            *last = last[-1];
            last[-1] = forward;
            last[-1].joined = 0;
            last->joined = 1;
        }
    }
    return actions;
}

static void write_action(struct text_writer *text, const struct action *action)
{
    bool whole = action->kind >= PYTORCH_UNSHARD && action->kind <= PYTORCH_REDUCE_GRAD;
    text_integer(text, action->stage);
    text_string(text, pytorch_action_names[action->kind]);
    if (!whole)
        text_integer(text, action->micro_batch);
}

static void write_actions(struct text_writer *text, const struct actions *actions)
{
    for (size_t i = 0; i < actions->count; i++) {
        bool opens = i + 1 < actions->count && actions->items[i + 1].joined, closes = actions->items[i].joined;
        if (i)
            text_char(text, closes ? ';' : ',');
        if (opens)
            text_char(text, '(');
        write_action(text, &actions->items[i]);
        if (closes)
            text_string(text, ")OVERLAP_F_B");
    }
    text_char(text, '\n');
}

/* ---- weights that are gathered and let go ---- */

/* The three stages that a rank computes next, or four where the third and the fourth are one block. */
enum { PREFETCHED = 3 };

struct upcoming {
    uint16_t stages[PREFETCHED + 1];
    uint8_t count;
};

/* A rank's stages, the one that it computes next first. */
struct stage_list {
    uint16_t *stages;
    size_t *steps; /* [stage]: of its next computation */
    size_t count;
};

static void move_to_front(struct stage_list *list, uint16_t stage, size_t step)
{
    size_t at = 0;
    while (at < list->count && list->stages[at] != stage)
        at++;
    list->count += at == list->count;
    memmove(list->stages + 1, list->stages, at * sizeof *list->stages);
    list->stages[0] = stage;
    list->steps[stage] = step;
}

/* From the end to the beginning, so that what comes next is known everywhere. [action of a block's first] */
static struct upcoming *find_upcoming(const struct actions *actions, uint32_t stages)
{
    struct upcoming *upcoming = array_zeroed(actions->count, sizeof *upcoming);
    struct stage_list list = {array_zeroed(stages, sizeof *list.stages), array_zeroed(stages, sizeof *list.steps), 0};
    for (size_t i = actions->count; i-- > 0;) {
        const struct action *action = &actions->items[i];
        move_to_front(&list, action->stage, i - action->joined);
        size_t count = list.count < PREFETCHED ? list.count : PREFETCHED;
        if (list.count > PREFETCHED && list.steps[list.stages[count]] == list.steps[list.stages[count - 1]])
            count++;
        memcpy(upcoming[i].stages, list.stages, count * sizeof *list.stages);
        upcoming[i].count = (uint8_t)count;
    }
    free(list.stages);
    free(list.steps);
    return upcoming;
}

static bool is_upcoming(const struct upcoming *upcoming, uint16_t stage)
{
    for (unsigned i = 0; i < upcoming->count; i++)
        if (upcoming->stages[i] == stage)
            return true;
    return false;
}

/* Stages whose weights are gathered, in the order of their numbers. */
struct gathered {
    uint16_t stages[2 * (PREFETCHED + 1)];
    unsigned count;
};

/* Lets go what `keep` (NULL: nothing) does not have. */
static void reshard(struct gathered *gathered, const struct upcoming *keep, struct actions *out)
{
    unsigned left = 0;
    for (unsigned i = 0; i < gathered->count; i++) {
        if (keep && is_upcoming(keep, gathered->stages[i]))
            gathered->stages[left++] = gathered->stages[i];
        else
            append(out, (struct action){0, gathered->stages[i], PYTORCH_RESHARD, 0});
    }
    gathered->count = left;
}

static void unshard(struct gathered *gathered, uint16_t stage, struct actions *out)
{
    unsigned at = gathered->count;
    for (unsigned i = 0; i < gathered->count; i++)
        if (gathered->stages[i] == stage)
            return;
    for (; at > 0 && gathered->stages[at - 1] > stage; at--)
        gathered->stages[at] = gathered->stages[at - 1];
    gathered->stages[at] = stage;
    gathered->count++;
    append(out, (struct action){0, stage, PYTORCH_UNSHARD, 0});
}

/* UNSHARD, RESHARD and REDUCE_GRAD among a rank's computations; `backwards` counts those of the stages. */
static struct actions with_sharding(const struct actions *actions, const struct plan *plan, uint32_t *backwards)
{
    struct actions out = {0};
    struct gathered gathered = {.count = 0};
    struct upcoming *upcoming = find_upcoming(actions, plan->stages);
    for (size_t i = 0, end; i < actions->count; i = end) {
        reshard(&gathered, &upcoming[i], &out);
        for (unsigned k = 0; k < upcoming[i].count; k++)
            unshard(&gathered, upcoming[i].stages[k], &out);
        end = i + 1 + (i + 1 < actions->count && actions->items[i + 1].joined);
        for (size_t k = i; k < end; k++)
            append(&out, actions->items[k]);
        for (size_t k = i; k < end; k++) {
            const struct action *action = &actions->items[k];
            bool ends = action->kind == PYTORCH_B || action->kind == PYTORCH_W;
            if (ends && ++backwards[action->stage] == plan->micro_batches)
                append(&out, (struct action){0, action->stage, PYTORCH_REDUCE_GRAD, 0});
        }
    }
    reshard(&gathered, NULL, &out);
    free(upcoming);
    return out;
}

/* ---- messages ---- */

/* Ranks take turns. Each does its next action if what it needs has come; what it sends is received at once, behind what
 * the other rank has done so far. */
struct turns {
    const struct plan *plan;
    struct actions *waiting, *done; /* [rank] */
    uint8_t *arrived;               /* [stage * micro_batches + micro_batch]: 1 activation, 2 gradient */
};

enum { ACTIVATION = 1, GRADIENT = 2 };

static uint8_t *arrived_at(const struct turns *turns, uint32_t stage, uint32_t micro_batch)
{
    return &turns->arrived[(size_t)stage * turns->plan->micro_batches + micro_batch];
}

static bool is_ready(const struct turns *turns, const struct action *action)
{
    uint8_t arrived = 0;
    if (action->kind <= PYTORCH_W)
        arrived = *arrived_at(turns, action->stage, action->micro_batch);
    if (action->kind == PYTORCH_F)
        return action->stage == 0 || (arrived & ACTIVATION);
    if (action->kind == PYTORCH_I || action->kind == PYTORCH_B)
        return action->stage + 1u == turns->plan->stages || (arrived & GRADIENT);
    return true;
}

static void pass_on(struct turns *turns, uint32_t rank, struct action action)
{
    bool forward = action.kind == PYTORCH_F;
    uint32_t end = forward ? turns->plan->stages - 1 : 0, other = forward ? action.stage + 1u : action.stage - 1u;
    if (action.kind > PYTORCH_B || action.stage == end)
        return;
    *arrived_at(turns, other, action.micro_batch) |= forward ? ACTIVATION : GRADIENT;
    uint32_t to = plan_worker(turns->plan, 0, other);
    if (to == rank)
        return;
    uint8_t send = forward ? PYTORCH_SEND_F : PYTORCH_SEND_B, receive = forward ? PYTORCH_RECV_F : PYTORCH_RECV_B;
    append(&turns->done[rank], (struct action){action.micro_batch, action.stage, send, 0});
    append(&turns->done[to], (struct action){action.micro_batch, (uint16_t)other, receive, 0});
}

/* One action, or one block. Whether there was any that could be done. */
static bool take_turn(struct turns *turns, uint32_t rank)
{
    struct actions *waiting = &turns->waiting[rank];
    size_t begin = waiting->next, end = begin + 1;
    if (begin == waiting->count)
        return false;
    end += end < waiting->count && waiting->items[end].joined;
    for (size_t i = begin; i < end; i++)
        if (!is_ready(turns, &waiting->items[i]))
            return false;
    for (size_t i = begin; i < end; i++)
        append(&turns->done[rank], waiting->items[i]);
    for (size_t i = begin; i < end; i++)
        pass_on(turns, rank, waiting->items[i]);
    waiting->next = end;
    return true;
}

static void take_turns(struct turns *turns)
{
    for (bool progress = true; progress;) { /* a checked plan comes to its end */
        progress = false;
        for (uint32_t rank = 0; rank < turns->plan->workers; rank++)
            progress |= take_turn(turns, rank);
    }
}

static void add_communication(struct actions *ranks, const struct plan *plan)
{
    struct turns turns = {.plan = plan,
                          .waiting = array_zeroed(plan->workers, sizeof *turns.waiting),
                          .done = ranks,
                          .arrived = array_zeroed((size_t)plan->stages * plan->micro_batches, 1)};
    uint32_t *backwards = array_zeroed(plan->stages, sizeof *backwards);
    for (uint32_t rank = 0; rank < plan->workers; rank++) {
        turns.waiting[rank] = with_sharding(&ranks[rank], plan, backwards);
        free(ranks[rank].items);
        ranks[rank] = (struct actions){0};
    }
    take_turns(&turns);
    for (uint32_t rank = 0; rank < plan->workers; rank++)
        free(turns.waiting[rank].items);
    free(turns.waiting);
    free(turns.arrived);
    free(backwards);
}

void plan_pytorch_write(const struct plan *plan, bool communication, FILE *out)
{
    struct actions *ranks = array_zeroed(plan->workers, sizeof *ranks);
    for (uint32_t rank = 0; rank < plan->workers; rank++)
        ranks[rank] = computations(&plan->orders[rank]);
    if (communication)
        add_communication(ranks, plan);
    struct text_writer *text = text_writer_create(out);
    for (uint32_t rank = 0; rank < plan->workers; rank++) {
        write_actions(text, &ranks[rank]);
        free(ranks[rank].items);
    }
    text_writer_destroy(text);
    free(ranks);
}
