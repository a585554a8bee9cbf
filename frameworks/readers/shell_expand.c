/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a shell: quotes, variables, defaults, arithmetic. */
#include "base/arena.h"
#include "frameworks/readers/shell_parts.h"
#include "frameworks/readers/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 48 };

/* ---- cells ---- */

static void add_text(struct shell *s, struct cells *cells, const char *text, size_t at, bool quoted)
{
    for (; *text; text++)
        shell_add(s, cells, *text, at, quoted);
}

static void add_open(struct shell *s, struct cells *cells, const char *name, size_t length, size_t at)
{
    shell_add(s, cells, OPEN_BEGIN, at, true);
    for (size_t i = 0; i < length && i < 60; i++)
        shell_add(s, cells, name[i] == '\n' ? ' ' : name[i], at, true);
    shell_add(s, cells, OPEN_END, at, true);
}

/* ---- where things end ---- */

/* Behind the bracket that closes the one at `at`, quotes passed over. */
static size_t bracket_end(const struct shell *s, size_t at, char open, char close)
{
    unsigned depth = 0;
    for (size_t i = at; i < s->size; i++) {
        if (s->text[i] == '\\')
            i++;
        else if (s->text[i] == '\'' && open == '(') {
            const char *end = memchr(s->text + i + 1, '\'', s->size - i - 1);
            i = end ? (size_t)(end - s->text) : s->size;
        } else if (s->text[i] == open)
            depth++;
        else if (s->text[i] == close && --depth == 0)
            return i + 1;
    }
    return s->size;
}

/* Behind what begins with $ at `at`. */
static size_t dollar_end(const struct shell *s, size_t at)
{
    char next = s->text[at + 1];
    if (next == '{')
        return bracket_end(s, at + 1, '{', '}');
    if (next == '(')
        return bracket_end(s, at + 1, '(', ')');
    size_t end = at + 1;
    if (isdigit((unsigned char)next) || (next && strchr("@*#?$!-", next)))
        return at + 2;
    while (isalnum((unsigned char)s->text[end]) || s->text[end] == '_')
        end++;
    return end;
}

static size_t quote_end(const struct shell *s, size_t at)
{
    char quote = s->text[at];
    size_t i = at + 1;
    while (i < s->size && s->text[i] != quote) {
        if (s->text[i] == '\\' && quote != '\'')
            i += 2;
        else if (s->text[i] == '$' && quote == '"')
            i = dollar_end(s, i);
        else
            i++;
    }
    return i < s->size ? i + 1 : s->size;
}

size_t shell_word_end(const struct shell *s, size_t at)
{
    while (at < s->size && !strchr(" \t\n;&|()<>", s->text[at])) {
        char c = s->text[at];
        if (c == '\\')
            at += 2;
        else if (c == '\'' || c == '"' || c == '`')
            at = quote_end(s, at);
        else if (c == '$')
            at = dollar_end(s, at);
        else
            at++;
    }
    return at < s->size ? at : s->size;
}

/* ---- expansion ---- */

/* All words of a variable, with blanks between that are not quoted. */
static void add_variable(struct shell *s, const struct variable *variable, bool quoted, struct cells *out)
{
    for (size_t word = 0; word < variable->count; word++) {
        if (word)
            shell_add(s, out, ' ', 0, quoted);
        for (size_t i = 0; i < variable->words[word].count; i++) {
            struct cell cell = variable->words[word].items[i];
            bool open = cell.c == OPEN_BEGIN || cell.c == OPEN_END;
            shell_add(s, out, cell.c, cell.at, quoted || open);
        }
    }
}

static bool is_empty(const struct variable *variable)
{
    return !variable->count || (variable->count == 1 && !variable->words[0].count);
}

/* ${NAME}, ${NAME[@]}, ${NAME:-word}, ${NAME-word}, ${NAME:=word}, ${NAME:+word}; `from` behind the brace. */
static void expand_braces(struct shell *s, size_t from, size_t to, bool quoted, struct cells *out)
{
    size_t end = from;
    while (end < to && (isalnum((unsigned char)s->text[end]) || s->text[end] == '_'))
        end++;
    struct variable *variable = end > from ? shell_variable(s, s->text + from, end - from) : NULL;
    size_t rest = end;
    if (rest + 3 <= to && (!strncmp(s->text + rest, "[@]", 3) || !strncmp(s->text + rest, "[*]", 3)))
        rest += 3;
    bool colon = rest < to && s->text[rest] == ':';
    char how = rest + colon < to ? s->text[rest + colon] : '\0';
    bool given = variable && !(colon && is_empty(variable));
    if (end == from || (how && !strchr("-=+", how)))
        add_open(s, out, s->text + from, to - from, from);
    else if (how == '+' ? given : how && !given)
        shell_expand(s, rest + colon + 1, to, quoted, out);
    else if (variable && how != '+')
        add_variable(s, variable, quoted, out);
    else if (!variable && !how)
        add_open(s, out, s->text + from, end - from, from);
}

static void expand_arithmetic(struct shell *s, size_t from, size_t to, size_t at, struct cells *out)
{
    struct cells inner = {0};
    const char *open;
    int64_t value;
    char digits[32];
    shell_expand(s, from, to, true, &inner);
    const char *text = shell_text(s, &inner, &open);
    snprintf(digits, sizeof digits, "%" PRId64, !open && shell_arithmetic(s, text, &value) ? value : 0);
    if (!open && shell_arithmetic(s, text, &value))
        add_text(s, out, digits, at, false);
    else
        add_open(s, out, open ? open : s->text + from, open ? strlen(open) : to - from, at);
}

/* What begins with $; returns where it ends. */
static size_t expand_dollar(struct shell *s, size_t at, bool quoted, struct cells *out)
{
    size_t end = dollar_end(s, at);
    if (end > s->size)
        end = s->size;
    if (end == at + 1) {
        shell_add(s, out, '$', at, quoted);
        return end;
    }
    if (s->text[at + 1] == '{' && end > at + 2)
        expand_braces(s, at + 2, end - (s->text[end - 1] == '}'), quoted, out);
    else if (!strncmp(s->text + at, "$((", 3) && end >= at + 5)
        expand_arithmetic(s, at + 3, end - 2, at, out);
    else {
        const struct variable *variable = shell_variable(s, s->text + at + 1, end - at - 1);
        if (variable)
            add_variable(s, variable, quoted, out);
        else
            add_open(s, out, s->text + at + 1, end - at - 1, at);
    }
    return end;
}

static size_t expand_double(struct shell *s, size_t at, size_t to, struct cells *out)
{
    size_t i = at + 1;
    while (i < to && s->text[i] != '"') {
        char c = s->text[i];
        if (c == '\\' && i + 1 < to && strchr("$`\"\\\n", s->text[i + 1])) {
            if (s->text[i + 1] != '\n')
                shell_add(s, out, s->text[i + 1], i, true);
            i += 2;
        } else if (c == '$')
            i = expand_dollar(s, i, true, out);
        else
            shell_add(s, out, c, i++, true);
    }
    return i + 1;
}

void shell_expand(struct shell *s, size_t from, size_t to, bool quoted, struct cells *out)
{
    if (++s->depth > DEPTH_MAX)
        s->broken = true;
    for (size_t i = from; i < to && !s->broken;) {
        char c = s->text[i];
        if (c == '\\') {
            if (i + 1 < to && s->text[i + 1] != '\n')
                shell_add(s, out, s->text[i + 1], i, true);
            i += 2;
        } else if (c == '\'' && !quoted) {
            size_t end = quote_end(s, i);
            for (size_t k = i + 1; k + 1 < end && k < to; k++)
                shell_add(s, out, s->text[k], k, true);
            i = end;
        } else if (c == '"')
            i = expand_double(s, i, to, out);
        else if (c == '`') {
            size_t end = quote_end(s, i);
            add_open(s, out, s->text + i, end - i, i);
            i = end;
        } else if (c == '$')
            i = expand_dollar(s, i, quoted, out);
        else
            shell_add(s, out, c, i++, quoted);
    }
    s->depth--;
}

/* The array whose words stand one by one: "${NAME[@]}". */
static const struct variable *whole_array(struct shell *s, size_t from, size_t to)
{
    size_t length = to - from;
    if (length < 9 || strncmp(s->text + from, "\"${", 3) != 0 || strncmp(s->text + to - 5, "[@]}\"", 5) != 0)
        return NULL;
    return shell_variable(s, s->text + from + 3, length - 8);
}

void shell_expand_word(struct shell *s, size_t from, size_t to, struct cells **words, size_t *count)
{
    const struct variable *array = whole_array(s, from, to);
    struct cells cells = {0};
    if (array) {
        shell_append(s, array->words, array->count, words, count);
        return;
    }
    shell_expand(s, from, to, false, &cells);
    bool empty = to >= from + 2 && !cells.count && strchr("'\"", s->text[from]);
    if (empty)
        shell_append(s, &cells, 1, words, count);
    else
        shell_split(s, &cells, words, count);
}
