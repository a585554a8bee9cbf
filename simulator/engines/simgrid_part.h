/* SPDX-License-Identifier: Apache-2.0 */
/* The part of stagesim that needs SimGrid is a library of its own, loaded when the first platform or simulation asks
 * for it: SimGrid and what it links take most of the start of a command. Here stands what both sides call of each
 * other. */
#ifndef STAGESIM_SIMGRID_PART_H
#define STAGESIM_SIMGRID_PART_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "platforms/host_memory.h"
#include "platforms/library.h"
#include "platforms/platform.h"
#include "platforms/platform_file.h"
#include "platforms/properties.h"
#include "platforms/rating.h"
#include "platforms/soundness.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/engine.h"
#include "simulator/engines/overlap.h"
#include "simulator/program/stream_route.h"

/* What the part calls of the program; a new call from simulator/engines/simgrid/ needs a line here and one in
 * simulator/engines/simgrid/services.h. */
#define SIMGRID_SERVICES(SERVICE)                                                                                      \
    SERVICE(arena_alloc)                                                                                               \
    SERVICE(arena_array)                                                                                               \
    SERVICE(arena_copy)                                                                                                \
    SERVICE(arena_create)                                                                                              \
    SERVICE(arena_destroy)                                                                                             \
    SERVICE(arena_print)                                                                                               \
    SERVICE(assignment_all_flows)                                                                                      \
    SERVICE(assignment_choose)                                                                                         \
    SERVICE(assignment_flows)                                                                                          \
    SERVICE(collective_flow_at)                                                                                        \
    SERVICE(collective_phase_end)                                                                                      \
    SERVICE(engine_analytic)                                                                                           \
    SERVICE(fault_set)                                                                                                 \
    SERVICE(group_instances)                                                                                           \
    SERVICE(group_ranks)                                                                                               \
    SERVICE(group_size)                                                                                                \
    SERVICE(host_memory_platform)                                                                                      \
    SERVICE(library_complete)                                                                                          \
    SERVICE(library_owns)                                                                                              \
    SERVICE(library_set)                                                                                               \
    SERVICE(overlap_share)                                                                                             \
    SERVICE(platform_file_check)                                                                                       \
    SERVICE(platform_sound)                                                                                            \
    SERVICE(position_group_stream)                                                                                     \
    SERVICE(program_offloads)                                                                                          \
    SERVICE(properties_host_keys)                                                                                      \
    SERVICE(properties_link_watts)                                                                                     \
    SERVICE(properties_set)                                                                                            \
    SERVICE(rating_find)                                                                                               \
    SERVICE(stream_route)                                                                                              \
    SERVICE(timeline_finish_receives)                                                                                  \
    SERVICE(timeline_reset)

struct simgrid_services {
#define SERVICE(name) __typeof__(name) *to_##name;
    SIMGRID_SERVICES(SERVICE)
#undef SERVICE
};

/* What the program calls of the part; see simulator/engines/simgrid/bridge.h, and struct engine. */
struct simgrid_part {
    const char *version; /* of stagesim: both sides are of one build */
    bool (*configure)(const char *const *config, size_t count, struct fault *fault);
    struct platform *(*load)(const char *file, struct arena *arena, struct fault *fault);
    const char *(*library)(struct arena *arena); /* SimGrid's version */
    bool (*run)(const struct engine_job *job, struct fault *fault);
    const char *(*weighs)(void);
};

/* The part, loaded by the first call; it stays for the life of the process. NULL with the fault filled where it cannot
 * be loaded. */
const struct simgrid_part *simgrid_part(struct fault *fault);

/* The part's only exported function: remembers the services and returns itself. */
typedef const struct simgrid_part *simgrid_part_entry(const struct simgrid_services *services);

/* Executables that have the part linked in say so here before they use it; NULL otherwise. */
extern simgrid_part_entry *simgrid_part_linked;

#endif
