/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol buffers: the encoding, see protobuf.dev/programming-guides/encoding. What a message's fields are called is
 * the caller's to know. */
#ifndef STAGESIM_PROTOBUF_H
#define STAGESIM_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- writing ---- */

/* Bytes under way; all zero is empty. The owner frees `bytes`. */
struct protobuf {
    uint8_t *bytes;
    size_t size, capacity;
};

void protobuf_varint(struct protobuf *buffer, uint64_t value);
/* Fields: a number, 8 bytes, text. */
void protobuf_number(struct protobuf *buffer, unsigned field, uint64_t value);
void protobuf_fixed(struct protobuf *buffer, unsigned field, uint64_t bits);
void protobuf_double(struct protobuf *buffer, unsigned field, double value);
void protobuf_text(struct protobuf *buffer, unsigned field, const char *text);
/* A field that is a message: what is written between the two calls. Returns what the second one takes. */
size_t protobuf_begin(struct protobuf *buffer, unsigned field);
void protobuf_end(struct protobuf *buffer, size_t begun);

/* ---- reading ---- */

enum protobuf_wire { PROTOBUF_VARINT = 0, PROTOBUF_FIXED64 = 1, PROTOBUF_BYTES = 2, PROTOBUF_FIXED32 = 5 };

/* A part of memory that is a message. */
struct protobuf_reader {
    const uint8_t *at, *end;
};

/* A field that was read. */
struct protobuf_field {
    uint32_t number;
    enum protobuf_wire wire;
    uint64_t value;       /* PROTOBUF_VARINT and the fixed ones: their bits */
    const uint8_t *bytes; /* PROTOBUF_BYTES: `size` of them, in the reader's memory */
    size_t size;
};

/* A number at the reader's place. False: it is cut off, or longer than 64 bits. */
bool protobuf_read_varint(struct protobuf_reader *reader, uint64_t *value);
/* The next field. False at the message's end, and with *wrong saying what is there in place of a field (NULL at the
 * end); the reader is left where that is. */
bool protobuf_next(struct protobuf_reader *reader, struct protobuf_field *field, const char **wrong);

#endif
