/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: of constructors, of the file's own functions, of what Python has built in, and of methods. */
#include "base/arena.h"
#include "frameworks/python/parts.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static const char passed_on[] = "what was given to a function that is not followed";

/* ---- arguments ---- */

/* What stands behind ** in a call. */
static void spread(struct python *p, struct value *arguments, bool *open)
{
    struct value *other = p->expression(p);
    if (other->kind == VALUE_MAP)
        value_set_all(p, arguments, other);
    else
        value_set(p, arguments, "**", other->at, other);
    *open |= other->kind != VALUE_MAP;
}

struct value *python_arguments(struct python *p, bool *open)
{
    size_t end = p->tokens[p->at].match, position = 0;
    struct value *arguments = value_new(p, VALUE_MAP, python_peek(p)->at);
    bool creating = p->creating;
    *open = p->creating = false;
    for (p->at++; p->at < end && !python_is_spent(p);) {
        const struct token *token = python_peek(p);
        if (python_takes(p, "**")) {
            spread(p, arguments, open);
        } else if (python_takes(p, "*")) {
            value_set(p, arguments, arena_print(p->arena, "*%zu", position++), token->at, p->expression(p));
            *open = true;
        } else if (token->kind == TOKEN_NAME && token_is(token + 1, "=")) {
            p->at += 2;
            value_set(p, arguments, token_text(p, token), token->at, p->expression(p));
        } else {
            value_set(p, arguments, arena_print(p->arena, "%zu", position++), token->at, p->expression(p));
        }
        if (!python_takes(p, ","))
            break;
    }
    if (p->at != end) {
        value_set(p, arguments, "*", arguments->at, python_unfollowed(p, p->at, end, passed_on));
        *open = true;
    }
    p->at = end + 1;
    p->creating = creating;
    return arguments;
}

static void touch_arguments(struct python *p, const struct value *arguments, struct place at)
{
    if (!p->dry)
        for (const struct entry *each = arguments->first; each; each = each->next)
            value_touch(p, each->value, at, passed_on);
}

/* ---- what is built in ---- */

static struct value *first(const struct value *arguments)
{
    const struct entry *entry = value_find(arguments, "0");
    return entry ? entry->value : NULL;
}

/* Puts the arguments that have a name. */
static void set_named(struct python *p, struct value *value, const struct value *arguments)
{
    for (const struct entry *each = arguments->first; each; each = each->next)
        if (strcmp(each->key, "0") != 0)
            value_set(p, value, each->key, each->key_at, each->value);
}

/* As dict and its `update` take them: a map, names with values, or both. False: the arguments are others. */
static bool update(struct python *p, struct value *map, const struct value *arguments)
{
    const struct value *other = first(arguments);
    if (map->kind != VALUE_MAP || (other && other->kind != VALUE_MAP) || value_find(arguments, "1"))
        return false;
    if (other)
        value_set_all(p, map, other);
    set_named(p, map, arguments);
    return true;
}

/* dict(a=1, b=2), dict({...}, c=3). */
static struct value *make_map(struct python *p, const struct value *arguments, struct place at)
{
    struct value *map = value_new(p, VALUE_MAP, at);
    return update(p, map, arguments) ? map : NULL;
}

static struct value *make_number(struct python *p, const char *name, const struct value *of, struct place at)
{
    if (!value_is_number(of))
        return NULL;
    double real = value_number(of);
    if (!strcmp(name, "float"))
        return of->kind == VALUE_WHOLE && (of->whole > 1LL << 53 || of->whole < -(1LL << 53)) ? NULL
                                                                                              : value_real(p, real, at);
    if (of->kind != VALUE_REAL)
        return value_whole(p, of->whole, at);
    return fabs(real) < 9e18 ? value_whole(p, (int64_t)(!strcmp(name, "round") ? rint(real) : trunc(real)), at) : NULL;
}

/* dataclasses.replace(config, a=1) */
static struct value *replace(struct python *p, const struct value *arguments)
{
    struct value *of = first(arguments);
    if (!of || of->kind != VALUE_CALL || value_find(arguments, "1"))
        return NULL;
    struct value *other = value_copy(p, of, false);
    set_named(p, other, arguments);
    return other;
}

/* NULL: it is none that is known, or not of these arguments. */
static struct value *built_in(struct python *p, const char *name, const struct value *arguments, struct place at)
{
    struct value *of = first(arguments);
    bool truth, one = of && arguments->count == 1;
    if (!strcmp(name, "dict"))
        return make_map(p, arguments, at);
    if (!strcmp(name, "dataclasses.replace") || !strcmp(name, "replace"))
        return replace(p, arguments);
    if (!one)
        return (!strcmp(name, "list") || !strcmp(name, "tuple")) && !arguments->count ? value_new(p, VALUE_LIST, at)
                                                                                      : NULL;
    if (!strcmp(name, "int") || !strcmp(name, "float") || !strcmp(name, "round"))
        return make_number(p, name, of, at);
    if (!strcmp(name, "bool"))
        return value_truth(of, &truth) ? value_flag(p, truth, at) : NULL;
    if (!strcmp(name, "len"))
        return of->kind == VALUE_LIST || of->kind == VALUE_MAP ? value_whole(p, (int64_t)of->count, at) : NULL;
    if ((!strcmp(name, "list") || !strcmp(name, "tuple")) && of->kind == VALUE_LIST)
        return value_copy(p, of, false);
    if (!strcmp(name, "copy.copy") || !strcmp(name, "copy.deepcopy"))
        return value_is_container(of) ? value_copy(p, of, name[5] == 'd') : of;
    return NULL;
}

static bool is_among(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (!strcmp(*names, name))
            return true;
    return false;
}

/* Python's own functions that change none of their arguments. */
static const char *const innocent[] = {"int", "float", "round", "bool",       "len",  "list", "tuple",
                                       "str", "dict",  "print", "min",        "max",  "sum",  "abs",
                                       "set", "any",   "all",   "isinstance", "repr", NULL};

/* Those that reach every name. */
static const char *const omnipotent[] = {"exec", "eval", "globals", "locals", "vars", "__import__", NULL};

/* A class, as names are written: Trainer.Config, _Own. */
static bool is_constructor(const char *name)
{
    const char *last = strrchr(name, '.');
    last = last ? last + 1 : name;
    last += strspn(last, "_");
    return isupper((unsigned char)*last);
}

/* ---- calls ---- */

/* What an innocent function gives could hold what it was given. */
static struct value *made_of(struct python *p, const struct value *arguments, struct place at, const char *name)
{
    struct value *value = value_unknown(p, at, "what %s(...) gives", name);
    for (const struct entry *each = arguments->first; each; each = each->next)
        value_may_be(p, value, each->value);
    return value;
}

static struct value *call_name(struct python *p, const char *name, struct value *arguments, struct place at, bool open)
{
    struct value *value = open ? NULL : built_in(p, name, arguments, at);
    bool data = is_constructor(name) || is_among(p->request->harmless, name);
    if (value)
        return value;
    if (!data && !is_among(innocent, name))
        touch_arguments(p, arguments, at);
    if (is_among(omnipotent, name))
        python_forget(p, at, "what a program in the program may have changed");
    if (!data || open)
        return made_of(p, arguments, at, name);
    arguments->kind = VALUE_CALL;
    arguments->text = name;
    arguments->at = at;
    return arguments;
}

struct value *python_call_value(struct python *p, struct value *callee, struct place at)
{
    bool open;
    struct value *arguments = python_arguments(p, &open), *value = NULL;
    if (p->dry)
        return value_unknown(p, at, "a call that is not made");
    if (callee->kind == VALUE_NAME)
        return call_name(p, callee->text, arguments, at, open);
    if (callee->kind == VALUE_FUNCTION && !open)
        value = p->follow(p, callee, arguments);
    if (value)
        return value;
    touch_arguments(p, arguments, at);
    value_touch(p, callee, at, passed_on);
    return value_unknown(p, at, "what a function gives that is not followed");
}

/* ---- methods ---- */

static struct value *get(struct python *p, const struct value *map, const struct value *arguments, struct place at)
{
    const struct value *key = first(arguments);
    const struct entry *other = value_find(arguments, "1");
    if (map->kind != VALUE_MAP || !key || key->kind != VALUE_TEXT || arguments->count > 1 + (other != NULL))
        return NULL;
    const struct entry *there = value_find(map, key->text);
    return there ? there->value : other ? other->value : value_new(p, VALUE_NONE, at);
}

/* NULL: it is not followed. */
static struct value *method(struct python *p, struct value *object, const char *name, const struct value *arguments,
                            struct place at)
{
    struct value *of = first(arguments);
    if (!strcmp(name, "update"))
        return update(p, object, arguments) ? value_new(p, VALUE_NONE, at) : NULL;
    if (!strcmp(name, "get"))
        return get(p, object, arguments, at);
    if (!strcmp(name, "copy") && !arguments->count && (object->kind == VALUE_MAP || object->kind == VALUE_LIST))
        return value_copy(p, object, false);
    if (!strcmp(name, "append") && object->kind == VALUE_LIST && of && arguments->count == 1) {
        value_append(p, object, of);
        return value_new(p, VALUE_NONE, at);
    }
    return NULL;
}

struct value *python_call_method(struct python *p, struct value *object, const char *name, struct place at)
{
    bool open;
    const struct value *arguments = python_arguments(p, &open);
    if (p->dry)
        return value_unknown(p, at, "a call that is not made");
    struct value *value = open ? NULL : method(p, object, name, arguments, at);
    if (value)
        return value;
    value_touch(p, object, at, "what a method changed that is not followed");
    touch_arguments(p, arguments, at);
    return value_unknown(p, at, "what .%s(...) gives", name);
}
