/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of python.h share; for them only. */
#ifndef STAGESIM_PYTHON_PARTS_H
#define STAGESIM_PYTHON_PARTS_H

#include "base/diagnostics.h"
#include "frameworks/python/python.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- tokens.c ---- */

enum token_kind {
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_OPERATOR,
    TOKEN_NEWLINE,
    TOKEN_INDENT,
    TOKEN_DEDENT,
    TOKEN_END
};

struct token {
    enum token_kind kind;
    const char *text; /* in the file */
    size_t length;
    struct place at;
    size_t match; /* of an opening bracket or indent: the token that closes it */
};

/* Cuts a file into tokens, the last of which is TOKEN_END. Brackets and indents are closed. NULL after a mistake was
 * reported. */
struct token *python_tokens(const struct python_request *request, size_t *count);

/* ---- value.c ---- */

enum value_kind {
    VALUE_NONE,
    VALUE_FLAG,
    VALUE_WHOLE,
    VALUE_REAL,
    VALUE_TEXT,
    VALUE_LIST, /* also a tuple */
    VALUE_MAP,
    VALUE_CALL,     /* what a constructor made: its arguments, and what was assigned later */
    VALUE_NAME,     /* something from elsewhere: torch.bfloat16 */
    VALUE_FUNCTION, /* of this file */
    VALUE_UNKNOWN   /* text: why */
};

struct value {
    enum value_kind kind;
    struct place at;
    int64_t whole; /* VALUE_FLAG, VALUE_WHOLE */
    double real;
    const char *text;           /* VALUE_TEXT, VALUE_NAME; what was called; why it is not known */
    struct entry *first, *last; /* of VALUE_UNKNOWN: what it could be, or hold */
    size_t count;
    size_t token;        /* VALUE_FUNCTION: behind `def` */
    bool closed;         /* VALUE_FUNCTION: not followed: decorated, or within another one */
    bool within;         /* it is being copied or converted: where it holds itself, that ends */
    struct value *owner; /* VALUE_UNKNOWN: a default of what this call made, under the name `member` */
    const char *member;
};

struct entry {
    const char *key; /* NULL in a list */
    struct place key_at;
    struct value *value;
    struct entry *next;
};

/* All are shared by reference, as in Python; values other than lists, maps and calls never change. */
struct value *value_new(struct python *python, enum value_kind kind, struct place at);
struct value *value_text(struct python *python, enum value_kind kind, const char *text, struct place at);
struct value *value_whole(struct python *python, int64_t whole, struct place at);
struct value *value_real(struct python *python, double real, struct place at);
struct value *value_flag(struct python *python, bool flag, struct place at);
__attribute__((format(printf, 3, 4))) struct value *value_unknown(struct python *python, struct place at,
                                                                  const char *format, ...);
bool value_is_container(const struct value *value);
bool value_is_number(const struct value *value); /* flags are numbers, as in Python */
double value_number(const struct value *value);
/* Whether it is known to be true or false, and which. */
bool value_truth(const struct value *value, bool *truth);

struct entry *value_find(const struct value *value, const char *key);
struct value *value_at(const struct value *list, int64_t index); /* from the end where it is below 0; NULL: none */
/* Puts a value under a key, in place of what is there. */
void value_set(struct python *python, struct value *value, const char *key, struct place key_at, struct value *item);
/* The same for all that another map or call holds. */
void value_set_all(struct python *python, struct value *value, const struct value *other);
void value_append(struct python *python, struct value *list, struct value *item);
/* A copy whose items are the same, or are copied as well. */
struct value *value_copy(struct python *python, struct value *value, bool deep);
/* A value that is not known could be another one, or hold it: what changes it may change that. */
void value_may_be(struct python *python, struct value *unknown, struct value *other);
/* Something that is not followed could have changed it: it is not known from here on, nor what it holds. */
void value_touch(struct python *python, struct value *value, struct place at, const char *why);
/* As a tree of nodes; NULL where it is too large. */
struct node *value_node(struct python *python, struct value *value);

/* ---- the state, cursor.c ---- */

struct scope {
    struct entry *first;
};

/* At most so many calls within calls, expressions within expressions, steps, and bytes of a text. */
enum { PYTHON_CALLS_MAX = 16, PYTHON_NESTED_MAX = 400, PYTHON_STEPS_MAX = 2000000, PYTHON_TEXT_MAX = 10000 };

struct python {
    const struct python_request *request;
    struct arena *arena;
    struct token *tokens;
    size_t count, at;
    struct scope module, *local; /* local: of the function that is followed, or the module's */
    size_t stop;                 /* behind this token no part of a name, index or call is read */
    bool creating;               /* parts that are not there are made, for an assignment */
    unsigned dry;                /* above 0: what is read is not carried out */
    unsigned calls, nested;
    size_t steps;
    struct value *returned; /* NULL: the function goes on */
    /* expression.c's and python.c's, for what is below them. `follow`: a function of the file with arguments; NULL
     * where it cannot be followed: what it mentions may have changed then. */
    struct value *(*expression)(struct python *python);
    struct value *(*follow)(struct python *python, const struct value *function, const struct value *arguments);
};

struct entry *scope_find(const struct scope *scope, const char *name);
void scope_set(struct python *python, struct scope *scope, const char *name, struct place at, struct value *value);

/* ---- cursor.c ---- */

const struct token *python_peek(const struct python *python);
bool token_is(const struct token *token, const char *text);
/* Whether the next token is this operator or word. */
bool python_sees(const struct python *python, const char *text);
/* Goes past the token if it is this one. */
bool python_takes(struct python *python, const char *text);
const char *token_text(struct python *python, const struct token *token);
/* The token behind this one; behind its closing bracket where it opens one. */
size_t python_past(const struct python *python, size_t token);
/* The end of the expression that begins at a token. */
size_t python_end(const struct python *python, size_t token);
/* Whether the work is more than anybody's file needs. */
bool python_is_spent(struct python *python);

/* ---- poison.c ---- */

/* = += and the like. */
bool token_is_assignment(const struct token *token);
/* A name that only stands before something: Trainer.Config, f(...), a[0]. */
bool token_is_used_only(const struct token *token);
/* What stands between two tokens is not followed: names that it mentions may have changed. */
void python_poison(struct python *python, size_t from, size_t to, const char *why);
/* Every name may have changed. */
void python_forget(struct python *python, struct place at, const char *why);
/* An expression between two tokens is not followed: only calls and assignments in it change something. What it gives
 * could be any of the values that it mentions. */
struct value *python_unfollowed(struct python *python, size_t from, size_t to, const char *what);
/* Goes to the end of an expression that is not followed, which began at `from`; what it mentions may have changed. */
struct value *python_skip(struct python *python, size_t from, const char *what);

/* ---- expression.c, atom.c, call.c ---- */

struct value *python_expression(struct python *python);
/* A name, literal or bracket with what follows it: .name, [index], (arguments). */
struct value *python_primary(struct python *python);
/* One operator's result, where it is known. */
struct value *python_apply(struct python *python, const char *sign, struct value *a, struct value *b, struct place at);
/* The arguments of a call, whose opening bracket is next: those without a name are "0", "1", ... *open: there may be
 * others. */
struct value *python_arguments(struct python *python, bool *open);
struct value *python_call_value(struct python *python, struct value *callee, struct place at);
struct value *python_call_method(struct python *python, struct value *object, const char *name, struct place at);

/* ---- statement.c ---- */

/* Statements up to the token `end`, or to the function's return. */
void python_block(struct python *python, size_t end);

#endif
