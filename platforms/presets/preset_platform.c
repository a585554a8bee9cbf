/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "platforms/generate/structure.h"
#include "platforms/presets/presets.h"

struct platform *preset_platform(const struct platform_request *request, const char *name, struct arena *arena,
                                 struct fault *fault)
{
    struct design *design = arena_alloc(arena, sizeof *design);
    if (!preset_design(request, arena, design, fault) || !structure_covers(design))
        return NULL;
    return structure_platform(design, name, arena, fault);
}
