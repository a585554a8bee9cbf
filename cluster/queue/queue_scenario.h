/* SPDX-License-Identifier: Apache-2.0 */
/* `queue:` in a scenario: jobs of an arrival log come to the platform, and a policy says when which of them runs where.
 * Described in doc/queue.md. */
#ifndef STAGESIM_QUEUE_SCENARIO_H
#define STAGESIM_QUEUE_SCENARIO_H

#include "cluster/logs/arrival_log.h"
#include "cluster/scheduling/queue.h"
#include "job/scenario/scenario_kind.h"

enum queue_estimates { ESTIMATES_EXACT, ESTIMATES_LIMITS };

enum { QUEUE_TYPES_MAX = 64 };

/* What jobs of the log do. */
struct queue_type {
    const char *name;
    struct place at;
    struct scenario *scenario; /* of one such job */
    uint64_t iterations;
    uint64_t nodes_min, nodes_max; /* 0: as many as it asks for */
};

/* What is written of a user. */
struct queue_user {
    const char *name;
    double share;
    uint64_t nodes; /* at a time; 0: the quota of all */
};

/* What `queue:` says. */
struct queue_scenario {
    struct queue_options options;
    enum queue_estimates estimates;
    const struct arrival_log *log;
    struct place log_at;
    uint64_t processors_per_node; /* of the log; 0: GPUs of the platform's nodes */
    uint64_t job_count;           /* of the log, the first ones */
    uint64_t jobs_most;           /* that were asked for; 0: all */
    const struct queue_type *types;
    uint32_t type_count;
    const uint32_t *type_of;                  /* [job_count]; UINT32_MAX: it runs as long as the log says */
    const struct training_settings *training; /* what fails, and how jobs save their states; NULL: nothing does */
    bool spares_given;
    struct place spares_at;
    uint64_t seed, runs;
    const struct queue_user *users; /* user_count of them */
    uint32_t user_count;
    uint64_t quota;                 /* nodes that a user has at a time; 0: any number */
    double gpu_hour, kilowatt_hour; /* prices; 0: not given */
    bool contention;                /* jobs slow each other down; of the engine simgrid */
    uint64_t together, sets;   /* the most jobs of a set, and the most sets, that are simulated; together 0: as many as
                                  usual, more where that is cheap */
    const char *currency;      /* NULL: none is named */
    const struct month *month; /* of which the log was drawn; NULL: it was read */
    bool drawn;                /* it is to be */
    bool alternatives;         /* what others would bring is asked for */
};

struct month;

extern const struct scenario_kind queue_kind;

/* ---- between its files ---- */

extern const char *const queue_keys[]; /* of the top level */
void queue_schema(struct json_writer *json);
struct scenario *queue_read(const struct scenario_request *request, struct node *root, struct arena *arena,
                            struct diag *diag);

#endif
