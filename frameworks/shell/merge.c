/* SPDX-License-Identifier: Apache-2.0 */
/* What is left of two ways that a script may have gone, and of a process that ended. */
#include "base/arena.h"
#include "frameworks/shell/parts.h"

#include <string.h>

static bool values_equal(struct shell *s, const struct value *a, const struct value *b)
{
    if (a->unknown || b->unknown)
        return a->unknown == b->unknown;
    if (a->count != b->count || a->array != b->array || a->keyed != b->keyed || a->ragged != b->ragged)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct element *x = &a->items[i], *y = &b->items[i];
        bool keys = x->key && y->key ? !strcmp(x->key, y->key) : x->key == y->key;
        if (x != y && (!keys || x->index != y->index || !shell_cells_equal(s, &x->cells, &y->cells)))
            return false;
    }
    return true;
}

static struct variable *same_variable(const struct state *state, const struct variable *variable)
{
    for (size_t i = 0; i < state->count; i++)
        if (state->variables[i].depth == variable->depth && !strcmp(state->variables[i].name, variable->name))
            return &state->variables[i];
    return NULL;
}

/* `other` NULL: it is in one of the ways only. */
static void merge_variable(struct shell *s, struct variable *into, const struct variable *other, uint32_t why)
{
    const struct variable none = {.name = into->name};
    bool inner = !other && into->depth;
    other = other ? other : &none;
    bool kind = into->integer == other->integer && into->readonly == other->readonly &&
                into->reference == other->reference && into->letters == other->letters &&
                into->value.keyed == other->value.keyed;
    bool flags = kind && into->exported == other->exported;
    if (into->fixed)
        return;
    into->changed |= other->changed || !kind;
    into->referred |= other->referred || into->reference != other->reference;
    into->doubted |= other->doubted || inner;
    into->loose |= other->loose || into->set != other->set;
    bool array = into->value.array || other->value.array;
    if (!inner && flags && into->set == other->set && values_equal(s, &into->value, &other->value))
        return;
    if (into->value.unknown && flags && into->hidden == other->hidden) {
        into->value.array = array;
        return;
    }
    into->value = (struct value){.unknown = shell_unknown_as(s, into->name, why), .array = array};
    into->hidden |= other->hidden || into->exported != other->exported;
    into->exported |= other->exported;
    into->set = true;
    into->integer = into->readonly = into->reference = false;
    into->letters = 0;
}

static void merge_rest(struct shell *s, struct state *into, const struct state *other, uint32_t why)
{
    bool arguments =
        into->argument_count == other->argument_count && into->arguments_unknown == other->arguments_unknown;
    for (size_t i = 0; arguments && i < into->argument_count; i++)
        arguments = shell_cells_equal(s, &into->arguments[i], &other->arguments[i]);
    if (!arguments)
        into->arguments_unknown = shell_unknown_as(s, "@", why);
    shell_merge_functions(s, into, other);
    into->lost = into->lost ? into->lost : other->lost;
    if (!into->folder || !other->folder || strcmp(into->folder, other->folder) != 0)
        into->folder = NULL;
    if (into->status != other->status)
        into->status = -1;
    into->splitting = into->splitting ? into->splitting : other->splitting;
    into->may_exit |= other->may_exit || into->errexit != other->errexit;
    into->errexit &= other->errexit;
    into->nounset |= other->nounset;
    into->may_pipe |= other->may_pipe || into->pipefail != other->pipefail;
    into->pipefail |= other->pipefail;
    into->may_export |= other->may_export || into->allexport != other->allexport;
    into->allexport |= other->allexport;
    into->strange |= other->strange;
    into->trapped |= other->trapped;
    into->behind &= other->behind;
    into->noglob &= other->noglob;
    if (into->files != other->files) {
        struct written *any = arena_alloc(s->arena, sizeof *any);
        any->next = into->files;
        into->files = any;
    }
}

void shell_merge(struct shell *s, struct state *into, const struct state *other, uint32_t why)
{
    struct state *before = s->state;
    size_t count = into->count;
    const struct variable gone = {.set = true, .value = {.unknown = into->lost}};
    s->state = into;
    shell_spend(s, CELL_WORK * count * (1 + other->count / 8));
    for (size_t i = 0; i < count; i++) {
        const struct variable *same = same_variable(other, &into->variables[i]);
        const struct variable lost = {.name = into->variables[i].name, .set = true, .value = {.unknown = other->lost}};
        if (other->lost && !same && !into->variables[i].depth)
            same = &lost;
        merge_variable(s, &into->variables[i], same, why);
    }
    for (size_t i = 0; i < other->count; i++)
        if (!same_variable(into, &other->variables[i])) {
            struct variable *new = shell_add_variable(s, other->variables[i].name, other->variables[i].depth);
            *new = other->variables[i];
            merge_variable(s, new, into->lost && !new->depth ? &gone : NULL, why);
        }
    merge_rest(s, into, other, why);
    s->state = before;
}

static void keep_files(struct shell *s, const struct written *files, const struct written *before)
{
    for (; files && files != before; files = files->next)
        shell_write(s, files->path, NULL, false, false);
}

void shell_end_process(struct shell *s, struct state *outer, const struct state *early, bool apart)
{
    struct written *files = s->state->files;
    const struct written *before = outer->files;
    s->state = outer;
    if (!early && !apart) {
        outer->files = files;
        return;
    }
    keep_files(s, files, before);
    if (early)
        keep_files(s, early->files, before);
}

bool shell_same(struct shell *s, const struct state *a, const struct state *b)
{
    shell_spend(s, a->count * b->count / 4);
    if (a->count != b->count || !a->lost != !b->lost || !shell_same_functions(s, a->functions, b->functions) ||
        !a->arguments_unknown != !b->arguments_unknown || a->argument_count != b->argument_count ||
        !a->folder != !b->folder || !a->splitting != !b->splitting)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct variable *x = &a->variables[i], *y = same_variable(b, x);
        bool open = y && x->value.unknown && y->value.unknown;
        if (!y || x->set != y->set || x->doubted != y->doubted || x->changed != y->changed ||
            (!open && !values_equal(s, &x->value, &y->value)))
            return false;
    }
    return true;
}
