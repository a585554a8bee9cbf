/* SPDX-License-Identifier: Apache-2.0 */
/* The C side of simgrid_bridge.cpp, the one C++ file: what SimGrid's C API does not give, with exceptions turned into
 * faults. One platform, one simulation per process. */
#ifndef STAGESIM_SIMGRID_BRIDGE_H
#define STAGESIM_SIMGRID_BRIDGE_H

#include "platforms/platform.h"
#include "simulator/diagnostics.h"

#ifdef __cplusplus
extern "C" {
#endif

struct arena;

/* Loads the platform file after setting stagesim's defaults and then `config` ("key:value" strings as in SimGrid's --cfg,
 * count of them). The platform lives in the arena. NULL with the fault filled, whose text begins with FILE:LINE where
 * SimGrid knows it. */
struct platform *bridge_load(const char *file, const char *const *config, size_t config_count, struct arena *arena, struct fault *fault);

/* Starts an actor on host index `host` that calls body(argument). */
void bridge_actor_start(struct platform *platform, uint32_t host, void (*body)(void *argument), void *argument);
/* Runs until no actor is left. False with the fault filled when an actor or SimGrid failed (a host or a link went down), or
 * actors wait for ever. */
bool bridge_run(struct fault *fault);
/* When a message (sg_comm_t) ended; negative while it is under way. */
double bridge_comm_finish(void *comm);
/* Moves the calling actor to a host: messages that it starts from now on leave from there. */
void bridge_actor_move(struct platform *platform, uint32_t host);

#ifdef __cplusplus
}
#endif

#endif
