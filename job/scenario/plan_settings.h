/* SPDX-License-Identifier: Apache-2.0 */
/* What a scenario says of clusters to choose from (section `plan`) and of what they cost (section `prices`). */
#ifndef STAGESIM_PLAN_SETTINGS_H
#define STAGESIM_PLAN_SETTINGS_H

#include "abi/workload.h"

#include <stdbool.h>
#include <stdint.h>

/* A way to have a platform: a row of prices.offers. Money in the currency of the section, NULL and 0: not given. Of
 * gpu_hour, node_hour and purchase one is given. */
struct plan_offer {
    const char *platform;        /* as plan.platforms has it */
    const char *name;            /* "reserved" */
    double gpu_hour, node_hour;  /* rented */
    double minimum, commitment;  /* seconds: paid at the least; paid in whole ones */
    double interrupted_every;    /* mean seconds between two interruptions of a node that is let for less (spot) */
    double purchase, years;      /* owned: of a node, and how long it lasts */
    double electricity, cooling; /* of a kilowatt hour; power of the data centre over that of its devices */
    double carbon;               /* grams for a kilowatt hour where it stands; negative: not given */
    uint64_t most;               /* GPUs that can be had */
    const char *date, *source;   /* "2026-11-01", and who says so */
};

/* Another job that shares the cluster: a row of plan.jobs. */
struct plan_job {
    const char *job, *name; /* a scenario's file; what it is called, NULL: as the file */
    double weight;          /* how many trainings of it there are for one of the others */
};

struct plan_settings {
    bool given; /* the section `plan` */
    struct stagesim_texts
        platforms;                 /* products, or their files; with a number of nodes (dgx-h100:16) that size alone */
    struct stagesim_texts nics;    /* network interfaces that are tried; none: the products' own */
    struct stagesim_list tapers;   /* oversubscriptions that are tried; none: the products' own */
    struct stagesim_texts law;     /* a scaling law: its name, or its five numbers; count 0: none */
    struct stagesim_texts what_if; /* changes of the recommended cluster that are weighed: "memory=1.2" */
    struct stagesim_rows jobs;     /* struct plan_job: others beside the scenario's own */
    double weight;                 /* of the scenario's own */
    double by;                     /* seconds that there are; 0: any */
    const char *below_text, *carbon_text; /* as typed; NULL: none */
    double below, carbon;                 /* money, kilograms of carbon dioxide, at most; 0: any */
    const char *currency;                 /* NULL: none is named */
    struct stagesim_rows offers;          /* struct plan_offer */
};

#endif
