/* SPDX-License-Identifier: Apache-2.0 */
/* A progress bar for long runs; only where a person watches. */
#ifndef STAGESIM_PROGRESS_H
#define STAGESIM_PROGRESS_H

#include "simulator/engines/engine.h"

#include <stdio.h>

struct progress {
    FILE *out;
    const char *label;
    double started, drawn; /* seconds of the monotonic clock; drawn 0: not yet */
};

/* Ready to be given to an engine through progress_hook. out that is no terminal: nothing is drawn. */
void progress_init(struct progress *progress, FILE *out, const char *label);
struct engine_progress progress_hook(struct progress *progress);
/* Wipes the bar. */
void progress_finish(struct progress *progress);

#endif
