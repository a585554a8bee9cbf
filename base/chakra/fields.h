/* SPDX-License-Identifier: Apache-2.0 */
/* Field numbers of Chakra's schema, et_def.proto. */
#ifndef STAGESIM_CHAKRA_FIELDS_H
#define STAGESIM_CHAKRA_FIELDS_H

enum { METADATA_VERSION = 1, METADATA_ATTRIBUTE = 2 };

enum {
    NODE_ID = 1,
    NODE_NAME = 2,
    NODE_TYPE = 3,
    NODE_CONTROL = 4,
    NODE_DATA = 5,
    NODE_START = 6,
    NODE_DURATION = 7,
    NODE_INPUTS = 8,
    NODE_OUTPUTS = 9,
    NODE_ATTRIBUTE = 10
};

enum { IO_VALUES = 1, IO_SHAPES = 2, IO_TYPES = 3 };

/* Each type of value has a field for one and, behind it, one for a list. */
enum {
    ATTRIBUTE_NAME = 1,
    ATTRIBUTE_DOCUMENTATION = 2,
    ATTRIBUTE_DOUBLE = 3,
    ATTRIBUTE_FLOAT = 5,
    ATTRIBUTE_INT32 = 7,
    ATTRIBUTE_INT64 = 9,
    ATTRIBUTE_UINT32 = 11,
    ATTRIBUTE_UINT64 = 13,
    ATTRIBUTE_SINT32 = 15,
    ATTRIBUTE_SINT64 = 17,
    ATTRIBUTE_FIXED32 = 19,
    ATTRIBUTE_FIXED64 = 21,
    ATTRIBUTE_SFIXED32 = 23,
    ATTRIBUTE_SFIXED64 = 25,
    ATTRIBUTE_BOOL = 27,
    ATTRIBUTE_STRING = 29,
    ATTRIBUTE_BYTES = 31,
    ATTRIBUTE_LAST = 32
};

#endif
