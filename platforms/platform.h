/* SPDX-License-Identifier: Apache-2.0 */
/* The platform: hosts that can hold a rank, and the route between any two. Filled from the structure of a product
 * (generate/structure.h), from a file (network_read.h), or from what SimGrid has read
 * (simulator/engines/simgrid/bridge.cpp); job/scenario/platform_source.h chooses. Knows nothing of SimGrid. */
#ifndef STAGESIM_PLATFORM_H
#define STAGESIM_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Most ranks of a job or of a measured collective: keeps products of sizes within 64 bits, and tables within memory. */
enum { RANKS_MAX = 1 << 20 };

enum precision {
    PRECISION_FP32,
    PRECISION_TF32,
    PRECISION_FP16,
    PRECISION_BF16,
    PRECISION_FP8,
    PRECISION_FP4,
    PRECISIONS
};

struct platform_host {
    const char *name;
    const char *model;       /* property `model`; NULL when not given */
    const char *node;        /* property `node`; when not given, the name of the innermost zone that holds it */
    const char *nic;         /* property `nic`: the technology of its network interface; NULL when not given */
    double speed;            /* flop/s: SimGrid's speed, in the state in which the host starts */
    double full_speed;       /* flop/s: when nothing slows it down, see rating.h; 0: that is its speed */
    uint32_t state;          /* SimGrid's pstate in which it starts */
    double peak[PRECISIONS]; /* property peak_<precision>; 0 when not given */
    double memory;           /* bytes, property `memory`; 0 when not given */
    double memory_bandwidth; /* bytes per second; 0 when not given */
    bool has_watts;          /* SimGrid's wattage_per_state is given */
    double idle_watts; /* in the state in which it starts: the host on and idle, and computing; 0 when not given */
    double busy_watts;
    bool varies;  /* the platform file attaches profiles, to whatever */
    void *handle; /* the engine's own */
};

/* The speed at which its model's times hold. */
static inline double platform_full_speed(const struct platform_host *host)
{
    return host->full_speed > 0 ? host->full_speed : host->speed;
}

enum link_sharing { LINK_SHARED, LINK_FATPIPE, LINK_OTHER };

struct platform_link {
    const char *name;
    double bandwidth, latency; /* bytes per second; seconds */
    enum link_sharing sharing;
    uint32_t parts; /* a transfer passes it once for each of so many equal parts of itself that take it, and its
                       bandwidth is as many times its rate; 0: transfers are whole */
};

/* What a link draws: with nothing on it, and full. Watts. */
struct platform_link_watts {
    double idle, busy;
};

/* Bytes per second that it carries; bytes of a transfer that pass it each time that a route has it. */
static inline double platform_link_rate(const struct platform_link *link)
{
    return link->parts > 1 ? link->bandwidth / link->parts : link->bandwidth;
}

static inline double platform_link_bytes(const struct platform_link *link, double bytes)
{
    return link->parts > 1 ? bytes / link->parts : bytes;
}

/* What a message from a host to itself passes: SimGrid makes a link of that name. */
#define PLATFORM_LOOPBACK "__loopback__"
static const struct platform_link platform_loopback = {PLATFORM_LOOPBACK, 10e9, 0, LINK_FATPIPE, 0};

struct platform_route {
    double latency;   /* seconds: sum over the links */
    double bandwidth; /* bytes per second: the narrowest link; INFINITY when the route has no link */
    uint32_t link_count;
    const uint32_t *links; /* indices into platform.links; valid until the next call of `route` */
};

/* How the collective library of the machine behaves beyond the links, from the properties of the platform's outermost
 * zone; see doc/collectives.md. A collective takes `launch` and, in the protocol that is fastest for its size, `start`,
 * then each transfer `latency` times the route's latency and its bytes over `efficiency` times the rate. */
enum { PLATFORM_PROTOCOLS = 3, PLATFORM_COLLECTIVES = 8 };

/* Within a node, or from one node to another. A group has the scope that its members as a whole have, a transfer that
 * of its two ends. */
enum platform_scope { SCOPE_NODE, SCOPE_NETWORK, SCOPES };

struct platform_protocol {
    const char *name;  /* low, middle or bulk; NULL: none */
    double start;      /* seconds */
    double latency;    /* ratio */
    double efficiency; /* ratio */
    double most;       /* bytes of the buffer for each rank up to which the library takes this protocol, and none with
                          more bandwidth, and beyond which it does not; 0: it takes the fastest one */
    double rate;       /* bytes per second that one message reaches at most; 0: whatever the links carry */
};

enum platform_in_network {
    PLATFORM_REDUCES_NOWHERE,
    PLATFORM_REDUCES_IN_NODE /* NVLS */,
    PLATFORM_REDUCES_IN_CLUSTER /* SHARP */
};

/* How a ring passes the devices of a node: in the order of ranks, or as many rings as the links between devices hold.
 */
enum platform_rings { PLATFORM_RINGS_IN_ORDER, PLATFORM_RINGS_ON_LINKS };

/* What is known of the groups of one scope. Start and launch are those of a group; the ratios of a protocol are those
 * of transfers: one within a node takes the node's also where its group crosses nodes, unless the protocol has none
 * there. */
struct platform_regime {
    double launch[PLATFORM_COLLECTIVES]; /* seconds, by enum stagesim_collective; complete: see library_complete */
    double launch_default;               /* of the kinds that are not given */
    bool launch_default_given;
    bool launch_given[PLATFORM_COLLECTIVES];
    struct platform_protocol protocols[PLATFORM_PROTOCOLS];
    uint32_t protocol_count; /* 0 within nodes: one without start whose ratios are 1; over nodes: those within nodes */
    struct platform_protocol direct[PLATFORM_PROTOCOLS]; /* of the messages of all-to-all and send-receive */
    uint32_t direct_count;                               /* 0: they take the last of `protocols` */
    double in_network_start; /* seconds, of reductions in switches; 0: that of the last of `protocols` */
};

/* How switches spread flows over parallel links; see routing.h. */
enum routing_policy { ROUTING_ADAPTIVE /* evenly */, ROUTING_ECMP /* each flow on one, by a hash */ };

struct platform_routing {
    enum routing_policy policy;
    char links[48]; /* the kind of links that stand for several; "": not given */
    uint32_t paths; /* how many; 0: not given */
    uint32_t flows; /* that a transfer is cut into; 0: not given, one */
    uint64_t seed;  /* of the hash */
};

struct platform_library {
    struct platform_routing routing;
    struct platform_regime regimes[SCOPES];
    enum platform_rings rings;
    enum platform_in_network in_network;
    double in_network_efficiency; /* what of the link rate a switch that reduces carries, with up to 8 members in a
                                     node; 0 when not given */
    double in_network_decline;    /* how much of that is lost with each doubling of the members of a node beyond 8 */
    double in_network_efficiency_over; /* the same of switches between nodes; 0: all of it where nodes have switches of
                                          their own that reduce, else as those */
    double strided_efficiency;         /* what of the network's rate strided groups reach; 0 when not given */
    double direct_efficiency[SCOPES];  /* what of the link rate messages of all-to-all reach; 0 when not given */
    double tree_rate, tree_rate_many;  /* bytes per second of bus bandwidth that trees over two nodes, or more, reach at
                                          most; 0: whatever the links carry */
    double copy_rate;                  /* bytes per second at which a rank copies its own part; 0: at once */
    double own_rate, direct_own_rate;  /* the same for what it does before or after the transfers, in rings and in
                                          all-to-alls within a node; 0: at once */
    double overlap_node,
        overlap_network; /* share of a GPU's compute that a collective within a node, or over nodes, takes */
    uint32_t torus[3];   /* sizes of the torus that the hosts fill, the last varying fastest; 0 when not given */
};

/* A bundle holds hosts whose routes to hosts of other bundles are alike in this: `out` links that depend on the host
 * alone, then links that depend on the two bundles alone, then links that depend on the other host alone; `in` of these
 * end each route that leads here. */
struct platform_bundle {
    uint32_t number, out, in;
};

struct platform {
    const char *file;
    const char *loader;        /* who read it: "stagesim" or "simgrid"; NULL: nobody, it was made */
    const char *loader_reason; /* why SimGrid did; NULL: stagesim did */
    uint32_t
        host_count; /* hosts that can hold a rank (property kind absent everywhere, or kind=gpu), in version order */
    struct platform_host *hosts;
    uint32_t link_count;
    struct platform_link *links;            /* all links, by name in version order */
    const bool *down;                       /* [link]: out of order; NULL: none is */
    struct platform_link_watts *link_watts; /* [link], 0 where not given: property wattage_range; NULL: of none */
    struct platform_library library;
    const char *capped; /* what links that a what-if made faster run into, in words; NULL: nothing */
    /* The route between two hosts, from the platform file's routing; no link and no latency where there is none. */
    void (*route)(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route);
    /* Whether there is a route. */
    bool (*reaches)(struct platform *platform, uint32_t from, uint32_t to);
    /* What the latency of a flow is multiplied by where flows share in inverse proportion to it. NULL: always 1. */
    double (*weight)(const struct platform *platform, uint32_t from, uint32_t to);
    /* A host's bundle. NULL: none are known. */
    void (*bundle)(struct platform *platform, uint32_t host, struct platform_bundle *bundle);
    void *handle; /* the engine's own */
};

/* What transfers take of their route, by enum platform_scope: ratios of its latency and of its rate. */
struct platform_ratios {
    double latency[SCOPES], efficiency[SCOPES];
    double far; /* in place of that of the latency on routes to other sites: 1, or 0 where all leaves at once */
};

/* Routes with as much latency lead to another site, and what a protocol adds to a hop is little beside it: networks of
 * one site have microseconds. */
#define PLATFORM_FAR_SECONDS 1e-3

static inline double platform_latency_ratio(const struct platform_ratios *ratios, enum platform_scope scope,
                                            double latency)
{
    return latency >= PLATFORM_FAR_SECONDS ? ratios->far : ratios->latency[scope];
}

/* Of a transfer from one host to another. */
static inline enum platform_scope platform_scope_of(const struct platform *platform, uint32_t from, uint32_t to)
{
    const char *a = platform->hosts[from].node, *b = platform->hosts[to].node;
    return a == b || strcmp(a, b) == 0 ? SCOPE_NODE : SCOPE_NETWORK;
}

/* The same where only ratios matter; quick where those of both scopes are equal. */
static inline enum platform_scope platform_ratio_scope(const struct platform *platform,
                                                       const struct platform_ratios *ratios, uint32_t from, uint32_t to)
{
    bool equal = ratios->latency[SCOPE_NODE] == ratios->latency[SCOPE_NETWORK] &&
                 ratios->efficiency[SCOPE_NODE] == ratios->efficiency[SCOPE_NETWORK];
    return equal ? SCOPE_NODE : platform_scope_of(platform, from, to);
}

#endif
