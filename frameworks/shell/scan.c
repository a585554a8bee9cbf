/* SPDX-License-Identifier: Apache-2.0 */
/* Where words, quotes and brackets of a shell end. */
#include "frameworks/shell/syntax.h"

#include <ctype.h>
#include <string.h>

enum { SCAN_DEPTH_MAX = 60 };

static size_t scan_dollar(const struct source *s, size_t at, size_t end, unsigned depth);
static size_t scan_bracket(const struct source *s, size_t at, size_t end, unsigned depth);

static size_t scan_quote(const struct source *s, size_t at, size_t end, unsigned depth)
{
    char quote = s->text[at];
    size_t i = at + 1;
    while (i < end && s->text[i] != quote) {
        if (s->text[i] == '\\' && quote != '\'')
            i += 2;
        else if (s->text[i] == '$' && quote == '"')
            i = scan_dollar(s, i, end, depth);
        else if (s->text[i] == '`' && quote == '"')
            i = scan_quote(s, i, end, depth);
        else
            i++;
    }
    return i < end ? i + 1 : end;
}

/* $'...' has escapes. */
static size_t scan_escapes(const struct source *s, size_t at, size_t end)
{
    while (at < end && s->text[at] != '\'')
        at += s->text[at] == '\\' ? 2 : 1;
    return at < end ? at + 1 : end;
}

/* One character, or what is quoted or expanded as a whole. */
static size_t scan_one(const struct source *s, size_t at, size_t end, unsigned depth)
{
    char c = s->text[at];
    if (c == '\\')
        return at + 2 < end ? at + 2 : end;
    if (c == '\'' || c == '"' || c == '`')
        return scan_quote(s, at, end, depth);
    return c == '$' ? scan_dollar(s, at, end, depth) : at + 1;
}

static bool begins_comment(const struct source *s, size_t at)
{
    return s->text[at] == '#' && at && strchr(" \t\n;(&|", s->text[at - 1]);
}

static size_t scan_bracket(const struct source *s, size_t at, size_t end, unsigned depth)
{
    char open = s->text[at], close = open == '(' ? ')' : open == '[' ? ']' : '}';
    size_t i = at + 1, levels = 1;
    if (depth > SCAN_DEPTH_MAX)
        return end;
    while (i < end) {
        char c = s->text[i];
        if (c == close && --levels == 0)
            return i + 1;
        levels += open != '{' && c == open;
        if (open == '(' && begins_comment(s, i))
            i += strcspn(s->text + i, "\n");
        else
            i = scan_one(s, i, end, depth + 1);
    }
    return end;
}

static size_t scan_dollar(const struct source *s, size_t at, size_t end, unsigned depth)
{
    char next = at + 1 < end ? s->text[at + 1] : '\0';
    if (next == '{' || next == '(' || next == '[')
        return scan_bracket(s, at + 1, end, depth);
    if (next == '\'')
        return scan_escapes(s, at + 2, end);
    if (isdigit((unsigned char)next) || (next && strchr("@*#?$!-", next)))
        return at + 2;
    return shell_name_end(s, at + 1, end);
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

size_t shell_name_length(const char *text)
{
    size_t length = 0;
    while (!isdigit((unsigned char)*text) && is_letter(text[length]))
        length++;
    return length;
}

size_t shell_name_end(const struct source *s, size_t at, size_t end)
{
    if (at < end && isdigit((unsigned char)s->text[at]))
        return at;
    while (at < end && is_letter(s->text[at]))
        at++;
    return at;
}

size_t shell_quote_end(const struct source *s, size_t at, size_t end)
{
    return scan_quote(s, at, end, 0);
}

size_t shell_dollar_end(const struct source *s, size_t at, size_t end)
{
    return scan_dollar(s, at, end, 0);
}

size_t shell_bracket_end(const struct source *s, size_t at, size_t end)
{
    return scan_bracket(s, at, end, 0);
}

/* ?(...) and the like are part of a word. */
static bool begins_group(const struct source *s, size_t at, size_t start)
{
    return s->text[at] == '(' && at > start && strchr("?*+@!", s->text[at - 1]);
}

size_t shell_word_end(const struct source *s, size_t at, size_t end)
{
    size_t start = at;
    while (at < end) {
        if (begins_group(s, at, start))
            at = scan_bracket(s, at, end, 0);
        else if (strchr(" \t\n;&|()<>", s->text[at]))
            break;
        else
            at = scan_one(s, at, end, 0);
    }
    return at < end ? at : end;
}
