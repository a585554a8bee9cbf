/* SPDX-License-Identifier: Apache-2.0 */
/* Machines that the generator knows by name. */
#ifndef STAGESIM_PRESETS_H
#define STAGESIM_PRESETS_H

#include "platforms/generate/generate.h"

struct preset {
    const char *name, *summary;
    const char *device; /* row of the device table */
    uint32_t devices;   /* of a node: the default, and the most */
    bool any_devices;   /* fewer devices of a node may be asked for */
    const char *prefix; /* of host names */
    struct node_graph *(*build)(const struct preset *preset, uint32_t devices, struct arena *arena);
    struct fabric fabric;
    /* Tori, dragonflies: fills the dimensions for that many nodes. NULL for others. */
    bool (*shape)(struct fabric *fabric, uint32_t nodes, struct fault *fault);
    uint32_t nodes_max;  /* 0: as many as a file holds */
    const char *links;   /* for the table: inside a node */
    const char *network; /* for the table: from the node outwards */
    const char *const *notes;
    /* What the generated platform carries, GB/s, with the default number of devices: one transfer from device 0 to
     * device 1 of a node; each transfer of a ring over all devices of a node in order; one transfer from device 0 of a
     * node to device 0 of the next. 0 where there is no such pair. Tests hold SimGrid to them. */
    double peer_rate, ring_rate, network_rate;
    const struct design_library *library;    /* NULL: nothing is known */
    const struct design_network *on_network; /* of its own interfaces; NULL: nothing is known */
};

/* All presets in the order of the table. */
const struct preset *preset_table(size_t *count);
const struct preset *preset_find(const char *name);
/* The name of the preset that a word surely means: in letters of any case, or by its device, as h100; NULL: none. */
const char *preset_named(const char *word);

/* The design of what is asked for; memory from the arena. False with the fault filled when there is no such preset or
 * it does not come in that shape. */
bool preset_design(const struct platform_request *request, struct arena *arena, struct design *design,
                   struct fault *fault);
/* The platform of a preset, without SimGrid; `name` is what messages call it. NULL with the fault filled. */
struct platform *preset_platform(const struct platform_request *request, const char *name, struct arena *arena,
                                 struct fault *fault);

/* What is known of the collective libraries of products; see library.c. */
extern const struct design_library library_a100, library_h100, library_blackwell, library_nvl72, library_dgx_2,
    library_nccl, library_nccl_links, library_a100_links, library_v100_links, library_pcie_v100, library_mi250x,
    library_mi300x, library_mi355x, library_torus;
/* What is known of collectives over networks. */
extern const struct design_network network_infiniband, network_efa, network_efa_2, network_slingshot, network_roce,
    network_roce_tuned, network_tcp;

/* The library of a product on nodes that a network joins: with the network's protocols, their latencies as ratios of
 * `latency`, the seconds of a route between nodes. The library itself where neither knows the other's protocols. Memory
 * from the arena. */
const struct design_library *library_over(const struct design_library *library, const struct design_network *network,
                                          double latency, struct arena *arena);

/* The library where one process drives all devices of a node. Memory from the arena. */
const struct design_library *library_of_one_process(const struct design_library *library, uint32_t devices,
                                                    struct arena *arena);

/* What is known of the library on nodes that no preset made, by the model of their devices and whether these are joined
 * directly; NULL: nothing. */
const struct design_library *library_of_node(const struct node_graph *node);
/* Gives a design of several nodes what is known of collectives over its network (design->network, may be NULL). */
void library_add_network(struct design *design, struct arena *arena);

/* Builders of nodes; see nodes.c. */
struct node_graph *build_dgx_1v(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_dgx_2(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_dgx_a100(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_dgx_h100(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_hgx_h800(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_dgx_b200(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_gb200(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_summit(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_perlmutter(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_polaris(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_frontier(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_alps(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_aws_p4d(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_aws_p5(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_pcie_a100(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_graphcore(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_cerebras(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_aws_p3dn(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_aws_p5en(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_aws_p6_b200(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_gcp_a3_mega(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_mi300x(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_mi355x(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_azure_nd_mi300x(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_el_capitan(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_juwels_booster(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_leonardo(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_aurora(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_gb300(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_pcie_v100(const struct preset *preset, uint32_t devices, struct arena *arena);
/* Devices and nothing else, for fabrics that join single devices. */
struct node_graph *build_bow(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_gaudi2(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_ascend_910(const struct preset *preset, uint32_t devices, struct arena *arena);
struct node_graph *build_bare(const struct preset *preset, uint32_t devices, struct arena *arena);

#endif
