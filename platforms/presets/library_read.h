/* SPDX-License-Identifier: Apache-2.0 */
/* Collective libraries of products, and what networks make of their protocols: files of platforms/hardware/libraries
 * and networks, and the user's. All of it lives as long as the process. */
#ifndef STAGESIM_LIBRARY_READ_H
#define STAGESIM_LIBRARY_READ_H

#include "platforms/generate/generate.h"

/* The library of a name that a file has at `at`. NULL after a mistake was reported. */
const struct design_library *design_library_find(const char *name, struct place at, struct diag *diag);
/* The network likewise. */
const struct design_network *design_network_find(const char *name, struct place at, struct diag *diag);

/* The keys of both files but properties of libraries (platforms/library.h), for readers and the JSON Schema. */
extern const struct stagesim_field library_fields[], network_fields[];

#endif
