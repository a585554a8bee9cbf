/* SPDX-License-Identifier: Apache-2.0 */
/* Computations that collectives slow down, for the analytic engine: events in the order of time. A computation is as fast as its rank's
 * collectives leave it, piece by piece; which collectives begin before it ends is known only when all that happens earlier, anywhere, is
 * known. So computations end, and collectives that take a share begin, one after the other. All else can be known ahead. */
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
/* Somebody's collective begins at `start`; `collective` is the caller's. */
void overlaps_await(struct overlaps *overlaps, double start, void *collective);
/* A collective that begins now, at the time of the newest event, takes a share of the rank's compute until `end`. */
void overlaps_take(struct overlaps *overlaps, uint32_t rank, double end, double share);

/* What comes next. */
struct overlap_event {
    double time;
    void *collective; /* it begins; NULL: the computation of `rank` has ended */
    uint32_t rank;
};

/* False when nothing is left. Between two events the caller says all that follows from the first. */
bool overlaps_next(struct overlaps *overlaps, struct overlap_event *event);

#endif
