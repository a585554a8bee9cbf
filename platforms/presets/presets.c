/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/presets/presets.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/words/aliases.h"
#include "platforms/presets/interfaces.h"

#include <string.h>
#include <strings.h>

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

/* TPU v4: cubes of 4 x 4 x 4 chips joined to the most nearly cubic box. */
static bool shape_cubes(struct fabric *fabric, uint32_t nodes, struct fault *fault)
{
    uint32_t cubes = nodes / 16, best = 0;
    if (nodes % 16)
        return fault_set(
            fault, "tpu-v4 has wrap-around links only in whole cubes of 4 x 4 x 4 chips, 16 nodes each: try %u nodes",
            nodes / 16 * 16 + 16);
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
static const char *const note_cs2[] = {
    "Weights are streamed and gradients reduced through SwarmX; here it is the switch between the systems.", NULL};
static const char *const note_aries[] = {"Minimal routing on SimGrid's dragonfly. The links between groups are an "
                                         "estimate, tapered by the oversubscription.",
                                         NULL};

static const struct preset presets[] = {
    {"dgx-1v", "DGX-1V: 8 V100 in a hybrid cube mesh", "V100-SXM2-32GB", 8, false, "gpu", build_dgx_1v,
     SWITCHED("InfiniBand EDR fat tree", 0.05, 32, 1, "non-blocking fat tree; 0.5 us end to end; pod size assumed",
              CONFIDENCE_M),
     NULL, 0, "NVLink2 pairs, 6 links", "4 x EDR", note_dgx_1v, 40, 40, 11.25, &library_nccl},
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
     NULL, 0, "NVSwitch, 18 NVLink5", "72 x NDR", note_switch, 721.8, 721.8, 45, &library_blackwell,
     &network_infiniband},
    {"summit", "Summit: 6 V100 in two triples on POWER9", "V100-SXM2-16GB", 6, false, "gpu", build_summit,
     SWITCHED("InfiniBand EDR fat tree", 0.05, 18, 1,
              "3-level non-blocking fat tree (OLCF); 18 nodes to a leaf recalled", CONFIDENCE_M),
     NULL, 4608, "NVLink2 triples, X-bus", "2 x EDR", NULL, 40, 32, 11.5, &library_nccl},
    {"perlmutter", "Perlmutter: 4 A100 40 GB, all pairs linked", "A100-SXM4-40GB", 4, true, "gpu", build_perlmutter,
     SWITCHED("Slingshot-11 dragonfly", 0.35, 64, 2, "groups of 64 nodes and a taper of 2 assumed; 350 ns a switch",
              CONFIDENCE_L),
     NULL, 1794, "NVLink3 pairs, 4 links", "4 x Slingshot-11", note_dragonfly, 80, 80, 22.5, &library_nccl},
    {"polaris", "Polaris: 4 A100 40 GB, two network interfaces", "A100-SXM4-40GB", 4, true, "gpu", build_polaris,
     SWITCHED("Slingshot-11 dragonfly", 0.35, 64, 2, "groups of 64 nodes and a taper of 2 assumed; 350 ns a switch",
              CONFIDENCE_L),
     NULL, 560, "NVLink3 pairs, 4 links", "2 x Slingshot-11", note_dragonfly, 80, 80, 22.5, &library_nccl},
    {"frontier", "Frontier: 8 MI250X dies in 4 modules", "MI250X-GCD", 8, false, "gpu", build_frontier,
     SWITCHED("Slingshot-11 dragonfly", 0.35, 128, 1.75,
              "groups of 128 nodes and their taper recalled; 350 ns a switch", CONFIDENCE_L),
     NULL, 9408, "Infinity Fabric, 1 to 4 links", "4 x Slingshot-11", note_frontier, 160, 40, 22.5},
    {"alps", "Alps: 4 Grace-Hopper modules", "GH200-96GB", 4, true, "gpu", build_alps,
     SWITCHED("Slingshot-11 dragonfly", 0.35, 112, 2,
              "112 nodes to a cabinet (CSCS), taken as a group; taper of 2 assumed", CONFIDENCE_M),
     NULL, 2688, "NVLink4 pairs, 6 links", "4 x Slingshot-11", note_dragonfly, 123.6, 123.6, 22.5, &library_nccl,
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
     NULL,
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

const struct preset *preset_find(const char *name)
{
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (strcasecmp(presets[i].name, name) == 0)
            return &presets[i];
    return NULL;
}

const char *preset_named(const char *word)
{
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (alias_is(word, presets[i].name))
            return presets[i].name;
    return NULL;
}

static bool refuse_name(const char *name, struct fault *fault)
{
    const char *names[sizeof presets / sizeof *presets];
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        names[i] = presets[i].name;
    const char *near = alias_nearest(name, names, sizeof presets / sizeof *presets);
    if (near)
        return fault_set(fault, "there is no preset '%s'; did you mean '%s'?", name, near);
    return fault_set(fault, "there is no preset '%s'; 'stagesim list presets' shows what there is", name);
}

static bool refuse_interface(const char *name, struct fault *fault)
{
    size_t count;
    const struct interface *table = interface_table(&count);
    const char *names[16];
    for (size_t i = 0; i < count && i < 16; i++)
        names[i] = table[i].name;
    const char *near = diag_nearest(name, names, count);
    return fault_set(fault, "there is no interface '%s'; did you mean '%s'?", name, near ? near : table[0].name);
}

static bool check_request(const struct platform_request *request, const struct preset *preset, struct fault *fault)
{
    enum fabric_kind kind = preset->fabric.kind;
    if (request->nodes == 0)
        return fault_set(fault, "a platform has at least one node");
    if (preset->nodes_max && request->nodes > preset->nodes_max)
        return fault_set(fault, "%s has at most %u nodes, not %u", preset->name, preset->nodes_max, request->nodes);
    if (request->per_node && request->per_node != preset->devices &&
        (!preset->any_devices || request->per_node > preset->devices))
        return fault_set(fault,
                         preset->any_devices ? "a node of %s has 1 to %u devices, not %u"
                                             : "a node of %s has %u devices, not %u",
                         preset->name, preset->devices, request->per_node);
    if (request->pod && kind != FABRIC_SWITCHED)
        return fault_set(fault, "%s has no pods: its fabric is: %s", preset->name, preset->fabric.name);
    if (request->oversubscription != 0 && kind != FABRIC_SWITCHED && kind != FABRIC_DRAGONFLY)
        return fault_set(fault, "%s has no oversubscription: its fabric is: %s", preset->name, preset->fabric.name);
    if (request->oversubscription != 0 && !(request->oversubscription >= 1 && request->oversubscription <= 1000))
        return fault_set(fault, "oversubscription %g: expected 1 (none) to 1000", request->oversubscription);
    if (request->rails != RAILS_NONE && (kind != FABRIC_SWITCHED || request->nodes == 1))
        return fault_set(fault,
                         kind != FABRIC_SWITCHED ? "%s has no rails: its fabric is: %s" : "%s: one node has no rails",
                         preset->name, preset->fabric.name);
    if (request->nic && !interface_find(request->nic))
        return refuse_interface(request->nic, fault);
    if (request->nic && kind != FABRIC_SWITCHED)
        return fault_set(fault, "%s keeps its interfaces: its fabric is: %s", preset->name, preset->fabric.name);
    return true;
}

/* Another interface in place of each of the node's, as many as the product has. */
static void replace_interfaces(struct node *node, const struct interface *interface)
{
    uint32_t port = node_port(node), number = 0;
    for (uint32_t i = 0; i < node->cable_count; i++) {
        struct node_cable *cable = &node->cables[i];
        if (cable->ends[0] != port && cable->ends[1] != port)
            continue;
        cable->wire = &interface->wire;
        cable->bandwidth = interface->wire.effective * 1e9;
        cable->number = number++;
    }
}

/* The technology of a product's own interfaces is the first word of its fabric's name: InfiniBand, Slingshot-11, EFA.
 */
static const char *technology_of(const struct fabric *fabric, struct arena *arena)
{
    return arena_print(arena, "%.*s", (int)strcspn(fabric->name, " "), fabric->name);
}

/* Hosts of equal `nic` reach each other over their own network: a second cluster of a technology gets a number. */
static void name_interfaces(struct design *designs, uint32_t count, struct arena *arena)
{
    const char **technologies = arena_array(arena, count, sizeof *technologies);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t same = 1;
        technologies[i] = designs[i].interface ? designs[i].interface : technology_of(&designs[i].fabric, arena);
        for (uint32_t k = 0; k < i; k++)
            same += strcmp(technologies[k], technologies[i]) == 0;
        designs[i].library =
            i ? NULL : designs[i].alone; /* one library runs on all: the first part's, of which the networks differ */
        designs[i].network = NULL;
        designs[i].interface = same > 1 ? arena_print(arena, "%s-%u", technologies[i], same) : technologies[i];
    }
}

/* SimGrid numbers the hosts of a torus with the first dimension fastest, collective_torus has the last one so. */
static const struct design_library *library_of(const struct preset *preset, const struct fabric *fabric,
                                               struct arena *arena)
{
    if (preset->library != &library_torus)
        return preset->library;
    struct design_library *library = arena_alloc(arena, sizeof *library);
    uint32_t count = fabric->dimensions[2] ? 3 : 2;
    *library = *preset->library;
    for (uint32_t i = 0; i < count; i++)
        library->properties.torus[i] = fabric->dimensions[count - 1 - i];
    return library;
}

/* Seconds from the first device to the first one of the next node. */
static double network_latency(const struct design *design)
{
    enum { STEPS_MAX = 64 };
    struct node_step steps[STEPS_MAX];
    uint32_t count = node_route(design->node, 0, node_port(design->node), steps, STEPS_MAX);
    double latency = design->fabric.hop;
    for (uint32_t i = 0; i < count; i++)
        latency += design->node->cables[steps[i].cable].wire->latency;
    return 2 * latency;
}

/* Several nodes on a network of which something is known: the library with the network's part, else without. */
static void add_network(struct design *design, struct arena *arena)
{
    const struct design_library *library = design->library;
    if (library && design->network && design->nodes > 1)
        design->library = library_over(library, design->network, network_latency(design), arena);
    if (design->library == library)
        design->network = NULL;
}

bool preset_design(const struct platform_request *request, struct arena *arena, struct design *design,
                   struct fault *fault)
{
    const struct preset *preset = preset_find(request->preset);
    if (!preset)
        return refuse_name(request->preset, fault);
    if (!check_request(request, preset, fault))
        return false;
    uint32_t devices = request->per_node ? request->per_node : preset->devices;
    *design = (struct design){
        .prefix = preset->prefix, .fabric = preset->fabric, .nodes = request->nodes, .notes = preset->notes};
    if (preset->shape && !preset->shape(&design->fabric, request->nodes, fault))
        return false;
    if (request->pod)
        design->fabric.pod = request->pod;
    if (request->oversubscription != 0)
        design->fabric.oversubscription = request->oversubscription;
    design->fabric.rails = request->rails;
    struct node *node = preset->build(preset, devices, arena);
    design->node = node;
    design->library = library_of(preset, &design->fabric, arena);
    const struct interface *interface = request->nic ? interface_find(request->nic) : NULL;
    design->alone = design->library;
    design->network = preset->on_network;
    if (interface) {
        design->network = strcmp(interface->technology, "InfiniBand") == 0 ? &network_infiniband : NULL;
        replace_interfaces(node, interface);
        if (strncmp(preset->fabric.name, interface->product, strlen(interface->product)) != 0)
            design->fabric.name = arena_print(arena, "%s, switched as %s", interface->product, preset->fabric.name);
        design->interface = interface->technology;
    }
    add_network(design, arena);
    design->title = arena_print(arena, "%s. %u node%s of %u device%s%s%s, from stagesim's preset %s.", preset->summary,
                                request->nodes, request->nodes == 1 ? "" : "s", devices, devices == 1 ? "" : "s",
                                interface ? " with " : "", interface ? interface->product : "", preset->name);
    return true;
}

bool platform_generate(const struct platform_request *request, FILE *out, struct fault *fault)
{
    struct arena *arena = arena_create();
    struct design design;
    bool done = preset_design(request, arena, &design, fault) && design_write(&design, out, fault);
    arena_destroy(arena);
    return done;
}

bool platform_generate_joined(const struct platform_request *requests, uint32_t count, const char *join, FILE *out,
                              struct fault *fault)
{
    const struct interface *interface = interface_find(join);
    if (!interface)
        return refuse_interface(join, fault);
    struct arena *arena = arena_create();
    struct design *designs = arena_array(arena, count, sizeof *designs);
    struct wire wire = interface->wire;
    bool done = true;
    wire.name = "joint-nic"; /* whatever it is: told by name from the clusters' own interfaces */
    for (uint32_t i = 0; i < count && done; i++)
        done = preset_design(&requests[i], arena, &designs[i], fault);
    if (done)
        name_interfaces(designs, count, arena);
    const char *title = arena_print(arena, "%u clusters, joined by %s.", count, interface->product);
    done = done && design_write_joined(title, designs, count, &wire, out, fault);
    arena_destroy(arena);
    return done;
}
