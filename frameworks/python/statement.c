/* SPDX-License-Identifier: Apache-2.0 */
/* Statements: assignments, functions, conditions that are known. */
#include "base/arena.h"
#include "frameworks/python/parts.h"

#include <string.h>

/* ---- blocks ---- */

/* The token behind the line that begins here. */
static size_t line_end(const struct python *p, size_t from)
{
    while (p->tokens[from].kind != TOKEN_NEWLINE && p->tokens[from].kind != TOKEN_END)
        from = python_past(p, from);
    return from + (p->tokens[from].kind == TOKEN_NEWLINE);
}

/* Behind the colon of `if ...:` and the like, from its first word on; the end of the line where there is none. */
static size_t find_colon(const struct python *p, size_t from)
{
    size_t end = line_end(p, from), lambdas = 0;
    for (; from < end; from = python_past(p, from)) {
        lambdas += token_is(&p->tokens[from], "lambda");
        if (token_is(&p->tokens[from], ":") && !lambdas--)
            return from + 1;
    }
    return end;
}

/* The token behind what belongs to a colon: an indented block or the rest of the line. */
static size_t suite_end(const struct python *p, size_t colon)
{
    if (p->tokens[colon].kind != TOKEN_NEWLINE)
        return line_end(p, colon);
    return p->tokens[colon + 1].kind == TOKEN_INDENT ? p->tokens[colon + 1].match + 1 : colon + 1;
}

/* Runs what belongs to a colon. */
static void run_suite(struct python *p, size_t colon)
{
    size_t end = suite_end(p, colon);
    bool block = p->tokens[colon].kind == TOKEN_NEWLINE && p->tokens[colon + 1].kind == TOKEN_INDENT;
    p->at = block ? colon + 2 : colon;
    python_block(p, block ? end - 1 : end);
    p->at = end;
}

static bool returns(const struct python *p, size_t from, size_t to)
{
    for (; from < to; from++)
        if (token_is(&p->tokens[from], "return") || token_is(&p->tokens[from], "yield"))
            return true;
    return false;
}

/* A statement with all its branches is not followed. */
static void skip_statement(struct python *p, size_t from, size_t end)
{
    static const char why[] = "something that depends on what is not followed";
    python_poison(p, from, end, why);
    for (size_t i = from; i < end; i++)
        if (token_is(&p->tokens[i], "import") && token_is(&p->tokens[i + 1], "*"))
            python_forget(p, p->tokens[i].at, why);
    if (returns(p, from, end) && !p->dry)
        p->returned = value_unknown(p, p->tokens[from].at, "%s", why);
    p->at = end;
}

static bool goes_on(const struct token *token)
{
    return token_is(token, "elif") || token_is(token, "else") || token_is(token, "except") ||
           token_is(token, "finally");
}

/* The token behind a statement of blocks with its branches. */
static size_t branches_end(const struct python *p, size_t from)
{
    size_t end = suite_end(p, find_colon(p, from));
    while (goes_on(&p->tokens[end]) && end > from) {
        from = end;
        end = suite_end(p, find_colon(p, end));
    }
    return end;
}

static void run_if(struct python *p, size_t from, size_t end)
{
    bool truth;
    while (p->at < end) {
        size_t branch = p->at, colon = find_colon(p, branch);
        if (token_is(python_peek(p), "else")) {
            run_suite(p, colon);
            return;
        }
        p->at++;
        const struct value *condition = python_expression(p);
        if (p->at + 1 != colon || !value_truth(condition, &truth)) {
            skip_statement(p, from, end);
            return;
        }
        if (truth) {
            run_suite(p, colon);
            p->at = end;
            return;
        }
        p->at = suite_end(p, colon);
    }
}

/* ---- assignments ---- */

/* The last part of a target: the token of its '.' or '['; 0: it is a name. */
static size_t last_part(const struct python *p, size_t from, size_t end)
{
    size_t last = 0;
    for (; from < end; from = python_past(p, from))
        if (token_is(&p->tokens[from], ".") || token_is(&p->tokens[from], "["))
            last = from;
    return last;
}

static struct value *target_object(struct python *p, size_t from, size_t last)
{
    size_t stop = p->stop;
    p->at = from;
    p->stop = last;
    p->creating = true;
    struct value *object = python_primary(p);
    p->creating = false;
    p->stop = stop;
    return object;
}

static void assign_part(struct python *p, size_t from, size_t last, struct value *value)
{
    struct value *object = target_object(p, from, last);
    const struct token *part = &p->tokens[last];
    static const char why[] = "what an assignment changed that is not followed";
    if (token_is(part, ".")) {
        if (object->kind == VALUE_CALL)
            value_set(p, object, token_text(p, part + 1), part[1].at, value);
        else
            value_touch(p, object, part->at, why);
        return;
    }
    p->at = last + 1;
    const struct value *index = python_expression(p);
    if (object->kind == VALUE_MAP && index->kind == VALUE_TEXT && p->at == part->match)
        value_set(p, object, index->text, index->at, value);
    else
        value_touch(p, object, part->at, why);
}

/* Names of a, b = ... and the like; of others the objects. */
static void assign_several(struct python *p, size_t from, size_t end, const struct value *value)
{
    int64_t position = 0;
    size_t names = 0;
    bool simple = value->kind == VALUE_LIST;
    for (size_t i = from; i < end; i++) {
        names += p->tokens[i].kind == TOKEN_NAME;
        simple &= p->tokens[i].kind == TOKEN_NAME || token_is(&p->tokens[i], ",");
    }
    simple = simple && names == value->count;
    if (!simple)
        python_poison(p, from, end, "one of several values");
    for (size_t i = from; i < end; i++)
        if (p->tokens[i].kind == TOKEN_NAME && (simple || !token_is(&p->tokens[i + 1], ".")))
            scope_set(p, p->local, token_text(p, &p->tokens[i]), p->tokens[i].at,
                      simple ? value_at(value, position++)
                             : value_unknown(p, p->tokens[i].at, "one of several values"));
}

static void assign(struct python *p, size_t from, size_t end, struct value *value)
{
    size_t last = last_part(p, from, end);
    bool name = p->tokens[from].kind == TOKEN_NAME;
    if (p->dry)
        return;
    if (name && end == from + 1)
        scope_set(p, p->local, token_text(p, &p->tokens[from]), p->tokens[from].at, value);
    else if (name && last > from && !token_is(&p->tokens[from + 1], ","))
        assign_part(p, from, last, value);
    else
        assign_several(p, from, end, value);
}

/* x += 1 of numbers and texts; lists would change in place. */
static void assign_changed(struct python *p, size_t from, size_t sign)
{
    const struct token *token = &p->tokens[sign];
    p->at = from;
    struct value *old = python_primary(p);
    bool whole = p->at == sign;
    p->at = sign + 1;
    struct value *with = python_expression(p), *value = NULL;
    size_t after = p->at;
    if (value_is_container(old))
        value_touch(p, old, token->at, "what an assignment changed that is not followed");
    else if (whole)
        value = python_apply(p, arena_copy_part(p->arena, token->text, token->length - 1), old, with, token->at);
    if (!value_is_container(old))
        assign(p, from, sign, value ? value : value_unknown(p, token->at, "what an assignment changed"));
    p->at = after;
}

/* The next '=' at the level of a statement, or its end. */
static size_t next_sign(const struct python *p, size_t from, size_t end)
{
    while (from < end && !token_is_assignment(&p->tokens[from]) && !token_is(&p->tokens[from], ":"))
        from = python_past(p, from);
    return from;
}

/* a = b = value, a: type = value, a += value; or an expression. */
static void run_simple(struct python *p, size_t end)
{
    size_t from = p->at, sign = next_sign(p, from, end), last = from;
    bool annotated = sign < end && token_is(&p->tokens[sign], ":");
    if (sign >= end) {
        python_expression(p);
        if (python_sees(p, ","))
            for (p->at++; p->at < end; p->at++)
                if (!python_sees(p, ","))
                    python_expression(p);
        return;
    }
    size_t target = sign;
    if (annotated)
        for (sign++; sign < end && !token_is(&p->tokens[sign], "="); sign = python_past(p, sign))
            continue;
    if (sign >= end)
        return;
    if (p->tokens[sign].length > 1) {
        assign_changed(p, from, sign);
        return;
    }
    for (size_t next = sign; next < end; next = next_sign(p, next + 1, end))
        last = next;
    p->at = last + 1;
    struct value *value = python_expression(p);
    if (python_sees(p, ","))
        value = python_unfollowed(p, last + 1, end, "one of several values");
    assign(p, from, target, value);
    for (size_t begin = sign + 1; sign < last; begin = sign + 1) {
        sign = next_sign(p, begin, end);
        assign(p, begin, sign, value);
    }
}

/* ---- names that are made ---- */

/* import a.b as c, from d import (e, f): names from elsewhere. from d import *: whatever it brings may hide others. */
static void run_import(struct python *p, size_t end)
{
    bool from = token_is(python_peek(p), "from");
    size_t at = p->at + 1;
    while (from && at < end && !token_is(&p->tokens[at], "import"))
        at++;
    for (at += from; at < end; at++) {
        const struct token *token = &p->tokens[at];
        if (token_is(token, "*"))
            python_forget(p, token->at, "what an import of all names may have changed");
        if (token->kind != TOKEN_NAME || token_is(token, "as") || token_is(token + 1, "as") || token_is(token - 1, "."))
            continue;
        const char *name = token_text(p, token);
        bool renamed = token_is(token - 1, "as");
        scope_set(p, p->local, name, token->at,
                  value_text(p, VALUE_NAME, renamed ? token_text(p, token - 2) : name, token->at));
    }
}

static void run_definition(struct python *p, size_t end, bool decorated)
{
    bool function = token_is(python_peek(p), "def");
    const struct token *name = python_peek(p) + 1;
    if (name->kind != TOKEN_NAME) {
        p->at = end;
        return;
    }
    if (!function)
        python_poison(p, p->at + 2, end, "something that a class may have changed");
    struct value *value = value_text(p, function ? VALUE_FUNCTION : VALUE_NAME, token_text(p, name), name->at);
    value->token = p->at + 1;
    value->closed = decorated || p->local != &p->module;
    scope_set(p, p->local, token_text(p, name), name->at, value);
    p->at = end;
}

/* ---- statements ---- */

/* global a, b: who sets them later is not followed. del a, b.c: no longer there. */
static void give_up(struct python *p, size_t end, struct scope *scope)
{
    static const char why[] = "a name that is global or was deleted";
    python_poison(p, p->at + 1, end, why);
    for (size_t i = p->at + 1; i < end; i++)
        if (p->tokens[i].kind == TOKEN_NAME && !token_is(&p->tokens[i - 1], ".") && !token_is_used_only(&p->tokens[i]))
            scope_set(p, scope, token_text(p, &p->tokens[i]), p->tokens[i].at,
                      value_unknown(p, p->tokens[i].at, "%s", why));
}

/* Those that end at a line's end or a ';'. */
static void run_line(struct python *p, size_t end)
{
    const struct token *token = python_peek(p);
    static const char *const nothing[] = {"pass", "break", "continue", "raise", "nonlocal"};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        if (token_is(token, nothing[i]))
            return;
    if (token_is(token, "import") || token_is(token, "from"))
        run_import(p, end);
    else if (token_is(token, "global") || token_is(token, "del"))
        give_up(p, end, token_is(token, "global") ? &p->module : p->local);
    else if (python_takes(p, "assert"))
        python_expression(p);
    else if (python_takes(p, "return"))
        p->returned = p->at < end ? python_expression(p) : value_new(p, VALUE_NONE, token->at);
    else
        run_simple(p, end);
}

static bool is_compound(const struct token *token)
{
    static const char *const words[] = {"for", "while", "with", "try", "async", "match"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (token_is(token, words[i]))
            return true;
    return false;
}

static bool is_soft(const struct python *p, size_t from)
{
    return token_is(&p->tokens[from], "match") && p->tokens[find_colon(p, from)].kind != TOKEN_NEWLINE;
}

/* A function, class, condition or loop; false: it is none. */
static bool run_compound(struct python *p)
{
    size_t from = p->at;
    bool decorated = false;
    while (python_sees(p, "@")) {
        decorated = true;
        p->at = line_end(p, p->at);
    }
    if (python_sees(p, "def") || python_sees(p, "class")) {
        run_definition(p, suite_end(p, find_colon(p, p->at)), decorated);
    } else if (python_sees(p, "if")) {
        run_if(p, from, branches_end(p, from));
    } else if (is_compound(python_peek(p)) && !is_soft(p, from)) {
        skip_statement(p, from, branches_end(p, from));
    } else {
        return false;
    }
    return true;
}

static size_t statement_end(const struct python *p, size_t from)
{
    while (p->tokens[from].kind != TOKEN_NEWLINE && p->tokens[from].kind != TOKEN_END &&
           !token_is(&p->tokens[from], ";"))
        from = python_past(p, from);
    return from;
}

void python_block(struct python *p, size_t end)
{
    while (p->at < end && !p->returned && !python_is_spent(p)) {
        enum token_kind kind = python_peek(p)->kind;
        if (kind != TOKEN_NAME && kind != TOKEN_STRING && kind != TOKEN_NUMBER && kind != TOKEN_OPERATOR) {
            p->at++;
            continue;
        }
        if (python_takes(p, ";") || run_compound(p))
            continue;
        size_t after = statement_end(p, p->at);
        run_line(p, after);
        p->at = after;
    }
}
