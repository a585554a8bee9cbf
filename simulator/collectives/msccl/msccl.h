/* SPDX-License-Identifier: Apache-2.0 */
/* Algorithms of the user's: programs in MSCCL's XML (microsoft/msccl). Each GPU has thread blocks, each with at most
 * one peer that it sends to and one that it receives from; a thread block carries out its steps one after the other,
 * and a step may wait for one of another thread block of its GPU. */
#ifndef STAGESIM_MSCCL_H
#define STAGESIM_MSCCL_H

#include "base/diagnostics.h"
#include "simulator/collectives/algorithm.h"

#include <stddef.h>

struct arena;

/* Reads a program and carries it out symbolically: every rank has to end with exactly what the collective gives it,
 * whatever the order in which thread blocks come to their steps, with as many messages under way as a connection holds.
 * NULL after mistakes were reported, at the steps that make them. The algorithm runs the program's messages, each in
 * the first round in which all that it waits for is over. */
const struct collective_algorithm *msccl_load(const char *file, struct place at, struct arena *arena,
                                              struct diag *diag);
/* The same for text in memory; `name` stands in messages, and without its ending names the algorithm. */
const struct collective_algorithm *msccl_parse(const char *name, const char *text, size_t size, struct arena *arena,
                                               struct diag *diag);

/* What a program is written for. */
struct msccl_description {
    const struct collective_algorithm *algorithm; /* of the table; does not refuse */
    const struct collective_shape *shape;
    enum stagesim_collective kind;
    const char *protocol; /* of the platform; NULL: none */
    double least, most;   /* bytes */
};

/* Writes an algorithm of the table as a program. False with the reason where the format cannot hold it. */
bool msccl_write(FILE *out, const struct msccl_description *description, struct fault *fault);

#endif
