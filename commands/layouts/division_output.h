/* SPDX-License-Identifier: Apache-2.0 */
/* Divisions as tables for the terminal, as CSV or JSON, and as a strategy file. */
#ifndef STAGESIM_DIVISION_OUTPUT_H
#define STAGESIM_DIVISION_OUTPUT_H

#include "base/tables/table_write.h"
#include "studies/division/division.h"

/* What is printed: the types of `method`, a place of division_names, and the figures of all methods. CSV has the
 * figures alone. Errors stay on the stream. */
void division_print(FILE *out, const struct division_study *study, unsigned method, enum table_format format);

/* The method whose division is fastest on SimGrid; DIVISION_METHODS: none was simulated. */
unsigned division_fastest(const struct division_study *study);
/* A line behind `before` where that is another method than `method`, and faster; else nothing. */
void division_print_slower(FILE *out, const char *before, const struct division_study *study, unsigned method);

/* The division of a method as the key `split` reads it from a file. */
void division_write(FILE *out, const struct division_study *study, unsigned method);

#endif
