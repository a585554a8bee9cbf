/* SPDX-License-Identifier: Apache-2.0 */
/* The clusters that a plan asks about: products in several sizes, with the offers that there are of each. */
#ifndef STAGESIM_FLEET_QUESTIONS_H
#define STAGESIM_FLEET_QUESTIONS_H

#include "job/scenario/scenario.h"

struct arena;

enum { FLEET_OFFERS_MAX = 8, FLEET_QUESTIONS_MAX = 10000, FLEET_CHANGES_MAX = 4 };

struct fleet_question {
    const struct scenario *scenario; /* of the job; NULL: the plan's own */
    const char *platform;            /* as the user named it, without nodes */
    const char *text;                /* "dgx-h100:16, ib-hdr" */
    const char *nic;                 /* NULL: the product's own */
    double taper;                    /* 0: the product's own */
    const char *product;             /* for the generator: the platform, or its file's path */
    uint32_t gpus, nodes;
    uint32_t per_node;                      /* fewer GPUs of each node than it has; 0: all */
    const char *changes[FLEET_CHANGES_MAX]; /* of the scenario, as --set takes them; change_count of them */
    size_t change_count;
    const struct plan_offer *offers[FLEET_OFFERS_MAX]; /* offer_count of them */
    size_t offer_count;
    double merit; /* money for a flop at the peak: what is cheap is asked first */
};

struct fleet_questions {
    struct fleet_question *list; /* count of them, in the order in which they are asked */
    size_t count;
    const char **left_out; /* why sizes are none of a platform, left_out_count of them */
    size_t left_out_count;
};

/* "platform={preset: ...}", as --set takes it. Memory from the arena. */
const char *fleet_platform_value(const struct fleet_question *question, struct arena *arena);

/* Of every platform of plan.platforms (none: the scenario's) every size of search.gpus (none: the scenario's) that its
 * nodes make, with every network. False with the mistakes reported: unknown products, platforms without a price,
 * prices of no platform, sizes that no platform has. Memory from the arena. */
bool fleet_questions_create(struct fleet_questions *questions, const struct scenario *scenario, struct arena *arena,
                            struct diag *diag);

#endif
