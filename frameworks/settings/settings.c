/* SPDX-License-Identifier: Apache-2.0 */
#include "frameworks/settings/settings.h"

#include "base/arena.h"
#include "base/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct source source_given(struct place at, const char *text)
{
    return (struct source){SETTING_GIVEN, at, text};
}

struct source source_default(const char *text)
{
    return (struct source){SETTING_DEFAULT, {0}, text};
}

struct source source_assumed(const char *text)
{
    return (struct source){SETTING_ASSUMED, {0}, text};
}

/* ---- settings ---- */

static struct setting *find(const struct settings *s, const char *key)
{
    for (struct setting *each = s->first; each; each = each->next)
        if (!strcmp(each->key, key))
            return each;
    return NULL;
}

static void append(struct settings *s, const char *key, const char *value, struct source from)
{
    struct setting *setting = arena_alloc(s->arena, sizeof *setting);
    *setting = (struct setting){arena_copy(s->arena, key), arena_copy(s->arena, value), from, NULL};
    if (s->last)
        s->last->next = setting;
    else
        s->first = setting;
    s->last = setting;
}

/* Two files contradict each other. */
static void report_conflict(struct settings *s, const struct setting *first, const char *value, struct source from)
{
    const char *key = first->key + (*first->key == '@');
    diag_error(s->diag, from.at, "%s: %s says %s, but %s said %s; expected files that agree, or --set %s=VALUE", key,
               from.text, value, first->from.text, first->value, key);
    diag_note(s->diag, first->from.at, "%s was given here", first->from.text);
}

/* A default does not stand against what a file says, but is named. */
static void remark_default(struct settings *s, const struct setting *given, const char *value, struct source weaker)
{
    settings_remark(s, REMARK_CHOICE, given->from.at, given->key + (*given->key == '@'),
                    "%s says %s; the default of %s would be %s", given->from.text, given->value, weaker.text, value);
}

void settings_put(struct settings *s, const char *key, const char *value, struct source from)
{
    struct setting *there = find(s, key);
    if (!there) {
        append(s, key, value, from);
        return;
    }
    bool same = !strcmp(there->value, value);
    if (from.origin > there->from.origin) {
        struct setting before = *there;
        there->value = arena_copy(s->arena, value);
        there->from = from;
        if (!same && before.from.origin == SETTING_DEFAULT && from.origin == SETTING_GIVEN)
            remark_default(s, there, before.value, before.from);
    } else if (!same && from.origin == there->from.origin && from.origin >= SETTING_GIVEN)
        report_conflict(s, there, value, from);
    else if (!same && from.origin == SETTING_DEFAULT && there->from.origin == SETTING_GIVEN)
        remark_default(s, there, value, from);
}

void settings_put_count(struct settings *s, const char *key, uint64_t value, struct source from)
{
    settings_put(s, key, arena_print(s->arena, "%llu", (unsigned long long)value), from);
}

void settings_put_flag(struct settings *s, const char *key, bool value, struct source from)
{
    settings_put(s, key, value ? "true" : "false", from);
}

void settings_replace(struct settings *s, const char *key, const char *value, struct source from)
{
    struct setting *there = find(s, key);
    if (there && there->from.origin == SETTING_TYPED)
        return;
    if (!there) {
        append(s, key, value, from);
        return;
    }
    there->value = arena_copy(s->arena, value);
    there->from = from;
}

void settings_remove(struct settings *s, const char *key)
{
    struct setting *before = NULL;
    for (struct setting *each = s->first; each; before = each, each = each->next) {
        if (strcmp(each->key, key) != 0)
            continue;
        if (before)
            before->next = each->next;
        else
            s->first = each->next;
        if (s->last == each)
            s->last = before;
        return;
    }
}

const struct setting *settings_find(const struct settings *s, const char *key)
{
    return find(s, key);
}

const char *settings_text(const struct settings *s, const char *key, const char *other)
{
    const struct setting *setting = find(s, key);
    return setting ? setting->value : other;
}

uint64_t settings_count(const struct settings *s, const char *key, uint64_t other)
{
    const struct setting *setting = find(s, key);
    struct node node = {.kind = NODE_SCALAR, .text = setting ? setting->value : ""};
    uint64_t count;
    return setting && node_count(&node, &count) ? count : other;
}

uint64_t settings_product(uint64_t a, uint64_t b)
{
    return a && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

/* ---- remarks ---- */

void settings_remark(struct settings *s, enum remark_kind kind, struct place at, const char *name, const char *format,
                     ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct remark *remark = arena_alloc(s->arena, sizeof *remark);
    *remark = (struct remark){kind, at, arena_copy(s->arena, name), arena_vprint(s->arena, format, arguments), NULL};
    va_end(arguments);
    if (s->last_remark)
        s->last_remark->next = remark;
    else
        s->remarks = remark;
    s->last_remark = remark;
}

unsigned settings_remarks(const struct settings *s, enum remark_kind kind)
{
    unsigned count = 0;
    for (const struct remark *each = s->remarks; each; each = each->next)
        count += each->kind == kind;
    return count;
}

/* ---- scalars ---- */

bool node_given(const struct node *node)
{
    if (!node || node->kind == NODE_REFUSED)
        return false;
    if (node->kind != NODE_SCALAR)
        return true;
    return node->quoted || (*node->text && strcmp(node->text, "~") != 0 && strcasecmp(node->text, "null") != 0 &&
                            strcmp(node->text, "None") != 0 && strcmp(node->text, "???") != 0);
}

bool node_number(const struct node *node, double *number)
{
    char digits[64], *end;
    size_t count = 0;
    if (!node || node->kind != NODE_SCALAR)
        return false;
    for (const char *at = node->text; *at; at++) {
        if (*at == '_' && at > node->text)
            continue;
        if (!strchr("0123456789+-.eE", *at) || count + 1 == sizeof digits)
            return false;
        digits[count++] = *at;
    }
    digits[count] = '\0';
    double value = strtod(digits, &end);
    if (!count || *end || !isfinite(value))
        return false;
    *number = value;
    return true;
}

bool node_count(const struct node *node, uint64_t *count)
{
    double value;
    if (!node_number(node, &value) || value < 0 || value > 0x1p53 || value != floor(value))
        return false;
    *count = (uint64_t)value;
    return true;
}

bool node_flag(const struct node *node, bool *flag)
{
    static const char *const yes[] = {"true", "yes", "on", "1", NULL}, *const no[] = {"false", "no", "off", "0", NULL};
    if (!node || node->kind != NODE_SCALAR)
        return false;
    for (size_t i = 0; yes[i]; i++)
        if (!strcasecmp(node->text, yes[i]) || !strcasecmp(node->text, no[i])) {
            *flag = !strcasecmp(node->text, yes[i]);
            return true;
        }
    return false;
}
