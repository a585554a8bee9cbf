/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of cables, from the files of platforms/hardware/wires and the user's. */
#ifndef STAGESIM_WIRES_H
#define STAGESIM_WIRES_H

#include "platforms/generate/node.h"

/* A cable with the name of its file. */
struct named_wire {
    const char *name; /* "nvlink4" */
    struct wire wire;
};

/* Of the value of a key in a data file: a name, or a map that describes one. NULL after a mistake was reported. Lives
 * as long as the process. */
const struct named_wire *wire_value(const char *key, const struct node *value, struct diag *diag);

/* What wires and cards say alike. */
struct wire_figures {
    const char *link;
    double raw, effective, latency;
    const char *source;
    unsigned confidence;
};
/* Their entries in a table of fields of a struct whose `member` is a struct wire_figures. */
#define WIRE_FIELDS(type, member)                                                                                      \
    {"link", STAGESIM_FIELD_TEXT, offsetof(struct type, member.link), .required = true,                                \
     .doc = "how names of such links begin"},                                                                          \
        {"raw", STAGESIM_FIELD_RATE, offsetof(struct type, member.raw), .least = 1, .most = 1e18},                     \
        {"effective",      STAGESIM_FIELD_RATE, offsetof(struct type, member.effective),                               \
         .required = true, .least = 1,          .most = 1e18},                                                         \
        {"latency",        STAGESIM_FIELD_TIME, offsetof(struct type, member.latency),                                 \
         .required = true, .least = 0,          .most = 10},                                                           \
        {"source", STAGESIM_FIELD_TEXT, offsetof(struct type, member.source), .required = true,                        \
         .doc = "where its figures are from"},                                                                         \
    {                                                                                                                  \
        "confidence", STAGESIM_FIELD_NAME, offsetof(struct type, member.confidence), .required = true,                 \
                                                                                     .names = confidence_names         \
    }
/* The keys of a wire's file, for its reader and the JSON Schema. */
extern const struct stagesim_field wire_fields[];
/* The cable that they describe. */
struct wire wire_of(const struct wire_figures *figures);

#endif
