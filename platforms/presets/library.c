/* SPDX-License-Identifier: Apache-2.0 */
/* Collective libraries of products. Regimes come from published tables of nccl-tests, fitted with `stagesim platform
 * fit`; launch times from runs with a process for each GPU, as training has them: some of the tables are of one
 * process, whose launches take longer. */
#include "platforms/presets/presets.h"

#include "abi/workload.h"
#include "base/arena.h"
#include "platforms/library.h"

#include <math.h>
#include <string.h>

#define US 1e-6
#define LAUNCH(us) .launch_default = (us)*US
#define NODE(...) .regimes[SCOPE_NODE] = {__VA_ARGS__}

const struct design_library library_a100 = {
    {NODE(LAUNCH(14), .protocols = {{"low", 0, 0.23, 0.17}, {"bulk", 33 * US, 1.2, 0.94}}, .protocol_count = 2),
     .tree_rate = 189e9, .tree_rate_many = 142e9, .copy_rate = 215e9},
    "trees over nodes 8 channels of 23.6 and 17.8 GB/s (NVIDIA/nccl, src/graph/tuning.cc); copies of a GPU's own part "
    "200 to 230 GB/s; regimes fitted to all-reduce, reduce-scatter and all-to-all of 8 A100 (microsoft/superbenchmark, "
    "tests/data); "
    "launch 13 to 15 us in "
    "MPI runs of nccl-tests",
    CONFIDENCE_H};

const struct design_library library_h100 = {
    {NODE(LAUNCH(12),
          .protocols = {{"low", 0, 0.17, 0.0011}, {"middle", 3.6 * US, 0.15, 0.59}, {"bulk", 62 * US, 0.3, 0.99}},
          .protocol_count = 3),
     .in_network = PLATFORM_REDUCES_IN_NODE, .in_network_efficiency = 0.85, .tree_rate = 462e9,
     .tree_rate_many = 364e9},
    "fitted to all-reduce of 8 H100 with NVLS (NVIDIA/dgxc-benchmarking, nccl/README.md); NVLS reaches a busbw of 480 "
    "GB/s, rings 370; 85 % of the links (nvlsEfficiency), trees over nodes 8 channels of 57.7 and 45.5 GB/s "
    "(NVIDIA/nccl, "
    "src/graph/tuning.cc)",
    CONFIDENCE_H};

const struct design_library library_blackwell = {
    {NODE(LAUNCH(12), .protocols = {{"low", 0, 0.05, 0.29}, {"bulk", 54 * US, 0.3, 1}}, .protocol_count = 2),
     .in_network = PLATFORM_REDUCES_IN_NODE, .in_network_efficiency = 0.73, .in_network_decline = 0.047,
     .tree_rate = 685e9, .tree_rate_many = 384e9, .direct_efficiency[SCOPE_NODE] = 0.93},
    "regimes fitted to all-reduce of 8 B200 with NVLS (stas00/ml-engineering, network/README.md); launch as on H100; "
    "NVLS over 72 GPUs: busbw of 839 GB/s (coreweave/nccl-tests), 8 GPUs 846; trees over nodes 16 channels of 42.8 and "
    "24 "
    "GB/s (NVIDIA/nccl, src/graph/tuning.cc)",
    CONFIDENCE_M};

/* Racks of one NVLink domain. Over two racks, messages of an all-to-all get 24 of a RoCE interface's 42.5 GB/s. */
const struct design_library library_nvl72 = {
    {NODE(LAUNCH(12), .protocols = {{"low", 0, 0.05, 0.29}, {"bulk", 54 * US, 1.36, 1}}, .protocol_count = 2),
     .in_network = PLATFORM_REDUCES_IN_NODE, .in_network_efficiency = 0.73, .in_network_decline = 0.047,
     .tree_rate = 685e9, .tree_rate_many = 384e9, .direct_efficiency = {0.93, 0.56}},
    "as of 8 B200, with NCCL's 3.4 us for each of a rack's hops; NVLS over 72 GPUs: busbw of 839 GB/s "
    "(coreweave/nccl-tests); trees over nodes 16 channels "
    "of "
    "42.8 and 24 GB/s (NVIDIA/nccl, src/graph/tuning.cc); all-to-all over two racks 48 GB/s (OCI's guide, GB300)",
    CONFIDENCE_M};

const struct design_library library_dgx_2 = {
    {NODE(LAUNCH(14), .protocols = {{"low", 0, 0.4, 0.57}, {"bulk", 95 * US, 0.23, 1.04}}, .protocol_count = 2)},
    "regimes fitted to all-reduce of 12 V100 of a DGX-2 (one process); launch 13 to 15 us in MPI runs of nccl-tests",
    CONFIDENCE_M};

const struct design_library library_nccl = {
    {NODE(LAUNCH(14))},
    "launch 13 to 18 us in MPI runs of nccl-tests on other machines; no table of this one is at hand",
    CONFIDENCE_L};

#define ON_LINKS "rings over the links between GPUs, as many as they hold (NVIDIA/nccl, src/graph/search.cc)"

const struct design_library library_nccl_links = {
    {NODE(LAUNCH(14)), .rings = PLATFORM_RINGS_ON_LINKS},
    "launch 13 to 18 us in MPI runs of nccl-tests on other machines; " ON_LINKS,
    CONFIDENCE_L};

/* Values that are not fitted to such nodes: those of A100 on NVSwitch. */
const struct design_library library_a100_links = {
    {NODE(LAUNCH(14), .protocols = {{"low", 0, 0.23, 0.17}, {"bulk", 33 * US, 1.2, 0.94}}, .protocol_count = 2),
     .rings = PLATFORM_RINGS_ON_LINKS, .copy_rate = 215e9},
    "regimes of 8 A100 on NVSwitch (microsoft/superbenchmark, tests/data); " ON_LINKS,
    CONFIDENCE_M};

/* NCCL's own model of an NVLink hop: 0.6 us in LL and 3.4 us in Simple of the link's 1.9 us; LL moves at most 39 of the
 * 120 GB/s; older releases count 22 GB/s for a link in place of 20, and DGX-1V reach 129 to 135 of 6 x 22. */
const struct design_library library_v100_links = {
    {NODE(LAUNCH(14), .protocols = {{"low", 0, 0.32, 0.33}, {"bulk", 2 * US, 1.8, 1.08}}, .protocol_count = 2),
     .rings = PLATFORM_RINGS_ON_LINKS},
    "hops, rate of LL and 22 GB/s a link: NCCL's own model (NVIDIA/nccl, src/graph/tuning.cc, topo.h of older "
    "releases); launch 13 to 15 us in MPI runs of nccl-tests; " ON_LINKS,
    CONFIDENCE_M};

/* NCCL's hops over PCI Express, 1.0 us in LL and 5.7 us in Simple, as ratios of 4.5 us over both sockets. The launch is
 * that of MPI runs, 14 us, without the six hops of four GPUs. */
const struct design_library library_pcie_v100 = {
    {NODE(LAUNCH(8), .protocols = {{"low", 0, 0.22, 0.5}, {"bulk", 2 * US, 1.27, 1}}, .protocol_count = 2)},
    "hops and the half rate of LL: NCCL's own model (NVIDIA/nccl, src/graph/tuning.cc); launch 13 to 15 us in MPI runs "
    "of nccl-tests",
    CONFIDENCE_M};

const struct design_library library_mi250x = {{NODE(LAUNCH(14)), .rings = PLATFORM_RINGS_ON_LINKS},
                                              "launch as in MPI runs of RCCL on MI300X; " ON_LINKS,
                                              CONFIDENCE_L};

const struct design_library library_mi300x = {
    {NODE(LAUNCH(13.7), .protocols = {{"low", 0, 0.04, 0.6}, {"bulk", 42 * US, 0.1, 0.94}}, .protocol_count = 2),
     .rings = PLATFORM_RINGS_ON_LINKS, .direct_efficiency[SCOPE_NODE] = 0.95},
    "regimes fitted to all-reduce of 8 MI300X (hisohara/ai-scripts, RCCL over MPI); all-to-all as of the "
    "MI355X; " ON_LINKS,
    CONFIDENCE_H};

const struct design_library library_mi355x = {
    {NODE(LAUNCH(13.7), .protocols = {{"low", 0, 0.04, 0.6}, {"bulk", 42 * US, 0.1, 1}}, .protocol_count = 2),
     .rings = PLATFORM_RINGS_ON_LINKS, .direct_efficiency[SCOPE_NODE] = 0.9},
    "regimes as of the MI300X, rings of 407 GB/s (OCI); all-to-all reaches 361 of 403 GB/s (OCI's guide); " ON_LINKS,
    CONFIDENCE_M};

/* The sizes are those of the platform. */
const struct design_library library_torus = {
    {NODE(LAUNCH(0))},
    "chips reduce along all dimensions of the torus at once: SB; nothing is known of start-up times",
    CONFIDENCE_M};

/* ---- over nodes ---- */

/* Hops as in NCCL's own model: LL 2.7, LL128 4.0 and Simple 14 us over a network. Of the interfaces 81 to 92 % of the
 * line rate are reached on 4 to 128 nodes, where links have 90 %. */
const struct design_network network_infiniband = {
    NAN,
    {{"low", 0, 2.7 * US, 0.4}, {"middle", 55 * US, 4 * US, 0.89}, {"bulk", 170 * US, 14 * US, 0.95}},
    false,
    "2.7, 4.0 and 14 us from GPU to GPU in NCCL's protocols (NVIDIA/nccl, src/graph/tuning.cc); start-ups and rates "
    "fitted to all-reduce of 2 x 8 H100 (NVIDIA/nccl-tests, issue 309)",
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

/* The software decides, not the fabric: one site takes 220 us, another one 190, and one with tuned drivers 38. */
const struct design_network network_roce = {
    205 * US,
    {{"low", 0, 2.7 * US, 0.2}, {"bulk", 140 * US, 14 * US, 1}},
    false,
    "smallest all-reduces of 2 x 8 MI300X (hisohara/ai-scripts) and 2 x 64 GB200 (oracle-quickstart): 220 and 185 us; "
    "hops of NCCL's own model",
    CONFIDENCE_M};

const struct design_network network_roce_tuned = {
    30 * US,
    {{"low", 0, 2.7 * US, 0.2}, {"bulk", 40 * US, 14 * US, 1}},
    false,
    "fitted to all-reduce of 2 x 8 MI355X with AINIC (RCCL 2.27.7); hops of NCCL's own model",
    CONFIDENCE_M};

/* No table of NCCL over sockets is known. */
const struct design_network network_tcp = {
    NAN,
    {{"low", NAN, 25 * US, NAN}, {"middle", NAN, 25 * US, NAN}, {"bulk", NAN, 50 * US, NAN}},
    true,
    "a hop takes the 25 us of a message through the kernel, in Simple with its answer; the rest as within a node; "
    "estimated",
    CONFIDENCE_L};

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

/* A process that drives several GPUs launches on one after the other. Microseconds of so many, the line through two
 * tables: 8 A100 33 beside the transfers, 12 V100 56 (all-reduce, smallest sizes). Messages of an all-to-all, for each
 * GPU: 8 A100 87, of which the protocol takes 33. */
static double launch_us(uint32_t devices)
{
    return fmax(0, 5.75 * devices - 13);
}
#define EACH_DIRECT_US 6.7

const struct design_library *library_of_one_process(const struct design_library *library, uint32_t devices,
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
    static const struct {
        const char *model; /* or how its name begins */
        const struct design_library *switched, *direct;
    } rows[] = {{"V100", &library_dgx_2, &library_v100_links},    {"A100", &library_a100, &library_a100_links},
                {"H100", &library_h100, &library_a100_links},     {"H200", &library_h100, &library_a100_links},
                {"GH200", &library_h100, &library_a100_links},    {"B200", &library_blackwell, &library_a100_links},
                {"GB200", &library_nvl72, &library_a100_links},   {"GB300", &library_nvl72, &library_a100_links},
                {"P100", &library_nccl, &library_nccl_links},     {"MI250X", &library_nccl, &library_mi250x},
                {"MI300", &library_mi300x, &library_mi300x},      {"MI325X", &library_mi300x, &library_mi300x},
                {"MI355X", &library_mi355x, &library_mi355x},     {"MI50", &library_nccl, &library_nccl_links},
                {"PVC", &library_nccl_links, &library_nccl_links}};
    const struct device_model *model = node_device_count(node) ? node->parts[0].model : NULL;
    bool direct = joined_directly(node);
    for (size_t i = 0; model && i < sizeof rows / sizeof *rows; i++)
        if (strncmp(model->name, rows[i].model, strlen(rows[i].model)) == 0) {
            bool card = !direct && strstr(model->name, "PCIE"); /* no NVSwitch either */
            return card ? &library_nccl : direct ? rows[i].direct : rows[i].switched;
        }
    return NULL;
}
