/* SPDX-License-Identifier: Apache-2.0 */
/* What $NAME and ${NAME[...]} stand for: variables, elements, arguments, what bash itself sets. */
#include "base/arena.h"
#include "frameworks/shell/parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static uint32_t of_system(struct shell *s, const char *name, uint16_t source, size_t at)
{
    return shell_unknown(s, name, "set by the system that runs the script", source, at);
}

bool shell_subscript(struct shell *s, const struct variable *variable, uint16_t source, size_t from, size_t to,
                     const char **key, int64_t *index)
{
    struct cells cells = {0};
    uint32_t open;
    *key = NULL;
    *index = 0;
    bool keyed = variable && variable->value.keyed;
    s->expand(s, source, from, to, !keyed, &cells);
    if (!keyed)
        return shell_evaluate(s, &cells, index, &open, source, from);
    *key = shell_text(s, &cells, &open);
    struct cells plain = shell_without_free(s, &cells);
    if (!open && !**key)
        shell_refuse(s, source, from, "an element of %s without a key, which bash refuses", variable->name);
    if (open && !shell_has_text(s, &plain)) /* bash refuses a key that is nothing */
        shell_doubt(s, source, from);
    return !open;
}

static void take_arguments(struct shell *s, struct subject *subject, bool star)
{
    subject->all = true;
    subject->star = star;
    subject->open = s->state->arguments_unknown;
    subject->count = s->state->argument_count;
    subject->items = s->state->arguments;
    subject->set = subject->count > 0;
    if (!subject->open && !subject->count && !s->state->depth && !s->sourced)
        shell_is_free(s, "@");
}

static void take_one(struct shell *s, struct subject *subject, const struct cells *cells)
{
    subject->items = arena_array(s->arena, 1, sizeof *subject->items);
    subject->items[0] = *cells;
    subject->count = 1;
    subject->set = true;
}

/* A value that is not known as a whole goes by the variable's name. */
static void take_named(struct shell *s, struct subject *subject, const struct cells *cells)
{
    struct cells named = {0};
    bool whole = cells->count == 1 && cells->items[0].c == CELL_OPEN && s->unknowns[cells->items[0].at].why;
    if (!whole) {
        take_one(s, subject, cells);
        return;
    }
    const char *path = s->unknowns[cells->items[0].at].path;
    uint32_t open = shell_unknown_as(s, subject->name, cells->items[0].at);
    s->unknowns[open].path = path;
    shell_add_open(s, &named, open, cells->items[0].quoted);
    take_one(s, subject, &named);
}

static void take_text(struct shell *s, struct subject *subject, const char *text, uint16_t source, size_t at)
{
    struct cells cells = shell_cells_of(s, text, source, at);
    take_one(s, subject, &cells);
}

/* $0 $1 $# $? and other signs. */
static void take_sign(struct shell *s, struct subject *subject, uint16_t source, size_t at)
{
    const struct state *state = s->state;
    const char *name = subject->name;
    unsigned long number = strtoul(name, NULL, 10);
    if (name[0] == '@' || name[0] == '*')
        take_arguments(s, subject, name[0] == '*');
    else if (name[0] == '#' && !state->arguments_unknown) {
        take_text(s, subject, arena_print(s->arena, "%zu", state->argument_count), source, at);
        if (!state->argument_count && !state->depth)
            shell_is_free(s, "@");
    } else if (name[0] == '?' && state->status >= 0)
        take_text(s, subject, arena_print(s->arena, "%d", state->status), source, at);
    else if (isdigit((unsigned char)name[0]) && number && state->arguments_unknown)
        subject->open = shell_unknown_as(s, name, state->arguments_unknown);
    else if (isdigit((unsigned char)name[0]) && number && number <= state->argument_count)
        take_one(s, subject, &state->arguments[number - 1]);
    else if (isdigit((unsigned char)name[0]) && number)
        subject->open = state->depth ? 0 : shell_unknown(s, name, NULL, source, at);
    else if (name[0] == '0') {
        subject->open = shell_unknown(s, name, "the name by which the script is called", source, at);
        s->unknowns[subject->open].path = s->sources[0].file;
    } else if (name[0] == '!' && state->nounset && !state->behind) {
        shell_doubt(s, source, at); /* not set, unless what is not followed started something */
        subject->open = of_system(s, name, source, at);
    } else
        subject->open =
            name[0] == '#' ? shell_unknown_as(s, name, state->arguments_unknown) : of_system(s, name, source, at);
}

/* All elements, of [@] and [*]. */
static void take_all(struct shell *s, struct subject *subject, const struct variable *variable, bool star)
{
    subject->all = true;
    subject->star = star;
    if (!variable || !variable->set)
        return;
    const struct value *value = &variable->value;
    if (value->keyed && value->count > 1) {
        subject->open = shell_unknown(s, variable->name, "the order of an associative array", 0, 0);
        return;
    }
    subject->ragged = value->ragged;
    subject->items = arena_array(s->arena, value->count, sizeof *subject->items);
    for (size_t i = 0; i < value->count; i++)
        subject->items[i] = value->items[i].cells;
    subject->count = value->count;
    subject->set = value->count > 0;
    subject->sparse = value->count && value->items[value->count - 1].index != (int64_t)value->count - 1;
}

/* Under `set -u` the script ends where a name, or an element, is not set after all. */
static void may_miss(struct shell *s, const char *name, bool may)
{
    if (may && s->state->nounset)
        shell_needed(s, name, s->source, s->at);
}

/* One that is set and known, or that is set to nothing. */
static void take_element(struct shell *s, struct subject *subject, const struct variable *variable, const char *key,
                         int64_t index, uint16_t source, size_t from)
{
    const struct cells *cells =
        shell_element(s, &variable->value, variable->value.keyed ? key ? key : "0" : NULL, index);
    if (cells)
        take_named(s, subject, cells);
    else if (index < 0 && s->state->errexit) /* before the first, which is an error */
        shell_doubt(s, source, from);
}

/* What is not set, as far as the script says. */
static void take_unset(struct shell *s, struct subject *subject, uint16_t source, size_t from)
{
    if (s->state->lost)
        subject->open = shell_unknown_as(s, subject->name, s->state->lost);
    else if (!strcmp(subject->name, "BASH_SOURCE")) {
        subject->open = shell_unknown(s, subject->name, "the name by which the script is called", source, from);
        s->unknowns[subject->open].path = s->sources[source].file;
    } else if (!strcmp(subject->name, "IFS") && !s->state->splitting)
        take_text(s, subject, " \t\n", source, from);
    else if (shell_is_of_system(subject->name)) {
        may_miss(s, subject->name, strstr(" FUNCNAME REPLY OPTARG MAPFILE COPROC ", subject->name) != NULL);
        subject->open = of_system(s, subject->name, source, from);
    } else {
        subject->open = shell_unknown(s, subject->name, NULL, source, from);
    }
}

static void take_variable(struct shell *s, struct subject *subject, uint16_t source, size_t from, size_t to,
                          bool indexed)
{
    const struct variable *variable = shell_find(s, subject->name);
    const char *text = s->sources[source].text, *key = NULL;
    int64_t index = 0;
    bool all = indexed && to == from + 1 && strchr("@*", text[from]), may_fail = false;
    if (indexed && !all && !(variable ? variable->set : s->state->lost)) /* computed although there is no element */
        may_fail = !shell_subscript(s, variable, source, from, to, &key, &index);
    if (may_fail)
        shell_doubt(s, source, from);
    bool none = !variable || !variable->set || (!variable->value.unknown && !variable->value.count);
    if (indexed && none && text[from] == '-' && s->state->errexit) /* before the first, which is an error */
        shell_doubt(s, source, from);
    if (!variable)
        take_unset(s, subject, source, from);
    else if (variable->set && variable->value.unknown) {
        subject->open = shell_unknown_as(s, subject->name, variable->value.unknown);
        may_miss(s, subject->name, variable->loose || indexed);
    } else if (!shell_target(s, subject->name))
        subject->open = shell_unknown(s, subject->name, "a reference to what is not known", source, from);
    else if (all)
        take_all(s, subject, variable, text[from] == '*');
    else if (indexed && !shell_subscript(s, variable, source, from, to, &key, &index)) {
        subject->open = shell_unknown(s, subject->name, "an element whose number is not known", source, from);
        may_miss(s, subject->name, true);
    } else if (variable->set && variable->value.ragged)
        subject->open = shell_unknown(s, subject->name, "an element behind words that are not known", source, from);
    else if (variable->set)
        take_element(s, subject, variable, key, index, source, from);
    subject->all |= all;
    subject->star |= all && text[from] == '*';
}

bool shell_subject(struct shell *s, uint16_t source, size_t *at, size_t to, struct subject *subject)
{
    const char *text = s->sources[source].text;
    size_t end = shell_name_end(&s->sources[source], *at, to), from = *at;
    *subject = (struct subject){0};
    if (end == from && isdigit((unsigned char)text[from]))
        end += strspn(text + end, "0123456789") < to - end ? strspn(text + end, "0123456789") : to - end;
    else if (end == from && from < to && strchr("@*#?$!-", text[from]))
        end++;
    if (end == from || end > to)
        return false;
    subject->name = arena_copy_part(s->arena, text + from, end - from);
    *at = end;
    if (!isalpha((unsigned char)text[from]) && text[from] != '_') {
        take_sign(s, subject, source, from);
        return true;
    }
    size_t close = end;
    if (end < to && text[end] == '[') {
        unsigned depth = 0;
        for (; close < to && !(text[close] == ']' && depth == 1); close++)
            depth += text[close] == '[' ? 1 : text[close] == ']' ? -1U : 0;
        *at = close < to ? close + 1 : to;
        if (close >= to || close == end + 1)
            shell_refuse(s, source, end, "an expansion that bash refuses");
    }
    take_variable(s, subject, source, close > end ? end + 1 : end, close, close > end);
    return true;
}

void shell_keys(struct shell *s, struct subject *subject)
{
    const struct variable *variable = shell_find(s, subject->name);
    if (subject->open || !variable || !variable->set)
        return;
    if (subject->ragged) { /* it may have more elements than are seen */
        subject->open = shell_unknown(s, subject->name, "keys behind words that are not known", s->source, s->at);
        return;
    }
    for (size_t i = 0; i < subject->count; i++) {
        const struct element *element = &variable->value.items[i];
        const char *text = element->key ? element->key : arena_print(s->arena, "%lld", (long long)element->index);
        subject->items[i] = shell_cells_of(s, text, 0, 0);
    }
}
