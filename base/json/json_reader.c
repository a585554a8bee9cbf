/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_reader.h"

#include "base/arena.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 1 << 18 };

/* What may come next. */
enum expected { WANT_VALUE, WANT_FIRST_KEY, WANT_KEY, WANT_COLON, WANT_FIRST_ITEM, WANT_COMMA, WANT_NOTHING };

struct json_reader {
    const char *name;
    json_source *source;
    void *user;
    size_t at, filled; /* in buffer */
    bool ended;
    unsigned line;
    uint64_t line_start, before; /* bytes of the text before this line; before the buffer */
    struct place place;
    enum expected expected;
    unsigned depth;
    bool is_object[JSON_READER_DEPTH_MAX];
    char *text;
    size_t size, capacity;
    bool failed;
    struct fault fault;
    char *buffer; /* BUFFER_BYTES, not zeroed: small documents never touch most of it */
};

struct json_reader *json_reader_create(const char *name, json_source *source, void *user)
{
    struct json_reader *reader = array_zeroed(1, sizeof *reader);
    reader->buffer = array_grow(NULL, &(size_t){0}, BUFFER_BYTES, 1);
    reader->name = name;
    reader->source = source;
    reader->user = user;
    reader->line = 1;
    reader->place = (struct place){name, 1, 1};
    return reader;
}

void json_reader_destroy(struct json_reader *reader)
{
    if (reader) {
        free(reader->text);
        free(reader->buffer);
    }
    free(reader);
}

static bool refill(struct json_reader *reader)
{
    if (reader->ended)
        return false;
    reader->before += reader->filled;
    reader->at = 0;
    reader->filled = reader->source(reader->user, reader->buffer, BUFFER_BYTES, &reader->fault);
    reader->ended = reader->filled == 0;
    reader->failed |= *reader->fault.text != '\0';
    return !reader->ended;
}

/* The next byte, which stays; EOF: there is none. */
static inline int peek(struct json_reader *reader)
{
    if (reader->at == reader->filled && !refill(reader))
        return EOF;
    return (unsigned char)reader->buffer[reader->at];
}

static void note_place(struct json_reader *reader)
{
    uint64_t column = reader->before + reader->at - reader->line_start + 1;
    reader->place.line = reader->line;
    reader->place.column = column < UINT32_MAX ? (unsigned)column : UINT32_MAX;
}

static void skip_blanks(struct json_reader *reader)
{
    for (int c; (c = peek(reader)) == ' ' || c == '\t' || c == '\n' || c == '\r'; reader->at++)
        if (c == '\n') {
            reader->line++;
            reader->line_start = reader->before + reader->at + 1;
        }
}

static void refuse(struct json_reader *reader, const char *format, va_list arguments)
{
    if (reader->failed)
        return;
    vsnprintf(reader->fault.text, sizeof reader->fault.text, format, arguments);
    reader->failed = true;
}

void json_refuse(struct json_reader *reader, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    refuse(reader, format, arguments);
    va_end(arguments);
    reader->fault.refused = true;
}

__attribute__((format(printf, 2, 3))) static enum json_piece mistake(struct json_reader *reader, const char *format,
                                                                     ...)
{
    va_list arguments;
    va_start(arguments, format);
    note_place(reader);
    refuse(reader, format, arguments);
    va_end(arguments);
    reader->fault.refused = true;
    return JSON_END;
}

static enum json_piece unexpected(struct json_reader *reader, const char *expected)
{
    int c = peek(reader);
    if (c == EOF)
        return mistake(reader, "the file ends in the middle of its JSON, it was cut; expected %s", expected);
    if (c > ' ' && c < 0x7f)
        return mistake(reader, "expected %s, not '%c'", expected, c);
    return mistake(reader, "expected %s, not byte 0x%02x", expected, (unsigned)c);
}

/* ---- texts ---- */

static bool keep(struct json_reader *reader, char c)
{
    if (reader->size >= JSON_READER_TEXT_MAX) {
        mistake(reader, "a text is longer than %d MiB", JSON_READER_TEXT_MAX >> 20);
        return false;
    }
    reader->text = array_grow(reader->text, &reader->capacity, reader->size + 2, 1);
    reader->text[reader->size++] = c;
    return true;
}

/* The plain bytes at the beginning of the buffer's rest, at once. */
static bool keep_plain(struct json_reader *reader)
{
    size_t end = reader->at;
    while (end < reader->filled && reader->buffer[end] != '"' && reader->buffer[end] != '\\' &&
           (unsigned char)reader->buffer[end] >= ' ')
        end++;
    size_t count = end - reader->at;
    if (reader->size + count > JSON_READER_TEXT_MAX)
        return keep(reader, 0) && count == 0;
    reader->text = array_grow(reader->text, &reader->capacity, reader->size + count + 2, 1);
    memcpy(reader->text + reader->size, reader->buffer + reader->at, count);
    reader->size += count;
    reader->at = end;
    return true;
}

static bool read_hex(struct json_reader *reader, unsigned *value)
{
    *value = 0;
    for (int i = 0; i < 4; i++) {
        int c = peek(reader);
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) {
            unexpected(reader, "four hexadecimal digits after \\u");
            return false;
        }
        *value = *value * 16 + (unsigned)digit;
        reader->at++;
    }
    return true;
}

/* As UTF-8; halves of a pair that stand alone become U+FFFD, and zeros, which would end the text. */
static bool keep_point(struct json_reader *reader, unsigned point)
{
    if (point == 0 || (point >= 0xd800 && point < 0xe000))
        point = 0xfffd;
    if (point < 0x80)
        return keep(reader, (char)point);
    if (point < 0x800)
        return keep(reader, (char)(0xc0 | point >> 6)) && keep(reader, (char)(0x80 | (point & 0x3f)));
    if (point >= 0x10000 && !keep(reader, (char)(0xf0 | point >> 18)))
        return false;
    if (point >= 0x10000 ? !keep(reader, (char)(0x80 | (point >> 12 & 0x3f)))
                         : !keep(reader, (char)(0xe0 | point >> 12)))
        return false;
    return keep(reader, (char)(0x80 | (point >> 6 & 0x3f))) && keep(reader, (char)(0x80 | (point & 0x3f)));
}

static bool read_unicode(struct json_reader *reader)
{
    unsigned high, low;
    if (!read_hex(reader, &high))
        return false;
    if (high < 0xd800 || high >= 0xdc00)
        return keep_point(reader, high);
    if (peek(reader) != '\\')
        return keep_point(reader, high);
    reader->at++;
    if (peek(reader) != 'u') {
        unexpected(reader, "the second half of a pair of \\u");
        return false;
    }
    reader->at++;
    if (!read_hex(reader, &low))
        return false;
    if (low < 0xdc00 || low >= 0xe000)
        return keep_point(reader, high) && keep_point(reader, low);
    return keep_point(reader, 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
}

static bool read_escape(struct json_reader *reader)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    int c = peek(reader);
    const char *found = c != EOF && c ? strchr(from, c) : NULL;
    if (c == 'u') {
        reader->at++;
        return read_unicode(reader);
    }
    if (!found) {
        unexpected(reader, "one of \" \\ / b f n r t u after a backslash");
        return false;
    }
    reader->at++;
    return keep(reader, to[found - from]);
}

/* From behind the first quote to behind the last. */
static bool read_text(struct json_reader *reader)
{
    reader->size = 0;
    for (;;) {
        int c = peek(reader);
        if (c == '"') {
            reader->at++;
            reader->text = array_grow(reader->text, &reader->capacity, reader->size + 1, 1);
            reader->text[reader->size] = '\0';
            return true;
        }
        if (c == '\\') {
            reader->at++;
            if (!read_escape(reader))
                return false;
        } else if (c == EOF) {
            unexpected(reader, "a quote at the end of a text");
            return false;
        } else if (c < ' ') {
            /* Kineto writes names of kernels as they are. */
            if (c == '\n') {
                unexpected(reader, "a quote before the end of the line");
                return false;
            }
            reader->at++;
            if (!keep(reader, c ? (char)c : ' '))
                return false;
        } else if (!keep_plain(reader)) {
            return false;
        }
    }
}

/* ---- numbers and words ---- */

static bool is_word_byte(int c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' ||
           c == '.' || c == '_';
}

/* digits, at least one. */
static const char *take_digits(const char *at)
{
    const char *first = at;
    while (*at >= '0' && *at <= '9')
        at++;
    return at > first ? at : NULL;
}

static bool is_number(const char *text)
{
    const char *at = text + (*text == '-');
    if (!strcmp(at, "Infinity") || !strcmp(at, "inf") || !strcmp(at, "NaN") || !strcmp(at, "nan"))
        return true;
    if (*at == '0' && at[1] >= '0' && at[1] <= '9')
        return false;
    if (!(at = take_digits(at)))
        return false;
    if (*at == '.' && !(at = take_digits(at + 1)))
        return false;
    if (*at == 'e' || *at == 'E') {
        at++;
        if (!(at = take_digits(at + (*at == '-' || *at == '+'))))
            return false;
    }
    return *at == '\0';
}

enum { WORD_BYTES_MAX = 400 };

static enum json_piece read_word(struct json_reader *reader)
{
    reader->size = 0;
    while (is_word_byte(peek(reader)) && reader->size < WORD_BYTES_MAX) {
        if (!keep(reader, reader->buffer[reader->at]))
            return JSON_END;
        reader->at++;
    }
    if (!reader->size)
        return unexpected(reader, "a value");
    reader->text[reader->size] = '\0';
    if (!strcmp(reader->text, "true"))
        return JSON_TRUE;
    if (!strcmp(reader->text, "false"))
        return JSON_FALSE;
    if (!strcmp(reader->text, "null"))
        return JSON_NULL;
    if (is_number(reader->text))
        return JSON_NUMBER;
    if (peek(reader) == EOF)
        return unexpected(reader, "the rest of a value");
    reader->failed |= mistake(reader, "'%.40s' is no value of JSON", reader->text) != JSON_END;
    return JSON_END;
}

/* ---- structure ---- */

static enum json_piece begin(struct json_reader *reader, bool object)
{
    if (reader->depth == JSON_READER_DEPTH_MAX)
        return mistake(reader, "objects and lists are nested deeper than %d", JSON_READER_DEPTH_MAX);
    reader->at++;
    reader->is_object[reader->depth++] = object;
    reader->expected = object ? WANT_FIRST_KEY : WANT_FIRST_ITEM;
    return object ? JSON_OBJECT_BEGIN : JSON_ARRAY_BEGIN;
}

static enum json_piece end(struct json_reader *reader)
{
    bool object = reader->is_object[--reader->depth];
    reader->at++;
    reader->expected = reader->depth ? WANT_COMMA : WANT_NOTHING;
    return object ? JSON_OBJECT_END : JSON_ARRAY_END;
}

static enum json_piece read_value(struct json_reader *reader)
{
    int c = peek(reader);
    if (c == '{' || c == '[')
        return begin(reader, c == '{');
    reader->expected = reader->depth ? WANT_COMMA : WANT_NOTHING;
    if (c != '"')
        return read_word(reader);
    reader->at++;
    return read_text(reader) ? JSON_STRING : JSON_END;
}

static enum json_piece read_key(struct json_reader *reader)
{
    if (peek(reader) != '"')
        return unexpected(reader, "a key in quotes");
    reader->at++;
    if (!read_text(reader))
        return JSON_END;
    reader->expected = WANT_COLON;
    return JSON_KEY;
}

/* Behind a value in an object or a list. */
static enum json_piece go_on(struct json_reader *reader)
{
    bool object = reader->is_object[reader->depth - 1];
    int c = peek(reader);
    if (c == (object ? '}' : ']'))
        return end(reader);
    if (c != ',')
        return unexpected(reader, object ? "',' or '}' behind a member" : "',' or ']' behind an item");
    reader->at++;
    skip_blanks(reader);
    note_place(reader);
    return object ? read_key(reader) : read_value(reader);
}

static enum json_piece read_piece(struct json_reader *reader)
{
    switch (reader->expected) {
    case WANT_COLON:
        if (peek(reader) != ':')
            return unexpected(reader, "':' behind a key");
        reader->at++;
        skip_blanks(reader);
        note_place(reader);
        return read_value(reader);
    case WANT_FIRST_KEY:
        return peek(reader) == '}' ? end(reader) : read_key(reader);
    case WANT_FIRST_ITEM:
        return peek(reader) == ']' ? end(reader) : read_value(reader);
    case WANT_COMMA:
        return go_on(reader);
    case WANT_NOTHING:
        return peek(reader) == EOF ? JSON_END : unexpected(reader, "the end of the file");
    default:
        return read_value(reader);
    }
}

enum json_piece json_next(struct json_reader *reader)
{
    if (reader->failed)
        return JSON_END;
    skip_blanks(reader);
    note_place(reader);
    enum json_piece piece = read_piece(reader);
    return reader->failed ? JSON_END : piece;
}

const char *json_piece_text(const struct json_reader *reader, size_t *size)
{
    if (size)
        *size = reader->size;
    return reader->text;
}

void json_skip_rest(struct json_reader *reader)
{
    unsigned depth = reader->depth;
    while (reader->depth >= depth && json_next(reader) != JSON_END) {}
}

void json_skip(struct json_reader *reader)
{
    enum json_piece piece = json_next(reader);
    if (piece == JSON_OBJECT_BEGIN || piece == JSON_ARRAY_BEGIN)
        json_skip_rest(reader);
}

unsigned json_depth(const struct json_reader *reader)
{
    return reader->depth;
}

struct place json_place(const struct json_reader *reader)
{
    return reader->place;
}

const char *json_reader_failed(const struct json_reader *reader, struct place *at, bool *trouble)
{
    if (!reader->failed)
        return NULL;
    *at = reader->place;
    *trouble = !reader->fault.refused;
    return reader->fault.text;
}
