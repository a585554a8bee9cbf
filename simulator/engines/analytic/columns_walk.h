/* SPDX-License-Identifier: Apache-2.0 */
/* What columns know while they go through a program, for their sources alone: columns.c (the order of things) and
 * columns_setup.c. */
#ifndef STAGESIM_COLUMNS_WALK_H
#define STAGESIM_COLUMNS_WALK_H

#include "simulator/collectives/estimate.h"
#include "simulator/engines/engine.h"
#include "simulator/program/beats.h"

struct arena;

enum { COLUMNS_MAX = 64 };

/* What a kind and cost of collectives take, in each column. */
struct timed_collective {
    uint32_t cost;
    unsigned collective;
    double *seconds; /* [column] */
    size_t flows;    /* that an instance begins */
    struct timed_collective *next;
};

/* Flows that were estimated on a column's own instance. */
struct timed_flows {
    const struct collective_flows *flows;
    struct estimate *estimates; /* [column] that stands for those that it is coupled with */
    struct timed_flows *next;
};

struct gathering {
    uint32_t coupled[COLUMNS_MAX]; /* [column]: the lowest one that its instance reaches */
    bool couples;                  /* some instance reaches several */
    uint32_t arrived;              /* positions that have come to the current collective */
    uint32_t instances;            /* where there is a timeline: of it */
    struct timed_collective *timed;
    struct timed_flows *flows;
    double *latest; /* [column]: arrivals at the current one */
};

struct lane_cursor {
    uint32_t next, end;
    uint8_t type;
    bool queued, arrived;
    uint32_t peer, opposite;            /* send: position that receives and its stream; collective: peer is the group */
    double *latency, *seconds_per_byte; /* send: [column] */
    const double *free;                 /* [column]: end of the operation before */
};

struct lane_position {
    const struct position *position;
    struct lane_cursor *cursors;
    double *ends;     /* [operation * columns + column] */
    double *slowness; /* [column]: how much longer its host computes than that of the position's first replica */
    double *busy;     /* [column] */
    bool even;        /* slowness is 1 everywhere */
    /* Where there is a timeline: [column] of the lowest that has the entry; NULL for the others that share it. */
    struct moment **moments;
    uint32_t entries; /* of it */
};

struct pair {
    uint32_t position, stream;
};

struct done_operation {
    uint32_t position, id;
};

struct columns {
    const struct engine_job *job;
    const struct program *program;
    struct arena *arena;
    uint32_t count;
    uint32_t replicas[COLUMNS_MAX]; /* the first of each */
    uint32_t weights[COLUMNS_MAX];  /* how many there are */
    uint32_t *column_of;            /* [replica] */
    struct lane_position *positions;
    struct gathering *gatherings; /* [group] */
    struct pair *stack;
    size_t stack_count;
    uint64_t done, total;
    uint64_t report_at, activities;
    double begun;       /* the first operation that begins something */
    double last;        /* end of all */
    double stream_ends; /* sum of the last ends of all streams, in all columns */
    double *zeros;
    struct timeline *timeline; /* that is filled; NULL: only ends are asked for */
    const struct beats *beats; /* that the job goes through `more` times than its program does; NULL: none are */
    uint32_t more;
    struct done_operation *order; /* room for the operations that are done from now on; NULL: nobody asks for them */
    size_t order_count;
    struct columns_activity *activity; /* NULL: nobody asks for what communication is exposed */
};

/* Of the walk and of laps, which are compiled for some numbers of columns apart: `n` is c->count. */
#define INLINED inline __attribute__((always_inline))

/* Columns that instances couple have come when the last of them has. */
static INLINED void columns_join(uint32_t n, const uint32_t *coupled, double *latest)
{
    for (uint32_t i = 0; i < n; i++)
        latest[coupled[i]] = latest[i] > latest[coupled[i]] ? latest[i] : latest[coupled[i]];
    for (uint32_t i = 0; i < n; i++)
        latest[i] = latest[coupled[i]];
}

/* What a message takes in a column. */
static INLINED double columns_message(const struct lane_cursor *send, uint32_t column, double bytes)
{
    return send->latency[column] + bytes * send->seconds_per_byte[column];
}

/* What a computation or a delay of `seconds` takes in a column. */
static INLINED double columns_own(const struct columns *c, const struct lane_position *lanes,
                                  const struct operation *operation, double seconds, uint32_t column)
{
    return seconds * operation_factor(c->program, operation, c->replicas[column]) *
           (operation->type == OPERATION_COMPUTE ? lanes->slowness[column] : 1);
}

/* The times of an operation, in all columns. */
static INLINED double *columns_ends(uint32_t n, const struct lane_position *lanes, uint32_t id)
{
    return &lanes->ends[(size_t)id * n];
}

/* Finds columns and makes groups and positions ready for a job, program, arena and timeline. False: see columns_run. */
bool columns_init(struct columns *c);

/* Goes on until every stream is at its cursor's end or waits for what is not done. */
void columns_walk(struct columns *c);

/* ---- columns_seconds.c ---- */

/* What a collective of the group takes, in each column. */
const struct timed_collective *columns_timed(struct columns *c, uint32_t group, const struct operation *operation);
const double *columns_collective_seconds(struct columns *c, uint32_t group, const struct operation *operation);

/* ---- columns_exposed.c ---- */

/* Says that exposed communication is asked for. */
void columns_activity_create(struct columns *c);
/* After the walk, while all ends are there. */
void columns_activity_note(struct columns *c);
/* Seconds, the mean over ranks. */
double columns_activity_exposed(const struct columns *c);

/* ---- columns_laps.c ---- */

/* Goes through the whole program, and through the beats as many times more. Nothing is done where that is not possible,
 * or not all. */
void columns_walk_repeating(struct columns *c);

#endif
