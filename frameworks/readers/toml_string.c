/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of all four kinds. */
#include "frameworks/readers/toml_parts.h"

#include "base/arena.h"

#include <ctype.h>
#include <string.h>

struct buffer {
    char *text;
    size_t length;
};

/* A code point as UTF-8. */
static bool put_point(struct buffer *out, unsigned long point)
{
    if (!point || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
        return false;
    if (point < 0x80)
        out->text[out->length++] = (char)point;
    else if (point < 0x800) {
        out->text[out->length++] = (char)(0xC0 | point >> 6);
        out->text[out->length++] = (char)(0x80 | (point & 0x3F));
    } else {
        if (point < 0x10000)
            out->text[out->length++] = (char)(0xE0 | point >> 12);
        else {
            out->text[out->length++] = (char)(0xF0 | point >> 18);
            out->text[out->length++] = (char)(0x80 | (point >> 12 & 0x3F));
        }
        out->text[out->length++] = (char)(0x80 | (point >> 6 & 0x3F));
        out->text[out->length++] = (char)(0x80 | (point & 0x3F));
    }
    return true;
}

static bool put_unicode(struct toml *t, struct buffer *out, unsigned digits)
{
    unsigned long point = 0;
    for (unsigned i = 0; i < digits; i++, t->at++) {
        char c = t->text[t->at];
        if (!isxdigit((unsigned char)c))
            return toml_fail(t, t->at, "expected a digit of a code point");
        point = point * 16 + (unsigned long)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return put_point(out, point) || toml_fail(t, t->at, "no code point that a text may have");
}

/* Behind a backslash; in strings of several lines one at the end of a line swallows the blanks that follow. */
static bool put_escape(struct toml *t, struct buffer *out, bool several)
{
    static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
    char c = t->text[t->at];
    const char *found = c ? strchr(from, c) : NULL;
    if (found) {
        out->text[out->length++] = to[found - from];
        t->at++;
        return true;
    }
    if (c == 'u' || c == 'U') {
        t->at++;
        return put_unicode(t, out, c == 'u' ? 4 : 8);
    }
    size_t blanks = strspn(t->text + t->at, " \t"), end = t->at + blanks;
    if (several && (t->text[end] == '\n' || (t->text[end] == '\r' && t->text[end + 1] == '\n'))) {
        t->at += strspn(t->text + t->at, " \t\r\n");
        return true;
    }
    return toml_fail(t, t->at - 1, "no escape that TOML has");
}

/* Whether the string ends here; steps behind its end. Up to two quotes may stand before three that end it. */
static bool ends(struct toml *t, struct buffer *out, char quote, bool several)
{
    size_t count = 0;
    while (t->text[t->at + count] == quote && count < (several ? 5 : 1))
        count++;
    if (count < (several ? 3U : 1U))
        return false;
    for (size_t i = several ? 3 : 1; i < count; i++)
        out->text[out->length++] = quote;
    t->at += count;
    return true;
}

struct node *toml_string(struct toml *t)
{
    size_t from = t->at;
    char quote = t->text[t->at];
    bool several = t->text[t->at + 1] == quote && t->text[t->at + 2] == quote;
    struct buffer out = {NULL, 0};
    t->at += several ? 3 : 1;
    const char *limit = several ? NULL : strchr(t->text + t->at, '\n');
    out.text = arena_alloc(t->arena, (limit ? (size_t)(limit - t->text) : t->size) - from + 8);
    if (several)
        t->at += t->text[t->at] == '\n' ? 1 : !strncmp(t->text + t->at, "\r\n", 2) ? 2 : 0;
    while (t->at < t->size && !t->failed && !ends(t, &out, quote, several)) {
        unsigned char c = (unsigned char)t->text[t->at++];
        bool line = c == '\n' || (c == '\r' && t->text[t->at] == '\n');
        if (c == '\\' && quote == '"')
            put_escape(t, &out, several);
        else if ((c < ' ' && c != '\t' && !(line && several)) || c == 127)
            toml_fail(t, t->at - 1, line ? "the string is not closed" : "a control character in a string");
        else
            out.text[out.length++] = (char)c;
    }
    if (t->failed)
        return NULL;
    if (t->at >= t->size && (t->at < from + 2 || t->text[t->at - 1] != quote)) {
        toml_fail(t, from, "the string is not closed");
        return NULL;
    }
    struct node *node = toml_node(t, NODE_SCALAR, out.text, from);
    node->quoted = true;
    return node;
}
