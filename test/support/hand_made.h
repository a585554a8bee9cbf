/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines made by hand for the picture tests. */
#ifndef TEST_HAND_MADE_H
#define TEST_HAND_MADE_H

#include "analysis/pictures/gantt.h"

/* 1F1B with forward 1 s and backward 2 s, no communication. The caller owns it. */
struct gantt *hand_made_1f1b(uint32_t workers, uint32_t micro_batches);
/* GPipe with the same times. */
struct gantt *hand_made_gpipe(uint32_t workers, uint32_t micro_batches);
/* Chimera's 4 workers and 4 micro-batches, both directions, gradients synchronised at the end in the thin lane, weight
 * gradients split. */
struct gantt *hand_made_chimera(void);

#endif
