/* SPDX-License-Identifier: Apache-2.0 */
/* Collective libraries of products. Regimes come from published tables of nccl-tests, fitted with `stagesim platform fit`; launch times
 * from runs with a process for each GPU, as training has them: some of the tables are of one process, whose launches take longer. */
#include "platforms/presets.h"

#define US 1e-6
#define LAUNCH(us) .launch_default = (us)*US
#define NODE(...) .regimes[SCOPE_NODE] = {__VA_ARGS__}
#define NETWORK(...) .regimes[SCOPE_NETWORK] = {__VA_ARGS__}

const struct design_library library_a100 = {
    {NODE(LAUNCH(14), .protocols = {{"low", 0, 0.23, 0.17}, {"bulk", 33 * US, 1.2, 0.94}}, .protocol_count = 2)},
    "regimes fitted to all-reduce, reduce-scatter and all-to-all of 8 A100 (microsoft/superbenchmark, tests/data); launch 13 to 15 us in "
    "MPI runs of nccl-tests",
    CONFIDENCE_H};

const struct design_library library_h100 = {
    {NODE(LAUNCH(12), .protocols = {{"low", 0, 0.17, 0.0011}, {"middle", 3.6 * US, 0.15, 0.59}, {"bulk", 62 * US, 0.3, 0.99}},
          .protocol_count = 3),
     .in_network = PLATFORM_REDUCES_IN_NODE, .in_network_efficiency = 0.74},
    "fitted to all-reduce of 8 H100 with NVLS (NVIDIA/dgxc-benchmarking, nccl/README.md); NVLS reaches a busbw of 480 GB/s, rings 370",
    CONFIDENCE_H};

const struct design_library library_blackwell = {
    {NODE(LAUNCH(12), .protocols = {{"low", 0, 0.05, 0.29}, {"bulk", 54 * US, 0.3, 1}}, .protocol_count = 2),
     .in_network = PLATFORM_REDUCES_IN_NODE, .in_network_efficiency = 0.59},
    "regimes fitted to all-reduce of 8 B200 with NVLS (stas00/ml-engineering, network/README.md); launch as on H100; NVLS over 72 GPUs: "
    "busbw of 839 GB/s (coreweave/nccl-tests)",
    CONFIDENCE_M};

const struct design_library library_dgx_2 = {
    {NODE(LAUNCH(14), .protocols = {{"low", 0, 0.4, 0.57}, {"bulk", 95 * US, 0.23, 1.04}}, .protocol_count = 2)},
    "regimes fitted to all-reduce of 12 V100 of a DGX-2 (one process); launch 13 to 15 us in MPI runs of nccl-tests",
    CONFIDENCE_M};

const struct design_library library_nccl = {
    {NODE(LAUNCH(14))}, "launch 13 to 18 us in MPI runs of nccl-tests on other machines; no table of this one is at hand", CONFIDENCE_L};

/* The sizes are those of the platform. */
const struct design_library library_torus = {
    {NODE(LAUNCH(0))}, "chips reduce along all dimensions of the torus at once: SB; nothing is known of start-up times", CONFIDENCE_M};
