/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/partition/partition.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STARTS = 16 };

/* Which parts of a layer a group still has, after the levels above. */
struct fraction {
    double samples, inputs, outputs;
    uint32_t halved[PARTITION_TYPES]; /* how often by each type */
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
    return partition_exchange_inside(type, layer->weights * left->inputs * left->outputs,
                                     layer->inputs * left->samples * left->inputs,
                                     layer->outputs * left->samples * left->outputs);
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

/* Seconds that each of the two groups of a pair needs to receive them. */
static double received(const struct finding *f, uint32_t kind, uint32_t side, const struct partition_exchange *exchange,
                       double share)
{
    return partition_exchange_elements(exchange, side ? 1 - share : share) * f->devices->element_bytes /
           f->devices->bandwidth[f->level][kind][side];
}

/* Of both groups of a pair in the mean. */
static double mean_seconds(const struct finding *f, uint32_t kind, const struct partition_exchange *exchange,
                           double share)
{
    return (received(f, kind, 0, exchange, share) + received(f, kind, 1, exchange, share)) / 2;
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
    uint64_t parts = 2ull << f->left[0][index].halved[type];
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

static void fill_layers(const struct finding *f, double share, double (*costs)[PAIRWISE_CHOICES])
{
    for (uint32_t i = 0; i < f->network->count; i++)
        for (unsigned type = 0; type < PARTITION_TYPES; type++) {
            costs[i][type] = allows(f, i, type) ? 0 : INFINITY;
            for (uint32_t kind = 0; kind < f->groups; kind++) {
                struct partition_exchange exchange = inside(f, kind, i, type);
                costs[i][type] += mean_seconds(f, kind, &exchange, share) / f->groups;
            }
        }
}

static void fill_edge(const struct finding *f, double share, const struct partition_edge *edge,
                      struct pairwise_edge *costs)
{
    *costs = (struct pairwise_edge){.from = edge->from, .to = edge->to};
    for (unsigned from = 0; from < PARTITION_TYPES; from++)
        for (unsigned to = 0; to < PARTITION_TYPES; to++) {
            costs->costs[from][to] = edge->tied && from != to ? INFINITY : 0;
            for (uint32_t kind = 0; kind < f->groups; kind++) {
                struct partition_exchange exchange = between(f, kind, edge, from, to);
                costs->costs[from][to] += mean_seconds(f, kind, &exchange, share) / f->groups;
            }
        }
}

/* The best types while the share is fixed: computing is the same with all of them. */
static void find_types(const struct finding *f, double share, const struct pairwise_step *order, uint8_t *types)
{
    const struct partition_network *network = f->network;
    double(*costs)[PAIRWISE_CHOICES] = array_zeroed(network->count, sizeof *costs);
    struct pairwise_edge *edges = array_zeroed(network->edge_count, sizeof *edges);
    struct pairwise sum = {network->count, (const double(*)[PAIRWISE_CHOICES])costs, edges, network->edge_count};
    fill_layers(f, share, costs);
    for (size_t i = 0; i < network->edge_count; i++)
        fill_edge(f, share, &network->edges[i], &edges[i]);
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

/* ---- shares ---- */

/* The polynomial that is 0 at the wanted share: first group's time less the second's. */
struct difference {
    double constant, linear, square;
};

static struct difference difference_of(const struct partition_side sides[2], const struct partition_exchange *exchange,
                                       double element_bytes)
{
    double first = element_bytes / sides[0].bandwidth, second = element_bytes / sides[1].bandwidth;
    return (struct difference){.constant = exchange->whole * (first - second) + exchange->other * first +
                                           sides[0].fixed - sides[1].fixed - sides[1].seconds,
                               .linear = sides[0].seconds + sides[1].seconds + exchange->product * (first - second) -
                                         exchange->other * (first + second),
                               .square = -exchange->product * (first - second)};
}

/* Its roots, without loss of digits where one is small; how many. */
static int roots_of(const struct difference *d, double roots[2])
{
    if (d->square == 0) {
        roots[0] = -d->constant / d->linear;
        return d->linear != 0;
    }
    double discriminant = d->linear * d->linear - 4 * d->square * d->constant;
    if (discriminant < 0)
        return 0;
    double q = -(d->linear + copysign(sqrt(discriminant), d->linear)) / 2;
    roots[0] = q / d->square;
    roots[1] = d->constant / q;
    return q != 0 ? 2 : 1;
}

/* Of a group with this share. */
static double side_time(const struct partition_side *side, const struct partition_exchange *exchange,
                        double element_bytes, double share)
{
    return share * side->seconds + side->fixed +
           partition_exchange_elements(exchange, share) * element_bytes / side->bandwidth;
}

double partition_share(const struct partition_side sides[2], const struct partition_exchange *exchange,
                       double element_bytes, bool *balanced)
{
    struct difference d = difference_of(sides, exchange, element_bytes);
    double roots[2], best = sides[1].seconds / (sides[0].seconds + sides[1].seconds), least = INFINITY;
    int count = roots_of(&d, roots);
    for (int i = 0; i < count; i++) {
        double time = side_time(&sides[0], exchange, element_bytes, roots[i]);
        if (roots[i] > 0 && roots[i] < 1 && time < least) {
            least = time;
            best = roots[i];
        }
    }
    *balanced = least < INFINITY;
    return best;
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

/* The two groups of level 0. */
static void set_sides(const struct finding *f, struct partition_side sides[2])
{
    double seconds[PARTITION_KINDS];
    sum_seconds(f->network, seconds);
    for (int kind = 0; kind < PARTITION_KINDS; kind++)
        sides[kind] =
            (struct partition_side){seconds[kind], f->devices->fixed[kind], f->devices->bandwidth[0][0][kind]};
}

/* What has been found so far. */
struct best {
    double time;
    uint8_t *types; /* being tried */
    struct partition *partition;
};

/* Between two kinds: types for the share, the share for the types, and so on while that is shorter. */
static void descend(const struct finding *f, const struct pairwise_step *order, const struct partition_side *sides,
                    double share, struct best *best)
{
    double least = INFINITY, bytes = f->devices->element_bytes;
    for (;;) {
        bool balanced;
        find_types(f, share, order, best->types);
        struct partition_exchange exchange = exchange_of(f, 0, best->types);
        share = partition_share(sides, &exchange, bytes, &balanced);
        double time =
            fmax(side_time(&sides[0], &exchange, bytes, share), side_time(&sides[1], &exchange, bytes, 1 - share));
        if (!(time < least))
            return;
        least = time;
        if (!(time < best->time))
            continue;
        best->time = time;
        best->partition->level[0].share = share;
        best->partition->balanced = balanced;
        memcpy(best->partition->level[0].types, best->types, f->network->count);
    }
}

/* From several shares, as the types that are best for one may lead away from better ones. */
static void balance(const struct finding *f, const struct pairwise_step *order, struct partition *partition)
{
    struct best best = {INFINITY, array_zeroed(f->network->count, sizeof *best.types), partition};
    struct partition_side sides[2];
    set_sides(f, sides);
    descend(f, order, sides, sides[1].seconds / (sides[0].seconds + sides[1].seconds), &best);
    for (int i = 1; i < STARTS; i++)
        descend(f, order, sides, (double)i / STARTS, &best);
    free(best.types);
}

/* What is left of the layers to a group of this kind that has the share. */
static void divide(const struct finding *f, uint32_t kind, const uint8_t *types, double share)
{
    for (uint32_t i = 0; i < f->network->count; i++) {
        struct fraction *left = &f->left[kind][i];
        bool passive = f->network->layers[i].role == PARTITION_PASSIVE;
        left->halved[types[i]]++;
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
    bool kinds = f->level == 0 && f->devices->kinds > 1;
    f->groups = f->level == 0 ? 1 : f->devices->kinds;
    if (find_undivided(f) < f->network->count)
        return false;
    level->types = array_zeroed(f->network->count, sizeof *level->types);
    level->share = 0.5;
    if (kinds && f->method == PARTITION_ACCPAR)
        balance(f, order, partition);
    else
        find_types(f, level->share, order, level->types);
    level->elements = exchange_of(f, 0, level->types);
    for (uint32_t kind = 0; kind < f->devices->kinds; kind++) {
        struct partition_exchange exchange = exchange_of(f, kinds ? 0 : kind, level->types);
        level->seconds[kind] =
            kinds ? received(f, 0, kind, &exchange, level->share)
                  : fmax(received(f, kind, 0, &exchange, level->share), received(f, kind, 1, &exchange, level->share));
    }
    for (uint32_t kind = 0; kind < f->devices->kinds; kind++)
        divide(f, kind, level->types, kind && kinds ? 1 - level->share : level->share);
    return true;
}

static void begin(struct finding *f)
{
    for (int kind = 0; kind < PARTITION_KINDS; kind++) {
        f->left[kind] = array_zeroed(f->network->count, sizeof *f->left[kind]);
        for (uint32_t i = 0; i < f->network->count; i++)
            f->left[kind][i] = (struct fraction){1, 1, 1, {0}};
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
    if (devices->kinds > 1) {
        partition->computing[0] *= partition->level[0].share;
        partition->computing[1] *= 1 - partition->level[0].share;
    }
    for (int kind = 0; kind < PARTITION_KINDS; kind++)
        partition->computing[kind] += devices->fixed[kind];
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
