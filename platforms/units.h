/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers with units as SimGrid's platform files have them. */
#ifndef STAGESIM_UNITS_H
#define STAGESIM_UNITS_H

#include <stdbool.h>

/* "45GBps", "100Mibps" in bytes per second; "1.5us", "2m" in seconds; "312Tf", "3gigaflops" in flop per second. Without
 * a unit: that. The value is SimGrid's to the bit. False, with the value untouched, for what SimGrid would refuse. */
bool units_bandwidth(const char *text, double *value);
bool units_time(const char *text, double *value);
bool units_speed(const char *text, double *value);

#endif
