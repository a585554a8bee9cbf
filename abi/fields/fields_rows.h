/* SPDX-License-Identifier: Apache-2.0 */
/* Tables in a section that are CSV files. */
#ifndef STAGESIM_FIELDS_ROWS_H
#define STAGESIM_FIELDS_ROWS_H

#include "abi/workload.h"
#include "base/document.h"

/* A CSV file, whose columns are the fields of the row type, as the list of maps that YAML would be: empty cells are
 * keys that are not given. Values are not looked at. NULL after any mistake, all of which are reported; why the file
 * cannot be read at all is reported at `at`. Memory from the arena. */
struct node *fields_load_rows(const char *file, const struct stagesim_row_type *type, struct place at,
                              struct arena *arena, struct diag *diag);
/* The same for text in memory. */
struct node *fields_parse_rows(const char *name, const char *text, size_t size, const struct stagesim_row_type *type,
                               struct arena *arena, struct diag *diag);

#endif
