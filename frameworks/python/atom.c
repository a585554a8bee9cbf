/* SPDX-License-Identifier: Apache-2.0 */
/* Names, literals, lists and dictionaries, and what follows them. */
#include "base/arena.h"
#include "frameworks/python/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers and texts ---- */

static struct value *number(struct python *p)
{
    const struct token *token = python_peek(p);
    char *text = arena_copy_part(p->arena, token->text, token->length), *to = text, *end;
    bool based = text[0] == '0' && text[1] && strchr("xXoObB", text[1]);
    p->at++;
    for (const char *from = text; *from; from++)
        if (*from != '_')
            *to++ = *from;
    *to = '\0';
    if (!based && strpbrk(text, ".eE")) {
        double real = strtod(text, &end);
        return *end ? value_unknown(p, token->at, "the number %s", text) : value_real(p, real, token->at);
    }
    errno = 0;
    int base = !based ? 10 : strchr("xX", text[1]) ? 16 : strchr("oO", text[1]) ? 8 : 2;
    long long whole = strtoll(based ? text + 2 : text, &end, base);
    return *end || errno || end == text ? value_unknown(p, token->at, "the number %s", text)
                                        : value_whole(p, whole, token->at);
}

static char unescape(char c)
{
    static const char pairs[] = "n\nt\tr\r\\\\''\"\"";
    for (const char *pair = pairs; *pair; pair += 2)
        if (*pair == c)
            return pair[1];
    return '\0';
}

/* The text between the quotes; NULL: an escape that is not known, or fields of an f-string. */
static const char *content(struct python *p, const struct token *token)
{
    size_t prefix = strcspn(token->text, "'\""), quotes = 1;
    bool raw = memchr(token->text, 'r', prefix) || memchr(token->text, 'R', prefix),
         fields = memchr(token->text, 'f', prefix) || memchr(token->text, 'F', prefix);
    const char *from = token->text + prefix, *to = token->text + token->length;
    if (to - from >= 6 && from[1] == from[0] && from[2] == from[0])
        quotes = 3;
    char *text = arena_alloc(p->arena, token->length + 1), *out = text;
    for (from += quotes, to -= quotes; from < to; from++) {
        if (fields && strchr("{}", *from))
            return NULL;
        if (*from == '\\' && !raw) {
            from++;
            if (*from != '\n' && !(*out = unescape(*from)))
                return NULL;
            out += *from != '\n';
        } else {
            *out++ = *from;
        }
    }
    return text;
}

/* Texts that follow each other are one. */
static struct value *string(struct python *p)
{
    struct place at = python_peek(p)->at;
    const char *text = "";
    while (python_peek(p)->kind == TOKEN_STRING) {
        const struct token *token = &p->tokens[p->at++];
        const char *part = memchr(token->text, 'b', strcspn(token->text, "'\"")) ? NULL : content(p, token);
        bool fits = text && part && strlen(text) + strlen(part) <= PYTHON_TEXT_MAX;
        text = !fits ? NULL : *text ? arena_print(p->arena, "%s%s", text, part) : part;
    }
    return text ? value_text(p, VALUE_TEXT, text, at) : value_unknown(p, at, "a text with parts that are computed");
}

/* ---- brackets ---- */

/* Whether a bracket holds a comprehension, an assignment or a spread list at its own level. */
static bool is_computed(const struct python *p, size_t bracket)
{
    for (size_t i = bracket + 1; i < p->tokens[bracket].match; i = python_past(p, i)) {
        const struct token *token = &p->tokens[i];
        bool begins = i == bracket + 1 || token_is(token - 1, ",");
        if (token_is(token, "for") || token_is(token, ":=") || (begins && token_is(token, "*")))
            return true;
    }
    return false;
}

/* What is in the bracket that is next, as a list, up to its closing one. */
static struct value *items(struct python *p, bool *tuple)
{
    size_t bracket = p->at, end = p->tokens[bracket].match;
    struct value *list = value_new(p, VALUE_LIST, python_peek(p)->at);
    *tuple = end == bracket + 1;
    if (is_computed(p, bracket)) {
        p->at = end + 1;
        return python_unfollowed(p, bracket, end, "a list that is computed");
    }
    for (p->at++; p->at < end && !python_is_spent(p);) {
        size_t before = p->at;
        value_append(p, list, p->expression(p));
        if (python_takes(p, ","))
            *tuple = true;
        else if (p->at == before)
            break;
    }
    p->at = end + 1;
    return list;
}

static struct value *parenthesis(struct python *p)
{
    bool tuple;
    struct value *list = items(p, &tuple);
    return list->kind != VALUE_LIST || tuple || !list->first ? list : list->first->value;
}

/* One entry of a dictionary; false: it is not followed. */
static bool read_entry(struct python *p, struct value *map)
{
    if (python_takes(p, "**")) {
        const struct value *other = p->expression(p);
        if (other->kind == VALUE_MAP)
            value_set_all(p, map, other);
        return other->kind == VALUE_MAP;
    }
    const struct value *key = p->expression(p);
    if (key->kind != VALUE_TEXT || !python_takes(p, ":"))
        return false;
    value_set(p, map, key->text, key->at, p->expression(p));
    return true;
}

static struct value *braces(struct python *p)
{
    size_t bracket = p->at, end = p->tokens[bracket].match;
    struct value *map = value_new(p, VALUE_MAP, python_peek(p)->at);
    bool good = !is_computed(p, bracket);
    for (p->at++; good && p->at < end && !python_is_spent(p);) {
        good = read_entry(p, map);
        if (!python_takes(p, ","))
            break;
    }
    if (good && p->at == end) {
        p->at = end + 1;
        return map;
    }
    p->at = end + 1;
    return python_unfollowed(p, bracket, end, "a dictionary that is computed");
}

/* ---- names ---- */

static struct value *name(struct python *p)
{
    const struct token *token = &p->tokens[p->at++];
    const char *text = token_text(p, token);
    struct entry *there = scope_find(p->local, text);
    if (!there)
        there = scope_find(&p->module, text);
    if (there)
        return there->value;
    if (!strcmp(text, "True") || !strcmp(text, "False"))
        return value_flag(p, *text == 'T', token->at);
    return value_text(p, strcmp(text, "None") != 0 ? VALUE_NAME : VALUE_NONE, text, token->at);
}

static struct value *atom(struct python *p)
{
    const struct token *token = python_peek(p);
    if (token->kind == TOKEN_NAME)
        return name(p);
    if (token->kind == TOKEN_NUMBER)
        return number(p);
    if (token->kind == TOKEN_STRING)
        return string(p);
    if (token_is(token, "("))
        return parenthesis(p);
    if (token_is(token, "{"))
        return braces(p);
    bool tuple;
    if (token_is(token, "["))
        return items(p, &tuple);
    return python_skip(p, p->at, "something that is not followed");
}

/* A part of something that is not known; what changes it changes the whole. */
static struct value *part_of(struct python *p, struct value *object, struct place at, const char *what)
{
    struct value *part = value_unknown(p, at, "%s", what);
    value_may_be(p, part, object);
    return part;
}

/* What a call holds under a name. What it does not hold is its class's default: not known, and remembered, so that what
 * changes it is seen. */
static struct value *member(struct python *p, struct value *object, const char *text, struct place at)
{
    struct entry *there = object->kind == VALUE_CALL ? value_find(object, text) : NULL;
    if (there)
        return there->value;
    if (object->kind == VALUE_NAME)
        return value_text(p, VALUE_NAME, arena_print(p->arena, "%s.%s", object->text, text), object->at);
    if (object->kind == VALUE_UNKNOWN)
        return object;
    if (object->kind != VALUE_CALL)
        return part_of(p, object, at, arena_print(p->arena, "the part %s of something", text));
    if (p->creating && !p->dry) {
        struct value *made = value_text(p, VALUE_CALL, "", at);
        value_set(p, object, text, at, made);
        return made;
    }
    struct value *other = value_unknown(p, at, "the default of %s of %s", text, object->text);
    other->owner = object;
    other->member = text;
    return other;
}

static struct value *attribute(struct python *p, struct value *object)
{
    const struct token *token = python_peek(p);
    if (token->kind != TOKEN_NAME)
        return python_skip(p, p->at, "something that is not followed");
    p->at++;
    bool method = python_sees(p, "(") && p->at < p->stop && object->kind != VALUE_NAME;
    return method ? python_call_method(p, object, token_text(p, token), token->at)
                  : member(p, object, token_text(p, token), token->at);
}

static struct value *subscript(struct python *p, struct value *object)
{
    size_t bracket = p->at, end = p->tokens[bracket].match;
    struct place at = python_peek(p)->at;
    struct value *found = NULL;
    p->at++;
    bool creating = p->creating;
    p->creating = false;
    const struct value *index = p->expression(p);
    bool whole = p->at == end;
    p->creating = creating;
    if (!whole)
        python_unfollowed(p, p->at, end, "something that is not followed");
    p->at = end + 1;
    if (object->kind == VALUE_UNKNOWN)
        return object;
    if (whole && object->kind == VALUE_LIST && index->kind == VALUE_WHOLE)
        found = value_at(object, index->whole);
    if (whole && object->kind == VALUE_MAP && index->kind == VALUE_TEXT && value_find(object, index->text))
        found = value_find(object, index->text)->value;
    return found ? found : part_of(p, object, at, "an entry that is not known");
}

struct value *python_primary(struct python *p)
{
    struct place at = python_peek(p)->at;
    struct value *value = atom(p);
    while (p->at < p->stop && !python_is_spent(p)) {
        if (python_takes(p, "."))
            value = attribute(p, value);
        else if (python_sees(p, "["))
            value = subscript(p, value);
        else if (python_sees(p, "("))
            value = python_call_value(p, value, at);
        else
            break;
    }
    return value;
}
