/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/best/improve.h"

#include "base/arena.h"

#include <string.h>

enum { REACH_MAX = 12 };

struct improve {
    const struct instance *instance;
    int64_t *starts, *scratch;
    uint64_t random;
};

struct improve *improve_create(const struct instance *instance, struct arena *arena)
{
    struct improve *improve = arena_alloc(arena, sizeof *improve);
    *improve = (struct improve){.instance = instance, .random = 0x2545f4914f6cdd1du};
    improve->starts = arena_array(arena, instance->operations, sizeof(int64_t));
    improve->scratch = arena_array(arena, instance->operations, sizeof(int64_t));
    return improve;
}

static uint32_t random_below(struct improve *improve, uint32_t count)
{
    improve->random ^= improve->random << 13;
    improve->random ^= improve->random >> 7;
    improve->random ^= improve->random << 17;
    return (uint32_t)((improve->random >> 32) * count >> 32);
}

/* Moves the entry at `from` of a word to `to`; the others shift by one. */
static void move(uint16_t *chains, uint32_t from, uint32_t to)
{
    uint16_t chain = chains[from];
    if (from < to)
        memmove(chains + from, chains + from + 1, (to - from) * sizeof *chains);
    else
        memmove(chains + to + 1, chains + to, (from - to) * sizeof *chains);
    chains[to] = chain;
}

static uint32_t pick_place(struct improve *improve, uint32_t from, uint32_t count)
{
    uint32_t reach = 1 + random_below(improve, REACH_MAX);
    if (random_below(improve, 2))
        return from >= reach ? from - reach : 0;
    return from + reach < count ? from + reach : count - 1;
}

void improve_run(struct improve *improve, struct words *words, int64_t least, struct budget *budget)
{
    const struct instance *instance = improve->instance;
    int64_t current = words_makespan(instance, words, NULL, improve->scratch);
    while (current > least && budget_spend(budget)) {
        uint32_t worker = random_below(improve, instance->workers), count = words->count[worker];
        if (count < 2)
            continue;
        uint32_t from = random_below(improve, count), to = pick_place(improve, from, count);
        uint16_t *chains = words->chains[worker];
        if (chains[from] == chains[to])
            continue;
        move(chains, from, to);
        int64_t makespan = words_makespan(instance, words, NULL, improve->scratch);
        if (makespan < 0 || makespan > current)
            move(chains, to, from);
        else
            current = makespan;
    }
}
