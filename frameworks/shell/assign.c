/* SPDX-License-Identifier: Apache-2.0 */
/* NAME=value, NAME[i]=value, NAME=(...), and declare with its relatives. */
#include "base/arena.h"
#include "frameworks/shell/parts.h"

#include <string.h>

/* ---- arrays ---- */

struct list {
    struct element *items;
    size_t count, capacity;
    int64_t next;
    uint32_t open;
    bool ragged;
};

static void add_element(struct shell *s, struct list *list, const char *key, int64_t index, const struct cells *cells)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 8;
        struct element *items = arena_array(s->arena, capacity, sizeof *items);
        if (list->count)
            memcpy(items, list->items, list->count * sizeof *items);
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = (struct element){key, index, *cells};
    for (size_t i = 0; i < cells->count; i++)
        list->ragged |= cells->items[i].c == CELL_OPEN && !cells->items[i].quoted;
    list->next = index < INT64_MAX ? index + 1 : index;
    shell_spend(s, CELL_WORK);
}

/* [KEY]=value of an array in brackets; false: it is no such word. */
static bool add_indexed(struct shell *s, uint16_t source, size_t at, size_t end, const struct variable *keyed,
                        struct list *list)
{
    const char *text = s->sources[source].text, *key;
    size_t close = at;
    int64_t index;
    struct cells cells = {0};
    if (text[at] != '[')
        return false;
    while (close < end && text[close] != ']')
        close = strchr("'\"", text[close]) ? shell_quote_end(&s->sources[source], close, end)
                : text[close] == '$'       ? shell_dollar_end(&s->sources[source], close, end)
                                           : close + 1;
    if (close + 1 >= end || text[close + 1] != '=')
        return false;
    if (!shell_subscript(s, keyed, source, at + 1, close, &key, &index)) {
        list->open = shell_unknown(s, "[]", "an element whose number is not known", source, at);
        return true;
    }
    shell_expand_value(s, source, close + 2, end, &cells);
    shell_spend(s, list->count);
    for (size_t i = 0; i < list->count; i++)
        if (key ? list->items[i].key && !strcmp(list->items[i].key, key) : list->items[i].index == index) {
            list->items[i].cells = cells;
            list->next = index < INT64_MAX ? index + 1 : index;
            return true;
        }
    if (!key && index < 0) /* from the end */
        list->open = shell_unknown(s, "[]", "an element whose number is not known", source, at);
    if (!key && list->count && index < list->items[list->count - 1].index)
        list->open = shell_unknown(s, "[]", "elements that are not in their order", source, at);
    add_element(s, list, key, index, &cells);
    return true;
}

static size_t skip_between(const struct shell *s, uint16_t source, size_t at, size_t to)
{
    const char *text = s->sources[source].text;
    for (; at < to; at++) {
        if (text[at] == '#' && strchr(" \t\n(", text[at - 1]))
            at += strcspn(text + at, "\n");
        else if (text[at] == '\\' && text[at + 1] == '\n')
            at++;
        else if (!strchr(" \t\n", text[at]))
            break;
    }
    return at < to ? at : to;
}

/* ( ... ): `at` is behind the bracket. */
static void read_array(struct shell *s, uint16_t source, size_t at, size_t to, const struct variable *keyed,
                       struct list *list)
{
    for (at = skip_between(s, source, at, to); at < to && !s->broken; at = skip_between(s, source, at, to)) {
        size_t end = shell_word_end(&s->sources[source], at, to), count = 0;
        struct cells *words = NULL;
        if (end == at) {
            list->open = shell_unknown(s, "()", "an array that is not understood", source, at);
            return;
        }
        if (!add_indexed(s, source, at, end, keyed, list)) {
            shell_expand_word(s, source, at, end, &words, &count);
            for (size_t i = 0; i < count; i++) {
                if (shell_is_nothing(s, &words[i])) /* names that nobody sets are no words */
                    continue;
                if (list->count && list->items[list->count - 1].index == INT64_MAX)
                    list->open = shell_unknown(s, "()", "an element behind the last number", source, at);
                add_element(s, list, NULL, list->next, &words[i]);
            }
            if (keyed)
                list->open = shell_unknown(s, "()", "an associative array without keys", source, at);
        }
        at = end;
    }
}

/* An array with a word that may be several has more elements than are seen: "${A[@]}" shows them all, but a number or a
 * count does not. */
static void assign_array(struct shell *s, uint16_t source, const struct raw *raw, const char *name)
{
    const struct variable *old = shell_find(s, name), *keyed = old && old->value.keyed ? old : NULL;
    struct list list = {0};
    uint32_t unknown = 0;
    bool was_keyed = keyed;
    if (raw->more && old && old->set) {
        unknown = old->value.unknown;
        list.ragged = old->value.ragged;
        for (size_t i = 0; i < old->value.count && !unknown; i++)
            add_element(s, &list, old->value.items[i].key, old->value.items[i].index, &old->value.items[i].cells);
    } else if (raw->more && !old && s->state->lost)
        unknown = s->state->lost;
    read_array(s, source, raw->value + 1, raw->to - 1, keyed, &list);
    unknown = unknown ? unknown : list.open;
    if (unknown)
        shell_set_unknown(s, name, unknown);
    else
        shell_set(
            s, name,
            (struct value){
                .items = list.items, .count = list.count, .array = true, .keyed = was_keyed, .ragged = list.ragged});
}

/* ---- plain values ---- */

static void assign_more(struct shell *s, const char *name, struct cells *cells, uint16_t source, size_t at)
{
    const struct variable *old = shell_find(s, name);
    struct cells all = {0};
    if (!old && !s->state->lost) { /* of the environment, if anybody's */
        shell_is_free(s, name);
        return;
    }
    if (!old || (old->set && old->value.unknown)) {
        shell_add_open(s, &all, shell_unknown_as(s, name, old ? old->value.unknown : s->state->lost), false);
    } else if (old->set && old->value.count) {
        const struct cells *before = shell_element(s, &old->value, old->value.keyed ? "0" : NULL, 0);
        if (before)
            shell_add_cells(s, &all, before);
    }
    if (old && old->integer) {
        const char *text;
        uint32_t open;
        text = shell_text(s, cells, &open);
        *cells = shell_cells_of(s, arena_print(s->arena, "+(%s)", text), source, at);
    }
    shell_add_cells(s, &all, cells);
    *cells = all;
}

static void assign_element(struct shell *s, uint16_t source, const struct raw *raw, const char *name,
                           const struct cells *cells)
{
    const struct variable *variable = shell_find(s, name);
    const char *key;
    int64_t index;
    struct cells all = {0};
    if (!shell_subscript(s, variable, source, raw->index_from, raw->index_to, &key, &index)) {
        shell_set_unknown(s, name, shell_unknown(s, name, "an element whose number is not known", source, raw->from));
        return;
    }
    variable = shell_find(s, name);
    const struct cells *old =
        raw->more && variable && variable->set ? shell_element(s, &variable->value, key, index) : NULL;
    if (raw->more && ((variable && variable->integer) || s->state->lost)) {
        shell_set_unknown(s, name, shell_unknown(s, name, "an element that grows", source, raw->from));
        return;
    }
    if (old)
        shell_add_cells(s, &all, old);
    shell_add_cells(s, &all, cells);
    shell_set_element(s, name, key, index, &all);
}

/* A value that is expanded: NAME=, NAME+=, NAME[i]=. */
static void assign_cells(struct shell *s, uint16_t source, const struct raw *raw, const char *name, struct cells cells)
{
    if (raw->index_to > raw->index_from) {
        assign_element(s, source, raw, name, &cells);
        return;
    }
    if (raw->more)
        assign_more(s, name, &cells, source, raw->from);
    const struct variable *old = shell_find(s, name);
    if (old && old->set && old->value.array && !old->fixed)
        shell_set_element(s, name, old->value.keyed ? "0" : NULL, 0, &cells);
    else
        shell_set(s, name, shell_single(s, &cells));
}

void shell_assign(struct shell *s, uint16_t source, const struct raw *raw)
{
    const char *written = arena_copy_part(s->arena, s->sources[source].text + raw->from, raw->name);
    const char *target = shell_target(s, written), *name = target ? target : written;
    struct cells cells = {0};
    if (raw->array) {
        assign_array(s, source, raw, name);
        return;
    }
    shell_expand_value(s, source, raw->value, raw->to, &cells);
    assign_cells(s, source, raw, name, cells);
}

/* ---- export, declare, local, readonly, typeset ---- */

struct declaration {
    bool local, export, unexport, integer, readonly, array, keyed, reference, global, functions, print, other;
    char letters;
};

static void read_letters(struct declaration *d, const char *text)
{
    bool off = text[0] == '+';
    for (const char *at = text + 1; *at; at++)
        switch (*at) {
        case 'x':
            d->export = !off;
            d->unexport = off;
            break;
        case 'n':
            d->reference = true;
            break;
        case 'i':
            d->integer = true;
            break;
        case 'r':
            d->readonly = true;
            break;
        case 'a':
            d->array = true;
            break;
        case 'A':
            d->keyed = true;
            break;
        case 'u':
        case 'l':
            d->letters = *at;
            break;
        case 'g':
            d->global = true;
            break;
        case 'f':
        case 'F':
            d->functions = true;
            break;
        case 'p':
            d->print = true;
            break;
        default:
            d->other = true;
        }
    d->other |= off && (d->reference || d->integer || d->letters || d->array || d->keyed || d->readonly);
}

static void set_flags(struct shell *s, const struct declaration *d, const char *name)
{
    struct variable *variable = shell_declare(s, name, d->local);
    if (variable->fixed)
        return;
    if (variable->temporary) /* what becomes of it, and of the one that it hides, depends on bash's release */
        shell_forget_all(s, name);
    if (d->keyed && variable->set && variable->value.array && !variable->value.keyed)
        shell_refuse(s, s->source, s->at, "%s is an array already, which bash makes no associative one of", name);
    variable->changed |= d->keyed && variable->set && variable->value.unknown; /* it may be an array */
    variable->exported |= d->export;
    variable->exported &= !d->unexport;
    variable->hidden &= !d->export && !d->unexport;
    variable->integer |= d->integer;
    variable->letters = d->letters ? d->letters : variable->letters;
    variable->value.keyed |= d->keyed;
    variable->value.array |= d->keyed || d->array;
    if (d->keyed && !variable->set)
        variable->set = true;
}

/* NAME or NAME=... of a word that is not written as an assignment but becomes one. False: it is no name, which
 * bash refuses, and goes on. */
static bool declare_text(struct shell *s, const struct declaration *d, const struct cells *word, uint16_t source,
                         size_t at)
{
    uint32_t open;
    struct cells value = {0}, own = shell_without_free(s, word);
    const char *text = shell_text(s, &own, &open);
    size_t length = strcspn(text, "="), name = shell_name_length(text);
    if (!own.count)
        return !word->count || !word->items[0].quoted;
    if (name != length || !name) {
        if (open || text[0] == '-' || text[0] == '+') /* options of a variable */
            shell_lose(s, "names and values that are not known are declared", source, at);
        return open || text[0] == '-' || text[0] == '+';
    }
    const char *variable = arena_copy_part(s->arena, text, length);
    if (!text[length]) {
        set_flags(s, d, variable);
        return true;
    }
    for (size_t i = length + 1; i < own.count; i++)
        shell_add(s, &value, own.items[i]);
    if (own.items[own.count - 1].c == CELL_OPEN && !own.items[own.count - 1].quoted) {
        shell_lose(s, "names and values that are not known are declared", source, at);
        return true;
    }
    set_flags(s, d, variable);
    shell_set_word(s, variable, &value);
    return true;
}

/* NAME=(...): bash assigns it while it expands the words, before the plain values of the same command. */
static void declare_array(struct shell *s, const struct declaration *d, uint16_t source, const struct raw *raw)
{
    const char *name = arena_copy_part(s->arena, s->sources[source].text + raw->from, raw->name);
    struct list list = {0};
    if (!d->local || raw->more || d->keyed) {
        set_flags(s, d, name);
        assign_array(s, source, raw, name);
        return;
    }
    read_array(s, source, raw->value + 1, raw->to - 1, NULL, &list); /* sees the outer one by its own name */
    set_flags(s, d, name);
    if (list.open)
        shell_set_unknown(s, name, list.open);
    else
        shell_set(s, name,
                  (struct value){.items = list.items, .count = list.count, .array = true, .ragged = list.ragged});
}

static void declare_value(struct shell *s, const struct declaration *d, uint16_t source, const struct raw *raw,
                          const struct cells *value)
{
    const char *name = arena_copy_part(s->arena, s->sources[source].text + raw->from, raw->name);
    if (!d->reference) {
        set_flags(s, d, name);
        assign_cells(s, source, raw, name, *value);
        return;
    }
    struct variable *variable = shell_declare(s, name, d->local);
    variable->reference = true;
    variable->value = shell_single(s, value);
    variable->set = true;
}

/* `local` outside of functions: bash refuses it, and goes on; but arrays were assigned before. */
static void expand_only(struct shell *s, const struct step *step, size_t first)
{
    struct cells unused = {0};
    const struct declaration none = {0};
    for (size_t i = first; i < step->count && !s->broken; i++)
        if (step->words[i].array)
            declare_array(s, &none, step->source, &step->words[i]);
        else
            s->expand(s, step->source, step->words[i].from, step->words[i].to, false, &unused);
    s->state->status = 1;
}

/* No assignment follows. */
static void forbid(struct shell *s, uint16_t source, const struct raw *raw)
{
    struct variable *variable =
        shell_find(s, arena_copy_part(s->arena, s->sources[source].text + raw->from, raw->name));
    if (variable)
        variable->readonly = true;
}

static void forbid_text(struct shell *s, const struct cells *word)
{
    uint32_t open;
    const char *text = shell_text(s, word, &open);
    struct variable *variable = shell_find(s, arena_copy_part(s->arena, text, shell_name_length(text)));
    if (variable)
        variable->readonly = true;
}

/* One word behind the options, expanded. */
struct declared {
    const struct raw *raw;
    struct cells value, *words; /* of NAME=value; what it becomes else */
    size_t count;
};

/* export -f NAME: 0 where all are functions, 1 where one is none, -1 where that is not known. */
static int export_functions(struct shell *s, const struct step *step, size_t first)
{
    int status = 0;
    for (size_t i = first; i < step->count; i++) {
        const struct raw *raw = &step->words[i];
        const char *name = arena_copy_part(s->arena, s->sources[step->source].text + raw->from, raw->to - raw->from);
        bool plain = name[shell_name_length(name)] == '\0';
        if (!(plain && shell_export_function(s, name)) && status == 0)
            status = plain && !s->state->lost ? 1 : -1;
    }
    return status;
}

/* The options, up to the first word that is none; false: bash declares nothing, or it is not followed. */
static bool read_declaration(struct shell *s, const struct step *step, size_t *first, struct declaration *d)
{
    for (; *first < step->count && !s->broken && !step->words[*first].name; ++*first) {
        struct cells word = {0};
        uint32_t open;
        const struct raw *raw = &step->words[*first];
        const char *text = s->sources[step->source].text + raw->from;
        if (text[0] != '-' && text[0] != '+')
            break;
        s->expand(s, step->source, raw->from, raw->to, false, &word);
        text = shell_text(s, &word, &open);
        if (!text[1])
            break;
        read_letters(d, text);
    }
    bool lost = d->other || d->global || (d->export && d->reference) || (d->unexport && d->reference); /* export -n */
    if (lost)
        shell_lose(s, "a declaration that is not followed", step->source, step->at);
    if (s->capture && (*first == step->count || d->print || d->functions)) /* of all, or of these */
        shell_add_open(s, s->capture, shell_unknown(s, "(declare)", "the output of a command", step->source, step->at),
                       false);
    if (*first == step->count || d->print || d->functions)
        s->state->status = d->export && d->functions && !d->print ? export_functions(s, step, *first) : -1;
    return *first < step->count && !lost && !d->functions && !d->print;
}

/* Whether no word may be left of those behind the options: then bash prints what is declared. */
static bool prints_all(struct shell *s, const struct declared *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (all[i].raw->name)
            return false;
        for (size_t k = 0; k < all[i].count; k++) {
            const struct cells *word = &all[i].words[k];
            bool open = word->count == 1 && word->items[0].c == CELL_OPEN && !word->items[0].quoted;
            if (!open && !shell_is_nothing(s, word))
                return false;
        }
    }
    return true;
}

void shell_run_declaration(struct shell *s, const struct step *step, size_t first, const char *name)
{
    struct declaration d = {.export = !strcmp(name, "export"), .readonly = !strcmp(name, "readonly")};
    d.local = !d.export && !d.readonly && s->functions > 0;
    if (!strcmp(name, "local") && !s->functions) {
        expand_only(s, step, first);
        return;
    }
    if (!read_declaration(s, step, &first, &d))
        return;
    struct declared *all = arena_array(s->arena, step->count - first, sizeof *all);
    bool good = true;
    for (size_t i = first; i < step->count && !s->broken; i++) {
        struct declared *each = &all[i - first];
        each->raw = &step->words[i];
        if (each->raw->array)
            declare_array(s, &d, step->source, each->raw);
        else if (each->raw->name)
            shell_expand_value(s, step->source, each->raw->value, each->raw->to, &each->value);
        else
            shell_expand_word(s, step->source, each->raw->from, each->raw->to, &each->words, &each->count);
    }
    if (s->capture && prints_all(s, all, step->count - first))
        shell_add_open(s, s->capture, shell_unknown(s, "(declare)", "the output of a command", step->source, step->at),
                       false);
    for (size_t i = first; i < step->count && !s->broken; i++) {
        const struct declared *each = &all[i - first];
        if (each->raw->name && !each->raw->array &&
            shell_has_braces(s, step->source, each->raw->value, each->raw->to)) /* which make several words here */
            shell_lose(s, "braces in a declaration", step->source, each->raw->from);
        else if (each->raw->name && !each->raw->array)
            declare_value(s, &d, step->source, each->raw, &each->value);
        for (size_t k = 0; k < each->count; k++) {
            good &= declare_text(s, &d, &each->words[k], step->source, each->raw->from);
            if (d.readonly)
                forbid_text(s, &each->words[k]);
        }
        if (d.readonly && each->raw->name)
            forbid(s, step->source, each->raw);
    }
    s->state->status = !good;
}
