/* SPDX-License-Identifier: Apache-2.0 */
/* Finds workloads: built-in ones by name, plug-ins by name or path. */
#ifndef STAGESIM_PLUGIN_H
#define STAGESIM_PLUGIN_H

#include "abi/workload.h"
#include "base/diagnostics.h"

struct arena;

/* `text` is a built-in workload's name; the name of an installed plug-in (NAME.so, see path_find_installed); or a path,
 * recognised by a '/' or the ending .so, and seen from `directory`. A plug-in stays loaded until the process ends. NULL
 * with the fault filled, which names the path, and both numbers where abi or size differ. */
const struct stagesim_workload *plugin_find(const char *text, const char *directory, struct arena *arena,
                                            struct fault *fault);
/* Whether a text is a path of a plug-in and no name. */
bool plugin_is_path(const char *text);
/* The file that plugin_find would load; NULL for a built-in workload, and for a name that is none. */
const char *plugin_path(const char *text, const char *directory, struct arena *arena);
/* The plug-in in a shared object; of an older layout, a copy in today's. Memory from the arena. */
const struct stagesim_workload *plugin_load(const char *path, struct arena *arena, struct fault *fault);

#endif
