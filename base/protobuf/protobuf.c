/* SPDX-License-Identifier: Apache-2.0 */
#include "base/protobuf/protobuf.h"

#include "base/arena.h"

#include <string.h>

enum { VARINT_MAX = 10, FIELD_MAX = (1 << 29) - 1 };

/* ---- writing ---- */

static uint8_t *room_for(struct protobuf *buffer, size_t size)
{
    buffer->bytes = array_grow(buffer->bytes, &buffer->capacity, buffer->size + size, 1);
    return buffer->bytes + buffer->size;
}

static size_t encode(uint8_t *to, uint64_t value)
{
    size_t size = 0;
    for (; value > 127; value >>= 7)
        to[size++] = (uint8_t)(value | 128);
    to[size++] = (uint8_t)value;
    return size;
}

void protobuf_varint(struct protobuf *buffer, uint64_t value)
{
    buffer->size += encode(room_for(buffer, VARINT_MAX), value);
}

static void put_key(struct protobuf *buffer, unsigned field, enum protobuf_wire wire)
{
    protobuf_varint(buffer, (uint64_t)field << 3 | (unsigned)wire);
}

void protobuf_number(struct protobuf *buffer, unsigned field, uint64_t value)
{
    put_key(buffer, field, PROTOBUF_VARINT);
    protobuf_varint(buffer, value);
}

void protobuf_fixed(struct protobuf *buffer, unsigned field, uint64_t bits)
{
    put_key(buffer, field, PROTOBUF_FIXED64);
    uint8_t *to = room_for(buffer, 8);
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)(bits >> 8 * i);
    buffer->size += 8;
}

void protobuf_double(struct protobuf *buffer, unsigned field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    protobuf_fixed(buffer, field, bits);
}

void protobuf_text(struct protobuf *buffer, unsigned field, const char *text)
{
    size_t size = strlen(text);
    put_key(buffer, field, PROTOBUF_BYTES);
    protobuf_varint(buffer, size);
    memcpy(room_for(buffer, size + 1), text, size);
    buffer->size += size;
}

size_t protobuf_begin(struct protobuf *buffer, unsigned field)
{
    put_key(buffer, field, PROTOBUF_BYTES);
    return buffer->size;
}

/* The length goes before what it counts. */
void protobuf_end(struct protobuf *buffer, size_t begun)
{
    uint8_t length[VARINT_MAX];
    size_t size = buffer->size - begun, more = encode(length, size);
    room_for(buffer, more);
    memmove(buffer->bytes + begun + more, buffer->bytes + begun, size);
    memcpy(buffer->bytes + begun, length, more);
    buffer->size += more;
}

/* ---- reading ---- */

bool protobuf_read_varint(struct protobuf_reader *reader, uint64_t *value)
{
    const uint8_t *at = reader->at;
    uint64_t read = 0;
    for (unsigned shift = 0; shift < 64 && at < reader->end; shift += 7) {
        uint8_t byte = *at++;
        if (shift == 63 && byte > 1)
            return false;
        read |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *value = read;
            reader->at = at;
            return true;
        }
    }
    return false;
}

/* So many bytes, the low one first. */
static bool read_fixed(struct protobuf_reader *reader, unsigned size, uint64_t *bits)
{
    if ((size_t)(reader->end - reader->at) < size)
        return false;
    *bits = 0;
    for (unsigned i = 0; i < size; i++)
        *bits |= (uint64_t)reader->at[i] << 8 * i;
    reader->at += size;
    return true;
}

static bool read_bytes(struct protobuf_reader *reader, struct protobuf_field *field)
{
    uint64_t size;
    if (!protobuf_read_varint(reader, &size) || size > (size_t)(reader->end - reader->at))
        return false;
    field->bytes = reader->at;
    field->size = (size_t)size;
    reader->at += size;
    return true;
}

static bool read_value(struct protobuf_reader *reader, struct protobuf_field *field)
{
    switch (field->wire) {
    case PROTOBUF_VARINT:
        return protobuf_read_varint(reader, &field->value);
    case PROTOBUF_FIXED64:
        return read_fixed(reader, 8, &field->value);
    case PROTOBUF_FIXED32:
        return read_fixed(reader, 4, &field->value);
    case PROTOBUF_BYTES:
        break;
    }
    return read_bytes(reader, field);
}

static const char *next(struct protobuf_reader *reader, struct protobuf_field *field)
{
    uint64_t key;
    if (!protobuf_read_varint(reader, &key))
        return "a field's number is cut off";
    if (key >> 3 == 0 || key >> 3 > FIELD_MAX)
        return "a field has a number that there is not";
    if ((key & 7) != PROTOBUF_VARINT && (key & 7) != PROTOBUF_FIXED64 && (key & 7) != PROTOBUF_BYTES &&
        (key & 7) != PROTOBUF_FIXED32)
        return "a field is of a kind that there is not";
    *field = (struct protobuf_field){.number = (uint32_t)(key >> 3), .wire = (enum protobuf_wire)(key & 7)};
    return read_value(reader, field) ? NULL : "a field is cut off";
}

bool protobuf_next(struct protobuf_reader *reader, struct protobuf_field *field, const char **wrong)
{
    struct protobuf_reader begun = *reader;
    *wrong = NULL;
    if (reader->at == reader->end)
        return false;
    *wrong = next(reader, field);
    if (*wrong)
        *reader = begun;
    return !*wrong;
}
