/* SPDX-License-Identifier: Apache-2.0 */
/* `jobs:` several jobs on one platform, whose links they share. Each is a scenario of its own. */
#ifndef STAGESIM_JOBS_H
#define STAGESIM_JOBS_H

#include "job/scenario/scenario_kind.h"

enum { JOBS_MAX = 256 };

enum jobs_placement {
    PLACE_PACKED, /* the next free hosts */
    PLACE_SPREAD, /* a host of every node in turn */
    PLACE_RANDOM, /* free nodes in random order, the free hosts of each in theirs */
    PLACE_RAIL,   /* the first host of every node, then the second of every node, ... */
    PLACE_HOSTS   /* those named */
};

struct cluster_job {
    const char *name;          /* its key; with `copies` and a number from 1 */
    struct scenario *scenario; /* as `run` takes it, with the cluster's platform */
    struct place at;           /* of its key */
    struct place placement_at;
    enum jobs_placement placement;
    struct stagesim_texts hosts; /* PLACE_HOSTS: names, with '*' for any text */
    uint64_t seed;
    double start; /* seconds after the cluster's beginning */
    uint32_t iterations;
    uint32_t alike; /* the first job that is written in the same place: a copy; otherwise itself */
};

/* Of groups that are alike and share links. */
enum jobs_leads {
    LEADS_AUTO,  /* exact where that is cheap */
    LEADS_EXACT, /* each has its turn */
    LEADS_EVEN   /* none has: nobody gets ahead */
};

struct jobs {
    struct cluster_job *items;
    uint32_t count;
    bool interference; /* all pairs are simulated */
    enum jobs_leads leads;
};

extern const struct scenario_kind jobs_kind;

/* Hosts of every job, hosts[job][rank of its own platform], no host twice. False with the mistakes reported. Memory
 * from the arena. */
bool jobs_place(const struct jobs *jobs, const struct platform *platform, uint32_t ***hosts, struct arena *arena,
                struct diag *diag);

/* ---- jobs_read.c, jobs_run.c ---- */

extern const char *const jobs_keys[]; /* of the top level */
void jobs_schema(struct json_writer *json);
struct scenario *jobs_read(const struct scenario_request *request, struct node *root, struct arena *arena,
                           struct diag *diag);
int jobs_check(struct simulation_context *context);
int jobs_run(struct simulation_context *context);

#endif
