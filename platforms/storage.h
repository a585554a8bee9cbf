/* SPDX-License-Identifier: Apache-2.0 */
/* Storage behind hosts of a platform: all that is sent to them, and all that comes from them, shares one rate. */
#ifndef STAGESIM_STORAGE_H
#define STAGESIM_STORAGE_H

#include "platforms/platform.h"

struct arena;

/* A platform in which routes to the servers (indices of its hosts) end with one further link of `rate` bytes per
 * second, and routes from them begin with another one. The one given has to live as long; memory from the arena. */
struct platform *storage_platform(struct platform *platform, const uint32_t *servers, uint32_t count, double rate,
                                  struct arena *arena);

#endif
