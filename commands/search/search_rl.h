/* SPDX-License-Identifier: Apache-2.0 */
/* `search` of a step of reinforcement learning: its splits of GPUs, layouts of both sides, and staleness. */
#ifndef STAGESIM_SEARCH_RL_H
#define STAGESIM_SEARCH_RL_H

#include "commands/cli/options.h"
#include "job/scenario/scenario.h"

/* Simulates every variant of the scenario, of the kind rl_kind, prints the fastest that fit, and writes them where -o
 * is given. `typed`: the command. An exit code after mistakes were reported. */
int search_rl(const struct options *options, const struct scenario *scenario, const char *typed, int argc, char **argv,
              struct arena *arena);

#endif
