/* SPDX-License-Identifier: Apache-2.0 */
/* What engines rely on and a workload of somebody else's can get wrong. */
#ifndef STAGESIM_PROGRAM_CHECK_H
#define STAGESIM_PROGRAM_CHECK_H

#include "base/diagnostics.h"
#include "simulator/program/program.h"

/* True when times and sizes are numbers and not negative, and all members of a group have the same collectives in the
 * same order. Otherwise the fault says which are not. */
bool program_check(const struct program *program, struct fault *fault);

#endif
