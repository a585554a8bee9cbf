/* SPDX-License-Identifier: Apache-2.0 */
/* A job's part of a platform: its hosts alone, in its order, with the links and routes of the whole. */
#ifndef STAGESIM_JOB_PLATFORM_H
#define STAGESIM_JOB_PLATFORM_H

#include "platforms/platform.h"

struct arena;

/* hosts: count indices into whole->hosts; borrowed, like the whole. Memory from the arena. */
struct platform *job_platform_create(struct platform *whole, const uint32_t *hosts, uint32_t count,
                                     struct arena *arena);

#endif
