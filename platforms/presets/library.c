/* SPDX-License-Identifier: Apache-2.0 */
/* Collective libraries of products. Regimes come from published tables of nccl-tests, fitted with `stagesim platform
 * fit`; launch times from runs with a process for each GPU, as training has them: some of the tables are of one
 * process, whose launches take longer. */
#include "platforms/presets/presets.h"

#include "base/arena.h"
#include "platforms/library.h"

#include <math.h>
#include <string.h>

#define US 1e-6
#define LAUNCH(us) .launch_default = (us)*US
#define NODE(...) .regimes[SCOPE_NODE] = {__VA_ARGS__}

const struct design_library library_a100 = {
    {NODE(LAUNCH(14), .protocols = {{"low", 0, 0.23, 0.17}, {"bulk", 33 * US, 1.2, 0.94}}, .protocol_count = 2)},
    "regimes fitted to all-reduce, reduce-scatter and all-to-all of 8 A100 (microsoft/superbenchmark, tests/data); "
    "launch 13 to 15 us in "
    "MPI runs of nccl-tests",
    CONFIDENCE_H};

const struct design_library library_h100 = {
    {NODE(LAUNCH(12),
          .protocols = {{"low", 0, 0.17, 0.0011}, {"middle", 3.6 * US, 0.15, 0.59}, {"bulk", 62 * US, 0.3, 0.99}},
          .protocol_count = 3),
     .in_network = PLATFORM_REDUCES_IN_NODE, .in_network_efficiency = 0.74},
    "fitted to all-reduce of 8 H100 with NVLS (NVIDIA/dgxc-benchmarking, nccl/README.md); NVLS reaches a busbw of 480 "
    "GB/s, rings 370",
    CONFIDENCE_H};

const struct design_library library_blackwell = {
    {NODE(LAUNCH(12), .protocols = {{"low", 0, 0.05, 0.29}, {"bulk", 54 * US, 0.3, 1}}, .protocol_count = 2),
     .in_network = PLATFORM_REDUCES_IN_NODE, .in_network_efficiency = 0.59},
    "regimes fitted to all-reduce of 8 B200 with NVLS (stas00/ml-engineering, network/README.md); launch as on H100; "
    "NVLS over 72 GPUs: "
    "busbw of 839 GB/s (coreweave/nccl-tests)",
    CONFIDENCE_M};

const struct design_library library_dgx_2 = {
    {NODE(LAUNCH(14), .protocols = {{"low", 0, 0.4, 0.57}, {"bulk", 95 * US, 0.23, 1.04}}, .protocol_count = 2)},
    "regimes fitted to all-reduce of 12 V100 of a DGX-2 (one process); launch 13 to 15 us in MPI runs of nccl-tests",
    CONFIDENCE_M};

const struct design_library library_nccl = {
    {NODE(LAUNCH(14))},
    "launch 13 to 18 us in MPI runs of nccl-tests on other machines; no table of this one is at hand",
    CONFIDENCE_L};

/* The sizes are those of the platform. */
const struct design_library library_torus = {
    {NODE(LAUNCH(0))},
    "chips reduce along all dimensions of the torus at once: SB; nothing is known of start-up times",
    CONFIDENCE_M};

/* ---- over nodes ---- */

/* Hops as in NCCL's own model: LL 2.7, LL128 4.0 and Simple 14 us over a network. Everything else is the product's. */
const struct design_network network_infiniband = {
    NAN,
    {{"low", NAN, 2.7 * US, NAN}, {"middle", NAN, 4 * US, NAN}, {"bulk", NAN, 14 * US, NAN}},
    true,
    "2.7, 4.0 and 14 us from GPU to GPU in NCCL's protocols (NVIDIA/nccl, src/graph/tuning.cc); the rest as within a "
    "node",
    CONFIDENCE_M};

/* With one table of two nodes, what a hop costs and what the whole collective does cannot be told apart: hops take the
 * link's 18 us. */
const struct design_network network_efa = {
    NAN,
    {{"low", 102 * US, 18 * US, 0.0123}, {"middle", 134 * US, 18 * US, 0.324}, {"bulk", 700 * US, 18 * US, 1.02}},
    false,
    "start-ups and rates fitted to all-reduce of 2 x 8 A100 of p4de.24xlarge "
    "(aws-samples/awsome-distributed-training), hops as long as a "
    "message takes",
    CONFIDENCE_H};

const struct design_network network_efa_2 = {
    NAN,
    {{"low", 51 * US, 18 * US, 0.0123}, {"middle", 67 * US, 18 * US, 0.324}, {"bulk", 350 * US, 18 * US, 1.02}},
    false,
    "as fitted to p4de.24xlarge, with half the start-ups: small all-reduces of the later generations take about half "
    "as long",
    CONFIDENCE_L};

/* Ratios that give NCCL's hops of 0.6 us (LL) and 3.5 us (Simple) within a node, of which no table is known. */
const struct design_network network_slingshot = {
    11.3 * US,
    {{"low", 0, 0.72 * US, 0.00325}, {"middle", 13.6 * US, 0.72 * US, 0.0305}, {"bulk", 122 * US, 4.2 * US, 0.8}},
    false,
    "fitted to all-reduce of 2 x 4 GH200 of Alps (eth-cscs/cscs-docs)",
    CONFIDENCE_H};

static const struct platform_protocol *find(const struct platform_regime *regime, const char *name)
{
    for (uint32_t i = 0; i < regime->protocol_count; i++)
        if (strcmp(regime->protocols[i].name, name) == 0)
            return &regime->protocols[i];
    return NULL;
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
                own->name, own->start, round(own->hop / latency * 1e3) / 1e3, own->efficiency};
    if (!over->protocol_count)
        return library;
    over->launch_default_given = !isnan(network->launch);
    over->launch_default = over->launch_default_given ? network->launch : 0;
    library_complete(&both->properties);
    return both;
}
