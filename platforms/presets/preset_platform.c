/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/bulk.h"
#include "platforms/generate/structure.h"
#include "platforms/network/network_read.h"
#include "platforms/presets/presets.h"

#include <stdlib.h>

/* Rings, tori, dragonflies, meshes and rails: what the generator would write, read by our own reader. */
static struct platform *from_text(const struct design *design, const char *name, struct arena *arena,
                                  struct fault *fault)
{
    char *text = NULL;
    size_t size = 0;
    const char *why = "";
    FILE *out = memory_stream_open(&text, &size);
    struct platform *platform = NULL;
    bool written = design_write(design, out, fault);
    memory_stream_close(out);
    if (written)
        platform = network_read_text(name, text, size, arena, &why);
    if (!platform)
        fault_set(fault, "the platform '%s' cannot be made: %s", name, why);
    free(text);
    return platform;
}

struct platform *preset_platform(const struct platform_request *request, const char *name, struct arena *arena,
                                 struct fault *fault)
{
    struct design *design = arena_alloc(arena, sizeof *design);
    if (!preset_design(request, arena, design, fault))
        return NULL;
    return structure_covers(design) ? structure_platform(design, name, arena, fault)
                                    : from_text(design, name, arena, fault);
}
