/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the properties of a platform's collective library from measured tables. */
#ifndef STAGESIM_COLLECTIVE_FIT_H
#define STAGESIM_COLLECTIVE_FIT_H

#include "platforms/measured.h"
#include "platforms/platform.h"

struct arena;

/* How far predictions are from a table: means over its rows of |p/m - 1| and of p/m - 1. */
struct fit_error {
    double absolute, bias;
};

/* A table on the first ranks of a platform. */
struct fit_error fit_error_of(struct platform *platform, const struct measured *table, struct arena *arena);

/* Replaces launch times and protocols of platform->library by those that make the mean over the tables of their mean absolute errors
 * small: coordinate search over launch times of each kind measured, and start, latency and efficiency of three protocols, from
 * several starting points, always the same ones. Kinds that were not measured take the launch time of the first table. False with
 * the fault filled when a table needs more ranks than there are. */
bool fit_library(struct platform *platform, const struct measured *tables, size_t count, struct fault *fault);

#endif
