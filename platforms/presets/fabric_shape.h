/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of a torus or dragonfly of so many nodes. */
#ifndef STAGESIM_FABRIC_SHAPE_H
#define STAGESIM_FABRIC_SHAPE_H

#include "platforms/generate/generate.h"

/* Fills the dimensions for that many nodes. False with the fault filled where it does not come in that size. */
typedef bool fabric_shape(struct fabric *fabric, uint32_t nodes, struct fault *fault);

/* "none", then the rules that a file may name; NULL-terminated. */
extern const char *const fabric_shape_names[];
/* The rule of a name for nodes of so many devices; NULL for none. False with the fault filled where kind and rule do
 * not fit. */
bool fabric_shape_find(const char *name, enum fabric_kind kind, uint32_t devices, fabric_shape **shape,
                       struct fault *fault);

/* The sizes AxBxC, or AxBxC_twisted, that a user gives in place of those that the rule chooses: optical switches join
 * whole cubes of 4 x 4 x 4 chips to any box. False with the fault filled. */
bool fabric_shape_read(const char *text, const char *preset, struct fabric *fabric, uint32_t nodes,
                       struct fault *fault);

#endif
