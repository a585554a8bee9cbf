/* SPDX-License-Identifier: Apache-2.0 */
/* The speed that the hosts of a model have when nothing slows them down: what times are given for. */
#ifndef STAGESIM_RATING_H
#define STAGESIM_RATING_H

#include "platforms/platform.h"

/* Fills in every host's full_speed, which holds that of its fastest state before (0: its speed): its own peak in the
 * usual precision of its model, where stagesim knows the model and the host has the peak; otherwise the fastest of the
 * hosts of its model (those without a model are of one). */
void rating_find(struct platform *platform);

#endif
