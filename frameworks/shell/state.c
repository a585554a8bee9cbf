/* SPDX-License-Identifier: Apache-2.0 */
/* Variables and functions of a script as they stand, and what is left of two ways that it may have gone. */
#include "base/arena.h"
#include "frameworks/shell/parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

/* Variables of inner calls hide those of outer ones. */
static struct variable *find_plain(struct shell *s, const char *name)
{
    struct state *state = s->state;
    struct variable *found = NULL;
    shell_spend(s, 1 + state->count / 2);
    for (size_t i = state->count; i-- > 0;) {
        struct variable *each = &state->variables[i];
        if (!strcmp(each->name, name) && (!found || each->depth > found->depth))
            found = each;
    }
    return found;
}

const char *shell_target(struct shell *s, const char *name)
{
    for (unsigned i = 0; i < 8; i++) {
        const struct variable *variable = find_plain(s, name);
        uint32_t open;
        if (!variable || !variable->reference)
            return name;
        if (variable->value.unknown || !variable->set || !variable->value.count)
            return NULL;
        name = shell_text(s, &variable->value.items[0].cells, &open);
        size_t length = shell_name_length(name);
        if (open || !length || name[length])
            return NULL;
    }
    return NULL;
}

struct variable *shell_find(struct shell *s, const char *name)
{
    const char *target = shell_target(s, name);
    return find_plain(s, target ? target : name);
}

struct variable *shell_add_variable(struct shell *s, const char *name, unsigned depth)
{
    struct state *state = s->state;
    if (state->count == state->capacity) {
        size_t capacity = state->capacity ? 2 * state->capacity : 32;
        struct variable *all = arena_array(s->arena, capacity, sizeof *all);
        if (state->count)
            memcpy(all, state->variables, state->count * sizeof *all);
        state->variables = all;
        state->capacity = capacity;
    }
    shell_spend(s, 8 * CELL_WORK);
    state->variables[state->count] = (struct variable){.name = arena_copy(s->arena, name), .depth = depth};
    return &state->variables[state->count++];
}

struct variable *shell_declare(struct shell *s, const char *name, bool local)
{
    struct variable *variable = local ? find_plain(s, name) : shell_find(s, name);
    if (variable && (!local || variable->depth == s->state->depth || variable->fixed))
        return variable;
    bool known = variable || !s->state->lost, exported = local && variable && variable->exported,
         hidden = exported && variable->hidden;
    const char *target = local ? name : shell_target(s, name);
    variable = shell_add_variable(s, target ? target : name, local ? s->state->depth : 0);
    variable->exported = s->state->allexport || exported;
    variable->hidden = hidden;
    if (!known && !local) { /* it may be an array, exported, read-only */
        variable->value.unknown = shell_unknown_as(s, name, s->state->lost);
        variable->set = variable->exported = variable->hidden = true;
    }
    return variable;
}

/* Names that bash or the system sets. */
bool shell_is_of_system(const char *name)
{
    static const char *const names[] = {"HOME",
                                        "PATH",
                                        "PWD",
                                        "OLDPWD",
                                        "USER",
                                        "LOGNAME",
                                        "HOSTNAME",
                                        "SHELL",
                                        "UID",
                                        "EUID",
                                        "PPID",
                                        "RANDOM",
                                        "SRANDOM",
                                        "SECONDS",
                                        "LINENO",
                                        "IFS",
                                        "TERM",
                                        "LANG",
                                        "TMPDIR",
                                        "SHLVL",
                                        "HOSTTYPE",
                                        "OSTYPE",
                                        "MACHTYPE",
                                        "PIPESTATUS",
                                        "FUNCNAME",
                                        "DIRSTACK",
                                        "GROUPS",
                                        "OPTIND",
                                        "OPTERR",
                                        "PS1",
                                        "PS2",
                                        "PS4",
                                        "REPLY",
                                        "OPTARG",
                                        "MAPFILE",
                                        "COPROC",
                                        "EPOCHSECONDS",
                                        "EPOCHREALTIME",
                                        "COLUMNS",
                                        "LINES",
                                        "_",
                                        "SHELLOPTS",
                                        "HISTCMD",
                                        "COMP_WORDBREAKS",
                                        NULL};
    for (const char *const *each = names; *each; each++)
        if (!strcmp(name, *each))
            return true;
    return !strncmp(name, "BASH", 4) || !strncmp(name, "LC_", 3);
}

bool shell_may_count(const struct shell *s, uint32_t unknown)
{
    static const char *const counts[] = {"UID",          "EUID",          "PPID",    "RANDOM", "SRANDOM",
                                         "SECONDS",      "LINENO",        "COLUMNS", "LINES",  "HISTCMD",
                                         "EPOCHSECONDS", "EPOCHREALTIME", "SHLVL",   "OPTIND", NULL};
    const struct unknown *entry = &s->unknowns[unknown];
    bool other = !shell_is_of_system(entry->name);
    for (const char *const *each = counts; *each && !other; each++)
        other = !strcmp(entry->name, *each);
    return other && !entry->text;
}

/* ---- values ---- */

/* What -1 and on stand for, of an array that is not empty. */
static int64_t from_end(const struct value *value, int64_t index)
{
    return value->items[value->count - 1].index + index + 1;
}

struct value shell_single(struct shell *s, const struct cells *cells)
{
    struct value value = {.count = 1};
    value.items = arena_array(s->arena, 1, sizeof *value.items);
    value.items[0].cells = *cells;
    return value;
}

const struct cells *shell_element(struct shell *s, const struct value *value, const char *key, int64_t index)
{
    if (!key && index < 0 && value->count)
        index = from_end(value, index);
    shell_spend(s, value->count);
    for (size_t i = 0; i < value->count; i++) {
        const struct element *element = &value->items[i];
        if (key ? element->key && !strcmp(element->key, key) : !element->key && element->index == index)
            return &element->cells;
    }
    return NULL;
}

/* What declare -u, -l and -i make of a text. */
static struct cells as_declared(struct shell *s, const struct variable *variable, const struct cells *cells)
{
    struct cells out = {0};
    int64_t number;
    uint32_t open;
    if (variable->integer) {
        if (s->evaluate(s, cells, &number, &open, 0, 0))
            return shell_cells_of(s, arena_print(s->arena, "%lld", (long long)number), 0, 0);
        if (open && (s->loop || s->functions || s->files)) /* what is no number ends all of these */
            shell_refuse(s, s->source, s->at, "%s is an integer, and gets what may be none", variable->name);
        shell_add_open(s, &out, open ? open : shell_unknown(s, variable->name, "no whole number", 0, 0), true);
        return out;
    }
    for (size_t i = 0; i < cells->count; i++) {
        struct cell cell = cells->items[i];
        if (variable->letters && cell.c != CELL_OPEN)
            cell.c = (char)(variable->letters == 'u' ? toupper((unsigned char)cell.c) : tolower((unsigned char)cell.c));
        shell_add(s, &out, cell);
    }
    return out;
}

/* A variable that is there in one of two ways only: in the other one an outer one is assigned. */
static void doubt_outer(struct shell *s, const char *name)
{
    uint32_t why = shell_unknown(s, name, "assigned within a function that may have declared it", 0, 0);
    bool found = false;
    shell_spend(s, s->state->count);
    for (size_t i = 0; i < s->state->count; i++) {
        struct variable *each = &s->state->variables[i];
        if (strcmp(each->name, name) != 0 || each->doubted || each->fixed)
            continue;
        each->value = (struct value){.unknown = why};
        each->set = found = true;
    }
    if (!found) {
        struct variable *outer = shell_add_variable(s, name, 0);
        outer->value.unknown = why;
        outer->set = true;
    }
}

/* A value that is assigned has no quotes any more, but an unknown stays in one word only where it was quoted. */
/* Of IFS: what it is before a script changes it. */
static bool has_usual_text(struct shell *s, const struct value *value)
{
    uint32_t open = 0;
    bool good = !value->unknown && value->count && !strcmp(shell_text(s, &value->items[0].cells, &open), " \t\n");
    return good && !open;
}

void shell_set(struct shell *s, const char *name, struct value value)
{
    const char *target = shell_target(s, name);
    if (!target) {
        shell_lose(s, "a reference to a variable that is not known", 0, 0);
        return;
    }
    struct variable *variable = shell_declare(s, target, false);
    if (variable->fixed)
        return;
    if (variable->readonly) {
        shell_refuse(s, 0, 0, "the script assigns %s, which is read-only", target);
        return;
    }
    if (variable->referred)
        shell_lose(s, "what may be a reference is assigned", 0, 0);
    if (variable->integer && value.unknown && (s->state->nounset || !shell_may_count(s, value.unknown)))
        shell_doubt(s, s->source, s->at); /* what is no number ends the script */
    if (variable->changed)
        value = (struct value){.unknown = shell_unknown(s, target, "declared in one of two ways", 0, 0)};
    if (variable->doubted) {
        doubt_outer(s, target);
        variable = shell_declare(s, target, false);
    }
    if ((variable->integer || variable->letters) && !value.unknown) {
        struct value changed = value;
        changed.items = arena_array(s->arena, value.count, sizeof *changed.items);
        for (size_t i = 0; i < value.count; i++) {
            changed.items[i] = value.items[i];
            changed.items[i].cells = as_declared(s, variable, &value.items[i].cells);
        }
        value = changed;
        variable = shell_declare(s, target, false);
    }
    variable->value = value;
    variable->set = true;
    variable->loose = false;
    variable->hidden |= !variable->exported && s->state->may_export;
    variable->exported |= s->state->allexport;
    if (!strcmp(target, "IFS") && has_usual_text(s, &value))
        s->state->splitting = 0;
    else if (!strcmp(target, "IFS"))
        s->state->splitting = shell_unknown(s, "IFS", "IFS, at which words are cut, was changed", 0, 0);
}

void shell_set_word(struct shell *s, const char *name, const struct cells *cells)
{
    const struct variable *variable = shell_find(s, name);
    if (variable && variable->set && variable->value.array && !variable->fixed)
        shell_set_element(s, name, variable->value.keyed ? "0" : NULL, 0, cells);
    else
        shell_set(s, name, shell_single(s, cells));
}

void shell_set_text(struct shell *s, const char *name, const char *text, uint16_t source, size_t at)
{
    struct cells cells = shell_cells_of(s, text, source, at);
    shell_set(s, name, shell_single(s, &cells));
}

void shell_set_unknown(struct shell *s, const char *name, uint32_t why)
{
    const struct variable *variable = shell_find(s, name);
    bool array = variable && variable->set && variable->value.array;
    shell_set(s, name, (struct value){.unknown = shell_unknown_as(s, name, why), .array = array});
}

void shell_set_element(struct shell *s, const char *name, const char *key, int64_t index, const struct cells *cells)
{
    const struct variable *variable = shell_find(s, name);
    struct value old = variable && variable->set ? variable->value : (struct value){0}, new = old;
    if (old.unknown)
        return;
    if (!key && index < 0 && old.count)
        index = from_end(&old, index);
    if (!old.ragged && !key && index < 0) /* bash leaves the whole loop or function */
        shell_refuse(s, s->source, s->at, "the script assigns an element of %s before its first", name);
    if (old.ragged || (!key && index < 0)) {
        shell_set_unknown(s, name, shell_unknown(s, name, "an element before the first is assigned", 0, 0));
        return;
    }
    new.items = arena_array(s->arena, old.count + 1, sizeof *new.items);
    new.count = 0;
    new.array = true;
    new.keyed |= key != NULL;
    bool placed = false;
    for (size_t i = 0; i < old.count; i++) {
        const struct element *each = &old.items[i];
        bool same = key ? each->key && !strcmp(each->key, key) : each->index == index;
        if (!placed && (same || (!key && each->index > index))) {
            new.items[new.count++] = (struct element){key, index, *cells};
            placed = true;
        }
        if (!same)
            new.items[new.count++] = *each;
    }
    if (!placed)
        new.items[new.count++] = (struct element){key, index, *cells};
    shell_spend(s, CELL_WORK * new.count);
    shell_set(s, name, new);
}

void shell_unset(struct shell *s, const char *name, uint16_t source, size_t at)
{
    const char *target = shell_target(s, name);
    struct variable *variable = target ? find_plain(s, target) : NULL;
    bool outer = false;
    shell_spend(s, s->state->count);
    for (size_t i = 0; target && i < s->state->count; i++)
        outer |= !strcmp(s->state->variables[i].name, target) && s->state->variables[i].depth != s->state->depth;
    if (!target || (variable && variable->readonly)) {
        shell_lose(s, "what is unset is not known", source, at);
        return;
    }
    if (!strcmp(target, "IFS"))
        s->state->splitting = shell_unknown(s, "IFS", "IFS, at which words are cut, was unset", source, at);
    if (variable && outer && s->state->depth) { /* whose variable is seen then depends on bash's release */
        shell_set_unknown(s, target, shell_unknown(s, target, "unset within a function", source, at));
        return;
    }
    if (!variable)
        variable = shell_declare(s, target, false);
    if (!variable->fixed)
        *variable = (struct variable){.name = variable->name, .depth = variable->depth};
}

void shell_forget_all(struct shell *s, const char *name)
{
    uint32_t why = shell_unknown(s, name, "a variable before a command that declares it", 0, 0);
    shell_declare(s, name, false);
    shell_spend(s, s->state->count);
    for (size_t i = 0; i < s->state->count; i++) {
        struct variable *each = &s->state->variables[i];
        if (strcmp(each->name, name) != 0 || each->fixed)
            continue;
        each->value = (struct value){.unknown = why};
        each->set = true;
    }
    if (!s->state->lost) /* it may be set outside all calls now */
        s->state->lost = why;
}

void shell_unset_reference(struct shell *s, const char *name)
{
    struct variable *variable = find_plain(s, name);
    if (variable && !variable->fixed)
        *variable = (struct variable){.name = variable->name, .depth = variable->depth};
}

/* ---- calls ---- */

void shell_leave(struct shell *s)
{
    struct state *state = s->state;
    shell_spend(s, state->count / 2);
    while (state->count && state->variables[state->count - 1].depth >= state->depth)
        state->count--;
    size_t kept = 0;
    for (size_t i = 0; i < state->count; i++)
        if (state->variables[i].depth < state->depth)
            state->variables[kept++] = state->variables[i];
    state->count = kept;
    state->depth--;
}

void shell_lose(struct shell *s, const char *why, uint16_t source, size_t at)
{
    struct state *state = s->state;
    uint32_t lost = shell_unknown(s, "all", why, source, at);
    for (size_t i = 0; i < state->count; i++)
        if (!state->variables[i].fixed) {
            state->variables[i].value = (struct value){.unknown = shell_unknown_as(s, state->variables[i].name, lost)};
            state->variables[i].set = true;
            state->variables[i].exported = state->variables[i].hidden = true;
        }
    state->lost = lost;
    state->strange = true;
    shell_doubt_functions(s, state);
    state->arguments_unknown = lost;
    state->folder = NULL;
    state->status = -1;
    shell_write(s, NULL, NULL, false, false);
}

/* ---- copies ---- */

struct state *shell_copy(struct shell *s, const struct state *state)
{
    struct state *copy = arena_alloc(s->arena, sizeof *copy);
    *copy = *state;
    copy->capacity = state->count + 8;
    copy->variables = arena_array(s->arena, copy->capacity, sizeof *copy->variables);
    if (state->count)
        memcpy(copy->variables, state->variables, state->count * sizeof *copy->variables);
    shell_spend(s, 8 * CELL_WORK * (state->count + 4));
    return copy;
}

struct state *shell_child(struct shell *s)
{
    struct state *child = shell_copy(s, s->state);
    size_t kept = 0;
    shell_spend(s, child->count * child->count / 4);
    for (size_t i = 0; i < child->count; i++) {
        struct variable variable = child->variables[i];
        bool hidden = false;
        for (size_t k = i + 1; k < child->count; k++)
            hidden |= !strcmp(child->variables[k].name, variable.name);
        if (hidden || (!variable.exported && !variable.fixed))
            continue;
        if ((variable.value.array && !variable.value.unknown) || variable.reference) /* arrays are not exported */
            continue;
        if (variable.hidden && !variable.fixed)
            variable.value =
                (struct value){.unknown = shell_unknown(s, variable.name, "a variable that may not be exported", 0, 0)};
        variable.hidden = false;
        variable.depth = 0;
        variable.integer = variable.readonly = false;
        variable.letters = 0;
        child->variables[kept++] = variable;
    }
    child->count = kept;
    child->functions = shell_exported_functions(s, s->state);
    child->argument_count = 0;
    child->arguments_unknown = 0;
    child->depth = 0;
    child->splitting = 0;
    child->status = 0;
    child->errexit = child->may_exit = child->allexport = child->noglob = child->pipefail = child->nounset = false;
    child->may_export = child->may_pipe = child->trapped = child->behind = false;
    return child;
}
