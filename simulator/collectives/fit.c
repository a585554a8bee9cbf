/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/collectives/fit.h"

#include "simulator/arena.h"
#include "simulator/collectives/communicator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The values that are searched, as logarithms: launch of each table's kind, then start, latency and efficiency of each protocol. */
enum { PER_PROTOCOL = 3, VALUES_MAX = PLATFORM_COLLECTIVES + PER_PROTOCOL * PLATFORM_PROTOCOLS };

struct search {
    struct platform *platform;
    const struct measured *tables;
    size_t table_count;
    struct communicator **communicators; /* [table] */
    int launch_of[PLATFORM_COLLECTIVES]; /* place of a kind's launch among the values; -1: not measured */
    int launches, count;
    double values[VALUES_MAX];
    double low[VALUES_MAX], high[VALUES_MAX];
};

static struct communicator *communicator_for(struct platform *platform, const struct measured *table, struct arena *arena)
{
    uint32_t *hosts = arena_array(arena, table->ranks, sizeof *hosts);
    for (uint32_t rank = 0; rank < table->ranks; rank++)
        hosts[rank] = rank;
    return communicator_create(platform, hosts, table->ranks, arena);
}

static struct fit_error error_with(struct communicator *communicator, const struct measured *table)
{
    struct fit_error error = {0, 0};
    for (size_t i = 0; i < table->count; i++) {
        double off = communicator_choose(communicator, table->kind, NULL, table->rows[i].bytes).seconds / table->rows[i].seconds - 1;
        error.absolute += fabs(off) / (double)table->count;
        error.bias += off / (double)table->count;
    }
    return error;
}

struct fit_error fit_error_of(struct platform *platform, const struct measured *table, struct arena *arena)
{
    return error_with(communicator_for(platform, table, arena), table);
}

/* The values as properties. The first protocol has no start: that would be launch. */
static void apply(const struct search *search)
{
    struct platform_library *library = &search->platform->library;
    static const char *const names[PLATFORM_PROTOCOLS] = {"low", "middle", "bulk"};
    library->launch_default = exp(search->values[0]);
    for (int kind = 0; kind < PLATFORM_COLLECTIVES; kind++) {
        int place = search->launch_of[kind];
        library->launch_given[kind] = place > 0;
        library->launch[kind] = exp(search->values[place > 0 ? place : 0]);
    }
    library->protocol_count = PLATFORM_PROTOCOLS;
    for (int i = 0; i < PLATFORM_PROTOCOLS; i++) {
        const double *values = search->values + search->launches + PER_PROTOCOL * i;
        library->protocols[i] = (struct platform_protocol){names[i], i ? exp(values[0]) : 0, exp(values[1]), exp(values[2])};
    }
}

static double objective(const struct search *search)
{
    double sum = 0;
    apply(search);
    for (size_t i = 0; i < search->table_count; i++)
        sum += error_with(search->communicators[i], &search->tables[i]).absolute;
    return sum / (double)search->table_count;
}

/* Moves one value by a step if that is better. */
static bool try_step(struct search *search, int value, double step, double *best)
{
    double old = search->values[value], moved = fmin(fmax(old + step, search->low[value]), search->high[value]);
    search->values[value] = moved;
    double error = objective(search);
    if (error < *best * (1 - 1e-9)) {
        *best = error;
        return true;
    }
    search->values[value] = old;
    return false;
}

static double descend(struct search *search)
{
    double best = objective(search);
    for (double step = log(2); step > log(1.002); step /= 2)
        for (int round = 0, moved = 1; moved && round < 30; round++) {
            moved = 0;
            for (int value = 0; value < search->count; value++)
                if (try_step(search, value, step, &best) || try_step(search, value, -step, &best))
                    moved = 1;
        }
    return best;
}

static void set_value(struct search *search, int value, double start, double low, double high)
{
    search->values[value] = log(start);
    search->low[value] = log(low);
    search->high[value] = log(high);
}

static double least_seconds(const struct search *search, int kind)
{
    double least = INFINITY;
    for (size_t i = 0; i < search->table_count; i++)
        for (size_t row = 0; row < search->tables[i].count && (kind < 0 || (int)search->tables[i].kind == kind); row++)
            least = fmin(least, search->tables[i].rows[row].seconds);
    return least;
}

/* Starting point number `index` of STARTS: where the first and the last regime lie differs. */
enum { STARTS = 9 };

static void set_start(struct search *search, unsigned index)
{
    static const double slow[] = {0.02, 0.1, 0.4}, starts[] = {0.3, 1, 3};
    double launch = 0.9 * least_seconds(search, -1);
    for (int kind = 0; kind < PLATFORM_COLLECTIVES; kind++)
        if (search->launch_of[kind] >= 0)
            set_value(search, search->launch_of[kind], 0.9 * least_seconds(search, kind), 1e-7, 1);
    for (int i = 0; i < PLATFORM_PROTOCOLS; i++) {
        int first = search->launches + PER_PROTOCOL * i;
        double efficiency = slow[index % 3];
        set_value(search, first, launch * starts[index / 3] * (i == 2 ? 1 : 0.3), 1e-8, 1);
        set_value(search, first + 1, i == 2 ? 0.3 : 0.1, 1e-3, 20);
        set_value(search, first + 2, i == 0 ? efficiency : i == 1 ? sqrt(efficiency) : 1, 1e-4, 20);
    }
}

static void find_best(struct search *search)
{
    double best = INFINITY, kept[VALUES_MAX];
    for (unsigned start = 0; start < STARTS; start++) {
        set_start(search, start);
        double error = descend(search);
        if (error < best) {
            best = error;
            memcpy(kept, search->values, sizeof kept);
        }
    }
    memcpy(search->values, kept, sizeof kept);
    apply(search);
}

bool fit_library(struct platform *platform, const struct measured *tables, size_t count, struct fault *fault)
{
    struct arena *arena = arena_create();
    struct search search = {.platform = platform, .tables = tables, .table_count = count};
    bool good = true;
    search.communicators = arena_array(arena, count, sizeof(struct communicator *));
    for (int kind = 0; kind < PLATFORM_COLLECTIVES; kind++)
        search.launch_of[kind] = -1;
    for (size_t i = 0; i < count && good; i++) {
        if (tables[i].ranks > platform->host_count)
            good = fault_set(fault, "%s has %u ranks, more than the %u GPUs of %s", tables[i].file, tables[i].ranks, platform->host_count,
                             platform->file);
        else
            search.communicators[i] = communicator_for(platform, &tables[i], arena);
        if (search.launch_of[tables[i].kind] < 0)
            search.launch_of[tables[i].kind] = search.launches++;
    }
    search.count = search.launches + PER_PROTOCOL * PLATFORM_PROTOCOLS;
    if (good)
        find_best(&search);
    arena_destroy(arena);
    return good;
}
