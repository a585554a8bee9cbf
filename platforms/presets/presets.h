/* SPDX-License-Identifier: Apache-2.0 */
/* Machines that the generator knows by name: the files of platforms/hardware/products and the user's. */
#ifndef STAGESIM_PRESETS_H
#define STAGESIM_PRESETS_H

#include "platforms/generate/generate.h"
#include "platforms/presets/fabric_shape.h"
#include "platforms/presets/node_plan.h"

struct preset {
    const char *name, *summary;
    const char *device; /* its model's name */
    uint32_t devices;   /* of a node: the default, and the most */
    bool any_devices;   /* fewer devices of a node may be asked for */
    const char *prefix; /* of host names */
    struct node_plan plan;
    struct fabric fabric;
    fabric_shape *shape; /* tori, dragonflies; NULL for others */
    uint32_t nodes_max;  /* 0: as many as a file holds */
    const char *links;   /* for the table: inside a node */
    const char *network; /* for the table: from the node outwards */
    const char *const *notes;
    const char *const *files; /* the user's files that it was read from, `file_count` of them */
    size_t file_count;
    const struct design_library *library;    /* NULL: nothing is known */
    const struct design_network *on_network; /* of its own interfaces; NULL: nothing is known */
};

/* The keys of a product's file but device, cables and node; what stands beside `wire` in one of its cables. For the
 * reader and the JSON Schema. */
extern const struct stagesim_field product_fields[], cable_fields[];

/* Those of a name, or of a user's file by its path (NAME.yaml, or with a '/'); `at` is who asks for it. NULL where
 * there is none of the name, or after a mistake was reported. Read once, it lives as long as the process. */
const struct preset *preset_read(const char *name, struct place at, struct diag *diag);
/* All presets that have names, in the order of the table; *count of them. Mistakes in the user's are reported. */
const struct preset *const *preset_table(size_t *count, struct diag *diag);
/* The preset of a name in letters of any case, or of a file; NULL: there is none, or it has mistakes. */
const struct preset *preset_find(const char *name);
/* Its node with so many devices, in the arena. */
struct node_graph *preset_node(const struct preset *preset, uint32_t devices, struct arena *arena);

/* What the generated platform carries, GB/s, with the default number of devices: one transfer from device 0 to device 1
 * of a node; each transfer of a ring over all devices of a node in order; one transfer from device 0 of a node to
 * device 0 of the next. 0 where there is no such pair. Tests hold SimGrid to them. */
struct preset_rates {
    double peer, ring, network;
};
struct preset_rates preset_rates(const struct preset *preset);

/* The name of the preset that a word surely means: in letters of any case, or by its device, as h100; NULL: none. */
const char *preset_named(const char *word);

/* The design of what is asked for; memory from the arena. False with the fault filled when there is no such preset or
 * it does not come in that shape. */
bool preset_design(const struct platform_request *request, struct arena *arena, struct design *design,
                   struct fault *fault);
/* The platform of a preset, without SimGrid; `name` is what messages call it. NULL with the fault filled. */
struct platform *preset_platform(const struct platform_request *request, const char *name, struct arena *arena,
                                 struct fault *fault);

/* The library of a product on nodes that a network joins: with the network's protocols, their latencies as ratios of
 * `latency`, the seconds of a route between nodes. The library itself where neither knows the other's protocols. Memory
 * from the arena. */
const struct design_library *library_over(const struct design_library *library, const struct design_network *network,
                                          double latency, struct arena *arena);

/* The library where the ranks of a node with so many devices are launched in that way. Memory from the arena. */
const struct design_library *library_launched(const struct design_library *library, enum launch_way way,
                                              uint32_t devices, struct arena *arena);

/* What is known of the library on nodes that no preset made, by the model of their devices and whether these are joined
 * directly; NULL: nothing. */
const struct design_library *library_of_node(const struct node_graph *node);
/* Gives a design of several nodes what is known of collectives over its network (design->network, may be NULL). */
void library_add_network(struct design *design, struct arena *arena);

#endif
