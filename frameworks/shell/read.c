/* SPDX-License-Identifier: Apache-2.0 */
/* read, mapfile and getopts: variables from standard input and from arguments. */
#include "base/arena.h"
#include "frameworks/shell/parts.h"

#include <string.h>

/* A command while it is read. */
struct reading {
    struct shell *s;
    const struct cells *words;
    size_t count, first; /* of the names */
    bool raw, array, other;
    const char *separators;
};

static const char *text_of(const struct reading *r, size_t i)
{
    uint32_t open;
    return shell_text(r->s, &r->words[i], &open);
}

static void read_options(struct reading *r, const char *plain)
{
    for (r->first = 1; r->first < r->count; r->first++) {
        const char *text = text_of(r, r->first);
        if (text[0] != '-' || !text[1])
            return;
        r->raw |= strchr(text, 'r') != NULL;
        r->array |= strchr(text, 'a') != NULL;
        r->other |= strspn(text + 1, plain) != strlen(text + 1);
    }
}

static void forget(const struct reading *r, uint32_t why)
{
    for (size_t i = 1; i < r->count; i++) {
        const char *name = text_of(r, i), *array = name[0] == '-' ? strchr(name, 'a') : NULL;
        name = array ? array + 1 : name; /* read -aNAME */
        size_t length = shell_name_length(name);
        if (r->words[i].count && r->words[i].items[0].c == CELL_OPEN)
            shell_lose(r->s, "a variable whose name is not known is read", 0, 0);
        if (length)
            shell_set_unknown(r->s, arena_copy_part(r->s->arena, name, length), why);
    }
    if (r->first >= r->count)
        shell_set_unknown(r->s, "REPLY", why);
    r->s->state->status = -1;
}

/* Bash reads nothing where the first name is none. */
static bool is_refused(struct reading *r)
{
    uint32_t open = 0;
    if (r->other || r->first >= r->count)
        return false;
    const char *name = shell_text(r->s, &r->words[r->first], &open);
    size_t length = shell_name_length(name);
    return !open && (!length || (name[length] && name[length] != '['));
}

/* Whether a name is not known to which something is read. */
static bool has_open_name(const struct reading *r)
{
    for (size_t i = r->first; i < r->count; i++)
        for (size_t k = 0; k < r->words[i].count; k++)
            if (r->words[i].items[k].c == CELL_OPEN)
                return true;
    return false;
}

static bool is_known(const struct cells *cells, bool raw)
{
    for (size_t i = 0; i < cells->count; i++)
        if (cells->items[i].c == CELL_OPEN || (!raw && cells->items[i].c == '\\'))
            return false;
    return true;
}

/* The characters at which `read` cuts: NULL where they are not known. */
static const char *separators(struct shell *s)
{
    const struct variable *variable = shell_find(s, "IFS");
    uint32_t open;
    if (s->state->splitting && (!variable || !variable->set))
        return NULL;
    if (!variable)
        return " \t\n";
    if (variable->value.unknown || variable->value.count != 1 || !variable->temporary)
        return NULL;
    const char *text = shell_text(s, &variable->value.items[0].cells, &open);
    return open ? NULL : text;
}

static bool is_blank(char c, const char *cut)
{
    return strchr(" \t\n", c) && strchr(cut, c);
}

/* One field from `at`; the last one has all that is left. Returns behind the separator, of an empty field, too. */
static size_t take_field(const struct reading *r, const struct cells *line, size_t at, bool last, struct cells *field)
{
    size_t start = at;
    while (at < line->count && (last || !strchr(r->separators, line->items[at].c)))
        at++;
    size_t end = at;
    while (last && end > start && is_blank(line->items[end - 1].c, r->separators))
        end--;
    for (size_t i = start; i < end; i++)
        shell_add(r->s, field, line->items[i]);
    while (at < line->count && is_blank(line->items[at].c, r->separators))
        at++;
    if (!last && at < line->count && strchr(r->separators, line->items[at].c))
        at++;
    while (at < line->count && is_blank(line->items[at].c, r->separators))
        at++;
    return at;
}

/* The last name gets the rest of the line: where that holds separators that are no blanks, or ends with one, bash has
 * rules of its own. */
static bool is_simple(const struct reading *r, const struct cells *line)
{
    size_t end = line->count;
    bool blanks = !r->separators[strspn(r->separators, " \t\n")], many = r->first + 1 < r->count;
    while (end && is_blank(line->items[end - 1].c, r->separators))
        end--;
    if (blanks)
        return true;
    if (many || (end && strchr(r->separators, line->items[end - 1].c)))
        return false;
    return !r->array || (strlen(r->separators) == 1 && line->count && line->items[0].c != r->separators[0]);
}

static void assign_fields(const struct reading *r, const struct cells *line)
{
    size_t at = 0, names = r->count - r->first;
    struct value value = {.array = true};
    value.items = arena_array(r->s->arena, line->count + 1, sizeof *value.items);
    while (at < line->count && is_blank(line->items[at].c, r->separators))
        at++;
    if (r->array) {
        while (at < line->count) {
            struct element *element = &value.items[value.count];
            *element = (struct element){.index = (int64_t)value.count};
            value.count++;
            at = take_field(r, line, at, false, &element->cells);
        }
        shell_set(r->s, text_of(r, r->first), value);
        return;
    }
    for (size_t i = 0; i < names; i++) {
        struct cells field = {0};
        at = take_field(r, line, at, i + 1 == names, &field);
        shell_set_word(r->s, text_of(r, r->first + i), &field);
    }
}

static void run_read(struct reading *r, uint16_t source, size_t at)
{
    struct shell *s = r->s;
    uint32_t why = shell_unknown(s, "read", "a line of input that is not known", source, at);
    s->unknowns[why].text = true;
    const struct cells *input = s->input;
    size_t end = 0;
    if (!input && s->itself)
        shell_refuse(s, source, at, "'read' reads the script here, which comes of standard input");
    read_options(r, "ra");
    if (is_refused(r)) {
        s->state->status = 1;
        return;
    }
    r->separators = separators(s);
    if (!input || !is_known(input, r->raw) || r->other || !r->separators || has_open_name(r) || r->first >= r->count ||
        (r->array && r->first + 1 != r->count)) {
        forget(r, why);
        s->input = NULL;
        return;
    }
    while (end < input->count && input->items[end].c != '\n')
        end++;
    const struct cells line = {input->items, end, end};
    if (!is_simple(r, &line)) {
        forget(r, why);
        s->input = NULL;
        return;
    }
    struct cells *rest = arena_alloc(s->arena, sizeof *rest);
    size_t next = end < input->count ? end + 1 : end;
    *rest = next ? (struct cells){input->items + next, input->count - next, input->count - next} : (struct cells){0};
    s->input = rest;
    assign_fields(r, &line);
    s->state->status = end == input->count;
}

static void run_mapfile(struct reading *r, uint16_t source, size_t at)
{
    struct shell *s = r->s;
    const struct cells *input = s->input;
    struct value value = {.array = true};
    read_options(r, "t");
    bool trim = r->first == 2;
    if (!input || !is_known(input, true) || r->other || has_open_name(r) || r->first + 1 != r->count || !trim) {
        uint32_t why = shell_unknown(s, "mapfile", "lines of input that are not known", source, at);
        s->unknowns[why].text = true;
        forget(r, why);
        shell_set_unknown(s, "MAPFILE", shell_unknown(s, "MAPFILE", "lines of input", source, at));
        return;
    }
    value.items = arena_array(s->arena, input->count + 1, sizeof *value.items);
    for (size_t i = 0; i < input->count; i++) {
        struct element *element = &value.items[value.count];
        *element = (struct element){.index = (int64_t)value.count};
        value.count++;
        for (; i < input->count && input->items[i].c != '\n'; i++)
            shell_add(s, &element->cells, input->items[i]);
    }
    shell_set(s, text_of(r, r->first), value);
    s->input = arena_alloc(s->arena, sizeof *s->input); /* nothing is left */
    s->state->status = 0;
}

/* Options of a script that has no arguments: there are none. */
static void run_getopts(struct reading *r, uint16_t source, size_t at)
{
    struct shell *s = r->s;
    bool none = !s->state->arguments_unknown && !s->state->argument_count && r->count == 3;
    uint32_t why = shell_unknown(s, "getopts", "options of arguments", source, at);
    if (none) {
        if (!s->state->depth)
            shell_is_free(s, "@");
        shell_set_text(s, text_of(r, 2), "?", source, at);
        s->state->status = 1;
        return;
    }
    forget(r, why);
    shell_set_unknown(s, "OPTARG", why);
    shell_set_unknown(s, "OPTIND", why);
}

bool shell_read_input(struct shell *s, const char *name, const struct cells *words, size_t count, uint16_t source,
                      size_t at)
{
    if (strcmp(name, "read") != 0 && strcmp(name, "mapfile") != 0 && strcmp(name, "readarray") != 0 &&
        strcmp(name, "getopts") != 0)
        return false;
    struct cells *plain = arena_array(s->arena, count, sizeof *plain);
    for (size_t i = 0; i < count; i++) /* names that nobody sets are nothing */
        plain[i] = shell_without_free(s, &words[i]);
    struct reading reading = {.s = s, .words = plain, .count = count};
    if (!strcmp(name, "read"))
        run_read(&reading, source, at);
    else if (!strcmp(name, "mapfile") || !strcmp(name, "readarray"))
        run_mapfile(&reading, source, at);
    else
        run_getopts(&reading, source, at);
    return true;
}
