/* SPDX-License-Identifier: Apache-2.0 */
/* The partition against the output of the authors' program on AlexNet (alexnet.csv, with its source), and against all
 * types tried on random chains. */
#include "studies/partition/partition.h"

#include "base/arena.h"
#include "studies/partition/shares.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALEXNET = 8, BATCH = 512, LEVELS = 7 };

static struct partition_layer convolution(double inputs, double outputs, double kernel, double map_in, double map_out)
{
    return (struct partition_layer){PARTITION_CONVOLUTION,
                                    inputs * outputs * kernel * kernel,
                                    BATCH * inputs * map_in * map_in,
                                    BATCH * outputs * map_out * map_out,
                                    {0},
                                    {0}};
}

static struct partition_layer dense(double inputs, double outputs)
{
    return (struct partition_layer){PARTITION_DENSE, inputs * outputs, BATCH * inputs, BATCH * outputs, {0}, {0}};
}

/* Joins layers to a chain, whose boundaries have the elements that the next layer reads. */
static struct partition_network chain(const struct partition_layer *layers, uint32_t count,
                                      struct partition_edge *edges)
{
    for (uint32_t i = 1; i < count; i++)
        edges[i - 1] = (struct partition_edge){i - 1, i, layers[i].inputs, false, false};
    return (struct partition_network){layers, count, edges, count - 1};
}

/* Devices whose groups receive an element in a second. */
static struct partition_devices elements_alone(uint32_t levels)
{
    struct partition_devices devices = {.levels = levels, .kinds = 1, .element_bytes = 1};
    for (uint32_t level = 0; level < levels; level++) {
        devices.bandwidth[level][0][0] = devices.bandwidth[level][0][1] = 1;
        devices.ways[level] = 2;
    }
    return devices;
}

/* A line of alexnet.csv: types and elements of a level. */
static void check_line(char *line, const struct partition *partitions)
{
    static const char *const methods[] = {"data", "owt", "hypar", "accpar"};
    int method = 0;
    char *rest = NULL, *word = strtok_r(line, ",", &rest);
    while (strcmp(word, methods[method]))
        method++;
    unsigned level = (unsigned)strtoul(strtok_r(NULL, ",", &rest), NULL, 10);
    const struct partition_level *found = &partitions[method].level[level];
    for (int i = 0; i < ALEXNET; i++)
        cr_assert_eq(found->types[i], strtoul(strtok_r(NULL, ",", &rest), NULL, 10), "%s, level %u, layer %d", word,
                     level, i);
    cr_assert_eq(found->seconds[0], strtod(strtok_r(NULL, ",", &rest), NULL), "%s, level %u: %.0f", word, level,
                 found->seconds[0]);
}

Test(partition, alexnet)
{
    /* The shapes of the authors' network file. */
    const struct partition_layer layers[ALEXNET] = {convolution(3, 96, 11, 224, 55),
                                                    convolution(96, 256, 5, 55, 27),
                                                    convolution(256, 384, 3, 27, 13),
                                                    convolution(384, 384, 3, 13, 13),
                                                    convolution(384, 256, 3, 13, 6),
                                                    dense(9216, 4096),
                                                    dense(4096, 4096),
                                                    dense(4096, 1000)};
    struct partition_edge edges[ALEXNET];
    struct partition_network network = chain(layers, ALEXNET, edges);
    struct partition_devices devices = elements_alone(LEVELS);
    struct pairwise_step *order = partition_order(&network);
    struct partition partitions[4];
    int lines = 0;
    char line[200];
    for (unsigned method = 0; method < 4; method++)
        partition_find(&network, &devices, method, order, &partitions[method]);
    FILE *file = fopen(SOURCE_ROOT "/test/studies/partition/alexnet.csv", "r");
    cr_assert_not_null(file);
    while (fgets(line, sizeof line, file))
        if (*line != '#' && strncmp(line, "strategy", 8)) {
            check_line(line, partitions);
            lines++;
        }
    fclose(file);
    cr_assert_eq(lines, 4 * LEVELS);
    for (int method = 0; method < 4; method++)
        partition_finish(&partitions[method]);
    free(order);
}

/* ---- all types tried ---- */

enum { LAYERS = 7 };

static double unit(void)
{
    return rand() / (RAND_MAX + 1.0);
}

struct drawn {
    struct partition_layer layers[LAYERS];
    struct partition_edge edges[LAYERS];
    struct partition_network network;
    struct partition_devices devices;
};

static void draw(struct drawn *drawn, uint32_t kinds)
{
    uint32_t count = 1 + (uint32_t)rand() % LAYERS;
    for (uint32_t i = 0; i < count; i++)
        drawn->layers[i] = (struct partition_layer){PARTITION_DENSE,
                                                    exp(10 * unit()),
                                                    exp(10 * unit()),
                                                    exp(10 * unit()),
                                                    {exp(4 * unit()) * 1e3, exp(4 * unit()) * 1e3},
                                                    {0}};
    drawn->network = chain(drawn->layers, count, drawn->edges);
    drawn->devices = (struct partition_devices){.levels = 2,
                                                .kinds = kinds,
                                                .ways = {2, 2},
                                                .groups = {1, 1},
                                                .element_bytes = 2,
                                                .fixed = {100 * unit(), 100 * unit()}};
    for (int level = 0; level < 2; level++)
        for (int kind = 0; kind < 2; kind++)
            for (int side = 0; side < 2; side++)
                drawn->devices.bandwidth[level][kind][side] = exp(2 * unit());
    if (kinds > 1)
        drawn->devices.bandwidth[0][1][0] = drawn->devices.bandwidth[0][0][1];
}

/* What is left to a group of a layer's three sizes. */
struct sizes {
    double samples, inputs, outputs;
};

/* Elements that a group with this share receives, from the paper's tables. */
static double elements_of(const struct partition_network *network, const uint8_t *types, const struct sizes *left,
                          double a)
{
    const double b = 1 - a;
    const double between[3][3] = {{0, 2 * a * b, b}, {b, b, 0}, {2 * a * b, 0, b}};
    double sum = 0;
    for (uint32_t i = 0; i < network->count; i++) {
        const struct partition_layer *layer = &network->layers[i];
        double inside[] = {layer->weights * left[i].inputs * left[i].outputs,
                           layer->outputs * left[i].samples * left[i].outputs,
                           layer->inputs * left[i].samples * left[i].inputs};
        sum += inside[types[i]];
        if (i)
            sum += between[types[i - 1]][types[i]] * inside[2];
    }
    return sum;
}

static void shrink(struct sizes *left, const uint8_t *types, uint32_t count, double share)
{
    for (uint32_t i = 0; i < count; i++)
        *(types[i] == 0 ? &left[i].samples : types[i] == 1 ? &left[i].inputs : &left[i].outputs) *= share;
}

/* Mean seconds of both groups of a pair. */
static double pair_seconds(const struct drawn *drawn, int level, int kind, const uint8_t *types,
                           const struct sizes *left, double share)
{
    const double *bandwidth = drawn->devices.bandwidth[level][kind];
    return elements_of(&drawn->network, types, left, share) * 2 / bandwidth[0] / 2 +
           elements_of(&drawn->network, types, left, 1 - share) * 2 / bandwidth[1] / 2;
}

/* Calls what is done with each of 3^N sets of types; its least value. */
static double least_of(const struct drawn *drawn, double (*value)(const struct drawn *, const uint8_t *, void *),
                       void *user)
{
    uint32_t all = (uint32_t)pow(3, drawn->network.count);
    double least = INFINITY;
    for (uint32_t number = 0; number < all; number++) {
        uint8_t types[LAYERS];
        uint32_t rest = number;
        for (uint32_t i = 0; i < drawn->network.count; i++, rest /= 3)
            types[i] = (uint8_t)(rest % 3);
        least = fmin(least, value(drawn, types, user));
    }
    return least;
}

struct level_groups {
    int level, groups;
    struct sizes left[2][LAYERS];
    double share;
};

static double level_value(const struct drawn *drawn, const uint8_t *types, void *user)
{
    const struct level_groups *at = user;
    double sum = 0;
    for (int kind = 0; kind < at->groups; kind++)
        sum += pair_seconds(drawn, at->level, kind, types, at->left[kind], at->share) / at->groups;
    return sum;
}

/* Both levels, the second one with what the first one's types and shares leave; with two kinds the groups of the second
 * level are unequal. */
static void check_types(const struct drawn *drawn, const struct partition *partition)
{
    uint32_t count = drawn->network.count, kinds = drawn->devices.kinds;
    struct level_groups at = {.groups = 1};
    for (int kind = 0; kind < 2; kind++)
        for (uint32_t i = 0; i < count; i++)
            at.left[kind][i] = (struct sizes){1, 1, 1};
    for (at.level = 0; at.level < 2; at.level++) {
        const struct partition_level *level = &partition->level[at.level];
        at.share = level->shares[0];
        double least = least_of(drawn, level_value, &at), own = level_value(drawn, level->types, &at);
        if (kinds == 1 || at.level == 1)
            cr_assert_float_eq(own, least, 1e-9 * least);
        for (uint32_t kind = 0; kind < kinds; kind++)
            shrink(at.left[kind], level->types, count, kind && kinds == 2 ? 1 - at.share : at.share);
        at.groups = (int)kinds;
    }
}

static void find(const struct drawn *drawn, struct partition *partition)
{
    struct pairwise_step *order = partition_order(&drawn->network);
    partition_find(&drawn->network, &drawn->devices, PARTITION_ACCPAR, order, partition);
    free(order);
}

Test(partition, equal_groups_against_all_types)
{
    srand(7);
    for (int round = 0; round < 300; round++) {
        struct drawn drawn;
        struct partition partition;
        draw(&drawn, 1);
        find(&drawn, &partition);
        check_types(&drawn, &partition);
        partition_finish(&partition);
    }
}

/* ---- unequal groups ---- */

/* Time of the longer group, at the share for which a bisection finds both equal; the share of the speeds where there is
 * none between 0 and 1. */
static double longer(const struct drawn *drawn, const uint8_t *types, double share)
{
    double first = drawn->devices.fixed[0], second = drawn->devices.fixed[1];
    struct sizes left[LAYERS];
    for (uint32_t i = 0; i < drawn->network.count; i++) {
        left[i] = (struct sizes){1, 1, 1};
        first += share * drawn->layers[i].seconds[0];
        second += (1 - share) * drawn->layers[i].seconds[1];
    }
    first += elements_of(&drawn->network, types, left, share) * 2 / drawn->devices.bandwidth[0][0][0];
    second += elements_of(&drawn->network, types, left, 1 - share) * 2 / drawn->devices.bandwidth[0][0][1];
    return first - second;
}

static double time_of(const struct drawn *drawn, const uint8_t *types, double share)
{
    struct level_groups at = {.share = share};
    double sum = drawn->devices.fixed[0] + drawn->devices.fixed[1];
    for (uint32_t i = 0; i < drawn->network.count; i++) {
        at.left[0][i] = (struct sizes){1, 1, 1};
        sum += share * drawn->layers[i].seconds[0] + (1 - share) * drawn->layers[i].seconds[1];
    }
    return sum / 2 + pair_seconds(drawn, 0, 0, types, at.left[0], share) + fabs(longer(drawn, types, share)) / 2;
}

static double balanced_value(const struct drawn *drawn, const uint8_t *types, void *user)
{
    double low = 0, high = 1;
    (void)user;
    if (!(longer(drawn, types, 0) < 0 && longer(drawn, types, 1) > 0))
        return INFINITY;
    for (int i = 0; i < 60; i++)
        *(longer(drawn, types, (low + high) / 2) < 0 ? &low : &high) = (low + high) / 2;
    return time_of(drawn, types, low);
}

/* With every set of types its own share: the search does not try them all, and may miss the best set by little. */
Test(partition, unequal_groups_against_all_types)
{
    int best = 0, rounds = 300;
    srand(11);
    for (int round = 0; round < rounds; round++) {
        struct drawn drawn;
        struct partition partition;
        draw(&drawn, 2);
        find(&drawn, &partition);
        const struct partition_level *level = &partition.level[0];
        if (partition.balanced)
            cr_assert_float_eq(longer(&drawn, level->types, level->shares[0]), 0,
                               1e-12 * time_of(&drawn, level->types, level->shares[0]));
        check_types(&drawn, &partition);
        double least = least_of(&drawn, balanced_value, NULL), own = time_of(&drawn, level->types, level->shares[0]);
        cr_assert_leq(own, 1.02 * least, "round %d: %g, not %g", round, own, least);
        best += own <= least * (1 + 1e-9);
        partition_finish(&partition);
    }
    cr_assert_geq(best, rounds * 95 / 100, "%d of %d", best, rounds);
}

/* Without communication the share is that of the speeds: 420 and 180 Tflop/s give 0.7. */
Test(partition, share_of_speeds)
{
    const struct partition_side sides[] = {{1 / 420.0, 0, 1}, {1 / 180.0, 0, 1}};
    bool balanced = false;
    double share = partition_share(sides, &(struct partition_exchange){0}, 2, &balanced);
    cr_assert_float_eq(share, 0.7, 1e-15);
    cr_assert(balanced);
}

/* Data of the first group alone take a second, of the second group a thousand: no share makes up for that. */
Test(partition, share_without_balance)
{
    const struct partition_side sides[] = {{1, 0, 1000}, {1, 0, 1}};
    bool balanced = true;
    double share = partition_share(sides, &(struct partition_exchange){.whole = 1000}, 1, &balanced);
    cr_assert_eq(share, 0.5);
    cr_assert_not(balanced);
}

/* Of all shares on a grid none has a shorter longest time. */
Test(partition, shares_of_kinds_against_a_grid)
{
    enum { STEPS = 120 };
    int balances = 0, rounds = 400;
    srand(3);
    for (int round = 0; round < rounds; round++) {
        struct partition_side sides[3];
        uint32_t groups[3];
        for (int k = 0; k < 3; k++) {
            sides[k] = (struct partition_side){exp(2 * unit()), unit(), exp(2 * unit())};
            groups[k] = 1 + (uint32_t)rand() % 3;
        }
        const struct partition_exchange exchange = {2 * unit(), rand() % 2 * 8 * unit(), rand() % 2 * 4 * unit()};
        double shares[3], least = INFINITY, own = 0, sum = 0;
        bool balanced;
        partition_shares(sides, groups, 3, &exchange, 1, shares, &balanced);
        for (int k = 0; k < 3; k++) {
            own = fmax(own, partition_side_time(&sides[k], &exchange, 1, shares[k]));
            sum += groups[k] * shares[k];
        }
        for (int a = 0; a <= STEPS; a++)
            for (int b = 0; a + b <= STEPS; b++) {
                const int part[] = {a, b, STEPS - a - b};
                double time = 0;
                for (int k = 0; k < 3; k++)
                    time =
                        fmax(time, partition_side_time(&sides[k], &exchange, 1, (double)part[k] / STEPS / groups[k]));
                least = fmin(least, time);
            }
        cr_assert_float_eq(sum, 1, 1e-9, "round %d: %g", round, sum);
        bool speeds = !balanced && own > least; /* a kind would have nothing */
        cr_assert(speeds || own <= least * (1 + 1e-9), "round %d: %g, on the grid %g", round, own, least);
        balances += balanced;
    }
    cr_assert_geq(balances, rounds / 2, "%d of %d", balances, rounds);
}

/* As many groups of two kinds as of three, of which two are alike, and the closed form of two. */
Test(partition, shares_of_kinds_that_are_alike)
{
    const struct partition_side sides[] = {{3, 0.1, 2}, {5, 0.3, 1}, {5, 0.3, 1}};
    const struct partition_exchange exchange = {0.1, 0.2, 0.3};
    const uint32_t two[] = {2, 2}, three[] = {2, 1, 1};
    double shares[3], others[3];
    bool balanced;
    partition_shares(sides, two, 2, &exchange, 1, shares, &balanced);
    cr_assert(balanced);
    partition_shares(sides, three, 3, &exchange, 1, others, &balanced);
    for (int k = 0; k < 3; k++)
        cr_assert_float_eq(others[k], shares[k ? 1 : 0], 1e-9);
}

/* Four samples and eight inputs and outputs: of eight parts a layer has at most four by samples. Where only samples may
 * be divided, three levels are too many, and the layer that cannot follow is named. */
Test(partition, parts_at_most)
{
    struct partition_layer layers[] = {dense(8, 8), dense(8, 8)};
    struct partition_edge edges[2];
    for (int i = 0; i < 2; i++) {
        const uint64_t most[PARTITION_TYPES] = {i ? 4 : 8, 2, 2};
        memcpy(layers[i].most, most, sizeof most);
        layers[i].weights = 1e-3; /* samples would always be best */
    }
    struct partition_network network = chain(layers, 2, edges);
    struct partition_devices devices = elements_alone(3);
    struct pairwise_step *order = partition_order(&network);
    struct partition partition;
    cr_assert_eq(partition_find(&network, &devices, PARTITION_DATA, order, &partition), 1);
    cr_assert_eq(partition_find(&network, &devices, PARTITION_ACCPAR, order, &partition), 2);
    int samples[2] = {0, 0};
    for (int level = 0; level < 3; level++)
        for (int i = 0; i < 2; i++)
            samples[i] += partition.level[level].types[i] == PARTITION_SAMPLES;
    cr_assert_eq(samples[0], 3);
    cr_assert_eq(samples[1], 2);
    partition_finish(&partition);
    free(order);
}

/* Two layers with unlike best types: with the same weights they have one type, the better one for both. */
Test(partition, tied_layers)
{
    struct partition_layer layers[] = {dense(1000, 8), dense(8, 8)};
    layers[0].weights = 1;
    layers[1].weights = 1e9;
    struct partition_edge edges[2];
    struct partition_network network = chain(layers, 2, edges);
    struct partition_devices devices = elements_alone(1);
    struct partition partition;
    for (int tied = 0; tied < 2; tied++) {
        edges[0].elements = 0;
        edges[0].tied = tied;
        struct pairwise_step *order = partition_order(&network);
        cr_assert_eq(partition_find(&network, &devices, PARTITION_ACCPAR, order, &partition), 2);
        cr_assert_eq(partition.level[0].types[0], tied ? PARTITION_INPUTS : PARTITION_SAMPLES);
        cr_assert_eq(partition.level[0].types[1], PARTITION_INPUTS);
        partition_finish(&partition);
        free(order);
    }
}
