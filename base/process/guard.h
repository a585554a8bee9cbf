/* SPDX-License-Identifier: Apache-2.0 */
/* Says on standard error what goes on when a command takes long or much memory, so that no user wonders whether it
 * hangs: after 9 s and then every 10 s, and once a process of it holds 0.9 GB. */
#ifndef STAGESIM_GUARD_H
#define STAGESIM_GUARD_H

#include <stdbool.h>

/* Watches from now on until the process ends; isolated children (base/isolate.h) are watched with it. */
void guard_start(void);

/* What goes on from now on, as in "loading cluster.xml"; to be called by the process that does it. Without guard_start
 * nothing happens. */
__attribute__((format(printf, 1, 2))) void guard_doing(const char *format, ...);

/* How much of it is done, 0 to 1; not shown when never said since guard_doing. */
void guard_share(double share);

/* Seconds that the rest takes, as far as can be told; 0: that is not known. `least`: perhaps more. */
void guard_left(double seconds, bool least);

/* Somebody else has just shown progress to the user. */
void guard_shown(void);

#endif
