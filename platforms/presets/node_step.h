/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of the steps by which a node is wired: what the reader (node_plan.c) and the JSON Schema (job/schema) know
 * of them. */
#ifndef STAGESIM_NODE_STEP_H
#define STAGESIM_NODE_STEP_H

#include "abi/workload.h"

#include <stdbool.h>

enum step { STEP_ADD, STEP_JOIN, STEP_MESH, STEP_PAIRS, STEP_CHAIN, STEP_CLOSE, STEP_EACH, STEPS };
enum { STEP_KEYS = 6 };

/* What a key holds. */
enum step_value {
    STEP_FIELD,     /* what its field says */
    STEP_ALL,       /* the same, or the word "all" */
    STEP_ENDS,      /* a list of two, each a device or the name of a part */
    STEP_PAIR_LIST, /* a list of pairs of devices, each with or without a number of links */
    STEP_EXITS,     /* a flag, or what its field says */
    STEP_LIST,      /* a list of steps */
};

struct step_key {
    struct stagesim_field field; /* its key NULL behind the last; bounds that the node gives are not in it */
    enum step_value value;
};

/* By enum step: the first key says which step it is. */
extern const struct step_key step_keys[STEPS][STEP_KEYS + 1];
/* The words of `add`, NULL-terminated. */
extern const char *const step_parts[];

/* The field of a key of the step; NULL: it has no such key. */
const struct stagesim_field *step_field(enum step step, const char *key);

#endif
