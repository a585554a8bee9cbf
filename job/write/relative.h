/* SPDX-License-Identifier: Apache-2.0 */
/* The way from one directory to a file. */
#ifndef STAGESIM_RELATIVE_H
#define STAGESIM_RELATIVE_H

struct arena;

/* A file as it is named from a directory, which may still have to be made; its absolute path where they share the root
 * alone. Memory from the arena. */
const char *path_relative(const char *from, const char *to, struct arena *arena);

#endif
