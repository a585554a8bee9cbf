/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_writer.h"

#include "base/figure.h"
#include "base/number_text.h"

#include <assert.h>
#include <math.h>

struct json_writer json_writer_init(FILE *out)
{
    return (struct json_writer){.out = out};
}

/* Length of the UTF-8 sequence that starts here; 0 when it is none. */
static unsigned sequence_length(const unsigned char *text)
{
    unsigned length = text[0] < 0x80                      ? 1
                      : text[0] >= 0xc2 && text[0] < 0xe0 ? 2
                      : text[0] >= 0xe0 && text[0] < 0xf0 ? 3
                                                          : 4;
    if (length == 4 && !(text[0] >= 0xf0 && text[0] < 0xf5))
        return 0;
    for (unsigned i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool beyond = (text[0] == 0xed && text[1] >= 0xa0) || (text[0] == 0xf4 && text[1] >= 0x90);
    return overlong || beyond ? 0 : length;
}

void json_escape(FILE *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    putc('"', out);
    while (*at) {
        unsigned length = sequence_length(at);
        if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(out, "\\u%04x", *at);
        else if (length)
            fwrite(at, 1, length, out);
        else
            fputs("\\ufffd", out);
        at += length ? length : 1;
    }
    putc('"', out);
}

void json_items_written(struct json_writer *writer)
{
    assert(writer->depth);
    writer->has_items[writer->depth - 1] = true;
}

/* What stands before an item: comma, line break or space, key. */
static void item(struct json_writer *writer, const char *key)
{
    unsigned depth = writer->depth;
    if (depth) {
        bool first = !writer->has_items[depth - 1];
        if (writer->inline_from[depth - 1])
            fputs(first ? "" : ", ", writer->out);
        else
            fprintf(writer->out, "%s\n%*s", first ? "" : ",", (int)depth * 2, "");
        writer->has_items[depth - 1] = true;
    }
    if (key) {
        json_escape(writer->out, key);
        fputs(": ", writer->out);
    }
}

static void begin(struct json_writer *writer, const char *key, char bracket, bool lines)
{
    assert(writer->depth < JSON_DEPTH_MAX);
    item(writer, key);
    putc(bracket, writer->out);
    writer->inline_from[writer->depth] = !lines || (writer->depth && writer->inline_from[writer->depth - 1]);
    writer->has_items[writer->depth++] = false;
}

static void end(struct json_writer *writer, char bracket)
{
    unsigned depth = --writer->depth;
    if (!writer->inline_from[depth] && writer->has_items[depth])
        fprintf(writer->out, "\n%*s", (int)depth * 2, "");
    putc(bracket, writer->out);
    if (!depth)
        putc('\n', writer->out);
}

void json_object_begin(struct json_writer *writer, const char *key, bool lines)
{
    begin(writer, key, '{', lines);
}

void json_object_end(struct json_writer *writer)
{
    end(writer, '}');
}

void json_array_begin(struct json_writer *writer, const char *key, bool lines)
{
    begin(writer, key, '[', lines);
}

void json_array_end(struct json_writer *writer)
{
    end(writer, ']');
}

void json_text(struct json_writer *writer, const char *key, const char *text)
{
    item(writer, key);
    json_escape(writer->out, text);
}

void json_number(struct json_writer *writer, const char *key, double value)
{
    if (isnan(value) && key)
        return;
    char text[NUMBER_TEXT_MAX];
    item(writer, key);
    fwrite(text, 1, number_write(text, figure(key ? key : "an item", value)), writer->out);
}

void json_integer(struct json_writer *writer, const char *key, uint64_t value)
{
    char text[NUMBER_TEXT_MAX];
    item(writer, key);
    fwrite(text, 1, number_write_integer(text, value), writer->out);
}

void json_flag(struct json_writer *writer, const char *key, bool value)
{
    item(writer, key);
    fputs(value ? "true" : "false", writer->out);
}
