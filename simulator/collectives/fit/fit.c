/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/collectives/fit/fit.h"

#include "base/arena.h"
#include "base/rounded/rounded.h"
#include "platforms/library.h"
#include "simulator/collectives/communicator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The values that are searched, as logarithms: launch times, then start, latency and efficiency of each protocol. */
enum { PER_PROTOCOL = 3, VALUES_MAX = PLATFORM_COLLECTIVES + PER_PROTOCOL * PLATFORM_PROTOCOLS };

/* A model with more values has to lower the error by this much, absolutely and relatively: otherwise it fits noise. */
#define WORTH_ABSOLUTE 0.01
#define WORTH_RELATIVE 0.15
/* Tables without a row up to this size say nothing of launch times. */
#define SMALL_BYTES 65536.0
/* No protocol moves more than a wire: NVLink3's 25 GB/s over the 20 that messages reach is the most of all wires inside
 * nodes (platforms/hardware/wires). */
#define WIRE_MOST 1.25
/* What the rows do not settle: leaving it as it was makes the error larger by no more than this. */
#define SETTLES 0.0005

struct search {
    struct platform *platform;
    enum platform_scope scope;    /* of all tables */
    bool messages;                /* they are of all-to-all and send-receive, whose protocols are apart */
    bool switches;                /* one is of all-reduce within a node: the last protocol has the start of switches */
    struct platform_regime given; /* the platform's own of that scope */
    struct measured *tables;      /* in canonical order */
    size_t table_count;
    struct communicator **communicators; /* [table] */
    int launch_of[PLATFORM_COLLECTIVES]; /* place of a kind's launch among the values; -1: as given */
    int launches, protocols, count;      /* values: launches + PER_PROTOCOL * protocols */
    double values[VALUES_MAX];
    double low[VALUES_MAX], high[VALUES_MAX];
};

static struct communicator *communicator_for(struct platform *platform, const struct measured *table,
                                             struct arena *arena)
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
        double off = communicator_choose(communicator, table->kind, NULL, table->rows[i].bytes).seconds /
                         table->rows[i].seconds -
                     1;
        error.absolute += fabs(off) / (double)table->count;
        error.bias += off / (double)table->count;
    }
    return error;
}

/* What a row adds to what the search makes small: how far it is off, but of what is more than OUTLIER only the
 * logarithm, so that an irregular row does not bend the fit of all others. */
#define OUTLIER 0.25

static double loss_with(struct communicator *communicator, const struct measured *table)
{
    double sum = 0;
    for (size_t i = 0; i < table->count; i++) {
        double off = fabs(communicator_choose(communicator, table->kind, NULL, table->rows[i].bytes).seconds /
                              table->rows[i].seconds -
                          1);
        sum += off < OUTLIER ? off : OUTLIER * (1 + rounded_log(off / OUTLIER));
    }
    return sum / (double)table->count;
}

enum platform_scope fit_scope_of(struct platform *platform, const struct measured *table, struct arena *arena)
{
    return communicator_scope(communicator_for(platform, table, arena));
}

struct fit_error fit_error_of(struct platform *platform, const struct measured *table, struct arena *arena)
{
    return error_with(communicator_for(platform, table, arena), table);
}

void fit_predict(struct platform *platform, const struct measured *table, struct arena *arena, double *seconds)
{
    struct communicator *communicator = communicator_for(platform, table, arena);
    for (size_t i = 0; i < table->count; i++)
        seconds[i] = communicator_choose(communicator, table->kind, NULL, table->rows[i].bytes).seconds;
}

/* ---- values and properties ---- */

static int by_efficiency(const void *left, const void *right)
{
    const struct platform_protocol *a = left, *b = right;
    return (a->efficiency > b->efficiency) - (a->efficiency < b->efficiency);
}

/* Four digits are far more than measurements repeat. */
static double rounded(double value)
{
    double unit = value > 0 ? rounded_pow(10, floor(rounded_log10(value)) - 3) : 1;
    return unit < 1 ? round(value / unit) / round(1 / unit) : round(value / unit) * unit;
}

static void name_protocols(struct platform_protocol *protocols, uint32_t count)
{
    static const char *const names[PLATFORM_PROTOCOLS] = {"low", "middle", "bulk"};
    for (uint32_t i = 0; i < count; i++)
        protocols[i].name = names[i + 1 == count ? PLATFORM_PROTOCOLS - 1 : i];
}

bool fit_is_message(enum stagesim_collective kind)
{
    return kind == STAGESIM_ALL_TO_ALL || kind == STAGESIM_SEND_RECEIVE;
}

/* The protocols that are searched. */
static struct platform_protocol *protocols_of(const struct search *search, struct platform_regime *regime)
{
    return search->messages ? regime->direct : regime->protocols;
}

static uint32_t *count_of(const struct search *search, struct platform_regime *regime)
{
    return search->messages ? &regime->direct_count : &regime->protocol_count;
}

/* Launch times among the values: of messages each kind has its own, of all others the first is the default. */
static void apply_launches(const struct search *search, struct platform_regime *regime)
{
    if (search->launches && !search->messages) {
        regime->launch_default = rounded_exp(search->values[0]);
        regime->launch_default_given = true;
    }
    for (int kind = 0; kind < PLATFORM_COLLECTIVES; kind++) {
        int place = search->launch_of[kind];
        bool own = place > 0 || (place == 0 && search->messages);
        if (place >= 0)
            regime->launch_given[kind] = own;
        if (own)
            regime->launch[kind] = rounded_exp(search->values[place]);
    }
}

/* The values as properties. Protocols are in the order of their bandwidth; the least start is 0: it would be launch. */
static void apply(const struct search *search)
{
    struct platform_regime *regime = &search->platform->library.regimes[search->scope];
    const double *values = search->values + search->launches;
    double least = 0;
    *regime = search->given;
    apply_launches(search, regime);
    if (search->switches)
        regime->in_network_start = 0;
    struct platform_protocol *protocols = protocols_of(search, regime);
    *count_of(search, regime) = (uint32_t)search->protocols;
    memset(protocols, 0, sizeof regime->protocols);
    for (int i = 0; i < search->protocols; i++, values += PER_PROTOCOL)
        protocols[i] = (struct platform_protocol){
            NULL, rounded_exp(values[0]), rounded_exp(values[1]), rounded_exp(values[2]), 0, 0};
    qsort(protocols, (size_t)search->protocols, sizeof *protocols, by_efficiency);
    if (search->launches)
        least = protocols[0].start;
    for (int i = 0; i < search->protocols; i++)
        protocols[i].start = fmax(0, protocols[i].start - least);
    name_protocols(protocols, (uint32_t)search->protocols);
    library_complete_launches(&search->platform->library);
}

/* Rounds the properties to what is written. */
static void round_properties(const struct search *search, struct platform_regime *regime)
{
    regime->launch_default = rounded(regime->launch_default * 1e6) * 1e-6;
    for (int kind = 0; kind < PLATFORM_COLLECTIVES; kind++)
        regime->launch[kind] = rounded(regime->launch[kind] * 1e6) * 1e-6;
    for (uint32_t i = 0; i < *count_of(search, regime); i++) {
        struct platform_protocol *protocol = &protocols_of(search, regime)[i];
        protocol->start = rounded(protocol->start * 1e6) * 1e-6;
        protocol->latency = rounded(protocol->latency);
        protocol->efficiency = rounded(protocol->efficiency);
    }
}

/* ---- the search ---- */

/* Of the library as it is. */
static double error_now(const struct search *search)
{
    double sum = 0;
    for (size_t i = 0; i < search->table_count; i++)
        sum += loss_with(search->communicators[i], &search->tables[i]);
    return sum / (double)search->table_count;
}

static double objective(const struct search *search)
{
    apply(search);
    return error_now(search);
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
    for (double step = rounded_log(2); step > rounded_log(1.002); step /= 2)
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
    search->values[value] = rounded_log(start);
    search->low[value] = rounded_log(low);
    search->high[value] = rounded_log(high);
}

static double least_seconds(const struct search *search, int place)
{
    double least = INFINITY;
    for (size_t i = 0; i < search->table_count; i++)
        for (size_t row = 0;
             row < search->tables[i].count && (place < 0 || search->launch_of[search->tables[i].kind] == place); row++)
            least = fmin(least, search->tables[i].rows[row].seconds);
    return least;
}

/* Starting point number `index` of STARTS: where the regimes lie differs. */
enum { STARTS = 9 };

static void set_start(struct search *search, unsigned index)
{
    static const double slow[] = {0.02, 0.1, 0.4}, starts[] = {0.3, 1, 3};
    double least = 0.9 * least_seconds(search, -1);
    for (int place = 0; place < search->launches; place++)
        set_value(search, place, 0.9 * least_seconds(search, place), 1e-7, 1);
    for (int i = 0; i < search->protocols; i++) {
        int first = search->launches + PER_PROTOCOL * i;
        bool last = i + 1 == search->protocols;
        set_value(search, first, least * starts[index / 3] * (last ? 1 : i ? 0.3 : 0.01), 1e-8, 1);
        set_value(search, first + 1, last ? 0.3 : 0.1, 1e-3, 20);
        set_value(search, first + 2, last ? 1 : i ? sqrt(slow[index % 3]) : slow[index % 3], 1e-4, WIRE_MOST);
    }
}

/* The best values of the model that `protocols` and `launch_of` describe, and their error. */
static double find_best(struct search *search)
{
    double best = INFINITY, kept[VALUES_MAX];
    search->count = search->launches + PER_PROTOCOL * search->protocols;
    for (unsigned start = 0; start < STARTS; start++) {
        set_start(search, start);
        double error = descend(search);
        if (error < best) {
            best = error;
            memcpy(kept, search->values, sizeof kept);
        }
    }
    memcpy(search->values, kept, sizeof kept);
    return best;
}

static bool worth(double error, double before)
{
    return error < before - WORTH_ABSOLUTE && error < before * (1 - WORTH_RELATIVE);
}

static bool measures_launch(const struct search *search, int kind)
{
    for (size_t i = 0; i < search->table_count; i++)
        for (size_t row = 0; row < search->tables[i].count && (int)search->tables[i].kind == kind; row++)
            if (search->tables[i].rows[row].bytes <= SMALL_BYTES)
                return true;
    return false;
}

/* One launch time for all kinds, or one for each kind that was measured with small sizes. */
static void set_launches(struct search *search, bool each)
{
    search->launches = 0;
    for (int kind = 0; kind < PLATFORM_COLLECTIVES; kind++) {
        search->launch_of[kind] = -1;
        if (measures_launch(search, kind))
            search->launch_of[kind] = each || search->messages ? search->launches++ : (search->launches = 1) - 1;
    }
}

static size_t row_count(const struct search *search)
{
    size_t count = 0;
    for (size_t i = 0; i < search->table_count; i++)
        count += search->tables[i].count;
    return count;
}

/* Puts what was there before in place of a found value, if the rows do not mind. */
static void leave_value(const struct search *search, double *value, double before, double most)
{
    double found = *value;
    *value = before;
    if (error_now(search) > most)
        *value = found;
}

/* What the rows do not settle stays as the platform has it, or as it is where nothing is given. */
static void leave_unsettled(const struct search *search)
{
    struct platform_regime *regime = &search->platform->library.regimes[search->scope];
    struct platform_regime given = search->given;
    double most = error_now(search) + SETTLES;
    for (uint32_t i = 0; i < *count_of(search, regime); i++) {
        struct platform_protocol *protocol = &protocols_of(search, regime)[i], before = {NULL, 0, 1, 1, 0, 0};
        for (uint32_t k = 0; k < *count_of(search, &given); k++)
            if (strcmp(protocols_of(search, &given)[k].name, protocol->name) == 0)
                before = protocols_of(search, &given)[k];
        leave_value(search, &protocol->start, before.start, most);
        leave_value(search, &protocol->latency, before.latency, most);
        leave_value(search, &protocol->efficiency, fmin(before.efficiency, WIRE_MOST), most);
    }
}

/* From one protocol and one launch time to more, as long as that is worth it. */
static void grow(struct search *search)
{
    struct search best = *search, larger;
    set_launches(&best, false);
    best.protocols = 1;
    double error = find_best(&best);
    for (int protocols = 2; protocols <= PLATFORM_PROTOCOLS; protocols++) {
        larger = best;
        larger.protocols = protocols;
        if ((size_t)(best.launches + PER_PROTOCOL * protocols) >= row_count(&best))
            break; /* as many values as rows fit anything */
        double found = find_best(&larger);
        if (worth(found, error)) {
            best = larger;
            error = found;
        }
    }
    larger = best;
    set_launches(&larger, true);
    if (larger.launches > best.launches && worth(find_best(&larger), error))
        best = larger;
    *search = best;
    apply(search);
    round_properties(search, &search->platform->library.regimes[search->scope]);
    leave_unsettled(search);
}

/* ---- setting up ---- */

/* So that the order in which tables are given does not matter. */
static int by_content(const void *left, const void *right)
{
    const struct measured *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->ranks != b->ranks)
        return a->ranks < b->ranks ? -1 : 1;
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    return memcmp(a->rows, b->rows, a->count * sizeof *a->rows);
}

/* Fits rings and trees, or messages, of the scope to those of the tables, which are in canonical order, that are of it;
 * to none: leaves it as it is. */
static void fit_scope(struct platform *platform, const struct measured *tables, size_t count, enum platform_scope scope,
                      bool messages, struct arena *arena)
{
    struct search search = {.platform = platform, .scope = scope, .messages = messages};
    search.given = platform->library.regimes[scope];
    search.tables = arena_array(arena, count, sizeof *search.tables);
    search.communicators = arena_array(arena, count, sizeof(struct communicator *));
    for (size_t i = 0; i < count; i++) {
        struct communicator *communicator = communicator_for(platform, &tables[i], arena);
        if (communicator_scope(communicator) != scope || fit_is_message(tables[i].kind) != messages)
            continue;
        search.switches |= tables[i].kind == STAGESIM_ALL_REDUCE;
        search.tables[search.table_count] = tables[i];
        search.communicators[search.table_count++] = communicator;
    }
    if (search.table_count)
        grow(&search);
}

/* A table of so many ranks was measured on nodes that had equally many: on others its transfers are not those. */
static bool fill_nodes(struct platform *platform, const struct measured *tables, size_t count, struct arena *arena,
                       struct fault *fault)
{
    for (size_t i = 0; i < count; i++)
        if (!communicator_shape(communicator_for(platform, &tables[i], arena))->node_size)
            return fault_set(fault,
                             "%s has %u ranks, which do not fill the nodes of %s; expected nodes with equally many "
                             "ranks each (platform generate --gpus-per-node)",
                             tables[i].file, tables[i].ranks, platform->file);
    return true;
}

bool fit_library(struct platform *platform, const struct measured *tables, size_t count, struct fault *fault)
{
    for (size_t i = 0; i < count; i++)
        if (tables[i].ranks > platform->host_count)
            return fault_set(fault, "%s has %u ranks, more than the %u GPUs of %s", tables[i].file, tables[i].ranks,
                             platform->host_count, platform->file);
    struct arena *arena = arena_create();
    if (!fill_nodes(platform, tables, count, arena, fault)) {
        arena_destroy(arena);
        return false;
    }
    struct measured *ordered = arena_array(arena, count, sizeof *ordered);
    memcpy(ordered, tables, count * sizeof *tables);
    qsort(ordered, count, sizeof *ordered, by_content);
    /* Transfers within nodes count for groups over nodes as well, so they come first. */
    for (unsigned scope = 0; scope < SCOPES; scope++)
        for (unsigned messages = 0; messages < 2; messages++)
            fit_scope(platform, ordered, count, (enum platform_scope)scope, messages, arena);
    library_complete_launches(&platform->library);
    arena_destroy(arena);
    return true;
}
