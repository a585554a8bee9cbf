/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a script reads: only such as lie below its own folder, or that it wrote itself. */
#include "base/arena.h"
#include "base/paths.h"
#include "frameworks/readers/text.h"
#include "frameworks/shell/parts.h"

#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

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

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool covers(const struct written *file, const char *path)
{
    if (!file->path || !strcmp(file->path, path))
        return true;
    const char *name = file->path + 2;
    if (file->path[0] != '?')
        return false;
    return file->path[1] == '*' ? fnmatch(name, base_of(path), 0) == 0 : !strcmp(name, base_of(path));
}

static const struct written *find_written(struct shell *s, const char *path)
{
    for (const struct written *each = s->state->files; each; each = each->next) {
        shell_spend(s, 1);
        if (covers(each, path))
            return each;
    }
    return NULL;
}

bool shell_may_have_made(struct shell *s, const char *path)
{
    size_t length = strlen(path);
    for (const struct written *each = s->state->files; each; each = each->next) {
        shell_spend(s, 1);
        if (covers(each, path) || (!strncmp(each->path, path, length) && each->path[length] == '/'))
            return true;
    }
    return false;
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

const char *shell_written_path(struct shell *s, const struct cells *word)
{
    uint32_t open;
    const char *path = shell_resolve(s, word), *text = shell_text(s, word, &open), *name = base_of(text);
    bool many = word->count == 1 && word->items[0].c == CELL_OPEN && !word->items[0].quoted;
    if (path)
        return path;
    if (many && !strcmp(s->unknowns[open].name, text + 1) && strpbrk(name, "*?["))
        return arena_print(s->arena, "?*%s", name > text ? name : text + 1);
    if (open && (name == text || strchr(name, '$')))
        return NULL;
    return arena_print(s->arena, "?/%s", name);
}

bool shell_only_reads(struct shell *s, const struct cells *words, size_t count)
{
    static const char *const names[] = {
        "ls",       "wc",    "head", "tail",      "diff",   "cmp",     "stat", "file",     "du",    "df",    "md5sum",
        "sha1sum",  "which", "date", "sha256sum", "sleep",  "cut",     "tr",   "hostname", "mkdir", "chmod", "chown",
        "scontrol", "sinfo", "grep", "egrep",     "squeue", "scancel", "jq",   "uptime",   "less",  "tput",  NULL};
    uint32_t open;
    const char *name = base_of(shell_text(s, &words[0], &open));
    bool edits = strcmp(name, "sed") != 0;
    for (const char *const *each = names; *each; each++)
        if (!strcmp(name, *each))
            return true;
    for (size_t i = 1; i < count && !edits; i++) {
        const char *text = shell_text(s, &words[i], &open);
        edits = text[0] == '-' && strchr(text, 'i');
    }
    return !edits;
}

/* Of --output=FILE and of=FILE what stands behind the sign. */
static struct cells value_of(const struct cells *word)
{
    size_t at = 0;
    while (at < word->count && word->items[at].c != '=')
        at++;
    at = at < word->count ? at + 1 : 0;
    if (!at)
        return *word;
    return (struct cells){word->items + at, word->count - at, word->count - at};
}

/* What is copied into a folder has its own name there. */
static void touch_folder(struct shell *s, const char *folder, const struct cells *words, size_t count)
{
    struct stat info;
    if (folder[0] == '?' || stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
        return;
    for (size_t i = 1; i < count && !s->broken; i++) {
        uint32_t open;
        const char *name = base_of(shell_text(s, &words[i], &open));
        if (*name && name[0] != '-')
            shell_write(s, normal(s, path_resolve(folder, name, s->arena)), NULL, false, false);
    }
}

/* A program in a word, of python -c: it may write each file that it names. */
static void touch_program(struct shell *s, const char *text)
{
    for (const char *at = text; *at && strpbrk(text, " ('\""); at += *at != '\0') {
        size_t length = strcspn(at, " \t\n'\"()[]{},;:=<>|&/\\");
        if (memchr(at, '.', length))
            shell_write(s, arena_print(s->arena, "?/%.*s", (int)length, at), NULL, false, false);
        at += length;
    }
}

void shell_touch(struct shell *s, const struct cells *words, size_t count)
{
    uint32_t open;
    if (shell_only_reads(s, words, count) && strcmp(base_of(shell_text(s, &words[0], &open)), "mkdir") != 0)
        return;
    for (size_t i = 1; i < count && !s->broken; i++) {
        struct cells value = value_of(&words[i]);
        bool option = words[i].items && words[i].items[0].c == '-';
        touch_program(s, shell_text(s, &words[i], &open));
        const char *path = option && value.count == words[i].count ? NULL : shell_written_path(s, &value);
        if (!path)
            continue;
        shell_write(s, path, NULL, false, false);
        touch_folder(s, path, words, count);
    }
}
