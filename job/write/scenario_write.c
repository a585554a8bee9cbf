/* SPDX-License-Identifier: Apache-2.0 */
#include "job/write/scenario_write.h"

#include "base/arena.h"
#include "base/document.h"
#include "base/json_writer.h"
#include "base/paths.h"
#include "job/scenario/scenario_tables.h"
#include "job/write/relative.h"

#include <string.h>
#include <unistd.h>

struct writing {
    FILE *out;
    const struct scenario *scenario;
    const char *directory;
    struct arena *arena;
    bool effective; /* without keys that would be refused because they change nothing */
};

/* A path seen from where its node was written, as it is seen from the new place; names that are no file there stay. */
static const char *moved_path(const struct writing *writing, const struct node *node)
{
    struct arena *arena = writing->arena;
    const char *directory = node->at.line ? path_directory(node->at.file, arena) : writing->scenario->directory;
    const char *path = path_resolve(directory, node->text, arena);
    return access(path, F_OK) == 0 ? path_relative(writing->directory, path, arena) : node->text;
}

/* Whether a key of a section holds the name of a file. What is no job has the keys of many: whatever looks like one. */
static bool is_path(const struct scenario *scenario, const char *section, const char *key, const char *text)
{
    if (scenario->kind)
        return strpbrk(text, "./") != NULL;
    if (!section)
        return !strcmp(key, "platform") || !strcmp(key, "workload");
    if (!strcmp(section, "schedule") || !strcmp(section, "platform"))
        return !strcmp(key, "file");
    if (!strcmp(section, power_section.name))
        return !strcmp(key, "table") || !strcmp(key, "carbon");
    if (!strcmp(key, "samples") || !strcmp(key, "components") || !strcmp(key, "trace"))
        return !strcmp(section, tails_section.name) || !strcmp(section, failures_section.name) ||
               !strcmp(section, checkpoint_section.name) || !strcmp(section, training_section.name);
    bool own = !strcmp(section, scenario->workload->name);
    size_t length = strlen(section);
    for (const struct stagesim_field *field = scenario->workload->fields; field && field->key; field++) {
        bool in_section = !strncmp(field->key, section, length) && field->key[length] == '.';
        const char *name = in_section ? field->key + length + 1 : own && !strchr(field->key, '.') ? field->key : NULL;
        if (name && !strcmp(name, key))
            return field->type == STAGESIM_FIELD_PATH;
    }
    return false;
}

/* ---- values ---- */

/* Words and numbers need no quotes. */
void scenario_write_text(FILE *out, const char *text, bool quoted)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";
    if (!quoted && text[strspn(text, plain)] == '\0' && *text != '-')
        fputs(text, out);
    else
        json_escape(out, text);
}

static bool is_left_out(const struct writing *writing, const char *section, const struct node *key)
{
    const char *path = section && key->key ? arena_print(writing->arena, "%s.%s", section, key->key) : NULL;
    const struct scenario_unmet *unmet =
        writing->effective && path ? scenario_unmet_find(writing->scenario, path) : NULL;
    return unmet && unmet->refused;
}

static void write_flow(const struct writing *writing, const char *section, const struct node *node)
{
    if (node->kind == NODE_SCALAR) {
        bool path = node->key && is_path(writing->scenario, section, node->key, node->text);
        scenario_write_text(writing->out, path ? moved_path(writing, node) : node->text, node->quoted);
        return;
    }
    bool map = node->kind == NODE_MAP;
    const char *between = "";
    putc(map ? '{' : '[', writing->out);
    for (const struct node *child = node->first; child; child = child->next) {
        if (map && is_left_out(writing, section, child))
            continue;
        fputs(between, writing->out);
        between = ", ";
        if (map) {
            scenario_write_text(writing->out, child->key, false);
            fputs(": ", writing->out);
        }
        write_flow(writing, section, child);
    }
    putc(map ? '}' : ']', writing->out);
}

/* Sections of more than a few keys have a line for each. */
static void write_section(const struct writing *writing, const struct node *node)
{
    enum { KEYS_ON_A_LINE = 6 };
    if (node->kind != NODE_MAP || node->count <= KEYS_ON_A_LINE) {
        putc(' ', writing->out);
        write_flow(writing, node->kind == NODE_MAP ? node->key : NULL, node);
        putc('\n', writing->out);
        return;
    }
    putc('\n', writing->out);
    for (const struct node *child = node->first; child; child = child->next) {
        if (is_left_out(writing, node->key, child))
            continue;
        fputs("  ", writing->out);
        scenario_write_text(writing->out, child->key, false);
        fputs(": ", writing->out);
        write_flow(writing, node->key, child);
        putc('\n', writing->out);
    }
}

void scenario_write(FILE *out, const struct scenario *scenario, const char *directory, bool effective)
{
    struct writing writing = {out, scenario, directory, arena_create(), effective};
    for (const struct node *node = scenario->root->first; node; node = node->next) {
        static const char *const studied[] = {"search", "plan", "prices", "inputs"};
        bool left_out = false;
        for (size_t i = 0; i < sizeof studied / sizeof *studied; i++)
            left_out |= !strcmp(node->key, studied[i]);
        if (left_out)
            continue;
        scenario_write_text(out, node->key, false);
        putc(':', out);
        write_section(&writing, node);
    }
    arena_destroy(writing.arena);
}
