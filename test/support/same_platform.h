/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two loaded platforms are the same to the bit. */
#ifndef STAGESIM_TEST_SAME_PLATFORM_H
#define STAGESIM_TEST_SAME_PLATFORM_H

#include "platforms/platform.h"

#include <stdbool.h>
#include <stddef.h>

/* Hosts, links and library are equal in everything, and so are the routes between `pairs` pairs of hosts drawn from
 * `seed` (0: between all), with those from a host to itself and to its neighbours; and what either knows of bundles
 * holds for its routes. Where not, `difference` says what, in at most `size` bytes. */
bool same_platform(struct platform *left, struct platform *right, uint32_t pairs, uint64_t seed, char *difference,
                   size_t size);

#endif
