/* SPDX-License-Identifier: Apache-2.0 */
/* How long flows take on a platform when nothing else is under way, as a function of the size: in each phase the maximum of lines.
 * A flow alone is a line (its latencies, its bytes over its narrowest link); where flows may share links, a link is another (the
 * least latency of its flows, the bytes of all of them). Bytes and latencies within nodes and from node to node are kept apart. */
#ifndef STAGESIM_COLLECTIVE_ESTIMATE_H
#define STAGESIM_COLLECTIVE_ESTIMATE_H

#include "platforms/platform.h"
#include "simulator/collectives/flows.h"

#include <stdbool.h>

struct arena;

/* Takes first + (max(1, steps latency[scope]) - 1) alpha + bytes (the sum over the scopes of seconds_per_byte / efficiency); for a flow
 * alone first is alpha, and only the scope of its own has bytes. */
struct estimate_line {
    double first, alpha, steps, seconds_per_byte[SCOPES];
    enum platform_scope scope;
};

struct estimate_phase {
    struct estimate_line *lines;
    uint32_t count;
};

struct estimate {
    struct estimate_phase *phases;
    uint32_t count;
};

/* hosts[m]: where member m is; sharing false: flows do not disturb each other. Memory from the arena. */
struct estimate estimate_create(const struct collective_flows *flows, struct platform *platform, const uint32_t *hosts, bool sharing,
                                struct arena *arena);
double estimate_seconds(const struct estimate *estimate, const struct platform_ratios *ratios, double bytes);
/* What of it is latency: the time without the bytes of those lines that decide. */
double estimate_latency(const struct estimate *estimate, const struct platform_ratios *ratios, double bytes);

#endif
