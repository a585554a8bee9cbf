/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks exchange for embedding tables: sums of rows, their gradients, indices, gradients of copies. */
#ifndef STAGESIM_DLRM_EXCHANGES_H
#define STAGESIM_DLRM_EXCHANGES_H

#include "workloads/dlrm/dlrm.h"

/* A collective that every rank takes part in, in one group of all or in several. */
struct dlrm_exchange {
    enum stagesim_collective collective;
    bool second;      /* begins when the exchange before it in the list has ended; otherwise with the first one */
    uint32_t *groups; /* [rank] */
    uint32_t *costs;  /* [rank]; STAGESIM_NONE: nothing to exchange in the rank's group */
};

enum { DLRM_EXCHANGES_MAX = 4 };

struct dlrm_exchanges {
    struct dlrm_exchange items[DLRM_EXCHANGES_MAX];
    uint32_t count;
};

/* All of an iteration; without items where there is one rank. */
struct dlrm_traffic {
    struct dlrm_exchanges node; /* of sums, before they are added on their node; empty where they are not */
    struct dlrm_exchanges sums, gradients, indices;
    double *add; /* [rank]: seconds in which it adds what comes by `node`; NULL where that is empty */
};

/* What `ranks` (of all ranks) exchange. To be freed by dlrm_traffic_finish. */
void dlrm_traffic_init(struct dlrm_traffic *traffic, const struct dlrm_job *job, const struct dlrm_rank *ranks);
void dlrm_traffic_finish(struct dlrm_traffic *traffic);

/* Adds a rank's part of exchanges that begin after `after` (STAGESIM_NONE: at once). Writes the operations that whoever
 * needs the result has to wait for into ids[0 .. DLRM_EXCHANGES_MAX); returns how many. */
uint32_t dlrm_exchanges_add(const struct dlrm_exchanges *exchanges, const struct dlrm_job *job, uint32_t rank,
                            struct stagesim_identity identity, uint32_t after, uint32_t *ids);

#endif
