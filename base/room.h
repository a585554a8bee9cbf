/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory a job may take, so that one that is too large ends with a message and not with the machine. */
#ifndef STAGESIM_ROOM_H
#define STAGESIM_ROOM_H

/* Bytes: four fifths of what the machine, the process's control group and its limits have left now. INFINITY where
 * nothing says. */
double room_bytes(void);

/* From now on requests beyond room_bytes() fail, in child processes as well. Not in builds with an address sanitizer,
 * which reserves far more than it uses. */
void room_set_limit(void);

#endif
