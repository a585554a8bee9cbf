/* SPDX-License-Identifier: Apache-2.0 */
/* The time that passes, which nobody sets. */
#ifndef STAGESIM_CLOCK_H
#define STAGESIM_CLOCK_H

/* Seconds since some moment, the same in all processes of the machine. */
double clock_now(void);

#endif
