/* SPDX-License-Identifier: Apache-2.0 */
/* All shapes of groups that algorithms of collectives tell apart. */
#ifndef STAGESIM_TEST_SHAPES_H
#define STAGESIM_TEST_SHAPES_H

#include "simulator/collectives/algorithm.h"

/* Calls `check` for every algorithm, kind and shape of that many ranks that fit each other. */
void shapes_for_each(uint32_t ranks,
                     void (*check)(const struct collective_algorithm *algorithm, const struct collective_shape *shape,
                                   enum stagesim_collective kind));

#endif
