/* SPDX-License-Identifier: Apache-2.0 */
/* Structs that a plug-in hands over may be of an older layout. Members are only ever appended to them, so that a size
 * tells the layout: a smaller one that there has been is read as far as it goes, a larger one is refused. */
#ifndef STAGESIM_ABI_H
#define STAGESIM_ABI_H

#include "abi/workload.h"
#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>

enum abi_struct { ABI_WORKLOAD, ABI_FIGURES, ABI_PIPELINE, ABI_PACE, ABI_STRUCTS };

/* Copies a struct of `size` bytes, as the plug-in says, into one of today's layout; members that it does not have are
 * zero. False with the fault filled when no version has had that size: what is wrong with it and what to do. */
bool abi_read(enum abi_struct which, const void *theirs, size_t size, void *ours, struct fault *fault);
/* Bytes of today's layout. */
size_t abi_size(enum abi_struct which);

#endif
