/* SPDX-License-Identifier: Apache-2.0 */
/* A scenario as YAML, with what `--set` changed and with the files of its sections inline. */
#ifndef STAGESIM_SCENARIO_WRITE_H
#define STAGESIM_SCENARIO_WRITE_H

#include "job/scenario/scenario.h"

#include <stdio.h>

/* Writes the scenario so that it means the same when it lies in `directory` (which may still be made): files that it
 * names are named from there. The sections `search` and `inputs` are left out, and with `effective` keys that change
 * nothing and would be refused: a search sets them for some of its layouts. Write errors stay on the stream. */
void scenario_write(FILE *out, const struct scenario *scenario, const char *directory, bool effective);

/* A word of YAML, in quotes where it needs them or had them. */
void scenario_write_text(FILE *out, const char *text, bool quoted);

#endif
