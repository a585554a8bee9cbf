/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/pipeline/lowering.h"

#include <string.h>

uint32_t lowering_axes(const struct mesh *mesh, const char *list)
{
    uint32_t axes = 0;
    return list && mesh_select(mesh, list, &axes) ? axes : 0;
}

uint32_t lowering_factor_sets(const char *varies, uint32_t sets)
{
    return sets > 1 && !strcmp(varies, "data") ? sets : 1;
}
