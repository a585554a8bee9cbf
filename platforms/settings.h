/* SPDX-License-Identifier: Apache-2.0 */
/* What may be set of SimGrid, by a scenario's section `simgrid` and by <config> in a platform file. */
#ifndef STAGESIM_SETTINGS_H
#define STAGESIM_SETTINGS_H

#include "abi/workload.h"

#include <stdbool.h>

struct fault;

/* The keys, their types and bounds; ends with a row of zeros. Of many other keys and values SimGrid would crash, hang,
 * or write files. All offsets are 0: the values are only checked. */
extern const struct stagesim_field simgrid_settings[];

/* Whether the key is in the table and the value within its bounds; the fault says what is wrong otherwise. */
bool setting_check(const char *key, const char *value, struct fault *fault);

#endif
