/* SPDX-License-Identifier: Apache-2.0 */
/* How the nodes of the presets are wired. Topologies and rates: the sources named with each wire, and NVIDIA/nccl
 * src/graph/topo.h for what a link of each generation carries. */
#include "base/arena.h"
#include "platforms/presets/presets.h"

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
static const struct wire cs2_ethernet = {
    "nic", 150, 135, 2 * US, "12 x 100 Gb/s Ethernet of a CS-2; 90 % reached and latency estimated", CONFIDENCE_M};

static struct node *with_devices(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    struct node *node = node_create(arena);
    for (uint32_t i = 0; i < devices; i++)
        node_add_device(node, device_find(preset->device));
    return node;
}

/* A PCI Express tree: `width` devices on each switch with `interfaces` network interfaces of the switch's own, the
 * switches on `sockets` sockets. Devices of a switch take its interfaces in turn. */
struct pcie_tree {
    uint32_t width, interfaces, sockets;
    const struct wire *slot, *root, *socket, *nic;
    double nic_count;     /* cables bundled into one interface */
    const uint8_t *order; /* the device in each slot; NULL: in order */
};

static void add_pcie(struct node *node, uint32_t devices, uint32_t most, const struct pcie_tree *tree)
{
    uint32_t port = node_add(node, NODE_PORT), socket[2] = {0, 0};
    for (uint32_t i = 0; i < tree->sockets; i++)
        socket[i] = node_add(node, NODE_SOCKET);
    if (tree->sockets == 2)
        node_join(node, socket[0], socket[1], tree->socket, 1);
    for (uint32_t first = 0; first < devices; first += tree->width) {
        uint32_t hub = node_add(node, NODE_SWITCH), exits[4] = {0};
        if (tree->sockets)
            node_join(node, hub, socket[first * tree->sockets / most], tree->root, 1);
        for (uint32_t i = 0; i < tree->interfaces; i++)
            exits[i] = node_join(node, hub, port, tree->nic, tree->nic_count);
        for (uint32_t i = first; i < first + tree->width && i < devices; i++) {
            uint32_t device = tree->order ? tree->order[i] : i;
            node_join(node, device, hub, tree->slot, 1);
            node->parts[device].exit = exits[(i - first) % tree->interfaces];
        }
    }
}

/* Every device on one NVSwitch fabric. */
static void add_nvswitch(struct node *node, uint32_t devices, const struct wire *wire, double links)
{
    uint32_t hub = node_add(node, NODE_SWITCH);
    for (uint32_t i = 0; i < devices; i++)
        node_join(node, i, hub, wire, links);
}

struct pair {
    uint8_t a, b, links;
};

static void add_pairs(struct node *node, uint32_t devices, const struct wire *wire, const struct pair *pairs,
                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pairs[i].a < devices && pairs[i].b < devices)
            node_join(node, pairs[i].a, pairs[i].b, wire, pairs[i].links);
}

static void add_all_pairs(struct node *node, uint32_t first, uint32_t past, const struct wire *wire, double links)
{
    for (uint32_t a = first; a < past; a++)
        for (uint32_t b = a + 1; b < past; b++)
            node_join(node, a, b, wire, links);
}

/* Hybrid cube mesh. Devices are numbered along the ring of double links, nvidia-smi's 0 3 2 1 7 4 5 6, because rings
 * follow the order of ranks. */
struct node *build_dgx_1v(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    static const struct pair pairs[] = {{0, 1, 2}, {1, 2, 2}, {2, 3, 2}, {3, 4, 2}, {4, 5, 2}, {5, 6, 2},
                                        {6, 7, 2}, {0, 7, 2}, {0, 3, 1}, {0, 2, 1}, {1, 3, 1}, {2, 5, 1},
                                        {1, 6, 1}, {5, 7, 1}, {4, 6, 1}, {4, 7, 1}};
    static const char *const labels[] = {"nvidia-smi 0", "nvidia-smi 3", "nvidia-smi 2", "nvidia-smi 1",
                                         "nvidia-smi 7", "nvidia-smi 4", "nvidia-smi 5", "nvidia-smi 6"};
    static const uint8_t order[] = {0, 3, 2, 1, 5, 6, 7, 4}; /* nvidia-smi's 0 to 7 on the ring */
    static const struct pcie_tree tree = {2, 1, 2, &pcie3, &root3, &qpi, &edr, 1, order};
    struct node *node = with_devices(preset, devices, arena);
    for (uint32_t i = 0; i < devices; i++)
        node->parts[i].label = labels[i];
    add_pairs(node, devices, &nvlink2_pair, pairs, sizeof pairs / sizeof *pairs);
    add_pcie(node, devices, preset->devices, &tree);
    return node;
}

/* Two boards of 8 GPUs, each with six NVSwitches; 48 links between the boards. */
struct node *build_dgx_2(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    static const struct pcie_tree tree = {2, 1, 0, &pcie3, NULL, NULL, &edr, 1, NULL};
    struct node *node = with_devices(preset, devices, arena);
    uint32_t boards[] = {node_add(node, NODE_SWITCH), node_add(node, NODE_SWITCH)};
    for (uint32_t i = 0; i < devices; i++)
        node_join(node, i, boards[i / 8], &nvlink2, 6);
    node_join(node, boards[0], boards[1], &board_trunk, 48);
    add_pcie(node, devices, preset->devices, &tree);
    return node;
}

struct node *build_dgx_a100(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    static const struct pcie_tree tree = {2, 2, 0, &pcie4, NULL, NULL, &hdr, 1, NULL};
    struct node *node = with_devices(preset, devices, arena);
    add_nvswitch(node, devices, &nvlink3, 12);
    add_pcie(node, devices, preset->devices, &tree);
    return node;
}

/* A GPU and a network interface on each PCI Express switch. */
static struct node *with_switch_each(const struct preset *preset, uint32_t devices, const struct wire *wire,
                                     uint32_t links, struct arena *arena)
{
    static const struct pcie_tree tree = {1, 1, 0, &pcie5, NULL, NULL, &ndr, 1, NULL};
    struct node *node = with_devices(preset, devices, arena);
    add_nvswitch(node, devices, wire, links);
    add_pcie(node, devices, preset->devices, &tree);
    return node;
}

struct node *build_dgx_h100(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    return with_switch_each(preset, devices, &nvlink4, 18, arena);
}

struct node *build_dgx_b200(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    return with_switch_each(preset, devices, &nvlink5, 18, arena);
}

/* An H100 with 8 of its 18 links. */
struct node *build_hgx_h800(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    return with_switch_each(preset, devices, &nvlink4, 8, arena);
}

/* Two GPUs hang on each Grace by NVLink-C2C; a network interface for each GPU. */
struct node *build_gb200(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    struct node *node = with_devices(preset, devices, arena);
    uint32_t grace = NODE_NONE;
    add_nvswitch(node, devices, &nvlink5, 18);
    uint32_t port = node_add(node, NODE_PORT);
    for (uint32_t i = 0; i < devices; i++) {
        if (i % 2 == 0)
            grace = node_add(node, NODE_SOCKET);
        node_join(node, i, grace, &c2c, 1);
        node->parts[i].exit = node_join(node, grace, port, &ndr, 1);
    }
    return node;
}

/* Two triples, each fully connected with each other and with their POWER9. */
struct node *build_summit(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    struct node *node = with_devices(preset, devices, arena);
    uint32_t port = node_add(node, NODE_PORT), sockets[] = {node_add(node, NODE_SOCKET), node_add(node, NODE_SOCKET)};
    add_all_pairs(node, 0, devices < 3 ? devices : 3, &nvlink2_pair, 2);
    add_all_pairs(node, 3, devices, &nvlink2_pair, 2);
    for (uint32_t i = 0; i < devices; i++)
        node_join(node, i, sockets[i / 3], &power_nvlink, 2);
    node_join(node, sockets[0], sockets[1], &xbus, 1);
    uint32_t exits[] = {node_join(node, sockets[0], port, &summit_edr, 1),
                        node_join(node, sockets[1], port, &summit_edr, 1)};
    for (uint32_t i = 0; i < devices; i++)
        node->parts[i].exit = exits[i / 3];
    return node;
}

struct node *build_perlmutter(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    static const struct pcie_tree tree = {1, 1, 0, &pcie4, NULL, NULL, &slingshot, 1, NULL};
    struct node *node = with_devices(preset, devices, arena);
    add_all_pairs(node, 0, devices, &nvlink3_pair, 4);
    add_pcie(node, devices, preset->devices, &tree);
    return node;
}

/* Four GPUs on one EPYC; its two network interfaces are near GPUs 1 and 3, and GPUs 0 and 2 share them. */
struct node *build_polaris(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    struct node *node = with_devices(preset, devices, arena);
    uint32_t port = node_add(node, NODE_PORT), socket = node_add(node, NODE_SOCKET), exits[2];
    add_all_pairs(node, 0, devices, &nvlink3_pair, 4);
    for (uint32_t i = 0; i < 2; i++)
        exits[i] = node_join(node, socket, port, &slingshot, 1);
    for (uint32_t i = 0; i < devices; i++) {
        node_join(node, i, socket, &pcie4, 1);
        node->parts[i].exit = exits[i / 2];
    }
    return node;
}

/* Eight graphics compute dies in four modules. Dies pass traffic on: some pairs are two hops apart. Numbered along a
 * ring of links, the dies 0 1 5 4 2 3 7 6 of the machine, because rings follow the order of ranks. */
struct node *build_frontier(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    static const uint8_t place[] = {0, 1, 4, 5, 3, 2, 7, 6}; /* of die i on the ring */
    static const struct pair dies[] = {{0, 1, 4}, {2, 3, 4}, {4, 5, 4}, {6, 7, 4}, {0, 6, 2}, {2, 4, 2},
                                       {0, 2, 1}, {1, 3, 1}, {1, 5, 1}, {3, 7, 1}, {4, 6, 1}, {5, 7, 1}};
    static const char *const labels[] = {"GCD 0", "GCD 1", "GCD 5", "GCD 4", "GCD 2", "GCD 3", "GCD 7", "GCD 6"};
    static const uint8_t module[] = {0, 0, 2, 2, 1, 1, 3, 3};
    struct node *node = with_devices(preset, devices, arena);
    uint32_t port = node_add(node, NODE_PORT), hubs[4], exits[4];
    for (size_t i = 0; i < sizeof dies / sizeof *dies; i++)
        node_join(node, place[dies[i].a], place[dies[i].b], &xgmi, dies[i].links);
    for (uint32_t i = 0; i < 4; i++) {
        hubs[i] = node_add(node, NODE_SOCKET);
        exits[i] = node_join(node, hubs[i], port, &slingshot, 1);
    }
    for (uint32_t i = 0; i < devices; i++) {
        node->parts[i].forwards = true;
        node->parts[i].label = labels[i];
        node->parts[i].exit = exits[module[i]];
        node_join(node, i, hubs[module[i]], &pcie4, 1);
    }
    return node;
}

/* Four Grace-Hopper modules, each with its own network interface; six NVLink4 between any two. */
struct node *build_alps(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    struct node *node = with_devices(preset, devices, arena);
    uint32_t port = node_add(node, NODE_PORT);
    add_all_pairs(node, 0, devices, &nvlink4_pair, 6);
    for (uint32_t i = 0; i < devices; i++) {
        uint32_t grace = node_add(node, NODE_SOCKET);
        node_join(node, i, grace, &c2c, 1);
        node->parts[i].exit = node_join(node, grace, port, &slingshot, 1);
    }
    return node;
}

struct node *build_aws_p4d(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    static const struct pcie_tree tree = {2, 1, 0, &pcie4, NULL, NULL, &efa, 1, NULL};
    struct node *node = with_devices(preset, devices, arena);
    add_nvswitch(node, devices, &nvlink3, 12);
    add_pcie(node, devices, preset->devices, &tree);
    return node;
}

struct node *build_aws_p5(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    static const struct pcie_tree tree = {1, 1, 0, &pcie5, NULL, NULL, &efa_p5, 4, NULL};
    struct node *node = with_devices(preset, devices, arena);
    add_nvswitch(node, devices, &nvlink4, 18);
    add_pcie(node, devices, preset->devices, &tree);
    return node;
}

/* Two sockets, two switches on each, two GPUs on each switch: pairs on one switch talk at full rate, all others share
 * the switches' ways to the sockets. A network interface on each switch. */
struct node *build_pcie_a100(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    static const struct pcie_tree tree = {2, 1, 2, &pcie4, &root4, &amd_socket, &hdr, 1, NULL};
    struct node *node = with_devices(preset, devices, arena);
    add_pcie(node, devices, preset->devices, &tree);
    return node;
}

struct node *build_graphcore(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    struct node *node = with_devices(preset, devices, arena);
    uint32_t hub = node_add(node, NODE_SWITCH), port = node_add(node, NODE_PORT);
    for (uint32_t i = 0; i < devices; i++)
        node_join(node, i, hub, &ipu_exchange, 8);
    for (uint32_t i = 0; i < devices; i++)
        node->parts[i].exit = node_join(node, i, port, &ipu_port, 2);
    return node;
}

struct node *build_cerebras(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    struct node *node = with_devices(preset, devices, arena);
    uint32_t port = node_add(node, NODE_PORT);
    for (uint32_t i = 0; i < devices; i++)
        node_join(node, i, port, &cs2_ethernet, 1);
    return node;
}

struct node *build_bare(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    return with_devices(preset, devices, arena);
}
