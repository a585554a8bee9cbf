/* SPDX-License-Identifier: Apache-2.0 */
/* A file that is followed, and calls of its functions. */
#include "base/arena.h"
#include "frameworks/python/parts.h"

#include <ctype.h>
#include <string.h>

/* ---- functions ---- */

/* A default that is the same whenever it is read: 1, -1, 'a', None. */
static bool is_literal(const struct token *token)
{
    token += token_is(token, "-");
    bool plain = token->kind == TOKEN_NUMBER || token->kind == TOKEN_STRING || token_is(token, "None") ||
                 token_is(token, "True") || token_is(token, "False");
    return plain && (token_is(token + 1, ",") || token_is(token + 1, ")"));
}

/* The value of one parameter, whose name is a token; NULL: it is missing, or is not followed. */
static struct value *parameter(struct python *p, size_t token, const struct entry *given)
{
    while (!token_is(&p->tokens[token], "=") && !token_is(&p->tokens[token], ",") && !token_is(&p->tokens[token], ")"))
        token = python_past(p, token);
    if (given)
        return given->value;
    if (!token_is(&p->tokens[token], "=") || !is_literal(&p->tokens[token + 1]))
        return NULL;
    p->at = token + 1;
    return python_expression(p);
}

/* Binds what a call gives to a function's parameters; false: one of them is missing, or is of a kind that is not
 * followed. */
static bool bind(struct python *p, const struct value *function, const struct value *arguments, struct scope *scope)
{
    size_t bracket = function->token + 1, end = p->tokens[bracket].match, position = 0, used = 0;
    if (!token_is(&p->tokens[bracket], "("))
        return false;
    for (size_t i = bracket + 1; i < end; position++) {
        const struct token *token = &p->tokens[i];
        const char *name = token_text(p, token);
        const struct entry *given = value_find(arguments, arena_print(p->arena, "%zu", position));
        given = given ? given : value_find(arguments, name);
        struct value *value = token->kind == TOKEN_NAME ? parameter(p, i, given) : NULL;
        if (!value)
            return false;
        used += given != NULL;
        scope_set(p, scope, name, token->at, value);
        while (i < end && !token_is(&p->tokens[i], ","))
            i = python_past(p, i);
        i += i < end;
    }
    return used == arguments->count;
}

/* Where a function's body begins. */
static size_t body_of(const struct python *p, const struct value *function)
{
    size_t at = p->tokens[function->token + 1].match + 1;
    while (!token_is(&p->tokens[at], ":") && p->tokens[at].kind != TOKEN_NEWLINE && p->tokens[at].kind != TOKEN_END)
        at = python_past(p, at);
    return at + 1;
}

/* The token behind it; *body: its first statement. */
static size_t body_end(const struct python *p, size_t *body)
{
    size_t end = *body;
    if (p->tokens[end].kind == TOKEN_NEWLINE && p->tokens[end + 1].kind == TOKEN_INDENT) {
        *body = end + 2;
        return p->tokens[end + 1].match;
    }
    while (p->tokens[end].kind != TOKEN_NEWLINE && p->tokens[end].kind != TOKEN_END)
        end++;
    return end;
}

static struct value *run_function(struct python *p, const struct value *function, const struct value *arguments)
{
    struct scope scope = {NULL};
    size_t body = body_of(p, function), end = body_end(p, &body);
    if (function->closed || p->calls >= PYTHON_CALLS_MAX || !bind(p, function, arguments, &scope)) {
        python_poison(p, body, end, "what a function changed that is not followed");
        return NULL;
    }
    p->calls++;
    p->local = &scope;
    p->at = body;
    python_block(p, end);
    p->calls--;
    return p->returned ? p->returned : value_new(p, VALUE_NONE, function->at);
}

static struct value *follow(struct python *p, const struct value *function, const struct value *arguments)
{
    struct scope *local = p->local;
    size_t at = p->at, stop = p->stop;
    struct value *returned = p->returned;
    p->local = &p->module;
    p->stop = p->count;
    p->returned = NULL;
    struct value *result = run_function(p, function, arguments);
    p->returned = returned;
    p->local = local;
    p->stop = stop;
    p->at = at;
    return result;
}

/* ---- a file ---- */

static bool is_over(struct python *p)
{
    if (p->steps <= PYTHON_STEPS_MAX)
        return false;
    diag_error(p->request->diag, (struct place){p->request->file, 1, 1},
               "following this file takes more steps than a configuration needs");
    return true;
}

struct python *python_load(const struct python_request *request)
{
    struct python *p = arena_alloc(request->arena, sizeof *p);
    struct python_request *own = arena_alloc(request->arena, sizeof *own);
    *own = *request;
    *p = (struct python){.request = own, .arena = request->arena, .expression = python_expression, .follow = follow};
    p->local = &p->module;
    if (request->size > PYTHON_BYTES_MAX) {
        diag_error(request->diag, (struct place){request->file, 1, 1}, "more than %d bytes", PYTHON_BYTES_MAX);
        return NULL;
    }
    p->tokens = python_tokens(request, &p->count);
    if (!p->tokens)
        return NULL;
    p->stop = p->count;
    python_block(p, p->count - 1);
    return is_over(p) ? NULL : p;
}

static bool is_constant(const char *name)
{
    bool upper = false;
    for (; *name; name++) {
        if (islower((unsigned char)*name))
            return false;
        upper |= isupper((unsigned char)*name) != 0;
    }
    return upper;
}

const struct node *python_names(struct python *p)
{
    struct value *map = value_new(p, VALUE_MAP, (struct place){p->request->file, 1, 1});
    for (const struct entry *each = p->module.first; each; each = each->next)
        if (!is_constant(each->key) && each->value->kind != VALUE_FUNCTION && each->value->kind != VALUE_NAME)
            value_set(p, map, each->key, each->key_at, each->value);
    const struct node *node = value_node(p, map);
    return is_over(p) ? NULL : node;
}

static bool needs_nothing(struct python *p, const struct value *function)
{
    struct scope scope = {NULL};
    struct value *none = value_new(p, VALUE_MAP, function->at);
    return function->kind == VALUE_FUNCTION && !function->closed && bind(p, function, none, &scope);
}

const char *const *python_functions(struct python *p)
{
    const char **names = NULL;
    size_t count = 0, capacity = 0;
    for (const struct entry *each = p->module.first; each; each = each->next)
        if (each->key[0] != '_' && needs_nothing(p, each->value)) {
            names = arena_grow(p->arena, names, &capacity, count, sizeof *names);
            names[count++] = each->key;
        }
    names = arena_grow(p->arena, names, &capacity, count, sizeof *names);
    names[count] = NULL;
    return names;
}

const struct node *python_call(struct python *p, const char *function)
{
    const struct entry *there = scope_find(&p->module, function);
    if (!there || there->value->kind != VALUE_FUNCTION)
        return NULL;
    struct value *result = follow(p, there->value, value_new(p, VALUE_MAP, there->value->at));
    const struct node *node = result ? value_node(p, result) : NULL;
    return is_over(p) ? NULL : node;
}
