/* SPDX-License-Identifier: Apache-2.0 */
/* An engine executes a program on a platform and records the timeline. */
#ifndef STAGESIM_ENGINE_H
#define STAGESIM_ENGINE_H

#include "platforms/platform.h"
#include "simulator/diagnostics.h"
#include "simulator/program.h"
#include "simulator/timeline.h"

/* Told now and then how many operations of how many are done; may be NULL. */
struct engine_progress {
    void (*report)(void *user, uint64_t done, uint64_t total);
    void *user;
};

struct engine {
    const char *name, *summary;
    /* Rank r runs on platform->hosts[hosts[r]]. The timeline was made by timeline_create for this program; its times are
     * filled. False with the fault filled when the simulation failed. */
    bool (*run)(const struct program *program, struct platform *platform, const uint32_t *hosts, struct timeline *timeline,
                const struct engine_progress *progress, struct fault *fault);
};

extern const struct engine engine_simgrid, engine_analytic;
/* NULL-terminated. */
extern const struct engine *const engine_table[];

#endif
