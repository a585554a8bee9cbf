/* SPDX-License-Identifier: Apache-2.0 */
/* How long a job takes without contention, which searches ask thousands of times, and the times of its operations.
 *
 * Replicas whose ranks are alike position by position are a column, and all columns go through the program together: an
 * operation is looked at once and has a time for each column. A collective whose members are all of
 * one column ends for each column by itself, another one for all columns that it couples at once. */
#ifndef STAGESIM_COLUMNS_H
#define STAGESIM_COLUMNS_H

#include "simulator/engines/engine.h"

struct arena;
struct beats;

struct columns_time {
    double iteration;   /* seconds from the first operation that begins to the last end */
    double busy;        /* seconds that a rank computes, the mean over ranks */
    double busy_max;    /* of the rank that computes most */
    double exposed;     /* seconds of communication that nothing hides, the mean over ranks; NAN: not asked for */
    double stream_ends; /* sum of when streams end, in all columns: where it is the same, two ways through a job agree
                           in more than the last end */
};

/* The times that engine_analytic gives. False where that engine has to be asked: jobs of several iterations, profiles,
 * collectives that slow computations down or whose members begin by and by, pipelined messages, ranks that are alike in
 * no such columns, programs that cannot finish. Memory from the arena. */
bool columns_run(const struct engine_job *job, struct arena *arena, struct columns_time *time);
/* The same with what communication is exposed. */
bool columns_run_exposed(const struct engine_job *job, struct arena *arena, struct columns_time *time);

/* The same of a job that goes `more` times through the beats of the program, which is part of its own: their operations
 * are put in one after the other into straight code, and the ends of the newest beats are all that is kept. Also false
 * where no place between two beats is the same for all streams: where all that comes before it follows from what comes
 * before it. */
bool columns_run_repeating(const struct engine_job *job, const struct beats *beats, uint32_t more, struct arena *arena,
                           struct columns_time *time);

/* Fills the timeline of a job with a folding as engine_analytic does, which calls this. False with times NaN where the
 * engine itself has to go through every entry: as above, but for iterations. */
bool columns_fill(const struct engine_job *job);

#endif
