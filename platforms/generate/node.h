/* SPDX-License-Identifier: Apache-2.0 */
/* One computer (or whatever shares one fast interconnect) as a graph: devices, switches and sockets joined by
 * full-duplex cables. Presets build it by hand, importers from a topology file; the generator writes its routes into a
 * SimGrid zone. */
#ifndef STAGESIM_NODE_H
#define STAGESIM_NODE_H

#include "platforms/device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

#define NODE_NONE UINT32_MAX

enum node_part_kind {
    NODE_DEVICE, /* an accelerator: a host of the platform */
    NODE_SWITCH, /* PCI Express or NVLink switch, internal exchange */
    NODE_SOCKET, /* CPU socket or root complex: traffic passes */
    NODE_PORT    /* the way out: where the network interfaces end and the fabric begins; at most one */
};

/* A kind of cable with its rates: where they come from is written into every platform that uses it. */
struct wire {
    const char *name;   /* link names begin with it */
    double raw;         /* GB/s per direction, line rate */
    double effective;   /* GB/s per direction, what transfers reach */
    double latency;     /* seconds from one end to the other */
    const char *source; /* of both rates and of the latency */
    enum confidence confidence;
};

struct node_part {
    enum node_part_kind kind;
    bool forwards;                    /* traffic between other parts may pass; true for all but devices and the port */
    const struct device_model *model; /* devices only; NULL when unknown */
    const char *memory;               /* overrides the model's, with unit; NULL: the model's */
    const char *label;                /* where the device sits in the real machine, or NULL */
    uint32_t exit;                    /* the cable to the port that the device uses; NODE_NONE: the nearest */
};

struct node_cable {
    uint32_t ends[2];
    const struct wire *wire;
    double bandwidth; /* bytes per second and direction */
    uint32_t number;  /* counts the cables of one wire name: link names end with it */
};

struct node_graph {
    struct arena *arena; /* owns all of it */
    uint32_t part_count, cable_count;
    struct node_part *parts; /* devices first, in rank order */
    struct node_cable *cables;
    size_t part_capacity, cable_capacity;
    struct node_names *names;   /* how many cables there are of each wire name */
    struct node_search *search; /* the ways from the part that was last asked for */
};

/* One step of a route: the cable, and whether it is used from ends[0] to ends[1]. */
struct node_step {
    uint32_t cable;
    bool up;
};

/* An empty node in the arena. */
struct node_graph *node_create(struct arena *arena);
uint32_t node_add_device(struct node_graph *node, const struct device_model *model);
uint32_t node_add(struct node_graph *node, enum node_part_kind kind);
/* Joins two parts by `count` (may be fractional) cables of the kind, bundled into one. The wire is borrowed for the
 * node's life. Returns the cable's index. */
uint32_t node_join(struct node_graph *node, uint32_t from, uint32_t to, const struct wire *wire, double count);

uint32_t node_device_count(const struct node_graph *node);
/* NODE_NONE when the node has none. */
uint32_t node_port(const struct node_graph *node);
/* Bytes per second that all cables to the port carry together. */
double node_port_bandwidth(const struct node_graph *node);

/* The route between two parts: fewest cables, then the widest narrowest cable, then the lowest numbers. A route to or
 * from the port ends with the device's exit cable. From the first call on the node must not change but for exits.
 * Writes at most `capacity` steps and returns their number; 0 when there is no route (or it would not fit). */
uint32_t node_route(const struct node_graph *node, uint32_t from, uint32_t to, struct node_step *steps,
                    uint32_t capacity);

/* True when every device hangs on one switch by its own cable and all routes between devices pass that switch. */
bool node_is_star(const struct node_graph *node);

#endif
