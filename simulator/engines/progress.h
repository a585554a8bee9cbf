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
    double left;           /* seconds; negative: as long as the share that is done took */
    double behind;         /* seconds of what comes behind this; negative: nobody has said so */
    bool least;            /* the rest takes perhaps more */
};

/* Ready to be given to an engine through progress_hook. out that is no terminal: nothing is drawn. */
void progress_init(struct progress *progress, FILE *out, const char *label);
struct engine_progress progress_hook(struct progress *progress);
/* Something else goes on from now on. */
void progress_step(struct progress *progress, const char *label);
/* What the caller knows of the seconds that are left, for the bar and for what is said every 10 s; `least`: perhaps
 * more. */
void progress_left(struct progress *progress, double seconds, bool least);
/* The same of what comes when this is done; of this itself the share says it. */
void progress_behind(struct progress *progress, double seconds, bool least);
/* Wipes the bar. */
void progress_finish(struct progress *progress);

#endif
