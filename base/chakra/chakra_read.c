/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/chakra/chakra.h"
#include "base/chakra/fields.h"
#include "base/diagnostics.h"
#include "base/protobuf/protobuf.h"

#include <stdlib.h>
#include <string.h>

/* Nodes of real traces have some kilobytes; a length far above that is no length. */
enum { MESSAGE_MAX = 1 << 26, LENGTH_BYTES = 5 };

struct chakra_reader {
    FILE *in;
    const char *name;
    uint64_t offset; /* of the message under way, behind its length */
    uint8_t *bytes;  /* of that message */
    size_t size, capacity;
    struct arena *kept, *arena; /* for the metadata, for the newest node */
    const char *version;
    uint64_t unknown;
};

/* One message while it is decoded. */
struct decoding {
    struct chakra_reader *reader;
    struct arena *arena;
    struct fault *fault;
};

static bool refuse(const struct decoding *decoding, const uint8_t *at, const char *what)
{
    const struct chakra_reader *reader = decoding->reader;
    return fault_set(decoding->fault, "%s: byte %llu: error: %s", reader->name,
                     (unsigned long long)(reader->offset + (uint64_t)(at - reader->bytes)), what);
}

static bool expect(const struct decoding *decoding, const struct protobuf_field *field, enum protobuf_wire wire,
                   const uint8_t *at)
{
    return field->wire == wire ||
           refuse(decoding, at,
                  "a field of the schema is of another kind here; expected a trace of Chakra, et_def.proto");
}

/* Text with a zero behind it; zeros inside would cut it off unseen. */
static bool read_text(const struct decoding *decoding, const struct protobuf_field *field, const uint8_t *at,
                      const char **text)
{
    if (!expect(decoding, field, PROTOBUF_BYTES, at))
        return false;
    if (memchr(field->bytes, 0, field->size))
        return refuse(decoding, at, "a text has a zero in it");
    char *copy = arena_alloc(decoding->arena, field->size + 1);
    if (field->size)
        memcpy(copy, field->bytes, field->size);
    *text = copy;
    return true;
}

static bool read_number(const struct decoding *decoding, const struct protobuf_field *field, const uint8_t *at,
                        uint64_t *value)
{
    *value = field->value;
    return expect(decoding, field, PROTOBUF_VARINT, at);
}

/* ---- attributes ---- */

static void set_whole(struct chakra_attribute *attribute, int64_t value)
{
    attribute->type = CHAKRA_WHOLE;
    attribute->whole = value;
    attribute->number = (double)value;
}

static double float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* As sint32 and sint64 are encoded: 0, -1, 1, -2, ... */
static int64_t unfold(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* How the value in a field of AttributeProto is encoded; lists are messages. */
static enum protobuf_wire wire_of(uint32_t number)
{
    switch (number) {
    case ATTRIBUTE_DOUBLE:
    case ATTRIBUTE_FIXED64:
    case ATTRIBUTE_SFIXED64:
        return PROTOBUF_FIXED64;
    case ATTRIBUTE_FLOAT:
    case ATTRIBUTE_FIXED32:
    case ATTRIBUTE_SFIXED32:
        return PROTOBUF_FIXED32;
    case ATTRIBUTE_STRING:
    case ATTRIBUTE_BYTES:
        return PROTOBUF_BYTES;
    default:
        return number % 2 ? PROTOBUF_VARINT : PROTOBUF_BYTES;
    }
}

static bool read_value(const struct decoding *decoding, const struct protobuf_field *field, const uint8_t *at,
                       struct chakra_attribute *attribute)
{
    uint32_t number = field->number;
    if (!expect(decoding, field, wire_of(number), at))
        return false;
    if (number == ATTRIBUTE_STRING) {
        attribute->type = CHAKRA_TEXT;
        return read_text(decoding, field, at, &attribute->text);
    }
    if (number == ATTRIBUTE_DOUBLE || number == ATTRIBUTE_FLOAT) {
        attribute->type = CHAKRA_NUMBER;
        attribute->number = number == ATTRIBUTE_DOUBLE ? double_of(field->value) : float_of((uint32_t)field->value);
    } else if (number == ATTRIBUTE_BOOL) {
        set_whole(attribute, field->value != 0);
        attribute->type = CHAKRA_FLAG;
    } else if (number == ATTRIBUTE_SINT32 || number == ATTRIBUTE_SINT64) {
        set_whole(attribute, unfold(field->value));
    } else if (number == ATTRIBUTE_SFIXED32 || number == ATTRIBUTE_INT32) {
        set_whole(attribute, (int32_t)(uint32_t)field->value);
    } else if (wire_of(number) != PROTOBUF_BYTES && field->value > INT64_MAX && number != ATTRIBUTE_INT64 &&
               number != ATTRIBUTE_SFIXED64) {
        return refuse(decoding, at, "an attribute is above 9223372036854775807");
    } else if (wire_of(number) != PROTOBUF_BYTES) {
        set_whole(attribute, (int64_t)field->value);
    } else {
        attribute->type = CHAKRA_LIST;
    }
    return true;
}

static bool read_attribute(const struct decoding *decoding, const struct protobuf_field *part,
                           struct chakra_attribute *attribute)
{
    struct protobuf_reader reader = {part->bytes, part->bytes + part->size};
    struct protobuf_field field;
    const char *wrong;
    *attribute = (struct chakra_attribute){.name = "", .type = CHAKRA_LIST};
    for (const uint8_t *at = reader.at; protobuf_next(&reader, &field, &wrong); at = reader.at) {
        bool read = true;
        if (field.number == ATTRIBUTE_NAME)
            read = read_text(decoding, &field, at, &attribute->name);
        else if (field.number > ATTRIBUTE_DOCUMENTATION && field.number <= ATTRIBUTE_LAST)
            read = read_value(decoding, &field, at, attribute);
        else if (field.number != ATTRIBUTE_DOCUMENTATION)
            decoding->reader->unknown++;
        if (!read)
            return false;
    }
    if (wrong)
        return refuse(decoding, reader.at, wrong);
    return *attribute->name || refuse(decoding, part->bytes, "an attribute has no name");
}

/* One more in a list that the arena holds. */
static bool add_attribute(const struct decoding *decoding, const struct protobuf_field *field, const uint8_t *at,
                          struct chakra_attribute **list, size_t *count, size_t *capacity)
{
    if (!expect(decoding, field, PROTOBUF_BYTES, at))
        return false;
    *list = arena_grow(decoding->arena, *list, capacity, *count, sizeof **list);
    return read_attribute(decoding, field, &(*list)[(*count)++]);
}

/* ---- messages ---- */

/* Reads a length and what it counts. False at the end of the file, or with the fault filled. */
static bool read_message(struct chakra_reader *reader, struct fault *fault)
{
    uint8_t head[LENGTH_BYTES];
    size_t used = 0;
    uint64_t start = reader->offset + reader->size, length;
    int byte;
    while ((byte = getc(reader->in)) != EOF) {
        head[used++] = (uint8_t)byte;
        if (byte < 128 || used == LENGTH_BYTES)
            break;
    }
    reader->size = 0;
    reader->offset = start + used;
    if (ferror(reader->in))
        return fault_set(fault, "%s: cannot be read", reader->name);
    if (!used)
        return false;
    struct protobuf_reader varint = {head, head + used};
    if (!protobuf_read_varint(&varint, &length) || length > MESSAGE_MAX)
        return fault_set(fault,
                         "%s: byte %llu: error: no length of a message, at most 64 MiB; expected a trace of Chakra",
                         reader->name, (unsigned long long)start);
    reader->bytes = array_grow(reader->bytes, &reader->capacity, (size_t)length + 1, 1);
    reader->size = fread(reader->bytes, 1, (size_t)length, reader->in);
    if (reader->size < length)
        return fault_set(fault, "%s: byte %llu: error: the file ends within a message of %llu bytes", reader->name,
                         (unsigned long long)(reader->offset + reader->size), (unsigned long long)length);
    return true;
}

static bool decode_metadata(const struct decoding *decoding)
{
    struct chakra_reader *self = decoding->reader;
    struct protobuf_reader reader = {self->bytes, self->bytes + self->size};
    struct protobuf_field field;
    const char *wrong;
    struct chakra_attribute *attributes = NULL; /* nobody asks for them; they have to be sound */
    size_t count = 0, capacity = 0;
    self->version = "";
    for (const uint8_t *at = reader.at; protobuf_next(&reader, &field, &wrong); at = reader.at) {
        bool read = true;
        if (field.number == METADATA_VERSION)
            read = read_text(decoding, &field, at, &self->version);
        else if (field.number == METADATA_ATTRIBUTE)
            read = add_attribute(decoding, &field, at, &attributes, &count, &capacity);
        else
            self->unknown++;
        if (!read)
            return false;
    }
    return !wrong || refuse(decoding, reader.at, wrong);
}

struct chakra_reader *chakra_open(FILE *in, const char *name, struct fault *fault)
{
    struct arena *kept = arena_create();
    struct chakra_reader *reader = arena_alloc(kept, sizeof *reader);
    *reader = (struct chakra_reader){.in = in, .name = name, .kept = kept, .arena = arena_create()};
    struct decoding decoding = {reader, reader->kept, fault};
    if (read_message(reader, fault) && decode_metadata(&decoding))
        return reader;
    fault_set(fault, "%s: error: the file is empty; expected a trace of Chakra", name);
    chakra_close(reader);
    return NULL;
}

void chakra_close(struct chakra_reader *reader)
{
    if (!reader)
        return;
    free(reader->bytes);
    arena_destroy(reader->arena);
    arena_destroy(reader->kept);
}

const char *chakra_version(const struct chakra_reader *reader)
{
    return reader->version;
}

uint64_t chakra_unknown_fields(const struct chakra_reader *reader)
{
    return reader->unknown;
}

/* ---- nodes ---- */

struct list {
    uint64_t *items;
    size_t count, capacity;
};

static void add(const struct decoding *decoding, struct list *list, uint64_t value)
{
    list->items = arena_grow(decoding->arena, list->items, &list->capacity, list->count, sizeof *list->items);
    list->items[list->count++] = value;
}

/* Numbers in one field, or one of them. */
static bool read_list(const struct decoding *decoding, const struct protobuf_field *field, const uint8_t *at,
                      struct list *list)
{
    uint64_t value;
    if (field->wire == PROTOBUF_VARINT) {
        add(decoding, list, field->value);
        return true;
    }
    if (!expect(decoding, field, PROTOBUF_BYTES, at))
        return false;
    struct protobuf_reader reader = {field->bytes, field->bytes + field->size};
    while (reader.at < reader.end) {
        if (!protobuf_read_varint(&reader, &value))
            return refuse(decoding, reader.at, "a list of nodes is cut off");
        add(decoding, list, value);
    }
    return true;
}

static bool read_values(const struct decoding *decoding, const struct protobuf_field *part, const uint8_t *at,
                        const char **values)
{
    struct protobuf_field field;
    const char *wrong;
    if (!expect(decoding, part, PROTOBUF_BYTES, at))
        return false;
    struct protobuf_reader reader = {part->bytes, part->bytes + part->size};
    for (at = reader.at; protobuf_next(&reader, &field, &wrong); at = reader.at) {
        if (field.number == IO_VALUES && !read_text(decoding, &field, at, values))
            return false;
        decoding->reader->unknown += field.number > IO_TYPES;
    }
    return !wrong || refuse(decoding, reader.at, wrong);
}

static bool read_type(const struct decoding *decoding, const struct protobuf_field *field, const uint8_t *at,
                      struct chakra_node *node)
{
    uint64_t value;
    if (!read_number(decoding, field, at, &value))
        return false;
    if (value >= CHAKRA_TYPES)
        return refuse(decoding, at, "a node is of a type that there is not; expected 0 to 7");
    node->type = (enum chakra_type)value;
    return true;
}

/* Lists of a node that grow while it is read. */
struct growing {
    struct list control, data;
    size_t attributes;
};

static bool read_field(const struct decoding *decoding, const struct protobuf_field *field, const uint8_t *at,
                       struct chakra_node *node, struct growing *growing)
{
    switch (field->number) {
    case NODE_ID:
        return read_number(decoding, field, at, &node->id);
    case NODE_NAME:
        return read_text(decoding, field, at, &node->name);
    case NODE_TYPE:
        return read_type(decoding, field, at, node);
    case NODE_CONTROL:
        return read_list(decoding, field, at, &growing->control);
    case NODE_DATA:
        return read_list(decoding, field, at, &growing->data);
    case NODE_START:
        return read_number(decoding, field, at, &node->start_micros);
    case NODE_DURATION:
        return read_number(decoding, field, at, &node->duration_micros);
    case NODE_INPUTS:
        return read_values(decoding, field, at, &node->inputs);
    case NODE_OUTPUTS:
        return read_values(decoding, field, at, &node->outputs);
    case NODE_ATTRIBUTE:
        return add_attribute(decoding, field, at, &node->attributes, &node->attribute_count, &growing->attributes);
    default:
        decoding->reader->unknown++;
        return true;
    }
}

bool chakra_next(struct chakra_reader *reader, struct chakra_node *node, struct fault *fault)
{
    struct growing growing = {0};
    struct protobuf_field field;
    const char *wrong;
    if (!read_message(reader, fault))
        return false;
    arena_destroy(reader->arena);
    reader->arena = arena_create();
    *node = (struct chakra_node){.name = "", .inputs = "", .outputs = ""};
    struct decoding decoding = {reader, reader->arena, fault};
    struct protobuf_reader message = {reader->bytes, reader->bytes + reader->size};
    for (const uint8_t *at = message.at; protobuf_next(&message, &field, &wrong); at = message.at)
        if (!read_field(&decoding, &field, at, node, &growing))
            return false;
    if (wrong)
        return refuse(&decoding, message.at, wrong);
    node->control = growing.control.items;
    node->control_count = growing.control.count;
    node->data = growing.data.items;
    node->data_count = growing.data.count;
    return true;
}

const struct chakra_attribute *chakra_find(const struct chakra_node *node, const char *name)
{
    for (size_t i = 0; i < node->attribute_count; i++)
        if (!strcmp(node->attributes[i].name, name))
            return &node->attributes[i];
    return NULL;
}
