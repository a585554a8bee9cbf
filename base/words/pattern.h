/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of names, as people type them. */
#ifndef STAGESIM_PATTERN_H
#define STAGESIM_PATTERN_H

#include <stdbool.h>

/* Whether a name is as the pattern says: '*' stands for any text, '?' for any character. Only the last '*' before a
 * mismatch is tried again, so that no pattern takes long. */
bool pattern_matches(const char *pattern, const char *name);

/* The same where a text that is the name of something, `exact`, means that alone, and no pattern. */
bool pattern_means(const char *text, const char *name, bool exact);

#endif
