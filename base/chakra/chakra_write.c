/* SPDX-License-Identifier: Apache-2.0 */
#include "base/chakra/chakra.h"
#include "base/chakra/fields.h"
#include "base/protobuf/protobuf.h"

#include <string.h>

static void put_attribute(struct protobuf *buffer, unsigned field, const struct chakra_attribute *attribute)
{
    size_t begun = protobuf_begin(buffer, field);
    protobuf_text(buffer, ATTRIBUTE_NAME, attribute->name);
    switch (attribute->type) {
    case CHAKRA_WHOLE:
        protobuf_number(buffer, ATTRIBUTE_INT64, (uint64_t)attribute->whole);
        break;
    case CHAKRA_NUMBER:
        protobuf_double(buffer, ATTRIBUTE_DOUBLE, attribute->number);
        break;
    case CHAKRA_FLAG:
        protobuf_number(buffer, ATTRIBUTE_BOOL, attribute->whole != 0);
        break;
    case CHAKRA_TEXT:
        protobuf_text(buffer, ATTRIBUTE_STRING, attribute->text);
        break;
    case CHAKRA_LIST: /* what is in it was not kept */
        break;
    }
    protobuf_end(buffer, begun);
}

/* What the format leaves out: numbers that are 0, empty texts and lists. */
static void put_number(struct protobuf *buffer, unsigned field, uint64_t value)
{
    if (value)
        protobuf_number(buffer, field, value);
}

static void put_list(struct protobuf *buffer, unsigned field, const uint64_t *values, size_t count)
{
    if (!count)
        return;
    size_t begun = protobuf_begin(buffer, field);
    for (size_t i = 0; i < count; i++)
        protobuf_varint(buffer, values[i]);
    protobuf_end(buffer, begun);
}

static void put_values(struct protobuf *buffer, unsigned field, const char *values)
{
    if (!*values)
        return;
    size_t begun = protobuf_begin(buffer, field);
    protobuf_text(buffer, IO_VALUES, values);
    protobuf_end(buffer, begun);
}

/* The message's length before it, as the file has it. */
static void put_length(struct protobuf *buffer)
{
    size_t size = buffer->size;
    protobuf_varint(buffer, size);
    uint8_t length[10];
    size_t more = buffer->size - size;
    memcpy(length, buffer->bytes + size, more);
    memmove(buffer->bytes + more, buffer->bytes, size);
    memcpy(buffer->bytes, length, more);
}

void chakra_put_metadata(struct protobuf *buffer, const char *version, const struct chakra_attribute *attributes,
                         size_t count)
{
    buffer->size = 0;
    protobuf_text(buffer, METADATA_VERSION, version);
    for (size_t i = 0; i < count; i++)
        put_attribute(buffer, METADATA_ATTRIBUTE, &attributes[i]);
    put_length(buffer);
}

void chakra_put_node(struct protobuf *buffer, const struct chakra_node *node)
{
    buffer->size = 0;
    put_number(buffer, NODE_ID, node->id);
    protobuf_text(buffer, NODE_NAME, node->name);
    put_number(buffer, NODE_TYPE, (uint64_t)node->type);
    put_list(buffer, NODE_CONTROL, node->control, node->control_count);
    put_list(buffer, NODE_DATA, node->data, node->data_count);
    put_number(buffer, NODE_START, node->start_micros);
    put_number(buffer, NODE_DURATION, node->duration_micros);
    put_values(buffer, NODE_INPUTS, node->inputs);
    put_values(buffer, NODE_OUTPUTS, node->outputs);
    for (size_t i = 0; i < node->attribute_count; i++)
        put_attribute(buffer, NODE_ATTRIBUTE, &node->attributes[i]);
    put_length(buffer);
}
