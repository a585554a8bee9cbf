/* SPDX-License-Identifier: Apache-2.0 */
/* Names of streams and operations as they stand in tables and traces. */
#ifndef STAGESIM_OPERATION_TEXT_H
#define STAGESIM_OPERATION_TEXT_H

#include "simulator/program/program.h"

#include <stddef.h>

struct arena;

/* "compute", "send:3:activation" and "receive:1:gradient" (position at the other end, kind), "collective:0" (group),
 * "delay:0" (lane): [position][stream]. Memory from the arena. */
const char ***stream_names_create(const struct program *program, struct arena *arena);

enum { OPERATION_TEXT_MAX = 96 };

/* "F 3.1" (stage.micro-batch), "B 3.1a", "FB 3.1+2.0", "gradient-sync 3", "optimizer 3", "activation 3.1": returns
 * text, a buffer of OPERATION_TEXT_MAX. */
const char *operation_text(char *text, const struct position *position, const struct operation *operation);

#endif
