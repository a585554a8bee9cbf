/* SPDX-License-Identifier: Apache-2.0 */
/* Writes SimGrid platform files: many equal nodes joined by a fabric, laid out so that SimGrid loads them fast. All
 * links are declared in the outermost zone; a node is a zone around the router where its network interfaces end, a pod
 * a Floyd zone of nodes around a leaf switch, the cluster a Floyd zone of pods around a spine. Tori and dragonflies of
 * single devices use SimGrid's own <cluster>. The same design gives the same bytes. */
#ifndef STAGESIM_GENERATE_H
#define STAGESIM_GENERATE_H

#include "base/diagnostics.h"
#include "platforms/generate/node.h"
#include "platforms/generate/request.h"

#include <stdio.h>

enum fabric_kind {
    FABRIC_SWITCHED, /* pods around leaf switches, spine above; dragonflies with adaptive routing, too: a group is a pod
                      */
    FABRIC_RING,     /* node i beside nodes i-1 and i+1 */
    FABRIC_TORUS,    /* SimGrid's torus of single devices */
    FABRIC_DRAGONFLY, /* SimGrid's dragonfly of single devices: groups, chassis, blades */
    FABRIC_MESH       /* every device has a private link to every other; for studies */
};

/* A level of switches above the spines: each group of nodes has pods and a spine, and one way to the other groups. */
struct fabric_group {
    uint32_t nodes;    /* 0: there is no such level */
    double rate, hop;  /* of that way: bytes per second, seconds */
    const char *links; /* how links of this level begin: core, site, or global */
    bool direct;       /* every two groups have a link of their own, with an equal share of the rate */
};

/* What the transport lets one transfer between nodes have, however idle the links are. 0: no limit. */
struct flow_limit {
    double rate;   /* bytes per second, of a processor core that handles its packets, or of a policy */
    double window; /* bytes that may be on their way before an answer is back: at most so many a round trip */
};

struct fabric {
    const char *name;
    enum fabric_kind kind;
    const struct wire *wire; /* between neighbours (ring, torus, dragonfly, mesh); NULL for switched */
    double hop;              /* seconds a message spends between a node and a leaf, and between a leaf and the spine */
    uint32_t pod;            /* nodes around one leaf switch, or in one group */
    double oversubscription; /* injection of a pod over the capacity of its way to the spine */
    struct fabric_group group; /* switched fabrics only */
    enum fabric_rails rails;   /* likewise */
    struct flow_limit flow;    /* likewise */
    uint32_t dimensions[4];    /* torus: sizes, 0-terminated; dragonfly: groups, chassis, blades, nodes of a blade */
    bool twisted; /* a torus of k x k x 2k or k x 2k x 2k: short sides are closed k further along long ones */
    const char *source;
    enum confidence confidence;
};

/* How collectives behave on a product beyond its links, and from where that is known. */
struct design_library {
    const char *name; /* of its file */
    struct platform_library properties;
    bool torus_of_fabric; /* collectives run along the torus that the fabric is */
    const char *source;
    enum confidence confidence;
};

/* What a network makes of the protocols of collectives, whatever nodes it joins. */
struct network_protocol {
    const char *name;
    double start;      /* seconds; NAN: as within a node */
    double hop;        /* seconds of latency from a device to one of another node */
    double efficiency; /* ratio; NAN: as within a node */
};

struct design_network {
    const char *name;                                      /* of its file */
    double launch;                                         /* seconds; NAN: as within a node */
    struct network_protocol protocols[PLATFORM_PROTOCOLS]; /* without a name: no further ones */
    bool known_only;                                       /* only those that the product has within a node */
    struct flow_limit flow;
    const char *source;
    enum confidence confidence;
};

/* What is written: `nodes` copies of `node` in the fabric. For torus and dragonfly the node's devices are dealt out one
 * by one; for a mesh they are joined pairwise. */
struct design {
    const char *title;        /* first line of the comment on top */
    const char *const *notes; /* more lines, NULL-terminated; may be NULL. Neither may contain "--" */
    const char *prefix;       /* of host names: "gpu" gives gpu-NODE-DEVICE */
    const struct node_graph *node;
    struct fabric fabric;
    uint32_t nodes;
    const struct design_library *library; /* NULL: nothing is known */
    const struct design_library *alone;   /* the library without what its network adds; NULL: it knows of none */
    const struct design_network *network; /* where the library's values over nodes are from; NULL: it has none */
    const char *interface;                /* value of the hosts' property `nic`; NULL: none is written */
};

/* Groups of a design, at least one: all is one where there is no level above the spines. Nodes of a group and of a pod,
 * of which the last may have fewer, and pods of a group; the pod that a node is in. */
uint32_t design_groups(const struct design *design);
uint32_t design_group_nodes(const struct design *design);
uint32_t design_pod_nodes(const struct design *design);
uint32_t design_group_pods(const struct design *design);
static inline uint32_t design_pod_of(const struct design *design, uint32_t node)
{
    uint32_t group = design_group_nodes(design);
    return node / group * design_group_pods(design) + node % group / design_pod_nodes(design);
}

/* How far up a transfer goes between nodes. */
enum design_level { LEVEL_POD, LEVEL_SPINE, LEVEL_TOP, LEVELS };

/* Seconds from the first device of a node to that of another one, over switches of that level. */
double design_latency(const struct design *design, enum design_level level);
/* Bytes per second that a transfer over that level reaches by the fabric's limits of flows; 0: no limit, or none beyond
 * that of the level below. */
double design_flow_rate(const struct design *design, enum design_level level);
/* Names of the links that carry these limits. */
extern const char *const design_flow_links[LEVELS];

/* Whether the design has devices, and neither too many nodes nor too many devices. False with the fault filled. */
bool design_check(const struct design *design, struct fault *fault);
/* Why nodes without a way out cannot be joined. */
#define DESIGN_NEEDS_PORT "the node has no network interface, so several nodes cannot be joined: use one node"

/* Writes the platform. False, with the fault filled, for a design that cannot be written: a device without a way to
 * another or to the port, dimensions that do not match the number of nodes, too many devices. */
bool design_write(const struct design *design, FILE *out, struct fault *fault);

/* What joins several designs: an interface of every node's own, and limits of transfers over it. */
struct joint {
    const struct wire *wire;
    struct flow_limit flow;
};

/* Writes several designs, all with switched fabrics and none with rails, into one platform: in each the network that it
 * has by itself, between them the joint. Nodes and pods are numbered across all designs. */
bool design_write_joined(const char *title, const struct design *designs, uint32_t count, const struct joint *joint,
                         FILE *out, struct fault *fault);

/* Writes the platform of a preset. False with the fault filled when there is no such preset or it does not come in that
 * shape; nothing has been written then. */
bool platform_generate(const struct platform_request *request, FILE *out, struct fault *fault);
/* Writes several into one platform, joined by interfaces of the kind `join` (a name of interface_table). */
bool platform_generate_joined(const struct platform_request *requests, uint32_t count, const char *join, FILE *out,
                              struct fault *fault);

#endif
