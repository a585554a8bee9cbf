/* SPDX-License-Identifier: Apache-2.0 */
/* How long flows take on a platform when nothing else is under way, as a function of the size: in each phase the
 * maximum of lines. A flow alone is a line (its latencies, its bytes over its narrowest link); a link that several
 * flows of the phase share is another (the least latency of its flows, the bytes of all of them over its rate). No
 * sharing of the links is faster than that; max-min sharing is as fast where a link that decides has enough to carry to
 * the end, as all have where members and links are alike. Bytes and latencies within nodes and from node to node are
 * kept apart. */
#ifndef STAGESIM_COLLECTIVE_ESTIMATE_H
#define STAGESIM_COLLECTIVE_ESTIMATE_H

#include "platforms/platform.h"
#include "simulator/collectives/flows.h"

struct arena;

/* Takes first + the further start-ups + bytes (the sum over the scopes of seconds_per_byte / efficiency). Further
 * start-ups are (max(1, steps latency) - 1) alpha of the scope where that is least. A flow alone has only its own
 * scope, and first is its alpha. */
struct estimate_line {
    double first, seconds_per_byte[SCOPES];
    double alpha[SCOPES], steps[SCOPES]; /* the least of its flows; steps 0: it has no flow of that scope */
};

struct estimate_phase {
    struct estimate_line *lines;
    uint32_t count;
};

struct estimate {
    struct estimate_phase *phases;
    uint32_t count;
};

/* hosts[m]: where member m is. Memory from the arena. */
struct estimate estimate_create(const struct collective_flows *flows, struct platform *platform, const uint32_t *hosts,
                                struct arena *arena);
double estimate_seconds(const struct estimate *estimate, const struct platform_ratios *ratios, double bytes);
/* What of it is latency: the time without the bytes of those lines that decide. */
double estimate_latency(const struct estimate *estimate, const struct platform_ratios *ratios, double bytes);

#endif
