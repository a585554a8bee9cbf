/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/simgrid_part.h"

#include "base/paths.h"

#include <dlfcn.h>
#include <string.h>

#define ENTRY "stagesim_simgrid_part"

static const struct simgrid_services services = {
#define SERVICE(name) .to_##name = &(name),
    SIMGRID_SERVICES(SERVICE)
#undef SERVICE
};

simgrid_part_entry *simgrid_part_linked;

/* The entry of the library. It is never closed: SimGrid's threads of control and handlers live in it. */
static simgrid_part_entry *entry_of(const char *path, struct fault *fault)
{
    void *library = path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
    void *symbol = library ? dlsym(library, ENTRY) : NULL;
    if (!symbol) {
        const char *reason = path ? dlerror() : NULL;
        fault_set(fault, "SimGrid's part of stagesim cannot be loaded: %s",
                  reason ? reason : "simgrid.so is neither beside stagesim nor where it was installed");
        return NULL;
    }
    simgrid_part_entry *entry;
    memcpy(&entry, &symbol, sizeof entry); /* C has no cast from void * to a function's address */
    return entry;
}

static const struct simgrid_part *load(struct fault *fault)
{
    struct arena *arena = arena_create();
    simgrid_part_entry *entry =
        simgrid_part_linked ? simgrid_part_linked : entry_of(path_of_part("simgrid.so", arena), fault);
    const struct simgrid_part *part = entry ? entry(&services) : NULL;
    arena_destroy(arena);
    if (part && strcmp(part->version, STAGESIM_VERSION) != 0) {
        fault_set(fault, "SimGrid's part belongs to stagesim %.40s, this is " STAGESIM_VERSION, part->version);
        return NULL;
    }
    return part;
}

const struct simgrid_part *simgrid_part(struct fault *fault)
{
    static const struct simgrid_part *loaded;
    if (!loaded)
        loaded = load(fault);
    return loaded;
}

static bool run(const struct engine_job *job, struct fault *fault)
{
    const struct simgrid_part *part = simgrid_part(fault);
    return part && part->run(job, fault);
}

static const char *weighs(void)
{
    struct fault fault = {""};
    const struct simgrid_part *part = simgrid_part(&fault);
    return part ? part->weighs() : "SimGrid cannot be loaded";
}

const struct engine engine_simgrid = {
    "simgrid", "contention-aware: transfers share links as SimGrid's max-min model says", run, 1e-7, weighs};
