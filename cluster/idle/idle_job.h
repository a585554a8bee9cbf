/* SPDX-License-Identifier: Apache-2.0 */
/* An elastic job: one that trains on any number of nodes between two bounds, and can wait. */
#ifndef STAGESIM_IDLE_JOB_H
#define STAGESIM_IDLE_JOB_H

#include "base/diagnostics.h"
#include "cluster/idle/curve.h"

#include <stddef.h>
#include <stdint.h>

/* What those who decide know of a job's curve. */
enum idle_knowledge {
    KNOWN,      /* all of it */
    LINEAR,     /* the rate of its smallest size, and they believe that n nodes are n times as fast as one */
    PROFILED,   /* nothing: its first runs measure it (MalleTrain, arXiv 2404.15668) */
    KNOWLEDGES, /* count */
};
extern const char *const knowledge_names[]; /* "curve", "linear", "profile", NULL */

struct idle_job {
    const char *name;
    struct place at;     /* of its map in the scenario */
    struct curve curve;  /* how it does run */
    unsigned knowledge;  /* enum idle_knowledge */
    double samples;      /* until it ends; 0: it does not */
    double submit;       /* seconds from the beginning of the window */
    double grow, shrink; /* seconds in which it produces nothing when its size changes */
};

#endif
