/* SPDX-License-Identifier: Apache-2.0 */
/* Tables for the terminal: columns as wide as their widest cell. And quantities in units that people read. */
#ifndef STAGESIM_TABLE_H
#define STAGESIM_TABLE_H

#include <stddef.h>
#include <stdio.h>

enum { TABLE_COLUMNS_MAX = 24, TABLE_CELL_MAX = 96, TABLE_WHOLE_MAX = 512, READABLE_MAX = 32 };

struct table;

/* No columns, no rows. The caller owns it. */
struct table *table_create(void);
void table_destroy(struct table *table);

/* Columns come before rows, at most TABLE_COLUMNS_MAX. align: '<' left (texts), '>' right (numbers). Copied, cut at
 * TABLE_CELL_MAX. */
void table_column(struct table *table, const char *title, char align);
/* Several, each its alignment and its title, "<name", ">seconds", and NULL behind the last. */
__attribute__((sentinel)) void table_columns(struct table *table, ...);
/* Fills the rows cell by cell, from left to right. */
__attribute__((format(printf, 2, 3))) void table_cell(struct table *table, const char *format, ...);
/* The number, in units without a prefix, that the last cell shows rounded: what programs read of it. Finite, as all
 * numbers of cells and quantities (base/figure.h). */
void table_value(struct table *table, double value);
/* Cells of a number with its value: readable_seconds, readable_percent, four significant digits. */
void table_seconds(struct table *table, double seconds);
void table_percent(struct table *table, double share);
void table_ratio(struct table *table, double value);

size_t table_column_count(const struct table *table);
/* Rows, an unfinished one included. */
size_t table_row_count(const struct table *table);
const char *table_title(const struct table *table, size_t column);
char table_align(const struct table *table, size_t column);
/* Whole, up to TABLE_WHOLE_MAX; "" where an unfinished row has no such cell. */
const char *table_text(const struct table *table, size_t row, size_t column);
/* NaN: the cell is a text. */
double table_number(const struct table *table, size_t row, size_t column);
/* Columns of the terminal behind a stream; 0 where there is none. */
size_t table_terminal_width(FILE *out);
/* Prints titles, a rule, and rows, each line after `indent` spaces, within `width` columns, 0 for any number: what is
 * wider goes on in further tables below, which begin with the same first columns. An unfinished row's other cells are
 * empty. See base/tables/table_write.h for other formats. */
void table_print_within(const struct table *table, FILE *out, unsigned indent, size_t width);

/* "1.235 ms", "12.4 GiB", "1.2 TB", "312.1 Tflop/s", "34.8 %": four significant digits or so, in a buffer of
 * READABLE_MAX. */
const char *readable_seconds(char *text, double seconds);
const char *readable_binary_bytes(char *text, double bytes);  /* memory: KiB, MiB, ... */
const char *readable_decimal_bytes(char *text, double bytes); /* traffic: kB, MB, ... */
const char *readable_flops(char *text, double flops_per_second);
const char *readable_joules(char *text, double joules);     /* J, kJ, MJ, ... */
const char *readable_watt_hours(char *text, double joules); /* the same energy as a bill has it: Wh, kWh, MWh, ... */
const char *readable_watts(char *text, double watts);
/* "s" for all counts but one: "1 rank", "2 ranks". */
const char *readable_plural(size_t count);
const char *readable_percent(char *text, double share);

#endif
