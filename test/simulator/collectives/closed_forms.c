/* SPDX-License-Identifier: Apache-2.0 */
/* Times of collectives against formulas of the literature, written down here once more. */
#include "simulator/collectives/algorithm.h"
#include "simulator/program/program.h"
#include "test/support/shapes.h"
#include "test/support/steps_evaluate.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_TIMED = 64 };

static const struct collective_costs costs = {3e-6, 1e-9, 2e-10, 1e-6, 2e-10};

static double log2_up(uint32_t ranks)
{
    return ceil(log2(ranks));
}

/* All-reduce, reduce-scatter or all-gather by a ring. */
static double ring_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    double p = shape->ranks;
    double turns = kind == STAGESIM_ALL_REDUCE || kind == STAGESIM_BARRIER ? 2 : 1,
           reduces = kind != STAGESIM_ALL_GATHER;
    return turns * (p - 1) * costs.alpha + turns * (p - 1) / p * S * costs.beta +
           reduces * (p - 1) / p * S * costs.gamma;
}

static double halving_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    uint32_t p = shape->ranks;
    double log = floor(log2(p)), q = pow(2, log), data = (q - 1) / q * S;
    double spare = p > q ? 2 * (costs.alpha + S * costs.beta) + S * costs.gamma : 0;
    if (kind == STAGESIM_ALL_REDUCE)
        return 2 * log * costs.alpha + 2 * data * costs.beta + data * costs.gamma + spare;
    return log * costs.alpha + data * (costs.beta + (kind == STAGESIM_REDUCE_SCATTER ? costs.gamma : 0));
}

static double hierarchical_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    double g = shape->node_size, k = shape->ranks / g, turns = kind == STAGESIM_ALL_REDUCE ? 2 : 1;
    double moved = turns * ((g - 1) / g * S * costs.node_beta + (k - 1) / k * (S / g) * costs.beta);
    double reduced = kind == STAGESIM_ALL_GATHER ? 0 : ((g - 1) / g * S + (k - 1) / k * S / g) * costs.gamma;
    return moved + reduced + turns * ((g - 1) * costs.node_alpha + (k - 1) * costs.alpha);
}

static double bruck_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    (void)kind;
    uint32_t p = shape->ranks;
    double sum = 0; /* for powers of two: log2 p (alpha + S/2 beta) */
    for (uint32_t bit = 1; bit < p; bit *= 2) {
        uint32_t moved = 0;
        for (uint32_t distance = 0; distance < p; distance++)
            moved += (distance & bit) != 0;
        sum += costs.alpha + S * moved / p * costs.beta;
    }
    return sum;
}

/* Equal dimensions only: all parts are in step. NaN otherwise. */
static double torus_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    (void)kind;
    double X = 0, count = 0, left = S;
    for (int i = 0; i < TORUS_DIMENSIONS; i++) {
        double size = shape->dimensions[i];
        if (size > 1 && X > 0 && size != X)
            return NAN;
        X = size > 1 ? size : X;
        count += size > 1;
    }
    double sum = 0;
    left /= 2 * count;
    for (int i = 0; i < count; i++, left /= X)
        sum += 2 * ((X - 1) * costs.alpha + (X - 1) / X * left * costs.beta) + (X - 1) / X * left * costs.gamma;
    return sum;
}

static double recursive_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    uint32_t p = shape->ranks;
    double down = floor(log2(p)), whole = costs.alpha + S * costs.beta;
    if (kind == STAGESIM_ALL_GATHER)
        return log2_up(p) * costs.alpha + (p - 1.0) / p * S * costs.beta;
    return down * (whole + S * costs.gamma) + (log2_up(p) > down ? 2 * whole + S * costs.gamma : 0);
}

static double tree_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    (void)kind;
    return shape->ranks < 4 ? NAN : 2 * log2_up(shape->ranks) * costs.alpha + 2 * S * costs.beta;
}

static double binomial_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    return log2_up(shape->ranks) * (costs.alpha + S * (costs.beta + (kind == STAGESIM_REDUCE ? costs.gamma : 0)));
}

static double chain_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    return (shape->ranks - 2 + 16) *
           (costs.alpha + S / 16 * (costs.beta + (kind == STAGESIM_REDUCE ? costs.gamma : 0)));
}

static double pairs_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    (void)kind;
    return (shape->ranks - 1) * (costs.alpha + S / shape->ranks * costs.beta);
}

/* One message: send-receive, and a switch that adds and multiplies. */
static double once_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    (void)kind, (void)shape;
    return costs.alpha + S * costs.beta;
}

/* Within nodes S + S/g pass each port, between them each of the two trees has half of S/g. */
static double switch_tree_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    (void)kind;
    double g = shape->node_size, k = shape->ranks / g;
    double load = fmin(k / 2, 2); /* a node's part in both trees: 1, 3/2, 2 */
    return costs.node_alpha + 2 * log2_up((uint32_t)k) * costs.alpha +
           fmax((1 + 1 / g) * S * costs.node_beta, load * S / g * costs.beta);
}

static double bruck_gather_formula(enum stagesim_collective kind, const struct collective_shape *shape, double S)
{
    (void)kind;
    return log2_up(shape->ranks) * costs.alpha + (shape->ranks - 1.0) / shape->ranks * S * costs.beta;
}

/* What each algorithm is held to, for ranks with one port each. A formula that is NaN: none for this shape. */
struct reference {
    const char *algorithm;
    uint32_t kinds;
    double (*seconds)(enum stagesim_collective kind, const struct collective_shape *shape, double S);
};

static const struct reference references[] = {
    {"ring", ~0u, ring_formula},
    {"ring", KIND(STAGESIM_BROADCAST) | KIND(STAGESIM_REDUCE), chain_formula},
    {"double-tree", ~0u, tree_formula},
    {"in-network", ~0u, once_formula},
    {"switch-tree", ~0u, switch_tree_formula},
    {"torus", ~0u, torus_formula},
    {"recursive-doubling", ~0u, recursive_formula},
    {"halving-doubling", ~0u, halving_formula},
    {"hierarchical", ~0u, hierarchical_formula},
    {"chain", ~0u, chain_formula},
    {"binomial", ~0u, binomial_formula},
    {"direct", KIND(STAGESIM_ALL_TO_ALL), pairs_formula},
    {"direct", KIND(STAGESIM_SEND_RECEIVE), once_formula},
    {"pairwise", ~0u, pairs_formula},
    {"bruck", KIND(STAGESIM_ALL_GATHER), bruck_gather_formula},
    {"bruck", KIND(STAGESIM_ALL_TO_ALL), bruck_formula},
};

enum { REFERENCES = sizeof references / sizeof *references };

/* An algorithm without one is a failure. */
static double formula(const struct collective_algorithm *algorithm, const struct collective_shape *shape,
                      enum stagesim_collective kind, double S)
{
    const struct reference *found = NULL;
    for (size_t i = 0; i < REFERENCES; i++)
        if (!strcmp(references[i].algorithm, algorithm->name) && references[i].kinds & KIND(kind))
            found = &references[i];
    cr_assert(found, "%s has no reference for %s: write its formula into this test", algorithm->name,
              collective_name(kind));
    return found->seconds(kind, shape, S);
}

Test(collectives, references_are_of_algorithms)
{
    for (size_t i = 0; i < REFERENCES; i++)
        cr_assert(collective_algorithm_find(references[i].algorithm), "%s", references[i].algorithm);
}

static void uniform_edge(void *user, uint32_t from, uint32_t to, double *alpha, double *beta)
{
    const struct collective_shape *shape = user;
    bool inside = shape->node_size && from / shape->node_size == to / shape->node_size;
    *alpha = inside ? costs.node_alpha : costs.alpha;
    *beta = inside ? costs.node_beta : costs.beta;
}

static double evaluate(const struct collective_algorithm *algorithm, const struct collective_shape *shape,
                       enum stagesim_collective kind, double bytes)
{
    struct collective_steps steps = {0};
    double ends[RANKS_TIMED];
    struct collective_shape copy = *shape;
    if (algorithm != &algorithm_hierarchical)
        copy.node_size = 0;
    algorithm->steps(&copy, kind, &steps);
    steps_sort(&steps);
    double end = steps_evaluate(&steps, shape->ranks, bytes, &(struct steps_network){uniform_edge, &copy, costs.gamma},
                                NULL, ends);
    steps_finish(&steps);
    return end;
}

static void check_times(const struct collective_algorithm *algorithm, const struct collective_shape *shape,
                        enum stagesim_collective kind)
{
    static const double sizes[] = {8, 1e8};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double S = sizes[i], seconds = algorithm->seconds(shape, kind, S, &costs),
               expected = formula(algorithm, shape, kind, S);
        cr_assert(isnan(expected) || fabs(seconds - expected) <= 1e-9 * expected,
                  "%s %s, %u ranks, %g B: closed form %g, formula %g", algorithm->name, collective_name(kind),
                  shape->ranks, S, seconds, expected);
        /* The tree's closed form is that of small chunks; transfers all at once share a port; a switch is no rank. */
        if (algorithm == &algorithm_double_tree)
            seconds = (2 * log2_up(shape->ranks) + 16 - 1) * (costs.alpha + S / 32 * (costs.beta + costs.gamma));
        if (algorithm == &algorithm_in_network || algorithm == &algorithm_switch_tree ||
            (algorithm == &algorithm_direct && kind == STAGESIM_ALL_TO_ALL))
            continue;
        double evaluated = evaluate(algorithm, shape, kind, S);
        double tolerance = algorithm == &algorithm_double_tree
                               ? 2 * log2_up(shape->ranks) * S / 32 * costs.gamma + 16 * S / 32 * costs.gamma
                               : 0;
        cr_assert(fabs(evaluated - seconds) <= 1e-6 * seconds + tolerance,
                  "%s %s, %u ranks, %g B: closed form %g, transfers %g", algorithm->name, collective_name(kind),
                  shape->ranks, S, seconds, evaluated);
    }
}

Test(collectives, closed_forms)
{
    for (uint32_t ranks = 2; ranks <= RANKS_TIMED; ranks++)
        shapes_for_each(ranks, check_times);
}

/* ---- members that arrive at different times ---- */

Test(collectives, late_members)
{
    struct collective_shape shape = {.ranks = 3};
    struct collective_steps steps = {0};
    double ends[3];
    algorithm_chain.steps(&shape, STAGESIM_BROADCAST, &steps);
    steps_sort(&steps);
    struct steps_network network = {uniform_edge, &shape, 0};
    /* Two chunks are at rank 1 when rank 2 comes; then 16 chunks go to rank 2, the others following one behind. */
    double chunk = costs.alpha + 1e6 / 16 * costs.beta;
    double last = steps_evaluate(&steps, 3, 1e6, &network, (double[]){0, 0, 1}, ends);
    cr_assert_float_eq(last, 1 + 16 * chunk, 1e-12);
    cr_assert_float_eq(ends[0], 1 + 15 * chunk, 1e-12);
    /* All wait for rank 0. */
    last = steps_evaluate(&steps, 3, 1e6, &network, (double[]){2, 0, 0}, ends);
    cr_assert_float_eq(last, 2 + 17 * chunk, 1e-12);
    steps_finish(&steps);
}
