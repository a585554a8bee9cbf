/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAGESIM_SIMGRID_SIMGRID_PART_H
#define STAGESIM_SIMGRID_SIMGRID_PART_H

#include "simulator/engines/simgrid_part.h"

/* A simgrid_part_entry. */
__attribute__((visibility("default"))) const struct simgrid_part *
stagesim_simgrid_part(const struct simgrid_services *services);

#endif
