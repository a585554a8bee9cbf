/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/import/import.h"

#include "base/arena.h"
#include "base/paths.h"
#include "platforms/import/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* No node's topology comes near it. */
#define FILE_BYTES_MAX (64u << 20)

char *import_load(const char *path, size_t *size, struct arena *arena, struct fault *fault)
{
    struct stat status;
    FILE *in = NULL;
    if (stat(path, &status) != 0)
        fault_set(fault, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(status.st_mode))
        fault_set(fault, "%s: not a regular file", path);
    else if (status.st_size > (off_t)FILE_BYTES_MAX)
        fault_set(fault, "%s: %lld bytes: a node's topology has at most %u", path, (long long)status.st_size,
                  FILE_BYTES_MAX);
    else if (!(in = path_open_read(path)))
        fault_set(fault, "%s: %s", path, strerror(errno));
    if (!in)
        return NULL;
    char *text = arena_alloc(arena, (size_t)status.st_size + 1);
    *size = fread(text, 1, (size_t)status.st_size, in);
    bool failed = ferror(in);
    fclose(in);
    if (failed) {
        fault_set(fault, "%s: cannot be read", path);
        return NULL;
    }
    return text;
}

static bool refuse_version(const char *name, const struct xml_facts *facts, struct fault *fault)
{
    return fault_set(fault,
                     "%s: this is hwloc XML of version %s, which this build of stagesim cannot read (it reads versions "
                     "1 and 2); write it again "
                     "on that machine with: lstopo --of xml --export-xml-flags v2 node.xml",
                     name, facts->version);
}

struct import *import_text(const char *name, const char *text, size_t size, const struct import_options *options,
                           struct arena *arena, struct fault *fault)
{
    struct xml_facts facts = {0};
    struct import *import = import_create("", arena);
    bool read = false;
    bool matrix = size && *text != '<';
    if (matrix && import_is_rocm_topo(text, size, arena))
        read = import_rocm_topo(import, name, text, size, fault);
    else if (matrix && import_is_nvidia_topo(text, size, arena))
        read = import_nvidia_topo(import, name, text, size, options, fault);
    else if (!xml_scan(name, text, size, &facts, fault))
        return NULL;
    else if (strcmp(facts.root, "topology") == 0 && facts.version[0] && strtod(facts.version, NULL) >= 3)
        refuse_version(name, &facts, fault);
    else if (strcmp(facts.root, "topology") == 0)
        read = import_hwloc_text(import, name, text, size, &facts, options, fault);
    else if (strcmp(facts.root, "system") == 0)
        read = import_nccl_text(import, name, text, size, fault);
    else if (strcmp(facts.root, "platform") == 0)
        fault_set(fault, "%s: this is a SimGrid platform already; use it as it is", name);
    else
        fault_set(fault,
                  "%s: the outermost element is <%s>; expected <topology> (hwloc: lstopo --of xml) or <system> (NCCL: "
                  "NCCL_TOPO_DUMP_FILE)",
                  name, facts.root);
    return read && import_build(import, name, options, fault) ? import : NULL;
}

struct import *import_this_machine(const struct import_options *options, struct arena *arena, struct fault *fault)
{
    struct import *import = import_create("hwloc on this machine", arena);
    if (!import_hwloc_here(import, options, fault))
        return NULL;
    if (import->gpu_count == 0) {
        fault_set(fault, "this machine has no GPU that hwloc can see: run 'lstopo --of xml node.xml' on a node that "
                         "has some and import that "
                         "file, or take a product from 'stagesim list presets' with 'stagesim platform generate'");
        return NULL;
    }
    return import_build(import, "this machine", options, fault) ? import : NULL;
}
