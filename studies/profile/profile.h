/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of a profile are made of: each instant of a step on a rank belongs to one part, so that the parts add
 * up to the step. */
#ifndef STAGESIM_PROFILE_H
#define STAGESIM_PROFILE_H

#include "studies/profile/meetings.h"
#include "studies/profile/moments.h"

enum profile_part {
    PROFILE_COMPUTE,  /* some kernel computes */
    PROFILE_TRANSFER, /* none does, and a message or collective moves data, or it is not known whether it waits */
    PROFILE_WAITING,  /* only members of collectives that wait for others */
    PROFILE_COPIES,   /* only copies of memory */
    PROFILE_LOADING,  /* nothing runs: the host loads data before it launches what comes next */
    PROFILE_SYNC,     /* it waits for the device */
    PROFILE_GARBAGE,  /* it collects garbage */
    PROFILE_HOST,     /* it does something else */
    PROFILE_LAUNCH,   /* what comes next is launched and has not begun, though the device is free */
    PROFILE_BETWEEN,  /* what comes next was launched before the device was free, or waits for another stream */
    PROFILE_UNKNOWN,  /* nothing runs, and the trace does not say what was launched when */
    PROFILE_PARTS
};
extern const char *const profile_keys[PROFILE_PARTS], *const profile_names[PROFILE_PARTS],
                                                          *const profile_advice[PROFILE_PARTS];

struct profile_rank {
    uint32_t steps;
    double seconds;              /* of a step, the mean */
    double parts[PROFILE_PARTS]; /* of it */
};

/* Kernels of one name. */
struct profile_kernel {
    uint32_t name;
    uint8_t kind;   /* enum recorded_kind */
    uint32_t calls; /* in all steps of all ranks */
    double seconds; /* of a step and rank */
    double bytes;   /* likewise; NaN: not known */
};

struct profile {
    struct profile_rank *ranks;           /* [rank index] */
    double seconds, parts[PROFILE_PARTS]; /* of a step, means over ranks */
    double shortest, longest;             /* steps */
    size_t step_count;                    /* of the rank with the most */
    struct profile_kernel *kernels;       /* kernel_count of them, those that take most first */
    size_t kernel_count;
};

/* Steps are those of the host's annotations; without any, all from the first operation of the device to the last is
 * one. Memory from the arena. */
void profile_find(const struct recorded *recorded, const struct meetings *meetings, struct arena *arena,
                  struct profile *profile);

/* ---- profile_idle.c ---- */

/* Splits what is idle on a rank, `idle`, among the parts of the host: adds to parts. */
void profile_split_idle(const struct recorded *recorded, uint32_t rank, const struct moments *idle,
                        double parts[PROFILE_PARTS]);

#endif
