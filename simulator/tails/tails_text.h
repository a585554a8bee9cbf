/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles of steps in words, as lines, and in summaries; doc/definitions.md has the figures. */
#ifndef STAGESIM_TAILS_TEXT_H
#define STAGESIM_TAILS_TEXT_H

#include "base/json_writer.h"
#include "simulator/tails/tails.h"

#include <stdio.h>

struct arena;

/* A figure as summaries have it, an offset in struct tails_figures. */
struct tails_figure {
    const char *key;
    bool count; /* a uint32_t, otherwise a double */
    size_t offset;
};
/* key NULL ends. */
extern const struct tails_figure tails_figures_table[];

/* "a step takes 6.7 s in the middle, 7.1 s in one of twenty, ...". Memory from the arena. */
const char *tails_sentence(const struct tails_figures *figures, struct arena *arena);
/* Lines of a run. */
void tails_print(FILE *out, const struct tails_figures *figures);
/* An object `step`; nothing where nothing is known. */
void tails_write(struct json_writer *json, const struct tails_figures *figures);

#endif
