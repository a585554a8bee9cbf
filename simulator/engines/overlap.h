/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives that take a share of their ranks' compute while they move: kernels of the library occupy a part of the
 * GPU. M. Isaev et al., Calculon: a methodology and tool for high-level co-design of systems and large language models,
 * SC 2023. */
#ifndef STAGESIM_OVERLAP_H
#define STAGESIM_OVERLAP_H

#include "platforms/platform.h"

/* The most that all collectives of a rank take together; shares of several at once add up. */
#define OVERLAP_MOST 0.9

/* The share, 0 to OVERLAP_MOST, that the platform says a collective of these ranks takes; rank r is on
 * platform->hosts[hosts[r]]. */
double overlap_share(const struct platform *platform, const uint32_t *hosts, const uint32_t *ranks, uint32_t count);

#endif
