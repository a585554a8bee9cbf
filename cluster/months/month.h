/* SPDX-License-Identifier: Apache-2.0 */
/* Months of jobs that are drawn from a description: how many come at what hour, how large they are, how long they run
 * and how they end. The description is a file (doc/months.md), or is fitted to a log. */
#ifndef STAGESIM_MONTH_H
#define STAGESIM_MONTH_H

#include "abi/fields/fields.h"
#include "base/random/distribution.h"
#include "cluster/logs/arrival_log.h"
#include "job/scenario/scenario_kind.h"

enum { MONTH_HOURS = 24, MONTH_SIZES_MAX = 64 };

/* Jobs of one size. */
struct month_size {
    uint64_t gpus, nodes; /* one of them is 0 */
    double share;         /* of all jobs */
    struct distribution run;
};

struct month {
    const char *source; /* NULL: not said */
    double days, jobs_per_day;
    double hours[MONTH_HOURS]; /* how many come in each, over the mean; from the log's time 0 on */
    double together;           /* jobs that come at one time, mean of a geometric distribution */
    double failed, cancelled;  /* shares of all jobs */
    uint64_t users;            /* 0: not known. Of the k-th one are 1/k times as many as of the first */
    double longest;            /* seconds after which a job is ended; INFINITY: none is */
    uint64_t seed;
    struct month_size *sizes; /* size_count of them; shares add up to 1 */
    size_t size_count;
};

/* The keys of the file, for its reader and the JSON Schema. */
extern const struct fields_section month_section;
/* Whether a file's name says that it describes a month. */
bool month_is_named(const char *file);
/* NULL after mistakes were reported; why it cannot be read at all is reported at `at`. Memory from the arena. */
struct month *month_load(const char *file, struct place at, const struct scenario_set *sets, size_t set_count,
                         struct arena *arena, struct diag *diag);
/* The jobs of such a month, of its seed plus `seed`; all have a run time. Memory from the arena. NULL with the mistake
 * reported at `at`: none comes, or too many. */
struct arrival_log *month_generate(const struct month *month, uint64_t seed, const char *file, struct place at,
                                   struct arena *arena, struct diag *diag);

/* Standard errors of a fitted month's numbers, in the same places; of a distribution those of its two parameters: of a
 * log-normal one the logarithm's mean and deviation, of Weibull's its scale and shape. */
struct month_errors {
    double jobs_per_day, hours[MONTH_HOURS], together, failed, cancelled;
    struct month_size_errors {
        double share, a, b;
        double distance; /* Kolmogorov and Smirnov's, of run times */
        uint32_t jobs;
    } sizes[MONTH_SIZES_MAX];
};

/* Why a month cannot be fitted to a log; NULL: it can. */
const char *month_refuses(const struct arrival_log *log);
/* Fits to the first `count` jobs of such a log, which is in order; at least two. Memory from the arena. */
struct month *month_fit(const struct arrival_log *log, size_t count, struct month_errors *errors, struct arena *arena);

/* As a file that month_load reads, with the errors as comments. */
void month_write(FILE *out, const struct month *month, const struct month_errors *errors);
/* What people read. */
void month_print(FILE *out, const struct month *month, const struct month_errors *errors);
/* As a log in whole seconds: in the Standard Workload Format, or, of jobs that ask for nodes, as a table of our own. */
void month_write_log(FILE *out, const struct month *month, const struct arrival_log *log);

/* What a month comes to, by its own numbers: for the other half of a log. */
struct month_summary {
    double jobs_per_day, mean_run, gpu_hours_per_day, failed;
};
struct month_summary month_summary(const struct month *month);
/* The same of jobs of a log, `count` of them in order, at least two: as a month that is fitted to them says it of how
 * many come on a day. */
struct month_summary month_summary_of(const struct arrival *jobs, size_t count);

#endif
