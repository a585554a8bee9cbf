/* SPDX-License-Identifier: Apache-2.0 */
/* Times of a collective on a platform by size, as nccl-tests measures them: what `stagesim collective` shows. */
#ifndef STAGESIM_COLLECTIVE_TABLE_H
#define STAGESIM_COLLECTIVE_TABLE_H

#include "base/diagnostics.h"
#include "job/scenario/platform_source.h"
#include "platforms/what_if.h"
#include "simulator/collectives/algorithm.h"
#include "simulator/engines/engine.h"

struct collective_request {
    const char *file;              /* platform, as messages call it */
    struct platform_source source; /* the same */
    const struct what_if *changes; /* of the platform, change_count of them */
    size_t change_count;
    enum stagesim_collective kind;
    uint32_t ranks;                               /* the first ones of the platform; 0: all */
    const struct collective_algorithm *algorithm; /* NULL: auto */
    const struct collective_algorithm *own;       /* the user's; `all` includes it; NULL: none */
    bool all;                                     /* every algorithm, then auto */
    bool stepwise;                                /* every single transfer, see collective_flows_init */
    const struct engine *engine;
    const double *sizes; /* bytes */
    size_t size_count;
};

struct collective_row {
    double bytes, seconds;
    const struct collective_algorithm *algorithm; /* NULL: one rank has nothing to do */
    char protocol[8];                             /* empty: the platform names none */
    bool chosen;                                  /* by auto */
};

/* An algorithm for the collective that cannot carry it out here. */
struct collective_refusal {
    const struct collective_algorithm *algorithm;
    const char *reason; /* constant data */
};

enum { REFUSALS_MAX = 16 };

struct collective_table {
    uint32_t ranks;
    char capped[256];                                 /* what links that became faster run into; empty: nothing */
    struct collective_refusal refusals[REFUSALS_MAX]; /* where all algorithms are asked for */
    uint32_t refusal_count;
    struct collective_row *rows; /* by algorithm, then by size; those of auto last */
    size_t count;
};

/* Computes it in a process of its own. The caller owns the table and frees it with collective_table_finish. False with
 * the fault filled for a platform that cannot be loaded, too few hosts, an algorithm that cannot. */
bool collective_table_init(struct collective_table *table, const struct collective_request *request,
                           struct fault *fault);
void collective_table_finish(struct collective_table *table);

/* The algorithm, or what auto chooses for the largest size, as a program of MSCCL: the protocol is that of the largest
 * size, and the program is for those of the sizes before it that take the same. In a process of its own. */
bool collective_program_write(FILE *out, const struct collective_request *request, struct fault *fault);

/* Bytes over time, and the same times the factor by which nccl-tests makes results of different collectives comparable:
 * bytes per second. */
double collective_bandwidth(const struct collective_row *row);
double collective_bus_bandwidth(const struct collective_row *row, enum stagesim_collective kind, uint32_t ranks);
/* The factor: 2(p-1)/p for an all-reduce, (p-1)/p for parts, 1 for the others. */
double collective_bus_factor(enum stagesim_collective kind, uint32_t ranks);

#endif
