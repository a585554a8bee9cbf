/* SPDX-License-Identifier: Apache-2.0 */
/* Values of TOML: strings, numbers, arrays, inline tables. */
#include "base/arena.h"
#include "frameworks/readers/toml_parts.h"

#include <ctype.h>
#include <string.h>

static const char *const marks[] = {"closed", "implied", "headed", "dotted", "tables"};

void toml_mark(struct toml *t, struct node *node, enum toml_mark mark)
{
    (void)t;
    node->text = marks[mark];
}

enum toml_mark toml_marked(const struct toml *t, const struct node *node)
{
    (void)t;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (node->text == marks[i])
            return (enum toml_mark)i;
    return TOML_CLOSED;
}

/* ---- strings ---- */

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

/* ---- numbers, flags, dates ---- */

/* Digits of a base with single underscores between; the count of characters, 0: none. */
static size_t digits(const char *text, const char *of)
{
    size_t count = 0;
    while (text[count] && (strchr(of, text[count]) || (text[count] == '_' && count && text[count - 1] != '_')))
        count++;
    return count && text[count - 1] == '_' ? 0 : count;
}

static bool is_number(const char *text)
{
    static const char decimal[] = "0123456789";
    if (text[0] == '0' && text[1] && strchr("xob", text[1])) {
        size_t count = digits(text + 2, text[1] == 'x' ? "0123456789abcdefABCDEF" : text[1] == 'o' ? "01234567" : "01");
        return count && !text[2 + count];
    }
    text += *text == '+' || *text == '-';
    if (!strcmp(text, "inf") || !strcmp(text, "nan"))
        return true;
    size_t whole = digits(text, decimal);
    if (!whole || (whole > 1 && text[0] == '0'))
        return false;
    text += whole;
    if (*text == '.') {
        size_t part = digits(text + 1, decimal);
        if (!part)
            return false;
        text += 1 + part;
    }
    if (*text == 'e' || *text == 'E') {
        text++;
        text += *text == '+' || *text == '-';
        size_t part = digits(text, decimal);
        text += part;
        if (!part)
            return false;
    }
    return !*text;
}

/* 1979-05-27, 07:32:00, 1979-05-27T07:32:00.5Z and the like: digits where digits stand. */
static bool is_date(const char *text)
{
    size_t length = strspn(text, "0123456789-:.TtZz+ ");
    bool date = strlen(text) >= 10 && text[4] == '-' && text[7] == '-',
         time = strlen(text) >= 8 && text[2] == ':' && text[5] == ':';
    return !text[length] && (date || time);
}

static struct node *plain(struct toml *t)
{
    size_t from = t->at, length = strcspn(t->text + from, " \t\r\n,]}#=");
    const char *text = arena_print(t->arena, "%.*s", (int)length, t->text + from);
    if (strlen(text) == 10 && is_date(text) && t->text[from + 10] == ' ' &&
        isdigit((unsigned char)t->text[from + 11])) {
        length += 1 + strcspn(t->text + from + 11, " \t\r\n,]}#=");
        text = arena_print(t->arena, "%.*s", (int)length, t->text + from);
    }
    if (!length || (strcmp(text, "true") != 0 && strcmp(text, "false") != 0 && !is_number(text) && !is_date(text))) {
        toml_fail(t, from,
                  length ? "expected a string in quotes, a number, true, false, an array or a table"
                         : "expected a value");
        return NULL;
    }
    t->at += length;
    return toml_node(t, NODE_SCALAR, text, from);
}

/* ---- arrays and inline tables ---- */

static struct node *array(struct toml *t, unsigned depth)
{
    struct node *list = toml_node(t, NODE_LIST, marks[TOML_CLOSED], t->at);
    size_t from = t->at++;
    for (toml_skip(t, true); t->at < t->size && t->text[t->at] != ']' && !t->failed; toml_skip(t, true)) {
        struct node *value = toml_value(t, depth + 1);
        if (!value)
            return NULL;
        node_append(list, value);
        toml_skip(t, true);
        if (t->text[t->at] == ',')
            t->at++;
        else if (t->text[t->at] != ']')
            toml_fail(t, t->at, "expected ',' or ']' in the array");
    }
    if (t->at >= t->size)
        toml_fail(t, from, "the array is not closed");
    t->at++;
    return t->failed ? NULL : list;
}

static struct node *inline_table(struct toml *t)
{
    struct node *map = toml_node(t, NODE_MAP, marks[TOML_CLOSED], t->at);
    size_t from = t->at++;
    toml_skip(t, false);
    for (bool more = t->text[t->at] != '}'; more && !t->failed;) {
        toml_pair(t, map);
        toml_skip(t, false);
        more = t->text[t->at] == ',';
        t->at += more;
        toml_skip(t, false);
    }
    if (!t->failed && t->text[t->at] != '}')
        toml_fail(t, t->at < t->size ? t->at : from, "expected ',' or '}' in the inline table");
    t->at++;
    return t->failed ? NULL : map;
}

struct node *toml_value(struct toml *t, unsigned depth)
{
    char c = t->at < t->size ? t->text[t->at] : '\0';
    if (depth > DOCUMENT_DEPTH_MAX || ++t->nested > DOCUMENT_DEPTH_MAX) {
        toml_fail(t, t->at, "arrays and tables are nested too deep");
        return NULL;
    }
    struct node *value = c == '"' || c == '\'' ? toml_string(t)
                         : c == '['            ? array(t, depth)
                         : c == '{'            ? inline_table(t)
                                               : plain(t);
    t->nested--;
    return value;
}
