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

/* Whether collectives of a kind are messages that all leave at once: all-to-all and send-receive. */
bool fit_is_message(enum stagesim_collective kind);
/* Whether a table on the first ranks of a platform is of one node or of several. */
enum platform_scope fit_scope_of(struct platform *platform, const struct measured *table, struct arena *arena);
/* A table on the first ranks of a platform. */
struct fit_error fit_error_of(struct platform *platform, const struct measured *table, struct arena *arena);
/* Predicted seconds of each of its rows. */
void fit_predict(struct platform *platform, const struct measured *table, struct arena *arena, double *seconds);

/* Replaces launch times and protocols of platform->library by those that make the mean over the tables of their mean
 * absolute errors small, of which those above a quarter count by their logarithm; first those within nodes by the
 * tables of one node, then those over nodes by the tables of several, each only where there are such tables: coordinate
 * search over launch, and start, latency and efficiency of one to three protocols, as few as that error justifies, from
 * several starting points, always the same ones. A launch time for each kind where that is worth it, one for all
 * otherwise; where no table has sizes up to 64 KiB it stays as it is. The result does not depend on the order of the
 * tables nor on the properties that are replaced. False with the fault filled when a table needs more ranks than there
 * are. */
bool fit_library(struct platform *platform, const struct measured *tables, size_t count, struct fault *fault);

#endif
