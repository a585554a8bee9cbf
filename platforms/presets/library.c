/* SPDX-License-Identifier: Apache-2.0 */
/* Collective libraries of products over networks, of one process, and of nodes that no preset made. Regimes come from
 * published tables of nccl-tests, fitted with `stagesim platform fit`; launch times from runs with a process for each
 * GPU, as training has them: some of the tables are of one process, whose launches take longer. */
#include "platforms/presets/presets.h"

#include "abi/workload.h"
#include "base/arena.h"
#include "platforms/library.h"
#include "platforms/presets/library_read.h"

#include <math.h>
#include <string.h>

#define US 1e-6
static const struct platform_protocol *find(const struct platform_regime *regime, const char *name)
{
    for (uint32_t i = 0; i < regime->protocol_count; i++)
        if (strcmp(regime->protocols[i].name, name) == 0)
            return &regime->protocols[i];
    return NULL;
}

/* NCCL and RCCL send what is no longer than this to one rank in LL, all else in Simple (NCCL_P2P_LL_THRESHOLD,
 * NVIDIA/nccl, src/enqueue.cc). */
#define MESSAGE_LOW_BYTES 16384

/* Messages over nodes in the network's first and last protocol, where those within a node have protocols of their own:
 * those have their launch apart from what rings take. Messages leave at once, so they take the route's own latency. */
static void add_messages(struct platform_regime *over, const struct platform_regime *node, double efficiency)
{
    const struct platform_protocol *low = find(over, "low"), *bulk = find(over, "bulk");
    if (!node->direct_count || !low || !bulk)
        return;
    over->direct[over->direct_count++] =
        (struct platform_protocol){low->name, low->start, 1, low->efficiency, MESSAGE_LOW_BYTES, 0};
    over->direct[over->direct_count++] = (struct platform_protocol){
        bulk->name, bulk->start, 1, bulk->efficiency * (efficiency > 0 ? efficiency : 1), 0, 0};
}

const struct design_library *library_over(const struct design_library *library, const struct design_network *network,
                                          double latency, struct arena *arena)
{
    struct design_library *both = arena_alloc(arena, sizeof *both);
    *both = *library;
    const struct platform_regime *node = &library->properties.regimes[SCOPE_NODE];
    struct platform_regime *over = &both->properties.regimes[SCOPE_NETWORK];
    for (const struct network_protocol *own = network->protocols;
         own < network->protocols + PLATFORM_PROTOCOLS && own->name; own++)
        if (!network->known_only || find(node, own->name))
            over->protocols[over->protocol_count++] = (struct platform_protocol){
                own->name, own->start, round(own->hop / latency * 1e3) / 1e3, own->efficiency, 0, 0};
    if (!over->protocol_count)
        return library;
    const struct platform_protocol *last = find(over, "bulk");
    if (over->in_network_start > 0 && last) /* trees over switches take no less than the network's others */
        over->in_network_start = fmax(over->in_network_start, last->start);
    add_messages(over, node, library->properties.direct_efficiency[SCOPE_NETWORK]);
    if (!over->launch_default_given) { /* what a library says of itself counts more */
        over->launch_default_given = !isnan(network->launch);
        over->launch_default = over->launch_default_given ? network->launch : 0;
    }
    library_complete(&both->properties);
    return both;
}

/* A process that drives several GPUs launches on one after the other. Microseconds of so many, the line through two
 * tables: 8 A100 33 beside the transfers, 12 V100 56 (all-reduce, smallest sizes). Messages of an all-to-all, for each
 * GPU: 8 A100 87, of which the protocol takes 33. */
static double launch_us(uint32_t devices)
{
    return fmax(0, 5.75 * devices - 13);
}
#define EACH_DIRECT_US 6.7

/* What torch adds that times each collective by itself, microseconds: 8 H200 take 20 more than 8 H100 of nccl-tests
 * from 64 KiB to 4 MiB, 8 B200 20 to 26 more than others (stas00/ml-engineering beside ai-dynamo/aiconfigurator). */
#define TORCH_US 20

static const struct design_library *library_from_torch(const struct design_library *library, struct arena *arena)
{
    struct design_library *slow = arena_alloc(arena, sizeof *slow);
    *slow = *library;
    slow->source =
        arena_print(arena, "%s; launch from torch as on 8 H200 and 8 B200 (stas00/ml-engineering)", library->source);
    struct platform_regime *regime = &slow->properties.regimes[SCOPE_NODE];
    regime->launch_default += TORCH_US * US;
    regime->launch_default_given = true;
    for (uint32_t kind = 0; kind < PLATFORM_COLLECTIVES; kind++)
        if (regime->launch_given[kind])
            regime->launch[kind] += TORCH_US * US;
    library_complete_launches(&slow->properties);
    return slow;
}

static const struct design_library *library_of_one_process(const struct design_library *library, uint32_t devices,
                                                           struct arena *arena)
{
    struct design_library *slow = arena_alloc(arena, sizeof *slow);
    *slow = *library;
    slow->source = arena_print(arena, "%s; launch of one process on %u GPUs as in nccl-tests on 8 A100 and 12 V100",
                               library->source, devices);
    struct platform_regime *regime = &slow->properties.regimes[SCOPE_NODE];
    regime->launch_default = fmax(regime->launch_default, launch_us(devices) * US);
    regime->launch_default_given = true;
    regime->launch[STAGESIM_ALL_TO_ALL] = regime->launch[STAGESIM_SEND_RECEIVE] = devices * EACH_DIRECT_US * US;
    regime->launch_given[STAGESIM_ALL_TO_ALL] = regime->launch_given[STAGESIM_SEND_RECEIVE] = true;
    library_complete_launches(&slow->properties);
    return slow;
}

const struct design_library *library_launched(const struct design_library *library, enum launch_way way,
                                              uint32_t devices, struct arena *arena)
{
    if (way == LAUNCH_ONE_PROCESS)
        return library_of_one_process(library, devices, arena);
    return way == LAUNCH_TORCH ? library_from_torch(library, arena) : library;
}

static bool joined_directly(const struct node_graph *node)
{
    for (uint32_t i = 0; i < node->cable_count; i++)
        if (node->parts[node->cables[i].ends[0]].kind == NODE_DEVICE &&
            node->parts[node->cables[i].ends[1]].kind == NODE_DEVICE)
            return true;
    return false;
}

const struct design_library *library_of_node(const struct node_graph *node)
{
    struct diag silent = {0};
    const struct device_model *model = node_device_count(node) ? node->parts[0].model : NULL;
    const char *name = !model ? NULL : joined_directly(node) ? model->direct : model->switched;
    return name ? design_library_find(name, (struct place){0}, &silent) : NULL;
}
