/* SPDX-License-Identifier: Apache-2.0 */
/* What is not followed, and what it could have changed. */
#include "frameworks/python/parts.h"

#include <string.h>

bool token_is_assignment(const struct token *token)
{
    return token->kind == TOKEN_OPERATOR && token->text[token->length - 1] == '=' &&
           (token->length == 1 || !strchr("=!<>", token->text[0]) || token->length == 3);
}

/* What is reached from a name by its parts, without the last one where that is called or assigned. */
static void touch_path(struct python *p, struct value *value, size_t token, const char *why)
{
    while (token_is(&p->tokens[token + 1], ".") && p->tokens[token + 2].kind == TOKEN_NAME &&
           value->kind == VALUE_CALL) {
        const char *name = token_text(p, &p->tokens[token + 2]);
        struct entry *there = value_find(value, name);
        if (token_is(&p->tokens[token + 3], "(") || token_is_assignment(&p->tokens[token + 3]))
            break;
        if (!there) {
            value_set(p, value, name, p->tokens[token].at, value_unknown(p, p->tokens[token].at, "%s", why));
            return;
        }
        value = there->value;
        token += 2;
    }
    value_touch(p, value, p->tokens[token].at, why);
}

static bool is_word(const struct token *token)
{
    static const char *const words[] = {"True", "False", "None", "and",   "or",     "not",    "in",   "is",   "if",
                                        "else", "elif",  "for",  "while", "return", "import", "from", "as",   "with",
                                        "try",  "pass",  "def",  "class", "lambda", "assert", "del",  "raise"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (token_is(token, words[i]))
            return true;
    return false;
}

/* A name that only stands before something: Trainer.Config, f(...), a[0]. */
bool token_is_used_only(const struct token *token)
{
    return token_is(token + 1, ".") || token_is(token + 1, "(") || token_is(token + 1, "[");
}

static void poison_name(struct python *p, size_t i, const char *why)
{
    const struct token *token = &p->tokens[i];
    const char *name = token_text(p, token);
    struct entry *there = scope_find(p->local, name);
    there = there ? there : scope_find(&p->module, name);
    if (there && value_is_container(there->value) && !token_is_assignment(token + 1))
        touch_path(p, there->value, i, why);
    else if (there && there->value->kind == VALUE_UNKNOWN && there->value->owner)
        value_touch(p, there->value, token->at, why);
    else if (!token_is_used_only(token))
        scope_set(p, there && p->local != &p->module && !scope_find(p->local, name) ? &p->module : p->local, name,
                  token->at, value_unknown(p, token->at, "%s", why));
}

void python_poison(struct python *p, size_t from, size_t to, const char *why)
{
    int inside = 0;
    for (size_t i = from; i < to && !p->dry && !python_is_spent(p); i++) {
        const struct token *token = &p->tokens[i];
        bool keyword = inside > 0 && token_is(token + 1, "=") && (token_is(token - 1, "(") || token_is(token - 1, ","));
        inside += token_is(token, "(") - token_is(token, ")");
        if (token->kind == TOKEN_NAME && !(i && token_is(token - 1, ".")) && !keyword && !is_word(token))
            poison_name(p, i, why);
    }
}

void python_forget(struct python *p, struct place at, const char *why)
{
    struct scope *scopes[] = {p->local, &p->module};
    for (size_t i = 0; i < 2 && !p->dry; i++)
        for (struct entry *each = scopes[i]->first; each; each = each->next) {
            value_touch(p, each->value, at, why);
            each->value = value_unknown(p, at, "%s", why);
        }
}

/* Whether an expression calls or assigns something. */
static bool has_effect(const struct python *p, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        const struct token *before = &p->tokens[i - (i > 0)];
        bool after_value = (before->kind == TOKEN_NAME && !is_word(before)) || before->kind == TOKEN_STRING ||
                           token_is(before, ")") || token_is(before, "]") || token_is(before, "}");
        if (token_is(&p->tokens[i], ":=") || (i && token_is(&p->tokens[i], "(") && after_value))
            return true;
    }
    return false;
}

struct value *python_unfollowed(struct python *p, size_t from, size_t to, const char *what)
{
    struct value *value = value_unknown(p, p->tokens[from].at, "%s", what);
    if (has_effect(p, from, to))
        python_poison(p, from, to, what);
    for (size_t i = from; i < to && !python_is_spent(p); i++) {
        const struct entry *there = NULL;
        if (p->tokens[i].kind == TOKEN_NAME && !(i && token_is(&p->tokens[i - 1], "."))) {
            const char *name = token_text(p, &p->tokens[i]);
            there = scope_find(p->local, name);
            there = there ? there : scope_find(&p->module, name);
        }
        if (there)
            value_may_be(p, value, there->value);
    }
    return value;
}

struct value *python_skip(struct python *p, size_t from, const char *what)
{
    size_t end = python_end(p, p->at);
    p->at = end;
    return python_unfollowed(p, from, end, what);
}
