/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text_writer.h"

#include "base/arena.h"
#include "base/number_text.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 1 << 16 };

struct text_writer {
    FILE *out;
    struct number_cache *cache;
    size_t used;
    char buffer[BUFFER_BYTES];
};

struct text_writer *text_writer_create(FILE *out)
{
    size_t capacity = 0;
    struct text_writer *writer = array_grow(NULL, &capacity, 1, sizeof *writer);
    writer->out = out;
    writer->cache = number_cache_create();
    writer->used = 0;
    return writer;
}

static void empty(struct text_writer *writer)
{
    fwrite(writer->buffer, 1, writer->used, writer->out);
    writer->used = 0;
}

void text_writer_destroy(struct text_writer *writer)
{
    empty(writer);
    number_cache_destroy(writer->cache);
    free(writer);
}

/* Where up to NUMBER_TEXT_MAX characters fit. */
static char *room(struct text_writer *writer)
{
    if (writer->used > BUFFER_BYTES - NUMBER_TEXT_MAX)
        empty(writer);
    return writer->buffer + writer->used;
}

void text_char(struct text_writer *writer, char c)
{
    *room(writer) = c;
    writer->used++;
}

void text_string(struct text_writer *writer, const char *text)
{
    for (size_t length = strlen(text); length;) {
        size_t part = BUFFER_BYTES - writer->used;
        part = part < length ? part : length;
        memcpy(writer->buffer + writer->used, text, part);
        writer->used += part;
        text += part;
        length -= part;
        if (writer->used == BUFFER_BYTES)
            empty(writer);
    }
}

void text_integer(struct text_writer *writer, uint64_t value)
{
    writer->used += number_write_integer(room(writer), value);
}

void text_number(struct text_writer *writer, double value)
{
    writer->used += number_write_cached(writer->cache, room(writer), value);
}
