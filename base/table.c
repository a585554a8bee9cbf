/* SPDX-License-Identifier: Apache-2.0 */
#include "base/table.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/figure.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct cell {
    char text[TABLE_CELL_MAX];
    const char *whole; /* NULL: text is not cut */
    double value;      /* NaN: none */
};

struct table {
    size_t column_count;
    struct cell titles[TABLE_COLUMNS_MAX];
    char aligns[TABLE_COLUMNS_MAX];
    struct cell *cells;
    size_t cell_count, cell_capacity;
    struct arena *arena; /* what is longer than a cell; NULL: nothing yet */
};

struct table *table_create(void)
{
    size_t capacity = 0;
    struct table *table = array_grow(NULL, &capacity, 1, sizeof *table);
    *table = (struct table){.column_count = 0};
    return table;
}

void table_destroy(struct table *table)
{
    if (!table)
        return;
    arena_destroy(table->arena);
    free(table->cells);
    free(table);
}

void table_column(struct table *table, const char *title, char align)
{
    if (table->column_count == TABLE_COLUMNS_MAX)
        return;
    snprintf(table->titles[table->column_count].text, TABLE_CELL_MAX, "%s", title);
    diag_clean(table->titles[table->column_count].text, TABLE_CELL_MAX);
    for (size_t i = 0; i < table->column_count; i++) /* programs read cells by their titles */
        assert(strcmp(table->titles[i].text, table->titles[table->column_count].text) != 0);
    table->aligns[table->column_count++] = align;
}

void table_columns(struct table *table, ...)
{
    va_list columns;
    va_start(columns, table);
    for (const char *column; (column = va_arg(columns, const char *));)
        table_column(table, column + 1, *column);
    va_end(columns);
}

/* Of the column of the last cell. */
static const char *last_title(const struct table *table)
{
    return table->column_count ? table->titles[(table->cell_count - 1) % table->column_count].text : "a cell";
}

/* A number that printf wrote: "inf", "-nan %". */
static bool is_no_number(const char *text)
{
    text += *text == '-';
    return (!strncmp(text, "inf", 3) || !strncmp(text, "nan", 3)) && (!text[3] || strchr(" %,;", text[3]));
}

void table_cell(struct table *table, const char *format, ...)
{
    table->cells = array_grow(table->cells, &table->cell_capacity, table->cell_count + 1, sizeof *table->cells);
    va_list arguments;
    va_start(arguments, format);
    struct cell *cell = &table->cells[table->cell_count++];
    cell->value = NAN;
    cell->whole = NULL;
    char whole[TABLE_WHOLE_MAX];
    vsnprintf(whole, sizeof whole, format, arguments);
    va_end(arguments);
    if (strcmp(format, "%s") != 0 && is_no_number(whole))
        figure(last_title(table), NAN);
    snprintf(cell->text, TABLE_CELL_MAX, "%.*s", TABLE_CELL_MAX - 1, whole);
    diag_clean(cell->text, TABLE_CELL_MAX);
    if (strlen(whole) < TABLE_CELL_MAX)
        return;
    diag_clean(whole, sizeof whole);
    table->arena = table->arena ? table->arena : arena_create();
    cell->whole = arena_copy(table->arena, whole);
}

void table_value(struct table *table, double value)
{
    assert(table->cell_count > 0);
    figure(last_title(table), value);
    table->cells[table->cell_count - 1].value = value;
}

void table_seconds(struct table *table, double seconds)
{
    char text[READABLE_MAX];
    table_cell(table, "%s", readable_seconds(text, seconds));
    table_value(table, seconds);
}

void table_percent(struct table *table, double share)
{
    char text[READABLE_MAX];
    table_cell(table, "%s", readable_percent(text, share));
    table_value(table, share);
}

void table_ratio(struct table *table, double value)
{
    table_cell(table, "%.4g", value);
    table_value(table, value);
}

size_t table_column_count(const struct table *table)
{
    return table->column_count;
}

size_t table_row_count(const struct table *table)
{
    return table->column_count ? (table->cell_count + table->column_count - 1) / table->column_count : 0;
}

const char *table_title(const struct table *table, size_t column)
{
    return table->titles[column].text;
}

char table_align(const struct table *table, size_t column)
{
    return table->aligns[column];
}

static const struct cell *cell_at(const struct table *table, size_t row, size_t column)
{
    size_t index = row * table->column_count + column;
    return index < table->cell_count ? &table->cells[index] : NULL;
}

const char *table_text(const struct table *table, size_t row, size_t column)
{
    const struct cell *cell = cell_at(table, row, column);
    return !cell ? "" : cell->whole ? cell->whole : cell->text;
}

double table_number(const struct table *table, size_t row, size_t column)
{
    const struct cell *cell = cell_at(table, row, column);
    return cell ? cell->value : NAN;
}

/* Characters, not bytes, of UTF-8 text. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static size_t column_width(const struct table *table, size_t column)
{
    size_t width = width_of(table->titles[column].text);
    for (size_t i = column; i < table->cell_count; i += table->column_count) {
        size_t cell = width_of(table->cells[i].text);
        width = cell > width ? cell : width;
    }
    return width;
}

/* Which columns are printed side by side. */
struct panel {
    size_t columns[TABLE_COLUMNS_MAX], count;
};

/* No spaces at the end of a line; cells beyond the `count` that there are stay empty. */
static void print_row(const struct table *table, FILE *out, unsigned indent, const struct cell *cells, size_t count,
                      const size_t *widths, const struct panel *panel)
{
    size_t owed = indent;
    for (size_t i = 0; i < panel->count; i++) {
        size_t column = panel->columns[i];
        const char *text = column < count ? cells[column].text : "";
        size_t padding = widths[column] - width_of(text);
        owed += (i ? 2 : 0) + (table->aligns[column] == '>' ? padding : 0);
        if (*text) {
            fprintf(out, "%*s%s", (int)owed, "", text);
            owed = 0;
        }
        owed += table->aligns[column] == '>' ? 0 : padding;
    }
    putc('\n', out);
}

static void print_rule(FILE *out, unsigned indent, const size_t *widths, const struct panel *panel)
{
    fprintf(out, "%*s", (int)indent, "");
    for (size_t i = 0; i < panel->count; i++) {
        fputs(i ? "  " : "", out);
        for (size_t k = 0; k < widths[panel->columns[i]]; k++)
            putc('-', out);
    }
    putc('\n', out);
}

static void print_panel(const struct table *table, FILE *out, unsigned indent, const size_t *widths,
                        const struct panel *panel)
{
    print_row(table, out, indent, table->titles, table->column_count, widths, panel);
    print_rule(out, indent, widths, panel);
    for (size_t i = 0; i < table->cell_count; i += table->column_count) {
        size_t left = table->cell_count - i;
        print_row(table, out, indent, &table->cells[i], left < table->column_count ? left : table->column_count, widths,
                  panel);
    }
}

/* The columns that say what a row is about and stand in every panel: the texts at the left, at least the first column.
 */
static struct panel key_columns(const struct table *table, const size_t *widths, size_t most, size_t *used)
{
    struct panel panel = {.count = 0};
    *used = 0;
    for (size_t column = 0; column < table->column_count; column++) {
        if (column &&
            (table->aligns[0] != '<' || table->aligns[column] != '<' || *used + 2 + widths[column] > most / 2))
            break;
        panel.columns[panel.count++] = column;
        *used += (column ? 2 : 0) + widths[column];
    }
    return panel;
}

void table_print_within(const struct table *table, FILE *out, unsigned indent, size_t width)
{
    size_t widths[TABLE_COLUMNS_MAX], all = indent, used = 0;
    struct panel keys = {.count = 0};
    for (size_t column = 0; column < table->column_count; column++) {
        widths[column] = column_width(table, column);
        all += widths[column] + (column ? 2 : 0);
    }
    width = width && all > width ? width : all;
    if (all > width)
        keys = key_columns(table, widths, width, &used);
    for (size_t column = keys.count; column < table->column_count;) {
        struct panel panel = keys;
        size_t length = indent + (keys.count ? used + 2 : 0);
        if (column > keys.count)
            putc('\n', out);
        do {
            length += widths[column] + 2;
            panel.columns[panel.count++] = column++;
        } while (column < table->column_count && length + widths[column] <= width);
        print_panel(table, out, indent, widths, &panel);
    }
}

size_t table_terminal_width(FILE *out)
{
    struct winsize size;
    int descriptor = fileno(out);
    return descriptor >= 0 && isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* ---- quantities ---- */

/* Four significant digits, at least one of them before the point. */
static const char *scaled(char *text, double value, const char *unit)
{
    char name[READABLE_MAX];
    snprintf(name, sizeof name, "a figure in %s", unit);
    double size = fabs(figure(name, value));
    int decimals = size == 0 ? 0 : size < 9.9995 ? 3 : size < 99.995 ? 2 : size < 999.95 ? 1 : 0;
    snprintf(text, READABLE_MAX, "%.*f %s", decimals, value, unit);
    return text;
}

static const char *with_prefix(char *text, double value, double base, const char *const *units, size_t count)
{
    size_t unit = 0;
    while (unit + 1 < count && fabs(value) >= base * 0.99995) {
        value /= base;
        unit++;
    }
    return scaled(text, value, units[unit]);
}

const char *readable_seconds(char *text, double seconds)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    if (seconds == 0)
        return scaled(text, 0, "s");
    return with_prefix(text, seconds * 1e9, 1000, units, sizeof units / sizeof *units);
}

const char *readable_binary_bytes(char *text, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    return with_prefix(text, bytes, 1024, units, sizeof units / sizeof *units);
}

const char *readable_decimal_bytes(char *text, double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    return with_prefix(text, bytes, 1000, units, sizeof units / sizeof *units);
}

const char *readable_flops(char *text, double flops_per_second)
{
    static const char *const units[] = {"flop/s", "kflop/s", "Mflop/s", "Gflop/s", "Tflop/s", "Pflop/s", "Eflop/s"};
    return with_prefix(text, flops_per_second, 1000, units, sizeof units / sizeof *units);
}

const char *readable_joules(char *text, double joules)
{
    static const char *const units[] = {"J", "kJ", "MJ", "GJ", "TJ"};
    return with_prefix(text, joules, 1000, units, sizeof units / sizeof *units);
}

const char *readable_watt_hours(char *text, double joules)
{
    static const char *const units[] = {"Wh", "kWh", "MWh", "GWh", "TWh"};
    return with_prefix(text, joules / 3600, 1000, units, sizeof units / sizeof *units);
}

const char *readable_watts(char *text, double watts)
{
    static const char *const units[] = {"W", "kW", "MW", "GW"};
    return with_prefix(text, watts, 1000, units, sizeof units / sizeof *units);
}

const char *readable_plural(size_t count)
{
    return count == 1 ? "" : "s";
}

const char *readable_percent(char *text, double share)
{
    snprintf(text, READABLE_MAX, "%.2f %%", figure("a share", share) * 100 + 0.0);
    return text;
}
