/* SPDX-License-Identifier: Apache-2.0 */
/* Documents: YAML and JSON, those that go on from others, and values that are those of other keys. */
#include "base/arena.h"
#include "base/paths.h"
#include "base/text/ends.h"
#include "frameworks/import/parts.h"
#include "frameworks/readers/text.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEEPEST = 8 };

/* ---- reading ---- */

static const struct document_kind description = {NODE_MAP, TEXT_BYTES_MAX, "the description of a job",
                                                 "one file is one description"};

/* JSON files of DeepSpeed have comments as C has them. */
static void blank_comments(char *text)
{
    bool inside = false;
    for (; *text; text++) {
        if (*text == '\\' && inside && text[1])
            text++;
        else if (*text == '"')
            inside = !inside;
        else if (!inside && text[0] == '/' && text[1] == '/')
            while (*text && *text != '\n')
                *text++ = ' ';
        if (!*text)
            return;
    }
}

struct node *import_parse(struct settings *settings, const char *file, const char *text, size_t size)
{
    char *copy = arena_copy(settings->arena, text);
    if (text[strspn(text, " \t\r\n")] == '{')
        blank_comments(copy);
    return document_parse_kind(&description, file, copy, size, settings->arena, settings->diag);
}

/* ---- what is elsewhere ---- */

/* What a map does not have itself. */
static void take_over(struct node *own, const struct node *above, struct arena *arena)
{
    for (const struct node *child = above->first; child; child = child->next) {
        struct node *mine = (struct node *)(uintptr_t)node_get(own, child->key);
        if (mine && mine->kind == NODE_MAP && child->kind == NODE_MAP) {
            take_over(mine, child, arena);
        } else if (!mine) {
            struct node *copy = node_copy(child, arena);
            copy->next = NULL;
            node_append(own, copy);
        }
    }
}

static bool is_self(const struct node *node)
{
    return node->kind == NODE_SCALAR && !strcmp(node->text, "_self_");
}

/* The file that an entry of `defaults` names: itself, or as Hydra has it, without its ending. NULL: none, such as
 * `_self_` and the choices of a group, which are maps. */
static const char *named_file(const struct node *node, bool listed, struct arena *arena)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    if (node->kind != NODE_SCALAR || !*node->text || is_self(node))
        return NULL;
    if (text_ends_in(node->text, ".yaml") || text_ends_in(node->text, ".yml"))
        return node->text;
    return listed && !node->text[strspn(node->text, letters)] ? arena_print(arena, "%s.yaml", node->text) : NULL;
}

/* A file is read once: what it has is there already where another one names it again, or files name each other. */
struct read_file {
    struct stat identity;
    const struct read_file *before;
};

struct heir {
    struct settings *settings;
    const struct read_file *files;
};

static bool is_file(const char *path, struct stat *identity)
{
    return !stat(path, identity) && S_ISREG(identity->st_mode) && !access(path, R_OK);
}

/* Whether this is the first time. */
static bool read_first(struct heir *h, const struct stat *identity)
{
    for (const struct read_file *file = h->files; file; file = file->before)
        if (file->identity.st_dev == identity->st_dev && file->identity.st_ino == identity->st_ino)
            return false;
    struct read_file *file = arena_alloc(h->settings->arena, sizeof *file);
    *file = (struct read_file){*identity, h->files};
    h->files = file;
    return true;
}

static void inherit(struct heir *h, struct node *root, unsigned depth);

static void inherit_one(struct heir *h, struct node *root, const struct node *name, bool listed, unsigned depth)
{
    struct settings *settings = h->settings;
    struct arena *arena = settings->arena;
    const char *file = named_file(name, listed, arena);
    if (listed && name->kind == NODE_MAP && name->first && name->first->kind == NODE_SCALAR)
        settings_remark(settings, REMARK_PARTIAL, name->at, "defaults",
                        "%s of the group %s is not read; give its values as well", name->first->text, name->first->key);
    if (!file)
        return;
    const char *path = path_resolve(path_directory(root->at.file, arena), file, arena);
    struct stat identity;
    size_t size;
    if (!is_file(path, &identity) || depth == DEEPEST) {
        settings_remark(settings, REMARK_PARTIAL, name->at, "defaults",
                        depth == DEEPEST ? "%s is not read: files go on from each other too often"
                                         : "%s is not read: it is not there; give it as well",
                        file);
        return;
    }
    if (!read_first(h, &identity))
        return;
    const char *text = text_read(path, &size, arena, settings->diag);
    struct node *above = text ? import_parse(settings, path, text, size) : NULL;
    if (!above)
        return;
    inherit(h, above, depth + 1);
    take_over(root, above, arena);
}

/* Of several the last one counts most. */
static void inherit(struct heir *h, struct node *root, unsigned depth)
{
    const struct node *defaults = node_get(root, "defaults");
    if (!defaults)
        return;
    if (defaults->kind != NODE_LIST) {
        inherit_one(h, root, defaults, false, depth);
        return;
    }
    const struct node **entries = arena_array(h->settings->arena, defaults->count + 1, sizeof *entries);
    size_t count = 0;
    for (const struct node *each = defaults->first; each; each = each->next)
        entries[count++] = each;
    const struct read_file *before = h->files;
    while (count--) {
        inherit_one(h, root, entries[count], true, depth);
        if (is_self(entries[count]) && h->files != before)
            settings_remark(h->settings, REMARK_PARTIAL, entries[count]->at, "defaults",
                            "files behind _self_ are to count more than this one: they are taken to count less");
    }
}

/* `${policy.precision}`: the value there. Others, such as `${oc.env:HOME}`, stay. */
static void fill_in(const struct node *root, struct node *node, struct arena *arena)
{
    for (struct node *child = node->first; child; child = child->next)
        fill_in(root, child, arena);
    for (unsigned i = 0; i < DEEPEST && node->kind == NODE_SCALAR && !strncmp(node->text, "${", 2); i++) {
        size_t length = strcspn(node->text, "}:");
        if (strcmp(node->text + length, "}") != 0)
            return;
        const struct node *meant = node_find(root, arena_copy_part(arena, node->text + 2, length - 2));
        if (!meant || meant->kind != NODE_SCALAR)
            return;
        node->text = meant->text;
        node->quoted = meant->quoted;
    }
}

void document_inherit(struct settings *settings, struct node *root)
{
    struct heir heir = {settings, NULL};
    struct stat identity;
    if (is_file(root->at.file, &identity))
        read_first(&heir, &identity);
    inherit(&heir, root, 0);
    fill_in(root, root, settings->arena);
}
