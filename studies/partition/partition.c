/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/partition/partition.h"

#include "base/arena.h"
#include "studies/partition/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STARTS = 16 };

/* Which parts of a layer a group still has, after the levels above. */
struct fraction {
    double samples, inputs, outputs;
    uint64_t parts[PARTITION_TYPES]; /* into which each type has divided it */
};

struct finding {
    const struct partition_network *network;
    const struct partition_devices *devices;
    enum partition_method method;
    struct fraction *left[PARTITION_KINDS]; /* [layer], of a group of each kind */
    uint32_t groups;                        /* that are looked at on this level: one, or one of each kind */
    uint32_t level;
};

/* ---- elements ---- */

static enum partition_layout layout_in(const struct partition_layer *layer, enum partition_type type)
{
    if (layer->role == PARTITION_PASSIVE)
        return type == PARTITION_SAMPLES ? PARTITION_ROWS : PARTITION_COLUMNS;
    return partition_layout_in(type);
}

static enum partition_layout layout_out(const struct partition_layer *layer, enum partition_type type)
{
    if (layer->role == PARTITION_PASSIVE)
        return layout_in(layer, type);
    return partition_layout_out(type);
}

static struct partition_exchange inside(const struct finding *f, uint32_t kind, uint32_t index,
                                        enum partition_type type)
{
    const struct partition_layer *layer = &f->network->layers[index];
    const struct fraction *left = &f->left[kind][index];
    if (layer->role == PARTITION_PASSIVE)
        return (struct partition_exchange){0};
    struct partition_exchange exchange = partition_exchange_inside(type, layer->weights * left->inputs * left->outputs,
                                                                   layer->inputs * left->samples * left->inputs,
                                                                   layer->outputs * left->samples * left->outputs);
    double ways = f->devices->ways[f->level];
    exchange.whole *= 2 * (ways - 1) / ways; /* as in a ring: of two groups each receives it once */
    return exchange;
}

static struct partition_exchange between(const struct finding *f, uint32_t kind, const struct partition_edge *edge,
                                         enum partition_type from, enum partition_type to)
{
    const struct partition_layer *layers = f->network->layers, *reader = &layers[edge->to];
    const struct fraction *left = &f->left[kind][edge->to];
    enum partition_layout needed = edge->added ? layout_out(reader, to) : layout_in(reader, to);
    return partition_exchange_between(layout_out(&layers[edge->from], from), needed,
                                      edge->elements * left->samples * (edge->added ? left->outputs : left->inputs));
}

/* Whether the level divides kinds from each other. */
static bool is_apart(const struct finding *f)
{
    return f->level == 0 && f->devices->kinds > 1;
}

/* Seconds that a group needs to receive them. */
static double received(const struct finding *f, uint32_t kind, uint32_t side, const struct partition_exchange *exchange,
                       double share)
{
    return partition_exchange_elements(exchange, share) * f->devices->element_bytes /
           f->devices->bandwidth[f->level][kind][side];
}

/* Of all groups in the mean; where kinds are apart, of those of all kinds. */
static double mean_seconds(const struct finding *f, uint32_t kind, const struct partition_exchange *exchange,
                           const double *shares)
{
    if (!is_apart(f))
        return (received(f, kind, 0, exchange, shares[kind]) + received(f, kind, 1, exchange, shares[kind])) / 2;
    double sum = 0;
    for (uint32_t k = 0; k < f->devices->kinds; k++)
        sum += f->devices->groups[k] * received(f, k, 0, exchange, shares[k]);
    return sum / f->devices->ways[0];
}

/* ---- types ---- */

static bool has_type(enum partition_method method, enum partition_role role, enum partition_type type)
{
    bool fixed = method == PARTITION_DATA || method == PARTITION_OWT;
    if (fixed)
        return type == (method == PARTITION_OWT && role == PARTITION_DENSE ? PARTITION_INPUTS : PARTITION_SAMPLES);
    if (type == PARTITION_SAMPLES)
        return true;
    if (role == PARTITION_PASSIVE)
        return type == PARTITION_OUTPUTS;
    return method == PARTITION_ACCPAR || type == PARTITION_INPUTS;
}

static bool allows(const struct finding *f, uint32_t index, enum partition_type type)
{
    const struct partition_layer *layer = &f->network->layers[index];
    uint64_t parts = f->devices->ways[f->level] * f->left[0][index].parts[type];
    return has_type(f->method, layer->role, type) && (!layer->most[type] || parts <= layer->most[type]);
}

/* The first layer for which no type is left on this level; their number: none. */
static uint32_t find_undivided(const struct finding *f)
{
    uint32_t index = 0;
    while (index < f->network->count && (allows(f, index, PARTITION_SAMPLES) || allows(f, index, PARTITION_INPUTS) ||
                                         allows(f, index, PARTITION_OUTPUTS)))
        index++;
    return index;
}

static void fill_layers(const struct finding *f, const double *shares, double (*costs)[PAIRWISE_CHOICES])
{
    for (uint32_t i = 0; i < f->network->count; i++)
        for (unsigned type = 0; type < PARTITION_TYPES; type++) {
            costs[i][type] = allows(f, i, type) ? 0 : INFINITY;
            for (uint32_t kind = 0; kind < f->groups; kind++) {
                struct partition_exchange exchange = inside(f, kind, i, type);
                costs[i][type] += mean_seconds(f, kind, &exchange, shares) / f->groups;
            }
        }
}

static void fill_edge(const struct finding *f, const double *shares, const struct partition_edge *edge,
                      struct pairwise_edge *costs)
{
    *costs = (struct pairwise_edge){.from = edge->from, .to = edge->to};
    for (unsigned from = 0; from < PARTITION_TYPES; from++)
        for (unsigned to = 0; to < PARTITION_TYPES; to++) {
            costs->costs[from][to] = edge->tied && from != to ? INFINITY : 0;
            for (uint32_t kind = 0; kind < f->groups; kind++) {
                struct partition_exchange exchange = between(f, kind, edge, from, to);
                costs->costs[from][to] += mean_seconds(f, kind, &exchange, shares) / f->groups;
            }
        }
}

/* The best types while the shares are fixed: computing is the same with all of them. */
static void find_types(const struct finding *f, const double *shares, const struct pairwise_step *order, uint8_t *types)
{
    const struct partition_network *network = f->network;
    double(*costs)[PAIRWISE_CHOICES] = array_zeroed(network->count, sizeof *costs);
    struct pairwise_edge *edges = array_zeroed(network->edge_count, sizeof *edges);
    struct pairwise sum = {network->count, (const double(*)[PAIRWISE_CHOICES])costs, edges, network->edge_count};
    fill_layers(f, shares, costs);
    for (size_t i = 0; i < network->edge_count; i++)
        fill_edge(f, shares, &network->edges[i], &edges[i]);
    pairwise_minimize(&sum, order, types);
    free(costs);
    free(edges);
}

static struct partition_exchange exchange_of(const struct finding *f, uint32_t kind, const uint8_t *types)
{
    const struct partition_network *network = f->network;
    struct partition_exchange sum = {0};
    for (uint32_t i = 0; i < network->count; i++) {
        struct partition_exchange own = inside(f, kind, i, types[i]);
        partition_exchange_add(&sum, &own);
    }
    for (size_t i = 0; i < network->edge_count; i++) {
        const struct partition_edge *edge = &network->edges[i];
        struct partition_exchange own = between(f, kind, edge, types[edge->from], types[edge->to]);
        partition_exchange_add(&sum, &own);
    }
    return sum;
}

/* ---- levels ---- */

/* Seconds of computing of all layers, on all devices of each kind. */
static void sum_seconds(const struct partition_network *network, double seconds[PARTITION_KINDS])
{
    for (int kind = 0; kind < PARTITION_KINDS; kind++) {
        seconds[kind] = 0;
        for (uint32_t i = 0; i < network->count; i++)
            seconds[kind] += network->layers[i].seconds[kind];
    }
}

/* A group of each kind on level 0. */
static void set_sides(const struct finding *f, struct partition_side sides[PARTITION_KINDS])
{
    double seconds[PARTITION_KINDS];
    sum_seconds(f->network, seconds);
    for (uint32_t kind = 0; kind < f->devices->kinds; kind++)
        sides[kind] =
            (struct partition_side){seconds[kind], f->devices->fixed[kind], f->devices->bandwidth[0][kind][0]};
}

/* What has been found so far. */
struct best {
    double time;
    uint8_t *types; /* being tried */
    struct partition *partition;
};

/* Between kinds: types for the shares, shares for the types, and so on while that is shorter. */
static void descend(const struct finding *f, const struct pairwise_step *order, const struct partition_side *sides,
                    double *shares, struct best *best)
{
    const struct partition_devices *devices = f->devices;
    double least = INFINITY, bytes = devices->element_bytes;
    for (;;) {
        bool balanced;
        double time = 0;
        find_types(f, shares, order, best->types);
        struct partition_exchange exchange = exchange_of(f, 0, best->types);
        partition_shares(sides, devices->groups, devices->kinds, &exchange, bytes, shares, &balanced);
        for (uint32_t kind = 0; kind < devices->kinds; kind++)
            time = fmax(time, partition_side_time(&sides[kind], &exchange, bytes, shares[kind]));
        if (!(time < least))
            return;
        least = time;
        if (!(time < best->time))
            continue;
        best->time = time;
        memcpy(best->partition->level[0].shares, shares, devices->kinds * sizeof *shares);
        best->partition->balanced = balanced;
        memcpy(best->partition->level[0].types, best->types, f->network->count);
    }
}

/* The groups of the first kind have `first` of all together, the others the rest by their speeds. */
static void begin_shares(const struct finding *f, const struct partition_side *sides, double first, double *shares)
{
    double speeds = 0;
    for (uint32_t kind = 1; kind < f->devices->kinds; kind++)
        speeds += f->devices->groups[kind] / sides[kind].seconds;
    shares[0] = first / f->devices->groups[0];
    for (uint32_t kind = 1; kind < f->devices->kinds; kind++)
        shares[kind] = (1 - first) / sides[kind].seconds / speeds;
}

/* From several shares, as the types that are best for one may lead away from better ones. */
static void balance(const struct finding *f, const struct pairwise_step *order, struct partition *partition)
{
    struct best best = {INFINITY, array_zeroed(f->network->count, sizeof *best.types), partition};
    struct partition_side sides[PARTITION_KINDS];
    double shares[PARTITION_KINDS];
    set_sides(f, sides);
    partition_speeds(sides, f->devices->groups, f->devices->kinds, shares);
    descend(f, order, sides, shares, &best);
    for (int i = 1; i < STARTS; i++) {
        begin_shares(f, sides, (double)i / STARTS, shares);
        descend(f, order, sides, shares, &best);
    }
    free(best.types);
}

/* What is left of the layers to a group of this kind that has the share. */
static void divide(const struct finding *f, uint32_t kind, const uint8_t *types, double share)
{
    for (uint32_t i = 0; i < f->network->count; i++) {
        struct fraction *left = &f->left[kind][i];
        bool passive = f->network->layers[i].role == PARTITION_PASSIVE;
        left->parts[types[i]] *= f->devices->ways[f->level];
        if (types[i] == PARTITION_SAMPLES)
            left->samples *= share;
        if (types[i] == PARTITION_INPUTS || (passive && types[i] == PARTITION_OUTPUTS))
            left->inputs *= share;
        if (types[i] == PARTITION_OUTPUTS)
            left->outputs *= share;
    }
}

/* False where a layer cannot be divided. */
static bool take_level(struct finding *f, const struct pairwise_step *order, struct partition *partition)
{
    struct partition_level *level = &partition->level[f->level];
    bool apart = is_apart(f);
    f->groups = f->level == 0 ? 1 : f->devices->kinds;
    if (find_undivided(f) < f->network->count)
        return false;
    level->types = array_zeroed(f->network->count, sizeof *level->types);
    for (uint32_t kind = 0; kind < f->devices->kinds; kind++)
        level->shares[kind] = 1.0 / f->devices->ways[f->level];
    if (apart && f->method == PARTITION_ACCPAR)
        balance(f, order, partition);
    else
        find_types(f, level->shares, order, level->types);
    level->elements = exchange_of(f, 0, level->types);
    for (uint32_t kind = 0; kind < f->devices->kinds; kind++) {
        struct partition_exchange exchange = exchange_of(f, apart ? 0 : kind, level->types);
        double first = received(f, kind, 0, &exchange, level->shares[kind]);
        level->seconds[kind] = apart ? first : fmax(first, received(f, kind, 1, &exchange, level->shares[kind]));
    }
    for (uint32_t kind = 0; kind < f->devices->kinds; kind++)
        divide(f, kind, level->types, level->shares[kind]);
    return true;
}

static void begin(struct finding *f)
{
    for (int kind = 0; kind < PARTITION_KINDS; kind++) {
        f->left[kind] = array_zeroed(f->network->count, sizeof *f->left[kind]);
        for (uint32_t i = 0; i < f->network->count; i++)
            f->left[kind][i] = (struct fraction){1, 1, 1, {1, 1, 1}};
    }
}

uint32_t partition_find(const struct partition_network *network, const struct partition_devices *devices,
                        enum partition_method method, const struct pairwise_step *order, struct partition *partition)
{
    struct finding f = {.network = network, .devices = devices, .method = method};
    uint32_t undivided = network->count;
    *partition = (struct partition){.levels = devices->levels, .kinds = devices->kinds};
    begin(&f);
    while (f.level < devices->levels && take_level(&f, order, partition))
        f.level++;
    sum_seconds(network, partition->computing);
    for (uint32_t kind = 0; kind < devices->kinds; kind++)
        partition->computing[kind] =
            partition->computing[kind] * (devices->kinds > 1 ? partition->level[0].shares[kind] : 1) +
            devices->fixed[kind];
    if (f.level < devices->levels) {
        undivided = find_undivided(&f);
        partition_finish(partition);
    }
    for (int kind = 0; kind < PARTITION_KINDS; kind++)
        free(f.left[kind]);
    return undivided;
}

void partition_finish(struct partition *partition)
{
    for (uint32_t level = 0; level < partition->levels; level++)
        free(partition->level[level].types);
}

struct pairwise_step *partition_order(const struct partition_network *network)
{
    struct pairwise_edge *edges = array_zeroed(network->edge_count, sizeof *edges);
    for (size_t i = 0; i < network->edge_count; i++)
        edges[i] = (struct pairwise_edge){.from = network->edges[i].from, .to = network->edges[i].to};
    struct pairwise_step *order =
        pairwise_order(&(struct pairwise){.count = network->count, .edges = edges, .edge_count = network->edge_count});
    free(edges);
    return order;
}

double partition_seconds(const struct partition *partition)
{
    double longest = 0;
    for (uint32_t kind = 0; kind < partition->kinds; kind++) {
        double seconds = partition->computing[kind];
        for (uint32_t level = 0; level < partition->levels; level++)
            seconds += partition->level[level].seconds[kind];
        longest = fmax(longest, seconds);
    }
    return longest;
}
