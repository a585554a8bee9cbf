/* SPDX-License-Identifier: Apache-2.0 */
/* Slurm's lists of names: `tux[0-3,12],a[01-03]b`. Widths with leading zeros are kept, several brackets multiply. */
#ifndef STAGESIM_HOSTLIST_H
#define STAGESIM_HOSTLIST_H

#include "base/diagnostics.h"

enum { HOSTLIST_MOST = 1 << 21 }; /* names of a list */

/* Is told of each name, which is valid during the call; false stops. */
struct hostlist_taker {
    bool (*take)(void *user, const char *name);
    void *user;
};

/* All names of a list in order. False where the taker said so, or with the fault filled: what is wrong, without a
 * place. */
bool hostlist_expand(const char *list, const struct hostlist_taker *taker, struct fault *fault);

#endif
