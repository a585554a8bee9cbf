/* SPDX-License-Identifier: Apache-2.0 */
/* An engine executes a program on a platform and records the timeline. */
#ifndef STAGESIM_ENGINE_H
#define STAGESIM_ENGINE_H

#include "base/diagnostics.h"
#include "platforms/platform.h"
#include "simulator/engines/fold.h"
#include "simulator/engines/stand_ins.h"
#include "simulator/program/program.h"
#include "simulator/program/timeline.h"

/* Told now and then how many operations of how many are done; may be NULL. */
struct engine_progress {
    void (*report)(void *user, uint64_t done, uint64_t total);
    void *user;
};

/* What an engine is to do; all borrowed. */
struct engine_job {
    const struct program *program;
    struct platform *platform;
    const uint32_t *hosts;                  /* rank r runs on platform->hosts[hosts[r]] */
    struct timeline *timeline;              /* made for this program, times NaN; the ranks that it has are simulated */
    struct stand_ins *stand_ins;            /* on the platform, of members of groups; NULL: of none */
    const struct folding *folding;          /* how the others are represented; NULL: the timeline has all ranks */
    const struct engine_progress *progress; /* NULL: nobody watches */
    double lasts; /* seconds that the whole job takes without contention where this is a part of it; 0: this is all */
    bool apart;   /* another run may follow in this process */
    bool resumes; /* operations whose times the timeline has are done; the analytic engine, without folding */
    struct class_store *classes;     /* shared with other runs; NULL: none are */
    uint32_t number;                 /* among those that run side by side */
    double begins;                   /* seconds after the beginning at which the job does, with those beside it */
    const struct engine_job *beside; /* another that runs at the same time, over the same links, on other hosts, and may
                                        have one beside it; NULL: none. SimGrid's engine, without folding or with
                                        foldings of all (folded_beside); the others' timelines are filled as well, all
                                        in the time of the whole */
    bool transfers_free; /* messages and collectives take no time, the latter once all members have come; the analytic
                            engine */
};

struct engine {
    const char *name, *summary;
    /* Fills the times of the job's timeline. False with the fault filled when the simulation failed. */
    bool (*run)(const struct engine_job *job, struct fault *fault);
    double rounding; /* of its timelines, see struct timeline */
    /* With contention: why flows do not share links by their latencies alone, as the engine is set; NULL: they do. */
    const char *(*weighs)(void);
};

/* Contention-free, in analytic/, and the one that loads simgrid/ when it is first asked, in simulator/run. */
extern const struct engine engine_analytic, engine_simgrid;

#endif
