/* SPDX-License-Identifier: Apache-2.0 */
/* The cells that values are made of, the table of what is not known, and places. */
#include "base/arena.h"
#include "frameworks/shell/parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A script whose variables double one another ends here. */
enum { CELLS_MAX = 1 << 21, WORK_MAX = CELL_WORK * CELLS_MAX, UNKNOWN_WORK = 64, SOURCES_MAX = 20000 };

void shell_spend(struct shell *s, size_t work)
{
    bool spent = s->work > WORK_MAX;
    s->work = work < SIZE_MAX - s->work ? s->work + work : SIZE_MAX;
    if (!spent && s->work > WORK_MAX)
        shell_refuse(s, s->source, s->at,
                     "the script takes more work to follow than %d characters of variables; expected a launch script",
                     CELLS_MAX);
}

/* ---- cells ---- */

void shell_add(struct shell *s, struct cells *cells, struct cell cell)
{
    shell_spend(s, CELL_WORK);
    if (s->work > WORK_MAX)
        return;
    if (cells->count == cells->capacity) {
        size_t capacity = cells->capacity ? 2 * cells->capacity : 16;
        struct cell *items = arena_array_unset(s->arena, capacity, sizeof *items);
        if (cells->count)
            memcpy(items, cells->items, cells->count * sizeof *items);
        cells->items = items;
        cells->capacity = capacity;
    }
    cells->items[cells->count++] = cell;
}

void shell_add_text(struct shell *s, struct cells *cells, const char *text, uint16_t source, size_t at, bool quoted)
{
    for (; *text; text++)
        shell_add(s, cells, (struct cell){(uint32_t)at, source, *text, quoted});
}

void shell_add_cells(struct shell *s, struct cells *cells, const struct cells *more)
{
    for (size_t i = 0; i < more->count; i++)
        shell_add(s, cells, more->items[i]);
}

void shell_add_open(struct shell *s, struct cells *cells, uint32_t unknown, bool quoted)
{
    shell_add(s, cells, (struct cell){unknown, 0, CELL_OPEN, quoted});
}

struct cells shell_cells_of(struct shell *s, const char *text, uint16_t source, size_t at)
{
    struct cells cells = {0};
    shell_add_text(s, &cells, text, source, at, false);
    return cells;
}

const char *shell_text(struct shell *s, const struct cells *cells, uint32_t *open)
{
    size_t room = cells->count + 1, length = 0;
    *open = 0;
    for (size_t i = 0; i < cells->count; i++)
        if (cells->items[i].c == CELL_OPEN)
            room += 1 + strlen(s->unknowns[cells->items[i].at].name);
    shell_spend(s, room);
    char *text = arena_alloc(s->arena, room);
    for (size_t i = 0; i < cells->count; i++) {
        const struct cell *cell = &cells->items[i];
        if (cell->c == CELL_OPEN) {
            length += (size_t)sprintf(text + length, "$%s", s->unknowns[cell->at].name);
            *open = *open ? *open : cell->at;
        } else if (cell->c != CELL_EMPTY)
            text[length++] = cell->c == CELL_BREAK ? ' ' : cell->c;
    }
    return text;
}

const char *shell_path(struct shell *s, const struct cells *cells)
{
    const char *text = "";
    uint32_t unused;
    size_t from = 0;
    for (size_t i = 0; cells->count && i <= cells->count; i++) {
        bool ends = i == cells->count;
        if (!ends && cells->items[i].c != CELL_OPEN)
            continue;
        const struct cells part = {cells->items + from, i - from, i - from};
        const char *path = ends ? "" : s->unknowns[cells->items[i].at].path;
        if (!path)
            return NULL;
        shell_spend(s, strlen(text));
        text = arena_print(s->arena, "%s%s%s", text, shell_text(s, &part, &unused), path);
        from = i + 1;
    }
    return text;
}

bool shell_cells_equal(struct shell *s, const struct cells *a, const struct cells *b)
{
    if (a->count != b->count)
        return false;
    shell_spend(s, 1 + a->count);
    for (size_t i = 0; i < a->count; i++) {
        const struct cell *x = &a->items[i], *y = &b->items[i];
        if (x->c != y->c || x->quoted != y->quoted || (x->c == CELL_OPEN && x->at != y->at))
            return false;
    }
    return true;
}

/* ---- words ---- */

/* Words that a list of so many has room for. */
static size_t room_of(size_t count)
{
    size_t room = count > 0;
    while (room < count)
        room *= 2;
    return room;
}

void shell_append(struct shell *s, const struct cells *word, struct cells **words, size_t *count)
{
    if (*count + 1 > room_of(*count)) {
        struct cells *all = arena_array(s->arena, room_of(*count + 1), sizeof *all);
        if (*count)
            memcpy(all, *words, *count * sizeof *all);
        *words = all;
    }
    (*words)[(*count)++] = *word;
    shell_spend(s, CELL_WORK);
}

/* The end of a word. One in which quotes stand is a word also where names in it that nobody sets are nothing. */
static void end_word(struct shell *s, struct cells *word, bool quotes, struct cells **words, size_t *count)
{
    for (size_t i = 0; quotes && i < word->count; i++)
        if (word->items[i].c == CELL_OPEN && !s->unknowns[word->items[i].at].why)
            word->items[i].quoted = true;
    shell_append(s, word, words, count);
}

void shell_split(struct shell *s, const struct cells *cells, struct cells **words, size_t *count)
{
    struct cells word = {0};
    bool inside = false, quotes = false;
    for (size_t i = 0; i < cells->count; i++) {
        struct cell cell = cells->items[i];
        bool blank = !cell.quoted && cell.c && strchr(" \t\n", cell.c);
        if (blank || cell.c == CELL_BREAK) {
            if (inside)
                end_word(s, &word, quotes, words, count);
            word = (struct cells){0};
            inside = quotes = false;
            continue;
        }
        inside = true;
        quotes |= cell.c == CELL_EMPTY;
        if (cell.c != CELL_EMPTY)
            shell_add(s, &word, cell);
    }
    if (inside)
        end_word(s, &word, quotes, words, count);
}

/* ---- what is not known ---- */

static uint32_t add_unknown(struct shell *s, struct unknown unknown)
{
    size_t count = s->unknown_count + !s->unknown_count; /* 0 is none */
    shell_spend(s, UNKNOWN_WORK);
    if (count + 1 > room_of(s->unknown_count)) {
        struct unknown *all = arena_array(s->arena, room_of(count + 1), sizeof *all);
        if (s->unknown_count)
            memcpy(all, s->unknowns, s->unknown_count * sizeof *all);
        s->unknowns = all;
    }
    s->unknowns[count] = unknown;
    s->unknown_count = count + 1;
    return (uint32_t)count;
}

/* Short, on one line. */
static const char *short_name(struct shell *s, const char *name)
{
    char *copy = arena_print(s->arena, "%.60s", name);
    for (char *at = copy; *at; at++)
        if (*at == '\n' || (unsigned char)*at < ' ')
            *at = ' ';
    return copy;
}

uint32_t shell_unknown(struct shell *s, const char *name, const char *why, uint16_t source, size_t at)
{
    return add_unknown(s, (struct unknown){short_name(s, name), why, NULL, (uint32_t)at, source});
}

uint32_t shell_unknown_as(struct shell *s, const char *name, uint32_t because)
{
    struct unknown unknown = s->unknowns[because];
    if (!strcmp(unknown.name, name))
        return because;
    unknown.name = short_name(s, name);
    unknown.path = NULL;
    return add_unknown(s, unknown);
}

void shell_is_free(struct shell *s, const char *name)
{
    shell_spend(s, 1 + s->free_count);
    for (size_t i = 0; i < s->free_count; i++)
        if (!strcmp(s->free_names[i], name))
            return;
    if (s->free_count + 1 > room_of(s->free_count)) {
        const char **all = arena_array(s->arena, room_of(s->free_count + 1), sizeof *all);
        if (s->free_count)
            memcpy(all, s->free_names, s->free_count * sizeof *all);
        s->free_names = all;
    }
    s->free_names[s->free_count++] = arena_copy(s->arena, name);
}

/* Whether a list such as "A, B" has a name. */
static bool lists(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; (at = strstr(at, name)); at++)
        if ((at == names || at[-1] == ' ') && (!at[length] || at[length] == ','))
            return true;
    return false;
}

uint32_t shell_needed(struct shell *s, const char *name, uint16_t source, size_t at)
{
    const char *before = s->needed ? s->needed : "";
    shell_spend(s, strlen(before));
    if (!s->needed)
        s->needed = arena_copy(s->arena, name);
    else if (!lists(before, name) && !s->broken)
        s->needed = arena_print(s->arena, "%s, %s", before, name);
    return shell_unknown(s, name, "the script ends where nothing sets it", source, at);
}

void shell_doubt(struct shell *s, uint16_t source, size_t at)
{
    if (!s->doubt)
        s->doubt = shell_unknown(s, "exit", "the script may end here", source, at);
}

static bool is_free(const struct shell *s, const struct cell *cell)
{
    return cell->c == CELL_OPEN && !s->unknowns[cell->at].why;
}

int shell_has_text(struct shell *s, const struct cells *cells)
{
    bool open = false;
    for (size_t i = 0; i < cells->count; i++) {
        const struct cell *cell = &cells->items[i];
        if (is_free(s, cell))
            shell_is_free(s, s->unknowns[cell->at].name);
        else if (cell->c == CELL_OPEN)
            open = true;
        else if (cell->c != CELL_EMPTY && cell->c != CELL_BREAK)
            return 1;
    }
    return open ? -1 : 0;
}

bool shell_is_nothing(struct shell *s, const struct cells *word)
{
    for (size_t i = 0; i < word->count; i++)
        if (word->items[i].quoted)
            return false;
    return word->count && !shell_without_free(s, word).count;
}

struct cells shell_without_free(struct shell *s, const struct cells *cells)
{
    struct cells out = {0};
    for (size_t i = 0; i < cells->count; i++)
        if (is_free(s, &cells->items[i]))
            shell_is_free(s, s->unknowns[cells->items[i].at].name);
        else
            shell_add(s, &out, cells->items[i]);
    return out;
}

struct cells *shell_arguments_of(struct shell *s, const struct cells *words, size_t count, size_t *left,
                                 uint32_t *unknown)
{
    struct cells *arguments = arena_array(s->arena, count, sizeof *arguments);
    *left = 0;
    *unknown = 0;
    for (size_t i = 0; i < count; i++) {
        struct cells plain = shell_without_free(s, &words[i]);
        bool quoted = !words[i].count;
        for (size_t k = 0; k < words[i].count; k++)
            quoted |= words[i].items[k].quoted;
        for (size_t k = 0; k < plain.count; k++)
            if (plain.items[k].c == CELL_OPEN && !plain.items[k].quoted) /* it may be several */
                *unknown = shell_unknown_as(s, "@", plain.items[k].at);
        if (plain.count || quoted)
            arguments[(*left)++] = plain;
    }
    return arguments;
}

/* ---- sources ---- */

uint16_t shell_add_source(struct shell *s, const char *file, const char *text, size_t size, const struct cell *origin)
{
    shell_spend(s, size);
    if (s->source_count == SOURCES_MAX) {
        shell_refuse(s, 0, 0, "more than %d texts are commands in turn; expected a launch script", SOURCES_MAX);
        return 0;
    }
    if (s->source_count + 1 > room_of(s->source_count)) {
        struct source *all = arena_array(s->arena, room_of(s->source_count + 1), sizeof *all);
        if (s->source_count)
            memcpy(all, s->sources, s->source_count * sizeof *all);
        s->sources = all;
    }
    s->sources[s->source_count] = (struct source){file, text, size, origin};
    return (uint16_t)s->source_count++;
}

uint16_t shell_source_of(struct shell *s, const struct cells *cells)
{
    shell_spend(s, sizeof *cells->items * cells->count);
    char *text = arena_alloc(s->arena, cells->count + 2);
    struct cell *origin = arena_array(s->arena, cells->count + 1, sizeof *origin);
    size_t size = 0;
    for (size_t i = 0; i < cells->count; i++)
        if (cells->items[i].c != CELL_EMPTY) {
            origin[size] = cells->items[i];
            text[size++] = cells->items[i].c == CELL_BREAK ? ' ' : cells->items[i].c;
        }
    return shell_add_source(s, s->sources[0].file, text, size, origin);
}

struct place shell_place(struct shell *s, uint16_t source, size_t at)
{
    for (unsigned depth = 0; s->sources[source].origin && depth < SOURCES_MAX; depth++) {
        shell_spend(s, 1);
        const struct source *made = &s->sources[source];
        if (!made->size)
            return (struct place){made->file, 1, 1};
        const struct cell *cell = &made->origin[at < made->size ? at : made->size - 1];
        bool open = cell->c == CELL_OPEN || cell->c == CELL_BREAK;
        at = cell->c == CELL_OPEN ? s->unknowns[cell->at].at : cell->at;
        source = cell->c == CELL_OPEN ? s->unknowns[cell->at].source : open ? 0 : cell->source;
    }
    const struct source *file = &s->sources[source];
    at = at < file->size ? at : file->size;
    if (s->last.file != file->file || s->last_at > at) {
        s->last = (struct place){file->file, 1, 1};
        s->last_at = 0;
    }
    shell_spend(s, at - s->last_at);
    for (; s->last_at < at; s->last_at++) {
        char c = file->text[s->last_at];
        s->last.column = c == '\n' ? 1 : s->last.column + (((unsigned char)c & 0xC0) != 0x80);
        s->last.line += c == '\n';
    }
    return s->last;
}

void shell_refuse(struct shell *s, uint16_t source, size_t at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!s->broken)
        diag_verror(s->diag, shell_place(s, source, at), format, arguments);
    va_end(arguments);
    s->broken = true;
}

const char *shell_reason(struct shell *s, uint32_t unknown)
{
    const struct unknown *entry = &s->unknowns[unknown];
    if (!entry->why)
        return NULL;
    struct place at = shell_place(s, entry->source, entry->at);
    return arena_print(s->arena, "%s (line %u%s%s)", entry->why, at.line,
                       strcmp(at.file, s->request->file) != 0 ? " of " : "",
                       strcmp(at.file, s->request->file) != 0 ? at.file : "");
}
