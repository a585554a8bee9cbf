/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of links that a scenario's platform has, and what their wires carry. */
#ifndef STAGESIM_LINK_KINDS_H
#define STAGESIM_LINK_KINDS_H

#include "job/scenario/scenario.h"

struct arena;

enum { LINK_KINDS_MAX = 12 };

/* Names of the kinds whose figures can be changed, "nic", at most LINK_KINDS_MAX; an exit code. Memory from the arena.
 */
int link_kinds_list(const struct scenario *scenario, const char *names[LINK_KINDS_MAX], size_t *count,
                    struct arena *arena);
/* The line rate of a kind of links over what transfers reach there; without a product that says so, the most that any
 * wire has. */
double link_kinds_most(const struct scenario *scenario, const char *kind, struct arena *arena);
/* What the scenario's own links make of a figure of a kind. */
double link_kinds_factor(const struct scenario *scenario, const char *kind, enum what_if_figure figure);

#endif
