/* SPDX-License-Identifier: Apache-2.0 */
/* Where words, quotes and brackets of a shell end. */
#include "frameworks/shell/syntax.h"

#include <ctype.h>
#include <string.h>

enum { SCAN_DEPTH_MAX = 60 };

/* A text while it is scanned. */
struct scan {
    const struct source *source;
    const char *text;
    size_t end;
    bool open; /* a quote or bracket has no end */
};

static size_t scan_dollar(struct scan *s, size_t at, unsigned depth);
static size_t scan_bracket(struct scan *s, size_t at, unsigned depth);

/* Behind what closes at `at`, or the end of a text in which it does not. */
static size_t closed(struct scan *s, size_t at)
{
    s->open |= at >= s->end;
    return at < s->end ? at + 1 : s->end;
}

static size_t scan_quote(struct scan *s, size_t at, unsigned depth)
{
    char quote = s->text[at];
    size_t i = at + 1;
    while (i < s->end && s->text[i] != quote) {
        if (s->text[i] == '\\' && quote != '\'')
            i += 2;
        else if (s->text[i] == '$' && quote == '"')
            i = scan_dollar(s, i, depth);
        else if (s->text[i] == '`' && quote == '"')
            i = scan_quote(s, i, depth);
        else
            i++;
    }
    return closed(s, i);
}

/* $'...' has escapes. */
static size_t scan_escapes(struct scan *s, size_t at)
{
    while (at < s->end && s->text[at] != '\'')
        at += s->text[at] == '\\' ? 2 : 1;
    return closed(s, at);
}

/* One character, or what is quoted or expanded as a whole. */
static size_t scan_one(struct scan *s, size_t at, unsigned depth)
{
    char c = s->text[at];
    if (c == '\\')
        return at + 2 < s->end ? at + 2 : s->end;
    if (c == '\'' || c == '"' || c == '`')
        return scan_quote(s, at, depth);
    return c == '$' ? scan_dollar(s, at, depth) : at + 1;
}

static bool begins_comment(const struct scan *s, size_t at)
{
    return s->text[at] == '#' && at && strchr(" \t\n;(&|", s->text[at - 1]);
}

static size_t scan_bracket(struct scan *s, size_t at, unsigned depth)
{
    char open = s->text[at], close = open == '(' ? ')' : open == '[' ? ']' : '}';
    size_t i = at + 1, levels = 1;
    if (depth > SCAN_DEPTH_MAX)
        return closed(s, s->end);
    while (i < s->end) {
        char c = s->text[i];
        if (c == close && --levels == 0)
            return i + 1;
        levels += open != '{' && c == open;
        if (open == '(' && begins_comment(s, i))
            i += strcspn(s->text + i, "\n");
        else
            i = scan_one(s, i, depth + 1);
    }
    return closed(s, s->end);
}

static size_t scan_dollar(struct scan *s, size_t at, unsigned depth)
{
    char next = at + 1 < s->end ? s->text[at + 1] : '\0';
    if (next == '{' || next == '(' || next == '[')
        return scan_bracket(s, at + 1, depth);
    if (next == '\'')
        return scan_escapes(s, at + 2);
    if (isdigit((unsigned char)next) || (next && strchr("@*#?$!-", next)))
        return at + 2;
    return shell_name_end(s->source, at + 1, s->end);
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

static struct scan scan_of(const struct source *source, size_t end)
{
    return (struct scan){source, source->text, end, false};
}

size_t shell_quote_end(const struct source *source, size_t at, size_t end)
{
    struct scan scan = scan_of(source, end);
    return scan_quote(&scan, at, 0);
}

size_t shell_dollar_end(const struct source *source, size_t at, size_t end)
{
    struct scan scan = scan_of(source, end);
    return scan_dollar(&scan, at, 0);
}

size_t shell_bracket_end(const struct source *source, size_t at, size_t end)
{
    struct scan scan = scan_of(source, end);
    return scan_bracket(&scan, at, 0);
}

/* ?(...) and the like are part of a word. */
static bool begins_group(const struct scan *s, size_t at, size_t start)
{
    return s->text[at] == '(' && at > start && strchr("?*+@!", s->text[at - 1]);
}

static size_t scan_word(struct scan *s, size_t at)
{
    size_t start = at;
    while (at < s->end) {
        if (begins_group(s, at, start))
            at = scan_bracket(s, at, 0);
        else if (strchr(" \t\n;&|()<>", s->text[at]))
            break;
        else {
            size_t end = scan_one(s, at, 0);
            start = end > at + 1 ? end : start; /* $? begins no group */
            at = end;
        }
    }
    return at < s->end ? at : s->end;
}

size_t shell_word_end(const struct source *source, size_t at, size_t end)
{
    struct scan scan = scan_of(source, end);
    return scan_word(&scan, at);
}

bool shell_word_is_open(const struct source *source, size_t at, size_t end)
{
    struct scan scan = scan_of(source, end);
    bool array = at < end && source->text[at] == '(', process = at < end && strchr("<>", source->text[at]);
    if (array || process)
        scan_bracket(&scan, at + process, 0);
    else
        scan_word(&scan, at);
    return scan.open;
}
