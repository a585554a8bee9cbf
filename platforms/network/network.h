/* SPDX-License-Identifier: Apache-2.0 */
/* A platform as zones within zones, the way SimGrid's files describe one: points (hosts, routers and the zones inside),
 * links, and routes between the points of a zone. Finds the route between any two hosts as SimGrid does, from tables
 * that grow with what the file says. For platforms/network*.c and what builds networks. */
#ifndef STAGESIM_NETWORK_H
#define STAGESIM_NETWORK_H

#include "platforms/platform.h"

struct arena;

#define NETWORK_NONE UINT32_MAX

enum network_routing {
    NETWORK_FULL,     /* routes are those that are given */
    NETWORK_FLOYD,    /* fewest links over the given ones */
    NETWORK_STAR,     /* each point's way up and down; SimGrid's flat <cluster> */
    NETWORK_TORUS,    /* of hosts */
    NETWORK_DRAGONFLY /* of hosts */
};

struct network_point {
    const char *name;
    uint32_t zone;   /* that it is in; NETWORK_NONE: the outermost zone's own point */
    uint32_t number; /* among the points of that zone */
    uint32_t inside; /* the zone that it stands for; NETWORK_NONE: it is a host or a router */
    uint32_t host;   /* index into the hosts as they were added; NETWORK_NONE: it is none */
};

/* A step of a route is the link times STEP_LINK, plus STEP_PAIRED where the way back uses the other link of its pair:
 * the one behind it, or, with STEP_DOWN, the one before. */
enum { STEP_PAIRED = 1, STEP_DOWN = 2, STEP_LINK = 4 };

struct network_route {
    uint32_t first, count; /* in network.steps */
    uint32_t gateways[2];  /* points at its ends; NETWORK_NONE in zones without zones inside */
};

/* A route seen from one of its ends. */
struct network_edge {
    uint32_t from, to; /* numbers of points in the zone */
    uint32_t route;    /* index times 2, plus 1 where it is used backwards */
};

/* Shortest ways of a Floyd zone: found when they are first asked for. */
struct network_paths {
    uint32_t *parent, *depth; /* [point]: in a forest; NULL where there are cycles */
    uint32_t *before;         /* [from * points + to]: the point before `to`; NULL in a forest */
};

/* What SimGrid calls a cluster; see network_cluster.c. */
struct network_cluster {
    uint32_t sizes[4], dimensions; /* torus: the first varies fastest; dragonfly: groups, chassis, blades, nodes */
    uint32_t *links; /* torus: [host * dimensions + dimension]; dragonfly: local, green, black, blue; the upward one */
    uint32_t green, black, blue; /* dragonfly: where these begin in `links` */
    bool split;                  /* a link is a pair: up, and down behind it */
};

struct network_zone {
    const char *name;
    enum network_routing routing;
    uint32_t parent, depth; /* NETWORK_NONE, 0 of the outermost */
    uint32_t point;         /* its own */
    uint32_t points;        /* in it */
    bool has_zones;
    bool must_be_tree; /* Dijkstra's algorithm: read only where there is one way from each point to each other */
    uint32_t first_edge, edges; /* in network.edges, sorted by from and to */
    uint32_t *rays;             /* star: [point]: route up */
    struct network_paths *paths;
    struct network_cluster *cluster;
};

/* All of it lives in the arena. */
struct network {
    struct arena *arena;
    struct network_point *points;
    struct network_zone *zones;
    struct platform_link *links;            /* as they were added */
    struct platform_link_watts *link_watts; /* [link], of watts_count links that were added first; see platform.h */
    uint32_t *order;                        /* [link]: its index in the platform */
    struct network_route *routes;
    struct network_edge *edges;
    uint32_t *steps;
    struct platform_host *hosts; /* as they were added */
    uint32_t *host_points;       /* [host]: its point */
    uint8_t *kinds;              /* [host]: enum network_kind */
    size_t point_count, zone_count, link_count, route_count, edge_count, step_count, host_count;
    size_t point_capacity, zone_capacity, link_capacity, route_capacity, edge_capacity, step_capacity, host_capacity,
        kind_capacity, host_point_capacity, watts_count, watts_capacity;
    uint32_t dragonfly_links; /* SimGrid numbers them across dragonflies */
    uint32_t loopback;        /* link */
    uint32_t *exits;          /* [zone]: see network_exit; NULL until one is asked for */
    /* the newest route: links as they were added, until network_platform's route numbers them as the platform does */
    uint32_t *found;
    size_t found_count, found_capacity;
    double latency;
};

/* What the property `kind` of a host says. */
enum network_kind { KIND_NONE, KIND_GPU, KIND_OTHER };

struct network *network_create(struct arena *arena);

/* Add something behind the others and return its index. Names are borrowed. A zone's points and edges are added between
 * network_open and network_close. */
uint32_t network_open(struct network *network, const char *name, enum network_routing routing, uint32_t parent);
uint32_t network_add_point(struct network *network, const char *name, uint32_t zone);
uint32_t network_add_host(struct network *network, const struct platform_host *host, enum network_kind kind,
                          uint32_t zone);
uint32_t network_add_link(struct network *network, struct platform_link link);
/* The watts of the link that was added last. */
void network_set_watts(struct network *network, struct platform_link_watts watts);
/* A link in each direction, name_UP and name_DOWN behind it; returns the first. */
uint32_t network_add_pair(struct network *network, const char *name, double bandwidth, double latency);
void network_add_step(struct network *network, uint32_t link, uint32_t flags);
/* The steps since `first` are a route between two points of the zone, there and, if symmetrical, back. */
void network_add_route(struct network *network, uint32_t first, const uint32_t *ends, const uint32_t *gateways,
                       bool symmetrical);
/* The steps since `first` are the way of a point of a star up; every point of a star has one. */
void network_add_ray(struct network *network, uint32_t first, uint32_t point);
/* No more is added to the zone. False where two routes have the same ends. */
bool network_close(struct network *network, uint32_t zone);

/* A torus or dragonfly over the hosts of a zone, of links that are called as SimGrid calls them; false where the hosts
 * do not fill it, or SimGrid would not route it. */
bool network_make_torus(struct network *network, uint32_t zone, const uint32_t *sizes, uint32_t dimensions,
                        const struct platform_link *link, bool split);
bool network_make_dragonfly(struct network *network, uint32_t zone, const uint32_t *sizes, const uint32_t *widths,
                            const struct platform_link *link, bool split);
/* Appends the links from one host of the cluster to another, both by number, and adds their latencies. */
void network_cluster_route(struct network *network, const struct network_zone *zone, uint32_t from, uint32_t to);

/* Whether `zone` is `within` or inside of it. */
bool network_contains(const struct network *network, uint32_t within, uint32_t zone);

/* The route from one point to another into network->found and network->latency; false where SimGrid finds none. */
bool network_find(struct network *network, uint32_t from, uint32_t to);
/* Whether the routes of a zone that was closed, each of one link, join all its points, none of which is a zone, in one
 * way only: then whatever looks for the shortest one finds the same. */
bool network_is_tree(struct network *network, uint32_t zone);
/* The point that every route passes which leaves a zone or comes into it; NETWORK_NONE where there are several, none,
 * or zones inside. */
uint32_t network_exit(struct network *network, uint32_t zone);
/* Appends a link to the route that is being found. */
void network_pass(struct network *network, uint32_t link);

/* The platform, called `name`. NULL where two links have the same name. The library is the caller's to fill. */
struct platform *network_platform(struct network *network, const char *name);

#endif
