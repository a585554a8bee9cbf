/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/cli/words.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/text/names.h"
#include "base/words/paper_size.h"
#include "base/words/shell_word.h"

#include <stdio.h>
#include <string.h>

bool words_find(const char *const *words, size_t count, const char *word, unsigned *index)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0) {
            *index = (unsigned)i;
            return true;
        }
    return false;
}

/* What `stagesim list` lists, in the singular. */
static const char *const listed[] = {"schedule", "workload", "collective", "algorithm", "preset", "model", "framework"};

int words_unknown(const struct command *command, const char *what, const char *word, const char *const *words,
                  size_t count)
{
    const char *nearest = diag_nearest(word, words, count);
    if (nearest)
        return command_usage(command, "'%s' is no %s; did you mean '%s'?", word, what, nearest);
    struct names_text list;
    struct arena *arena = arena_create();
    const char *where = arena_print(arena, "`stagesim %s --help`", command->name);
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++)
        if (!strcmp(listed[i], what))
            where = arena_print(arena, "`stagesim list %ss`", what);
    int code =
        command_usage(command, "'%s' is no %s; expected %s", word, what, names_list(&list, word, words, count, where));
    arena_destroy(arena);
    return code;
}

int format_read(const struct command *command, const char *text, const char *const *names, size_t count,
                unsigned *format)
{
    return words_find(names, count, text, format) ? 0 : words_unknown(command, "format", text, names, count);
}

/* The ending of a file's own name, with its dot; NULL: none. */
static const char *ending_of(const char *file)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    return file ? strrchr(slash ? slash : file, '.') : NULL;
}

/* What files of a format end in. */
static const char *ending_of_format(const char *name)
{
    return strcmp(name, "latex") == 0 ? "tex" : strcmp(name, "markdown") == 0 ? "md" : name;
}

bool format_of_ending(const char *const *names, size_t count, const char *ending, unsigned *format)
{
    for (*format = 0; *format < count; (*format)++)
        if (strcmp(ending_of_format(names[*format]), ending) == 0)
            return true;
    return false;
}

int format_of_file(const struct command *command, const char *file, const char *const *names, size_t count,
                   unsigned *format)
{
    const char *dot = ending_of(file);
    *format = 0;
    if (!dot || strcmp(dot, ".txt") == 0 || format_of_ending(names, count, dot + 1, format))
        return 0;
    struct names_text list;
    struct arena *arena = arena_create();
    const char **endings = arena_array(arena, count, sizeof *endings);
    endings[0] = ".txt";
    for (size_t i = 1; i < count; i++)
        endings[i] = arena_print(arena, ".%s", ending_of_format(names[i]));
    const char *where = arena_print(arena, "`stagesim %s --help`", command->name);
    int code = command_usage(command, "'%s': no format has the ending %s; expected %s, or --format", file, dot,
                             names_list(&list, dot, endings, count, where));
    arena_destroy(arena);
    return code;
}

int form_read(const struct command *command, const char *width, const char *font_size, struct picture_form *form)
{
    struct paper_size size;
    struct paper_mistake mistake;
    if (!paper_size_read(width, font_size, &size, &mistake))
        return command_usage(command, "%s: %s", mistake.font ? "--font-size" : "--picture-width", mistake.text);
    form->width = size.width;
    form->font_size = size.font_size;
    return 0;
}

struct words_typed words_typed(int argc, char *const *argv, struct arena *arena)
{
    char **words = arena_array(arena, (size_t)argc, sizeof *words);
    memcpy(words, argv, (size_t)argc * sizeof *words);
    return (struct words_typed){argc, words};
}

static bool is_skipped(const char *word, char *const *skipped, int count)
{
    while (count-- > 0)
        if (skipped[count] == word)
            return true;
    return !strcmp(word, "--quiet") || !strcmp(word, "--resume") || !strcmp(word, "--merge");
}

const char *words_command(const struct command *command, const struct words_typed *typed, char *const *skipped,
                          int skipped_count, struct arena *arena)
{
    const char *text = arena_print(arena, "stagesim %s", command->name);
    for (int i = 1; i < typed->count; i++) {
        const char *word = typed->words[i];
        if (!strcmp(word, "-o") || !strcmp(word, "--output"))
            i++;
        else if (strncmp(word, "-o", 2) != 0 && strncmp(word, "--output=", 9) != 0 &&
                 !is_skipped(word, skipped, skipped_count))
            text = arena_print(arena, "%s %s", text, shell_word(word, arena));
    }
    return text;
}

const char *words_yaml(const char *text, struct arena *arena)
{
    char *out = arena_array(arena, 2 * strlen(text) + 3, 1), *at = out;
    *at++ = '"';
    for (; *text; *at++ = *text++)
        if (*text == '"' || *text == '\\')
            *at++ = '\\';
    memcpy(at, "\"", 2);
    return out;
}
