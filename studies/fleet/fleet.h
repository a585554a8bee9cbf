/* SPDX-License-Identifier: Apache-2.0 */
/* Which cluster: every one of several is searched for its fastest layout, unless a bound proves that another one is
 * both sooner and cheaper; what remains is a front of days against money. doc/plan.md. */
#ifndef STAGESIM_FLEET_H
#define STAGESIM_FLEET_H

#include "analysis/band/band.h"
#include "studies/fleet/front.h"
#include "studies/fleet/questions.h"
#include "studies/search/space.h"
#include "training/forecast.h"

enum fleet_status {
    FLEET_UNASKED,
    FLEET_FOUND,        /* its fastest layout is known */
    FLEET_CUT,          /* another cluster is sooner and cheaper than its bound with every offer */
    FLEET_DOES_NOT_FIT, /* no legal layout fits in memory */
    FLEET_ILLEGAL,      /* no layout is legal */
    FLEET_STATUSES
};
extern const char *const fleet_status_names[FLEET_STATUSES];

enum { FLEET_NAME_MAX = 96, FLEET_SETS_MAX = 1024, FLEET_REASON_MAX = 240 };
/* How many sets a cluster with a layout may have: those of the search and of the question. */
enum { FLEET_LAYOUT_SETS_MAX = SEARCH_SETS_MAX + FLEET_CHANGES_MAX };

/* A training with an offer. */
struct fleet_course {
    double seconds, low, high; /* median; of the middle 8 of 10 where failures are simulated, else 0 */
    double joules;             /* 0: not known */
    double goodput;            /* 0: nothing fails */
    uint32_t nodes;            /* with the spare ones, which are paid for */
    uint32_t stuck;            /* it never ends */
};

/* What is known of a question; plain data, which the journal keeps. Seconds and bytes; 0: not known. */
struct fleet_found {
    uint32_t status; /* enum fleet_status */
    uint32_t micro_batches;
    uint64_t candidates, unfit, illegal;
    double bound;               /* no layout's iteration is shorter */
    double iteration, verified; /* of the fastest layout: without contention, and with it where that was asked */
    double mfu, peak_bytes, capacity_bytes;
    double least_bytes; /* of the candidate that needs least memory */
    double joules;      /* of an iteration */
    double steps;
    struct training_job job;
    struct band band; /* of iterations */
    struct fleet_course courses[FLEET_OFFERS_MAX];
    char name[FLEET_NAME_MAX], schedule[FLEET_NAME_MAX];
    char sets[FLEET_SETS_MAX];     /* the layout as --set takes it, a line each */
    char reason[FLEET_REASON_MAX]; /* the most frequent mistake of those that are illegal */
};

/* A cluster with an offer. */
struct fleet_way {
    uint32_t question, offer;
    double seconds, money;
    double kilograms; /* of carbon dioxide; negative: not known */
    bool front;       /* no other is below it in seconds or money and in neither above */
    bool allowed;     /* within all limits */
};

struct fleet_member;

struct fleet {
    const struct scenario *scenario;
    struct fleet_member *members; /* jobs that share the cluster, member_count of them (family.h); 0: it is one job */
    size_t member_count;
    struct fleet_questions questions;
    struct fleet_found *found; /* [question] */
    struct fleet_way *ways;    /* way_count of them, the soonest first */
    size_t way_count, front_count, allowed_count;
    uint64_t fingerprint;
    uint32_t merged_shards;
    size_t counts[FLEET_STATUSES];
    bool stopped;
    const struct fleet_way *best; /* that is recommended: see fleet_judge; NULL: nothing is within the limits */
    const struct fleet_way *cheapest, *soonest; /* of all; NULL: there is none */
};

struct fleet_request {
    unsigned jobs;
    bool exhaustive; /* nothing is cut, in searches neither */
    bool quiet;
    uint32_t shard, shards;
    const char *journal; /* NULL: none */
    bool resume;
};

/* The questions. Returns an exit code after every mistake was reported. Memory from the arena; finish it all the same.
 */
int fleet_create(struct fleet *fleet, const struct scenario *scenario, const struct fleet_request *request,
                 struct arena *arena, struct diag *diag);
void fleet_finish(struct fleet *fleet);

/* Asks every question of the shard that the journal does not answer. Returns an exit code. */
int fleet_run(struct fleet *fleet, const struct fleet_request *request);
/* Takes what parts have found. */
int fleet_merge(struct fleet *fleet, const char *const *files, size_t count);

/* Goes through all answers in their order, so that what is cut does not depend on who asked what; finds the front and
 * what is within the limits. The best of these: where `by` is given the cheapest; where only `below` is, the soonest;
 * with neither the one with least days times money. */
void fleet_judge(struct fleet *fleet, const struct fleet_request *request, struct arena *arena);

/* The time of an iteration that days follow from: with contention where that was asked. */
double fleet_iteration(const struct fleet_found *found);

/* ---- rule.c ---- */

/* What the training costs with an offer of the question. */
double fleet_course_money(const struct fleet_question *question, size_t offer, const struct fleet_course *course);
/* What it comes to; of `front` nothing is said. */
struct fleet_way fleet_way_of(const struct fleet *fleet, uint32_t question, uint32_t offer,
                              const struct fleet_course *course);
/* What is within all limits is better than what is not; otherwise see fleet_judge. */
bool fleet_is_better(const struct fleet *fleet, const struct fleet_way *way, const struct fleet_way *other);

/* ---- ask.c ---- */

/* Whether a job can be asked about: it says how long it is, and neither its steps' time nor other nodes. False with the
 * mistakes reported. */
bool fleet_check_job(const struct scenario *scenario, struct diag *diag);

/* The cluster with the layout that was found, as sets of the scenario; how many. Memory from the arena. */
size_t fleet_layout_sets(const struct fleet_question *question, const struct fleet_found *found,
                         struct scenario_set sets[FLEET_LAYOUT_SETS_MAX], struct arena *arena);

/* Searches the question's layouts: of those whose iteration is longer than `ceiling` (0: any) nothing is asked. A
 * status of FLEET_UNASKED: it was interrupted. Returns an exit code. */
int fleet_ask(const struct fleet *fleet, const struct fleet_question *question, double ceiling,
              const struct fleet_request *request, struct fleet_found *found);

#endif
