/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of layers divided among devices of one or several kinds by AccPar's types (studies/partition), and what both
 * engines say of the outcome, beside data parallelism, OWT and HyPar. */
#ifndef STAGESIM_DIVISION_H
#define STAGESIM_DIVISION_H

#include "job/scenario/scenario.h"
#include "studies/partition/partition.h"

enum { DIVISION_METHODS = PARTITION_ACCPAR + 1, DIVISION_PARTS_MAX = 1 << 20 /* of all layers */ };

/* "data", "owt", "hypar", "accpar"; NULL-terminated. */
extern const char *const division_names[];

/* The network of one method. Seconds are those of an iteration. */
struct division {
    bool found;                        /* the network can be divided so */
    struct partition partition;        /* its types are the study's */
    double predicted;                  /* by the partition's model */
    double analytic, simgrid;          /* of the engines; NAN: was not asked */
    double bubble;                     /* of the analytic engine: share of the iteration, mean over ranks */
    double memory;                     /* bytes of the fullest rank */
    bool fits;                         /* in the memory of its device, as far as that is known */
    double computing[PARTITION_KINDS]; /* of a device of each kind in the mean, on the engine */
};

struct division_study {
    const char *const *layers; /* names */
    uint32_t layer_count;
    const char *kinds[PARTITION_KINDS]; /* names of the devices */
    uint32_t kind_count, device_count, levels;
    uint32_t counts[PARTITION_KINDS];    /* devices of each kind */
    uint32_t ways[PARTITION_LEVELS_MAX]; /* into how many groups a level divides each of the level above */
    uint32_t *ranks;                     /* [device_count], those of the first kind first */
    struct division methods[DIVISION_METHODS];
    bool stopped; /* before all were simulated */
};

/* Divides the scenario's network by all methods; that it cannot be divided by `method` is a mistake. The computing of a
 * layer is that of the program with the division, whose parts have their own speed, so that a share is found, lowered
 * and measured until it stays. SimGrid simulates each unless the command is interrupted. Returns an exit code after
 * every mistake was reported on standard error. Memory from the arena. */
int division_find(const struct scenario *scenario, enum partition_method method, struct arena *arena,
                  struct division_study *study);
/* The same for one who can do without: a network that cannot be divided by AccPar's types is none of the user's
 * mistakes, and SimGrid simulates nothing. False: it cannot, or what failed was reported. */
bool division_look(const struct scenario *scenario, struct arena *arena, struct division_study *study);

#endif
