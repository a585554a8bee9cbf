/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of `run --quantiles`, shared out between processes, parts and tasks of Slurm. */
#ifndef STAGESIM_RUN_STEPS_H
#define STAGESIM_RUN_STEPS_H

#include "studies/simulation.h"
#include "studies/steps/tails.h"

struct command;
struct options;

/* What the options say of it; an exit code after the mistake was reported. *sharing is NULL where the scenario draws no
 * steps. Memory from the arena. */
int run_steps_sharing(const struct command *command, const struct options *options, const struct scenario *scenario,
                      struct arena *arena, const struct tails_sharing **sharing);
/* Draws the part of --shard into its directory; prints nothing. */
int run_steps_part(const struct options *options, struct simulation_request *request);
/* Draws all of them as an array of Slurm. */
int run_steps_on_slurm(const struct options *options, const struct simulation_request *request, int argc, char **argv,
                       struct arena *arena);

#endif
