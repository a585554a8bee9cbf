/* SPDX-License-Identifier: Apache-2.0 */
/* How the nodes of the presets are wired. Topologies and rates: the sources named with each wire, and NVIDIA/nccl
 * src/graph/topo.h for what a link of each generation carries. */
#include "base/arena.h"
#include "platforms/presets/presets.h"
#include "platforms/presets/wires.h"

static struct node_graph *with_devices(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    struct node_graph *node = node_create(arena);
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

static void add_pcie(struct node_graph *node, uint32_t devices, uint32_t most, const struct pcie_tree *tree)
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
            node->parts[device].exit = tree->interfaces ? exits[(i - first) % tree->interfaces] : NODE_NONE;
        }
    }
}

/* Every device on one NVSwitch fabric. */
static void add_nvswitch(struct node_graph *node, uint32_t devices, const struct wire *wire, double links)
{
    uint32_t hub = node_add(node, NODE_SWITCH);
    for (uint32_t i = 0; i < devices; i++)
        node_join(node, i, hub, wire, links);
}

struct pair {
    uint8_t a, b, links;
};

static void add_pairs(struct node_graph *node, uint32_t devices, const struct wire *wire, const struct pair *pairs,
                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pairs[i].a < devices && pairs[i].b < devices)
            node_join(node, pairs[i].a, pairs[i].b, wire, pairs[i].links);
}

static void add_all_pairs(struct node_graph *node, uint32_t first, uint32_t past, const struct wire *wire, double links)
{
    for (uint32_t a = first; a < past; a++)
        for (uint32_t b = a + 1; b < past; b++)
            node_join(node, a, b, wire, links);
}

/* Hybrid cube mesh. Devices are numbered along the ring of double links, nvidia-smi's 0 3 2 1 7 4 5 6, because rings
 * follow the order of ranks. */
static struct node_graph *with_cube_mesh(const struct preset *preset, uint32_t devices, uint32_t interfaces,
                                         struct arena *arena)
{
    static const struct pair pairs[] = {{0, 1, 2}, {1, 2, 2}, {2, 3, 2}, {3, 4, 2}, {4, 5, 2}, {5, 6, 2},
                                        {6, 7, 2}, {0, 7, 2}, {0, 3, 1}, {0, 2, 1}, {1, 3, 1}, {2, 5, 1},
                                        {1, 6, 1}, {5, 7, 1}, {4, 6, 1}, {4, 7, 1}};
    static const char *const labels[] = {"nvidia-smi 0", "nvidia-smi 3", "nvidia-smi 2", "nvidia-smi 1",
                                         "nvidia-smi 7", "nvidia-smi 4", "nvidia-smi 5", "nvidia-smi 6"};
    static const uint8_t order[] = {0, 3, 2, 1, 5, 6, 7, 4}; /* nvidia-smi's 0 to 7 on the ring */
    struct pcie_tree tree = {2, interfaces, 2, &pcie3, &root3, &qpi, &edr, 1, order};
    struct node_graph *node = with_devices(preset, devices, arena);
    for (uint32_t i = 0; i < devices; i++)
        node->parts[i].label = labels[i];
    add_pairs(node, devices, &nvlink2_pair, pairs, sizeof pairs / sizeof *pairs);
    add_pcie(node, devices, preset->devices, &tree);
    return node;
}

struct node_graph *build_dgx_1v(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    return with_cube_mesh(preset, devices, 1, arena);
}

/* The DGX-1V's links, with one interface for the node. */
struct node_graph *build_aws_p3dn(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    struct node_graph *node = with_cube_mesh(preset, devices, 0, arena);
    uint32_t port = node_port(node), socket = port + 1;
    uint32_t exit = node_join(node, socket, port, &efa, 1);
    for (uint32_t i = 0; i < devices; i++)
        node->parts[i].exit = exit;
    return node;
}

/* Two boards of 8 GPUs, each with six NVSwitches; 48 links between the boards. */
struct node_graph *build_dgx_2(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    static const struct pcie_tree tree = {2, 1, 0, &pcie3, NULL, NULL, &edr, 1, NULL};
    struct node_graph *node = with_devices(preset, devices, arena);
    uint32_t boards[] = {node_add(node, NODE_SWITCH), node_add(node, NODE_SWITCH)};
    for (uint32_t i = 0; i < devices; i++)
        node_join(node, i, boards[i / 8], &nvlink2, 6);
    node_join(node, boards[0], boards[1], &board_trunk, 48);
    add_pcie(node, devices, preset->devices, &tree);
    return node;
}

struct node_graph *build_dgx_a100(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    static const struct pcie_tree tree = {2, 2, 0, &pcie4, NULL, NULL, &hdr, 1, NULL};
    struct node_graph *node = with_devices(preset, devices, arena);
    add_nvswitch(node, devices, &nvlink3, 12);
    add_pcie(node, devices, preset->devices, &tree);
    return node;
}

/* A GPU and a network interface on each PCI Express switch. */
static struct node_graph *with_switch_each(const struct preset *preset, uint32_t devices, const struct wire *wire,
                                           uint32_t links, struct arena *arena)
{
    static const struct pcie_tree tree = {1, 1, 0, &pcie5, NULL, NULL, &ndr, 1, NULL};
    struct node_graph *node = with_devices(preset, devices, arena);
    add_nvswitch(node, devices, wire, links);
    add_pcie(node, devices, preset->devices, &tree);
    return node;
}

struct node_graph *build_dgx_h100(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    return with_switch_each(preset, devices, &nvlink4, 18, arena);
}

struct node_graph *build_dgx_b200(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    return with_switch_each(preset, devices, &nvlink5, 18, arena);
}

/* An H100 with 8 of its 18 links. */
struct node_graph *build_hgx_h800(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    return with_switch_each(preset, devices, &nvlink4, 8, arena);
}

/* Two GPUs hang on each Grace by NVLink-C2C; a network interface for each GPU. */
static struct node_graph *with_grace(const struct preset *preset, uint32_t devices, const struct wire *nic,
                                     struct arena *arena)
{
    struct node_graph *node = with_devices(preset, devices, arena);
    uint32_t grace = NODE_NONE;
    add_nvswitch(node, devices, &nvlink5, 18);
    uint32_t port = node_add(node, NODE_PORT);
    for (uint32_t i = 0; i < devices; i++) {
        if (i % 2 == 0)
            grace = node_add(node, NODE_SOCKET);
        node_join(node, i, grace, &c2c, 1);
        node->parts[i].exit = node_join(node, grace, port, nic, 1);
    }
    return node;
}

struct node_graph *build_gb200(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    return with_grace(preset, devices, &ndr, arena);
}

/* Two triples, each fully connected with each other and with their POWER9. */
struct node_graph *build_summit(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    struct node_graph *node = with_devices(preset, devices, arena);
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

struct node_graph *build_perlmutter(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    static const struct pcie_tree tree = {1, 1, 0, &pcie4, NULL, NULL, &slingshot, 1, NULL};
    struct node_graph *node = with_devices(preset, devices, arena);
    add_all_pairs(node, 0, devices, &nvlink3_pair, 4);
    add_pcie(node, devices, preset->devices, &tree);
    return node;
}

/* Four GPUs on one EPYC; its two network interfaces are near GPUs 1 and 3, and GPUs 0 and 2 share them. */
struct node_graph *build_polaris(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    struct node_graph *node = with_devices(preset, devices, arena);
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
struct node_graph *build_frontier(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    static const uint8_t place[] = {0, 1, 4, 5, 3, 2, 7, 6}; /* of die i on the ring */
    static const struct pair dies[] = {{0, 1, 4}, {2, 3, 4}, {4, 5, 4}, {6, 7, 4}, {0, 6, 2}, {2, 4, 2},
                                       {0, 2, 1}, {1, 3, 1}, {1, 5, 1}, {3, 7, 1}, {4, 6, 1}, {5, 7, 1}};
    static const char *const labels[] = {"GCD 0", "GCD 1", "GCD 5", "GCD 4", "GCD 2", "GCD 3", "GCD 7", "GCD 6"};
    static const uint8_t module[] = {0, 0, 2, 2, 1, 1, 3, 3};
    struct node_graph *node = with_devices(preset, devices, arena);
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
struct node_graph *build_alps(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    struct node_graph *node = with_devices(preset, devices, arena);
    uint32_t port = node_add(node, NODE_PORT);
    add_all_pairs(node, 0, devices, &nvlink4_pair, 6);
    for (uint32_t i = 0; i < devices; i++) {
        uint32_t grace = node_add(node, NODE_SOCKET);
        node_join(node, i, grace, &c2c, 1);
        node->parts[i].exit = node_join(node, grace, port, &slingshot, 1);
    }
    return node;
}

struct node_graph *build_aws_p4d(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    static const struct pcie_tree tree = {2, 1, 0, &pcie4, NULL, NULL, &efa, 1, NULL};
    struct node_graph *node = with_devices(preset, devices, arena);
    add_nvswitch(node, devices, &nvlink3, 12);
    add_pcie(node, devices, preset->devices, &tree);
    return node;
}

struct node_graph *build_aws_p5(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    static const struct pcie_tree tree = {1, 1, 0, &pcie5, NULL, NULL, &efa_p5, 4, NULL};
    struct node_graph *node = with_devices(preset, devices, arena);
    add_nvswitch(node, devices, &nvlink4, 18);
    add_pcie(node, devices, preset->devices, &tree);
    return node;
}

/* Two sockets, two switches on each, two GPUs on each switch: pairs on one switch talk at full rate, all others share
 * the switches' ways to the sockets. A network interface on each switch. */
struct node_graph *build_pcie_a100(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    static const struct pcie_tree tree = {2, 1, 2, &pcie4, &root4, &amd_socket, &hdr, 1, NULL};
    struct node_graph *node = with_devices(preset, devices, arena);
    add_pcie(node, devices, preset->devices, &tree);
    return node;
}

struct node_graph *build_graphcore(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    struct node_graph *node = with_devices(preset, devices, arena);
    uint32_t hub = node_add(node, NODE_SWITCH), port = node_add(node, NODE_PORT);
    for (uint32_t i = 0; i < devices; i++)
        node_join(node, i, hub, &ipu_exchange, 8);
    for (uint32_t i = 0; i < devices; i++)
        node->parts[i].exit = node_join(node, i, port, &ipu_port, 2);
    return node;
}

/* A rack of machines in a loop of IPU-Links, each machine with its own gateway to the next rack. */
struct node_graph *build_bow(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    enum { MACHINE = 4, MACHINES_MAX = 16 };
    struct node_graph *node = with_devices(preset, devices, arena);
    uint32_t machines = (devices + MACHINE - 1) / MACHINE, edges[MACHINES_MAX], port = node_add(node, NODE_PORT);
    for (uint32_t m = 0; m < machines; m++) {
        uint32_t hub = node_add(node, NODE_SWITCH);
        edges[m] = node_add(node, NODE_SWITCH);
        uint32_t exit = node_join(node, edges[m], port, &bow_gateway, 1);
        for (uint32_t i = m * MACHINE; i < (m + 1) * MACHINE && i < devices; i++) {
            node_join(node, i, hub, &ipu_exchange, 8);
            node_join(node, i, edges[m], &ipu_port, 2);
            node->parts[i].exit = exit;
        }
        if (m > 0)
            node_join(node, edges[m - 1], edges[m], &bow_machine, 1);
    }
    if (machines > 2)
        node_join(node, edges[machines - 1], edges[0], &bow_machine, 1);
    return node;
}

/* All pairs of cards joined by three ports each, three more of each card lead out. */
struct node_graph *build_gaudi2(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    struct node_graph *node = with_devices(preset, devices, arena);
    uint32_t port = node_add(node, NODE_PORT);
    add_all_pairs(node, 0, devices, &gaudi2_pair, 3);
    for (uint32_t i = 0; i < devices; i++)
        node->parts[i].exit = node_join(node, i, port, &gaudi2_out, 3);
    return node;
}

/* Two boards of four processors, all pairs of a board linked, the boards joined by PCI Express through their sockets;
 * each processor has a network interface of its own. */
struct node_graph *build_ascend_910(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    struct node_graph *node = with_devices(preset, devices, arena);
    uint32_t port = node_add(node, NODE_PORT), sockets[] = {node_add(node, NODE_SOCKET), node_add(node, NODE_SOCKET)};
    node_join(node, sockets[0], sockets[1], &root4, 2);
    for (uint32_t i = 0; i < devices; i++) {
        node_join(node, i, sockets[i / 4], &pcie4, 1);
        node->parts[i].exit = node_join(node, i, port, &ascend_nic, 1);
    }
    add_all_pairs(node, 0, devices < 4 ? devices : 4, &hccs, 1);
    add_all_pairs(node, 4, devices, &hccs, 1);
    return node;
}

struct node_graph *build_cerebras(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    struct node_graph *node = with_devices(preset, devices, arena);
    uint32_t port = node_add(node, NODE_PORT);
    for (uint32_t i = 0; i < devices; i++)
        node_join(node, i, port, &cs2_ethernet, 1);
    return node;
}

struct node_graph *build_bare(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    return with_devices(preset, devices, arena);
}

/* A GPU and `cables` network interfaces on each PCI Express switch, the GPUs on NVSwitch. */
static struct node_graph *with_interface_each(const struct preset *preset, uint32_t devices, const struct wire *nvlink,
                                              const struct wire *nic, double cables, struct arena *arena)
{
    struct pcie_tree tree = {1, 1, 0, &pcie5, NULL, NULL, nic, cables, NULL};
    struct node_graph *node = with_devices(preset, devices, arena);
    add_nvswitch(node, devices, nvlink, 18);
    add_pcie(node, devices, preset->devices, &tree);
    return node;
}

struct node_graph *build_aws_p5en(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    return with_interface_each(preset, devices, &nvlink4, &efa_200, 2, arena);
}

struct node_graph *build_aws_p6_b200(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    return with_interface_each(preset, devices, &nvlink5, &efa_400, 1, arena);
}

struct node_graph *build_gcp_a3_mega(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    return with_interface_each(preset, devices, &nvlink4, &tcpxo, 1, arena);
}

/* All pairs of devices joined by links of their own, a GPU and an interface on each PCI Express switch. */
static struct node_graph *with_mesh(const struct preset *preset, uint32_t devices, const struct wire *link,
                                    uint32_t links, const struct wire *nic, struct arena *arena)
{
    struct pcie_tree tree = {1, 1, 0, &pcie5, NULL, NULL, nic, 1, NULL};
    struct node_graph *node = with_devices(preset, devices, arena);
    add_all_pairs(node, 0, devices, link, links);
    add_pcie(node, devices, preset->devices, &tree);
    return node;
}

struct node_graph *build_mi300x(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    return with_mesh(preset, devices, &xgmi_mi300, 1, &roce_400, arena);
}

struct node_graph *build_mi355x(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    return with_mesh(preset, devices, &xgmi_mi350, 1, &ainic_400, arena);
}

struct node_graph *build_azure_nd_mi300x(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    return with_mesh(preset, devices, &xgmi_mi300, 1, &ndr, arena);
}

struct node_graph *build_el_capitan(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    return with_mesh(preset, devices, &xgmi_mi300a, 2, &slingshot, arena);
}

struct node_graph *build_juwels_booster(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    return with_mesh(preset, devices, &nvlink3_pair, 4, &hdr, arena);
}

struct node_graph *build_leonardo(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    return with_mesh(preset, devices, &nvlink3_pair, 4, &hdr_100, arena);
}

/* Six GPUs on two sockets, eight interfaces on the sockets. */
struct node_graph *build_aurora(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    struct node_graph *node = with_devices(preset, devices, arena);
    uint32_t port = node_add(node, NODE_PORT), sockets[] = {node_add(node, NODE_SOCKET), node_add(node, NODE_SOCKET)};
    uint32_t exits[2];
    add_all_pairs(node, 0, devices, &xe_link, 1);
    node_join(node, sockets[0], sockets[1], &upi, 1);
    for (uint32_t i = 0; i < 2; i++)
        exits[i] = node_join(node, sockets[i], port, &slingshot, 4);
    for (uint32_t i = 0; i < devices; i++) {
        node_join(node, i, sockets[i / 3], &pcie5, 1);
        node->parts[i].exit = exits[i / 3];
    }
    return node;
}

/* A GB200 rack with the next generation's interfaces. */
struct node_graph *build_gb300(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    return with_grace(preset, devices, &xdr, arena);
}

/* Four cards on two sockets, PCI Express of the third generation. */
struct node_graph *build_pcie_v100(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    static const struct pcie_tree tree = {2, 1, 2, &pcie3, &root3, &skylake_upi, &edr, 1, NULL};
    struct node_graph *node = with_devices(preset, devices, arena);
    add_pcie(node, devices, preset->devices, &tree);
    return node;
}
