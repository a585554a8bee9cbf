/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/best/clauses.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum { VARIABLES_MAX = 1 << 20, FRONTIERS_MAX = 1 << 22 };

/* ---- structure ---- */

static void list_chains(struct knowledge *k, struct arena *arena)
{
    const struct instance *instance = k->instance;
    for (uint32_t worker = 0; worker < instance->workers; worker++) {
        uint32_t count = instance->kinds * instance->stage_count[worker];
        k->chains_of[worker] = arena_array(arena, count + (size_t)1, sizeof(uint32_t));
        k->width = count > k->width ? count : k->width;
        for (uint32_t kind = 0; kind < instance->kinds; kind++)
            for (uint32_t i = 0; i < instance->stage_count[worker]; i++) {
                uint32_t chain = kind * instance->stages + instance->stages_of[worker][i];
                k->local[chain] = k->chain_count[worker];
                k->chains_of[worker][k->chain_count[worker]++] = chain;
            }
    }
}

/* Variables of all pairs of chains of a worker; false where they are too many. */
static bool number_pairs(struct knowledge *k, struct arena *arena)
{
    const struct instance *instance = k->instance;
    uint64_t count = 0, square = (uint64_t)instance->batches * instance->batches;
    k->base = arena_array(arena, (size_t)k->chains * k->width, sizeof *k->base);
    for (uint32_t worker = 0; worker < instance->workers; worker++)
        for (uint32_t i = 0; i < k->chain_count[worker]; i++)
            for (uint32_t j = i + 1; j < k->chain_count[worker]; j++) {
                if (count + square > VARIABLES_MAX)
                    return false;
                k->base[k->chains_of[worker][i] * k->width + j] = (uint32_t)count;
                count += square;
            }
    k->variables = (uint32_t)count;
    return true;
}

static void name_pairs(struct knowledge *k, struct arena *arena)
{
    const struct instance *instance = k->instance;
    uint32_t batches = instance->batches;
    k->first_of = arena_array(arena, k->variables + (size_t)1, sizeof(uint32_t));
    k->second_of = arena_array(arena, k->variables + (size_t)1, sizeof(uint32_t));
    for (uint32_t worker = 0; worker < instance->workers; worker++)
        for (uint32_t i = 0; i < k->chain_count[worker]; i++)
            for (uint32_t j = i + 1; j < k->chain_count[worker]; j++) {
                uint32_t a = k->chains_of[worker][i], b = k->chains_of[worker][j];
                uint32_t base = k->base[a * k->width + j];
                for (uint32_t pair = 0; pair < batches * batches; pair++) {
                    k->first_of[base + pair] = a * batches + pair / batches;
                    k->second_of[base + pair] = b * batches + pair % batches;
                }
            }
}

static void create_state(struct knowledge *k, struct arena *arena)
{
    size_t frontiers = (size_t)k->operations * k->width;
    k->length = arena_array(arena, k->operations, sizeof(int64_t));
    for (uint32_t i = 0; i < k->operations; i++)
        k->length[i] = operation_length(k->instance, i);
    k->value = arena_array(arena, k->variables + (size_t)1, sizeof *k->value);
    k->least = arena_array(arena, frontiers, sizeof *k->least);
    k->most_before = arena_array(arena, frontiers, sizeof *k->most_before);
    k->latest = arena_array(arena, (size_t)SIDES * k->operations, sizeof *k->latest);
    for (unsigned side = 0; side < SIDES; side++)
        k->bound[side] = arena_array(arena, k->operations, sizeof(int64_t));
    k->dirty = arena_array(arena, k->instance->workers, sizeof *k->dirty);
    k->sorted = arena_array(arena, k->operations, sizeof *k->sorted);
    k->spare = arena_array(arena, k->operations, sizeof *k->spare);
    k->jackson.heap = arena_array(arena, k->operations, sizeof *k->jackson.heap);
    k->items = arena_array(arena, k->operations, sizeof *k->items);
    k->watches = arena_array(arena, 2 * (size_t)k->variables + 1, sizeof *k->watches);
}

struct knowledge *knowledge_create(const struct instance *instance, struct arena *arena)
{
    struct knowledge *k = arena_alloc(arena, sizeof *k);
    k->instance = instance;
    k->operations = instance->operations;
    k->chains = instance->kinds * instance->stages;
    k->local = arena_array(arena, k->chains, sizeof *k->local);
    k->chain_count = arena_array(arena, instance->workers, sizeof *k->chain_count);
    k->chains_of = arena_array(arena, instance->workers, sizeof *k->chains_of);
    list_chains(k, arena);
    if ((uint64_t)k->operations * k->width > FRONTIERS_MAX || !number_pairs(k, arena))
        return NULL;
    name_pairs(k, arena);
    create_state(k, arena);
    return k;
}

void knowledge_finish(struct knowledge *k)
{
    if (!k)
        return;
    for (size_t literal = 0; literal < 2 * (size_t)k->variables; literal++)
        free(k->watches[literal].items);
    free(k->entries);
    free(k->level_starts);
    free(k->notes);
    free(k->note_starts);
    free(k->bad_literals);
    free(k->bad_bounds);
    free(k->store);
    free(k->clauses);
}

uint32_t literal_of(const struct knowledge *k, uint32_t i, uint32_t j)
{
    uint32_t batches = k->instance->batches, a = i / batches, b = j / batches;
    if (k->local[a] < k->local[b])
        return 2 * (k->base[a * k->width + k->local[b]] + i % batches * batches + j % batches);
    return 2 * (k->base[b * k->width + k->local[a]] + j % batches * batches + i % batches) + 1;
}

/* Whether the model has i before j, of two chains of a worker: an F before the F of later stages and before all B and W
 * of the same micro-batch and later ones, and so on. */
static bool always_before(const struct instance *instance, uint32_t i, uint32_t j)
{
    uint32_t kinds[2] = {operation_kind(instance, i), operation_kind(instance, j)};
    uint32_t stages[2] = {operation_stage(instance, i), operation_stage(instance, j)};
    uint32_t from = operation_batch(instance, i), to = operation_batch(instance, j);
    uint32_t limit = instance_limit(instance, stages[0]);
    bool released = limit && instance->one_each && kinds[0] == instance_release(instance) && kinds[1] == BEST_FORWARD;
    if (released)
        return from + limit <= to;
    if (from > to || kinds[0] > kinds[1] || kinds[0] == BEST_WEIGHT)
        return false;
    if (kinds[0] == BEST_FORWARD)
        return kinds[1] != BEST_FORWARD || stages[0] < stages[1];
    return kinds[1] == BEST_BACKWARD ? stages[0] > stages[1] : stages[0] >= stages[1];
}

void knowledge_reset(struct knowledge *k, int64_t most)
{
    const struct instance *instance = k->instance;
    k->entry_count = k->next_entry = k->note_count = 0;
    k->level = 0;
    k->most = most;
    k->conflict = false;
    k->level_starts = array_grow(k->level_starts, &k->level_capacity, 1, sizeof *k->level_starts);
    k->note_starts = array_grow(k->note_starts, &k->note_level_capacity, 1, sizeof *k->note_starts);
    k->level_starts[0] = k->note_starts[0] = 0;
    memset(k->value, 0, k->variables * sizeof *k->value);
    memset(k->latest, 0, (size_t)SIDES * k->operations * sizeof *k->latest);
    for (size_t i = 0; i < (size_t)k->operations * k->width; i++) {
        k->least[i] = 0;
        k->most_before[i] = instance->batches;
    }
    for (uint32_t i = 0; i < k->operations; i++) {
        size_t own = (size_t)i * k->width + k->local[i / instance->batches];
        k->least[own] = i % instance->batches;
        k->most_before[own] = k->least[own] + 1;
    }
    for (unsigned side = 0; side < SIDES; side++)
        for (uint32_t i = 0; i < k->operations; i++)
            k->bound[side][i] = -1; /* so that every operation is looked at once */
    for (uint32_t i = 0; i < k->operations && !k->conflict; i++) {
        assert_bound(k, HEADS, i, 0, WHY_DECIDED, 0, 0);
        assert_bound(k, TAILS, i, 0, WHY_DECIDED, 0, 0);
    }
    for (uint32_t variable = 0; variable < k->variables && !k->conflict; variable++) {
        if (always_before(instance, k->first_of[variable], k->second_of[variable]))
            assert_literal(k, 2 * variable, WHY_DECIDED, 0, 0, 0);
        else if (always_before(instance, k->second_of[variable], k->first_of[variable]))
            assert_literal(k, 2 * variable + 1, WHY_DECIDED, 0, 0, 0);
    }
}

/* ---- conflicts and notes ---- */

void conflict_begin(struct knowledge *k)
{
    k->conflict = true;
    k->bad_literal_count = k->bad_bound_count = 0;
}

void conflict_literal(struct knowledge *k, uint32_t literal)
{
    k->bad_literals =
        array_grow(k->bad_literals, &k->bad_literal_capacity, k->bad_literal_count + 1, sizeof *k->bad_literals);
    k->bad_literals[k->bad_literal_count++] = literal;
}

void conflict_bound(struct knowledge *k, unsigned side, uint32_t operation, int64_t value)
{
    k->bad_bounds = array_grow(k->bad_bounds, &k->bad_bound_capacity, k->bad_bound_count + 1, sizeof *k->bad_bounds);
    k->bad_bounds[k->bad_bound_count].what = side * k->operations + operation;
    k->bad_bounds[k->bad_bound_count++].value = value;
}

uint32_t note(struct knowledge *k, uint32_t word)
{
    k->notes = array_grow(k->notes, &k->note_capacity, k->note_count + 1, sizeof *k->notes);
    k->notes[k->note_count] = word;
    return (uint32_t)k->note_count++;
}

/* ---- changes ---- */

static struct entry *add_entry(struct knowledge *k)
{
    k->entries = array_grow(k->entries, &k->entry_capacity, k->entry_count + 1, sizeof *k->entries);
    return &k->entries[k->entry_count++];
}

void assert_literal(struct knowledge *k, uint32_t literal, enum why why, uint32_t a, uint32_t b, int64_t need)
{
    uint32_t front = literal_front(k, literal), back = literal_back(k, literal), batches = k->instance->batches;
    uint32_t *least = &k->least[(size_t)back * k->width + k->local[front / batches]];
    uint32_t *most = &k->most_before[(size_t)front * k->width + k->local[back / batches]];
    *add_entry(k) = (struct entry){.why = (uint8_t)why,
                                   .what = literal,
                                   .a = a,
                                   .b = b,
                                   .level = k->level,
                                   .least = *least,
                                   .most = *most,
                                   .need = need};
    k->value[literal / 2] = literal & 1 ? -1 : 1;
    *least = *least > front % batches + 1 ? *least : front % batches + 1;
    *most = *most < back % batches ? *most : back % batches;
}

void assert_bound(struct knowledge *k, unsigned side, uint32_t operation, int64_t value, enum why why, uint32_t a,
                  uint32_t b)
{
    uint32_t what = side * k->operations + operation;
    if (value <= k->bound[side][operation])
        return;
    *add_entry(k) = (struct entry){.is_bound = true,
                                   .why = (uint8_t)why,
                                   .what = what,
                                   .a = a,
                                   .b = b,
                                   .level = k->level,
                                   .before = k->latest[what],
                                   .value = value,
                                   .earlier = k->bound[side][operation]};
    k->bound[side][operation] = value;
    k->latest[what] = (uint32_t)k->entry_count;
    k->dirty[k->instance->worker_of[operation_stage(k->instance, operation)]] = true;
    int64_t other = k->bound[!side][operation];
    if (other >= 0 && value + k->length[operation] + other > k->most) {
        conflict_begin(k);
        conflict_bound(k, side, operation, k->most + 1 - k->length[operation] - other);
        conflict_bound(k, !side, operation, other);
    }
}

void push_level(struct knowledge *k)
{
    k->level++;
    k->level_starts = array_grow(k->level_starts, &k->level_capacity, k->level + (size_t)1, sizeof *k->level_starts);
    k->note_starts = array_grow(k->note_starts, &k->note_level_capacity, k->level + (size_t)1, sizeof *k->note_starts);
    k->level_starts[k->level] = k->entry_count;
    k->note_starts[k->level] = k->note_count;
}

static void take_back(struct knowledge *k, const struct entry *entry)
{
    if (entry->is_bound) {
        k->bound[entry->what / k->operations][entry->what % k->operations] = entry->earlier;
        k->latest[entry->what] = entry->before;
        return;
    }
    uint32_t front = literal_front(k, entry->what), back = literal_back(k, entry->what);
    uint32_t batches = k->instance->batches;
    k->value[entry->what / 2] = 0;
    k->least[(size_t)back * k->width + k->local[front / batches]] = entry->least;
    k->most_before[(size_t)front * k->width + k->local[back / batches]] = entry->most;
}

void pop_levels(struct knowledge *k, uint32_t level, void (*undone)(void *user, uint32_t variable, bool positive),
                void *user)
{
    if (level >= k->level)
        return;
    for (size_t end = k->level_starts[level + 1]; k->entry_count > end;) {
        const struct entry *entry = &k->entries[--k->entry_count];
        take_back(k, entry);
        if (!entry->is_bound)
            undone(user, entry->what / 2, !(entry->what & 1));
    }
    k->note_count = k->note_starts[level + 1];
    k->next_entry = k->entry_count;
    k->level = level;
    k->conflict = false;
    memset(k->dirty, 0, k->instance->workers * sizeof *k->dirty); /* all had been looked at on that level */
}

/* ---- clauses ---- */

static void watch(struct knowledge *k, uint32_t literal, uint32_t clause)
{
    struct watches *watches = &k->watches[literal_not(literal)];
    watches->items = array_grow(watches->items, &watches->capacity, watches->count + 1, sizeof *watches->items);
    watches->items[watches->count++] = clause;
}

static void watch_clause(struct knowledge *k, uint32_t index)
{
    const struct clause *clause = &k->clauses[index];
    for (uint32_t i = 0; i < 2 && i < clause->count; i++)
        watch(k, k->store[clause->first + i], index);
}

uint32_t clause_add(struct knowledge *k, const uint32_t *literals, uint32_t count, uint32_t levels)
{
    k->store = array_grow(k->store, &k->store_capacity, k->store_count + count, sizeof *k->store);
    k->clauses = array_grow(k->clauses, &k->clause_capacity, k->clause_count + 1, sizeof *k->clauses);
    k->clauses[k->clause_count] = (struct clause){(uint32_t)k->store_count, count, levels, k->most, 0};
    memcpy(k->store + k->store_count, literals, count * sizeof *literals);
    k->store_count += count;
    watch_clause(k, (uint32_t)k->clause_count);
    return (uint32_t)k->clause_count++;
}

void clauses_thin(struct knowledge *k, const bool *keep)
{
    uint32_t kept = 0;
    size_t stored = 0;
    for (size_t literal = 0; literal < 2 * (size_t)k->variables; literal++)
        k->watches[literal].count = 0;
    for (size_t i = 0; i < k->clause_count; i++) {
        struct clause clause = k->clauses[i];
        if (!keep[i])
            continue;
        memmove(k->store + stored, k->store + clause.first, clause.count * sizeof *k->store);
        clause.first = (uint32_t)stored;
        stored += clause.count;
        k->clauses[kept] = clause;
        watch_clause(k, kept++);
    }
    k->clause_count = kept;
    k->store_count = stored;
}
