/* SPDX-License-Identifier: Apache-2.0 */
/* The elimination against all choices tried, on random chains and graphs. Costs are small integers, so that there are
 * equal sums, and sums are exact. */
#include "studies/partition/pairwise.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 8, EDGES = 28 };

struct drawn {
    double costs[NODES][PAIRWISE_CHOICES];
    struct pairwise_edge edges[EDGES];
    struct pairwise sum;
};

static void add_edge(struct drawn *drawn, uint32_t from, uint32_t to)
{
    struct pairwise_edge *edge = &drawn->edges[drawn->sum.edge_count++];
    edge->from = from;
    edge->to = to;
    for (int i = 0; i < PAIRWISE_CHOICES; i++)
        for (int k = 0; k < PAIRWISE_CHOICES; k++)
            edge->costs[i][k] = rand() % 20;
}

/* A chain, and `more` edges beside it. */
static void draw(struct drawn *drawn, uint32_t count, uint32_t more)
{
    *drawn = (struct drawn){.sum = {.count = count}};
    drawn->sum.costs = (const double(*)[PAIRWISE_CHOICES])drawn->costs;
    drawn->sum.edges = drawn->edges;
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < PAIRWISE_CHOICES; k++)
            drawn->costs[i][k] = rand() % 8 ? rand() % 20 : k ? INFINITY : 0;
    for (uint32_t i = 1; i < count; i++)
        add_edge(drawn, i - 1, i);
    for (; more && count > 1; more--) {
        uint32_t from = (uint32_t)rand() % count, to = (uint32_t)rand() % count;
        if (from != to)
            add_edge(drawn, from, to);
    }
}

static double evaluate(const struct pairwise *sum, const uint8_t *choices)
{
    double result = 0;
    for (uint32_t i = 0; i < sum->count; i++)
        result += sum->costs[i][choices[i]];
    for (size_t i = 0; i < sum->edge_count; i++)
        result += sum->edges[i].costs[choices[sum->edges[i].from]][choices[sum->edges[i].to]];
    return result;
}

/* The least of all sums. */
static double try_all(const struct pairwise *sum)
{
    uint32_t all = 1;
    double least = INFINITY;
    for (uint32_t i = 0; i < sum->count; i++)
        all *= PAIRWISE_CHOICES;
    for (uint32_t number = 0; number < all; number++) {
        uint8_t choices[NODES];
        uint32_t rest = number;
        for (uint32_t i = 0; i < sum->count; i++, rest /= PAIRWISE_CHOICES)
            choices[i] = (uint8_t)(rest % PAIRWISE_CHOICES);
        least = fmin(least, evaluate(sum, choices));
    }
    return least;
}

static void compare(uint32_t more)
{
    srand(5);
    for (int round = 0; round < 300; round++) {
        struct drawn drawn;
        uint8_t choices[NODES];
        draw(&drawn, 1 + (uint32_t)rand() % NODES, more);
        struct pairwise_step *order = pairwise_order(&drawn.sum);
        double least = pairwise_minimize(&drawn.sum, order, choices);
        cr_assert_eq(least, try_all(&drawn.sum), "round %d", round);
        cr_assert_eq(evaluate(&drawn.sum, choices), least, "round %d", round);
        free(order);
    }
}

Test(pairwise, chains)
{
    compare(0);
}

Test(pairwise, graphs)
{
    compare(5);
    compare(20);
}

/* All sums are equal: every node has its first choice. */
Test(pairwise, equal_sums)
{
    double costs[3][PAIRWISE_CHOICES] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
    struct pairwise_edge edges[] = {{.from = 0, .to = 1}, {.from = 1, .to = 2}};
    struct pairwise sum = {3, (const double(*)[PAIRWISE_CHOICES])costs, edges, 2};
    struct pairwise_step *order = pairwise_order(&sum);
    uint8_t choices[] = {2, 2, 2};
    cr_assert_eq(pairwise_minimize(&sum, order, choices), 3);
    cr_assert_eq(choices[0] + choices[1] + choices[2], 0);
    free(order);
}

/* Eleven nodes, each beside each other one: the first one's table would be over ten. */
Test(pairwise, too_wide)
{
    enum { CLIQUE = PAIRWISE_WIDTH + 2 };
    static struct pairwise_edge edges[CLIQUE * CLIQUE];
    struct pairwise sum = {.edges = edges};
    for (uint32_t i = 0; i < CLIQUE; i++)
        for (uint32_t k = 0; k < i; k++)
            edges[sum.edge_count++] = (struct pairwise_edge){.from = i, .to = k};
    sum.count = CLIQUE;
    cr_assert_null(pairwise_order(&sum));
    sum.edge_count = (CLIQUE - 1) * (CLIQUE - 2) / 2;
    struct pairwise_step *order = pairwise_order(&sum);
    cr_assert_not_null(order);
    free(order);
}

/* A chain of ten thousand nodes needs tables over one node each. */
Test(pairwise, long_chain)
{
    enum { LONG = 10000 };
    static struct pairwise_edge edges[LONG - 1];
    struct pairwise sum = {.count = LONG, .edges = edges, .edge_count = LONG - 1};
    for (uint32_t i = 0; i < LONG - 1; i++)
        edges[i] = (struct pairwise_edge){.from = i, .to = i + 1};
    struct pairwise_step *order = pairwise_order(&sum);
    for (uint32_t i = 0; i < LONG; i++)
        cr_assert_eq(order[i].node, i);
    for (uint32_t i = 0; i < LONG - 1; i++)
        cr_assert_eq(order[i].size, 1);
    free(order);
}
