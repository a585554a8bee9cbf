/* SPDX-License-Identifier: Apache-2.0 */
/* Micro-batches of workers that failed, done by the workers of the same stage in other replicas. */
#ifndef STAGESIM_REROUTE_H
#define STAGESIM_REROUTE_H

#include <stdbool.h>
#include <stdint.h>

/* The micro-batches of a step that the busiest of a stage's workers has, whole ones, where `left` of the workers of so
 * many replicas are left. The micro-batches can be divided into as many rounds, none of which has two of one replica or
 * two for one worker. */
static inline uint64_t reroute_rounds(uint64_t micro_batches, uint64_t replicas, uint64_t left)
{
    return (micro_batches * replicas + left - 1) / left;
}

/* How long a step of so many rounds takes, in forwards and backwards of one: with 1F1B's bubble, or with split
 * backwards and steps of the optimizer that do not wait for each other, where every worker does its rounds without a
 * gap. */
static inline uint64_t reroute_beats(uint64_t rounds, uint64_t stages, bool fills)
{
    return fills ? rounds : rounds + stages - 1;
}

#endif
