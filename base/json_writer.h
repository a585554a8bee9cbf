/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON as it goes: members in the order given, two spaces of indent for what is written in blocks, one line for
 * what is written inline. Members that are not known (NaN) are left out; other
 * numbers have to be finite (base/figure.h). */
#ifndef STAGESIM_JSON_WRITER_H
#define STAGESIM_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_DEPTH_MAX = 16 };

struct json_writer {
    FILE *out; /* errors stay on the stream, for its owner to check */
    unsigned depth;
    bool inline_from[JSON_DEPTH_MAX]; /* this level and those below are on one line */
    bool has_items[JSON_DEPTH_MAX];
};

/* The writer is the caller's; `out` is borrowed. */
struct json_writer json_writer_init(FILE *out);

/* key NULL: an item of an array, or the document itself. Lines: one item a line. */
void json_object_begin(struct json_writer *writer, const char *key, bool lines);
void json_object_end(struct json_writer *writer);
void json_array_begin(struct json_writer *writer, const char *key, bool lines);
void json_array_end(struct json_writer *writer);
void json_text(struct json_writer *writer, const char *key, const char *text);
/* NaN: not known, a member is left out. Anything else, and an item of an array, is finite. */
void json_number(struct json_writer *writer, const char *key, double value);
void json_integer(struct json_writer *writer, const char *key, uint64_t value);
void json_flag(struct json_writer *writer, const char *key, bool value);

/* To be called after the caller himself has written items of the array or object, at least one. */
void json_items_written(struct json_writer *writer);

/* The text between quotes, escaped as JSON wants; bytes that are not UTF-8 are replaced by U+FFFD. */
void json_escape(FILE *out, const char *text);

#endif
