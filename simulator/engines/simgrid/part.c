/* SPDX-License-Identifier: Apache-2.0 */
/* The library's one exported function. */
#include "simulator/engines/simgrid/part.h"

#include "simulator/engines/simgrid/bridge.h"
#include "simulator/engines/simgrid/run.h"
#include "simulator/engines/simgrid/services.h"

const struct simgrid_part *stagesim_simgrid_part(const struct simgrid_services *services)
{
    static const struct simgrid_part part = {STAGESIM_VERSION, bridge_configure,    bridge_load,
                                             bridge_version,   simgrid_run_program, bridge_weighs};
    simgrid_services = services;
    return &part;
}
