/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/hardware/hardware_files.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "base/paths.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const folders[HARDWARE_KINDS] = {"products",  "devices",  "wires", "cards",
                                                    "libraries", "networks", "links"};
/* Places in embedded files begin with it. */
static const char built_in[] = "(stagesim)/";

static const struct document_kind yaml_file = {NODE_MAP, DOCUMENT_BYTES_MAX, "lines such as 'kind: product'",
                                               "one file is one product"};

bool hardware_is_own(struct place at)
{
    return at.file && strncmp(at.file, built_in, sizeof built_in - 1) == 0;
}

static const struct hardware_text *find_embedded(enum hardware kind, const char *name)
{
    for (size_t i = 0; i < hardware_text_count; i++)
        if (strcmp(hardware_texts[i].folder, folders[kind]) == 0 && strcmp(hardware_texts[i].name, name) == 0)
            return &hardware_texts[i];
    return NULL;
}

/* NAME.yaml beside a user's file, or in a directory of $STAGESIM_PLATFORMS; NULL: there is none. */
static const char *find_user(const char *name, struct place at)
{
    struct arena *arena = hardware_arena();
    if (!*name || strchr(name, '/'))
        return NULL;
    if (at.file && at.line && !hardware_is_own(at)) {
        const char *beside = path_resolve(path_directory(at.file, arena), arena_print(arena, "%s.yaml", name), arena);
        if (access(beside, F_OK) == 0)
            return beside;
    }
    return getenv("STAGESIM_PLATFORMS") ? path_find_installed(INSTALLED_PLATFORMS, name, ".yaml", arena) : NULL;
}

struct node *hardware_load_file(const char *path, struct place at, struct diag *diag)
{
    hardware_note_file(path);
    return document_load_kind(&yaml_file, path, at, hardware_arena(), diag);
}

static struct node *load_text(const char *name, const char *text, size_t size, struct diag *diag)
{
    return document_parse_kind(&yaml_file, name, text, size, hardware_arena(), diag);
}

struct node *hardware_load(enum hardware kind, const char *name, struct place at, bool *known, struct diag *diag)
{
    const char *path = find_user(name, at);
    const struct hardware_text *own = path ? NULL : find_embedded(kind, name);
    *known = path || own;
    if (path)
        return hardware_load_file(path, at, diag);
    if (!own)
        return NULL;
    const char *place = arena_print(hardware_arena(), "%s%s/%s.yaml", built_in, folders[kind], name);
    struct node *map = load_text(place, own->text, own->size, diag);
    if (!map) /* tests have read each of them: nothing else can be wrong */
        die_of_memory(own->size);
    return map;
}

bool hardware_has(enum hardware kind, const char *name)
{
    return find_embedded(kind, name) || find_user(name, (struct place){0});
}

/* Whether a file of $STAGESIM_PLATFORMS says that it is of the kind: other files may lie there, too. */
static bool is_of_kind(const char *name, enum hardware kind)
{
    struct diag silent = {0};
    const char *path = path_find_installed(INSTALLED_PLATFORMS, name, ".yaml", hardware_arena());
    const struct node *map = path ? hardware_load_file(path, (struct place){0}, &silent) : NULL;
    const struct node *said = node_get(map, "kind");
    if (!said || said->kind != NODE_SCALAR)
        return false;
    size_t length = strlen(said->text);
    return strncmp(said->text, folders[kind], length) == 0 ||
           (kind == HARDWARE_LIBRARY && strcmp(said->text, "library") == 0);
}

const char *const *hardware_names(enum hardware kind, size_t *count)
{
    struct arena *arena = hardware_arena();
    size_t own = 0, users = 0;
    const char **files = NULL;
    if (getenv("STAGESIM_PLATFORMS"))
        files = path_list_installed(INSTALLED_PLATFORMS, ".yaml", &users, arena, NULL);
    const char **names = arena_array(arena, hardware_text_count + users + 1, sizeof *names);
    for (size_t i = 0; i < hardware_text_count; i++)
        if (strcmp(hardware_texts[i].folder, folders[kind]) == 0)
            names[own++] = hardware_texts[i].name;
    *count = own;
    for (size_t i = 0; i < users; i++)
        if (!find_embedded(kind, files[i]) && is_of_kind(files[i], kind))
            names[(*count)++] = files[i];
    return names;
}
