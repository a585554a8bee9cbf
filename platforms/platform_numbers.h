/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of platform files that SimGrid takes as they are, or at which it ends without a word about what was wrong. */
#ifndef STAGESIM_PLATFORM_NUMBERS_H
#define STAGESIM_PLATFORM_NUMBERS_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stdint.h>

/* The value of an attribute in expat's list of names and values; "" where it is not given. */
const char *xml_attribute(const char **attributes, const char *name);

/* How many hosts a list of numbers and ranges makes: "0-3,7" makes 5. 0 with the fault filled when it is none. */
uint64_t radical_count(const char *text, struct fault *fault);

/* Speeds, cores, power states and shapes of a host or of a cluster. False with the fault filled. */
bool host_numbers_check(const char *element, const char **attributes, struct fault *fault);

/* A file's version, and whether a link is one that SimGrid can simulate, by their attributes. False with the fault
 * filled. */
bool version_check(const char **attributes, struct fault *fault);
bool link_check(const char **attributes, struct fault *fault);

/* Whether a text is one of the words, which end with NULL. */
bool xml_is_any(const char *text, const char *const *words);

#endif
