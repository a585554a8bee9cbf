/* SPDX-License-Identifier: Apache-2.0 */
/* Network interfaces that a platform may be asked to have in place of a product's own, or to join clusters with. */
#ifndef STAGESIM_INTERFACES_H
#define STAGESIM_INTERFACES_H

#include "platforms/generate/generate.h"

struct interface {
    const char *name; /* as on the command line: ib-hdr, roce-200, ethernet-25 */
    const char
        *technology;     /* value of the host property `nic`: interfaces of different ones do not talk to each other */
    const char *product; /* for texts */
    struct wire wire;
    const struct design_network *network; /* what is known of collectives over it */
};

/* All of them, in the order of the documentation. */
const struct interface *interface_table(size_t *count);
/* NULL when there is none of that name. */
const struct interface *interface_find(const char *name);

#endif
