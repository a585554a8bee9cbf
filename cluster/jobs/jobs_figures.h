/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a cluster, as defined in doc/definitions.md. Seconds; shares are of a window of time. */
#ifndef STAGESIM_JOBS_FIGURES_H
#define STAGESIM_JOBS_FIGURES_H

#include "analysis/figures/report.h"
#include "cluster/jobs/crowd.h"
#include "cluster/jobs/leads_error.h"

enum { JOB_MEETINGS_MAX = 6, CLUSTER_LINKS_MAX = 20 };

/* A link on which transfers of a job and of another one move at the same time. */
struct job_meeting {
    const char *link;
    uint32_t other; /* job */
    double share;   /* of the window */
};

struct job_figures {
    double alone, together;   /* mean iteration */
    double shortest, longest; /* iteration together, of those simulated */
    double duration;          /* together, with all iterations */
    uint32_t iterations, left_out, left_out_alone;
    uint32_t component; /* the first job that it shares links with, or itself */
    uint32_t like;      /* the first job of the component that was simulated for its own */
    uint32_t ranks;     /* that were simulated for its times together; 0: those of a job that is alike were */
    struct job_meeting meetings[JOB_MEETINGS_MAX]; /* longest first */
    uint32_t meeting_count;
    struct report *report; /* of its timeline together */
    struct job_run run;    /* with that timeline; its start is that of the cluster's time */
    const double *ends;    /* see struct crowd_job */
    struct cycle cycle;    /* of its crowd, in the cluster's time */
    uint32_t repeats;
};

struct cluster_link {
    const char *name;
    uint32_t jobs;          /* that use it */
    double busy, contended; /* shares of the window in which transfers of any job, of two or more jobs move */
};

/* Links whose names differ in digits only. */
struct cluster_link_kind {
    char name[96];
    uint32_t used, several;                /* links that a job uses, that several do */
    double busy, contended, contended_max; /* means over those used; the largest */
};

struct jobs_figures {
    struct job_figures *jobs;
    uint32_t count;
    double *slow;               /* [job * count + other]: slow-down of the job beside that one; NULL: not asked for */
    struct cluster_link *links; /* of several jobs, most contended first */
    uint32_t link_count;
    struct cluster_link_kind *kinds; /* most contended first */
    uint32_t kind_count;
    uint32_t components, simulated_components;
    uint32_t ranks, simulated_ranks; /* of all jobs; of these those that were simulated together */
    const char *unfolded;            /* where some jobs have no ranks that stand for others, why; NULL: all have */
    uint32_t even_ranks;             /* simulated ones of sets in which nobody gets ahead, see crowd.even; 0: none */
    struct leads_error leads_error;  /* of that of these sets with most jobs, where `leads` is auto */
    uint32_t runs;                   /* simulations */
    double makespan;
    struct crowd **crowds; /* whose timelines these are */
    uint32_t crowd_count;
};

/* Simulates each job alone, and together, and pairs where asked for. NULL with the fault filled or mistakes reported.
 * jobs_figures_finish frees timelines. */
struct jobs_figures *jobs_figures_create(const struct jobs *jobs, uint32_t *const *hosts,
                                         const struct crowd_world *world, struct fault *fault);
void jobs_figures_finish(struct jobs_figures *figures);

/* ---- jobs_links.c ---- */

/* Fills links, kinds and meetings. */
void jobs_links_find(struct jobs_figures *figures, struct platform *whole, struct arena *arena);

#endif
