/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Schemas (draft 7) of scenarios and data files, from the tables by which the program itself reads them. */
#ifndef STAGESIM_SCHEMA_H
#define STAGESIM_SCHEMA_H

#include "abi/fields/fields.h"

#include <stdio.h>

/* Errors stay on the stream. Kinds of scenarios beside one job are those of scenario_kinds. */
void schema_write_scenario(FILE *out);
/* Data files of hardware, of every `kind`. */
void schema_write_hardware(FILE *out);
/* Profiles of frameworks. */
void schema_write_profile(FILE *out);
/* Models in a file of their own. */
void schema_write_model(FILE *out);
/* A file that holds the keys of a section. */
void schema_write_file(FILE *out, const char *title, const struct fields_section *section);

#endif
