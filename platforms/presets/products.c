/* SPDX-License-Identifier: Apache-2.0 */
/* The table of products. Short names of sources are those of platforms/device.c; GCP, JSC, CINECA, LLNL: public
 * hardware pages of these sites. */
#include "platforms/presets/presets.h"

#define US 1e-6
#define SWITCHED(label, hop_us, pod_nodes, taper, why, trust)                                                          \
    {                                                                                                                  \
        .name = label, .kind = FABRIC_SWITCHED, .hop = (hop_us)*US, .pod = pod_nodes, .oversubscription = taper,       \
        .source = why, .confidence = trust                                                                             \
    }

static const struct wire aries = {
    "aries",
    0,
    10,
    0.3 * US,
    "Aries: injection of about 10 GB/s; MPI takes 1.3 us over about four links. Adaptive routing spreads what two "
    "routers exchange over all 15 links of a router (5.25 GB/s each, 79 in all), more than its four nodes inject, so "
    "links between routers carry four times the injection rate",
    CONFIDENCE_M};
static const struct wire ici_v3 = {
    "ici",       82, 73.8, 1 * US, "TPU v3 interconnect, 656 Gb/s a link; 90 % of it reached and 1 us a hop estimated",
    CONFIDENCE_M};
static const struct wire ici_v4 = {
    "ici",       45, 40.5, 1 * US, "TPU v4 interconnect: raw rate SB; 90 % of it reached and 1 us a hop estimated",
    CONFIDENCE_H};
static const struct wire ipu_neighbour = {
    "machine-link",
    64,
    51.2,
    0.5 * US,
    "4 of a machine's 8 external IPU-Links to each neighbour: 2 Tb/s in both directions for 8, GC; 80 % reached and "
    "latency estimated",
    CONFIDENCE_H};
static const struct wire nothing = {
    "link", 0, 1e6, 0, "study: 1 PB/s and no latency, so that only computing takes time", CONFIDENCE_H};
static const struct wire plain = {"link", 0, 100, 1 * US, "study: round figures of no product", CONFIDENCE_H};

/* TPU v3: the most nearly square a x b. */
static bool shape_square(struct fabric *fabric, uint32_t nodes, struct fault *fault)
{
    uint32_t chips = nodes * 4;
    for (uint32_t y = 32; y > 0; y--)
        if (y * y <= chips && chips % y == 0 && chips / y <= 32) {
            fabric->dimensions[0] = chips / y, fabric->dimensions[1] = y;
            return true;
        }
    return fault_set(fault, "%u nodes are %u chips, which fill no rectangle of at most 32 x 32 chips: try %u nodes",
                     nodes, chips, nodes > 256 ? 256 : nodes / 8 * 8 + 8);
}

/* TPU v4: cubes of 4 x 4 x 4 chips joined to the most nearly cubic box; a half, a quarter or an eighth of one. */
static bool shape_cubes(struct fabric *fabric, uint32_t nodes, struct fault *fault)
{
    uint32_t cubes = nodes / 16, best = 0;
    if (nodes == 2 || nodes == 4 || nodes == 8) {
        fabric->dimensions[0] = nodes >= 4 ? 4 : 2, fabric->dimensions[1] = nodes == 8 ? 4 : 2;
        fabric->dimensions[2] = 2;
        return true;
    }
    if (nodes % 16)
        return fault_set(
            fault, "tpu-v4 comes in 2, 4 or 8 nodes and in whole cubes of 4 x 4 x 4 chips, 16 nodes each: try %u nodes",
            nodes < 8 ? (nodes < 2 ? 2 : nodes / 3 * 4) : nodes / 16 * 16 + 16);
    for (uint32_t a = 1; a * a * a <= cubes; a++)
        for (uint32_t b = a; cubes % a == 0 && a * b * b <= cubes; b++)
            if (cubes / a % b == 0 && a * 1000 + b > best) {
                best = a * 1000 + b;
                fabric->dimensions[0] = 4 * (cubes / a / b), fabric->dimensions[1] = 4 * b,
                fabric->dimensions[2] = 4 * a;
            }
    return true;
}

/* Aries: 4 nodes to a blade, up to 16 blades to a chassis, 6 chassis to a group; as few groups and then chassis as hold
 * the nodes with none left over. SimGrid joins group i to blade i of another group, so a chassis has no fewer blades
 * than there are groups. */
static bool shape_aries(struct fabric *fabric, uint32_t nodes, struct fault *fault)
{
    uint32_t *size = fabric->dimensions, width = nodes < 4 ? nodes : 4, blades = nodes / width;
    for (uint32_t groups = 1; nodes % width == 0 && groups <= 16; groups++)
        for (uint32_t chassis = 1; chassis <= 6; chassis++) {
            uint32_t each = blades / (groups * chassis);
            if (blades % (groups * chassis) || each > 16 || (groups > 1 && each < groups))
                continue;
            size[0] = groups, size[1] = chassis, size[2] = each, size[3] = width;
            return true;
        }
    return fault_set(fault,
                     "%u nodes fill no dragonfly of equal groups (4 nodes to a blade, at most 16 blades to a chassis, "
                     "6 chassis to a group, 16 "
                     "groups): try a multiple of 64, or of 384 above 384",
                     nodes);
}

static bool shape_ring(struct fabric *fabric, uint32_t nodes, struct fault *fault)
{
    if (nodes < 3)
        return fault_set(fault, "a ring has at least 3 nodes");
    fabric->dimensions[0] = nodes;
    return true;
}

static const char *const note_dgx_1v[] = {
    "Devices are numbered along the ring of double NVLinks: nvidia-smi's 0 3 2 1 7 4 5 6.",
    "Pairs without an NVLink go over PCI Express and, between the halves, the sockets.", NULL};
static const char *const note_frontier[] = {
    "Devices are numbered along a ring of links: dies 0 1 5 4 2 3 7 6 of the machine.",
    "Link pattern in units of one link: 4 on 0-1 2-3 4-5 6-7, 2 on 0-6 2-4, 1 on 0-2 1-3 1-5 3-7 4-6 5-7 [M].", NULL};
static const char *const note_switch[] = {
    "The NVSwitch fabric is non-blocking: a device is limited by its own ports only.", NULL};
static const char *const note_tpu_v3[] = {
    "Slices of less than 32 chips in a dimension have no wrap-around in reality; SimGrid's torus always has it.", NULL};
static const char *const note_dragonfly[] = {
    "Adaptive routing spreads traffic over all links between groups, so each group has one way to the others, tapered.",
    NULL};
static const char *const note_pcie[] = {
    "Two devices on each PCI Express switch, two switches on each socket: all pairs that do not share a switch",
    "share the switches' ways up, and between sockets the processors' link.", NULL};
static const char *const note_bow[] = {"A node is a rack: its machines are a loop of IPU-Links. A machine's gateway "
                                       "has a port to the rack on either side.",
                                       NULL};
static const char *const note_tpu_v4[] = {
    "Slices of less than 4 x 4 x 4 chips have no wrap-around in reality; SimGrid's torus always has it.", NULL};
static const char *const note_cs2[] = {
    "Weights are streamed and gradients reduced through SwarmX; here it is the switch between the systems.", NULL};
static const char *const note_aries[] = {"Minimal routing on SimGrid's dragonfly. The links between groups are an "
                                         "estimate, tapered by the oversubscription.",
                                         NULL};

static const struct preset presets[] = {
    {"dgx-1v", "DGX-1V: 8 V100 in a hybrid cube mesh", "V100-SXM2-32GB", 8, false, "gpu", build_dgx_1v,
     SWITCHED("InfiniBand EDR fat tree", 0.05, 32, 1, "non-blocking fat tree; 0.5 us end to end; pod size assumed",
              CONFIDENCE_M),
     NULL, 0, "NVLink2 pairs, 6 links", "4 x EDR", note_dgx_1v, 40, 40, 11.25, &library_v100_links,
     &network_infiniband},
    {"dgx-2", "DGX-2: 16 V100 on two NVSwitch boards", "V100-SXM3-32GB", 16, true, "gpu", build_dgx_2,
     SWITCHED("InfiniBand EDR fat tree", 0.05, 32, 1, "non-blocking fat tree; 0.5 us end to end; pod size assumed",
              CONFIDENCE_M),
     NULL, 0, "NVSwitch, 6 NVLink2", "8 x EDR", note_switch, 120, 120, 11.25, &library_dgx_2, &network_infiniband},
    {"dgx-a100", "DGX A100: 8 A100 80 GB on NVSwitch", "A100-SXM4-80GB", 8, true, "gpu", build_dgx_a100,
     SWITCHED("InfiniBand HDR fat tree", 0.1, 20, 1,
              "non-blocking fat tree; 0.6 us end to end; 20 nodes to a scalable unit recalled", CONFIDENCE_M),
     NULL, 0, "NVSwitch, 12 NVLink3", "8 x HDR", note_switch, 240, 240, 22.5, &library_a100, &network_infiniband},
    {"dgx-h100", "DGX H100: 8 H100 on NVSwitch", "H100-SXM5-80GB", 8, true, "gpu", build_dgx_h100,
     SWITCHED("InfiniBand NDR fat tree", 0.1, 32, 1,
              "non-blocking fat tree, 32 nodes to a scalable unit; latency as HDR", CONFIDENCE_M),
     NULL, 0, "NVSwitch, 18 NVLink4", "8 x NDR", note_switch, 370.8, 370.8, 45, &library_h100, &network_infiniband},
    {"hgx-h800", "HGX H800: 8 H100 with fewer links on NVSwitch", "H100-SXM5-80GB", 8, true, "gpu", build_hgx_h800,
     SWITCHED("InfiniBand NDR fat tree", 0.1, 32, 1,
              "non-blocking fat tree, 32 nodes to a scalable unit; latency as HDR", CONFIDENCE_M),
     NULL, 0, "NVSwitch, 8 NVLink4", "8 x NDR", note_switch, 164.8, 164.8, 45, &library_h100, &network_infiniband},
    {"dgx-h200", "DGX H200: 8 H200 on NVSwitch", "H200-SXM5-141GB", 8, true, "gpu", build_dgx_h100,
     SWITCHED("InfiniBand NDR fat tree", 0.1, 32, 1,
              "non-blocking fat tree, 32 nodes to a scalable unit; latency as HDR", CONFIDENCE_M),
     NULL, 0, "NVSwitch, 18 NVLink4", "8 x NDR", note_switch, 370.8, 370.8, 45, &library_h100, &network_infiniband},
    {"dgx-b200", "DGX B200: 8 B200 on NVSwitch", "B200-180GB", 8, true, "gpu", build_dgx_b200,
     SWITCHED("InfiniBand NDR fat tree", 0.1, 32, 1,
              "non-blocking fat tree, 32 nodes to a scalable unit; latency as HDR", CONFIDENCE_M),
     NULL, 0, "NVSwitch, 18 NVLink5", "8 x NDR", note_switch, 721.8, 721.8, 45, &library_blackwell,
     &network_infiniband},
    {"gb200-nvl72", "GB200 NVL72: a rack of 72 GPUs in one NVLink domain", "GB200-186GB", 72, true, "gpu", build_gb200,
     SWITCHED("InfiniBand NDR fat tree", 0.1, 8, 1, "non-blocking fat tree; latency as HDR; pod of 8 racks assumed",
              CONFIDENCE_M),
     NULL, 0, "NVSwitch, 18 NVLink5", "72 x NDR", note_switch, 721.8, 721.8, 45, &library_nvl72, &network_infiniband},
    {"summit", "Summit: 6 V100 in two triples on POWER9", "V100-SXM2-16GB", 6, false, "gpu", build_summit,
     SWITCHED("InfiniBand EDR fat tree", 0.05, 18, 1,
              "3-level non-blocking fat tree (OLCF); 18 nodes to a leaf recalled", CONFIDENCE_M),
     NULL, 4608, "NVLink2 triples, X-bus", "2 x EDR", NULL, 40, 32, 11.5, &library_v100_links},
    {"perlmutter", "Perlmutter: 4 A100 40 GB, all pairs linked", "A100-SXM4-40GB", 4, true, "gpu", build_perlmutter,
     SWITCHED("Slingshot-11 dragonfly", 0.35, 64, 2, "groups of 64 nodes and a taper of 2 assumed; 350 ns a switch",
              CONFIDENCE_L),
     NULL, 1794, "NVLink3 pairs, 4 links", "4 x Slingshot-11", note_dragonfly, 80, 80, 22.5, &library_a100_links},
    {"polaris", "Polaris: 4 A100 40 GB, two network interfaces", "A100-SXM4-40GB", 4, true, "gpu", build_polaris,
     SWITCHED("Slingshot-11 dragonfly", 0.35, 64, 2, "groups of 64 nodes and a taper of 2 assumed; 350 ns a switch",
              CONFIDENCE_L),
     NULL, 560, "NVLink3 pairs, 4 links", "2 x Slingshot-11", note_dragonfly, 80, 80, 22.5, &library_a100_links},
    {"frontier", "Frontier: 8 MI250X dies in 4 modules", "MI250X-GCD", 8, false, "gpu", build_frontier,
     SWITCHED("Slingshot-11 dragonfly", 0.35, 128, 1.75,
              "groups of 128 nodes and their taper recalled; 350 ns a switch", CONFIDENCE_L),
     NULL, 9408, "Infinity Fabric, 1 to 4 links", "4 x Slingshot-11", note_frontier, 160, 40, 22.5, &library_mi250x},
    {"alps", "Alps: 4 Grace-Hopper modules", "GH200-96GB", 4, true, "gpu", build_alps,
     SWITCHED("Slingshot-11 dragonfly", 0.35, 112, 2,
              "112 nodes to a cabinet (CSCS), taken as a group; taper of 2 assumed", CONFIDENCE_M),
     NULL, 2688, "NVLink4 pairs, 6 links", "4 x Slingshot-11", note_dragonfly, 123.6, 123.6, 22.5, &library_a100_links,
     &network_slingshot},
    {"piz-daint",
     "Piz Daint XC50: 1 P100 a node on Aries",
     "P100-PCIE-16GB",
     1,
     false,
     "gpu",
     build_bare,
     {.name = "Aries dragonfly",
      .kind = FABRIC_DRAGONFLY,
      .wire = &aries,
      .oversubscription = 2,
      .source = "4 nodes to a blade, 16 blades to a chassis, 6 chassis to a group; taper between groups assumed",
      .confidence = CONFIDENCE_M},
     shape_aries,
     6144,
     "none",
     "1 x Aries",
     note_aries,
     0,
     0,
     10},
    {"aws-p4d", "AWS p4d.24xlarge: 8 A100 40 GB on NVSwitch", "A100-SXM4-40GB", 8, true, "gpu", build_aws_p4d,
     SWITCHED("EFA", 0.5, 32, 1, "non-blocking with pods of 32 nodes, assumed", CONFIDENCE_L), NULL, 0,
     "NVSwitch, 12 NVLink3", "4 x EFA 100 Gb/s", note_switch, 240, 240, 10.4, &library_a100, &network_efa},
    {"aws-p5", "AWS p5.48xlarge: 8 H100 on NVSwitch", "H100-SXM5-80GB", 8, true, "gpu", build_aws_p5,
     SWITCHED("EFA", 0.5, 32, 1, "non-blocking with pods of 32 nodes, assumed", CONFIDENCE_L), NULL, 0,
     "NVSwitch, 18 NVLink4", "32 x EFA 100 Gb/s", note_switch, 370.8, 370.8, 35, &library_h100, &network_efa_2},
    {"aws-p3dn", "AWS p3dn.24xlarge: 8 V100 in a hybrid cube mesh", "V100-SXM2-32GB", 8, false, "gpu", build_aws_p3dn,
     SWITCHED("EFA", 0.5, 32, 1, "non-blocking with pods of 32 nodes, assumed", CONFIDENCE_L), NULL, 0,
     "NVLink2 pairs, 6 links", "1 x EFA 100 Gb/s", note_dgx_1v, 40, 40, 10.4, &library_v100_links, &network_efa},
    {"aws-p5en", "AWS p5en.48xlarge: 8 H200 on NVSwitch", "H200-SXM5-141GB", 8, true, "gpu", build_aws_p5en,
     SWITCHED("EFA", 0.5, 32, 1, "non-blocking with pods of 32 nodes, assumed", CONFIDENCE_L), NULL, 0,
     "NVSwitch, 18 NVLink4", "16 x EFA 200 Gb/s", note_switch, 370.8, 370.8, 35, &library_h100, &network_efa_2},
    {"aws-p6-b200", "AWS p6-b200.48xlarge: 8 B200 on NVSwitch", "B200-180GB", 8, true, "gpu", build_aws_p6_b200,
     SWITCHED("EFA", 0.5, 32, 1, "non-blocking with pods of 32 nodes, assumed", CONFIDENCE_L), NULL, 0,
     "NVSwitch, 18 NVLink5", "8 x EFA 400 Gb/s", note_switch, 721.8, 721.8, 35, &library_blackwell, &network_efa_2},
    {"gb300-nvl72", "GB300 NVL72: a rack of 72 GPUs in one NVLink domain", "GB300-279GB", 72, true, "gpu", build_gb300,
     SWITCHED("InfiniBand XDR fat tree", 0.1, 8, 1,
              "72 ConnectX-8 of 800 Gb/s to Quantum-X800 (NVIDIA); non-blocking; pod of 8 racks assumed", CONFIDENCE_M),
     NULL, 0, "NVSwitch, 18 NVLink5", "72 x XDR", note_switch, 721.8, 721.8, 90, &library_nvl72, &network_infiniband},
    {"mi300x", "8 MI300X, all pairs linked", "MI300X", 8, true, "gpu", build_mi300x,
     SWITCHED("RoCE of 400 Gb/s", 0.1, 32, 1, "non-blocking; pod size assumed", CONFIDENCE_L), NULL, 0,
     "Infinity Fabric pairs", "8 x RoCE 400 Gb/s", NULL, 48, 48, 45, &library_mi300x, &network_roce},
    {"mi325x", "8 MI325X, all pairs linked", "MI325X", 8, true, "gpu", build_mi300x,
     SWITCHED("RoCE of 400 Gb/s", 0.1, 32, 1, "non-blocking; pod size assumed", CONFIDENCE_L), NULL, 0,
     "Infinity Fabric pairs", "8 x RoCE 400 Gb/s", NULL, 48, 48, 45, &library_mi300x, &network_roce},
    {"mi355x", "8 MI355X, all pairs linked", "MI355X", 8, true, "gpu", build_mi355x,
     SWITCHED("RoCE of 400 Gb/s", 0.1, 32, 1, "non-blocking; pod size assumed", CONFIDENCE_L), NULL, 0,
     "Infinity Fabric pairs", "8 x RoCE 400 Gb/s", NULL, 57.5, 57.5, 48, &library_mi355x, &network_roce_tuned},
    {"azure-nd-h100", "Azure ND H100 v5: 8 H100 on NVSwitch", "H100-SXM5-80GB", 8, true, "gpu", build_dgx_h100,
     SWITCHED("InfiniBand NDR fat tree", 0.1, 32, 1, "non-blocking fat tree (MLE); pod size assumed", CONFIDENCE_M),
     NULL, 0, "NVSwitch, 18 NVLink4", "8 x NDR", note_switch, 370.8, 370.8, 45, &library_h100, &network_infiniband},
    {"azure-nd-mi300x", "Azure ND MI300X v5: 8 MI300X, all pairs linked", "MI300X", 8, true, "gpu",
     build_azure_nd_mi300x,
     SWITCHED("InfiniBand NDR fat tree", 0.1, 32, 1, "non-blocking fat tree; pod size assumed", CONFIDENCE_M), NULL, 0,
     "Infinity Fabric pairs", "8 x NDR", NULL, 48, 48, 45, &library_mi300x, &network_infiniband},
    {"gcp-a3-mega", "GCP A3 Mega: 8 H100 on NVSwitch", "H100-SXM5-80GB", 8, true, "gpu", build_gcp_a3_mega,
     SWITCHED("GPUDirect-TCPXO", 0.5, 32, 1, "eight rails of 200 Gb/s (GCP); pod size assumed", CONFIDENCE_L), NULL, 0,
     "NVSwitch, 18 NVLink4", "8 x TCPXO 200 Gb/s", note_switch, 370.8, 370.8, 22.5, &library_h100, &network_efa_2},
    {"leonardo", "Leonardo Booster: 4 custom A100 64 GB, all pairs linked", "A100-SXM4-64GB", 4, true, "gpu",
     build_leonardo,
     SWITCHED("InfiniBand HDR100 dragonfly+", 0.1, 180, 1.11,
              "dragonfly+ of 3456 nodes (CINECA, arXiv 2307.16885); cells of 180 nodes, 18 leaves with 18 ports of 200 "
              "Gb/s up for 40 of 100 down (glennklockwood/limelead-quartz-content)",
              CONFIDENCE_M),
     NULL, 3456, "NVLink3 pairs, 4 links", "4 x HDR100", note_dragonfly, 80, 80, 11.25, &library_a100_links,
     &network_infiniband},
    {"juwels-booster", "JUWELS Booster: 4 A100 40 GB, all pairs linked", "A100-SXM4-40GB", 4, true, "gpu",
     build_juwels_booster,
     SWITCHED("InfiniBand HDR dragonfly+", 0.1, 48, 1.5,
              "cells of 48 nodes, non-blocking inside (JSC); taper between cells assumed", CONFIDENCE_M),
     NULL, 936, "NVLink3 pairs, 4 links", "4 x HDR", note_dragonfly, 80, 80, 22.5, &library_a100_links,
     &network_infiniband},
    {"aurora", "Aurora: 6 Data Center GPU Max 1550, all pairs linked", "PVC-1550", 6, true, "gpu", build_aurora,
     SWITCHED("Slingshot-11 dragonfly", 0.35, 64, 2,
              "dragonfly of 10,624 nodes (ALCF); groups of 64 nodes and a taper of 2 assumed", CONFIDENCE_L),
     NULL, 10624, "Xe Link pairs", "8 x Slingshot-11", note_dragonfly, 23, 23, 48, &library_nccl_links},
    {"el-capitan", "El Capitan: 4 MI300A, all pairs linked", "MI300A", 4, true, "gpu", build_el_capitan,
     SWITCHED("Slingshot-11 dragonfly", 0.35, 128, 1.75,
              "dragonfly (LLNL); groups of 128 nodes and their taper as Frontier's, recalled", CONFIDENCE_L),
     NULL, 11136, "Infinity Fabric pairs, 2 links", "4 x Slingshot-11", note_dragonfly, 96, 96, 22.5, &library_mi300x,
     &network_slingshot},
    {"pcie-v100", "PCIe box: 4 V100 PCIe, two to a switch", "V100-PCIE-32GB", 4, true, "gpu", build_pcie_v100,
     SWITCHED("InfiniBand EDR fat tree", 0.05, 32, 1, "non-blocking fat tree; 0.5 us end to end; pod size assumed",
              CONFIDENCE_M),
     NULL, 0, "PCIe Gen3, shared uplinks", "2 x EDR", note_pcie, 12, 10, 11.25, &library_pcie_v100},
    {"pcie-a100", "PCIe box: 8 A100 PCIe, two to a switch", "A100-PCIE-80GB", 8, true, "gpu", build_pcie_a100,
     SWITCHED("InfiniBand HDR fat tree", 0.1, 20, 1, "non-blocking fat tree; 0.6 us end to end; pod size assumed",
              CONFIDENCE_M),
     NULL, 0, "PCIe Gen4, shared uplinks", "4 x HDR", note_pcie, 24, 16, 22.5, &library_nccl},
    {"tpu-v3",
     "TPU v3: 4 chips a host in a 2D torus",
     "TPU-v3",
     4,
     false,
     "tpu",
     build_bare,
     {.name = "2D torus",
      .kind = FABRIC_TORUS,
      .wire = &ici_v3,
      .oversubscription = 1,
      .source = "pod of 32 x 32 chips, 4 links a chip: SB",
      .confidence = CONFIDENCE_H},
     shape_square,
     256,
     "ICI, 4 links",
     "the same torus",
     note_tpu_v3,
     73.8,
     73.8,
     73.8,
     &library_torus},
    {"tpu-v4",
     "TPU v4: 4 chips a host in a 3D torus",
     "TPU-v4",
     4,
     false,
     "tpu",
     build_bare,
     {.name = "3D torus",
      .kind = FABRIC_TORUS,
      .wire = &ici_v4,
      .oversubscription = 1,
      .source = "cubes of 4 x 4 x 4 chips joined by optical switches, 4096 chips in a pod, 6 links a chip: SB",
      .confidence = CONFIDENCE_H},
     shape_cubes,
     1024,
     "ICI, 6 links",
     "the same torus",
     note_tpu_v4,
     40.5,
     40.5,
     40.5,
     &library_torus},
    {"graphcore-pod64",
     "IPU-POD64: machines of 4 IPUs in a ring",
     "IPU-GC200",
     4,
     false,
     "ipu",
     build_graphcore,
     {.name = "IPU-Link ring",
      .kind = FABRIC_RING,
      .wire = &ipu_neighbour,
      .pod = 16,
      .oversubscription = 1,
      .source = "up to 16 machines in a ring of IPU-Links: GC",
      .confidence = CONFIDENCE_H},
     NULL,
     16,
     "IPU-Link, 8 of 10 links",
     "8 IPU-Links a machine",
     NULL,
     102.4,
     102.4,
     25.6},
    {"bow-pod", "Bow Pod: racks of 16 machines of 4 Bow IPUs in a loop", "IPU-Bow", 64, true, "ipu", build_bow,
     SWITCHED("GW-Links", 0.5, 4, 1, "racks side by side joined by GW-Link switches (docs.graphcore.ai); hop estimated",
              CONFIDENCE_M),
     NULL, 16, "IPU-Link, 8 of 10 links", "16 GW-Links of 100 GbE a side", note_bow, 102.4, 25.6, 10},
    {"gaudi2", "HLS-Gaudi2: 8 Gaudi2, all pairs linked", "Gaudi2", 8, true, "hpu", build_gaudi2,
     SWITCHED("RoCE on the chip", 0.5, 16, 1, "non-blocking; pod of 16 servers: Habana; hop estimated", CONFIDENCE_M),
     NULL, 0, "3 x 100 GbE a pair", "24 x 100 GbE", NULL, 31.875, 31.875, 31.875},
    {"ascend-910", "Atlas 800: 8 Ascend 910 on two boards", "Ascend-910", 8, true, "npu", build_ascend_910,
     SWITCHED("RoCE of 100 Gb/s", 0.5, 32, 1, "non-blocking and pods of 32 nodes, assumed", CONFIDENCE_L), NULL, 0,
     "HCCS quads, PCIe Gen4", "8 x RoCE 100 Gb/s", NULL, 24, 24, 10.625},
    {"cerebras-cs2", "Cerebras CS-2: one wafer a system", "WSE-2", 1, false, "wse", build_cerebras,
     SWITCHED("SwarmX", 0.5, 64, 1, "every system on one non-blocking switch; latency estimated", CONFIDENCE_L), NULL,
     192, "none", "12 x 100 GbE", note_cs2, 0, 0, 135},
    {"ideal",
     "study: full mesh without latency, hosts of 1 Tf",
     "study",
     1,
     false,
     "gpu",
     build_bare,
     {.name = "full mesh",
      .kind = FABRIC_MESH,
      .wire = &nothing,
      .oversubscription = 1,
      .source = "study",
      .confidence = CONFIDENCE_H},
     NULL,
     256,
     "none",
     "private links, 1 PB/s",
     NULL,
     0,
     0,
     1e6},
    {"mesh",
     "study: full mesh of 100 GB/s and 1 us, hosts of 1 Tf",
     "study",
     1,
     false,
     "gpu",
     build_bare,
     {.name = "full mesh",
      .kind = FABRIC_MESH,
      .wire = &plain,
      .oversubscription = 1,
      .source = "study",
      .confidence = CONFIDENCE_H},
     NULL,
     256,
     "none",
     "private links, 100 GB/s",
     NULL,
     0,
     0,
     100},
    {"ring",
     "study: ring of 100 GB/s and 1 us a hop, hosts of 1 Tf",
     "study",
     1,
     false,
     "gpu",
     build_bare,
     {.name = "ring",
      .kind = FABRIC_TORUS,
      .wire = &plain,
      .oversubscription = 1,
      .source = "study",
      .confidence = CONFIDENCE_H},
     shape_ring,
     4096,
     "none",
     "ring, 100 GB/s",
     NULL,
     0,
     0,
     100},
};

const struct preset *preset_table(size_t *count)
{
    *count = sizeof presets / sizeof *presets;
    return presets;
}
