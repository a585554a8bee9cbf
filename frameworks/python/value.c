/* SPDX-License-Identifier: Apache-2.0 */
/* Values as Python has them, shared by reference. */
#include "base/arena.h"
#include "base/number_text.h"
#include "frameworks/python/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

struct value *value_new(struct python *p, enum value_kind kind, struct place at)
{
    struct value *value = arena_alloc(p->arena, sizeof *value);
    value->kind = kind;
    value->at = at;
    return value;
}

struct value *value_text(struct python *p, enum value_kind kind, const char *text, struct place at)
{
    struct value *value = value_new(p, kind, at);
    value->text = text;
    return value;
}

struct value *value_whole(struct python *p, int64_t whole, struct place at)
{
    struct value *value = value_new(p, VALUE_WHOLE, at);
    value->whole = whole;
    return value;
}

struct value *value_real(struct python *p, double real, struct place at)
{
    struct value *value = value_new(p, VALUE_REAL, at);
    value->real = real;
    return isfinite(real) ? value : value_unknown(p, at, "a number that is not finite");
}

struct value *value_flag(struct python *p, bool flag, struct place at)
{
    struct value *value = value_new(p, VALUE_FLAG, at);
    value->whole = flag;
    return value;
}

struct value *value_unknown(struct python *p, struct place at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct value *value = value_text(p, VALUE_UNKNOWN, arena_vprint(p->arena, format, arguments), at);
    va_end(arguments);
    return value;
}

bool value_is_container(const struct value *value)
{
    return value->kind == VALUE_LIST || value->kind == VALUE_MAP || value->kind == VALUE_CALL;
}

bool value_is_number(const struct value *value)
{
    return value->kind == VALUE_WHOLE || value->kind == VALUE_REAL || value->kind == VALUE_FLAG;
}

double value_number(const struct value *value)
{
    return value->kind == VALUE_REAL ? value->real : (double)value->whole;
}

bool value_truth(const struct value *value, bool *truth)
{
    if (value_is_number(value))
        *truth = value_number(value) != 0;
    else if (value->kind == VALUE_TEXT)
        *truth = *value->text;
    else if (value->kind == VALUE_LIST || value->kind == VALUE_MAP)
        *truth = value->count;
    else if (value->kind == VALUE_NONE)
        *truth = false;
    else
        return false;
    return true;
}

/* ---- what lists, maps and calls hold ---- */

struct entry *value_find(const struct value *value, const char *key)
{
    for (struct entry *each = value->first; each; each = each->next)
        if (each->key && !strcmp(each->key, key))
            return each;
    return NULL;
}

struct value *value_at(const struct value *list, int64_t index)
{
    if (index < 0)
        index += (int64_t)list->count;
    if (index < 0)
        return NULL;
    struct entry *each = list->first;
    while (each && index--)
        each = each->next;
    return each ? each->value : NULL;
}

static void append(struct python *p, struct value *value, const char *key, struct place key_at, struct value *item)
{
    struct entry *entry = arena_alloc(p->arena, sizeof *entry);
    *entry = (struct entry){key, key_at, item, NULL};
    if (value->last)
        value->last->next = entry;
    else
        value->first = entry;
    value->last = entry;
    value->count++;
}

void value_set(struct python *p, struct value *value, const char *key, struct place key_at, struct value *item)
{
    struct entry *there = value_find(value, key);
    if (!there && value->count >= DOCUMENT_KEYS_MAX) {
        value_touch(p, value, key_at, "a map of too many keys");
        return;
    }
    if (!there) {
        append(p, value, key, key_at, item);
        return;
    }
    there->value = item;
    there->key_at = key_at;
}

void value_set_all(struct python *p, struct value *value, const struct value *other)
{
    for (const struct entry *each = other->first; each; each = each->next)
        value_set(p, value, each->key, each->key_at, each->value);
}

void value_append(struct python *p, struct value *list, struct value *item)
{
    append(p, list, NULL, item->at, item);
}

static struct value *copy(struct python *p, struct value *value, bool deep, unsigned depth)
{
    if (!value_is_container(value))
        return value;
    if (value->within || depth > DOCUMENT_DEPTH_MAX || python_is_spent(p))
        return value_unknown(p, value->at, "a value that holds itself, or is nested too deep");
    value->within = true;
    struct value *same = value_text(p, value->kind, value->text, value->at);
    for (const struct entry *each = value->first; each && !python_is_spent(p); each = each->next)
        append(p, same, each->key, each->key_at, deep ? copy(p, each->value, true, depth + 1) : each->value);
    value->within = false;
    return same;
}

struct value *value_copy(struct python *p, struct value *value, bool deep)
{
    return copy(p, value, deep, 0);
}

void value_may_be(struct python *p, struct value *unknown, struct value *other)
{
    if (value_is_container(other) || (other->kind == VALUE_UNKNOWN && (other->first || other->owner)))
        append(p, unknown, NULL, other->at, other);
}

static void touch_default(struct python *p, struct value *value, struct place at, const char *why)
{
    if (value->owner && value_is_container(value->owner) && !value_find(value->owner, value->member))
        value_set(p, value->owner, value->member, at, value_unknown(p, at, "%s", why));
}

/* Not by recursion: values can be nested as deep as a file is long. */
void value_touch(struct python *p, struct value *value, struct place at, const char *why)
{
    struct value **waiting = NULL;
    size_t count = 0, capacity = 0;
    for (struct value *now = value; now; now = count ? waiting[--count] : NULL) {
        const struct entry *each = now->first;
        if (now->kind == VALUE_UNKNOWN) {
            touch_default(p, now, at, why);
            now->first = now->last = NULL;
        } else if (value_is_container(now)) {
            now->kind = VALUE_UNKNOWN;
            now->text = why;
            now->at = at;
            now->first = now->last = NULL;
        }
        for (; each; each = each->next) {
            waiting = arena_grow(p->arena, waiting, &capacity, count, sizeof(struct value *));
            waiting[count++] = each->value;
        }
    }
}

/* ---- as nodes ---- */

static struct node *scalar(struct python *p, const struct value *value, const char *text)
{
    struct node *node = arena_alloc(p->arena, sizeof *node);
    *node = (struct node){.kind = NODE_SCALAR, .at = value->at, .text = text, .quoted = value->kind == VALUE_TEXT};
    return node;
}

static struct node *refused(struct python *p, const struct value *value, const char *why)
{
    struct node *node = scalar(p, value, why);
    node->kind = NODE_REFUSED;
    return node;
}

static struct node *plain(struct python *p, const struct value *value)
{
    char text[NUMBER_TEXT_MAX + 1];
    switch (value->kind) {
    case VALUE_NONE:
        return scalar(p, value, "null");
    case VALUE_FLAG:
        return scalar(p, value, value->whole ? "true" : "false");
    case VALUE_WHOLE:
        return scalar(p, value, arena_print(p->arena, "%" PRId64, value->whole));
    case VALUE_REAL:
        text[number_write(text, value->real)] = '\0';
        return scalar(p, value, arena_copy(p->arena, text));
    case VALUE_TEXT:
    case VALUE_NAME:
        return scalar(p, value, value->text);
    case VALUE_FUNCTION:
        return refused(p, value, "a function");
    default:
        return refused(p, value, value->text);
    }
}

static struct node *convert(struct python *p, struct value *value, unsigned depth)
{
    if (!value_is_container(value))
        return plain(p, value);
    if (value->within || depth > DOCUMENT_DEPTH_MAX || python_is_spent(p))
        return refused(p, value, "a value that holds itself, or is nested too deep");
    value->within = true;
    struct node *node = arena_alloc(p->arena, sizeof *node);
    *node = (struct node){.kind = value->kind == VALUE_LIST ? NODE_LIST : NODE_MAP, .at = value->at};
    if (value->kind == VALUE_CALL) {
        struct node *callee = scalar(p, value, value->text);
        callee->key = python_callee;
        callee->key_at = value->at;
        node_append(node, callee);
    }
    for (const struct entry *each = value->first; each; each = each->next) {
        struct node *child = convert(p, each->value, depth + 1);
        child->key = node->kind == NODE_MAP ? each->key : NULL;
        child->key_at = each->key_at;
        node_append(node, child);
    }
    value->within = false;
    return node;
}

struct node *value_node(struct python *p, struct value *value)
{
    return convert(p, value, 0);
}
