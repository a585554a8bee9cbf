/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JSON piece by piece, in the memory of its longest text: files of gigabytes. What is not JSON is said with its
 * line and column; the first mistake ends reading. */
#ifndef STAGESIM_JSON_READER_H
#define STAGESIM_JSON_READER_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_piece {
    JSON_END, /* of the text, or a mistake: json_reader_failed tells */
    JSON_OBJECT_BEGIN,
    JSON_OBJECT_END,
    JSON_ARRAY_BEGIN,
    JSON_ARRAY_END,
    JSON_KEY,
    JSON_STRING,
    JSON_NUMBER, /* its text is in the form of RFC 8259; NaN and infinities, which PyTorch writes, are read as well */
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL
};

/* Deeper nesting and longer texts are mistakes. */
enum { JSON_READER_DEPTH_MAX = 64, JSON_READER_TEXT_MAX = 1 << 24 };

struct json_reader;

/* Fills the buffer; 0: the end, or trouble, which the source then has said in the fault. */
typedef size_t json_source(void *user, char *buffer, size_t size, struct fault *fault);

/* `name` stands in messages and stays. The caller ends it with json_reader_destroy, NULL is fine. */
struct json_reader *json_reader_create(const char *name, json_source *source, void *user);
void json_reader_destroy(struct json_reader *reader);

/* The next piece. A list at the top whose end is missing, as programs leave it that were killed, is a mistake. */
enum json_piece json_next(struct json_reader *reader);
/* Of the key, string or number: unescaped, with a zero behind it; valid until the next call. */
const char *json_piece_text(const struct json_reader *reader, size_t *size);
/* Passes over the value that comes next, whole. */
void json_skip(struct json_reader *reader);
/* Passes over what is left of the object or array that was begun last. */
void json_skip_rest(struct json_reader *reader);
/* The open objects and arrays. */
unsigned json_depth(const struct json_reader *reader);
/* Where the newest piece begins. */
struct place json_place(const struct json_reader *reader);

/* Notes a mistake of the caller's kind at the newest piece, after which JSON_END comes. The first one counts. */
__attribute__((format(printf, 2, 3))) void json_refuse(struct json_reader *reader, const char *format, ...);
/* What was wrong, and where; NULL: nothing was. `trouble`: the source failed. */
const char *json_reader_failed(const struct json_reader *reader, struct place *at, bool *trouble);

#endif
