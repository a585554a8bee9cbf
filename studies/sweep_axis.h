/* SPDX-License-Identifier: Apache-2.0 */
/* What a sweep varies: a key of the scenario with a list or a range of values, schedules, or changed platforms. */
#ifndef STAGESIM_SWEEP_AXIS_H
#define STAGESIM_SWEEP_AXIS_H

#include "base/diagnostics.h"
#include "job/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;

/* SWEEP_SETS: a value is several keys at once, "KEY=VALUE KEY=VALUE", without spaces in them.
 */
enum sweep_axis_kind { SWEEP_KEY, SWEEP_SCHEDULES, SWEEP_WHAT_IFS, SWEEP_SETS };

struct sweep_axis {
    enum sweep_axis_kind kind;
    const char *key;     /* dotted path; "schedule", "what_if" and "variant" for the other kinds */
    const char **values; /* [count], as they are written */
    const char **labels; /* [count]: what they are called; for a key the values */
    size_t count;
    double *numbers; /* [count]: the values where all are numbers, of one unit; NULL: they are words */
    const char *unit;
};

enum { SWEEP_AXIS_VALUES_MAX = 10000 };

/* "KEY=VALUES" with VALUES as a,b,c (commas in brackets, braces and quotes do not count), from:to:step, or from:to:xF,
 * which multiplies by F; numbers of a range may have a unit, all the same. One value is an axis of one. Memory from the
 * arena. False with the fault filled. */
bool sweep_axis_parse(const char *text, struct sweep_axis *axis, struct arena *arena, struct fault *fault);

/* The keys of a value of SWEEP_SETS, as `--set` says them, count of them. Memory from the arena. */
const struct scenario_set *sweep_axis_sets(const char *value, size_t *count, struct arena *arena);

/* An axis of given words. */
struct sweep_axis sweep_axis_of(enum sweep_axis_kind kind, const char **values, const char **labels, size_t count);

#endif
