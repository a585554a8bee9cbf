/* SPDX-License-Identifier: Apache-2.0 */
/* Algorithms of collectives. Each is one file with its source; each gives its closed form, its steps (which transfer
 * carries which blocks, so that a test can follow every contribution) and the flows that engines run. */
#ifndef STAGESIM_COLLECTIVE_ALGORITHM_H
#define STAGESIM_COLLECTIVE_ALGORITHM_H

#include "abi/workload.h"
#include "simulator/collectives/direct_rings.h"
#include "simulator/collectives/exits.h"
#include "simulator/collectives/flows.h"
#include "simulator/collectives/steps.h"

#include <stdbool.h>
#include <stdint.h>

enum { TORUS_DIMENSIONS = 3 };

/* What an algorithm knows of the members of a group and of where they are. */
struct collective_shape {
    uint32_t ranks;
    uint32_t root; /* member from which a broadcast comes and to which a reduction goes */
    uint32_t
        node_size; /* members of each node, when all nodes hold equally many and they follow each other; 0 otherwise */
    const struct direct_rings *rings; /* over the links between the members of a node; NULL: in the order of ranks */
    const struct exits *exits;        /* where data leave the nodes when interfaces are down; NULL: at every member */
    bool reduces;                     /* the switch between all members adds and multiplies (NVLS, SHARP) */
    bool reduces_within;              /* a switch between the members of each node does (NVLS) */
    double reduces_efficiency;        /* what of the link rate such a switch carries; 0 or less: all */
    bool strided;                     /* node_size is above 1, and no two members of a node are neighbours in it */
    double strided_efficiency; /* what of the network's rate algorithms that cross nodes reach then; 0 or less: all */
    uint32_t dimensions[TORUS_DIMENSIONS]; /* of the torus that the members fill, the last one varying fastest; 0: no
                                              torus */
};

/* Costs of a uniform platform: start-up in seconds, seconds per byte, and seconds per byte of reducing. `node_...` are
 * those within a node, read by algorithms that know of nodes. */
struct collective_costs {
    double alpha, beta, gamma;
    double node_alpha, node_beta;
};

/* An algorithm of the user's: the transfers of a program that somebody wrote for so many ranks. */
struct collective_own {
    uint32_t ranks;
    const char *refusal;                 /* for other groups: "is a program for 4 ranks" */
    const char *protocol;                /* that it runs in, where the platform has it */
    double least, most;                  /* sizes in bytes that it is for; auto's choice takes others */
    struct collective_phase_flow *flows; /* by round; shares of the size */
    size_t count;
};

struct collective_algorithm {
    const char *name, *summary;
    const char *source;
    uint32_t kinds; /* bit per enum stagesim_collective */
    bool automatic; /* `auto` may choose it: libraries for accelerators have it */
    bool crosses;   /* over nodes of several members, data enter a node at one of them and leave it at another */
    bool flowing;   /* it is no sequence of rounds: many small chunks, messages all at once, a switch. Stepwise changes
                       nothing */
    /* NULL when it can carry the collective out for that shape, otherwise why not ("needs a power of two of ranks"); no
     * function: it always can. `kind` is one of kinds, ranks at least 2. */
    const char *(*refuses)(const struct collective_shape *shape, enum stagesim_collective kind);
    /* Seconds of the closed form, from all members' arrival on, for size `bytes` with nccl-tests' meaning of size,
     * where every rank has one port of full duplex. */
    double (*seconds)(const struct collective_shape *shape, enum stagesim_collective kind, double bytes,
                      const struct collective_costs *costs);
    /* Adds all transfers; of a broadcast and a reduction as if member 0 were the root. */
    void (*steps)(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_steps *steps);
    /* Adds the steady-state flows, likewise; no function: each round of the steps is a phase. */
    void (*flows)(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_flows *flows);
    const struct collective_own *own; /* in place of all functions; NULL: it is one of the table */
};

#define KIND(kind) (1u << (kind))

extern const struct collective_algorithm algorithm_ring, algorithm_recursive_doubling, algorithm_halving_doubling,
    algorithm_binomial, algorithm_chain, algorithm_double_tree, algorithm_direct, algorithm_pairwise, algorithm_bruck,
    algorithm_hierarchical, algorithm_in_network, algorithm_switch_tree, algorithm_torus;

/* All of them, NULL at the end. */
extern const struct collective_algorithm *const collective_algorithms[];

/* NULL when there is none of that name. */
const struct collective_algorithm *collective_algorithm_find(const char *name);
/* Why it cannot carry the collective out, NULL when it can. */
const char *collective_algorithm_refuses(const struct collective_algorithm *algorithm,
                                         const struct collective_shape *shape, enum stagesim_collective kind);
/* Whether it is for collectives of that size. */
bool collective_algorithm_takes(const struct collective_algorithm *algorithm, double bytes);
/* For algorithms whose transfers, or the blocks in them, grow with the square of the ranks: why there are too many, or
 * NULL. */
const char *collective_refuses_many(const struct collective_shape *shape);
/* All messages at once (algorithm_direct), each with the bytes of its pair; a pair without bytes has no message, as in
 * libraries for accelerators. Start-ups are those of the member that sends to, or receives from, the most others. The
 * caller ends the flows, which borrow the pairs. */
void collective_flows_of_pairs(struct collective_flows *flows, const struct pair_bytes *pairs);
/* The flows of an algorithm that does not refuse; the caller ends them with collective_flows_finish. Stepwise: each
 * round of its steps is a phase, where it has rounds and the steps are not too many. */
void collective_flows_init(struct collective_flows *flows, const struct collective_algorithm *algorithm,
                           const struct collective_shape *shape, enum stagesim_collective kind, bool stepwise);
/* Most transfers that a stepwise collective may have; above it runs in steady state. */
enum { STEPWISE_TRANSFERS_MAX = 1 << 21 };

/* ceil and floor of the logarithm to base 2, value at least 1. */
uint32_t log2_ceil(uint32_t value);
uint32_t log2_floor(uint32_t value);
static inline bool is_power_of_two(uint32_t value)
{
    return value && (value & (value - 1)) == 0;
}

#endif
