/* SPDX-License-Identifier: Apache-2.0 */
/* Chakra's execution traces: what a rank does, as a graph of nodes. A file is one message GlobalMetadata and then one
 * message Node for each node, each behind its length; messages and field numbers are those of schema/protobuf/
 * et_def.proto of github.com/mlcommons/chakra. Of IOInfo only the values are kept, of attributes all but lists. */
#ifndef STAGESIM_CHAKRA_H
#define STAGESIM_CHAKRA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct fault;
struct protobuf;

enum chakra_type {
    CHAKRA_INVALID,
    CHAKRA_METADATA,
    CHAKRA_MEMORY_LOAD,
    CHAKRA_MEMORY_STORE,
    CHAKRA_COMPUTE,
    CHAKRA_SEND,
    CHAKRA_RECEIVE,
    CHAKRA_COLLECTIVE,
    CHAKRA_TYPES
};

/* Values of the attribute comm_type. */
enum chakra_collective {
    CHAKRA_ALL_REDUCE,
    CHAKRA_REDUCE,
    CHAKRA_ALL_GATHER,
    CHAKRA_GATHER,
    CHAKRA_SCATTER,
    CHAKRA_BROADCAST,
    CHAKRA_ALL_TO_ALL,
    CHAKRA_REDUCE_SCATTER,
    CHAKRA_REDUCE_SCATTER_BLOCK,
    CHAKRA_BARRIER,
    CHAKRA_COLLECTIVES
};

/* Writers disagree on the type of whole numbers: all of them are one here. */
enum chakra_value { CHAKRA_WHOLE, CHAKRA_NUMBER, CHAKRA_FLAG, CHAKRA_TEXT, CHAKRA_LIST };

struct chakra_attribute {
    const char *name;
    enum chakra_value type;
    int64_t whole;    /* CHAKRA_WHOLE; CHAKRA_FLAG: 0 or 1 */
    double number;    /* CHAKRA_NUMBER, and of whole ones the same as a double */
    const char *text; /* CHAKRA_TEXT */
};

struct chakra_node {
    uint64_t id;
    const char *name; /* never NULL */
    enum chakra_type type;
    uint64_t *control, *data; /* the nodes that it waits for */
    size_t control_count, data_count;
    uint64_t start_micros, duration_micros;
    const char *inputs, *outputs; /* values; never NULL */
    struct chakra_attribute *attributes;
    size_t attribute_count;
};

/* NULL: the node has none of that name. */
const struct chakra_attribute *chakra_find(const struct chakra_node *node, const char *name);

/* ---- writing: messages into a buffer of the caller's, which is emptied first ---- */

/* The file's first message. */
void chakra_put_metadata(struct protobuf *buffer, const char *version, const struct chakra_attribute *attributes,
                         size_t count);
void chakra_put_node(struct protobuf *buffer, const struct chakra_node *node);

/* ---- reading ---- */

struct chakra_reader;

/* Reads the file's first message. `name` is what faults call the file; both are borrowed. NULL with the fault filled:
 * "NAME: byte N: what is wrong, what was expected". */
struct chakra_reader *chakra_open(FILE *in, const char *name, struct fault *fault);
void chakra_close(struct chakra_reader *reader);
/* GlobalMetadata's version, "" where it has none; valid until chakra_close. */
const char *chakra_version(const struct chakra_reader *reader);
/* The next node, valid until the next call. False at the end of the file, or with the fault filled. */
bool chakra_next(struct chakra_reader *reader, struct chakra_node *node, struct fault *fault);
/* Fields so far that the schema does not have, of newer writers: passed over. */
uint64_t chakra_unknown_fields(const struct chakra_reader *reader);

#endif
