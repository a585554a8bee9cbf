/* SPDX-License-Identifier: Apache-2.0 */
/* What a picture of a timeline shows, as plain data: rows with boxes of time. Pictures of a run, of several runs and of
 * a plan all come from it. It can be written to a stream and read back, so that a process that simulated can hand it to
 * the one that draws. Times are seconds, or bare numbers where the unit is GANTT_BARE. */
#ifndef STAGESIM_GANTT_H
#define STAGESIM_GANTT_H

#include "analysis/figures/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum gantt_kind {
    GANTT_FORWARD,
    GANTT_BACKWARD,
    GANTT_WEIGHT, /* weight-gradient part of a split backward */
    GANTT_OPTIMIZER,
    GANTT_COMPUTE, /* any other computation */
    GANTT_COLLECTIVE,
    GANTT_TRANSFER, /* of a stash to host memory or back */
    GANTT_KINDS
};

enum gantt_lane { GANTT_LANE_COMPUTE, GANTT_LANE_COLLECTIVE, GANTT_LANES };
enum gantt_half {
    GANTT_WHOLE,
    GANTT_UPPER,
    GANTT_LOWER
}; /* two boxes of one time share a row's height: a block of two */
enum gantt_unit { GANTT_SECONDS, GANTT_BARE };
enum { GANTT_SHADES_MAX = 8, GANTT_TIERS_MAX = 4 };
#define GANTT_NO_NUMBER UINT32_MAX
enum {
    GANTT_ARROWS_MOST = 400,        /* more arrows would hide the boxes: then none are drawn */
    GANTT_ARROWS_KEPT = 300 * 1000, /* more are not collected */
};

struct gantt_box {
    double start, end;
    uint32_t row, number;     /* number: micro-batch, written inside; GANTT_NO_NUMBER: none */
    uint8_t kind, lane, half; /* enum gantt_kind, gantt_lane, gantt_half */
    uint8_t shade;            /* 0 .. gantt.shades - 1: pipeline direction or chunk */
    uint8_t part;             /* 0 whole micro-batch, 1 half a, 2 half b */
    uint8_t tier;  /* filled by gantt_finish: overlapping collectives of a row lie in different tiers of their lane */
    bool critical; /* on the critical path */
};

/* A message between two rows. */
struct gantt_arrow {
    double start, end;
    uint32_t from, to;
};

/* What a row holds in memory from a moment on. */
struct gantt_level {
    double time, bytes, in_flight; /* in_flight: micro-batch activations of one worker's share */
    uint32_t row;
};

struct gantt_row {
    char label[48];
    double busy; /* share of T in which it computes; negative: not shown */
};

struct gantt {
    char title[96];     /* for instance the schedule */
    char subtitle[224]; /* one line: workers, micro-batches, platform, engine */
    enum gantt_unit unit;
    uint32_t jobs;      /* 1: rows are jobs, not workers */
    char computing[24]; /* what the legend calls GANTT_COMPUTE; "": computation */
    double end;         /* the axis is 0 .. end at least */
    /* The iteration that the figures are about where several were simulated: in steady state T long, otherwise its
     * first start to its last end. window_end 0: there is but one. */
    double window_start, window_end;
    double iteration, bubble, causes[CAUSES]; /* T, bubble ratio and its shares; iteration negative: not known */
    uint32_t tiers;                           /* 1 to GANTT_TIERS_MAX: most collectives of a row at one time */
    uint32_t shades;                          /* 1 or more */
    char shade_names[GANTT_SHADES_MAX][24];   /* "down", "up"; used when shades > 1 */
    struct gantt_row *rows;
    struct gantt_box *boxes;
    struct gantt_arrow *arrows;
    struct gantt_level *levels; /* by row, then by time; may be none */
    size_t row_count, box_count, arrow_count, level_count;
    size_t row_capacity, box_capacity, arrow_capacity, level_capacity;
};

/* An empty one, one shade, iteration not known; the caller owns it. */
struct gantt *gantt_create(const char *title, const char *subtitle, enum gantt_unit unit);
void gantt_destroy(struct gantt *gantt); /* NULL is fine */

/* Returns the row's index. The label is copied. */
uint32_t gantt_add_row(struct gantt *gantt, const char *label, double busy);
/* Times must be finite, start <= end, the row there already. Moves gantt.end. */
void gantt_add_box(struct gantt *gantt, const struct gantt_box *box);
void gantt_add_arrow(struct gantt *gantt, const struct gantt_arrow *arrow);
/* Levels come row by row, in the order of time. */
void gantt_add_level(struct gantt *gantt, const struct gantt_level *level);
/* Sorts boxes by row, lane, start and arrows by start; to be called once after the last was added. */
void gantt_finish(struct gantt *gantt);

/* What lies in its window, cut at both ends, times counted from the window's start; without a window a plain copy.
 * Arrows that cross an end and levels are left out. The caller owns it. */
struct gantt *gantt_one_iteration(const struct gantt *gantt);

/* How many iterations it shows, at least 1. */
uint32_t gantt_iteration_count(const struct gantt *gantt);

/* The same of that many iterations, the last of which is the window; all where there are no more. */
struct gantt *gantt_some_iterations(const struct gantt *gantt, uint32_t count);

/* Leaves out what lies after `end`, and ends what crosses it there. To be called after gantt_finish. */
void gantt_cut(struct gantt *gantt, double end);

/* Writes it in the machine's own byte order, for another process of the same program. Errors are left in ferror(out).
 */
void gantt_save(const struct gantt *gantt, FILE *out);
/* Reads what gantt_save wrote; NULL when the stream ends early or holds something else. The caller owns the result. */
struct gantt *gantt_load(FILE *in);

#endif
