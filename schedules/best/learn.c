/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/best/learn.h"

#include "base/arena.h"
#include "schedules/best/clauses.h"
#include "schedules/best/learn_parts.h"

#include <stdlib.h>
#include <string.h>

enum { WORK_OF_STATE = 400, RESTART = 100, THIN_FIRST = 4000, LEVELS_KEPT = 2 };

static const double DECAY = 0.95;

/* ---- create ---- */

struct learn *learn_create(const struct instance *instance, struct arena *arena)
{
    struct knowledge *k = knowledge_create(instance, arena);
    if (!k)
        return NULL;
    struct learn *learn = arena_alloc(arena, sizeof *learn);
    *learn = (struct learn){.instance = instance, .k = k, .step = 1, .thin_at = THIN_FIRST};
    learn->activity = arena_array(arena, k->variables + (size_t)1, sizeof(double));
    learn->heap = arena_array(arena, k->variables + (size_t)1, sizeof(uint32_t));
    learn->place = arena_array(arena, k->variables + (size_t)1, sizeof(uint32_t));
    learn->phase = arena_array(arena, k->variables + (size_t)1, sizeof(bool));
    return learn;
}

void learn_finish(struct learn *learn)
{
    if (!learn)
        return;
    knowledge_finish(learn->k);
    free(learn->queue);
    free(learn->seen);
    free(learn->learnt);
    free(learn->level_marks);
}

void learn_guide(struct learn *learn, const struct words *words)
{
    const struct instance *instance = learn->instance;
    struct knowledge *k = learn->k;
    uint32_t *position = array_zeroed(k->operations, sizeof *position), *done = array_zeroed(k->chains, sizeof *done);
    for (uint32_t worker = 0; worker < instance->workers; worker++)
        for (uint32_t i = 0; i < words->count[worker]; i++) {
            uint32_t chain = words->chains[worker][i];
            position[chain * instance->batches + done[chain]++] = i;
        }
    for (uint32_t variable = 0; variable < k->variables; variable++)
        learn->phase[variable] = position[k->first_of[variable]] < position[k->second_of[variable]];
    free(position);
    free(done);
}

/* ---- analysis ---- */

static void queue_entry(struct learn *learn, uint32_t index)
{
    if (learn->k->entries[index].level == 0 || learn->seen[index])
        return;
    learn->seen[index] = true;
    learn->queue = array_grow(learn->queue, &learn->queue_capacity, learn->queue_count + 1, sizeof *learn->queue);
    size_t at = learn->queue_count++;
    for (; at > 0 && learn->queue[(at - 1) / 2] < index; at = (at - 1) / 2)
        learn->queue[at] = learn->queue[(at - 1) / 2];
    learn->queue[at] = index;
}

static uint32_t queue_take(struct learn *learn)
{
    uint32_t top = learn->queue[0], last = learn->queue[--learn->queue_count];
    size_t at = 0;
    for (size_t child = 1; child < learn->queue_count; child = 2 * at + 1) {
        child += child + 1 < learn->queue_count && learn->queue[child + 1] > learn->queue[child];
        if (learn->queue[child] <= last)
            break;
        learn->queue[at] = learn->queue[child];
        at = child;
    }
    if (learn->queue_count > 0)
        learn->queue[at] = last;
    learn->seen[top] = false;
    return top;
}

/* The entry of a literal that holds: `at` says where, [variable]. */
static void blame_literal(struct learn *learn, const uint32_t *at, uint32_t literal)
{
    if (literal != LITERAL_NONE)
        queue_entry(learn, at[literal / 2]);
}

/* The first entry that made the bound as large. */
static void blame_bound(struct learn *learn, unsigned side, uint32_t operation, int64_t value)
{
    struct knowledge *k = learn->k;
    uint32_t index = k->latest[side * k->operations + operation];
    while (index && k->entries[index - 1].earlier >= value)
        index = k->entries[index - 1].before;
    if (!index || k->entries[index - 1].level == 0)
        return;
    struct entry *entry = &k->entries[index - 1];
    if (!learn->seen[index - 1] || entry->need < value)
        entry->need = value;
    queue_entry(learn, index - 1);
}

static void explain_set(struct learn *learn, const uint32_t *at, const struct entry *entry)
{
    struct knowledge *k = learn->k;
    const uint32_t *notes = k->notes + entry->a;
    int64_t sum = (int64_t)((uint64_t)notes[1] | (uint64_t)notes[2] << 32);
    for (uint32_t i = 0; i < notes[0]; i++) {
        blame_bound(learn, entry->what / k->operations, notes[3 + 2 * i], entry->need - sum);
        blame_literal(learn, at, notes[4 + 2 * i]);
    }
}

static int64_t lag_between(const struct instance *instance, uint32_t i, uint32_t j)
{
    return instance_lag(instance, operation_stage(instance, i), operation_stage(instance, j));
}

/* What an entry followed from. */
static void explain(struct learn *learn, const uint32_t *at, const struct entry *entry)
{
    struct knowledge *k = learn->k;
    switch ((enum why)entry->why) {
    case WHY_CLAUSE:
        k->clauses[entry->a].used++;
        for (uint32_t i = 1; i < k->clauses[entry->a].count; i++)
            blame_literal(learn, at, literal_not(k->store[k->clauses[entry->a].first + i]));
        break;
    case WHY_ORDER:
        blame_literal(learn, at, entry->a);
        break;
    case WHY_TIME: {
        uint32_t front = literal_back(k, entry->what), back = literal_front(k, entry->what);
        blame_bound(learn, HEADS, front, entry->need);
        blame_bound(learn, TAILS, back, k->most + 1 - entry->need - k->length[front] - k->length[back]);
        break;
    }
    case WHY_ROOM:
        for (uint32_t i = 0; i < k->notes[entry->a]; i++)
            blame_literal(learn, at, k->notes[entry->a + 1 + i]);
        break;
    case WHY_EDGE:
        blame_bound(learn, entry->what / k->operations, entry->a,
                    entry->need - k->length[entry->a] -
                        lag_between(learn->instance, entry->a, entry->what % k->operations));
        blame_literal(learn, at, entry->b);
        break;
    case WHY_SET:
        explain_set(learn, at, entry);
        break;
    case WHY_DECIDED:
        break;
    }
}

static void learn_literal(struct learn *learn, uint32_t literal)
{
    learn->learnt = array_grow(learn->learnt, &learn->learnt_capacity, learn->learnt_count + 1, sizeof *learn->learnt);
    learn->learnt[learn->learnt_count++] = literal;
}

/* Which literals that hold cannot hold together: one of the last level, and others. None: nothing is possible. */
static void analyse(struct learn *learn, const uint32_t *at)
{
    struct knowledge *k = learn->k;
    learn->seen = array_grow(learn->seen, &learn->seen_capacity, k->entry_count, sizeof *learn->seen);
    memset(learn->seen, 0, k->entry_count * sizeof *learn->seen);
    learn->learnt_count = learn->queue_count = 0;
    for (size_t i = 0; i < k->bad_literal_count; i++)
        blame_literal(learn, at, k->bad_literals[i]);
    for (size_t i = 0; i < k->bad_bound_count; i++)
        blame_bound(learn, k->bad_bounds[i].what / k->operations, k->bad_bounds[i].what % k->operations,
                    k->bad_bounds[i].value);
    while (learn->queue_count > 0) {
        const struct entry entry = k->entries[queue_take(learn)];
        k->work++;
        bool last = learn->queue_count == 0 || k->entries[learn->queue[0]].level < entry.level;
        if (!entry.is_bound)
            learn_bump(learn, entry.what / 2);
        if (!entry.is_bound && (learn->learnt_count > 0 || last))
            learn_literal(learn, literal_not(entry.what));
        else
            explain(learn, at, &entry);
    }
}

/* ---- the search ---- */

struct trying {
    struct learn *learn;
    uint32_t *at; /* [variable]: entry where it was asserted */
    size_t noted; /* entries that `at` knows */
};

static void undone(void *user, uint32_t variable, bool positive)
{
    struct learn *learn = user;
    learn->phase[variable] = positive;
    learn_insert(learn, variable);
}

static void note_places(struct trying *trying)
{
    const struct knowledge *k = trying->learn->k;
    for (; trying->noted < k->entry_count; trying->noted++)
        if (!k->entries[trying->noted].is_bound)
            trying->at[k->entries[trying->noted].what / 2] = (uint32_t)trying->noted;
}

static void go_back(struct trying *trying, uint32_t level)
{
    struct knowledge *k = trying->learn->k;
    pop_levels(k, level, undone, trying->learn);
    trying->noted = trying->noted < k->entry_count ? trying->noted : k->entry_count;
}

/* On how many levels the literals are; puts one of the second last level second, `back` is that level. */
static uint32_t count_levels(struct trying *trying, uint32_t *back)
{
    struct learn *learn = trying->learn;
    const struct knowledge *k = learn->k;
    uint32_t levels = 0, second = 1;
    size_t known = learn->level_capacity;
    learn->level_marks =
        array_grow(learn->level_marks, &learn->level_capacity, k->level + (size_t)1, sizeof *learn->level_marks);
    if (learn->level_capacity > known)
        memset(learn->level_marks + known, 0, (learn->level_capacity - known) * sizeof *learn->level_marks);
    learn->mark++;
    *back = 0;
    for (uint32_t i = 0; i < learn->learnt_count; i++) {
        uint32_t level = k->entries[trying->at[learn->learnt[i] / 2]].level;
        levels += learn->level_marks[level] != learn->mark;
        learn->level_marks[level] = learn->mark;
        if (i > 0 && level > *back) {
            *back = level;
            second = i;
        }
    }
    if (learn->learnt_count > 1) {
        uint32_t literal = learn->learnt[1];
        learn->learnt[1] = learn->learnt[second];
        learn->learnt[second] = literal;
    }
    return levels;
}

/* Keeps what a conflict teaches and goes back to where it changes something. False: nothing is possible. */
static bool resolve(struct trying *trying)
{
    struct learn *learn = trying->learn;
    struct knowledge *k = learn->k;
    note_places(trying);
    analyse(learn, trying->at);
    learn->step /= DECAY;
    learn->conflicts++;
    if (learn->learnt_count == 0)
        return false;
    uint32_t back, levels = count_levels(trying, &back);
    go_back(trying, back);
    uint32_t clause = clause_add(k, learn->learnt, (uint32_t)learn->learnt_count, levels);
    assert_literal(k, learn->learnt[0], WHY_CLAUSE, clause, 0, 0);
    return true;
}

static int by_use(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* Half of the clauses go, those of most levels; all that hold for shorter orders only go too. */
static void thin(struct learn *learn, int64_t most, bool half)
{
    struct knowledge *k = learn->k;
    bool *keep = array_zeroed(k->clause_count + 1, sizeof *keep);
    uint64_t *order = array_zeroed(k->clause_count + 1, sizeof *order);
    for (size_t i = 0; i < k->clause_count; i++) {
        uint64_t age = k->clause_count - i;
        order[i] = (uint64_t)k->clauses[i].levels << 40 | age;
        keep[i] = k->clauses[i].most >= most;
    }
    qsort(order, k->clause_count, sizeof *order, by_use);
    for (size_t i = k->clause_count / 2; half && i < k->clause_count; i++)
        if (order[i] >> 40 > LEVELS_KEPT)
            keep[k->clause_count - (order[i] & (((uint64_t)1 << 40) - 1))] = false;
    clauses_thin(k, keep);
    free(keep);
    free(order);
}

/* Luby's sequence: 1 1 2 1 1 2 4 ... */
static uint32_t luby(uint32_t i)
{
    for (uint32_t size = 1;; size = 2 * size + 1) {
        if (i + 1 == size)
            return (size + 1) / 2;
        if (i < size) {
            i -= size / 2;
            size = 0;
        }
    }
}

/* From the beginning, with what was learnt. False: nothing is possible. */
static bool begin(struct trying *trying, int64_t most)
{
    struct learn *learn = trying->learn;
    struct knowledge *k = learn->k;
    knowledge_reset(k, most);
    trying->noted = 0;
    for (size_t i = 0; i < k->clause_count && !k->conflict; i++) {
        const uint32_t *literals = k->store + k->clauses[i].first;
        if (k->clauses[i].count != 1)
            continue;
        if (literal_value(k, literals[0]) < 0)
            return false;
        if (literal_value(k, literals[0]) == 0)
            assert_literal(k, literals[0], WHY_CLAUSE, (uint32_t)i, 0, 0);
    }
    learn->heap_count = 0;
    memset(learn->place, 0, k->variables * sizeof *learn->place);
    for (uint32_t variable = 0; variable < k->variables; variable++)
        learn_insert(learn, variable);
    return !k->conflict && propagate(k);
}

/* The next decision; false: all is decided. */
static bool decide(struct learn *learn)
{
    struct knowledge *k = learn->k;
    while (learn->heap_count > 0) {
        uint32_t variable = learn_take(learn);
        k->work += 4;
        if (k->value[variable])
            continue;
        push_level(k);
        assert_literal(k, 2 * variable + !learn->phase[variable], WHY_DECIDED, 0, 0, 0);
        return true;
    }
    return false;
}

static bool pay(struct learn *learn, struct budget *budget)
{
    for (; learn->k->work > WORK_OF_STATE; learn->k->work -= WORK_OF_STATE)
        if (!budget_spend(budget))
            return false;
    return !budget_is_spent(budget);
}

static enum exact_end run(struct trying *trying, int64_t most, struct budget *budget)
{
    struct learn *learn = trying->learn;
    struct knowledge *k = learn->k;
    if (!begin(trying, most))
        return EXACT_IMPOSSIBLE;
    for (uint32_t until = RESTART * luby(learn->restart_number++), since = 0;;) {
        if (!pay(learn, budget))
            return EXACT_GIVEN_UP;
        if (!propagate(k)) {
            if (k->level == 0 || !resolve(trying))
                return EXACT_IMPOSSIBLE;
            since++;
            continue;
        }
        if (since >= until) {
            go_back(trying, 0);
            since = 0;
            until = RESTART * luby(learn->restart_number++);
            if (k->clause_count > learn->thin_at) {
                thin(learn, most, true);
                learn->thin_at += THIN_FIRST / 8;
            }
            continue;
        }
        if (!decide(learn))
            return EXACT_FOUND;
    }
}

enum exact_end learn_try(struct learn *learn, int64_t most, struct budget *budget)
{
    struct trying trying = {.learn = learn};
    trying.at = array_zeroed(learn->k->variables + (size_t)1, sizeof *trying.at);
    if (learn->k->clause_count)
        thin(learn, most, false);
    learn->k->work = 0;
    enum exact_end end = run(&trying, most, budget);
    free(trying.at);
    return end;
}

/* ---- the result ---- */

void learn_words(const struct learn *learn, struct words *words)
{
    const struct knowledge *k = learn->k;
    const struct instance *instance = learn->instance;
    uint32_t batches = instance->batches;
    for (uint32_t worker = 0; worker < instance->workers; worker++) {
        words->count[worker] = k->chain_count[worker] * batches;
        for (uint32_t place = 0; place < k->chain_count[worker]; place++)
            for (uint32_t i = 0; i < batches; i++) {
                uint32_t operation = k->chains_of[worker][place] * batches + i, before = 0;
                for (uint32_t other = 0; other < k->chain_count[worker]; other++)
                    before += k->least[(size_t)operation * k->width + other];
                words->chains[worker][before] = (uint16_t)(operation / batches);
            }
    }
}
