/* SPDX-License-Identifier: Apache-2.0 */
/* Where a platform comes from: a file, or a product by its name, as dgx-h100:64. */
#ifndef STAGESIM_PLATFORM_SOURCE_H
#define STAGESIM_PLATFORM_SOURCE_H

#include "base/diagnostics.h"
#include "platforms/generate/request.h"
#include "platforms/platform.h"

#include <stdbool.h>

struct arena;

enum platform_loader {
    LOADER_AUTO,   /* stagesim's own where it can, else SimGrid's */
    LOADER_SIMGRID /* SimGrid's, for presets of a generated file */
};

struct platform_source {
    const char *text;                /* as it was written; what outputs and messages call the platform */
    const char *file;                /* that can be opened; NULL: a preset */
    struct platform_request request; /* of a preset */
    enum platform_loader loader;
};

/* Whether a text is to name a preset: NAME:... with no '/' in the name, or FILE.yaml:..., and no file of the whole text
 * seen from `directory`. */
bool platform_source_is_preset(const char *text, const char *directory, struct arena *arena);
/* A preset's name as it is; the file of a user's product (FILE.yaml) as it is found from the directory, for what was
 * typed on the command line also from where that was. Memory from the arena. */
const char *platform_source_product(const char *preset, const char *directory, bool typed, struct arena *arena);
/* The text of a preset (PRESET or PRESET:...), where it names a product's file with the path from anywhere. Memory from
 * the arena. */
const char *platform_source_rooted(const char *text, const char *directory, struct arena *arena);
/* Whether there is a preset of that name, or a file of a product without mistakes. False with the fault filled, in a
 * file with the place of the first one. */
bool platform_source_knows(const char *preset, struct fault *fault);
/* Whether the preset is a user's file, whose path request.preset is. */
bool platform_source_is_product(const struct platform_source *source);
/* The preset that a word without a number of nodes surely means (preset_named); NULL: none. */
const char *platform_source_named(const char *word);
/* Whether the preset of the source comes in that shape, and the fabric has room for it. False with the fault filled. */
bool platform_source_check(const struct platform_source *source, struct fault *fault);
/* PRESET:NODES or PRESET:NODES:NIC, a product's file as platform_source_product finds it; the texts live in the
 * arena. False with the fault filled, also for a preset that does not come in that shape. */
bool platform_source_parse(const char *text, const char *directory, bool typed, struct platform_source *source,
                           struct arena *arena, struct fault *fault);
/* The same for what is typed on the command line, where it may be a file as well: that can be read. The text is
 * borrowed. */
bool platform_source_typed(const char *text, struct platform_source *source, struct arena *arena, struct fault *fault);

/* The platform in the arena without SimGrid. NULL with the fault filled, or with an empty one where it is left to
 * SimGrid: then platform_source_simgrid loads it, and *why says why. */
struct platform *platform_source_native(const struct platform_source *source, struct arena *arena, const char **why,
                                        struct fault *fault);
/* Loads SimGrid where it is not yet, and sets it as scenarios' `simgrid` says: "key:value" strings, count of them.
 * False with the fault filled where SimGrid knows no such key or value. */
bool platform_source_configure(const char *const *config, size_t count, struct fault *fault);
/* The platform in the arena by SimGrid's loader, for that reason; to be called once in a process, after
 * platform_source_configure. NULL with the fault filled. */
struct platform *platform_source_simgrid(const struct platform_source *source, const char *why, struct arena *arena,
                                         struct fault *fault);
/* By whichever, with SimGrid's defaults where it needs SimGrid or `simulates` says that its engine will run. */
struct platform *platform_source_load(const struct platform_source *source, bool simulates, struct arena *arena,
                                      struct fault *fault);
/* Calls use(user, path, fault) with the path of a file of the platform: its own, or one that is written for the time
 * of the call. False with the fault filled when that fails, or `use` does. */
bool platform_source_with_file(const struct platform_source *source,
                               bool (*use)(void *user, const char *path, struct fault *fault), void *user,
                               struct fault *fault);

#endif
