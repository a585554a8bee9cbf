/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a sweep, as `sweep` and `search` of what is not a job share them out. */
#ifndef STAGESIM_SWEEP_PARTS_H
#define STAGESIM_SWEEP_PARTS_H

#include "commands/cli/options.h"
#include "studies/sweep.h"

/* What the options say of how combinations are shared out: processes, time, parts, the journal. False with the mistake
 * reported. */
bool sweep_parts_request(const struct options *options, struct sweep_request *request, struct arena *arena);
/* Joins the parts that --merge names, `what` as for parts_list; an exit code after the mistake was reported. */
int sweep_parts_merge(struct sweep *sweep, const struct options *options, const char *what, struct arena *arena);
/* A command's work as an array of Slurm jobs, in which a combination is a task, as far as there may be so many. */
int sweep_parts_on_slurm(const struct sweep_request *request, const struct options *options, const char *command,
                         int argc, char **argv, struct arena *arena);

#endif
