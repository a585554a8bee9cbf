/* SPDX-License-Identifier: Apache-2.0 */
/* How a definition takes over from another one: maps are joined key by key, everything else is replaced. */
#ifndef STAGESIM_HARDWARE_TAKE_H
#define STAGESIM_HARDWARE_TAKE_H

#include "base/document.h"

struct arena;

/* Writes each entry of a product's `cables` that is a name as the map that it stands for: {wire: NAME}. So a product
 * that takes over keeps how many there are. */
void hardware_spread_cables(struct node *product, struct arena *arena);
/* The base with what `map` says in its place. A source that is taken over with other figures says so, and
 * counts as an estimate. */
struct node *hardware_take_over(const struct node *base, const struct node *map, struct arena *arena);

#endif
