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
    if (strcmp(preset->name, "tpu-v4") == 0)
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
    preset_table(&presets);
    for (size_t i = 0; i < presets * PATTERNS; i++)
        if (in_sample((unsigned)(i + i / PATTERNS)))
            cases[count++] = (int)i;
    return cr_make_param_array(int, cases, count);
}

ParameterizedTest(int *number, rates, stated)
{
    size_t presets;
    const struct preset *preset = &preset_table(&presets)[*number / PATTERNS];
    enum pattern pattern = (enum pattern)(*number % PATTERNS);
    double stated = (pattern == PEER   ? preset->peer_rate
                     : pattern == RING ? preset->ring_rate
                                       : preset->network_rate) *
                    1e9;
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
