/* SPDX-License-Identifier: Apache-2.0 */
/* What reading a platform file remembers, and what all its elements do: take attributes, take their place, or leave the
 * whole file to SimGrid. */
#ifndef STAGESIM_PLATFORMS_NETWORK_NETWORK_READER_H
#define STAGESIM_PLATFORMS_NETWORK_NETWORK_READER_H

#include "platforms/network/name_table.h"
#include "platforms/network/network.h"

#include <expat.h>

enum { DEPTH_MAX = 64 };

/* Attributes of <cluster>, in the order of cluster_attributes. */
enum {
    CLUSTER_ID,
    CLUSTER_PREFIX,
    CLUSTER_SUFFIX,
    CLUSTER_RADICAL,
    CLUSTER_SPEED,
    CLUSTER_CORE,
    CLUSTER_BANDWIDTH,
    CLUSTER_LATENCY,
    CLUSTER_POLICY,
    CLUSTER_TOPOLOGY,
    CLUSTER_PARAMETERS,
    CLUSTER_BACKBONE,
    CLUSTER_BACKBONE_LATENCY,
    CLUSTER_BACKBONE_POLICY,
    CLUSTER_ROUTER,
    CLUSTER_LIMITER,
    CLUSTER_LOOPBACK,
    CLUSTER_LOOPBACK_LATENCY,
    CLUSTER_FIELDS
};

enum element { AT_TOP, AT_PLATFORM, AT_ZONE, AT_CLUSTER, AT_HOST, AT_LINK, AT_ROUTE, AT_LEAF };

/* What a zone holds, and how far its elements have come: the order is fixed. */
enum content { HOLDS_NOTHING, HOLDS_ZONES, HOLDS_HOSTS };
enum phase { PHASE_PROPERTIES, PHASE_CONTENT, PHASE_ROUTES };

struct open_element {
    enum element element;
    uint32_t zone; /* the innermost one */
    enum content content;
    enum phase phase;
};

/* A property of the library, until all are known. */
struct library_property {
    const char *key, *value;
    uint32_t zone; /* NETWORK_NONE: of a host */
};

struct reader {
    XML_Parser parser;
    struct arena *arena;
    struct network *network;
    struct name_table points, links, pairs; /* links: those that are no pair */
    struct open_element open[DEPTH_MAX];
    unsigned depth;
    const char *why; /* set: it is SimGrid's */
    /* the host or cluster that is being read */
    struct platform_host host;
    enum network_kind kind;
    unsigned seen;                       /* its properties, by bit */
    const char *cluster[CLUSTER_FIELDS]; /* attributes of the cluster */
    struct library_property *library;    /* of zones up to the second level, and of the first host */
    size_t library_count, library_capacity;
    /* the route that is being read */
    uint32_t ends[2], gateways[2], first_step;
    bool symmetrical;
    /* the cluster that is being made */
    struct platform_link link;
    uint32_t backbone, next_host;
    bool has_type; /* the document is a platform by SimGrid's rules */
};

/* Leaves the file to SimGrid, with the line and the reason. The first reason stays. */
__attribute__((format(printf, 2, 3))) void reader_leave(struct reader *reader, const char *format, ...);

/* An attribute that an element may have. */
struct known {
    const char *name, *otherwise; /* NULL: it must be there */
};

/* The values of the known attributes in their order; false where one is unknown, missing, or not plain text. */
bool reader_take(struct reader *reader, const char *element, const char **attributes, const struct known *known,
                 size_t count, const char **values);

#define TAKE(reader, element, attributes, values, ...)                                                                 \
    reader_take(reader, element, attributes, (const struct known[]){__VA_ARGS__},                                      \
                sizeof((const struct known[]){__VA_ARGS__}) / sizeof(struct known), values)

/* A number with its unit, above 0 unless `zero` allows that. */
bool reader_number(struct reader *reader, bool (*parse)(const char *text, double *value), const char *text, bool zero,
                   double *value);

/* Gives a point its name. Names are unique, whatever they name. */
bool reader_name_point(struct reader *reader, const char *name, uint32_t point);

/* The innermost open element. */
struct open_element *reader_top(struct reader *reader);

void reader_push(struct reader *reader, enum element element, uint32_t zone);

/* An element among the content, or with `routes` among the routes, of the open zone, which then holds what it stands
 * for. */
bool reader_enter(struct reader *reader, const char *element, enum content content, bool routes);

/* Forgets the host or cluster that was read. */
void reader_clear_host(struct reader *reader);

/* The beginning of <prop>. */
void reader_start_property(struct reader *reader, const char **attributes);

/* The two ends of <cluster>. */
void reader_start_cluster(struct reader *reader, const char **attributes);
void reader_end_cluster(struct reader *reader);

#endif
