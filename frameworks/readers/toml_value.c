/* SPDX-License-Identifier: Apache-2.0 */
/* Values of TOML: numbers, arrays, inline tables, and keys with their values. */
#include "base/arena.h"
#include "frameworks/readers/toml_parts.h"

#include <ctype.h>
#include <string.h>

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
    struct node *list = toml_node(t, NODE_LIST, NULL, t->at);
    size_t from = t->at++;
    toml_mark(t, list, TOML_CLOSED);
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
    struct node *map = toml_node(t, NODE_MAP, NULL, t->at);
    size_t from = t->at++;
    toml_mark(t, map, TOML_CLOSED);
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

bool toml_pair(struct toml *t, struct node *map)
{
    const char *key;
    size_t at;
    struct node *table = toml_path(t, map, &key, &at, TOML_DOTTED);
    if (!table)
        return false;
    if (t->text[t->at] != '=')
        return toml_fail(t, t->at, "expected '=' behind the key");
    t->at++;
    toml_skip(t, false);
    if (node_get(table, key))
        return toml_fail(t, at, "this key has a value already");
    struct node *value = toml_value(t, 0);
    return value && toml_add(t, table, key, value, at);
}
