/* SPDX-License-Identifier: Apache-2.0 */
/* What repeats in the order of a program, beat by beat: per stream how many operations a beat has, and from where to
 * where each operation is like the one a beat before: of the same kind and cost, waiting for the same operations a beat
 * later. */
#ifndef STAGESIM_BEATS_H
#define STAGESIM_BEATS_H

#include "base/numbers/cycle.h"
#include "simulator/program/timeline.h"

struct arena;

struct stream_beat {
    uint32_t length;   /* operations of the stream in a beat; 0: the stream has none in what repeats */
    uint32_t from, to; /* as in struct cycle_list */
};

/* [position][stream]. */
struct beats {
    struct stream_beat **streams;
};

/* Beats of which `length[position][stream]` operations of each stream are one, in the longest run that there is before
 * the place `limits[position][stream]` (NULL: anywhere). Memory from the arena. */
struct beats *beats_create(const struct program *program, uint32_t *const *lengths, uint32_t *const *limits,
                           struct arena *arena);

/* Operation `next` of a position is `first` a beat later: ids of computations. */
struct beat_pair {
    uint32_t first, next;
};

/* The beats around pairs[position] of a program in which an operation waits in all later beats for what it waits for in
 * that of the pair, but for collectives that wait for nothing yet, and all that happens once and does not stand before
 * the beats stands behind them: streams without beats wait for what is behind. An operation before the beats waits for
 * nothing behind them, one behind them for nothing before them: so it is clear of each what it waits for where there
 * are more beats. NULL where there are none in all positions. Memory from the arena. */
struct beats *beats_around(const struct program *program, const struct beat_pair *pairs, struct arena *arena);

/* Whether operation b of a position waits for what a does, a beat later on each stream. */
bool waits_a_beat_later(const struct position *position, const struct stream_beat *beats, const struct operation *a,
                        const struct operation *b);

/* Beats that are iterations; NULL where iterations differ in how many operations they have. */
struct beats *beats_of_iterations(const struct program *program, struct arena *arena);

/* The newest cycle of a timeline, see base/numbers/cycle.h. `rounding` as there. */
bool beats_find_cycle(const struct beats *beats, const struct timeline *timeline, double rounding, struct cycle *cycle,
                      struct arena *arena);

/* Whether two operations of programs on the same mesh are of the same kind, cost and stream; what they wait for is not
 * looked at. */
bool operation_alike(const struct program *program, const struct operation *a, const struct program *other,
                     const struct operation *b);

#endif
