/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/bulk.h"
#include "platforms/hardware/hardware.h"

#include <string.h>

/* One process reads each file once: what it made of them is here. */
struct kept {
    enum hardware kind;
    const char *name;
    const void *made;
    struct kept *next;
};
static struct kept *all_kept;
static struct arena *memory;

/* What hardware_users_files tells; grows as files are read. */
static const char **users_files;
static size_t users_count, users_capacity;

struct arena *hardware_arena(void)
{
    if (!memory)
        memory = arena_create();
    return memory;
}

const void *hardware_kept(enum hardware kind, const char *name)
{
    for (const struct kept *kept = all_kept; kept; kept = kept->next)
        if (kept->kind == kind && strcmp(kept->name, name) == 0)
            return kept->made;
    return NULL;
}

void hardware_keep(enum hardware kind, const char *name, const void *made)
{
    struct kept *kept = arena_alloc(hardware_arena(), sizeof *kept);
    *kept = (struct kept){kind, arena_copy(hardware_arena(), name), made, all_kept};
    all_kept = kept;
}

void hardware_note_file(const char *path)
{
    users_files = array_grow(users_files, &users_capacity, users_count + 1, sizeof *users_files);
    users_files[users_count++] = arena_copy(hardware_arena(), path);
}

const char *const *hardware_users_files(size_t *count)
{
    *count = users_count;
    return users_files;
}

void hardware_forget(void)
{
    arena_destroy(memory);
    memory = NULL;
    all_kept = NULL;
    users_count = 0;
}
