/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows of measured tables settle which property of a fitted library. */
#ifndef STAGESIM_COLLECTIVE_SETTLED_H
#define STAGESIM_COLLECTIVE_SETTLED_H

#include "platforms/measured.h"
#include "platforms/platform.h"

struct arena;

enum { SETTLED_MAX = 1 + PLATFORM_COLLECTIVES + 2 * 3 * PLATFORM_PROTOCOLS };

/* A property, and the rows whose prediction moves by at least 1 % when it grows by 10 %. */
struct settled {
    char name[64]; /* as in the platform's file */
    double value;
    bool seconds;       /* it is a time; else a ratio */
    double least, most; /* bytes */
    uint32_t rows;      /* 0: nothing in the tables says what it is */
};

/* The properties of a scope that are not 0, for the tables of that scope. Returns their number. */
uint32_t settled_find(struct platform *platform, enum platform_scope scope, const struct measured *tables, size_t count,
                      struct arena *arena, struct settled *list);

#endif
