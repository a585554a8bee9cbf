/* SPDX-License-Identifier: Apache-2.0 */
/* What a user asks the generator for. */
#ifndef STAGESIM_REQUEST_H
#define STAGESIM_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

/* Most nodes and devices in one file. */
#define DESIGN_NODES_MAX 65536u
#define DESIGN_DEVICES_MAX 1048576u

/* Whether interface k of all nodes of a pod is on leaf switch k (a rail), and how a message reaches another rail in its
 * pod. */
enum fabric_rails {
    RAILS_NONE,
    RAILS_SPINE,  /* up to the spine and down again */
    RAILS_NVLINK, /* through the device of that rail in the sender's node, as NCCL's PXN does */
    RAILS_PLANES  /* the same, and rail k of all pods is a network of its own, with a spine of its own */
};

/* How ranks launch collectives. */
enum launch_way {
    LAUNCH_PROCESSES,   /* a process for each device, one launch after the other, as training has them */
    LAUNCH_ONE_PROCESS, /* one process drives all devices of a node */
    LAUNCH_TORCH        /* each is timed by itself from torch, between events and barriers */
};

/* What `stagesim platform generate`, or a scenario, asks for; 0 takes the preset's own value. */
struct platform_request {
    const char *preset;
    uint32_t nodes;    /* at least 1 */
    uint32_t per_node; /* devices of a node */
    uint32_t pod;
    double oversubscription;
    uint32_t group; /* nodes in a group of pods, below a third level of switches; 0: there is none */
    double group_oversubscription;
    bool group_direct;              /* groups are joined pairwise, and what one sends another takes that link only */
    uint32_t sites;                 /* the nodes are in so many places far apart; 0: in one. In place of groups */
    double site_rate, site_latency; /* bytes per second from a site to all others; seconds from a site to another */
    bool joined;                    /* one of several clusters in a platform */
    double flow_rate, flow_window;  /* bytes per second that one transfer between nodes reaches at most, and bytes of it
                                       on their way at once; 0: what the network's file says */
    const char *torus;              /* sizes such as 8x8x16: the shape that optical switches join cubes to */
    enum fabric_rails rails;
    enum launch_way launch;
    const char *library; /* a name of platforms/hardware/libraries: in place of the product's own; NULL: that */
    const char *nic;     /* a name of interface_table: in place of the product's own interfaces; NULL: those */
    bool ecmp;           /* flows are spread over the links of a pod's switches by a hash; these hold for that */
    uint32_t paths;      /* how many such links a pod has, or with rails each leaf switch; 0: as wide as an interface */
    uint32_t flows;      /* that a transfer is cut into; 0: one */
    uint64_t seed;       /* of the hash */
};

#endif
