/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON Schema of scenarios (draft 7), from the tables by which the program itself reads them. */
#ifndef STAGESIM_SCHEMA_H
#define STAGESIM_SCHEMA_H

#include <stdio.h>

/* Errors stay on the stream. Kinds of scenarios beside one job are those of scenario_kinds. */
void schema_write_scenario(FILE *out);

#endif
