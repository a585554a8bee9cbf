/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of ranks that runs share: those of one program without transfers, or of layouts that differ in what computing
 * costs. */
#ifndef STAGESIM_CLASS_STORE_H
#define STAGESIM_CLASS_STORE_H

#include "simulator/engines/classes.h"

struct class_store;

/* For jobs on one platform. The caller owns the store. */
struct class_store *class_store_create(void);
/* NULL is fine. */
void class_store_destroy(struct class_store *store);

/* classes_without_contention, which is looked up where all that it follows from is as it was: mesh, hosts, variations,
 * messages and flows, by a hash of 64 bits, as colours are. `store` NULL: found anew. Memory from the arena. */
struct classes class_store_find(struct class_store *store, const struct program *program, struct platform *platform,
                                const uint32_t *hosts, struct arena *arena);

#endif
