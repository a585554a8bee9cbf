/* SPDX-License-Identifier: Apache-2.0 */
/* Small jobs drawn from a seed: a schedule of the table with random workers, micro-batches, options, data-parallel
 * width, order of axes, times, sizes, ways of messages, collectives beside, before and behind computations, their
 * algorithms and what they take of compute, and a platform either of private links between all pairs or of nodes that
 * share their network cards. */
#ifndef STAGESIM_TEST_RANDOM_JOB_H
#define STAGESIM_TEST_RANDOM_JOB_H

#include "platforms/platform.h"
#include "simulator/program/program.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;

/* Numbers from a seed (splitmix64, Steele, Lea and Flood 2014): the same on every machine. */
struct random {
    uint64_t state;
};

uint64_t random_next(struct random *random);
/* 0 .. below - 1. */
uint32_t random_below(struct random *random, uint32_t below);
/* least .. most, both possible. */
uint32_t random_between(struct random *random, uint32_t least, uint32_t most);
/* [0, 1). */
double random_unit(struct random *random);
bool random_chance(struct random *random, double probability);

enum { RANDOM_ROUTE_MAX = 3 };

struct random_route {
    uint32_t links[RANDOM_ROUTE_MAX], count;
};

struct random_job {
    uint64_t seed;
    const char *schedule;
    struct mesh mesh;
    struct program *program;
    double scale;                /* seconds: about what a computation takes */
    bool overlaps;               /* collectives take a share of their ranks' compute */
    uint32_t *hosts;             /* [rank]: a permutation */
    struct platform platform;    /* in memory; what random_job_write writes down for SimGrid */
    struct random_route *routes; /* [from * hosts + to] */
};

/* shared: nodes of several hosts; messages to other nodes leave a host through a link of its own, its node and the
 * other through one link each for all hosts. Memory from the arena. */
struct random_job *random_job_create(uint64_t seed, bool shared, struct arena *arena);

/* Writes the platform as SimGrid XML to a new temporary file; returns its name, which the caller frees after unlinking
 * it. */
char *random_job_write(const struct random_job *job);

#endif
