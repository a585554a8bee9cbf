/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of hosts, from text to struct platform_host; doc/platforms.md has the table. Whoever loads a platform
 * reads them here. */
#ifndef STAGESIM_PROPERTIES_H
#define STAGESIM_PROPERTIES_H

#include "base/diagnostics.h"
#include "platforms/platform.h"

struct arena;

/* The keys that properties_set knows, but for `kind`; NULL-terminated. */
extern const char *const properties_host_keys[];

/* Sets one property of a host, whose name is set already: texts are copied to the arena. Keys that are not in
 * properties_host_keys change nothing. False with the fault filled when the value is wrong. */
bool properties_set(struct platform_host *host, const char *key, const char *value, struct arena *arena,
                    struct fault *fault);

/* wattage_range of a link, "idle:busy". False with the fault filled when the value is wrong. */
bool properties_link_watts(struct platform_link_watts *watts, const char *link, const char *value, struct fault *fault);

#endif
