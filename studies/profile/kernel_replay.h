/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of kernels replayed: what the host calls for and what the device does is in the recorded order and waits for
 * what it waited for. With recorded times the recorded steps come out; then one thing after the other is taken away,
 * and what that gives is its part. */
#ifndef STAGESIM_PROFILE_KERNEL_REPLAY_H
#define STAGESIM_PROFILE_KERNEL_REPLAY_H

#include "base/diagnostics.h"
#include "traces/recorded.h"

struct replay;

enum kernel_part {
    KERNEL_HOST,       /* what the host does between its calls */
    KERNEL_LAUNCH,     /* from a call, or the end of what it waits for, to the begin on the device */
    KERNEL_RANKS,      /* computation takes the median over ranks */
    KERNEL_SLOW,       /* messages and collectives take longer than on the scenario's links beside each other */
    KERNEL_CONTENTION, /* than each would have to itself */
    KERNEL_TRANSFER,   /* messages and collectives, what is left of them */
    KERNEL_COPIES,
    KERNEL_COMPUTE, /* what is left */
    KERNEL_PARTS
};
extern const char *const kernel_part_keys[KERNEL_PARTS], *const kernel_part_names[KERNEL_PARTS];

struct kernel_replay {
    bool done;      /* otherwise the rest is not known: it is too large, or nothing says what was launched */
    double seconds; /* of a step, with recorded times: all from the first step's begin until what was launched in steps
                       has ended, over their number */
    double parts[KERNEL_PARTS]; /* of it, which add up to it */
    bool network;               /* the scenario's was given: its parts are known */
};

struct kernel_network;

/* `steps` of the rank with the most; `network` NULL or not known: none. Runs on the contention-free engine. False with
 * the fault filled. */
bool kernel_replay_find(const struct recorded *recorded, size_t steps, const struct kernel_network *network,
                        struct kernel_replay *found, struct fault *fault);

/* Whether the trace is replayed: it says what was launched, and is not too large. */
bool kernel_replay_possible(const struct recorded *recorded);

/* Whether there is something to say of a part. */
static inline bool kernel_part_shown(const struct kernel_replay *replay, int part)
{
    return replay->network || (part != KERNEL_SLOW && part != KERNEL_CONTENTION);
}

/* ---- kernel_graph.c ---- */

/* All steps as one graph. NULL with the fault filled. The caller owns it. */
struct replay *kernel_graph_create(const struct recorded *recorded, struct fault *fault);

#endif
