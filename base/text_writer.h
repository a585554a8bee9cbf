/* SPDX-License-Identifier: Apache-2.0 */
/* Text files of millions of short fields: buffered, numbers formatted here. Write errors stay on the stream. */
#ifndef STAGESIM_TEXT_WRITER_H
#define STAGESIM_TEXT_WRITER_H

#include <stdint.h>
#include <stdio.h>

struct text_writer;

/* The caller owns the writer; `out` is borrowed. */
struct text_writer *text_writer_create(FILE *out);
/* Writes out what is buffered. */
void text_writer_destroy(struct text_writer *writer);

void text_char(struct text_writer *writer, char c);
void text_string(struct text_writer *writer, const char *text);
void text_integer(struct text_writer *writer, uint64_t value);
/* Shortest text that reads back as the same double. */
void text_number(struct text_writer *writer, double value);

#endif
