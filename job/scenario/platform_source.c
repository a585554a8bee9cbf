/* SPDX-License-Identifier: Apache-2.0 */
#include "job/scenario/platform_source.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "base/path_near.h"
#include "base/paths.h"
#include "base/quantity.h"
#include "platforms/network/network_read.h"
#include "platforms/presets/presets.h"
#include "platforms/routing.h"
#include "platforms/soundness.h"
#include "simulator/engines/simgrid_part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what is meant ---- */

static bool is_product_file(const char *name, size_t length)
{
    static const char ending[] = ".yaml";
    return length >= sizeof ending && strncmp(name + length - (sizeof ending - 1), ending, sizeof ending - 1) == 0;
}

bool platform_source_is_preset(const char *text, const char *directory, struct arena *arena)
{
    size_t length = strcspn(text, ":");
    return text[length] && (is_product_file(text, length) || !strchr(text, '/')) &&
           access(path_resolve(directory, text, arena), F_OK) != 0;
}

const char *platform_source_product(const char *preset, const char *directory, bool typed, struct arena *arena)
{
    return is_product_file(preset, strlen(preset)) ? path_of_file(directory, preset, typed, arena) : preset;
}

const char *platform_source_rooted(const char *text, const char *directory, struct arena *arena)
{
    size_t length = strcspn(text, ":");
    if (!is_product_file(text, length))
        return text;
    char *whole = realpath(path_of_file(directory, arena_copy_part(arena, text, length), false, arena), NULL);
    const char *rooted = whole ? arena_print(arena, "%s%s", whole, text + length) : text;
    free(whole);
    return rooted;
}

bool platform_source_knows(const char *preset, struct fault *fault)
{
    struct place nobody = {0};
    char *reports = NULL;
    size_t size = 0;
    struct diag diag = {.out = memory_stream_open(&reports, &size)};
    bool known = preset_read(preset, nobody, &diag) || (!diag.errors && preset_find(preset));
    memory_stream_close(diag.out);
    char *text = diag.errors ? strstr(reports, "error: ") : NULL;
    if (text) /* FILE:LINE:COLUMN: and the first mistake */
        fault_set(fault, "%.*s%.*s", (int)(text - reports), reports, (int)strcspn(text + 7, "\n"), text + 7);
    free(reports);
    /* of a name that is none, nothing else is looked at */
    return known || (!fault->text[0] && preset_design(&(struct platform_request){.preset = preset}, NULL, NULL, fault));
}

bool platform_source_is_product(const struct platform_source *source)
{
    return !source->file && is_product_file(source->request.preset, strlen(source->request.preset));
}

const char *platform_source_named(const char *word)
{
    return preset_named(word);
}

bool platform_source_check(const struct platform_source *source, struct fault *fault)
{
    struct arena *arena = arena_create();
    struct design design;
    bool sound = preset_design(&source->request, arena, &design, fault) && design_check(&design, fault);
    arena_destroy(arena);
    return sound;
}

bool platform_source_parse(const char *text, const char *directory, bool typed, struct platform_source *source,
                           struct arena *arena, struct fault *fault)
{
    char *name = arena_copy(arena, text), *nodes = strchr(name, ':'), *nic = nodes ? strchr(nodes + 1, ':') : NULL;
    uint64_t count = 0;
    *source = (struct platform_source){.text = text};
    if (nic)
        *nic++ = '\0';
    if (nodes)
        *nodes++ = '\0';
    const char *preset = platform_source_product(name, directory, typed, arena);
    if (!platform_source_knows(preset, fault))
        return false;
    struct quantity_reason reason;
    if (!nodes || !quantity_count(nodes, &count, &reason) || count < 1 || count > DESIGN_NODES_MAX)
        return fault_set(fault, "'%s' is no count of nodes from 1 to %u; a preset is PRESET:NODES or PRESET:NODES:NIC",
                         nodes ? nodes : "", DESIGN_NODES_MAX);
    source->request = (struct platform_request){.preset = preset, .nodes = (uint32_t)count, .nic = nic};
    return platform_source_check(source, fault);
}

bool platform_source_typed(const char *text, struct platform_source *source, struct arena *arena, struct fault *fault)
{
    if (platform_source_is_preset(text, ".", arena))
        return platform_source_parse(text, ".", true, source, arena, fault);
    *source = (struct platform_source){.text = path_platform(text, arena)};
    source->file = source->text;
    struct fault unreadable = {""};
    if (path_check_platform(source->file, &unreadable))
        return true;
    const char *preset = preset_named(text);
    return preset ? fault_set(fault, "'%s' is a preset, which wants a number of nodes: %s:4", preset, preset)
                  : fault_set(fault, "%s", unreadable.text);
}

/* ---- loading ---- */

struct platform *platform_source_native(const struct platform_source *source, struct arena *arena, const char **why,
                                        struct fault *fault)
{
    *why = "loader: simgrid";
    if (source->loader == LOADER_SIMGRID)
        return NULL;
    struct fault left = {""}; /* what is wrong in a file is said by the way through SimGrid */
    struct platform *platform = source->file ? network_read_file(source->file, arena, why)
                                             : preset_platform(&source->request, source->text, arena, fault);
    bool sound = platform && platform->host_count && platform_sound(platform, arena, source->file ? &left : fault);
    if (platform && !sound)
        *why = "numbers or hosts that make no sense";
    return sound ? routing_platform(platform, &platform->library.routing, arena, fault) : NULL;
}

/* Writes the platform to a file of its own and uses that. */
static bool with_generated(const struct platform_source *source,
                           bool (*use)(void *user, const char *path, struct fault *fault), void *user,
                           struct fault *fault)
{
    char path[] = "/tmp/stagesim-platform-XXXXXX";
    int descriptor = mkstemp(path);
    FILE *out = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (!out)
        return fault_set(fault, "cannot write a file for the platform '%s' in /tmp: %s", source->text, strerror(errno));
    bool written = platform_generate(&source->request, out, fault);
    if (fclose(out) != 0 && written)
        written = fault_set(fault, "cannot write '%s': %s", path, strerror(errno));
    bool used = written && use(user, path, fault);
    unlink(path);
    return used;
}

bool platform_source_with_file(const struct platform_source *source,
                               bool (*use)(void *user, const char *path, struct fault *fault), void *user,
                               struct fault *fault)
{
    return source->file ? use(user, source->file, fault) : with_generated(source, use, user, fault);
}

struct simgrid_load {
    struct arena *arena;
    struct platform *platform;
};

static bool load_file(void *user, const char *path, struct fault *fault)
{
    struct simgrid_load *load = user;
    const struct simgrid_part *part = simgrid_part(fault);
    load->platform = part ? part->load(path, load->arena, fault) : NULL;
    return load->platform != NULL;
}

bool platform_source_configure(const char *const *config, size_t count, struct fault *fault)
{
    const struct simgrid_part *part = simgrid_part(fault);
    return part && part->configure(config, count, fault);
}

struct platform *platform_source_simgrid(const struct platform_source *source, const char *why, struct arena *arena,
                                         struct fault *fault)
{
    struct simgrid_load load = {arena, NULL};
    if (!platform_source_with_file(source, load_file, &load, fault))
        return NULL;
    load.platform->file = source->file ? source->file : source->text;
    load.platform->loader_reason = why;
    return routing_platform(load.platform, &load.platform->library.routing, arena, fault);
}

struct platform *platform_source_load(const struct platform_source *source, bool simulates, struct arena *arena,
                                      struct fault *fault)
{
    const char *why;
    struct platform *platform = platform_source_native(source, arena, &why, fault);
    if (fault->text[0] || ((!platform || simulates) && !platform_source_configure(NULL, 0, fault)))
        return NULL;
    return platform ? platform : platform_source_simgrid(source, why, arena, fault);
}
