/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings that were given back, for those who ask next. A search evaluates thousands of jobs of about one size: the
 * kernel would take the pages of each and zero them for the next. There is one set of them in a process, of some
 * megabytes at most. */
#ifndef STAGESIM_SPARE_H
#define STAGESIM_SPARE_H

#include <stdbool.h>
#include <stddef.h>

/* What is mapped for a request: a few sizes for each power of two, so that requests of about one size serve each other.
 * From two mebibytes on they are whole huge pages. */
size_t spare_size(size_t bytes);

/* A mapping of exactly that spare_size, with what its user left in it. NULL: there is none, and as much as is going to
 * be mapped has gone back to the system, but for some megabytes. */
void *spare_take(size_t size);
/* Keeps a mapping; the one that was kept first goes back to the system when there are too many bytes. False: it is too
 * large, and still the caller's. */
bool spare_keep(void *memory, size_t size);
/* Gives all of them back to the system. False: there were none. */
bool spare_release(void);
/* The bytes of all of them. */
size_t spare_bytes(void);

#endif
