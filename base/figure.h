/* SPDX-License-Identifier: Apache-2.0 */
/* The gate of all that is printed and written: every figure is a finite number. Writers of text, tables, CSV and JSON
 * note the first one that is none, and then nothing goes out: what has files refuses to bring them to their places, and
 * the process ends with EXIT_FAILED and the figure's name. */
#ifndef STAGESIM_FIGURE_H
#define STAGESIM_FIGURE_H

#include "base/diagnostics.h"

#include <stdbool.h>

/* The value. Where it is not finite, `name` (which is copied) is noted unless another one is. */
double figure(const char *name, double value);

/* False with the fault filled where one was noted in this process. */
bool figures_finite(struct fault *fault);

#endif
