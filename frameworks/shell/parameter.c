/* SPDX-License-Identifier: Apache-2.0 */
/* What stands between ${ and }: defaults, lengths, parts, patterns, letters. */
#include "base/arena.h"
#include "frameworks/shell/parts.h"

#include <ctype.h>
#include <string.h>

/* An expansion while it is read. */
struct expansion {
    struct shell *s;
    uint16_t source;
    size_t at, to;
    bool quoted;
    struct cells *out;
    struct subject subject;
    bool free; /* nobody sets it here */
};

static void add_unknown(struct expansion *e, uint32_t why)
{
    const char *name = e->subject.name ? e->subject.name : "{}";
    bool many = !e->quoted || (e->subject.all && !e->subject.star);
    shell_add_open(e->s, e->out, shell_unknown_as(e->s, name, why), !many);
}

static void add_not_followed(struct expansion *e, const char *why)
{
    uint32_t open = e->subject.open && e->s->unknowns[e->subject.open].why ? e->subject.open : 0;
    add_unknown(e, open ? open : shell_unknown(e->s, e->subject.name ? e->subject.name : "{}", why, e->source, e->at));
}

/* The items as words; those of [*] in quotes are one. */
static void add_items(struct expansion *e, const struct cells *items, size_t count)
{
    struct shell *s = e->s;
    if (s->state->splitting && ((count > 1 && e->subject.star) || (count && !e->quoted))) {
        add_unknown(e, s->state->splitting);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (i)
            shell_add(s, e->out, (struct cell){0, 0, e->quoted && e->subject.star ? ' ' : CELL_BREAK, true});
        if (e->quoted && e->subject.all && !e->subject.star)
            shell_add(s, e->out, (struct cell){0, 0, CELL_EMPTY, true});
        for (size_t k = 0; k < items[i].count; k++) {
            struct cell cell = items[i].items[k];
            cell.quoted = e->quoted && (cell.c != CELL_OPEN || cell.quoted || e->subject.star);
            if (cell.c != CELL_EMPTY)
                shell_add(s, e->out, cell);
        }
    }
}

static void add_text(struct expansion *e, const char *text)
{
    shell_add_text(e->s, e->out, text, e->source, e->at, e->quoted);
}

/* A name that nobody sets is not set. */
static void take_free(struct expansion *e)
{
    if (!e->subject.open || e->s->unknowns[e->subject.open].why)
        return;
    shell_is_free(e->s, e->s->unknowns[e->subject.open].name);
    e->subject.open = 0;
    e->free = true;
}

/* Whether nothing but what was not followed can have set a name or an argument. */
static bool may_be_unset(struct shell *s, const char *name)
{
    bool may = isalnum((unsigned char)*name) || *name == '_';
    return may && strcmp(name, "0") != 0 && !shell_find(s, name) && !shell_is_of_system(name);
}

/* What `set -u` asks of a subject without a default. */
static void check_bound(struct expansion *e)
{
    struct subject *subject = &e->subject;
    bool free = subject->open && !e->s->unknowns[subject->open].why;
    if (!e->s->state->nounset || subject->all)
        return;
    if (free)
        subject->open = shell_needed(e->s, subject->name, e->source, e->at);
    else if (!subject->open && !subject->set)
        shell_refuse(e->s, e->source, e->at, "the script ends here: %s is not set, under 'set -u'", subject->name);
    else if (subject->open && may_be_unset(e->s, subject->name))
        shell_needed(e->s, subject->name, e->source, e->at);
}

/* ---- ${NAME:-word} and its relatives ---- */

/* Whether the subject is set and, with a colon, has text; -1: not known. */
static int is_given(struct expansion *e, bool colon)
{
    const struct subject *subject = &e->subject;
    if (subject->open || subject->ragged)
        return -1;
    if (!subject->set)
        return 0;
    return !colon || subject->count > 1 ? 1 : shell_has_text(e->s, &subject->items[0]);
}

static void assign_default(struct expansion *e, size_t from)
{
    struct cells written = {0}, cells = {0};
    const char *text = e->s->sources[e->source].text;
    e->s->expand(e->s, e->source, from, e->to, false, &written);
    for (size_t i = 0; i < written.count; i++) {
        struct cell cell = written.items[i];
        cell.quoted |= cell.c == CELL_OPEN;
        cell.c = (char)(cell.c == CELL_BREAK ? ' ' : cell.c);
        if (cell.c != CELL_EMPTY)
            shell_add(e->s, &cells, cell);
    }
    if (e->subject.all || text[from - 2] == ']' || text[from - 3] == ']' || text[from] == '~') {
        add_not_followed(e, "an element that gets a default");
        if (!e->subject.all)
            shell_set_unknown(e->s, e->subject.name,
                              shell_unknown(e->s, e->subject.name, "an element that gets a default", e->source, e->at));
        return;
    }
    shell_set(e->s, e->subject.name, shell_single(e->s, &cells));
    add_items(e, &cells, 1);
}

static void expand_default(struct expansion *e, char how, bool colon)
{
    int given = is_given(e, colon);
    size_t word = e->at + 1 + colon;
    if (given < 0) {
        if (how == '=')
            shell_set_unknown(e->s, e->subject.name,
                              shell_unknown(e->s, e->subject.name, "a default of what is not known", e->source, e->at));
        if (how == '?')
            shell_doubt(e->s, e->source, e->at);
        add_not_followed(e, "a default of what is not known");
    } else if (how == '+') {
        if (given)
            e->s->expand(e->s, e->source, word, e->to, e->quoted, e->out);
    } else if (given)
        add_items(e, e->subject.items, e->subject.count);
    else if (how == '-')
        e->s->expand(e->s, e->source, word, e->to, e->quoted, e->out);
    else if (how == '=')
        assign_default(e, word);
    else if (e->free)
        add_unknown(e, shell_needed(e->s, e->subject.name, e->source, e->at));
    else
        shell_refuse(e->s, e->source, e->at, "the script ends here: %s is not set", e->subject.name);
}

/* ---- ${NAME:offset:length} ---- */

static bool read_number(struct expansion *e, size_t from, size_t to, int64_t *value)
{
    struct cells cells = {0};
    uint32_t open;
    e->s->expand(e->s, e->source, from, to, true, &cells);
    return shell_evaluate(e->s, &cells, value, &open, e->source, from);
}

/* Bytes that are characters; false where some are not, or are not known. */
static bool is_plain(const struct cells *cells)
{
    for (size_t i = 0; i < cells->count; i++)
        if (cells->items[i].c == CELL_OPEN || (signed char)cells->items[i].c < 0)
            return false;
    return true;
}

static void expand_part(struct expansion *e)
{
    struct shell *s = e->s;
    const char *text = s->sources[e->source].text;
    size_t second = e->at + 1;
    int64_t from, length = 0;
    while (second < e->to && text[second] != ':')
        second = text[second] == '$' ? shell_dollar_end(&s->sources[e->source], second, e->to) : second + 1;
    bool bounded = second < e->to;
    struct cells plain =
        e->subject.count && !e->subject.all ? shell_without_free(s, &e->subject.items[0]) : (struct cells){0};
    if (!read_number(e, e->at + 1, second, &from) || (bounded && !read_number(e, second + 1, e->to, &length)) ||
        e->subject.open || e->subject.sparse || e->subject.ragged || !is_plain(&plain) ||
        !strcmp(e->subject.name, "@") || !strcmp(e->subject.name, "*")) {
        add_not_followed(e, "a part of what is not known");
        return;
    }
    int64_t count = (int64_t)(e->subject.all ? e->subject.count : plain.count);
    from += from < 0 ? count : 0;
    if (from < 0 || from > count)
        return;
    int64_t end = !bounded || length > count - from ? count : length < 0 ? count + length : from + length;
    if (end < from || (length < 0 && e->subject.all)) {
        add_not_followed(e, "a part that ends before it begins");
        return;
    }
    struct cells part = {0};
    for (int64_t i = from; !e->subject.all && i < end; i++)
        shell_add(s, &part, plain.items[i]);
    if (e->subject.all && count)
        add_items(e, &e->subject.items[from], (size_t)(end - from));
    else if (e->subject.set)
        add_items(e, &part, 1);
}

/* ---- patterns ---- */

/* Where the first '/' outside of quotes and expansions is, or the end. */
static size_t find_slash(const struct expansion *e, size_t from)
{
    const struct source *source = &e->s->sources[e->source];
    const char *text = source->text;
    size_t slash = from;
    while (slash < e->to && text[slash] != '/')
        slash = text[slash] == '\\'          ? slash + 2
                : text[slash] == '$'         ? shell_dollar_end(source, slash, e->to)
                : strchr("'\"", text[slash]) ? shell_quote_end(source, slash, e->to)
                                             : slash + 1;
    return slash < e->to ? slash : e->to;
}

/* Applies to each item what follows the name. False: not known. */
static bool change(struct expansion *e, const struct cells *item, struct cells *out)
{
    struct shell *s = e->s;
    const char *text = s->sources[e->source].text;
    char how = text[e->at];
    bool twice = e->at + 1 < e->to && text[e->at + 1] == how;
    struct cells pattern = {0}, with = {0};
    size_t from = e->at + 1 + twice;
    if (how == '#' || how == '%') {
        s->expand(s, e->source, from, e->to, false, &pattern);
        return shell_strip(s, item, &pattern, how, twice, out);
    }
    if (how == '^' || how == ',')
        return from == e->to && shell_letters(s, item, how, twice, out);
    char side = twice ? '/' : from < e->to && strchr("#%", text[from]) ? text[from] : '\0';
    from += side == '#' || side == '%';
    size_t slash = find_slash(e, from);
    s->expand(s, e->source, from, slash, false, &pattern);
    for (size_t i = 0; !side && i < pattern.count; i++)
        if (pattern.items[i].c != CELL_EMPTY) {
            if (strchr("#%", pattern.items[i].c)) /* it comes of an expansion, or stands behind quotes */
                return false;
            break;
        }
    if (slash < e->to)
        s->expand(s, e->source, slash + 1, e->to, e->quoted, &with);
    return shell_replace(s, item, &pattern, &with, side, out);
}

static void expand_changed(struct expansion *e)
{
    struct cells *items = arena_array(e->s->arena, e->subject.count, sizeof *items);
    if (e->subject.open) {
        add_not_followed(e, "");
        return;
    }
    for (size_t i = 0; i < e->subject.count; i++) {
        struct cells plain = shell_without_free(e->s, &e->subject.items[i]);
        if (!change(e, &plain, &items[i])) {
            add_not_followed(e, "a pattern that is not followed");
            return;
        }
    }
    add_items(e, items, e->subject.count);
}

/* ---- all together ---- */

static void expand_length(struct expansion *e)
{
    struct shell *s = e->s;
    size_t length = 0;
    bool found = shell_subject(s, e->source, &e->at, e->to, &e->subject);
    check_bound(e);
    if (s->state->nounset && e->subject.all && e->subject.name[0] != '@' && e->subject.name[0] != '*' &&
        !e->subject.count) /* an error that leaves out this command alone */
        shell_refuse(s, e->source, e->at, "the length of %s, which is not set, under 'set -u'", e->subject.name);
    take_free(e);
    if (!found || e->at != e->to || e->subject.open || e->subject.ragged) {
        add_not_followed(e, "a length that is not known");
        return;
    }
    if (e->subject.all) {
        add_text(e, arena_print(s->arena, "%zu", e->subject.count));
        return;
    }
    for (size_t i = 0; e->subject.count && i < e->subject.items[0].count; i++)
        length += e->subject.items[0].items[i].c != CELL_EMPTY;
    if (e->subject.count && !is_plain(&e->subject.items[0]))
        add_not_followed(e, "a length that is not known");
    else
        add_text(e, arena_print(s->arena, "%zu", length));
}

static void apply(struct expansion *e)
{
    const char *text = e->s->sources[e->source].text;
    char how = e->at < e->to ? text[e->at] : '\0', next = e->at + 1 < e->to ? text[e->at + 1] : '\0';
    if (!how || (!strchr("-=+?", how) && (how != ':' || !next || !strchr("-=+?", next))))
        check_bound(e);
    if (how)
        take_free(e);
    if (!how && e->subject.open)
        add_unknown(e, e->subject.open);
    else if (!how)
        add_items(e, e->subject.items, e->subject.count);
    else if (strchr("-=+?", how))
        expand_default(e, how, false);
    else if (how == ':' && next && strchr("-=+?", next))
        expand_default(e, next, true);
    else if (how == ':')
        expand_part(e);
    else if (strchr("#%/^,", how))
        expand_changed(e);
    else if ((how == '@' && e->at + 2 == e->to && strchr("UuLQEPAaKk", next)) || how == '~')
        add_not_followed(e, "an expansion that is not followed");
    else
        shell_refuse(e->s, e->source, e->at, "an expansion that bash refuses");
}

/* ${!NAME}: what the variable names; ${!NAME[@]}: its keys. */
static void expand_indirect(struct expansion *e)
{
    struct shell *s = e->s;
    uint32_t open;
    bool found = shell_subject(s, e->source, &e->at, e->to, &e->subject);
    if (found && e->subject.all && e->at == e->to && e->subject.name[0] != '@' && e->subject.name[0] != '*') {
        shell_keys(s, &e->subject);
        apply(e);
        return;
    }
    if (found && e->at + 1 == e->to && strchr("*@", s->sources[e->source].text[e->at])) { /* names that begin so */
        e->subject.open = 0;
        add_not_followed(e, "an expansion that is not followed");
        return;
    }
    take_free(e);
    bool known = found && !e->subject.open && !e->subject.all;
    const char *name = known && e->subject.count ? shell_text(s, &e->subject.items[0], &open) : "";
    if (!known || (e->subject.count && open)) {
        shell_doubt(s, e->source, e->at); /* with what names nothing bash leaves the command, or the subshell */
        add_not_followed(e, "an expansion that is not followed");
        return;
    }
    size_t length = isdigit((unsigned char)*name) ? strspn(name, "0123456789") : shell_name_length(name);
    if (!length || name[length]) {
        shell_refuse(s, e->source, e->at, "${!%s} with '%s' in it, which bash refuses; expected the name of a variable",
                     e->subject.name, name);
        return;
    }
    struct cells cells = shell_cells_of(s, name, e->source, e->at);
    uint16_t source = shell_source_of(s, &cells);
    size_t at = 0;
    shell_subject(s, source, &at, strlen(name), &e->subject);
    apply(e);
}

void shell_parameter(struct shell *s, uint16_t source, size_t from, size_t to, bool quoted, struct cells *out)
{
    struct expansion e = {s, source, from, to, quoted, out, {0}, false};
    const char *text = s->sources[source].text;
    if (text[from] == '#' && from + 1 < to && !strchr(":-=+?#%/", text[from + 1])) {
        e.at++;
        expand_length(&e);
    } else if (text[from] == '!' && from + 1 < to) {
        e.at++;
        expand_indirect(&e);
    } else if (shell_subject(s, source, &e.at, to, &e.subject))
        apply(&e);
    else
        shell_refuse(s, source, from, "an expansion that bash refuses");
}

void shell_plain_parameter(struct shell *s, size_t *at, uint16_t source, size_t to, bool quoted, struct cells *out)
{
    struct expansion e = {s, source, *at, to, quoted, out, {0}, false};
    if (shell_subject(s, source, at, to, &e.subject)) {
        e.at = e.to;
        apply(&e);
    }
}
