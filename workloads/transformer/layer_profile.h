/* SPDX-License-Identifier: Apache-2.0 */
/* Measured times of a model's layers by the size of the micro-batch; the file is documented in doc/transformer.md. */
#ifndef STAGESIM_LAYER_PROFILE_H
#define STAGESIM_LAYER_PROFILE_H

#include "base/diagnostics.h"

#include <stdbool.h>

enum layer_kind { PROFILE_LAYER, PROFILE_EMBEDDING, PROFILE_HEAD, PROFILE_KINDS };

struct layer_time {
    double samples;
    double forward, backward; /* seconds */
    double activation;        /* bytes kept from forward to backward; 0: not measured */
};

enum { PROFILE_ROWS_MAX = 64 };

struct layer_profile {
    unsigned rows[PROFILE_KINDS];
    struct layer_time times[PROFILE_KINDS][PROFILE_ROWS_MAX]; /* by rising micro-batch size */
};

/* Reads a profile. False with the fault filled ("FILE:LINE:COLUMN: what"). */
bool layer_profile_read(const char *path, struct layer_profile *profile, struct fault *fault);
/* The times of a kind at a micro-batch size: measured, or between two measured ones. False with the fault filled where
 * the size lies outside of what was measured. */
bool layer_profile_at(const struct layer_profile *profile, enum layer_kind kind, double samples, struct layer_time *out,
                      struct fault *fault);

#endif
