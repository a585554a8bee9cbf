/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a group on their hosts: which algorithm and protocol a collective of theirs takes, what flows it is,
 * and how long it takes when nothing else is under way. */
#ifndef STAGESIM_COMMUNICATOR_H
#define STAGESIM_COMMUNICATOR_H

#include "platforms/platform.h"
#include "simulator/collectives/algorithm.h"

struct arena;
struct communicator;

/* How a collective is carried out. */
struct collective_choice {
    const struct collective_algorithm *algorithm;
    const char *protocol; /* name; NULL: the platform names none */
    double delay;         /* seconds before data moves: launch and the protocol's start */
    struct platform_ratios
        ratios; /* a flow takes max(1, steps times latency) times its route's latency, and its bytes over efficiency */
    double seconds; /* of the whole collective with nothing else under way */
};

/* Member m is on platform->hosts[hosts[m]]; both are borrowed. All memory is the arena's. Without a platform (NULL)
 * nothing is known of times: `auto` takes the first algorithm of the table that it may. */
struct communicator *communicator_create(struct platform *platform, const uint32_t *hosts, uint32_t ranks,
                                         struct arena *arena);
/* The same with a shape of the caller's; stepwise: see collective_flows_init. */
struct communicator *communicator_create_shaped(struct platform *platform, const uint32_t *hosts,
                                                const struct collective_shape *shape, bool stepwise,
                                                struct arena *arena);
/* The shape of members on hosts. */
struct collective_shape communicator_shape_of(struct platform *platform, const uint32_t *hosts, uint32_t ranks);

const struct collective_shape *communicator_shape(const struct communicator *communicator);

/* The fastest protocol of `algorithm`, or of the fastest algorithm that `auto` may choose when it is NULL or refuses.
 * The time is exact for flows that share links only with flows of the same latency. For one rank nothing is to do: the
 * algorithm is NULL and all times are 0. */
struct collective_choice communicator_choose(struct communicator *communicator, enum stagesim_collective kind,
                                             const struct collective_algorithm *algorithm, double bytes);

/* The same of an all-to-all in which each pair of members has its own bytes: all messages at once, whatever is asked of
 * other all-to-alls. Its flows, which borrow the pairs, are stored in *flows (NULL for one rank). */
struct collective_choice communicator_choose_pairs(struct communicator *communicator, const struct pair_bytes *pairs,
                                                   double bytes, const struct collective_flows **flows);

/* The flows of an algorithm that does not refuse; valid as long as the arena. */
const struct collective_flows *communicator_flows(struct communicator *communicator, enum stagesim_collective kind,
                                                  const struct collective_algorithm *algorithm);

/* Whether the members are all in one node. */
enum platform_scope communicator_scope(const struct communicator *communicator);

#endif
