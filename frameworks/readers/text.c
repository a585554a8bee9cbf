/* SPDX-License-Identifier: Apache-2.0 */
#include "frameworks/readers/text.h"

#include "base/arena.h"
#include "base/paths.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What comes, up to a byte more than is read; two zeros follow. As much memory as that takes: scripts ask for the same
 * file again and again. */
static char *read_all(FILE *in, size_t *size, struct arena *arena)
{
    enum { CHUNK = 4096 };
    char *read = NULL;
    size_t capacity = 0, got = CHUNK;
    for (*size = 0; got == CHUNK && *size <= TEXT_BYTES_MAX; *size += got) {
        read = array_grow(read, &capacity, *size + CHUNK, 1);
        got = fread(read + *size, 1, CHUNK, in);
    }
    char *text = arena_alloc(arena, *size + 2);
    memcpy(text, read, *size);
    free(read);
    return text;
}

const char *text_read(const char *file, size_t *size, struct arena *arena, struct diag *diag)
{
    struct fault fault = {""};
    struct place at = {.file = file};
    if (!path_check_readable(file, &fault)) {
        diag_trouble(diag, (struct place){0}, "%s", fault.text);
        return NULL;
    }
    FILE *in = path_open_read(file);
    *size = 0;
    char *text = in ? read_all(in, size, arena) : NULL;
    bool failed = !in || ferror(in);
    int reason = errno;
    if (in)
        fclose(in);
    if (failed)
        diag_trouble(diag, at, "cannot be read: %s", strerror(reason));
    else if (*size > TEXT_BYTES_MAX)
        diag_error(diag, at, "the file is larger than %d bytes; expected a description of a job", TEXT_BYTES_MAX);
    else if (memchr(text, '\0', *size))
        diag_error(diag, text_place(file, text, (size_t)((char *)memchr(text, '\0', *size) - text)),
                   "a NUL byte; expected a text");
    else
        return text;
    return NULL;
}

struct place text_place(const char *file, const char *text, size_t offset)
{
    struct place at = {file, 1, 1};
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            at.line++;
            at.column = 1;
        } else
            at.column += ((unsigned char)text[i] & 0xC0) != 0x80;
    }
    return at;
}

/* Bytes of the character that begins here; 0: none does. */
static size_t character(const unsigned char *text, size_t left)
{
    size_t length = text[0] < 0x80 ? 1 : text[0] >= 0xF0 ? 4 : text[0] >= 0xE0 ? 3 : 2;
    uint32_t point = length == 1 ? text[0] : text[0] & (0x7FU >> length);
    if (length > left || (text[0] >= 0x80 && text[0] < 0xC2) || text[0] > 0xF4)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80)
            return 0;
        point = point << 6 | (text[i] & 0x3F);
    }
    bool shortest = length < 3 || (length == 3 ? point >= 0x800 : point >= 0x10000 && point <= 0x10FFFF);
    return shortest && (point < 0xD800 || point > 0xDFFF) ? length : 0;
}

size_t text_bad_utf8(const char *text, size_t size)
{
    size_t at = 0, length;
    while (at < size && (length = character((const unsigned char *)text + at, size - at)))
        at += length;
    return at;
}
