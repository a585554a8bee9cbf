/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a shell: quotes, expansions, arithmetic, braces, names of files. */
#include "base/arena.h"
#include "frameworks/shell/parts.h"

#include <ctype.h>
#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 48, RANGE_MAX = 1000 };

/* ---- $((...)) ---- */

void shell_sum(struct shell *s, uint16_t source, size_t from, size_t to, size_t at, struct cells *out)
{
    struct cells inner = {0};
    uint32_t open;
    int64_t value;
    shell_expand(s, source, from, to, true, &inner);
    if (shell_evaluate(s, &inner, &value, &open, source, from))
        shell_add_text(s, out, arena_print(s->arena, "%lld", (long long)value), source, at, false);
    else
        shell_add_open(s, out, open ? open : shell_unknown(s, "(())", "arithmetic that is not followed", source, from),
                       true);
}

/* ---- $(...) and `...` ---- */

static void substitute(struct shell *s, uint16_t source, size_t from, size_t to, bool quoted, struct cells *out)
{
    struct cells output = {0};
    s->substitute(s, source, from, to, &output);
    while (output.count && output.items[output.count - 1].c == '\n')
        output.count--;
    for (size_t i = 0; i < output.count; i++) {
        struct cell cell = output.items[i];
        cell.quoted = quoted && (cell.c != CELL_OPEN || quoted);
        if (cell.c != CELL_EMPTY)
            shell_add(s, out, cell);
    }
    if (s->state->splitting && !quoted && output.count) {
        out->count -= out->count < output.count ? out->count : output.count;
        shell_add_open(s, out, s->state->splitting, false);
    }
}

/* In backquotes a backslash hides itself, a dollar sign and a backquote. */
static void substitute_old(struct shell *s, uint16_t source, size_t from, size_t to, bool quoted, struct cells *out)
{
    struct cells inner = {0};
    const char *text = s->sources[source].text;
    for (size_t i = from; i < to; i++) {
        if (text[i] == '\\' && i + 1 < to && strchr(quoted ? "$`\\\"" : "$`\\", text[i + 1]))
            i++;
        shell_add(s, &inner, (struct cell){(uint32_t)i, source, text[i], false});
    }
    if (s->sources[source].origin) /* what it was made of stays as it is */
        for (size_t i = 0; i < inner.count; i++)
            if (inner.items[i].c == CELL_OPEN)
                inner.items[i] = s->sources[source].origin[inner.items[i].at];
    uint16_t made = shell_source_of(s, &inner);
    substitute(s, made, 0, s->sources[made].size, quoted, out);
}

/* ---- quotes ---- */

/* A character of a source; of a text that was made, what is not known stays so. */
static void add_letter(struct shell *s, uint16_t source, size_t at, bool quoted, struct cells *out)
{
    char c = s->sources[source].text[at];
    if (c == CELL_OPEN && s->sources[source].origin)
        shell_add_open(s, out, s->sources[source].origin[at].at, quoted);
    else
        shell_add(s, out, (struct cell){(uint32_t)at, source, c, quoted});
}

/* $'...' */
static size_t expand_escapes(struct shell *s, uint16_t source, size_t at, size_t to, struct cells *out)
{
    static const char letters[] = "abefnrtv\\'\"?E", values[] = "\a\b\033\f\n\r\t\v\\'\"?\033";
    const char *text = s->sources[source].text;
    size_t end = shell_dollar_end(&s->sources[source], at, to);
    shell_add(s, out, (struct cell){0, source, CELL_EMPTY, true});
    for (size_t i = at + 2; i + 1 < end; i++) {
        char c = text[i];
        const char *letter = c == '\\' && i + 2 < end ? strchr(letters, text[i + 1]) : NULL;
        if (c == '\\' && (!letter || !*letter)) {
            shell_add_open(s, out, shell_unknown(s, "'\\'", "an escape that is not followed", source, i), true);
            return end;
        }
        if (letter)
            shell_add(s, out, (struct cell){(uint32_t)i++, source, values[letter - letters], true});
        else
            add_letter(s, source, i, true, out);
    }
    return end;
}

/* What begins with $; returns where it ends. */
static size_t expand_dollar(struct shell *s, uint16_t source, size_t at, size_t to, bool quoted, struct cells *out)
{
    const char *text = s->sources[source].text;
    size_t end = shell_dollar_end(&s->sources[source], at, to), name = at + 1;
    end = end < to ? end : to;
    if (end <= at + 1) {
        if (!quoted && at + 1 < to && text[at + 1] == '"') /* $"..." is "..." */
            return at + 1;
        shell_add(s, out, (struct cell){(uint32_t)at, source, '$', true});
        return at + 1;
    }
    if (text[at + 1] == '\'') {
        if (!quoted)
            return expand_escapes(s, source, at, to, out);
        shell_add(s, out, (struct cell){(uint32_t)at, source, '$', true});
        return at + 1;
    }
    if (text[at + 1] == '{')
        shell_parameter(s, source, at + 2, text[end - 1] == '}' ? end - 1 : end, quoted, out);
    else if (!strncmp(text + at, "$((", 3) && end >= at + 5 && text[end - 2] == ')' &&
             shell_bracket_end(&s->sources[source], at + 2, end) == end - 1)
        shell_sum(s, source, at + 3, end - 2, at, out);
    else if (text[at + 1] == '[') /* as $((...)), of before there was that */
        shell_sum(s, source, at + 2, text[end - 1] == ']' ? end - 1 : end, at, out);
    else if (text[at + 1] == '(')
        substitute(s, source, at + 2, text[end - 1] == ')' ? end - 1 : end, quoted, out);
    else
        shell_plain_parameter(s, &name, source, end, quoted, out);
    return end;
}

/* $@, ${@...}, ${NAME[@]...}: in quotes no word where there is nothing, but for those with a default. */
static bool is_list(const struct source *source, size_t at, size_t end)
{
    const char *text = source->text;
    if (text[at + 1] != '{')
        return text[at + 1] == '@';
    at += text[at + 2] == '!' ? 3 : 2;
    size_t name = shell_name_end(source, at, end);
    if (at < end && text[at] == '@')
        at++;
    else if (name > at && name + 3 <= end && !strncmp(text + name, "[@]", 3))
        at = name + 3;
    else
        return false;
    at += at < end && text[at] == ':';
    return at >= end || text[at] != '-';
}

/* Whether all cells from one on are names that nobody sets, which are taken off then. */
static bool is_nothing(struct shell *s, struct cells *cells, size_t from)
{
    const struct cells part = {cells->items ? cells->items + from : NULL, cells->count - from, cells->count - from};
    if (shell_without_free(s, &part).count)
        return false;
    cells->count = from;
    return true;
}

/* "..."; a nothing in quotes makes a word, but for "$@" without arguments. */
static size_t expand_double(struct shell *s, uint16_t source, size_t at, size_t to, struct cells *out)
{
    const char *text = s->sources[source].text;
    size_t i = at + 1, before = out->count;
    bool list = false;
    while (i < to && text[i] != '"' && !s->broken) {
        char c = text[i];
        if (c == '\\' && i + 1 < to && strchr("$`\"\\\n", text[i + 1])) {
            if (text[i + 1] != '\n')
                shell_add(s, out, (struct cell){(uint32_t)i, source, text[i + 1], true});
            i += 2;
        } else if (c == '$') {
            size_t start = i;
            i = expand_dollar(s, source, i, to, true, out);
            list |= is_list(&s->sources[source], start, i);
        } else if (c == '`') {
            size_t end = shell_quote_end(&s->sources[source], i, to);
            substitute_old(s, source, i + 1, end - 1, true, out);
            i = end;
        } else
            add_letter(s, source, i++, true, out);
    }
    if (!list || !is_nothing(s, out, before))
        shell_add(s, out, (struct cell){0, source, CELL_EMPTY, true});
    return i + 1;
}

static size_t expand_single(struct shell *s, uint16_t source, size_t at, size_t to, struct cells *out)
{
    size_t end = shell_quote_end(&s->sources[source], at, to);
    shell_add(s, out, (struct cell){0, source, CELL_EMPTY, true});
    for (size_t i = at + 1; i + 1 < end; i++)
        add_letter(s, source, i, true, out);
    return end;
}

static size_t expand_backslash(struct shell *s, uint16_t source, size_t at, size_t to, bool quoted, struct cells *out)
{
    const char *text = s->sources[source].text;
    if (at + 1 >= to) {
        shell_add(s, out, (struct cell){(uint32_t)at, source, '\\', true});
        return to;
    }
    if (quoted && !strchr("$`\"\\\n", text[at + 1])) {
        shell_add(s, out, (struct cell){(uint32_t)at, source, '\\', true});
        return at + 1;
    }
    if (text[at + 1] == CELL_OPEN) /* which may be nothing, and then it hides what follows */
        shell_refuse(s, source, at, "'\\' in front of what is not known");
    else if (text[at + 1] != '\n')
        shell_add(s, out, (struct cell){(uint32_t)at, source, text[at + 1], true});
    return at + 2;
}

void shell_expand(struct shell *s, uint16_t source, size_t from, size_t to, bool quoted, struct cells *out)
{
    if (++s->nest > DEPTH_MAX)
        shell_refuse(s, source, from, "expansions nested deeper than %d", DEPTH_MAX);
    for (size_t i = from; i < to && !s->broken;) {
        char c = s->sources[source].text[i];
        if (c == '\\')
            i = expand_backslash(s, source, i, to, quoted, out);
        else if (c == '\'' && !quoted)
            i = expand_single(s, source, i, to, out);
        else if (c == '"')
            i = expand_double(s, source, i, to, out);
        else if (c == '`') {
            size_t end = shell_quote_end(&s->sources[source], i, to);
            substitute_old(s, source, i + 1, end > i + 1 ? end - 1 : end, quoted, out);
            i = end;
        } else if (c == '$')
            i = expand_dollar(s, source, i, to, quoted, out);
        else
            add_letter(s, source, i++, quoted, out);
    }
    s->nest--;
}

/* ---- ~ ---- */

static void add_home(struct shell *s, uint16_t source, size_t at, struct cells *out)
{
    shell_add_open(s, out, shell_unknown(s, "HOME", "set by the system that runs the script", source, at), true);
}

/* Behind ~ and a user's name; `from`: none begins here. */
static size_t tilde_end(const struct shell *s, uint16_t source, size_t from, size_t to)
{
    const char *text = s->sources[source].text;
    size_t at = from + 1;
    if (from >= to || text[from] != '~')
        return from;
    while (at < to && (isalnum((unsigned char)text[at]) || strchr("_+-.", text[at])))
        at++;
    return at == to || text[at] == '/' || text[at] == ':' ? at : from;
}

void shell_expand_value(struct shell *s, uint16_t source, size_t from, size_t to, struct cells *out)
{
    struct cells cells = {0};
    size_t at = tilde_end(s, source, from, to);
    if (at > from)
        add_home(s, source, from, &cells);
    shell_expand(s, source, at, to, false, &cells);
    for (size_t i = 0; i < cells.count; i++) {
        struct cell cell = cells.items[i];
        if (cell.c == '~' && !cell.quoted && i && cells.items[i - 1].c == ':') {
            add_home(s, source, from, out);
            continue;
        }
        if (cell.c == CELL_BREAK)
            cell.c = ' ';
        cell.quoted |= cell.c == CELL_OPEN; /* a plain value is one word */
        if (cell.c != CELL_EMPTY)
            shell_add(s, out, cell);
    }
}

/* ---- {1..4} ---- */

/* A range of numbers that is a whole word. */
static bool expand_range(struct shell *s, uint16_t source, size_t from, size_t to, struct cells **words, size_t *count)
{
    char *text = arena_copy_part(s->arena, s->sources[source].text + from, to - from), *end, *last;
    if (text[0] != '{' || !isdigit((unsigned char)text[1]) || (text[1] == '0' && isdigit((unsigned char)text[2])))
        return false;
    long first = strtol(text + 1, &end, 10);
    if (strncmp(end, "..", 2) != 0 || !isdigit((unsigned char)end[2]) || end[2] == '0')
        return false;
    long stop = strtol(end + 2, &last, 10);
    if (strcmp(last, "}") != 0 || labs(stop - first) > RANGE_MAX)
        return false;
    for (long i = first;; i += first <= stop ? 1 : -1) {
        struct cells cells = shell_cells_of(s, arena_print(s->arena, "%ld", i), source, from);
        shell_append(s, &cells, words, count);
        if (i == stop)
            return true;
    }
}

bool shell_has_braces(const struct shell *s, uint16_t source, size_t from, size_t to)
{
    const struct source *text = &s->sources[source];
    bool open = false, parted = false;
    for (size_t i = from; i < to;) {
        char c = text->text[i];
        open |= c == '{';
        parted |= open && (c == ',' || (c == '.' && i + 1 < to && text->text[i + 1] == '.'));
        if (c == '}' && open && parted)
            return true;
        i = c == '\\'           ? i + 2
            : c == '$'          ? shell_dollar_end(text, i, to)
            : strchr("'\"`", c) ? shell_quote_end(text, i, to)
                                : i + 1;
    }
    return false;
}

/* ---- names of files ---- */

static bool is_glob(const struct cells *word)
{
    bool open = false;
    for (size_t i = 0; i < word->count; i++) {
        const struct cell *cell = &word->items[i];
        if (cell->quoted || cell->c == CELL_OPEN)
            continue;
        if (cell->c == '*' || cell->c == '?' || (cell->c == ']' && open))
            return true;
        open |= cell->c == '[';
    }
    return false;
}

static bool fits(struct shell *s, const char *pattern, const char *name)
{
    shell_spend(s, 1 + strlen(pattern) * strlen(name) / 8);
    return !s->broken && fnmatch(pattern, name, FNM_PERIOD) == 0;
}

/* Whether files there may have such names; where none has, the pattern stays. */
static bool may_match(struct shell *s, const struct cells *word)
{
    uint32_t open;
    const char *text = shell_text(s, word, &open), *pattern = shell_pattern(s, word);
    if (open || !pattern || strchr(text, '/') || !s->state->folder)
        return true;
    DIR *folder = opendir(s->state->folder);
    bool found = false;
    for (const struct dirent *entry; folder && !found && (entry = readdir(folder));)
        found = fits(s, pattern, entry->d_name);
    if (folder)
        closedir(folder);
    for (const struct written *file = s->state->files; file && !found; file = file->next)
        found = !file->path || fits(s, pattern, file->path);
    return found;
}

void shell_expand_word(struct shell *s, uint16_t source, size_t from, size_t to, struct cells **words, size_t *count)
{
    struct cells cells = {0};
    size_t first = *count, at = tilde_end(s, source, from, to);
    const char *text = s->sources[source].text;
    bool process = to > from + 1 && (text[from] == '<' || text[from] == '>') && text[from + 1] == '(';
    if (expand_range(s, source, from, to, words, count))
        return;
    if (to > from + 1 && text[to - 1] == '$' && !strchr("\\$", text[to - 2]) && memchr(text + from, '$', to - from - 1))
        shell_refuse(s, source, to - 1, "a '$' at the end of a word with expansions, which bash does not split");
    if (process) {
        struct cells unused = {0};
        s->substitute(s, source, from + 2, text[to - 1] == ')' ? to - 1 : to, &unused);
        shell_add_open(s, &cells, shell_unknown(s, "<()", "the output of commands", source, from), true);
        shell_append(s, &cells, words, count);
        return;
    }
    size_t sign = shell_name_end(&s->sources[source], from, to), home = sign + 1;
    if (sign > from && sign + 1 < to && text[sign] == '=') /* NAME=~ of a command's argument, too */
        home = tilde_end(s, source, sign + 1, to);
    if (home > sign + 1) {
        shell_expand(s, source, from, sign + 1, false, &cells);
        at = home;
    }
    if (at > from)
        add_home(s, source, from, &cells);
    shell_expand(s, source, at, to, false, &cells);
    if (shell_has_braces(s, source, from, to)) {
        cells = (struct cells){0};
        shell_add_open(s, &cells,
                       shell_unknown(s, arena_print(s->arena, "%.*s", (int)(to - from), text + from),
                                     "braces that are not followed", source, from),
                       false);
    }
    shell_split(s, &cells, words, count);
    for (size_t i = first; i < *count && !s->state->noglob; i++) {
        struct cells plain = is_glob(&(*words)[i]) ? shell_without_free(s, &(*words)[i]) : (struct cells){0};
        if (plain.count)
            (*words)[i] = plain;
        if (is_glob(&(*words)[i]) && may_match(s, &(*words)[i])) {
            uint32_t open;
            const char *name = shell_text(s, &(*words)[i], &open);
            (*words)[i] = (struct cells){0};
            shell_add_open(s, &(*words)[i], open ? open : shell_unknown(s, name, "names of files", source, from),
                           false);
        }
    }
}
