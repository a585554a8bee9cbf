/* SPDX-License-Identifier: Apache-2.0 */
/* Distributions as a scenario writes them: `5min`, or `{log-normal: {median: 4min, mean: 39min}}`. */
#ifndef STAGESIM_FIELDS_DISTRIBUTION_H
#define STAGESIM_FIELDS_DISTRIBUTION_H

#include "abi/fields/fields.h"
#include "base/random/distribution.h"

/* What a scenario says: the distribution, and a text that is read as the same one, wherever it is written. */
struct fields_distribution {
    struct distribution distribution;
    const char *text;
};

/* Files of samples, and lists of them, have at most so many. */
enum { DISTRIBUTION_SAMPLES_MAX = 10000 };

/* What such a value is, with an example. */
extern const char fields_distribution_expected[], fields_factors_expected[];

/* The name of a kind, the key of the map that describes one; NULL: there are no more. */
const char *fields_distribution_kind(size_t index);
/* A distribution of times, or of factors: plain numbers. NULL after a mistake was reported. Memory from the reader's
 * arena. */
const struct fields_distribution *fields_read_distribution(const struct fields_reader *reader, const char *key,
                                                           const struct node *node, bool factors);
/* The same of a text of the program's own, without a mistake. */
const struct fields_distribution *fields_distribution_of(const char *text, struct arena *arena);

#endif
