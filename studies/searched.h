/* SPDX-License-Identifier: Apache-2.0 */
/* What studies search orders for: chunks of a worker, where they are, and whether backwards are split. */
#ifndef STAGESIM_SEARCHED_H
#define STAGESIM_SEARCHED_H

#include <stdint.h>

struct searched {
    uint32_t chunks; /* 0 ends a table */
    const char *placement, *backward;
};

enum { SEARCHED_SHAPES = 10 };

/* One, two and four chunks; SEARCHED_SHAPES of them. */
extern const struct searched searched_shapes[];

#endif
