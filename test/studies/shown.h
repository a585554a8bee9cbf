/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_STUDIES_SHOWN_H
#define TEST_STUDIES_SHOWN_H

#include "analysis/figures/report.h"

/* Whether the figures of a job that people are shown are those of `b`, its run as a whole, to 1e-9. `exposed` is the
 * communication that columns say is exposed. Prints which figure differs, with the seed of the case. */
bool shown_are_same(const struct report *a, const struct report *b, double exposed, uint64_t seed);

#endif
