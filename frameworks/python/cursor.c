/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of a file that is followed, and the names that it has set. */
#include "base/arena.h"
#include "frameworks/python/parts.h"

#include <string.h>

const char python_callee[] = "()";

/* ---- names ---- */

struct entry *scope_find(const struct scope *scope, const char *name)
{
    for (struct entry *each = scope->first; each; each = each->next)
        if (!strcmp(each->key, name))
            return each;
    return NULL;
}

enum { NAMES_MAX = 4000 };

void scope_set(struct python *p, struct scope *scope, const char *name, struct place at, struct value *value)
{
    struct entry **link = &scope->first;
    size_t count = 0;
    for (; *link; link = &(*link)->next, count++)
        if (!strcmp((*link)->key, name)) {
            (*link)->value = value;
            (*link)->key_at = at;
            return;
        }
    if (count >= NAMES_MAX)
        p->steps = PYTHON_STEPS_MAX;
    *link = arena_alloc(p->arena, sizeof **link);
    **link = (struct entry){name, at, value, NULL};
}

/* ---- the cursor ---- */

const struct token *python_peek(const struct python *p)
{
    return &p->tokens[p->at];
}

bool token_is(const struct token *token, const char *text)
{
    return (token->kind == TOKEN_NAME || token->kind == TOKEN_OPERATOR) && strlen(text) == token->length &&
           !strncmp(token->text, text, token->length);
}

bool python_sees(const struct python *p, const char *text)
{
    return token_is(python_peek(p), text);
}

bool python_takes(struct python *p, const char *text)
{
    bool sees = python_sees(p, text);
    p->at += sees;
    return sees;
}

const char *token_text(struct python *p, const struct token *token)
{
    return arena_copy_part(p->arena, token->text, token->length);
}

size_t python_past(const struct python *p, size_t token)
{
    return p->tokens[token].match ? p->tokens[token].match + 1 : token + 1;
}

size_t python_end(const struct python *p, size_t token)
{
    bool lambda = token_is(&p->tokens[token], "lambda");
    for (;; token = python_past(p, token)) {
        const struct token *now = &p->tokens[token];
        bool ends = now->kind == TOKEN_NEWLINE || now->kind == TOKEN_END || now->kind == TOKEN_DEDENT ||
                    token_is(now, ",") || token_is(now, ")") || token_is(now, "]") || token_is(now, "}") ||
                    token_is(now, "=") || token_is(now, ";") || token_is(now, ":");
        if (ends && (!lambda || !(token_is(now, ",") || token_is(now, ":") || token_is(now, "="))))
            return token;
        if (lambda && token_is(now, ":"))
            lambda = false;
    }
}

bool python_is_spent(struct python *p)
{
    return ++p->steps > PYTHON_STEPS_MAX;
}
