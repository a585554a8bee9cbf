/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/cli/words.h"

#include "base/diagnostics.h"

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

int words_unknown(const struct command *command, const char *what, const char *word, const char *const *words,
                  size_t count)
{
    const char *nearest = diag_nearest(word, words, count);
    if (nearest)
        return command_usage(command, "'%s' is no %s; did you mean '%s'?", word, what, nearest);
    char known[512] = "none";
    for (size_t i = 0, used = 0; i < count && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", words[i]);
    return command_usage(command, "'%s' is no %s; known are %s", word, what, known);
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

int format_of_file(const struct command *command, const char *file, const char *const *names, size_t count,
                   unsigned *format)
{
    const char *dot = ending_of(file);
    *format = 0;
    if (!dot || strcmp(dot, ".txt") == 0 || words_find(names, count, dot + 1, format))
        return 0;
    char known[128] = "";
    for (size_t i = 1, used = 0; i < count && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s.%s", i + 1 < count ? ", " : " and ", names[i]);
    return command_usage(command, "'%s': no format has the ending %s; known are .txt%s; or give --format", file, dot,
                         known);
}
