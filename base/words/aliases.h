/* SPDX-License-Identifier: Apache-2.0 */
/* What people type for the names of this program: abbreviations, and the names of other tools. */
#ifndef STAGESIM_ALIASES_H
#define STAGESIM_ALIASES_H

#include <stdbool.h>
#include <stddef.h>

/* The entry of `words` (count of them) that is meant: the one that differs in the case of letters only, the one that a
 * word is another name of, or the nearest (diag_nearest); NULL: none. */
const char *alias_nearest(const char *word, const char *const *words, size_t count);

/* Whether `word` is another name of `name`, or its own in other letters. */
bool alias_is(const char *word, const char *name);

/* The key of an axis in `parallel`, for tp, pp, dp, cp and ep; any other word unchanged. */
const char *alias_axis(const char *key);

/* Where a key that is not one of its section belongs: the first path of `paths` (NULL-terminated, dotted) whose last
 * part is the key or what it is another name of; NULL: none. */
const char *alias_elsewhere(const char *key, const char *const *paths);

#endif
