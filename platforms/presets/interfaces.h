/* SPDX-License-Identifier: Apache-2.0 */
/* Network cards that a platform may be asked to have in place of a product's own, or to join clusters with: the files
 * of platforms/hardware/cards and the user's. */
#ifndef STAGESIM_INTERFACES_H
#define STAGESIM_INTERFACES_H

#include "platforms/generate/generate.h"

struct interface {
    const char *name; /* as on the command line: ib-hdr, roce-200, ethernet-25 */
    const char
        *technology;     /* value of the host property `nic`: interfaces of different ones do not talk to each other */
    const char *product; /* for texts */
    struct wire wire;
    const struct design_network *network; /* what is known of collectives over it; NULL: nothing */
};

/* Their names in the order of the documentation; *count of them. */
const char *const *interface_names(size_t *count);
/* NULL when there is none of that name, or its file has mistakes. */
const struct interface *interface_find(const char *name);
/* The same; mistakes are reported. */
const struct interface *interface_value(const char *name, struct diag *diag);

/* The keys of a card's file, for its reader and the JSON Schema. */
extern const struct stagesim_field card_fields[];

#endif
