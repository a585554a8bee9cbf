/* SPDX-License-Identifier: Apache-2.0 */
/* Chakra's traces: what is written comes back; every kind of value that the schema has; and what is no trace is refused
 * with the byte where it goes wrong. Expected bytes are encoded by hand from et_def.proto. */
#include "base/arena.h"
#include "base/chakra/chakra.h"
#include "base/diagnostics.h"
#include "base/protobuf/protobuf.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct chakra_reader *open_bytes(const void *bytes, size_t size, FILE **in, struct fault *fault)
{
    *in = fmemopen((void *)(uintptr_t)bytes, size, "r");
    return chakra_open(*in, "t.et", fault);
}

static void append(FILE *out, const struct protobuf *buffer)
{
    fwrite(buffer->bytes, 1, buffer->size, out);
}

Test(chakra, round_trip)
{
    char *bytes;
    size_t size;
    FILE *out = open_memstream(&bytes, &size), *in;
    struct protobuf buffer = {0};
    struct chakra_attribute attributes[] = {
        {.name = "is_cpu_op", .type = CHAKRA_FLAG, .whole = 1},
        {.name = "comm_size", .type = CHAKRA_WHOLE, .whole = INT64_MAX},
        {.name = "less", .type = CHAKRA_WHOLE, .whole = -3},
        {.name = "end_s", .type = CHAKRA_NUMBER, .number = 0.1},
        {.name = "pg_name", .type = CHAKRA_TEXT, .text = "12"},
    };
    uint64_t deps[] = {1, 300, UINT64_MAX}, one = 7;
    struct chakra_node node = {.id = 300,
                               .name = "F 1.3",
                               .type = CHAKRA_COLLECTIVE,
                               .control = &one,
                               .control_count = 1,
                               .data = deps,
                               .data_count = 3,
                               .start_micros = 1ull << 40,
                               .duration_micros = 129,
                               .inputs = "['[]']",
                               .outputs = "",
                               .attributes = attributes,
                               .attribute_count = 5};
    chakra_put_metadata(&buffer, "1.0.0", attributes, 2);
    append(out, &buffer);
    chakra_put_node(&buffer, &node);
    append(out, &buffer);
    chakra_put_node(&buffer, &(struct chakra_node){.name = "", .inputs = "", .outputs = ""});
    append(out, &buffer);
    fclose(out);

    struct fault fault = {""};
    struct chakra_reader *reader = open_bytes(bytes, size, &in, &fault);
    struct chakra_node read;
    cr_assert(reader, "%s", fault.text);
    cr_assert_str_eq(chakra_version(reader), "1.0.0");
    cr_assert(chakra_next(reader, &read, &fault));
    cr_assert_eq(read.id, 300);
    cr_assert_str_eq(read.name, "F 1.3");
    cr_assert_eq(read.type, CHAKRA_COLLECTIVE);
    cr_assert(read.control_count == 1 && read.control[0] == 7);
    cr_assert(read.data_count == 3 && !memcmp(read.data, deps, sizeof deps));
    cr_assert(read.start_micros == 1ull << 40 && read.duration_micros == 129);
    cr_assert_str_eq(read.inputs, "['[]']");
    cr_assert_str_eq(read.outputs, "");
    cr_assert_eq(read.attribute_count, 5);
    cr_assert(chakra_find(&read, "is_cpu_op")->type == CHAKRA_FLAG && chakra_find(&read, "is_cpu_op")->whole == 1);
    cr_assert_eq(chakra_find(&read, "comm_size")->whole, INT64_MAX);
    cr_assert_eq(chakra_find(&read, "less")->whole, -3);
    cr_assert_eq(chakra_find(&read, "end_s")->number, 0.1);
    cr_assert_str_eq(chakra_find(&read, "pg_name")->text, "12");
    cr_assert_null(chakra_find(&read, "nothing"));
    cr_assert(chakra_next(reader, &read, &fault));
    cr_assert(read.id == 0 && read.type == CHAKRA_INVALID && !read.data_count && !read.attribute_count);
    cr_assert(!chakra_next(reader, &read, &fault) && !fault.text[0]);
    cr_assert_eq(chakra_unknown_fields(reader), 0);
    chakra_close(reader);
    fclose(in);
    free(bytes);
    free(buffer.bytes);
}

/* A node whose attribute "a" has the given bytes as its value's field. */
static size_t node_with(const uint8_t *value, size_t size, uint8_t *to)
{
    const uint8_t head[] = {0, (uint8_t)(5 + size), 10 << 3 | 2, (uint8_t)(3 + size), 1 << 3 | 2, 1, 'a'};
    memcpy(to, head, sizeof head);
    memcpy(to + sizeof head, value, size);
    return sizeof head + size;
}

Test(chakra, every_kind_of_value)
{
    static const struct {
        uint8_t bytes[16];
        size_t size;
        enum chakra_value type;
        double value;
    } values[] = {
        {{3 << 3 | 1, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f}, 9, CHAKRA_NUMBER, 1.5},
        {{5 << 3 | 5, 0, 0, 0x20, 0xc0}, 5, CHAKRA_NUMBER, -2.5},
        {{7 << 3 | 0, 5}, 2, CHAKRA_WHOLE, 5},
        {{7 << 3 | 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, 11, CHAKRA_WHOLE, -1},
        {{9 << 3 | 0, 0x80, 1}, 3, CHAKRA_WHOLE, 128},
        {{11 << 3 | 0, 9}, 2, CHAKRA_WHOLE, 9},
        {{13 << 3 | 0, 7}, 2, CHAKRA_WHOLE, 7},
        {{15 << 3 | 0, 3}, 2, CHAKRA_WHOLE, -2},
        {{0x88, 1, 4}, 3, CHAKRA_WHOLE, 2},                                         /* 17: sint64 */
        {{0x9d, 1, 1, 0, 0, 0}, 6, CHAKRA_WHOLE, 1},                                /* 19: fixed32 */
        {{0xa9, 1, 2, 0, 0, 0, 0, 0, 0, 0}, 10, CHAKRA_WHOLE, 2},                   /* 21: fixed64 */
        {{0xbd, 1, 0xff, 0xff, 0xff, 0xff}, 6, CHAKRA_WHOLE, -1},                   /* 23: sfixed32 */
        {{0xc9, 1, 0xfe, 255, 255, 255, 255, 255, 255, 255}, 10, CHAKRA_WHOLE, -2}, /* 25: sfixed64 */
        {{0xd8, 1, 1}, 3, CHAKRA_FLAG, 1},                                          /* 27: bool */
        {{0xfa, 1, 1, 0}, 4, CHAKRA_LIST, 0},                                       /* 31: bytes */
        {{0xe2, 1, 3, 10, 1, 1}, 6, CHAKRA_LIST, 0},                                /* 28: a list of bools */
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        uint8_t bytes[64];
        FILE *in;
        struct fault fault = {""};
        struct chakra_node node;
        struct chakra_reader *reader =
            open_bytes(bytes, node_with(values[i].bytes, values[i].size, bytes), &in, &fault);
        cr_assert(reader && chakra_next(reader, &node, &fault), "%zu: %s", i, fault.text);
        cr_assert_eq(node.attribute_count, 1);
        cr_assert_eq(node.attributes[0].type, values[i].type, "%zu", i);
        cr_assert(values[i].type == CHAKRA_LIST || node.attributes[0].number == values[i].value, "%zu: %g", i,
                  node.attributes[0].number);
        chakra_close(reader);
        fclose(in);
    }
}

Test(chakra, refused)
{
    static const struct {
        uint8_t bytes[24];
        size_t size;
        const char *says;
    } cases[] = {
        {{0}, 0, "t.et: error: the file is empty; expected a trace of Chakra"},
        {{0x80}, 1, "t.et: byte 0: error: no length of a message, at most 64 MiB; expected a trace of Chakra"},
        {{0xff, 0xff, 0xff, 0xff, 0x0f},
         5,
         "t.et: byte 0: error: no length of a message, at most 64 MiB; expected a trace of Chakra"},
        {{5, 10, 3, '1'}, 4, "t.et: byte 4: error: the file ends within a message of 5 bytes"},
        {{2, 10, 3}, 3, "t.et: byte 1: error: a field is cut off"},
        {{1, 0x80}, 2, "t.et: byte 1: error: a field's number is cut off"},
        {{2, 0, 0}, 3, "t.et: byte 1: error: a field has a number that there is not"},
        {{2, 11, 0}, 3, "t.et: byte 1: error: a field is of a kind that there is not"},
        {{2, 8, 1},
         3,
         "t.et: byte 1: error: a field of the schema is of another kind here; expected a trace of Chakra, "
         "et_def.proto"},
        {{0, 2, 24, 8}, 4, "t.et: byte 2: error: a node is of a type that there is not; expected 0 to 7"},
        {{0, 3, 42, 1, 0x80}, 5, "t.et: byte 4: error: a list of nodes is cut off"},
        {{0, 2, 82, 0}, 4, "t.et: byte 4: error: an attribute has no name"},
        {{0, 4, 18, 2, 'a', 0}, 6, "t.et: byte 2: error: a text has a zero in it"},
        {{0, 18, 82, 16, 10, 1, 'a', 0x68, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 18, 0},
         20,
         "t.et: byte 7: error: an attribute is above 9223372036854775807"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *in = tmpfile();
        struct fault fault = {""};
        struct chakra_node node;
        fwrite(cases[i].bytes, 1, cases[i].size, in);
        rewind(in);
        struct chakra_reader *reader = chakra_open(in, "t.et", &fault);
        while (reader && chakra_next(reader, &node, &fault))
            ;
        cr_assert_str_eq(fault.text, cases[i].says);
        chakra_close(reader);
        fclose(in);
    }
}

Test(chakra, newer_fields_are_passed_over_and_counted)
{
    static const uint8_t bytes[] = {2, 0x18, 1, 4, 8, 9, 0x58, 1};
    FILE *in;
    struct fault fault = {""};
    struct chakra_node node;
    struct chakra_reader *reader = open_bytes(bytes, sizeof bytes, &in, &fault);
    cr_assert(reader && chakra_next(reader, &node, &fault) && node.id == 9);
    cr_assert_eq(chakra_unknown_fields(reader), 2);
    chakra_close(reader);
    fclose(in);
}
