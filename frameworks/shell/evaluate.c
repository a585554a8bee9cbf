/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic with what becomes of a script where it is not known, or wrong. */
#include "base/arena.h"
#include "frameworks/shell/parts.h"

#include <ctype.h>
#include <string.h>

/* Every name in an expression that could not be followed, where it assigns any. */
static void forget(struct shell *s, const char *text, uint32_t open, uint16_t source, size_t place)
{
    bool assigns = strstr(text, "++") || strstr(text, "--");
    for (const char *at = strchr(text, '='); at && !assigns; at = strchr(at + 1, '=')) {
        if (at[1] == '=')
            at++;
        else
            assigns = at == text || !strchr("!<>", at[-1]) || (at - text > 1 && at[-1] == at[-2]);
    }
    uint32_t why = open ? open : shell_unknown(s, "(( ))", "arithmetic that is not understood", source, place);
    for (const char *at = text; assigns && *at; at++) {
        size_t length = at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_') ? 0 : shell_name_length(at);
        if (length)
            shell_set_unknown(s, arena_copy_part(s->arena, at, length), why);
    }
}

enum arithmetic shell_arithmetic(struct shell *s, const char *text, int64_t *value, uint32_t *open, uint16_t source,
                                 size_t at)
{
    enum arithmetic state = shell_compute(s, text, value, open, source, at);
    if (state != ARITHMETIC_KNOWN && !s->broken)
        forget(s, text, *open, source, at);
    return state;
}

/* Whether letters stand beside what is not known, so that it may be no number. */
static bool joins_letters(const struct cells *cells)
{
    for (size_t i = 0; i + 1 < cells->count; i++) {
        char a = cells->items[i].c, b = cells->items[i + 1].c;
        if ((a == CELL_OPEN) != (b == CELL_OPEN) && strchr("_=.", a == CELL_OPEN ? b : a))
            return true;
        if ((a == CELL_OPEN) != (b == CELL_OPEN) && isalpha((unsigned char)(a == CELL_OPEN ? b : a)))
            return true;
    }
    return false;
}

bool shell_evaluate(struct shell *s, const struct cells *cells, int64_t *value, uint32_t *open, uint16_t source,
                    size_t at)
{
    struct cells plain = shell_without_free(s, cells);
    uint32_t unused;
    const char *written = shell_text(s, cells, &unused), *text = shell_text(s, &plain, open);
    if (*open) {
        if (joins_letters(&plain) || !shell_may_count(s, *open))
            shell_doubt(s, source, at);
        return false;
    }
    enum arithmetic state = shell_arithmetic(s, text, value, open, source, at);
    const char *missing = s->free_count ? s->free_names[s->free_count - 1] : NULL;
    if (state == ARITHMETIC_WRONG && missing && strstr(written, missing))
        shell_refuse(s, source, at, "'%s': the script does not set %s; expected a whole number: --define %s=VALUE",
                     written, missing, missing);
    else if (state == ARITHMETIC_WRONG)
        shell_refuse(s, source, at, "'%s' is arithmetic that bash refuses; expected whole numbers and names", written);
    return state == ARITHMETIC_KNOWN;
}
