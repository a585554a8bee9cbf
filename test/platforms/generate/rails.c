/* SPDX-License-Identifier: Apache-2.0 */
/* Rails and joined clusters: routes between all pairs have exactly the links of a description that is held here by
 * itself. */
#include "base/arena.h"
#include "platforms/presets/presets.h"
#include "simulator/engines/simgrid/bridge.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GPUS = 8, NODES = 5, POD = 3 };

typedef bool write_function(FILE *out, struct fault *fault);

static struct platform *load(write_function *write, struct arena *arena)
{
    char name[] = "/tmp/stagesim-rails-XXXXXX";
    struct fault fault = {""};
    FILE *out = fdopen(mkstemp(name), "w");
    bool written = out && write(out, &fault) && fclose(out) == 0;
    struct platform *platform = written && bridge_configure(NULL, 0, &fault) ? bridge_load(name, arena, &fault) : NULL;
    unlink(name);
    if (strstr(fault.text, "SimGrid 4.1, which reads this file"))
        cr_skip_test("%s", fault.text);
    cr_assert(platform != NULL, "%s", fault.text);
    return platform;
}

static void names_of(const struct platform *platform, const struct platform_route *route, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < route->link_count; i++)
        used += (size_t)snprintf(text + used, size - used, "%s ", platform->links[route->links[i]].name);
}

typedef double describe_function(uint32_t a, uint32_t b, char *text, size_t size);

static void check_all(struct platform *platform, describe_function *describe, uint32_t hosts)
{
    cr_assert(platform->host_count == hosts);
    for (uint32_t a = 0; a < hosts; a++)
        for (uint32_t b = 0; b < hosts; b++) {
            char expected[512], found[512];
            struct platform_route route;
            if (a == b)
                continue;
            double nanoseconds = describe(a, b, expected, sizeof expected);
            platform->route(platform, a, b, &route);
            names_of(platform, &route, found, sizeof found);
            cr_assert(strcmp(found, expected) == 0, "%u to %u: %s instead of %s", a, b, found, expected);
            cr_assert(fabs(route.latency * 1e9 - nanoseconds) < 1e-3, "%u to %u: %g ns instead of %g", a, b,
                      route.latency * 1e9, nanoseconds);
        }
}

static double bandwidth_of(const struct platform *platform, const char *name)
{
    for (uint32_t i = 0; i < platform->link_count; i++)
        if (strcmp(platform->links[i].name, name) == 0)
            return platform->links[i].bandwidth;
    cr_assert_fail("no link %s", name);
    return 0;
}

/* ---- rails ---- */

static bool write_spine(FILE *out, struct fault *fault)
{
    struct platform_request request = {
        .preset = "dgx-h100", .nodes = NODES, .pod = POD, .oversubscription = 2, .rails = RAILS_SPINE};
    return platform_generate(&request, out, fault);
}

static bool write_nvlink(FILE *out, struct fault *fault)
{
    struct platform_request request = {
        .preset = "dgx-h100", .nodes = NODES, .pod = POD, .oversubscription = 2, .rails = RAILS_NVLINK};
    return platform_generate(&request, out, fault);
}

/* PCIe 1.5 us, an interface 200 ns and 100 ns to its leaf switch, NVLink 1.25 us at each end, 100 ns to the spine's
 * switches. */
static double describe_rails(uint32_t a, uint32_t b, bool nvlink, char *text, size_t size)
{
    uint32_t m = a / GPUS, n = b / GPUS, i = a % GPUS, k = b % GPUS, p = m / POD, q = n / POD;
    char before[96] = "", middle[160] = "";
    double nanoseconds = 2 * 1800;
    if (m == n) {
        snprintf(text, size, "nvlink-%u-%u_UP nvlink-%u-%u_DOWN ", m, i, n, k);
        return 2 * 400;
    }
    if (p != q) {
        snprintf(middle, sizeof middle, "rail-%u-%u_UP spine-%u_UP spine-%u_DOWN rail-%u-%u_DOWN ", p, i, p, q, q, k);
        nanoseconds += 4 * 100;
    } else if (i != k && nvlink) {
        snprintf(before, sizeof before, "nvlink-%u-%u_UP nvlink-%u-%u_DOWN ", m, i, m, k);
        nanoseconds += 2 * 400;
        i = k;
    } else if (i != k) {
        snprintf(middle, sizeof middle, "rail-%u-%u_UP rail-%u-%u_DOWN ", p, i, p, k);
        nanoseconds += 2 * 100;
    }
    snprintf(text, size, "%spcie-%u-%u_UP nic-%u-%u_UP %snic-%u-%u_DOWN pcie-%u-%u_DOWN ", before, m, i, m, i, middle,
             n, k, n, k);
    return nanoseconds;
}

static double describe_spine(uint32_t a, uint32_t b, char *text, size_t size)
{
    return describe_rails(a, b, false, text, size);
}

static double describe_nvlink(uint32_t a, uint32_t b, char *text, size_t size)
{
    return describe_rails(a, b, true, text, size);
}

Test(rails, meet_in_the_spine)
{
    struct arena *arena = arena_create();
    struct platform *platform = load(write_spine, arena);
    check_all(platform, describe_spine, NODES * GPUS);
    cr_assert(fabs(bandwidth_of(platform, "rail-1-7_UP") / (45e9 * POD / 2) - 1) < 1e-9);
    cr_assert(fabs(bandwidth_of(platform, "spine-0_DOWN") / (8 * 45e9 * POD / 2) - 1) < 1e-9);
    for (uint32_t i = 0; i < platform->host_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "node-%u", i / GPUS);
        cr_assert(strcmp(platform->hosts[i].node, name) == 0, "%s", platform->hosts[i].node);
    }
    arena_destroy(arena);
}

Test(rails, meet_over_nvlink)
{
    struct arena *arena = arena_create();
    check_all(load(write_nvlink, arena), describe_nvlink, NODES * GPUS);
    arena_destroy(arena);
}

/* ---- clusters of different interfaces ---- */

/* Three nodes of InfiniBand in pods of two, two nodes of RoCE, Ethernet between. */
static bool write_joined(FILE *out, struct fault *fault)
{
    struct platform_request requests[] = {{.preset = "dgx-a100", .nodes = 3, .pod = 2},
                                          {.preset = "dgx-a100", .nodes = 2, .pod = 2, .nic = "roce-200"}};
    return platform_generate_joined(requests, 2, "ethernet-25", out, fault);
}

static double describe_joined(uint32_t a, uint32_t b, char *text, size_t size)
{
    static const uint32_t pods[] = {0, 0, 1, 2, 2};
    uint32_t m = a / GPUS, n = b / GPUS, i = a % GPUS, k = b % GPUS, p = pods[m], q = pods[n];
    if (m == n) {
        snprintf(text, size, "nvlink-%u-%u_UP nvlink-%u-%u_DOWN ", m, i, n, k);
        return 2 * 450;
    }
    if ((m < 3) != (n < 3)) {
        /* A core's rate over TCP bounds each transfer, on both ways of either side. */
        uint32_t from = m < 3 ? 0 : 2, to = n < 3 ? 0 : 2;
        snprintf(text, size,
                 "pcie-%u-%u_UP joint-nic-%u_UP flow-joint-%u joint-%u_UP flow-joint-%u flow-joint-%u joint-%u_DOWN "
                 "flow-joint-%u joint-nic-%u_DOWN pcie-%u-%u_DOWN ",
                 m, i, m, from, p, from, to, q, to, n, n, k);
        return 2 * (1500 + 12000);
    }
    char middle[64] = "";
    if (p != q)
        snprintf(middle, sizeof middle, "spine-%u_UP spine-%u_DOWN ", p, q);
    snprintf(text, size, "pcie-%u-%u_UP nic-%u-%u_UP uplink-%u_UP %suplink-%u_DOWN nic-%u-%u_DOWN pcie-%u-%u_DOWN ", m,
             i, m, i, m, middle, n, n, k, n, k);
    return 2 * (1500 + (m < 3 ? 200 : 400) + 100) + (p != q ? 2 * 100 : 0);
}

Test(rails, joined_by_ethernet)
{
    struct arena *arena = arena_create();
    struct platform *platform = load(write_joined, arena);
    check_all(platform, describe_joined, 5 * GPUS);
    for (uint32_t i = 0; i < platform->host_count; i++)
        cr_assert(strcmp(platform->hosts[i].nic, i < 3 * GPUS ? "InfiniBand" : "RoCE") == 0, "%s",
                  platform->hosts[i].nic);
    cr_assert(fabs(bandwidth_of(platform, "joint-nic-0_UP") / 2.8125e9 - 1) < 1e-9);
    cr_assert(fabs(bandwidth_of(platform, "joint-1_UP") / 2.8125e9 - 1) < 1e-9, "a pod of one node");
    cr_assert(fabs(bandwidth_of(platform, "joint-2_UP") / 5.625e9 - 1) < 1e-9);
    cr_assert(fabs(bandwidth_of(platform, "nic-4-7_UP") / 21.25e9 - 1) < 1e-9);
    arena_destroy(arena);
}
