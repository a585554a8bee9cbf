/* SPDX-License-Identifier: Apache-2.0 */
/* Which measured kernel an operator of PyTorch is, from its name and the dimensions and types of its inputs. */
#ifndef STAGESIM_PROFILE_OPERATOR_SHAPE_H
#define STAGESIM_PROFILE_OPERATOR_SHAPE_H

#include "workloads/kernels/kernel_table.h"

enum { OPERATOR_WHAT_MAX = 96 };

/* Fills the kernel's shape and words for it, such as "matmul 8192 x 4096 x 4096". `shape` as in struct
 * profile_operator. False: it is none of those known, or of a type that no kernel is measured in. */
bool operator_shape(const char *name, const char *shape, struct kernel_shape *kernel, char what[OPERATOR_WHAT_MAX]);

#endif
