/* SPDX-License-Identifier: Apache-2.0 */
/* For executables that have SimGrid's part linked in, the tests that simulate on it: makes it known before main. */
#include "simulator/engines/simgrid/part.h"

__attribute__((constructor)) static void link_part(void)
{
    simgrid_part_linked = stagesim_simgrid_part;
    struct fault fault = {""};
    simgrid_part(&fault);
}
