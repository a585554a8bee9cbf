/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of the tables of explain.html. */
#ifndef STAGESIM_EXPLAIN_PAGE_CELLS_H
#define STAGESIM_EXPLAIN_PAGE_CELLS_H

#include <stdio.h>

/* Begins a row with a name. */
void page_cell_name(FILE *out, const char *name);
/* NaN: an empty cell, as in the next two. */
void page_cell_seconds(FILE *out, double seconds);
void page_cell_share(FILE *out, double share);
void page_cell_number(FILE *out, double number);

#endif
