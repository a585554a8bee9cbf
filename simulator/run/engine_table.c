/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/run/engine_table.h"

#include <stddef.h>

const struct engine *const engine_table[] = {&engine_simgrid, &engine_analytic, NULL};
