/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a script reads: only such as lie below its own folder, or that it wrote itself. */
#include "base/arena.h"
#include "base/paths.h"
#include "frameworks/readers/text.h"
#include "frameworks/shell/parts.h"

#include <string.h>

/* Without "./" and the steps that ".." takes back. */
static const char *normal(struct shell *s, const char *path)
{
    char *out = arena_alloc(s->arena, strlen(path) + 2);
    size_t length = 0;
    if (path[0] == '/')
        out[length++] = '/';
    while (*path) {
        size_t part = strcspn(path, "/");
        bool up = part == 2 && !strncmp(path, "..", 2), stay = !part || (part == 1 && path[0] == '.');
        char *slash = length ? strrchr(out, '/') : NULL;
        const char *last = slash ? slash + 1 : out;
        if (up && length && *last && strcmp(last, "..") != 0) {
            length = slash ? (size_t)(slash - out) + (slash == out) : 0;
            out[length] = '\0';
        } else if (!stay) {
            if (length && out[length - 1] != '/')
                out[length++] = '/';
            memcpy(out + length, path, part);
            length += part;
            out[length] = '\0';
        }
        path += part;
        path += strspn(path, "/");
    }
    return length ? out : ".";
}

const char *shell_resolve(struct shell *s, const struct cells *word)
{
    const char *path = shell_path(s, word);
    uint32_t open;
    shell_text(s, word, &open);
    const char *folder = path_directory(s->sources[0].file, s->arena);
    if (!path || !*path || (path[0] == '/' && !open))
        return NULL;
    bool placed = open && word->items[0].c == CELL_OPEN; /* it begins with the place of the script */
    if (!placed && !s->state->folder)
        return NULL;
    path = normal(s, placed ? path : path_resolve(s->state->folder, path, s->arena));
    folder = normal(s, folder);
    size_t length = strlen(folder);
    bool below = !strcmp(folder, ".") ? path[0] != '/' : !strncmp(path, folder, length) && strchr("/", path[length]);
    return below || !strncmp(path, "../", 3) || !strncmp(folder, "../", 3) ? path : NULL;
}

/* Of a file that begins with ? the folder is not known. */
static const struct written *find_written(struct shell *s, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (const struct written *each = s->state->files; each; each = each->next) {
        shell_spend(s, 1);
        if (!each->path || !strcmp(each->path, path) || (each->path[0] == '?' && !strcmp(each->path + 2, name)))
            return each;
    }
    return NULL;
}

const struct cells *shell_file(struct shell *s, const char *path, bool *there, const char **why)
{
    const struct written *written = find_written(s, path);
    struct fault fault = {""};
    size_t size;
    *there = false;
    if (written && !written->known) {
        *why = "the script may have written it";
        return NULL;
    }
    *there = true;
    if (written)
        return &written->text;
    *there = false;
    *why = "it is not there";
    if (!path_check_readable(path, &fault))
        return NULL;
    const char *text = text_read(path, &size, s->arena, s->diag);
    if (!text) {
        s->broken = true;
        return NULL;
    }
    if (memchr(text, CELL_OPEN, size) || memchr(text, CELL_BREAK, size) || memchr(text, CELL_EMPTY, size)) {
        *why = "it has characters that are no text";
        return NULL;
    }
    *there = true;
    uint16_t source = shell_add_source(s, path, text, size, NULL);
    struct cells *cells = arena_alloc(s->arena, sizeof *cells);
    for (size_t i = 0; i < size; i++)
        shell_add(s, cells, (struct cell){(uint32_t)i, source, text[i], false});
    return cells;
}

void shell_write(struct shell *s, const char *path, const struct cells *text, bool known, bool more)
{
    struct written *file = arena_alloc(s->arena, sizeof *file);
    const struct written *old = path && more ? find_written(s, path) : NULL;
    *file = (struct written){path, {0}, known && path && path[0] != '?', s->state->files};
    struct fault fault = {""};
    if (more && path && !old && path_check_readable(path, &fault))
        file->known = false;
    if (old)
        file->known &= old->known;
    if (old && file->known)
        shell_add_cells(s, &file->text, &old->text);
    if (text && file->known)
        shell_add_cells(s, &file->text, text);
    s->state->files = file;
}

void shell_touch(struct shell *s, const struct cells *words, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint32_t open;
        const char *text = shell_text(s, &words[i], &open), *path = shell_resolve(s, &words[i]);
        if (path && text[0] != '-' && (strstr(text, ".sh") || strstr(text, "env")))
            shell_write(s, path, NULL, false, false);
    }
}
