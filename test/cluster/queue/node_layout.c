/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of choices of nodes on a fabric of two pods: equal shapes have equal routes between all their devices,
 * whatever their numbers; choices that lie on the pods otherwise have other shapes. */
#include "cluster/queue/node_layout.h"
#include "base/arena.h"
#include "cluster/scheduling/node_pool.h"
#include "job/scenario/platform_source.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 64, POD = 32, MOST = 6, TRIES = 120 };

static struct arena *arena;
static struct node_layout layout;

static void load(void)
{
    struct platform_source source;
    struct fault fault = {""};
    const char *why = NULL;
    arena = arena_create();
    cr_assert(platform_source_parse("dgx-h100:64", ".", true, &source, arena, &fault), "%s", fault.text);
    struct platform *platform = platform_source_native(&source, arena, &why, &fault);
    cr_assert(platform != NULL, "%s", fault.text);
    node_layout_create(&layout, platform, arena);
    cr_assert(layout.node_count == NODES);
}

static void unload(void)
{
    arena_destroy(arena);
}

static int ascending(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* Some nodes, in ascending order. */
static void draw(uint32_t count, uint32_t *nodes)
{
    for (uint32_t i = 0, k; i < count; i += k == i) {
        nodes[i] = (uint32_t)random() % NODES;
        for (k = 0; nodes[k] != nodes[i]; k++) {}
    }
    qsort(nodes, count, sizeof *nodes, ascending);
}

/* Of all devices to all others: the sums of latencies and narrowest rates. */
static bool same_routes(const uint32_t *a, const uint32_t *b, uint32_t count)
{
    uint32_t size, other;
    uint32_t *left = node_layout_hosts(&layout, a, count, &size, arena);
    uint32_t *right = node_layout_hosts(&layout, b, count, &other, arena);
    bool same = size == other;
    for (uint32_t i = 0; i < size && same; i++)
        for (uint32_t k = 0; k < size && same; k++) {
            struct platform_route x, y;
            layout.platform->route(layout.platform, left[i], left[k], &x);
            double latency = x.latency, bandwidth = x.bandwidth;
            uint32_t links = x.link_count;
            layout.platform->route(layout.platform, right[i], right[k], &y);
            same = latency == y.latency && bandwidth == y.bandwidth && links == y.link_count;
        }
    return same;
}

/* Which nodes lie in the pod of the first one: what tells choices apart on this fabric. */
static bool same_pods(const uint32_t *a, const uint32_t *b, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if ((a[i] / POD == a[0] / POD) != (b[i] / POD == b[0] / POD))
            return false;
    return true;
}

Test(node_layout, shapes, .init = load, .fini = unload)
{
    uint32_t equal = 0, different = 0;
    srandom(7);
    for (uint32_t i = 0; i < TRIES; i++) {
        uint32_t a[MOST], b[MOST], count = 2 + (uint32_t)random() % (MOST - 1);
        draw(count, a);
        draw(count, b);
        bool same = node_layout_shape(&layout, a, count) == node_layout_shape(&layout, b, count);
        cr_assert(same == same_pods(a, b, count), "try %u", i);
        cr_assert(same_routes(a, b, count) || !same, "try %u: routes differ", i);
        *(same ? &equal : &different) += 1;
    }
    cr_assert(equal > 10 && different > 10, "%u equal, %u different", equal, different);
}

Test(node_layout, other_numbers, .init = load, .fini = unload)
{
    uint32_t large[40], more[40];
    for (uint32_t i = 0; i < 40; i++) {
        large[i] = i;
        more[i] = i + 24;
    }
    cr_assert(node_layout_shape(&layout, large, 1) != node_layout_shape(&layout, large, 2));
    cr_assert(node_layout_shape(&layout, large, 40) != node_layout_shape(&layout, more, 40), "32 and 8, 8 and 32");
    cr_assert(node_layout_shape(&layout, large, 20) == node_layout_shape(&layout, more + 8, 20), "one pod each");
}

/* What each choice promises, by hand. */
Test(node_pool, choices)
{
    static const uint32_t taken[] = {2, 7, 8};
    static const struct {
        enum node_choice choice;
        uint32_t count, nodes[5];
    } cases[] = {
        {NODES_PACKED, 2, {0, 1}},          /* free are 0 1, 3 4 5 6, 9 10 11: the smallest run that holds two */
        {NODES_PACKED, 3, {9, 10, 11}},     /* of three */
        {NODES_PACKED, 5, {0, 3, 4, 5, 6}}, /* none of five: the longest, then the smallest that holds the last */
        {NODES_FIRST, 4, {0, 1, 3, 4}},     {NODES_SPREAD, 3, {0, 4, 9}}, /* of nine the numbers 0, 3 and 6 */
        {NODES_BLOCK, 2, {0, 1}},       /* of 0 1 3, 4 5 6, 9 10 11: all have three; the first */
        {NODES_BLOCK, 4, {0, 1, 3, 4}}, /* none has four: the first, and one of the next */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct node_pool *pool = node_pool_create(12, cases[i].choice, 4);
        uint32_t all[12], got[5], rest[9] = {0, 1, 3, 4, 5, 6, 9, 10, 11};
        node_pool_take(pool, 12, all);
        node_pool_give(pool, rest, 9);
        cr_assert(node_pool_free(pool) == 12 - sizeof taken / sizeof *taken);
        node_pool_take(pool, cases[i].count, got);
        cr_assert(memcmp(got, cases[i].nodes, cases[i].count * sizeof *got) == 0, "case %zu", i);
        node_pool_destroy(pool);
    }
}
