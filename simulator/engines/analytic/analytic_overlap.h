/* SPDX-License-Identifier: Apache-2.0 */
/* Computations that collectives slow down, for the analytic engine: events in the order of time. A computation is as
 * fast as its rank's collectives leave it, piece by piece; which collectives begin before it ends is known only when
 * all that happens earlier, anywhere, is known. So computations end, and members come to collectives that take a share,
 * one after the other. All else can be known ahead. */
#ifndef STAGESIM_ANALYTIC_OVERLAP_H
#define STAGESIM_ANALYTIC_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

struct overlaps;

/* For that many ranks, each with one stream of computations; nothing happens yet. overlaps_destroy(NULL) is fine. */
struct overlaps *overlaps_create(uint32_t ranks);
void overlaps_destroy(struct overlaps *overlaps);

/* The rank, which computes nothing now, begins at `start` what takes `seconds` when nothing slows it down. */
void overlaps_compute(struct overlaps *overlaps, uint32_t rank, double start, double seconds);
/* Somebody comes to a collective at `start`; `collective` is the caller's. */
void overlaps_await(struct overlaps *overlaps, double start, void *collective);
/* A collective takes a share of the rank's compute from `start`, which is now (the time of the newest event) or later,
 * until `end`; INFINITY: that will be known later. */
void overlaps_take(struct overlaps *overlaps, uint32_t rank, double start, double end, double share);
/* One that was taken from `start` on without an end takes its share until `end`, which is not before now. */
void overlaps_leave(struct overlaps *overlaps, uint32_t rank, double start, double end, double share);

/* What comes next. */
struct overlap_event {
    double time;
    void *collective; /* somebody comes to it; NULL: the computation of `rank` has ended */
    uint32_t rank;
};

/* False when nothing is left. Between two events the caller says all that follows from the first. */
bool overlaps_next(struct overlaps *overlaps, struct overlap_event *event);

#endif
