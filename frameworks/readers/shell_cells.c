/* SPDX-License-Identifier: Apache-2.0 */
/* Variables, and the cells that words are made of. */
#include "frameworks/readers/shell_parts.h"

#include "base/arena.h"
#include "frameworks/readers/text.h"

#include <string.h>

enum { CELLS_MAX = 1 << 21 }; /* a script whose variables double one another ends here */

struct variable *shell_variable(struct shell *s, const char *name, size_t length)
{
    for (struct variable *each = s->variables; each; each = each->next)
        if (strlen(each->name) == length && !strncmp(each->name, name, length))
            return each;
    return NULL;
}

static void extend(struct shell *s, struct cells *to, const struct cells *from)
{
    for (size_t i = 0; i < from->count; i++)
        shell_add(s, to, from->items[i].c, from->items[i].at, from->items[i].quoted);
}

/* Words that a list of so many has room for. */
static size_t room_of(size_t count)
{
    size_t room = count > 0;
    while (room < count)
        room *= 2;
    return room;
}

/* Room for more words behind those of a list. */
static struct cells *widen(struct shell *s, struct cells *words, size_t count, size_t more)
{
    if (count + more <= room_of(count))
        return words;
    struct cells *all = arena_array(s->arena, room_of(count + more), sizeof *all);
    if (count)
        memcpy(all, words, count * sizeof *all);
    return all;
}

void shell_assign(struct shell *s, const char *name, size_t length, struct cells *words, size_t count, bool array,
                  bool more)
{
    struct variable *old = shell_variable(s, name, length);
    if (old && old->fixed)
        return;
    if (!old) {
        old = arena_alloc(s->arena, sizeof *old);
        *old = (struct variable){.name = arena_print(s->arena, "%.*s", (int)length, name), .next = s->variables};
        s->variables = old;
    } else if (more && array) {
        struct cells *all = old->words;
        size_t total = old->count;
        shell_append(s, words, count, &all, &total);
        words = all;
        count = total;
    } else if (more && old->count) {
        struct cells *longer = arena_array(s->arena, 1, sizeof *longer);
        extend(s, longer, &old->words[0]);
        if (count)
            extend(s, longer, &words[0]);
        words = longer;
        count = 1;
    }
    old->words = words;
    old->count = count;
    old->array = array;
}

void shell_add(struct shell *s, struct cells *cells, char c, size_t at, bool quoted)
{
    if (++s->cells > CELLS_MAX) {
        if (!s->broken)
            diag_error(s->diag, text_place(s->file, s->text, at < s->size ? at : 0),
                       "variables of the script grow beyond %d characters; expected a launch script", CELLS_MAX);
        s->broken = true;
        return;
    }
    if (cells->count == cells->capacity) {
        size_t capacity = cells->capacity ? 2 * cells->capacity : 16;
        struct cell *items = arena_array(s->arena, capacity, sizeof *items);
        if (cells->count)
            memcpy(items, cells->items, cells->count * sizeof *items);
        cells->items = items;
        cells->capacity = capacity;
    }
    cells->items[cells->count++] = (struct cell){(uint32_t)at, c, quoted};
}

const char *shell_text(struct shell *s, const struct cells *cells, const char **open)
{
    char *text = arena_alloc(s->arena, cells->count + 1), *name = NULL;
    size_t length = 0;
    *open = NULL;
    for (size_t i = 0; i < cells->count; i++) {
        char c = cells->items[i].c;
        if (c == OPEN_END && name && !*open)
            *open = arena_print(s->arena, "%.*s", (int)(text + length - name), name);
        if (c == OPEN_END)
            continue;
        text[length++] = c == OPEN_BEGIN ? '$' : c;
        if (c == OPEN_BEGIN && !name)
            name = text + length;
    }
    text[length] = '\0';
    return text;
}

void shell_split(struct shell *s, const struct cells *cells, struct cells **words, size_t *count)
{
    bool inside = false;
    for (size_t i = 0; i < cells->count; i++) {
        struct cell cell = cells->items[i];
        bool blank = !cell.quoted && strchr(" \t\n", cell.c);
        if (!blank && !inside) {
            *words = widen(s, *words, *count, 1);
            (*words)[(*count)++] = (struct cells){0};
        }
        inside = !blank;
        if (!blank)
            shell_add(s, &(*words)[*count - 1], cell.c, cell.at, cell.quoted);
    }
}

void shell_append(struct shell *s, const struct cells *more, size_t more_count, struct cells **words, size_t *count)
{
    *words = widen(s, *words, *count, more_count);
    if (more_count)
        memcpy(*words + *count, more, more_count * sizeof **words);
    *count += more_count;
}
