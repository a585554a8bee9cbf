/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/import/topo_text.h"

#include "base/arena.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

enum { ESCAPE = 27 };

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\0';
}

/* Behind an escape sequence such as ESC [ 4 m. */
static const char *skip_escape(const char *at, const char *end)
{
    if (at < end && *at == '[')
        for (at++; at < end && (*at < '@' || *at > '~');)
            at++;
    return at < end ? at + 1 : end;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (is_blank(*at) || *at == ESCAPE))
        at = *at == ESCAPE ? skip_escape(at + 1, end) : at + 1;
    return at;
}

/* Copies a word without its escapes to `out`, with a zero at its end; returns what is behind it in the text. */
static const char *copy_word(const char *at, const char *end, char **out)
{
    while (at < end && !is_blank(*at)) {
        if (*at == ESCAPE)
            at = skip_escape(at + 1, end);
        else
            *(*out)++ = *at++;
    }
    *(*out)++ = '\0';
    return at;
}

/* The words' texts stand one behind the other in one piece of memory: each has a blank or the end behind it. */
static struct topo_line split_line(const struct topo_text *text, const char *begin, const char *end, unsigned number)
{
    struct topo_line line = {.number = number};
    const char *comment = text->comments ? memchr(begin, '#', (size_t)(end - begin)) : NULL;
    end = comment ? comment : end;
    char *out = arena_alloc(text->arena, (size_t)(end - begin) + 2);
    uint32_t words = 1;
    for (const char *at = begin; at < end; at++)
        words += !is_blank(*at) && (at == begin || is_blank(at[-1]) || *at == ESCAPE);
    line.words = arena_array(text->arena, words, sizeof *line.words);
    for (const char *at = skip_blanks(begin, end); at < end; at = skip_blanks(at, end)) {
        struct topo_word word = {out, (unsigned)(at - begin) + 1};
        at = copy_word(at, end, &out);
        if (line.count || strcmp(word.text, "#") != 0) /* of a line that was commented out */
            line.words[line.count++] = word;
    }
    return line;
}

void topo_text_split(struct topo_text *text, const char *from, size_t size)
{
    const char *end = from + size;
    uint32_t lines = 1;
    for (const char *c = from; c < end; c++)
        lines += *c == '\n';
    text->lines = arena_array(text->arena, lines, sizeof *text->lines);
    text->count = 0;
    for (unsigned number = 1; from < end; number++) {
        const char *stop = memchr(from, '\n', (size_t)(end - from));
        struct topo_line line = split_line(text, from, stop ? stop : end, number);
        if (line.count)
            text->lines[text->count++] = line;
        from = stop ? stop + 1 : end;
    }
}

bool topo_text_mistake(const struct topo_text *text, const struct topo_line *line, uint32_t word, const char *format,
                       ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *what = arena_vprint(text->arena, format, arguments);
    va_end(arguments);
    const struct topo_word *last = &line->words[line->count - 1];
    unsigned column = word < line->count ? line->words[word].column : last->column + (unsigned)strlen(last->text);
    return fault_set(text->fault, "%s:%u:%u: %s", text->name, line->number, column, what);
}

bool topo_is_numbered(const char *word, const char *letters)
{
    size_t length = strlen(letters);
    if (strncmp(word, letters, length) != 0 || !word[length])
        return false;
    return word[length + strspn(word + length, "0123456789")] == '\0';
}
