/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
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

void hardware_forget(void)
{
    arena_destroy(memory);
    memory = NULL;
    all_kept = NULL;
}
