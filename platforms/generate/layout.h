/* SPDX-License-Identifier: Apache-2.0 */
/* A design while it is written: the routes inside its node, found once and written for every copy. The sources of the
 * generator share it. */
#ifndef STAGESIM_LAYOUT_H
#define STAGESIM_LAYOUT_H

#include "platforms/generate/generate.h"

/* Full routing tables grow with the square of the devices; a larger star is written as a Floyd zone around its switch.
 */
#define FULL_DEVICES_MAX 16u

struct layout_route {
    uint32_t count;
    struct node_step *steps;
};

struct layout {
    const struct design *design;
    /* The zone pod-NUMBER of the nodes `first` to `past` - 1 of the design. */
    void (*write_pod)(FILE *out, const struct layout *layout, uint32_t pod, uint32_t first, uint32_t past);
    uint32_t devices;
    bool star, has_port;
    struct layout_route *pairs; /* [a * devices + b] for a < b */
    struct layout_route *out;   /* to the port */
    bool *used;                 /* by cable: on some route */
    double exit_latency;        /* seconds more on cables to the port: where no uplink follows them */
    /* In a platform of several designs: */
    const struct joint *joint;      /* what joins them; NULL: nothing does */
    uint32_t first_node, first_pod; /* numbers of this design's first node and pod */
};

/* Finds the routes; memory from the node's arena. False, with the fault filled, for a device without a way to another
 * or to the port. */
bool layout_create(struct layout *layout, const struct design *design, struct fault *fault);

/* Links, hosts and the whole zone of the node of number `copy`. `own_links`: the links are declared in the node's zone,
 * not in the outermost one; SimGrid looks names up zone by zone, so this is for a few nodes only. */
void layout_write_links(FILE *out, const struct layout *layout, uint32_t copy);
/* `node_property`: hosts say which node they are in, for zones that hold several. */
void layout_write_hosts(FILE *out, const struct layout *layout, uint32_t copy, bool node_property);
/* `count` devices without a node around them. */
void layout_write_single_hosts(FILE *out, const struct design *design, uint32_t count);
void layout_write_node(FILE *out, const struct layout *layout, uint32_t copy, bool own_links);
/* Routes between all devices of a node. */
void layout_write_pairs(FILE *out, const struct layout *layout, uint32_t copy);
/* The properties of the outermost zone. */
void layout_write_library(FILE *out, const struct design *design);
/* The links of a route, and the end of the element; `exits`: it leaves the node, where limits of transfers hold. */
void layout_write_steps(FILE *out, const struct layout *layout, uint32_t copy, const struct layout_route *route,
                        bool exits);

/* A zone that holds nothing but one switch: `zone`-NUMBER with the router `router`-NUMBER; without numbers for
 * NODE_NONE. */
void layout_write_switch(FILE *out, const char *zone, const char *router, uint32_t number);

/* One pod: the zone pod-NUMBER of the nodes `first` to `past` - 1 of the design. */
void layout_write_pod(FILE *out, const struct layout *layout, uint32_t pod, uint32_t first, uint32_t past);

/* From the nodes `first` to `past` - 1 to the leaf switch of their pod. */
void layout_write_uplinks(FILE *out, const struct layout *layout, uint32_t first, uint32_t past, uint32_t pod);

/* How many of a route's cables to the port lead to the joint as well: all but the interface, if there are others. */
static inline uint32_t layout_to_joint(const struct layout_route *out)
{
    return out->count - (out->count > 1);
}

/* The ways over which designs are joined: an interface of each node, one link for what those of a pod carry together.
 */
void layout_write_joint_links(FILE *out, const struct layout *layout);
void layout_write_joint_routes(FILE *out, const struct layout *layout);

/* The link that limits single transfers over that level, and its place on a route; nothing where there is no limit. */
void layout_write_flow_link(FILE *out, const struct layout *layout, enum design_level level);
void layout_flow_on_route(FILE *out, const struct layout *layout, enum design_level level);
/* The same of ways over the joint, which have such a link wherever those beside them do: Floyd's zones take the way of
 * fewest links. */
void layout_write_joint_flow_link(FILE *out, const struct layout *layout);
void layout_joint_flow_on_route(FILE *out, const struct layout *layout);

/* The zone of a torus that is closed with a shift (fabric.twisted). */
void twisted_write(FILE *out, const struct design *design);

/* ---- generate_rails.c: leaf switches for the interfaces of one number ---- */

/* Interfaces of a node, each on a leaf switch of its own. False with the fault filled where the node has no use for
 * rails. */
bool rails_check(const struct layout *layout, struct fault *fault);
/* Links of nodes and of `pods` pods; a pod as layout_write_pod. */
void rails_write_links(FILE *out, const struct layout *layout, uint32_t pods);
void rails_write_pod(FILE *out, const struct layout *layout, uint32_t pod, uint32_t first, uint32_t past);
/* The whole zone of rails that do not meet, each with a spine of its own. */
void rails_write_planes(FILE *out, const struct layout *layout);

#endif
