/* SPDX-License-Identifier: Apache-2.0 */
/* What if some links or hosts of a platform were faster, slower or farther away: "nic=0.5", "gpu-3-*=0.8",
 * "nvlink.latency=2", "nic@5%/7=0.5"; if links were down ("nic-3-1=down"), or flows spread in another way
 * ("routing=ecmp/7"). */
#ifndef STAGESIM_WHAT_IF_H
#define STAGESIM_WHAT_IF_H

#include "base/diagnostics.h"
#include "platforms/platform.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum what_if_figure {
    WHAT_IF_RATE,      /* speed of the hosts that match; where none does, bandwidth of the links */
    WHAT_IF_SPEED,     /* of hosts */
    WHAT_IF_BANDWIDTH, /* of links */
    WHAT_IF_LATENCY,   /* of links */
    WHAT_IF_DOWN,      /* links carry nothing */
    WHAT_IF_ROUTING    /* how flows are spread over parallel links */
};

struct what_if {
    const char *text;   /* as it was written */
    const char *target; /* a kind of links, or a pattern of names, nodes or models of hosts, or of names of links */
    enum what_if_figure figure;
    double factor; /* above 0 */
    double share;  /* of the targets, 0 < share <= 1; those are drawn */
    uint64_t seed; /* of the draw; with routing of the hash */
    bool hashed;   /* routing: ecmp, otherwise adaptive */
};

/* TARGET[.speed|.bandwidth|.latency][@SHARE%[/SEED]]=FACTOR, TARGET[@SHARE%[/SEED]]=down, routing=ecmp[/SEED] or
 * routing=adaptive. Texts live in the arena or are the caller's. False with
 * the fault filled. */
bool what_if_parse(const char *text, struct what_if *change, struct arena *arena, struct fault *fault);

/* Whether a platform can be changed: not where SimGrid has read it. */
bool what_if_can_change(const struct platform *platform);

/* Whether the platform has links that a change is about. */
bool what_if_has_links(const struct platform *platform, const struct what_if *change);

/* A platform like this one, with all changes made, one after the other: it shares what does not change. Memory from the
 * arena; the platform has to live as long. NULL with the fault filled, and in *wrong the change to blame, where a
 * target matches nothing, SimGrid has read the platform, or what is left of the links leaves a host no way to another
 * one. */
struct platform *what_if_platform(struct platform *platform, const struct what_if *changes, size_t count,
                                  struct arena *arena, size_t *wrong, struct fault *fault);

#endif
