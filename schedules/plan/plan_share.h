/* SPDX-License-Identifier: Apache-2.0 */
/* What a stage has of the model, where costs are given for the workers' shares: 1/D of the model each, in order. */
#ifndef STAGESIM_PLAN_SHARE_H
#define STAGESIM_PLAN_SHARE_H

#include <stddef.h>
#include <stdint.h>

/* The cost of a stage, 1/stages of the model, where each share's is spread evenly over it: with stages = v shares, 1/v
 * of its share's; otherwise a stage may have parts of two shares, or hold several. values: one for each share, or one
 * for all. */
double plan_share_cut(const double *values, size_t count, uint32_t shares, uint32_t stages, uint32_t stage);
/* The share in which a stage ends. */
uint32_t plan_share_end(uint32_t shares, uint32_t stages, uint32_t stage);

#endif
