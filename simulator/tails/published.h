/* SPDX-License-Identifier: Apache-2.0 */
/* How much steps of published jobs vary, by name. */
#ifndef STAGESIM_TAILS_PUBLISHED_H
#define STAGESIM_TAILS_PUBLISHED_H

#include "simulator/tails/tails.h"

struct arena;

struct tails_published {
    const char *name, *what, *source;
    double device, operation, micro_batch, transfer; /* deviations over means; 0: nothing is known */
};

/* NULL-terminated; the first is taken where a scenario says nothing. */
extern const struct tails_published *const tails_published_table[];
const struct tails_published *tails_published_find(const char *name);
/* Fills in what the settings leave open. Memory from the arena. */
void tails_published_fill(const struct tails_published *published, struct tails_settings *settings,
                          struct arena *arena);

#endif
