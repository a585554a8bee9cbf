/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that only print: what a script reads back by $(...), a pipe or a file. */
#include "base/arena.h"
#include "base/paths.h"
#include "frameworks/shell/parts.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { SEQUENCE_MAX = 1000 };

struct print {
    struct shell *s;
    const struct cells *words;
    size_t count;
    uint16_t source;
    size_t at;
    struct cells *out;
};

static const char *word(const struct print *p, size_t i)
{
    uint32_t open;
    const char *text = i < p->count ? shell_text(p->s, &p->words[i], &open) : "";
    return i < p->count && open ? "\001" : text;
}

static void add_cells(const struct print *p, const struct cells *cells)
{
    for (size_t i = 0; i < cells->count; i++) {
        struct cell cell = cells->items[i];
        cell.quoted = false;
        shell_add(p->s, p->out, cell);
    }
}

static void add_line(const struct print *p, const char *text)
{
    shell_add_text(p->s, p->out, text, p->source, p->at, false);
    shell_add_text(p->s, p->out, "\n", p->source, p->at, false);
}

/* ---- echo, printf ---- */

static bool print_echo(const struct print *p)
{
    size_t first = 1;
    bool line = true;
    for (; first < p->count && word(p, first)[0] == '-' && strspn(word(p, first) + 1, "neE") &&
           !word(p, first)[1 + strspn(word(p, first) + 1, "neE")];
         first++) {
        if (strchr(word(p, first), 'e') && strcmp(word(p, first), "-e") != 0 && strcmp(word(p, first), "-ne") != 0)
            return false;
        line &= !strchr(word(p, first), 'n');
        for (size_t i = first + 1; strchr(word(p, first), 'e') && i < p->count; i++)
            if (strchr(word(p, i), '\\'))
                return false;
    }
    for (size_t i = first; i < p->count; i++) {
        if (i > first)
            shell_add_text(p->s, p->out, " ", p->source, p->at, false);
        add_cells(p, &p->words[i]);
    }
    if (line)
        shell_add_text(p->s, p->out, "\n", p->source, p->at, false);
    return true;
}

/* One conversion at `at` behind the %; false: not followed. */
static bool convert(const struct print *p, const char *at, size_t argument)
{
    int64_t value;
    char *end;
    if (*at == 's') {
        if (argument < p->count)
            add_cells(p, &p->words[argument]);
        return true;
    }
    if (*at != 'd' && *at != 'i')
        return false;
    const char *text = argument < p->count ? word(p, argument) : "0";
    errno = 0;
    value = strtoll(*text ? text : "0", &end, 0);
    if (*end || errno || (*text && text[0] == '0' && text[1] && !isdigit((unsigned char)text[1])))
        return false;
    shell_add_text(p->s, p->out, arena_print(p->s->arena, "%lld", (long long)value), p->source, p->at, false);
    return true;
}

static bool format_once(const struct print *p, const char *format, size_t *argument, bool *used)
{
    static const char letters[] = "nt\\\"", values[] = "\n\t\\\"";
    for (const char *at = format; *at; at++) {
        char text[2] = {*at, '\0'};
        const char *letter = *at == '\\' && at[1] ? strchr(letters, at[1]) : NULL;
        if (*at == CELL_OPEN || (*at == '\\' && !letter))
            return false;
        if (*at == '%' && at[1] == '%')
            at++;
        else if (*at == '%') {
            at++;
            if (!convert(p, at, (*argument)++))
                return false;
            *used = true;
            continue;
        }
        if (letter) {
            text[0] = values[letter - letters];
            at++;
        }
        shell_add_text(p->s, p->out, text, p->source, p->at, false);
    }
    return true;
}

static bool print_format(const struct print *p, size_t first)
{
    size_t argument = first + 1;
    bool used = false;
    if (first >= p->count || word(p, first)[0] == '-')
        return false;
    do
        if (!format_once(p, word(p, first), &argument, &used))
            return false;
    while (used && argument < p->count && !p->s->broken);
    return true;
}

bool shell_format(struct shell *s, const struct cells *words, size_t count, struct cells *out)
{
    struct print p = {s, words, count, 0, 0, out};
    return print_format(&p, 0);
}

/* ---- paths ---- */

/* A path whose place is known: as an unknown that knows it. */
static void add_path(const struct print *p, const char *name, const char *path)
{
    uint32_t open = shell_unknown(p->s, name, "the place of the script", p->source, p->at);
    p->s->unknowns[open].path = path;
    shell_add_open(p->s, p->out, open, true);
    shell_add_text(p->s, p->out, "\n", p->source, p->at, false);
}

static bool print_path(const struct print *p, const char *name)
{
    size_t last = p->count - 1;
    uint32_t open;
    bool directory = !strcmp(name, "dirname"), base = !strcmp(name, "basename");
    for (size_t i = 1; i < last; i++)
        if (strcmp(word(p, i), "--") != 0 && word(p, i)[0] != '-')
            return false;
    if (p->count < 2)
        return false;
    const char *text = shell_text(p->s, &p->words[last], &open), *path = shell_path(p->s, &p->words[last]);
    if (!path)
        return false;
    size_t length = strlen(path);
    if (!length || (path[length - 1] == '/' && (directory || base)))
        return false;
    const char *result = directory ? path_directory(path, p->s->arena) : path;
    if (base) {
        const char *slash = strrchr(text, '/');
        if (open && (!slash || strchr(slash, '$')))
            return false;
        add_line(p, slash ? slash + 1 : text);
    } else if (open || !directory)
        add_path(p, arena_print(p->s->arena, "(%s)", name), result);
    else
        add_line(p, result);
    return true;
}

/* ---- numbers ---- */

static bool print_sequence(const struct print *p)
{
    static const long long most = 1000000000000000;
    long long numbers[3] = {1, 1, 1};
    size_t given = p->count - 1;
    if (!given || given > 3)
        return false;
    for (size_t i = 0; i < given; i++) {
        char *end;
        const char *text = word(p, i + 1);
        long long number = strtoll(text, &end, 10);
        if (*end || !*text || (text[0] == '0' && text[1]) || number > most || number < -most)
            return false;
        numbers[given == 1 ? 2 : given == 2 ? 2 * i : i] = number;
    }
    long long steps = numbers[1] ? (numbers[2] - numbers[0]) / numbers[1] : LLONG_MAX;
    bool none = numbers[1] > 0 ? numbers[0] > numbers[2] : numbers[0] < numbers[2];
    if (llabs(steps) > SEQUENCE_MAX)
        return false;
    for (long long i = 0; i <= steps && !none; i++)
        add_line(p, arena_print(p->s->arena, "%lld", numbers[0] + i * numbers[1]));
    return true;
}

/* ---- filters of standard input ---- */

static const struct cells *input_of(const struct print *p, size_t first)
{
    bool there;
    const char *why, *path;
    if (first >= p->count)
        return p->s->input;
    if (first + 1 < p->count)
        return NULL;
    path = shell_resolve(p->s, &p->words[first]);
    return path ? shell_file(p->s, path, &there, &why) : NULL;
}

static bool has_open(const struct cells *cells)
{
    for (size_t i = 0; i < cells->count; i++)
        if (cells->items[i].c == CELL_OPEN)
            return true;
    return false;
}

/* Words on one line; quotes of xargs are not followed. */
static bool print_words(const struct print *p)
{
    const struct cells *input = p->s->input;
    struct cells *words = NULL, plain = {0};
    size_t count = 0;
    if (!input || has_open(input))
        return false;
    for (size_t i = 0; i < input->count; i++) {
        if (strchr("'\"\\", input->items[i].c))
            return false;
        struct cell cell = input->items[i];
        cell.quoted = false;
        shell_add(p->s, &plain, cell);
    }
    shell_split(p->s, &plain, &words, &count);
    for (size_t i = 0; i < count; i++) {
        if (i)
            shell_add_text(p->s, p->out, " ", p->source, p->at, false);
        add_cells(p, &words[i]);
    }
    shell_add_text(p->s, p->out, "\n", p->source, p->at, false);
    return true;
}

/* grep -v '^#' and grep -v '#', as files of variables are read. */
static bool print_lines(const struct print *p)
{
    const char *pattern = word(p, 2);
    const struct cells *input = p->count >= 3 && !strcmp(word(p, 1), "-v") ? input_of(p, 3) : NULL;
    bool first = !strcmp(pattern, "^#");
    if (!input || (!first && strcmp(pattern, "#") != 0))
        return false;
    for (size_t i = 0; i < input->count;) {
        size_t end = i;
        bool mark = false;
        for (; end < input->count && input->items[end].c != '\n'; end++)
            mark |= input->items[end].c == '#' && (!first || end == i);
        const struct cells line = {input->items + i, end - i, end - i};
        if (!mark) {
            add_cells(p, &line);
            shell_add_text(p->s, p->out, "\n", p->source, p->at, false);
        }
        i = end + 1;
    }
    return true;
}

static bool print_file(const struct print *p)
{
    const struct cells *input = input_of(p, 1);
    if (!input || (p->count > 1 && word(p, 1)[0] == '-'))
        return false;
    add_cells(p, input);
    return true;
}

static bool print_place(const struct print *p)
{
    if (p->count > 1 || !p->s->state->folder)
        return false;
    add_path(p, "(pwd)", p->s->state->folder);
    return true;
}

/* ---- all ---- */

static bool dispatch(const struct print *p, const char *name, bool *known)
{
    *known = true;
    if (!strcmp(name, "echo"))
        return print_echo(p);
    if (!strcmp(name, "printf"))
        return print_format(p, 1);
    if (!strcmp(name, "cat"))
        return print_file(p);
    if (!strcmp(name, "pwd"))
        return print_place(p);
    if (!strcmp(name, "seq"))
        return print_sequence(p);
    if (!strcmp(name, "xargs") && p->count == 1)
        return print_words(p);
    if (!strcmp(name, "grep"))
        return print_lines(p);
    if (!strcmp(name, "dirname") || !strcmp(name, "basename") || !strcmp(name, "realpath") || !strcmp(name, "readlink"))
        return print_path(p, name);
    *known = false;
    return false;
}

/* A failure that is not known is not taken for success where it is likely, or an answer. */
static bool may_well_fail(const struct print *p, const char *name, bool good)
{
    if (!strcmp(name, "grep") || !strcmp(name, "printf"))
        return true;
    const char *path = !good && !strcmp(name, "cat") && p->count == 2 ? shell_resolve(p->s, &p->words[1]) : NULL;
    return path && !shell_may_have_made(p->s, path);
}

bool shell_print(struct shell *s, const char *name, const struct cells *words, size_t count, uint16_t source, size_t at)
{
    struct cells out = {0};
    struct print p = {s, words, count, source, at, &out};
    bool known, good = dispatch(&p, name, &known);
    if (!known)
        return false;
    s->state->status = good && (!strcmp(name, "echo") || !strcmp(name, "printf") || !strcmp(name, "pwd")) ? 0 : -1;
    s->assumed = !may_well_fail(&p, name, good);
    if (!s->capture)
        return true;
    if (good)
        shell_add_cells(s, s->capture, &out);
    else
        shell_add_open(s, s->capture,
                       shell_unknown(s, arena_print(s->arena, "(%s)", name), "the output of a command", source, at),
                       false);
    return true;
}
