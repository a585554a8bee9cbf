/* SPDX-License-Identifier: Apache-2.0 */
/* Chakra's traces: whatever the bytes, every node that is read is written and read again alike. */
#include "base/chakra/chakra.h"
#include "base/diagnostics.h"
#include "base/protobuf/protobuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

/* What was read, written and read once more. */
static void check_again(const struct chakra_node *node, struct protobuf *buffer)
{
    struct fault fault = {""};
    struct chakra_node again;
    chakra_put_node(buffer, node);
    uint8_t *bytes = malloc(buffer->size + 1);
    require(bytes != NULL);
    bytes[0] = 0; /* no metadata */
    memcpy(bytes + 1, buffer->bytes, buffer->size);
    FILE *in = fmemopen(bytes, buffer->size + 1, "r");
    require(in != NULL);
    struct chakra_reader *reader = chakra_open(in, "again", &fault);
    require(reader && chakra_next(reader, &again, &fault));
    require(again.id == node->id && again.type == node->type && !strcmp(again.name, node->name));
    require(again.data_count == node->data_count && again.control_count == node->control_count);
    require(again.attribute_count == node->attribute_count);
    chakra_close(reader);
    fclose(in);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fault fault = {""};
    struct protobuf buffer = {0};
    struct chakra_node node;
    FILE *in = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    struct chakra_reader *reader = in ? chakra_open(in, "fuzz", &fault) : NULL;
    while (reader && chakra_next(reader, &node, &fault))
        check_again(&node, &buffer);
    chakra_close(reader);
    free(buffer.bytes);
    if (in)
        fclose(in);
    return 0;
}
