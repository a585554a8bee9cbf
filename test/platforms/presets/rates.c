/* SPDX-License-Identifier: Apache-2.0 */
/* SimGrid, run on the platform of every preset, gives the rates that the table of presets states; so does the max-min
 * sharing of platforms/view.c. */
#include "base/arena.h"
#include "platforms/presets/presets.h"
#include "platforms/view.h"
#include "simulator/engines/simgrid/bridge.h"
#include "test/support/samples.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum pattern { PEER, RING, NETWORK, PATTERNS };

#define BYTES 1e12

struct transfer {
    struct platform *platform;
    uint32_t from, to;
    void *mailbox;
    double rate; /* measured */
};

static void send_body(void *argument)
{
    struct transfer *transfer = argument;
    struct platform_route route;
    transfer->platform->route(transfer->platform, transfer->from, transfer->to, &route);
    double end = bridge_wait(bridge_send(transfer->mailbox, BYTES));
    transfer->rate = BYTES / (end - route.latency);
}

static void receive_body(void *argument)
{
    (void)argument;
}

/* Nodes to ask for: two, or as many as the shape wants. */
static uint32_t nodes_of(const struct preset *preset)
{
    if (strcmp(preset->name, "tpu-v4") == 0 || strcmp(preset->name, "tpu-v5p") == 0)
        return 16;
    return preset->fabric.kind == FABRIC_TORUS ? 4 : 2;
}

static struct platform *load_preset(const struct preset *preset, struct arena *arena)
{
    char name[] = "/tmp/stagesim-rates-XXXXXX";
    struct platform_request request = {.preset = preset->name, .nodes = nodes_of(preset)};
    struct fault fault = {""};
    int descriptor = mkstemp(name);
    FILE *out = fdopen(descriptor, "w");
    bool written = out && platform_generate(&request, out, &fault) && fclose(out) == 0;
    struct platform *platform = written && bridge_configure(NULL, 0, &fault) ? bridge_load(name, arena, &fault) : NULL;
    unlink(name);
    cr_assert(platform != NULL, "%s: %s", preset->name, fault.text);
    return platform;
}

/* The transfers of a pattern; their number. Hosts of a node follow each other. */
static uint32_t transfers_of(const struct preset *preset, enum pattern pattern, uint32_t *from, uint32_t *to)
{
    uint32_t count = pattern == RING ? preset->devices : 1;
    for (uint32_t i = 0; i < count; i++) {
        from[i] = i;
        to[i] = pattern == NETWORK ? preset->devices : (i + 1) % preset->devices;
    }
    return count;
}

static double slowest_in_simgrid(struct platform *platform, const uint32_t *from, const uint32_t *to, uint32_t count)
{
    struct transfer *transfers = calloc(count, sizeof *transfers);
    struct fault fault = {""};
    double slowest = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "to-%u", i);
        transfers[i] = (struct transfer){.platform = platform, .from = from[i], .to = to[i]};
        transfers[i].mailbox = bridge_mailbox(name, bridge_actor_start(platform, to[i], receive_body, NULL));
        bridge_actor_start(platform, from[i], send_body, &transfers[i]);
    }
    cr_assert(bridge_run(&fault), "%s", fault.text);
    for (uint32_t i = 0; i < count; i++)
        slowest = fmin(slowest, transfers[i].rate);
    free(transfers);
    return slowest;
}

ParameterizedTestParameters(rates, stated)
{
    static int cases[256];
    size_t presets, count = 0;
    preset_table(&presets, &(struct diag){0});
    for (size_t i = 0; i < presets * PATTERNS; i++)
        if (in_sample((unsigned)(i + i / PATTERNS)))
            cases[count++] = (int)i;
    return cr_make_param_array(int, cases, count);
}

ParameterizedTest(int *number, rates, stated)
{
    size_t presets;
    const struct preset *preset = preset_table(&presets, &(struct diag){0})[*number / PATTERNS];
    enum pattern pattern = (enum pattern)(*number % PATTERNS);
    const struct preset_rates known = preset_rates(preset);
    double stated = (pattern == PEER ? known.peer : pattern == RING ? known.ring : known.network) * 1e9;
    if (stated <= 0) {
        cr_assert(pattern != NETWORK && preset->devices == 1, "%s states no rate", preset->name);
        return;
    }
    struct arena *arena = arena_create();
    struct platform *platform = load_preset(preset, arena);
    uint32_t from[128], to[128], count = transfers_of(preset, pattern, from, to);
    double rates[128], shared = INFINITY;
    view_rates(platform, from, to, count, rates);
    for (uint32_t i = 0; i < count; i++)
        shared = fmin(shared, rates[i]);
    double simulated = slowest_in_simgrid(platform, from, to, count);
    cr_assert(fabs(simulated / stated - 1) < 1e-6, "%s, pattern %d: %g stated, %g simulated", preset->name,
              (int)pattern, stated, simulated);
    cr_assert(fabs(shared / stated - 1) < 1e-9, "%s, pattern %d: %g stated, %g shared", preset->name, (int)pattern,
              stated, shared);
    arena_destroy(arena);
}

/* By hand, from the figures of each cable. */
static const struct {
    const char *name;
    struct preset_rates rates;
} by_hand[] = {
    {"dgx-1v", {40, 40, 11.25}},
    {"dgx-2", {120, 120, 11.25}},
    {"dgx-a100", {240, 240, 22.5}},
    {"dgx-h100", {370.8, 370.8, 45}},
    {"hgx-h800", {164.8, 164.8, 45}},
    {"dgx-h200", {370.8, 370.8, 45}},
    {"dgx-b200", {721.8, 721.8, 45}},
    {"gb200-nvl72", {721.8, 721.8, 45}},
    {"gb200-nvl576", {721.8, 721.8, 721.8}},
    {"summit", {40, 32, 11.5}},
    {"perlmutter", {80, 80, 22.5}},
    {"polaris", {80, 80, 22.5}},
    {"frontier", {160, 40, 22.5}},
    {"alps", {123.6, 123.6, 22.5}},
    {"piz-daint", {0, 0, 10}},
    {"aws-p4d", {240, 240, 10.4}},
    {"aws-p5", {370.8, 370.8, 35}},
    {"aws-p3dn", {40, 40, 10.4}},
    {"aws-p5en", {370.8, 370.8, 35}},
    {"aws-p6-b200", {721.8, 721.8, 35}},
    {"gb300-nvl72", {721.8, 721.8, 90}},
    {"mi300x", {48, 48, 45}},
    {"mi325x", {48, 48, 45}},
    {"mi355x", {57.5, 57.5, 48}},
    {"azure-nd-h100", {370.8, 370.8, 45}},
    {"azure-nd-mi300x", {48, 48, 45}},
    {"gcp-a3-mega", {370.8, 370.8, 22.5}},
    {"gcp-a3-high", {370.8, 370.8, 20}},
    {"gcp-a3-ultra", {370.8, 370.8, 45}},
    {"gcp-a4", {721.8, 721.8, 45}},
    {"leonardo", {80, 80, 11.25}},
    {"juwels-booster", {80, 80, 22.5}},
    {"aurora", {23, 23, 48}},
    {"el-capitan", {96, 96, 22.5}},
    {"pcie-v100", {12, 10, 11.25}},
    {"pcie-a100", {24, 16, 22.5}},
    {"tpu-v3", {73.8, 73.8, 73.8}},
    {"tpu-v4", {40.5, 40.5, 40.5}},
    {"tpu-v5p", {81, 81, 81}},
    {"graphcore-pod64", {102.4, 102.4, 25.6}},
    {"bow-pod", {102.4, 25.6, 10}},
    {"gaudi2", {31.875, 31.875, 31.875}},
    {"gaudi3", {73.2, 73.2, 73.2}},
    {"ascend-910", {24, 24, 10.625}},
    {"cerebras-cs2", {0, 0, 135}},
    {"ideal", {0, 0, 1000000}},
    {"mesh", {0, 0, 100}},
    {"ring", {0, 0, 100}},
};

Test(rates, by_hand)
{
    struct diag diag = {.out = stderr};
    size_t count;
    const struct preset *const *presets = preset_table(&count, &diag);
    cr_assert_eq(diag.errors, 0);
    cr_assert_eq(count, sizeof by_hand / sizeof *by_hand);
    for (size_t i = 0; i < count; i++) {
        struct preset_rates found = preset_rates(presets[i]), stated = by_hand[i].rates;
        cr_assert_str_eq(presets[i]->name, by_hand[i].name);
        cr_expect(fabs(found.peer - stated.peer) <= 1e-9 * stated.peer, "%s: pair %g", presets[i]->name, found.peer);
        cr_expect(fabs(found.ring - stated.ring) <= 1e-9 * stated.ring, "%s: ring %g", presets[i]->name, found.ring);
        cr_expect(fabs(found.network - stated.network) <= 1e-9 * stated.network, "%s: out %g", presets[i]->name,
                  found.network);
    }
}
