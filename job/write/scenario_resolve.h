/* SPDX-License-Identifier: Apache-2.0 */
/* A scenario with every key that it could have: what was given, what the command line changed, and all defaults. */
#ifndef STAGESIM_SCENARIO_RESOLVE_H
#define STAGESIM_SCENARIO_RESOLVE_H

#include "job/scenario/scenario.h"

#include <stdio.h>

/* Writes the scenario so that it gives the same from `directory`, which may still have to be made. Keys whose default
 * is no value, because it follows from other keys or from the platform, are comments. The section `inputs` has the
 * hashes of all files that it depends on. With `study` the scenario is one that is varied: the section `search` is
 * written, too, and defaults that are the schedule's are comments, since others have theirs. `remark` is the first
 * line, a comment. Write errors stay on the stream. False with the fault filled when a file of it cannot be read again.
 */
bool scenario_write_resolved(FILE *out, const struct scenario *scenario, const char *directory, bool study,
                             const char *remark, struct fault *fault);

#endif
