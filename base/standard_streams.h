/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input, output and error as a process finds them: perhaps closed, full, or a pipe that nobody reads. */
#ifndef STAGESIM_STANDARD_STREAMS_H
#define STAGESIM_STANDARD_STREAMS_H

#include "base/diagnostics.h"

#include <stdbool.h>

/* Opens those of the three that are closed on /dev/null, so that no file of ours takes their place, and lets writing to
 * a pipe that nobody reads fail instead of ending the process. Called before anything is opened. False when /dev/null
 * cannot be opened. */
bool standard_streams_open(void);

/* Pushes standard output out. False with the fault filled when anything of it was lost; a pipe that was closed is none:
 * its reader has what it wanted. */
bool standard_output_finish(struct fault *fault);

/* Whether standard output is a pipe whose reader is gone. */
bool standard_output_is_unread(void);

#endif
