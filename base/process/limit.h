/* SPDX-License-Identifier: Apache-2.0 */
/* Code of somebody else (a plug-in, a library) has to return: where it does not, the process ends with a message and
 * exit code 3. */
#ifndef STAGESIM_LIMIT_H
#define STAGESIM_LIMIT_H

#include <stdint.h>

/* Seconds that it may do nothing: $STAGESIM_PLUGIN_SECONDS, or 60. */
unsigned limit_seconds(void);

/* From now on until limit_end the process ends once `done(context)`, which a signal's handler calls, has not changed
 * for so many seconds. `what` names the code in the message. Limits do not nest.
 * limit_end ends the process with EXIT_CLOSED where descriptors that were open are closed: no message would arrive. */
void limit_begin(const char *what, unsigned seconds, uint64_t (*done)(const void *context), const void *context);
void limit_end(void);

/* Between the two nothing counts: it has called back, and what runs is our own. */
void limit_pause(void);
void limit_go_on(void);

#endif
