/* SPDX-License-Identifier: Apache-2.0 */
/* Code of somebody else (a plug-in) runs in a process apart: the one that the user started lives on, and says how the
 * other ended. One such process serves a whole command, however many jobs it builds. */
#ifndef STAGESIM_APART_H
#define STAGESIM_APART_H

#include "base/diagnostics.h"

#include <stdbool.h>

/* Seconds that loading may take. */
#define APART_SECONDS 10

/* Makes apart_enter fork; without it everything stays in one process. */
void apart_ready(void);

/* Before code is loaded; `what` names it in messages. The command goes on in a child process, where this returns true.
 * In the process that was started it returns false, with the fault filled, when the child ends before apart_loaded (the
 * code crashes, ends the process, or does not return in time), or when there is no child; it does not return otherwise:
 * it waits, reports an end that is none, and ends as the child did. */
bool apart_enter(const char *what, struct fault *fault);

/* The code is loaded, or refused. */
void apart_loaded(void);

/* The command has done what it had to, and all that it wrote is on its way; `code` is its exit code. */
void apart_done(int code);

#endif
