/* SPDX-License-Identifier: Apache-2.0 */
/* One line per run, for `run`, `compare` and `search`: in any format of tables. */
#ifndef STAGESIM_COMPARISON_H
#define STAGESIM_COMPARISON_H

#include "analysis/figures/report.h"
#include "base/json_writer.h"
#include "base/tables/table_write.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { COMPARISON_TEXT_MAX = 128 };

/* Of a scenario with a queue: means over its jobs, and what the cluster comes to. */
struct comparison_queue {
    bool known;
    double wait, completion, bounded_slowdown, fairness; /* seconds, seconds, ratios */
    double makespan, allocated, busy;                    /* seconds, shares */
    bool fails;                                          /* nodes may */
    bool months;                                         /* many: then these are medians, and p10 and p90 follow */
    double wait_low, wait_high, useful_low, useful_high;
    double useful;                  /* share of their time in which steps are done that count */
    double lost, fragmented;        /* shares, of the cluster's and of free nodes' time */
    double joules, kilograms, cost; /* of all nodes; NAN: not known */
};

/* Of a scenario of idle nodes, of its first way to decide: what doc/definitions.md#idle-nodes says. */
struct comparison_idle {
    bool known;
    double work, efficiency, attainment, used; /* samples or seconds of one node; shares */
    double rescales, preemptions;
};

/* Plain data without pointers: a forked child can send it through a pipe. Texts are cut where they are too long. */
struct comparison_row {
    char scenario[COMPARISON_TEXT_MAX], schedule[COMPARISON_TEXT_MAX], engine[16];
    char directory[300]; /* of the run's files, below that of the comparison; empty: nothing is written */
    bool asynchronous;
    double iteration, samples_per_s; /* samples_per_s 0: not known */
    struct band band;                /* of the iteration; no rows: not said */
    char calibration[120];           /* what its profile was calibrated with; empty: it was not */
    double bubble, causes[CAUSES];
    double exposed; /* communication that computation does not hide, seconds, mean over ranks */
    bool idle_known;
    double idle[IDLE_PARTS];
    double peak_in_flight, peak_bytes; /* bytes 0: not known */
    bool capacity_known, fits;
    struct memory_outlook outlook; /* of peak_bytes */
    struct memory_band memory;     /* what it is made from */
    bool bound_splits;             /* the bound is of orders that run weight gradients apart */
    double bound; /* no order of these stages on these workers takes less, without contention; 0: not known */
    double tokens_per_s, mfu, energy, training_s, training_cost; /* as in struct report */
    struct limits limits;
    struct training_forecast forecast; /* of the training with what fails */
    struct training_job training;      /* what it was made of */
    struct tails_figures tails;        /* of steps that vary */
    struct comparison_queue queue;     /* then `iteration` is its mean completion, and the others say nothing */
    struct comparison_idle idle_nodes; /* then it has no iteration, and the others but samples_per_s say nothing */
    uint32_t settled;                  /* iterations that the figures are of, where the run found out by itself that it
                                          takes several; 0: as the scenario says */
    bool unsettled;                    /* the next iteration may take another time, and nobody found out */
    char notes[1000];                  /* what is not as the scenario asks for, a line each */
    char reason[256];                  /* why it was not run; then there are no figures. Empty: it was run */
};

struct comparison_row comparison_row_of(const struct report *report);
/* How many iterations the figures are of where the run found that out, or that nobody found out: members of an object,
 * and cells of these columns of CSV, empty where they do not apply. */
#define COMPARISON_SETTLED_COLUMNS "settled_iterations,unsettled"
void comparison_write_settled(struct json_writer *json, const struct comparison_row *row);
void comparison_put_settled(FILE *out, const struct comparison_row *row);
/* Notes what of it is not finite (base/figure.h); comparison_row_of does. */
void comparison_check(const struct comparison_row *row);

/* Whether nothing stands against taking that run: it was run, trains synchronously and is not known not to fit. */
bool comparison_is_choice(const struct comparison_row *row);

/* The fastest run and the one that needs least memory, among those that fit and train synchronously; the number of
 * rows: none, or there are not two to choose from. */
struct comparison_best {
    size_t time, memory;
};
struct comparison_best comparison_find_best(const struct comparison_row *rows, size_t count);

/* Times are given relative to the first row. Errors stay on the stream. */
void comparison_print(FILE *out, const struct comparison_row *rows, size_t count, enum table_format format);

#endif
