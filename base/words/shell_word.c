/* SPDX-License-Identifier: Apache-2.0 */
#include "base/words/shell_word.h"

#include "base/arena.h"

#include <string.h>

const char *shell_word(const char *word, struct arena *arena)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    if (*word && strspn(word, plain) == strlen(word))
        return word;
    const char *text = "'", *quote;
    for (; (quote = strchr(word, '\'')); word = quote + 1)
        text = arena_print(arena, "%s%.*s'\\''", text, (int)(quote - word), word);
    return arena_print(arena, "%s%s'", text, word);
}
