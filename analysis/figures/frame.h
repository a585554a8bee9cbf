/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of a timeline the figures are about: the iteration time T and the windows of time in which a rank is
 * watched. */
#ifndef STAGESIM_FRAME_H
#define STAGESIM_FRAME_H

#include "base/numbers/cycle.h"
#include "simulator/program/beats.h"
#include "simulator/program/steady.h"
#include "simulator/program/timeline.h"

struct arena;

/* A range of operations of a compute stream: first <= id < end. */
struct id_range {
    uint32_t first, end;
};

/* What a rank's compute stream is watched for. Time outside of `computes` is before the first or after the last
 * operation. */
struct window {
    double start, end;
    struct id_range computes;
};

struct frame {
    const struct timeline *timeline;
    double iteration; /* T, seconds */
    double makespan;  /* everything simulated, seconds */
    /* Iterations overlap: T is the mean over the cycle, through which all ranks are watched. Where no state came back
     * (cycle.beats 0) it is the mean over the second half of the iterations, and each rank is watched for T before it
     * begins its last iteration, when the pipeline is full. */
    bool steady;
    struct cycle cycle; /* beats are iterations */
    /* A cycle, iterations that repeat in rounds, or ranks each at its own pace: all ranks are watched through one
     * window, in which `share` iterations pass. Otherwise there is a window for each measured iteration, and `share` is
     * their number. */
    bool whole;
    /* Ranks begin an iteration before others have ended the one before: T is the mean time between ends, and each rank
     * is watched from when an iteration has begun and its own computations of the one before have ended. */
    bool joined;
    struct window whole_window; /* without computes */
    double share;               /* what sums over the windows are divided by */
    uint32_t windows;
    uint32_t first_measured,
        measured;              /* iterations that the figures are about: sums over them are divided by `measured` */
    double shortest, longest;  /* seconds of a measured iteration; 0: fewer than two stand for themselves */
    double *starts, *ends;     /* [iterations of the program]: first start and last end on any rank */
    struct id_range *computes; /* [position * iterations + iteration]: the iteration's part of the compute stream */
    double *rank_ends;         /* [simulated rank]: its last end */
    const struct steady *more; /* the whole job goes through a cycle of the timeline again; NULL: the timeline is whole.
                                  Figures are those of the whole job; starts, ends and rank_ends are the timeline's */
};

/* Memory from the arena. */
struct frame *frame_create(const struct timeline *timeline, struct arena *arena);

/* The same of the timeline of a shorter job (job/steady/shortened.h) with what the whole one has more;
 * of one iteration. steady->cycles 0: as frame_create. `steady` is borrowed. */
struct frame *frame_create_shortened(const struct timeline *timeline, const struct steady *steady, struct arena *arena);

/* Seconds that the whole job has more than the timeline. */
static inline double frame_more_seconds(const struct frame *frame)
{
    return frame->more ? frame->more->cycles * frame->more->length : 0;
}

/* Operations of a stream in the beats that the whole job has more: so many times those from `first` to before `end`. */
struct more_operations {
    struct id_range range;
    uint32_t times;
};

struct more_operations frame_more_operations(const struct frame *frame, uint32_t position, uint32_t stream);

/* How many iterations pass in the windows of an entry, as seen by the mean time of one: what sums over them are divided
 * by. */
double frame_share(const struct frame *frame, uint32_t entry);
/* A window of a simulated rank (index into timeline->ranks); index: 0 .. windows - 1. */
struct window frame_window(const struct frame *frame, uint32_t entry, uint32_t index);

/* What a picture of the whole timeline marks as the iteration that the figures are about: the last one; in steady state
 * T, from where the cycle begins, or ending where the first rank begins the last iteration. */
void frame_shown(const struct frame *frame, double *start, double *end);

/* Whether a computation takes no time and only marks when a moving stash takes or leaves room: no reason for the
 * compute stream to be idle, nor its first or last operation. */
static inline bool frame_is_marker(const struct program *program, const struct operation *operation)
{
    return operation->kind == STAGESIM_EXCHANGE && operation_cost(program, operation)->seconds == 0;
}

/* Whether an operation belongs to the measured iterations. */
static inline bool frame_measures(const struct frame *frame, const struct operation *operation)
{
    return operation->iteration >= frame->first_measured &&
           operation->iteration < frame->first_measured + frame->measured;
}

#endif
