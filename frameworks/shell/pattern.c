/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of a shell, and what ${NAME#pattern} and its relatives make with them. */
#include "base/arena.h"
#include "frameworks/shell/parts.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

enum { LENGTH_MAX = 1024 }; /* of texts that are cut by patterns: the work grows with the square */

const char *shell_pattern(struct shell *s, const struct cells *cells)
{
    char *text = arena_alloc(s->arena, 2 * cells->count + 1);
    size_t length = 0;
    for (size_t i = 0; i < cells->count; i++) {
        const struct cell *cell = &cells->items[i];
        if (cell->c == CELL_OPEN || (signed char)cell->c < 0)
            return NULL;
        if (cell->c == CELL_EMPTY)
            continue;
        bool group = !cell->quoted && strchr("?*+@!", cell->c) && i + 1 < cells->count && cells->items[i + 1].c == '(';
        if (group)
            return NULL;
        if (cell->quoted)
            text[length++] = '\\';
        text[length++] = cell->c == CELL_BREAK ? ' ' : cell->c;
    }
    return text;
}

/* The work of fnmatch grows with the length of the text for each star. */
static size_t work_of(const char *pattern, size_t length)
{
    size_t stars = 0, at = 0;
    for (; pattern[at]; at++)
        stars += pattern[at] == '*';
    return 1 + at / 8 + stars * length / 8;
}

int shell_matches(struct shell *s, const char *pattern, const char *text)
{
    if (pattern)
        shell_spend(s, work_of(pattern, strlen(text)));
    int state = pattern && !s->broken ? fnmatch(pattern, text, 0) : -1;
    return state == 0 ? 1 : state == FNM_NOMATCH ? 0 : -1;
}

/* The text of a subject whose every byte is a character and known. */
static const char *subject_text(struct shell *s, const struct cells *subject, struct cells *plain)
{
    *plain = (struct cells){0};
    for (size_t i = 0; i < subject->count; i++) {
        if (subject->items[i].c == CELL_OPEN || (signed char)subject->items[i].c < 0)
            return NULL;
        if (subject->items[i].c != CELL_EMPTY)
            shell_add(s, plain, subject->items[i]);
    }
    uint32_t open;
    return shell_text(s, plain, &open);
}

bool shell_strip(struct shell *s, const struct cells *subject, const struct cells *pattern, char side, bool longest,
                 struct cells *out)
{
    struct cells plain;
    const char *text = subject_text(s, subject, &plain), *how = shell_pattern(s, pattern);
    size_t length = plain.count, best = 0;
    bool found = false;
    if (!text || !how || length > LENGTH_MAX)
        return false;
    shell_spend(s, CELL_WORK * (length * length / 16));
    char *part = arena_alloc(s->arena, length + 1);
    for (size_t i = 0; i <= length && !(found && !longest); i++) {
        memcpy(part, side == '#' ? text : text + length - i, i);
        part[i] = '\0';
        int state = shell_matches(s, how, part);
        if (state < 0)
            return false;
        if (state)
            best = i;
        found |= state;
    }
    size_t from = side == '#' ? best : 0, to = side == '#' ? length : length - best;
    for (size_t i = from; i < to; i++)
        shell_add(s, out, plain.items[i]);
    return true;
}

/* The length of the longest match at `at`; -1: none; -2: not known. */
static long match_at(struct shell *s, const char *how, const char *text, size_t at, size_t length, char *part)
{
    for (size_t count = length - at + 1; count-- > 0;) {
        memcpy(part, text + at, count);
        part[count] = '\0';
        int state = shell_matches(s, how, part);
        if (state < 0)
            return -2;
        if (state)
            return (long)count;
    }
    shell_spend(s, CELL_WORK * ((length - at) / 16));
    return -1;
}

/* & in what is put there is the match in newer bash: not followed. */
static bool is_plain(const struct cells *with)
{
    for (size_t i = 0; i < with->count; i++)
        if (with->items[i].c == '&' || with->items[i].c == '\\')
            return false;
    return true;
}

bool shell_replace(struct shell *s, const struct cells *subject, const struct cells *pattern, const struct cells *with,
                   char how, struct cells *out)
{
    struct cells plain;
    const char *text = subject_text(s, subject, &plain), *pat = shell_pattern(s, pattern);
    size_t length = plain.count, at = 0;
    if (!text || !pat || !is_plain(with) || length > LENGTH_MAX)
        return false;
    char *part = arena_alloc(s->arena, length + 1);
    bool active = *pat != '\0' || how == '#' || how == '%';
    while (at < length || (at == 0 && !length)) {
        long count = active && (how != '#' || at == 0) ? match_at(s, pat, text, at, length, part) : -1;
        if (count == -2)
            return false;
        if (how == '%' && count >= 0 && at + (size_t)count != length)
            count = -1;
        if (count < 0 || (!count && how != '#' && how != '%')) {
            if (at < length)
                shell_add(s, out, plain.items[at]);
            at++;
            continue;
        }
        shell_add_cells(s, out, with);
        active = how == '/' && count > 0;
        at += (size_t)count;
        if (!count) {
            for (; at < length; at++)
                shell_add(s, out, plain.items[at]);
            break;
        }
    }
    if (how == '%' && !*pat)
        return false;
    return true;
}

bool shell_letters(struct shell *s, const struct cells *subject, char how, bool all, struct cells *out)
{
    struct cells plain;
    if (!subject_text(s, subject, &plain))
        return false;
    for (size_t i = 0; i < plain.count; i++) {
        struct cell cell = plain.items[i];
        if (all || !i)
            cell.c = (char)(how == '^' ? toupper((unsigned char)cell.c) : tolower((unsigned char)cell.c));
        shell_add(s, out, cell);
    }
    return true;
}
