/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the platform files that stagesim generates, and what is like them, in one pass without SimGrid;
 * doc/platforms.md says which. Everything else, and every mistake, is left to SimGrid, so that both never differ. */
#ifndef STAGESIM_NETWORK_READ_H
#define STAGESIM_NETWORK_READ_H

#include "platforms/platform.h"

#include <stddef.h>

struct arena;

/* The platform of a file, or of `size` bytes of text, called `name`; in the arena. NULL where it is left to SimGrid:
 * then *why says what is in it that only SimGrid's reader knows, as "line 12: routing 'Dijkstra'". */
struct platform *network_read_file(const char *path, struct arena *arena, const char **why);
struct platform *network_read_text(const char *name, const char *text, size_t size, struct arena *arena,
                                   const char **why);

#endif
