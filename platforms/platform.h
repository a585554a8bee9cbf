/* SPDX-License-Identifier: Apache-2.0 */
/* The platform: hosts that can hold a rank, and the route between any two. Filled from a SimGrid platform by
 * simulator/simgrid_bridge.cpp; knows nothing of SimGrid itself. */
#ifndef STAGESIM_PLATFORM_H
#define STAGESIM_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum precision { PRECISION_FP32, PRECISION_TF32, PRECISION_FP16, PRECISION_BF16, PRECISION_FP8, PRECISIONS };

struct platform_host {
    const char *name;
    const char *model;       /* property `model`; NULL when not given */
    const char *node;        /* name of the innermost zone that holds it */
    double speed;            /* flop/s: SimGrid's speed, the peak of the default precision */
    double peak[PRECISIONS]; /* property peak_<precision>; 0 when not given */
    double memory;           /* bytes, property `memory`; 0 when not given */
    double memory_bandwidth; /* bytes per second; 0 when not given */
    bool has_watts;          /* SimGrid's wattage_per_state is given */
    bool varies;             /* the platform file attaches profiles, to whatever */
    void *handle;            /* the engine's own */
};

enum link_sharing { LINK_SHARED, LINK_FATPIPE, LINK_OTHER };

struct platform_link {
    const char *name;
    double bandwidth, latency; /* bytes per second; seconds */
    enum link_sharing sharing;
};

struct platform_route {
    double latency;   /* seconds: sum over the links */
    double bandwidth; /* bytes per second: the narrowest link; INFINITY when the route has no link */
    uint32_t link_count;
    const uint32_t *links; /* indices into platform.links; valid until the next call of `route` */
};

struct platform {
    const char *file;
    uint32_t host_count; /* hosts that can hold a rank (property kind absent everywhere, or kind=gpu), in version order */
    struct platform_host *hosts;
    uint32_t link_count;
    struct platform_link *links; /* all links, by name in version order */
    /* The route between two hosts, from the platform file's routing. */
    void (*route)(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route);
    void *handle; /* the engine's own */
};

#endif
