/* SPDX-License-Identifier: Apache-2.0 */
/* What importers put together, and what they say of it. */
#include "platforms/import/parts.h"

#include "base/arena.h"

#include <stdarg.h>
#include <string.h>

struct import *import_create(const char *source, struct arena *arena)
{
    struct import *import = arena_alloc(arena, sizeof *import);
    import->arena = arena;
    import->source = source;
    return import;
}

/* One more item in an array of the arena that doubles at powers of two. */
static void *grown(struct arena *arena, void *items, uint32_t count, size_t size)
{
    if (count & (count - 1))
        return items;
    void *larger = arena_array(arena, count ? 2 * (size_t)count : 1, size);
    if (count)
        memcpy(larger, items, count * size);
    return larger;
}

struct import_place *import_add_place(struct import *import, enum import_place_kind kind, uint32_t parent, double wire,
                                      const char *bus, struct fault *fault)
{
    if (import->place_count >= IMPORT_PLACES_MAX) {
        fault_set(fault, "more than %u bridges and devices: this is no description of a single node",
                  IMPORT_PLACES_MAX);
        return NULL;
    }
    import->places = grown(import->arena, import->places, import->place_count, sizeof *import->places);
    struct import_place *place = &import->places[import->place_count++];
    *place = (struct import_place){kind, parent, wire, bus ? arena_copy(import->arena, bus) : NULL};
    return place;
}

struct import_gpu *import_add_gpu(struct import *import, uint32_t place, struct fault *fault)
{
    if (import->gpu_count >= IMPORT_GPUS_MAX) {
        fault_set(fault, "more than %u GPUs: this is no description of a single node", IMPORT_GPUS_MAX);
        return NULL;
    }
    import->gpus = grown(import->arena, import->gpus, import->gpu_count, sizeof *import->gpus);
    struct import_gpu *gpu = &import->gpus[import->gpu_count++];
    *gpu = (struct import_gpu){.place = place, .numa = NODE_NONE, .partitions = 1, .name = import->places[place].bus};
    return gpu;
}

struct import_nic *import_add_nic(struct import *import, uint32_t place, struct fault *fault)
{
    if (import->nic_count >= IMPORT_GPUS_MAX) {
        fault_set(fault, "more than %u network interfaces: this is no description of a single node", IMPORT_GPUS_MAX);
        return NULL;
    }
    import->nics = grown(import->arena, import->nics, import->nic_count, sizeof *import->nics);
    struct import_nic *nic = &import->nics[import->nic_count++];
    *nic = (struct import_nic){.place = place, .numa = NODE_NONE, .name = import->places[place].bus};
    return nic;
}

void import_add_numa(struct import *import, uint32_t index, double memory)
{
    import->numas = grown(import->arena, import->numas, import->numa_count, sizeof *import->numas);
    import->numas[import->numa_count++] = (struct import_numa){index, memory};
}

void import_find(struct import *import, enum import_origin origin, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    import->findings = grown(import->arena, import->findings, import->finding_count, sizeof *import->findings);
    import->findings[import->finding_count++] =
        (struct import_finding){origin, arena_vprint(import->arena, format, arguments)};
    va_end(arguments);
}

void import_link(struct import *import, uint32_t from, uint32_t to, double raw)
{
    if (!import->links)
        import->links =
            arena_array(import->arena, (size_t)import->gpu_count * import->gpu_count, sizeof *import->links);
    import->links[(size_t)from * import->gpu_count + to] = raw;
}

const char *import_origin_name(enum import_origin origin)
{
    static const char *const names[] = {"measured", "table", "assumed", "left out"};
    return names[origin];
}
