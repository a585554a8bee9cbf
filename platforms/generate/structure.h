/* SPDX-License-Identifier: Apache-2.0 */
/* A platform straight from a design, without a file: nodes that are copies of one, in pods around leaf switches, pods
 * around a spine. A route is that of one node, moved to the copies, with the ways between them. Equal to the bit to
 * what SimGrid makes of the file that design_write writes. */
#ifndef STAGESIM_STRUCTURE_H
#define STAGESIM_STRUCTURE_H

#include "platforms/generate/generate.h"

/* Whether the design is of that kind: a switched fabric without rails, or a single node. */
bool structure_covers(const struct design *design);

/* The platform in the arena, which the design has to outlive; `name` is what messages call it. NULL with the fault
 * filled for a design that design_write refuses as well. */
struct platform *structure_platform(const struct design *design, const char *name, struct arena *arena,
                                    struct fault *fault);

#endif
