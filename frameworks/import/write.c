/* SPDX-License-Identifier: Apache-2.0 */
/* A scenario with the origin of every line. */
#include "base/arena.h"
#include "frameworks/import/formats.h"
#include "frameworks/import/parts.h"
#include "frameworks/models/huggingface.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { COMMENT_COLUMN = 34 };

static const char *const sections[] = {"model",       "parallel",      "order",   "batch",           "schedule",
                                       "transformer", "communication", "compute", "tensor_parallel", "memory",
                                       NULL};

/* ---- comments ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "--num-layers (gpt3.sh:26)" */
static const char *origin(const struct setting *setting, struct arena *arena)
{
    const struct source *from = &setting->from;
    const char *place =
        from->at.file && from->at.line ? arena_print(arena, " (%s:%u)", base_name(from->at.file), from->at.line) : "";
    switch (from->origin) {
    case SETTING_ASSUMED:
        return arena_print(arena, "assumed: %s", from->text);
    case SETTING_DEFAULT:
        return arena_print(arena, "default: %s", from->text);
    default:
        return arena_print(arena, "%s%s", from->text, place);
    }
}

/* One line, whatever is in it: bytes that are no text of a line are shown as \\xNN. */
static const char *cleaned(const char *text, struct arena *arena)
{
    char *shown = arena_alloc(arena, 4 * strlen(text) + 1);
    size_t length = 0;
    for (const char *at = text; *at; at++)
        length += (size_t)sprintf(shown + length, strchr("\n\t\r", *at) ? "\\x%02x" : "%c", (unsigned char)*at);
    shown[length] = '\0';
    diag_clean(shown, 4 * strlen(text) + 1);
    return shown;
}

static void comment(FILE *out, const char *indent, const char *text, struct arena *arena)
{
    fprintf(out, "#%s%s\n", indent, cleaned(text, arena));
}

static const char *place_of(const struct remark *remark, struct arena *arena)
{
    if (!remark->at.file || !remark->at.line)
        return "";
    return arena_print(arena, " (%s:%u)", base_name(remark->at.file), remark->at.line);
}

static void write_remarks(const struct import *import, enum remark_kind kind, const char *title, unsigned most,
                          FILE *out)
{
    struct arena *arena = import->settings.arena;
    unsigned count = settings_remarks(&import->settings, kind), shown = 0;
    if (!count)
        return;
    fprintf(out, "#\n");
    comment(out, " ", title, arena);
    for (const struct remark *each = import->settings.remarks; each && shown < most; each = each->next)
        if (each->kind == kind) {
            comment(out, "   ", arena_print(arena, "%s%s: %s", each->name, place_of(each, arena), each->text), arena);
            shown++;
        }
    if (count > shown)
        fprintf(out, "#   and %u more\n", count - shown);
}

static void write_head(const struct import *import, FILE *out)
{
    struct arena *arena = import->settings.arena;
    comment(out, " ", arena_print(arena, "Written by stagesim import from %s.", import->title), arena);
    if (import->parameters > 0)
        fprintf(out, "# The model has %.0f parameters.\n", import->parameters);
    write_remarks(import, REMARK_MISSING, "Missing: no file says", ~0U, out);
    write_remarks(import, REMARK_CHOICE, "Where files differ, or something had to be chosen:", ~0U, out);
    fputs("#\n# What no key says stands at the end, in `imported`, and every command says it.\n", out);
    if (import->settings.ignored)
        fprintf(
            out,
            "#\n# Left out: %u keys that change neither time nor memory, such as names, paths, logging and rates.\n",
            import->settings.ignored);
    fputs("\n", out);
}

/* ---- values ---- */

const char *import_quoted(const char *value, struct arena *arena)
{
    bool plain = *value != '\0' && !strchr("-?:[]{},#&*!|>'\"%@` ", *value);
    for (const char *at = value; *at; at++)
        plain &= isalnum((unsigned char)*at) || strchr("_./:+-~", *at) != NULL;
    bool list = value[0] == '[' && !strpbrk(value, "\"'#\n");
    if ((plain && value[strlen(value) - 1] != ':') || list)
        return value;
    const char *text = "";
    for (const char *at = cleaned(value, arena); *at; at++)
        text = arena_print(arena, *at == '\'' ? "%s''" : "%s%c", text, *at);
    return arena_print(arena, "'%s'", text);
}

static void write_line(const struct setting *setting, const char *key, const char *indent, struct arena *arena,
                       FILE *out)
{
    int width = fprintf(out, "%s%s: %s", indent, key, import_quoted(setting->value, arena));
    fprintf(out, "%*s", width < COMMENT_COLUMN ? COMMENT_COLUMN - width : 2, "");
    comment(out, " ", origin(setting, arena), arena);
}

static bool is_in(const struct setting *setting, const char *section)
{
    size_t length = strlen(section);
    return !strncmp(setting->key, section, length) && setting->key[length] == '.';
}

/* What is missing of a section stands in it as a comment. */
static void write_missing(const struct import *import, const char *section, bool *open, FILE *out)
{
    size_t length = strlen(section);
    for (const struct remark *each = import->settings.remarks; each; each = each->next)
        if (each->kind == REMARK_MISSING && !strncmp(each->name, section, length) && each->name[length] == '.') {
            if (!*open)
                fprintf(out, "# %s:\n", section);
            *open = true;
            fprintf(out, "  # %s: missing\n", each->name + length + 1);
        }
}

static void write_section(const struct import *import, const char *section, FILE *out)
{
    struct arena *arena = import->settings.arena;
    bool open = false;
    for (const struct setting *each = import->settings.first; each; each = each->next) {
        if (!strcmp(each->key, section))
            write_line(each, section, "", arena, out);
        if (!is_in(each, section))
            continue;
        if (!open)
            fprintf(out, "%s:\n", section);
        open = true;
        write_line(each, each->key + strlen(section) + 1, "  ", arena, out);
    }
    write_missing(import, section, &open, out);
}

static bool is_known(const struct import *import, const struct setting *setting)
{
    static const char *const of_rl[] = {"generation", "rl", NULL};
    for (const char *const *section = of_rl; *section; section++)
        if (import_is_rl(import) && is_in(setting, *section))
            return true;
    for (const char *const *section = sections; *section; section++)
        if (is_in(setting, *section) || !strcmp(setting->key, *section))
            return true;
    return setting->key[0] == '@';
}

/* Keys of --set that stand in no section of these: as they were given, dots and all. */
static void write_rest(const struct import *import, FILE *out)
{
    for (const struct setting *each = import->settings.first; each; each = each->next)
        if (!is_known(import, each) && !strchr(each->key, '.'))
            write_line(each, each->key, "", import->settings.arena, out);
    for (const struct setting *each = import->settings.first; each; each = each->next) {
        const char *dot = strchr(each->key, '.');
        if (is_known(import, each) || !dot)
            continue;
        bool first = true;
        const char *section = arena_print(import->settings.arena, "%.*s", (int)(dot - each->key), each->key);
        for (const struct setting *before = import->settings.first; before != each; before = before->next)
            first &= !is_in(before, section);
        if (first)
            write_section(import, section, out);
    }
}

/* ---- what no key says ---- */

/* In quotes always: no text is taken for a list. */
static void write_entry(const char *text, struct arena *arena, FILE *out)
{
    fputs("    - '", out);
    for (const char *at = cleaned(text, arena); *at; at++) {
        if (*at == '\'')
            putc('\'', out);
        putc(*at, out);
    }
    fputs("'\n", out);
}

static void write_entries(const struct import *import, const char *key, enum remark_kind kind, FILE *out)
{
    struct arena *arena = import->settings.arena;
    if (settings_remarks(&import->settings, kind))
        fprintf(out, "  %s:\n", key);
    for (const struct remark *each = import->settings.remarks; each; each = each->next)
        if (each->kind == kind)
            write_entry(arena_print(arena, "%s%s%s: %s", *each->name == '[' ? "key " : "", each->name,
                                    place_of(each, arena), each->text),
                        arena, out);
}

/* What is the same whatever is assumed: of the framework all else says more. */
static bool is_assumption(const struct import *import, const struct setting *setting)
{
    bool moot =
        !strcmp(setting->key, "workload") || !strcmp(setting->key, "framework") ||
        (!strcmp(setting->key, "schedule.name") && settings_count(&import->settings, "parallel.pipeline", 1) <= 1);
    return setting->from.origin == SETTING_ASSUMED && setting->key[0] != '@' && !moot;
}

/* Choices, and values that stagesim put where no file says. */
static void write_assumed(const struct import *import, FILE *out)
{
    struct arena *arena = import->settings.arena;
    unsigned choices = settings_remarks(&import->settings, REMARK_CHOICE);
    write_entries(import, "assumed", REMARK_CHOICE, out);
    for (const struct setting *each = import->settings.first; each; each = each->next) {
        if (!is_assumption(import, each))
            continue;
        if (!choices++)
            fputs("  assumed:\n", out);
        write_entry(arena_print(arena, "%s: %s, %s", each->key, each->value, each->from.text), arena, out);
    }
}

static void write_imported(const struct import *import, FILE *out)
{
    struct arena *arena = import->settings.arena;
    fprintf(out, "imported:\n  from: %s\n", import_quoted(import->title, arena));
    write_entries(import, "not_modelled", REMARK_PARTIAL, out);
    write_entries(import, "not_known", REMARK_UNKNOWN, out);
    write_assumed(import, out);
}

/* What a job has at the top level stands in the section `trainer`. */
static void write_rl(const struct import *import, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *trainer = open_memstream(&text, &size);
    for (const char *const *section = sections + 1; trainer && *section; section++)
        write_section(import, *section, trainer);
    if (trainer)
        fclose(trainer);
    write_section(import, "model", out);
    write_section(import, "generation", out);
    fputs("trainer:\n", out);
    for (char *line = text, *end; line && (end = strchr(line, '\n')); line = end + 1)
        fprintf(out, "  %.*s\n", (int)(end - line), line);
    write_section(import, "rl", out);
    free(text);
}

void import_write(const struct import *import, FILE *out)
{
    write_head(import, out);
    if (!settings_find(&import->settings, "platform"))
        fputs("# platform: missing\n", out);
    write_rest(import, out);
    if (import_is_rl(import))
        write_rl(import, out);
    else
        for (const char *const *section = sections; *section; section++)
            write_section(import, *section, out);
    write_imported(import, out);
}

/* ---- the terminal ---- */

static void tell_remarks(const struct import *import, enum remark_kind kind, const char *label, unsigned most,
                         FILE *out)
{
    unsigned shown = 0, count = settings_remarks(&import->settings, kind);
    for (const struct remark *each = import->settings.remarks; each && shown < most; each = each->next)
        if (each->kind == kind) {
            diag_print(out, "%-12s %s%s: %s\n", label, each->name, place_of(each, import->settings.arena), each->text);
            shown++;
        }
    if (count > shown)
        fprintf(out, "%-12s %u more, in the scenario\n", label, count - shown);
}

void import_tell(const struct import *import, FILE *out)
{
    diag_print(out, "%-12s %s\n", "read", import->title);
    if (import->parameters > 0)
        fprintf(out, "%-12s %.0f\n", "parameters", import->parameters);
    tell_remarks(import, REMARK_MISSING, "missing", ~0U, out);
    tell_remarks(import, REMARK_CHOICE, "chosen", 8, out);
    tell_remarks(import, REMARK_PARTIAL, "not modelled", 8, out);
    tell_remarks(import, REMARK_UNKNOWN, "not known", 4, out);
    if (import->settings.ignored)
        fprintf(out, "%-12s %u keys that change neither time nor memory\n", "left out", import->settings.ignored);
}

/* ---- the documentation ---- */

static void print_row(FILE *out, const char *title, const char *const *keys)
{
    fprintf(out, "| %s |", title);
    for (; *keys; keys++)
        fprintf(out, " `%s`", *keys);
    fputs(" |\n", out);
}

void import_print_ignored(FILE *out)
{
    fputs("| file | keys |\n|---|---|\n| Megatron-LM |", out);
    for (const struct megatron_option *each = megatron_options; each->name; each++)
        if (each->role == OPTION_IGNORED)
            fprintf(out, " `%s`", each->name);
    fputs(" |\n", out);
    print_row(out, "NeMo, below `model`", nemo_ignored);
    print_row(out, "NeMo, Megatron-Bridge", nemo_sections_ignored);
    print_row(out, "torchtitan", torchtitan_ignored);
    print_row(out, "DeepSpeed", deepspeed_ignored);
    print_row(out, "accelerate", accelerate_ignored);
    print_row(out, "Hugging Face", huggingface_ignored);
    for (const struct format *const *format = formats; *format; format++)
        if ((*format)->ignored)
            print_row(out, (*format)->name, (*format)->ignored);
}
