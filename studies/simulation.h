/* SPDX-License-Identifier: Apache-2.0 */
/* One scenario simulated in a process of its own: its figures come back, its files are written. */
#ifndef STAGESIM_SIMULATION_H
#define STAGESIM_SIMULATION_H

#include "analysis/figures/nearest.h"
#include "analysis/output/comparison.h"
#include "analysis/output/run_files.h"
#include "analysis/pictures/gantt.h"
#include "base/isolate.h"
#include "job/scenario/scenario.h"

struct tails_sharing;

struct simulation_request {
    const struct scenario *scenario;
    struct run_files *files;       /* NULL: nothing is written */
    struct output *output;         /* NULL like files, or where they are none but operations, which is the caller's */
    bool draw;                     /* pictures will be drawn of the run: collect what they show */
    const char *command;           /* what was typed, for reports; NULL: not known */
    const struct nearest *nearest; /* how far its layout is from the best, for the same; NULL: not asked for */
    const struct tails_sharing *steps; /* how steps that vary are shared out; NULL: all, by all processors */
    bool split;                        /* idle time by what can be done about it is asked for, too */
    /* Figures are compared with those of other runs: where the next iteration may take another time, and the scenario
     * does not say how many there are, it is run again with `iterations: settled`. */
    bool settles;
    double settled; /* this is that run, and one iteration takes so many seconds; 0: it is not */
    bool quiet;
    bool print;               /* give back what people read: figures and workers */
    enum table_format format; /* of it */
    double behind;  /* seconds that are known of what the command does behind it, for its bar; 0: nothing comes */
    bool least;     /* that takes perhaps more */
    bool trains;    /* the caller simulates the training: of it, what is known of the job comes back alone */
    FILE *mistakes; /* where mistakes go in place of standard error: a file, which the other process writes to; or NULL
                     */
};

/* What comes back: with `engine: both` two rows, the analytic one first; the picture's boxes are of the last. */
struct simulation_result {
    struct comparison_row rows[2];
    size_t row_count;
    struct comparison_row *parts; /* of a scenario of several jobs a row for each; the caller frees it */
    size_t part_count;
    struct gantt *gantt; /* the caller owns it */
    char *told;          /* notes for people; NULL where simulate() has printed them */
    FILE *printed;       /* what people read, at its beginning; simulation_print closes it. NULL: not asked for */
};

/* Checks that the scenario could be simulated, dead-locks included, and prints what would run to standard output;
 * returns an exit code after every mistake was reported on standard error. */
int simulation_check(const struct scenario *scenario);

/* Runs it; returns an exit code after every mistake was reported on standard error, or where the request says. When the
 * command awaits interruptions (base/process/interruption.h), one ends the run: EXIT_FAILED, without a message. */
int simulate(const struct simulation_request *request, struct simulation_result *result);

/* The scenario with `count` values of its keys changed, run without files and pictures. Fills `result`, whose rows the
 * caller reads; there is no picture. Returns an exit code after every mistake was reported on standard error:
 * EXIT_BAD_INPUT where the values do not go together. */
int simulate_changed(const struct scenario *scenario, const struct scenario_set *sets, size_t count,
                     struct simulation_result *result);

/* The same, of which the caller wants the iteration's time on the first engine, in seconds. */
int simulate_iteration(const struct scenario *scenario, const struct scenario_set *sets, size_t count,
                       double *iteration);
/* Reports a scenario whose samples are not known, which the figures of studies need; whether they are. */
bool simulation_expects_samples(const struct scenario *scenario, bool known, struct diag *diag);

/* The scenario as it was run: with `iterations: settled` where the last row says so, otherwise as it is.
 * Memory from the arena. */
struct scenario *simulation_settled(struct scenario *scenario, const struct simulation_result *result,
                                    struct arena *arena);

/* What has to be asked for after simulation_finish has said EXIT_AHEAD, with what one iteration takes: figures alone,
 * with `iterations: settled`. The scenario is NULL where it cannot be so. Memory from the arena. */
struct simulation_request simulation_again(const struct simulation_request *request,
                                           const struct simulation_result *one, struct arena *arena);
/* Whether it has found iterations that differ; otherwise the figures of one iteration stand. */
bool simulation_is_unlike(const struct simulation_result *settled);
/* Where that run failed: the row of one iteration says so from now on. Returns what it says; memory from the arena. */
const char *simulation_note_unsettled(struct comparison_row *row, struct arena *arena);

/* A simulation in two steps, for several of them at a time: isolate_runs tells whether one still runs. The request has
 * to live until the second. NULL with the fault filled when no process could be made. The second returns EXIT_AHEAD
 * where a request settles and the next iteration may take another time: then the figures are there, of one iteration,
 * and no file is written. */
struct isolation *simulation_start(const struct simulation_request *request, struct fault *fault);
int simulation_finish(const struct simulation_request *request, struct isolation *isolation,
                      struct simulation_result *result);

/* Frees what the result owns but what was printed, and leaves it empty. */
void simulation_free(struct simulation_result *result);

/* Copies what people read to standard output. False after it was reported that it cannot be read back. */
bool simulation_print(struct simulation_result *result);

/* What a scenario of another kind than a job (job/scenario/scenario_kind.h) is checked and run with, in a process
 * of its own. All borrowed. */
struct simulation_context {
    const struct simulation_request *request; /* NULL: it is checked */
    const struct scenario *scenario;
    struct platform *platform; /* NULL where its kind has none */
    struct isolated *self;
    struct arena *arena;
    struct diag diag;
};

/* Its figures: a row of the whole, one for each of `count` parts, and the picture's boxes. What is printed goes to
 * context->self->results behind them. */
void simulation_hand_over(const struct simulation_context *context, const struct comparison_row *whole,
                          const struct comparison_row *parts, size_t count, const struct gantt *gantt);

/* Something else to do with a scenario's platform, in a process of its own: `body` writes what it finds out to
 * `results`, reports mistakes to `diag`, and returns an exit code. */
struct simulation_visit {
    const struct scenario *scenario;
    int (*body)(void *user, struct platform *platform, FILE *results, struct diag *diag);
    void *user;
    bool simulates; /* the body runs SimGrid */
};

/* Loads the platform and calls the body; returns its exit code, or another one after the mistake was reported on
 * standard error. *results is a stream at its start with what was written, the caller's to close; NULL where nothing
 * ran. When the command awaits interruptions, the body's process notes them, too. */
int simulation_visit(const struct simulation_visit *visit, FILE **results);

/* The same in two steps, for several processes at a time: isolate_runs tells whether one still runs. NULL with the
 * fault filled when no process could be made. */
struct isolation *simulation_visit_start(const struct simulation_visit *visit, struct fault *fault);
int simulation_visit_wait(const struct simulation_visit *visit, struct isolation *isolation, FILE **results);

#endif
