/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of cables in the nodes of the presets, with their rates and sources. */
#ifndef STAGESIM_WIRES_H
#define STAGESIM_WIRES_H

#include "platforms/generate/node.h"

#define US 1e-6

static const struct wire nvlink2 = {
    "nvlink",
    25,
    20,
    0.95 * US,
    "V100: NCCL topo.h, 20 GB/s reached per link; a peer write takes about 1.9 us over two ends",
    CONFIDENCE_H};
static const struct wire nvlink2_pair = {
    "nvlink",    25, 20, 1.9 * US, "V100: NCCL topo.h, 20 GB/s reached per link; a peer write takes about 1.9 us",
    CONFIDENCE_H};
static const struct wire nvlink3 = {
    "nvlink",
    25,
    20,
    1.35 * US,
    "A100: NCCL topo.h, 20 GB/s reached per link; a peer write takes 2.6 to 2.8 us over two ends",
    CONFIDENCE_H};
static const struct wire nvlink3_pair = {
    "nvlink",    25, 20, 2.7 * US, "A100: NCCL topo.h, 20 GB/s reached per link; a peer write takes 2.6 to 2.8 us",
    CONFIDENCE_H};
static const struct wire nvlink4 = {
    "nvlink",
    25,
    20.6,
    1.25 * US,
    "H100: NCCL topo.h, 20.6 GB/s reached per link; latency of 2 to 3 us over two ends estimated",
    CONFIDENCE_H};
static const struct wire nvlink4_pair = {
    "nvlink",    25, 20.6, 2.5 * US, "H100: NCCL topo.h, 20.6 GB/s reached per link; latency of 2 to 3 us estimated",
    CONFIDENCE_H};
static const struct wire nvlink5 = {
    "nvlink",    50, 40.1, 1.25 * US, "B200: NCCL topo.h, 40.1 GB/s reached per link; latency as NVLink4, estimated",
    CONFIDENCE_H};
static const struct wire board_trunk = {
    "trunk",
    25,
    20,
    0.3 * US,
    "DGX-2: 8 NVLinks between each of 6 pairs of NVSwitches on the two boards; latency estimated",
    CONFIDENCE_M};
static const struct wire c2c = {
    "c2c",       450, 368, 0.5 * US, "NVLink-C2C: 450 GB/s specified, 368 GB/s measured one way; latency estimated",
    CONFIDENCE_M};
static const struct wire xgmi = {
    "xgmi",      50, 40, 1.5 * US, "Infinity Fabric of MI250X: raw rate OLCF; 80 % of it reached and latency estimated",
    CONFIDENCE_M};
static const struct wire pcie3 = {
    "pcie", 15.75, 12, 1.5 * US, "PCIe Gen3 x16: NCCL topo.h, 12 GB/s reached; latency estimated", CONFIDENCE_H};
static const struct wire pcie4 = {
    "pcie", 31.51, 24, 1.5 * US, "PCIe Gen4 x16: NCCL topo.h, 24 GB/s reached; latency estimated", CONFIDENCE_H};
static const struct wire pcie5 = {
    "pcie", 63.02, 48, 1.5 * US, "PCIe Gen5 x16: NCCL topo.h, 48 GB/s reached; latency estimated", CONFIDENCE_H};
static const struct wire root3 = {
    "root",
    15.75,
    12,
    0.5 * US,
    "PCIe Gen3 x16 from switch to socket, shared by what hangs on the switch: NCCL topo.h; latency estimated",
    CONFIDENCE_H};
static const struct wire root4 = {
    "root",
    31.51,
    24,
    0.5 * US,
    "PCIe Gen4 x16 from switch to socket, shared by what hangs on the switch: NCCL topo.h; latency estimated",
    CONFIDENCE_H};
static const struct wire qpi = {
    "socket",
    9.6,
    6,
    0.5 * US,
    "Broadwell QPI: NCCL topo.h, 6 GB/s reached by device traffic; raw rate and latency estimated",
    CONFIDENCE_H};
static const struct wire skylake_upi = {
    "socket",
    10.4,
    10,
    0.5 * US,
    "Skylake UPI: NCCL topo.h, 10 GB/s reached by device traffic; raw rate and latency estimated",
    CONFIDENCE_H};
static const struct wire upi = {
    "socket",
    0,
    22,
    0.5 * US,
    "Sapphire Rapids UPI: NCCL topo.h, 22 GB/s reached by device traffic; latency estimated",
    CONFIDENCE_H};
static const struct wire amd_socket = {
    "socket",
    0,
    16,
    0.5 * US,
    "AMD socket to socket: NCCL topo.h, 16 GB/s reached by device traffic; latency estimated",
    CONFIDENCE_H};
static const struct wire xbus = {
    "socket",    64, 32, 0.5 * US, "POWER9 X-bus: raw rate OLCF, 32 GB/s reached NCCL topo.h; latency estimated",
    CONFIDENCE_H};
static const struct wire power_nvlink = {
    "cpu-nvlink",
    25,
    20,
    0.95 * US,
    "V100 to POWER9: 2 bricks of 25 GB/s (OLCF), 20 GB/s reached as between GPUs; latency estimated",
    CONFIDENCE_H};
static const struct wire edr = {
    "nic",
    12.5,
    11.25,
    0.2 * US,
    "InfiniBand EDR: 0.9 to 0.97 of raw reached, 0.9 taken; 0.5 us end to end with the switch",
    CONFIDENCE_H};
static const struct wire summit_edr = {
    "nic",
    12.5,
    11.5,
    0.2 * US,
    "dual-rail InfiniBand EDR: 23 GB/s injection of a node (OLCF), half at each socket; 0.5 us end to end",
    CONFIDENCE_H};
static const struct wire hdr = {
    "nic",
    25,
    22.5,
    0.2 * US,
    "InfiniBand HDR: 0.9 to 0.97 of raw reached, 0.9 taken; 0.6 us end to end with the switch",
    CONFIDENCE_H};
static const struct wire ndr = {"nic",
                                50,
                                45,
                                0.2 * US,
                                "InfiniBand NDR: 0.9 to 0.97 of raw reached, 0.9 taken; latency as HDR, not published",
                                CONFIDENCE_H};
static const struct wire slingshot = {
    "nic",
    25,
    22.5,
    0.65 * US,
    "Slingshot-11: 0.9 of raw as for InfiniBand, estimated; MPI about 2 us with 350 ns a switch",
    CONFIDENCE_M};
static const struct wire efa = {
    "nic",
    12.5,
    10.4,
    7 * US,
    "EFA 100 Gb/s: 83 % reached by nccl-tests on two p4de nodes; MPI latency of about 15 us recalled",
    CONFIDENCE_M};
static const struct wire efa_p5 = {
    "nic",
    12.5,
    8.75,
    7 * US,
    "EFA 100 Gb/s: 65 to 75 % reached by nccl-tests on p5 class nodes, 70 % taken; MPI latency of about 15 us recalled",
    CONFIDENCE_M};
static const struct wire ipu_exchange = {"ipu-link",
                                         16,
                                         12.8,
                                         0.5 * US,
                                         "IPU-Links of 16 GB/s, 8 of an IPU inside the machine: machine figures GC, "
                                         "split derived; 80 % reached and latency estimated",
                                         CONFIDENCE_M};
static const struct wire ipu_port = {"ipu-port",
                                     16,
                                     12.8,
                                     0.5 * US,
                                     "IPU-Links of 16 GB/s, 2 of an IPU leave the machine, shared by both neighbours: "
                                     "GC; 80 % reached and latency estimated",
                                     CONFIDENCE_M};
static const struct wire bow_machine = {
    "machine-link",
    64,
    51.2,
    0.5 * US,
    "4 of a machine's 8 IPU-Links to each neighbour in the loop, 512 Gb/s: Bow-2000 "
    "data sheet; 80 % reached and latency estimated",
    CONFIDENCE_H};
static const struct wire bow_gateway = {
    "gw-link",
    12.5,
    10,
    2 * US,
    "GW-Links of 100 Gb/s, one of a machine to the rack on either side (docs.graphcore.ai, switched GW-Links); 80 % "
    "reached and latency estimated",
    CONFIDENCE_M};
static const struct wire gaudi2_pair = {
    "roce",
    12.5,
    10.625,
    2 * US,
    "100 GbE with RoCE on the chip, 21 of 24 ports to the 7 others of a server: Habana; 85 % reached and latency "
    "estimated",
    CONFIDENCE_M};
static const struct wire gaudi2_out = {
    "nic",
    12.5,
    10.625,
    1 * US,
    "100 GbE with RoCE on the chip, 3 of 24 ports leave the server: Habana; 85 % reached and latency estimated",
    CONFIDENCE_M};
static const struct wire hccs = {
    "hccs",
    30,
    24,
    2 * US,
    "HCCS links of 30 GB/s among four Ascend 910, recalled; 80 % reached and latency estimated",
    CONFIDENCE_L};
static const struct wire ascend_nic = {
    "nic",       12.5, 10.625, 0.4 * US, "100 Gb/s RoCE of each Ascend 910; 85 % reached and latency estimated",
    CONFIDENCE_M};
static const struct wire cs2_ethernet = {
    "nic", 150, 135, 2 * US, "12 x 100 Gb/s Ethernet of a CS-2; 90 % reached and latency estimated", CONFIDENCE_M};

static const struct wire xgmi_mi300 = {
    "xgmi",
    64,
    48,
    1.5 * US,
    "Infinity Fabric of MI300X and MI325X: 64 GB/s raw, 48 usable (ROCm/rccl, GFX94X_XGMI_WIDTH); latency estimated",
    CONFIDENCE_H};
static const struct wire xgmi_mi350 = {
    "xgmi",
    76.5,
    57.5,
    1.5 * US,
    "Infinity Fabric of MI350X and MI355X: 76.5 GB/s raw, 57.5 usable as of the MI300X's; latency estimated",
    CONFIDENCE_M};
static const struct wire xgmi_mi300a = {
    "xgmi",
    64,
    48,
    1.5 * US,
    "Infinity Fabric of MI300A: two links a pair, 128 GB/s each way (LLNL); usable as of the MI300X's; latency "
    "estimated",
    CONFIDENCE_M};
static const struct wire xe_link = {
    "xelink",
    53,
    23,
    1.5 * US,
    "Xe Link of Data Center GPU Max: every GPU joined to every other one by a link for each of its two tiles; a link "
    "measured with 23 GB/s both ways together, so a pair has 23 each way (argonne-lcf/user-guides, Aurora, node "
    "performance overview; 15 one way alone); raw rate recalled, latency estimated",
    CONFIDENCE_M};
static const struct wire efa_200 = {
    "nic",
    25,
    17.5,
    7 * US,
    "EFA 200 Gb/s: 65 to 75 % reached by nccl-tests on p5 class nodes, 70 % taken; MPI latency of about 15 us recalled",
    CONFIDENCE_M};
static const struct wire efa_400 = {
    "nic",
    50,
    35,
    7 * US,
    "EFA 400 Gb/s: 65 to 75 % reached by nccl-tests on p5 class nodes, 70 % taken; MPI latency of about 15 us recalled",
    CONFIDENCE_M};
static const struct wire tcpxo = {
    "nic",
    25,
    22.5,
    7 * US,
    "GPUDirect-TCPXO of 200 Gb/s (GCP): 0.9 of raw reached, and the latency of EFA; estimated",
    CONFIDENCE_L};
static const struct wire roce_400 = {
    "nic",
    50,
    45,
    0.4 * US,
    "RoCE of 400 Gb/s: 0.89 to 0.97 of raw reached (nccl-tests, 2 x 8 MI300X and MI355X), 0.9 taken; about 1 us end to "
    "end estimated",
    CONFIDENCE_M};
static const struct wire ainic_400 = {
    "nic",
    50,
    48,
    0.4 * US,
    "AINIC of 400 Gb/s: 96.5 % of raw reached by nccl-tests on 2 x 8 MI355X; about 1 us end to end estimated",
    CONFIDENCE_M};
static const struct wire xdr = {
    "nic", 100, 90, 0.2 * US, "InfiniBand XDR: 0.9 of raw taken; latency as HDR, not published", CONFIDENCE_M};
static const struct wire hdr_100 = {
    "nic", 12.5, 11.25, 0.2 * US, "InfiniBand HDR100: 0.9 to 0.97 of raw reached, 0.9 taken", CONFIDENCE_H};

#endif
