/* SPDX-License-Identifier: Apache-2.0 */
/* Interruptions (SIGINT, SIGTERM, SIGHUP) of a command that shows what it has found so far instead of ending at once.
 */
#ifndef STAGESIM_INTERRUPTION_H
#define STAGESIM_INTERRUPTION_H

#include <stdbool.h>

/* From now on the first interruption is noted. One that comes more than a second later ends the process as it would
 * have done before: `timeout`, `kill` of a group and batch systems send the same signal twice. Signals that are ignored
 * (nohup) stay so. Processes forked from now on note it for themselves, however often it comes. */
void interruption_await(void);
/* The same again, where a library has put a handler of its own in the way. */
void interruption_renew(void);
/* Interruptions end the process again, as they did before, and no time is up any more. What was noted stays noted. */
void interruption_forget(void);

/* So many seconds from now on it is as if SIGALRM had been noted; 0: never, also where that time has passed. */
void interruption_after(double seconds);

/* Whether interruptions are awaited. */
bool interruption_is_awaited(void);
/* The number of the signal that was noted; SIGALRM: the time is up; 0: none. */
int interruption_noted(void);

/* Ends the process by the signal that was noted; returns where there was none. */
void interruption_end(void);

#endif
