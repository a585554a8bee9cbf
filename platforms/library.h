/* SPDX-License-Identifier: Apache-2.0 */
/* Properties that describe the collective library of a machine; doc/collectives.md has the table. */
#ifndef STAGESIM_PLATFORM_LIBRARY_H
#define STAGESIM_PLATFORM_LIBRARY_H

#include "platforms/platform.h"
#include "simulator/diagnostics.h"

#include <stdio.h>

/* Whether a property's name is one of the library's, right or wrong: all begin with "collective_". */
bool library_owns(const char *key);
/* Reads one property that library_owns. False with the fault filled when there is none of that name or the value is wrong. */
bool library_set(struct platform_library *library, const char *key, const char *value, struct fault *fault);
/* To be called after the last library_set: orders the protocols, completes launch times. */
void library_complete(struct platform_library *library);
/* Writes the properties as XML, each on a line of `indent` blanks. */
void library_write(FILE *out, const struct platform_library *library, unsigned indent);

#endif
