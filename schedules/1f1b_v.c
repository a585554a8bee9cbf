/* SPDX-License-Identifier: Apache-2.0 */
/* 1F1B-V: two half stages a worker in a V, whole backwards, and about two thirds of the stashes of 1F1B. A building
 * block says in which slot of time each worker runs the passes of a micro-batch, a backward being two slots long, and
 * is repeated every six slots. Then the table is compacted slot by slot: everything moves forward to the first free
 * slot after its inputs, forwards only as long as the worker stashes less than the whole table does at most. */
#include "base/arena.h"
#include "schedules/kit/zero_bubble.h"
#include "schedules/schedules.h"

/* The parts of a block: slots of forwards and halves of backwards, in the two chunks. */
enum part { FIRST_FORWARD, SECOND_FORWARD, SECOND_BACKWARD, SECOND_REST, FIRST_BACKWARD, FIRST_REST, PERIOD };
enum { FREE = 6 }; /* slots before the table, into which it may move */

/* A worker's slots of the block. */
struct block {
    uint32_t slots[PERIOD];
    enum part at[PERIOD]; /* [slot modulo PERIOD] */
};

struct worker {
    struct block block;
    uint32_t *taken; /* [slot]: PERIOD * micro-batch + part + 1 of what runs there after compaction, or 0 */
    int8_t *change;  /* [slot]: of the stashes, after compaction */
    int32_t held;    /* stashes before the slot that the compaction has come to */
};

struct table {
    uint32_t count, micro_batches; /* workers */
    uint32_t length;               /* slots, before compaction */
    int32_t most;                  /* stashes of a worker, before compaction */
    struct worker *workers;
    uint32_t *places; /* [(micro_batch * count + worker) * PERIOD + part]: slot after compaction */
};

/* ---- the repeated block ---- */

/* Backwards start two slots after each other, and after every third one three slots stay free, so that no two passes of
 * a worker meet. */
static void place_backwards(struct table *table, uint32_t next)
{
    uint32_t count = table->count, phase = (3 - (count + 2) % 3) % 3;
    for (uint32_t i = 0; i < 2 * count; i++) {
        bool second = i < count; /* down the workers in the second chunk, then up in the first */
        uint32_t *slots = table->workers[second ? i : 2 * count - 1 - i].block.slots;
        enum part part = second ? SECOND_BACKWARD : FIRST_BACKWARD;
        slots[part] = next;
        slots[part + 1] = next + 1;
        next += 2;
        if (++phase == 3) {
            phase = 0;
            next += 3;
        }
    }
}

static void make_block(struct table *table)
{
    uint32_t count = table->count, next = FREE + 1;
    for (uint32_t worker = 0; worker < count; worker++)
        table->workers[worker].block.slots[FIRST_FORWARD] = next++;
    for (uint32_t worker = count; worker-- > 0;)
        table->workers[worker].block.slots[SECOND_FORWARD] = next++;
    place_backwards(table, next + (count % 3 ? 0 : 3));
    for (uint32_t worker = 0; worker < count; worker++) {
        struct block *block = &table->workers[worker].block;
        for (enum part part = 0; part < PERIOD; part++)
            block->at[block->slots[part] % PERIOD] = part;
    }
    /* The first stage's backward on the first worker is the last to end. */
    table->length = table->workers[0].block.slots[FIRST_REST] + PERIOD * (table->micro_batches - 1) + 1;
}

/* What a worker runs in a slot of the table; false: nothing. */
static bool find(const struct table *table, uint32_t worker, uint32_t slot, enum part *part, uint32_t *micro_batch)
{
    const struct block *block = &table->workers[worker].block;
    *part = block->at[slot % PERIOD];
    if (slot < block->slots[*part])
        return false;
    *micro_batch = (slot - block->slots[*part]) / PERIOD;
    return *micro_batch < table->micro_batches;
}

static int change_of(enum part part)
{
    return part <= SECOND_FORWARD ? 1 : part == SECOND_REST || part == FIRST_REST ? -1 : 0;
}

static int32_t most_stashed(const struct table *table)
{
    int32_t most = 0;
    for (uint32_t worker = 0; worker < table->count; worker++) {
        int32_t held = 0;
        for (uint32_t slot = 0; slot < table->length; slot++) {
            enum part part;
            uint32_t micro_batch;
            held += find(table, worker, slot, &part, &micro_batch) ? change_of(part) : 0;
            most = held > most ? held : most;
        }
    }
    return most;
}

/* ---- compaction ---- */

static uint32_t *place_of(const struct table *table, uint32_t micro_batch, uint32_t worker, enum part part)
{
    return &table->places[((size_t)micro_batch * table->count + worker) * PERIOD + part];
}

static uint32_t later(uint32_t left, uint32_t right)
{
    return left > right ? left : right;
}

/* The first slot after all that a part waits for. */
static uint32_t earliest(const struct table *table, uint32_t micro_batch, uint32_t worker, enum part part)
{
    uint32_t last = table->count - 1, before = 0;
    if (micro_batch > 0)
        before = *place_of(table, micro_batch - 1, worker, part);
    if (part == SECOND_REST || part == FIRST_REST || part == SECOND_BACKWARD)
        before = later(before, *place_of(table, micro_batch, worker, part - 1));
    if (part == FIRST_BACKWARD)
        before = later(before, *place_of(table, micro_batch, worker, FIRST_FORWARD));
    if (part == FIRST_FORWARD && worker > 0)
        before = later(before, *place_of(table, micro_batch, worker - 1, FIRST_FORWARD));
    if (part == SECOND_FORWARD && worker < last)
        before = later(before, *place_of(table, micro_batch, worker + 1, SECOND_FORWARD));
    if (part == SECOND_FORWARD && worker == last)
        before = later(before, *place_of(table, micro_batch, worker, FIRST_FORWARD));
    if (part == SECOND_BACKWARD && worker > 0)
        before = later(before, *place_of(table, micro_batch, worker - 1, SECOND_REST));
    if (part == FIRST_BACKWARD && worker < last)
        before = later(before, *place_of(table, micro_batch, worker + 1, FIRST_REST));
    if (part == FIRST_BACKWARD && worker == last)
        before = later(before, *place_of(table, micro_batch, worker, SECOND_REST));
    return before + 1;
}

/* Where a part goes that stood in `slot`. */
static uint32_t choose(const struct table *table, const struct worker *worker, enum part part, uint32_t slot,
                       uint32_t from)
{
    bool longer = part == SECOND_BACKWARD || part == FIRST_BACKWARD;
    uint32_t at = from;
    if (part <= SECOND_FORWARD) {
        int32_t held = worker->held;
        for (at = slot; at > from && held < table->most; at--)
            held -= worker->change[at - 1];
    }
    while (worker->taken[at] || (longer && worker->taken[at + 1]))
        at++;
    return at;
}

static void compact(struct table *table)
{
    for (uint32_t slot = 0; slot < table->length; slot++)
        for (uint32_t i = 0; i < table->count; i++) {
            struct worker *worker = &table->workers[i];
            enum part part;
            uint32_t micro_batch;
            worker->held += slot ? worker->change[slot - 1] : 0;
            if (!find(table, i, slot, &part, &micro_batch))
                continue;
            uint32_t at = choose(table, worker, part, slot, earliest(table, micro_batch, i, part));
            worker->taken[at] = PERIOD * micro_batch + part + 1;
            worker->change[at] = (int8_t)change_of(part);
            worker->held += at < slot ? change_of(part) : 0;
            *place_of(table, micro_batch, i, part) = at;
        }
}

static struct table *create_table(const struct schedule_request *request, struct arena *arena)
{
    struct table *table = arena_alloc(arena, sizeof *table);
    *table = (struct table){.count = request->workers, .micro_batches = request->micro_batches};
    table->workers = arena_array(arena, table->count, sizeof *table->workers);
    make_block(table);
    size_t room = (size_t)2 * table->length + 2 * PERIOD; /* whatever the inputs, at most all ends behind the table */
    for (uint32_t worker = 0; worker < table->count; worker++) {
        table->workers[worker].taken = arena_array(arena, room, sizeof *table->workers[worker].taken);
        table->workers[worker].change = arena_array(arena, room, sizeof *table->workers[worker].change);
    }
    table->places = arena_array(arena, (size_t)table->micro_batches * table->count * PERIOD, sizeof *table->places);
    table->most = most_stashed(table);
    return table;
}

static void append(struct plan *plan, uint32_t worker, const uint32_t *taken)
{
    static const enum slot_kind kinds[PERIOD] = {[SECOND_BACKWARD] = SLOT_BACKWARD,
                                                 [FIRST_BACKWARD] = SLOT_BACKWARD,
                                                 [SECOND_REST] = SLOT_WEIGHT,
                                                 [FIRST_REST] = SLOT_WEIGHT};
    uint32_t left = PERIOD * plan->micro_batches;
    plan_expect(plan, worker, (size_t)4 * plan->micro_batches);
    for (; left > 0; taken++) {
        if (!*taken)
            continue;
        left--;
        enum part part = (enum part)((*taken - 1) % PERIOD);
        bool second = part == SECOND_FORWARD || part == SECOND_BACKWARD;
        if (kinds[part] != SLOT_WEIGHT)
            plan_append(plan, worker, kinds[part], 0, second ? plan->stages - 1 - worker : worker,
                        (*taken - 1) / PERIOD);
    }
}

static struct plan *generate(const struct schedule_request *request)
{
    struct arena *arena = arena_create();
    struct plan *plan = plan_create_waves(request, 2 * request->workers);
    struct table *table = create_table(request, arena);
    compact(table);
    for (uint32_t worker = 0; worker < request->workers; worker++)
        append(plan, worker, table->workers[worker].taken);
    arena_destroy(arena);
    return plan;
}

const struct schedule schedule_1f1b_v = {
    .name = "1f1b-v",
    .summary = "two half stages a worker in a V, whole backwards: about two thirds of 1F1B's memory",
    .when = "1f1b whose stashes do not fit, in a framework without split backwards",
    .source = "Qi et al., Pipeline Parallelism with Controllable Memory, NeurIPS 2024, arXiv 2405.15362",
    .plain = true,
    .stages = stages_two_per_worker,
    .plan = generate,
};
