/* SPDX-License-Identifier: Apache-2.0 */
/* 2,048 nodes of 8 GPUs: how much memory they take, and that routes have exactly the links that the
 * description of node and fabric says. The description is held here by itself. */
#include "base/arena.h"
#include "base/sanitized.h"
#include "platforms/presets/presets.h"
#include "simulator/engines/simgrid/bridge.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { NODES = 2048, GPUS = 8, POD = 32, SAMPLES = 20000 };

#if SANITIZED
#define LARGER 6 /* the limit is for the product, not for the sanitizers */
#else
#define LARGER 1
#endif

static struct platform *load_large(struct arena *arena)
{
    char name[] = "/tmp/stagesim-large-XXXXXX";
    struct platform_request request = {.preset = "dgx-a100", .nodes = NODES, .pod = POD, .oversubscription = 2};
    struct fault fault = {""};
    struct rusage usage;
    FILE *out = fdopen(mkstemp(name), "w");
    cr_assert(out && platform_generate(&request, out, &fault) && fclose(out) == 0, "%s", fault.text);
    struct platform *platform = bridge_configure(NULL, 0, &fault) ? bridge_load(name, arena, &fault) : NULL;
    unlink(name);
    getrusage(RUSAGE_SELF, &usage);
    if (strstr(fault.text, "SimGrid 4.1, which reads this file"))
        cr_skip_test("%s", fault.text);
    cr_assert(platform != NULL, "%s", fault.text);
    cr_assert(usage.ru_maxrss < 1000000 * LARGER, "%ld kB", usage.ru_maxrss);
    return platform;
}

/* The links from GPU a to GPU b, by name, one a line; a sum of latencies in ns. */
static void describe(uint32_t a, uint32_t b, char *text, size_t size, double *nanoseconds)
{
    uint32_t m = a / GPUS, n = b / GPUS, i = a % GPUS, k = b % GPUS;
    if (m == n) {
        snprintf(text, size, "nvlink-%u-%u_UP nvlink-%u-%u_DOWN ", m, i, n, k);
        *nanoseconds = 2 * 450;
        return;
    }
    char middle[96] = "";
    if (m / POD != n / POD)
        snprintf(middle, sizeof middle, "spine-%u_UP spine-%u_DOWN ", m / POD, n / POD);
    snprintf(text, size, "pcie-%u-%u_UP nic-%u-%u_UP uplink-%u_UP %suplink-%u_DOWN nic-%u-%u_DOWN pcie-%u-%u_DOWN ", m,
             i, m, i, m, middle, n, n, k, n, k);
    *nanoseconds = 2 * (1500 + 200 + 100) + (middle[0] ? 2 * 100 : 0);
}

static void check_route(struct platform *platform, uint32_t a, uint32_t b)
{
    struct platform_route route;
    char expected[512], found[512] = "";
    double nanoseconds;
    describe(a, b, expected, sizeof expected, &nanoseconds);
    platform->route(platform, a, b, &route);
    for (uint32_t i = 0; i < route.link_count; i++) {
        size_t used = strlen(found);
        snprintf(found + used, sizeof found - used, "%s ", platform->links[route.links[i]].name);
    }
    cr_assert(strcmp(found, expected) == 0, "%s to %s: %s instead of %s", platform->hosts[a].name,
              platform->hosts[b].name, found, expected);
    cr_assert(fabs(route.latency * 1e9 - nanoseconds) < 1e-3, "%s to %s: %g ns", platform->hosts[a].name,
              platform->hosts[b].name, route.latency * 1e9);
    cr_assert(route.bandwidth == (a / GPUS == b / GPUS ? 240e9 : 22.5e9));
}

/* What links carry: the spine of a pod half of what its nodes inject, a node as much as its interfaces. */
static void check_links(const struct platform *platform)
{
    uint32_t seen[5] = {0};
    static const struct {
        const char *start;
        double bandwidth;
        uint32_t count;
    } kinds[5] = {{"nvlink-", 240e9, 2 * NODES * GPUS},
                  {"pcie-", 24e9, 2 * NODES * GPUS},
                  {"nic-", 22.5e9, 2 * NODES * GPUS},
                  {"uplink-", 180e9, 2 * NODES},
                  {"spine-", 180e9 * POD / 2, 2 * NODES / POD}};
    for (uint32_t i = 0; i < platform->link_count; i++)
        for (unsigned kind = 0; kind < 5; kind++)
            if (strncmp(platform->links[i].name, kinds[kind].start, strlen(kinds[kind].start)) == 0) {
                seen[kind]++;
                cr_assert(fabs(platform->links[i].bandwidth / kinds[kind].bandwidth - 1) < 1e-12, "%s: %g",
                          platform->links[i].name, platform->links[i].bandwidth);
            }
    for (unsigned kind = 0; kind < 5; kind++)
        cr_assert(seen[kind] == kinds[kind].count, "%s: %u", kinds[kind].start, seen[kind]);
}

Test(large, sixteen_thousand_gpus)
{
    struct arena *arena = arena_create();
    struct platform *platform = load_large(arena);
    uint64_t state = 1; /* a fixed sequence of pairs */
    cr_assert(platform->host_count == NODES * GPUS);
    check_links(platform);
    for (uint32_t i = 0; i < platform->host_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "gpu-%u-%u", i / GPUS, i % GPUS);
        cr_assert(strcmp(platform->hosts[i].name, name) == 0);
    }
    for (uint32_t i = 0; i < SAMPLES; i++) {
        uint32_t pair[2];
        for (int end = 0; end < 2; end++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            pair[end] = (uint32_t)(state >> 33) % (NODES * GPUS);
        }
        if (i % 3 == 0) /* pairs in a node and pairs in a pod are rare among all */
            pair[1] = pair[0] / GPUS * GPUS + pair[1] % GPUS;
        else if (i % 3 == 1)
            pair[1] = pair[0] / (GPUS * POD) * (GPUS * POD) + pair[1] % (GPUS * POD);
        if (pair[0] == pair[1])
            continue;
        check_route(platform, pair[0], pair[1]);
        check_route(platform, pair[1], pair[0]);
    }
    arena_destroy(arena);
}
