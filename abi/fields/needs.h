/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions of struct stagesim_need: whether they hold, and what they say in words. */
#ifndef STAGESIM_NEEDS_H
#define STAGESIM_NEEDS_H

#include "abi/workload.h"

#include <stdbool.h>

struct arena;

/* What a path stands for. */
struct need_value {
    bool known;       /* false: conditions on it hold */
    double number;    /* of words their number; of texts and lists whether there are any */
    const char *word; /* NULL: it is a number */
};

/* Where the values of paths are found. */
struct need_values {
    struct need_value (*find)(void *user, const char *path);
    void *user;
};

/* Whether one of the alternatives holds. */
bool need_holds(const char *needs, const struct need_values *values);
/* "model.experts", "zero: 3 or parallel.data above 1", "no compute.efficiency". Memory from the arena. */
const char *need_words(const char *needs, struct arena *arena);

/* What a field has in the struct that its table fills. */
struct need_value need_field_value(const struct stagesim_field *field, const void *parameters);
/* Whether it is another value than the default; `defaults` NULL: all zero. */
bool need_field_differs(const struct stagesim_field *field, const void *parameters, const void *defaults);

#endif
