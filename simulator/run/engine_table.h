/* SPDX-License-Identifier: Apache-2.0 */
/* The table of all engines. */
#ifndef STAGESIM_ENGINE_TABLE_H
#define STAGESIM_ENGINE_TABLE_H

#include "simulator/engines/engine.h"

/* NULL-terminated. */
extern const struct engine *const engine_table[];

#endif
