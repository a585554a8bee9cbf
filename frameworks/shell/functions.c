/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a script: which one a name stands for, and where that is not known. */
#include "base/arena.h"
#include "frameworks/shell/parts.h"

#include <string.h>

/* The last definition of a name; NULL: there is none. */
static const struct function *find(struct shell *s, const struct function *list, const char *name)
{
    for (; list; list = list->next) {
        shell_spend(s, 1);
        if (!strcmp(list->name, name))
            return list;
    }
    return NULL;
}

const struct function *shell_function(struct shell *s, const char *name)
{
    const struct function *found = find(s, s->state->functions, name);
    return found && found->body && !found->doubted ? found : NULL;
}

const struct function *shell_doubted_function(struct shell *s, const char *name)
{
    const struct function *found = find(s, s->state->functions, name);
    return found && found->doubted ? found : NULL;
}

static struct function *add(struct shell *s, struct function **list, const struct function *like)
{
    struct function *function = arena_alloc(s->arena, sizeof *function);
    shell_spend(s, sizeof *function);
    *function = *like;
    function->next = *list;
    *list = function;
    return function;
}

void shell_define_function(struct shell *s, const char *name, const struct step *body)
{
    const struct function *old = find(s, s->state->functions, name);
    bool exported = body && (s->state->allexport || (old && old->body && old->exported));
    add(s, &s->state->functions, &(struct function){.name = name, .body = body, .exported = exported});
}

bool shell_export_function(struct shell *s, const char *name)
{
    const struct function *old = find(s, s->state->functions, name);
    if (!old || !old->body)
        return false;
    add(s, &s->state->functions, old)->exported = true;
    return true;
}

void shell_doubt_functions(struct shell *s, struct state *state)
{
    struct function *list = NULL;
    for (const struct function *each = state->functions; each; each = each->next)
        if (!find(s, list, each->name))
            add(s, &list, each)->doubted = true;
    state->functions = list;
}

struct function *shell_exported_functions(struct shell *s, const struct state *state)
{
    struct function *list = NULL;
    for (const struct function *each = state->functions; each; each = each->next)
        if (each->exported && find(s, state->functions, each->name) == each)
            add(s, &list, each);
    return list;
}

/* Whether a name stands for the same in two lists. */
static bool same(struct shell *s, const struct function *a, const struct function *b, const char *name)
{
    const struct function *x = find(s, a, name), *y = find(s, b, name);
    bool there = x && (x->body || x->doubted), other = y && (y->body || y->doubted);
    return there == other && (!there || (x->body == y->body && x->doubted == y->doubted && x->exported == y->exported));
}

bool shell_same_functions(struct shell *s, const struct function *a, const struct function *b)
{
    for (const struct function *each = a == b ? NULL : a; each; each = each->next)
        if (!same(s, a, b, each->name))
            return false;
    for (const struct function *each = a == b ? NULL : b; each; each = each->next)
        if (!same(s, a, b, each->name))
            return false;
    return true;
}

/* Of a name that is not the same in two lists: the one body that there is, or none. */
static void merge_one(struct shell *s, struct function **list, const struct state *a, const struct state *b,
                      const char *name)
{
    const struct function *x = find(s, a->functions, name), *y = find(s, b->functions, name);
    const struct step *first = x ? x->body : NULL, *second = y ? y->body : NULL;
    struct function both = {.name = name, .exported = (x && x->exported) || (y && y->exported)};
    both.body = !first || !second || first == second ? (first ? first : second) : NULL;
    both.doubted = !same(s, a->functions, b->functions, name) || (x && x->doubted);
    if (!find(s, *list, name))
        add(s, list, &both);
}

void shell_merge_functions(struct shell *s, struct state *into, const struct state *other)
{
    struct function *list = NULL;
    if (shell_same_functions(s, into->functions, other->functions))
        return;
    for (const struct function *each = into->functions; each; each = each->next)
        merge_one(s, &list, into, other, each->name);
    for (const struct function *each = other->functions; each; each = each->next)
        merge_one(s, &list, into, other, each->name);
    into->functions = list;
}
