/* SPDX-License-Identifier: Apache-2.0 */
/* The example worked by hand in doc/definitions.md: 1F1B on 2 workers with 2 micro-batches, forward 1 s, backward 2 s,
 * every message 0.1 s of latency. */
#ifndef STAGESIM_TEST_WORKED_EXAMPLE_H
#define STAGESIM_TEST_WORKED_EXAMPLE_H

#include "analysis/figures/report.h"
#include "base/arena.h"

struct worked_example {
    struct arena *arena;
    struct mesh mesh;
    struct program *program;
    struct timeline *timeline;
    struct platform platform;
    struct run_description run;
};

/* Replicas: copies along the data axis, all with the same times; bytes: of every message. The platform has a host for
 * every rank and a private link each way between neighbours. */
struct worked_example *worked_example_create(uint32_t replicas, double bytes);
void worked_example_destroy(struct worked_example *example);

#endif
