/* SPDX-License-Identifier: Apache-2.0 */
#include "job/write/relative.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

/* The absolute path of a directory, also of one that is still to be made; the caller frees it, NULL: there is none. */
static char *absolute_path(const char *path, struct arena *arena)
{
    char *absolute = realpath(path, NULL);
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    const char *own = arena_print(arena, "%.*s", (int)length, path), *slash = strrchr(own, '/');
    if (absolute || slash == own || !*own)
        return absolute;
    char *above = absolute_path(slash ? arena_print(arena, "%.*s", (int)(slash - own), own) : ".", arena);
    if (above) {
        const char *text = arena_print(arena, "%s/%s", above, slash ? slash + 1 : own);
        absolute = memcpy(array_zeroed(strlen(text), 1), text, strlen(text));
    }
    free(above);
    return absolute;
}

const char *path_relative(const char *from, const char *to, struct arena *arena)
{
    char *start = absolute_path(from, arena), *end = realpath(to, NULL);
    const char *path = end ? arena_copy(arena, end) : to;
    if (start && end) {
        size_t common = 0;
        for (size_t i = 0; start[i] == end[i] || (!start[i] && end[i] == '/'); i++) {
            if (end[i] == '/')
                common = i + 1;
            if (!start[i])
                break;
        }
        const char *up = "";
        for (const char *rest = strlen(start) >= common ? start + common : ""; *rest;
             rest = strchr(rest, '/') ? strchr(rest, '/') + 1 : "")
            up = arena_print(arena, "../%s", up);
        if (common > 1)
            path = arena_print(arena, "%s%s", up, end + common);
    }
    free(start);
    free(end);
    return path;
}
