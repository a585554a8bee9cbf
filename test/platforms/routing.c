/* SPDX-License-Identifier: Apache-2.0 */
/* ECMP: the slow-down of transfers between two pods over parallel links, whose mean over seeds is the expected number
 * of balls in the fullest bin. That expectation is computed here by counting all throws, and by its closed form,
 * P(fullest <= k) = n!/m^n [x^n] (sum over j <= k of x^j/j!)^m (N. L. Johnson, S. Kotz, Urn Models and Their
 * Application, 1977), and both are compared. */
#include "platforms/routing.h"

#include "base/arena.h"
#include "platforms/presets/presets.h"
#include "platforms/view.h"
#include "platforms/what_if.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BALLS_MAX = 1024 };

/* ---- the expectation ---- */

/* Balls in the fullest bin, the mean over all throws. */
static double counted(unsigned balls, unsigned bins)
{
    unsigned throws = 1;
    double sum = 0;
    for (unsigned i = 0; i < balls; i++)
        throws *= bins;
    for (unsigned code = 0; code < throws; code++) {
        unsigned in[8] = {0}, most = 0, rest = code;
        for (unsigned i = 0; i < balls; i++, rest /= bins)
            most = ++in[rest % bins] > most ? in[rest % bins] : most;
        sum += most;
    }
    return sum / throws;
}

/* The chance that no bin has more than `most`: bins are added one by one; chance[n] is that n balls are in those. Ball
 * by ball, the share of a bin among the b left is 1/b, so numbers stay small. */
static double none_above(unsigned balls, unsigned bins, unsigned most)
{
    static double now[BALLS_MAX + 1], next[BALLS_MAX + 1];
    memset(now, 0, sizeof now);
    now[balls] = 1; /* all are still to be thrown */
    for (unsigned left = bins; left > 1; left--) {
        double p = 1.0 / left;
        memset(next, 0, sizeof next);
        for (unsigned n = 0; n <= balls; n++) {
            double chance = pow(1 - p, n);
            for (unsigned j = 0; j <= most && j <= n; j++) {
                next[n - j] += now[n] * chance;
                chance *= (double)(n - j) / (j + 1) * p / (1 - p);
            }
        }
        memcpy(now, next, sizeof now);
    }
    double sum = 0;
    for (unsigned n = 0; n <= balls && n <= most; n++)
        sum += now[n];
    return sum;
}

static double expected(unsigned balls, unsigned bins)
{
    double sum = 0, more = 1;
    for (unsigned most = 0; more > 1e-9; most++) {
        more = 1 - none_above(balls, bins, most);
        sum += more;
    }
    return sum;
}

Test(routing, closed_form)
{
    static const unsigned cases[][2] = {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {6, 4}, {9, 3}, {5, 6}, {8, 4}, {2, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double all = counted(cases[i][0], cases[i][1]), form = expected(cases[i][0], cases[i][1]);
        cr_expect(fabs(all - form) < 1e-8, "%u in %u: %.12g counted, %.12g", cases[i][0], cases[i][1], all, form);
    }
    cr_expect(fabs(none_above(8, 8, 1) - 40320.0 / 16777216) < 1e-12); /* m!/m^m */
}

/* ---- the platform ---- */

/* Two pods of `nodes` single GPUs each, without hashing. */
static struct platform *pods(uint32_t nodes, const struct platform_request *with, struct arena *arena)
{
    struct platform_request request = *with;
    struct fault fault = {""};
    request.preset = "dgx-h100";
    request.nodes = 2 * nodes;
    request.pod = nodes;
    request.per_node = 1;
    struct platform *platform = preset_platform(&request, "pods", arena, &fault);
    cr_assert(platform, "%s", fault.text);
    return platform;
}

static struct platform *hashed(struct platform *base, uint32_t paths, uint32_t flows, uint64_t seed,
                               struct arena *arena)
{
    struct platform_routing routing = {ROUTING_ECMP, "spine", paths, flows, seed};
    struct fault fault = {""};
    struct platform *platform = routing_platform(base, &routing, arena, &fault);
    cr_assert(platform, "%s", fault.text);
    return platform;
}

/* Host i of the first pod to host i + shift of the second: the slowest rate. */
static double slowest(struct platform *platform, uint32_t shift)
{
    uint32_t half = platform->host_count / 2, from[512] = {0}, to[512] = {0};
    double rates[512], least = INFINITY;
    for (uint32_t i = 0; i < half; i++) {
        from[i] = i;
        to[i] = half + (i + shift) % half;
    }
    view_rates(platform, from, to, half, rates);
    for (uint32_t i = 0; i < half; i++)
        least = fmin(least, rates[i]);
    return least;
}

/* The same by counting what each link carries. */
static double fullest(struct platform *platform, uint32_t shift, double *carried)
{
    uint32_t half = platform->host_count / 2;
    double most = 0;
    memset(carried, 0, platform->link_count * sizeof *carried);
    for (uint32_t i = 0; i < half; i++) {
        struct platform_route route;
        platform->route(platform, i, half + (i + shift) % half, &route);
        for (uint32_t k = 0; k < route.link_count; k++)
            most = fmax(most, carried[route.links[k]] += 1 / platform->links[route.links[k]].bandwidth);
    }
    return 1 / most;
}

/* The mean over at least `throws` of seeds and partners, over the slow-down of even spreading, which is 1. */
static double mean_slowdown(uint32_t nodes, uint32_t paths, uint32_t flows, unsigned throws)
{
    struct arena *arena = arena_create();
    struct platform *base = pods(nodes, &(struct platform_request){0}, arena);
    double sum = 0, even = slowest(base, 0), *carried = NULL;
    unsigned done = 0;
    for (uint64_t seed = 0; done < throws; seed++) {
        struct platform *platform = hashed(base, paths, flows, seed, arena);
        carried = realloc(carried, platform->link_count * sizeof *carried);
        for (uint32_t shift = 0; shift < nodes; shift++, done++)
            sum += even / fullest(platform, shift, carried);
    }
    free(carried);
    arena_destroy(arena);
    return sum / done;
}

/* Interfaces and uplinks are as wide as the cables of the spine, so the fullest cable decides, but not below one. */
Test(routing, mean_over_seeds, .timeout = 120)
{
    static const uint32_t cases[][3] = {{2, 2, 1},     {4, 4, 1},   {4, 4, 4},   {8, 8, 1},   {8, 8, 8},
                                        {16, 16, 1},   {16, 16, 4}, {32, 32, 1}, {32, 32, 2}, {64, 64, 1},
                                        {128, 128, 1}, {8, 8, 32},  {16, 16, 16}};
    /* network sheet's own simulation of n = m flows, where it has one */
    static const double table[] = {0, 2.11, 1.53, 2.60, 1.52, 3.07, 1.97, 3.54, 2.70, 3.94, 4.37, 1.26, 1.46};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t nodes = cases[i][0], paths = cases[i][1], flows = cases[i][2];
        double form = expected(nodes * flows, paths) / flows * paths / nodes;
        double found = mean_slowdown(nodes, paths, flows, 1000);
        cr_expect(fabs(found / form - 1) < 0.03, "%u over %u, %u flows: %.4f, expected %.4f", nodes, paths, flows,
                  found, form);
        cr_expect(table[i] <= 0 || fabs(form / table[i] - 1) < 0.015, "%u over %u, %u flows: %.4f, in the table %.2f",
                  nodes, paths, flows, form, table[i]);
    }
}

/* The rates of transfers that run together are those that the counts say. */
Test(routing, rates)
{
    struct arena *arena = arena_create();
    struct platform *base = pods(8, &(struct platform_request){0}, arena);
    double carried[512];
    for (uint64_t seed = 0; seed < 20; seed++)
        for (uint32_t flows = 1; flows <= 4; flows += 3) {
            struct platform *platform = hashed(base, 8, flows, seed, arena);
            double rate = slowest(platform, 3), counts = fullest(platform, 3, carried);
            cr_expect(fabs(rate / counts - 1) < 1e-9, "seed %u, %u flows: %g B/s and %g B/s", (unsigned)seed, flows,
                      rate, counts);
        }
    arena_destroy(arena);
}

/* More flows and even spreading are no slower on the mean; one path is what the link was. */
Test(routing, limits)
{
    struct arena *arena = arena_create();
    struct platform *base = pods(8, &(struct platform_request){0}, arena);
    double one = mean_slowdown(8, 8, 1, 400), many = mean_slowdown(8, 8, 32, 400);
    cr_expect(1 <= many && many < one, "%g with 32 flows, %g with one", many, one);
    double carried[512];
    struct platform *single = hashed(base, 1, 1, 5, arena);
    cr_expect(fabs(slowest(single, 1) / slowest(base, 1) - 1) < 1e-12);
    cr_expect(fabs(fullest(single, 1, carried) / fullest(base, 1, carried) - 1) < 1e-12);
    cr_expect_eq(routing_base(single), base);
    cr_expect_eq(routing_base(base), base);
    struct platform_routing even = {ROUTING_ADAPTIVE, "spine", 8, 1, 0};
    struct fault fault = {""};
    cr_expect_eq(routing_platform(base, &even, arena, &fault), base);
    arena_destroy(arena);
}

/* Up and down lead over the same spine switch; with rails the links of the leaf switches are hashed. */
Test(routing, rails)
{
    struct arena *arena = arena_create();
    struct fault fault = {""};
    struct platform_request request = {
        .preset = "dgx-h100", .nodes = 8, .pod = 4, .rails = RAILS_SPINE, .ecmp = true, .paths = 4};
    struct platform *base = preset_platform(&request, "rails", arena, &fault);
    cr_assert(base, "%s", fault.text);
    cr_expect_str_eq(base->library.routing.links, "rail");
    struct platform *platform = routing_platform(base, &base->library.routing, arena, &fault);
    cr_assert(platform, "%s", fault.text);
    for (uint32_t to = 33; to < 64; to += 3) {
        struct platform_route route;
        platform->route(platform, 1, to, &route);
        const char *names[2];
        unsigned count = 0;
        for (uint32_t i = 0; i < route.link_count; i++)
            if (!strncmp(platform->links[route.links[i]].name, "rail-", 5) && count < 2)
                names[count++] = platform->links[route.links[i]].name;
        cr_assert_eq(count, 2);
        unsigned up, down;
        cr_expect_eq(sscanf(names[0], "rail-0-1-%u_UP", &up), 1, "%s", names[0]);
        cr_expect_eq(sscanf(names[1], "rail-1-%*u-%u_DOWN", &down), 1, "%s", names[1]);
        cr_expect_eq(up, down, "%s and %s", names[0], names[1]);
        cr_expect_float_eq(platform_link_rate(&platform->links[route.links[2]]), 45e9, 1, "%g",
                           platform_link_rate(&platform->links[route.links[2]]));
    }
    arena_destroy(arena);
}

Test(routing, properties)
{
    struct platform_routing routing = {0};
    struct fault fault = {""};
    cr_expect(routing_owns("routing") && routing_owns("routing_seed") && !routing_owns("routings"));
    cr_expect(routing_set(&routing, "routing", "ecmp", &fault));
    cr_expect(routing_set(&routing, "routing_links", "rail", &fault));
    cr_expect(routing_set(&routing, "routing_paths", "4096", &fault));
    cr_expect(routing_set(&routing, "routing_flows", "64", &fault));
    cr_expect(routing_set(&routing, "routing_seed", "7", &fault));
    cr_expect(routing.policy == ROUTING_ECMP && routing.paths == 4096 && routing.flows == 64 && routing.seed == 7);
    static const char *const wrong[][3] = {
        {"routing", "random", "expected ecmp or adaptive"},
        {"routing_paths", "0", "from 1 to 4096"},
        {"routing_paths", "4097", "from 1 to 4096"},
        {"routing_flows", "65", "from 1 to 64"},
        {"routing_seed", "-1", "whole number"},
        {"routing_links", "", "kind of links"},
        {"routing_path", "3", "did you mean routing_paths"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fault.text[0] = '\0';
        cr_expect(!routing_set(&routing, wrong[i][0], wrong[i][1], &fault) && strstr(fault.text, wrong[i][2]),
                  "%s=%s: %s", wrong[i][0], wrong[i][1], fault.text);
    }
}
