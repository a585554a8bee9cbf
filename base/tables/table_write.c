/* SPDX-License-Identifier: Apache-2.0 */
#include "base/tables/table_write.h"
#include "base/exit_code.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/json_writer.h"
#include "base/number_text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const table_format_names[TABLE_FORMATS] = {"table", "csv", "json", "latex", "markdown"};

struct table_style table_style_of(enum table_format format, FILE *out)
{
    return (struct table_style){format, format == TABLE_TEXT ? table_terminal_width(out) : 0};
}

bool table_is_read(enum table_format format)
{
    return format != TABLE_CSV && format != TABLE_JSON;
}

/* ---- LaTeX ---- */

/* What a character is in text; NULL: itself. `[` and `*` are taken for an argument behind the end of a row, and quotes
 * are shorthands in some languages of babel. */
static const char *latex_character(char c)
{
    static const struct {
        char c;
        const char *text;
    } characters[] = {
        {'\\', "\\textbackslash{}"},
        {'{', "\\{"},
        {'}', "\\}"},
        {'$', "\\$"},
        {'&', "\\&"},
        {'#', "\\#"},
        {'%', "\\%"},
        {'_', "\\_"},
        {'~', "\\textasciitilde{}"},
        {'^', "\\textasciicircum{}"},
        {'<', "\\textless{}"},
        {'>', "\\textgreater{}"},
        {'|', "\\textbar{}"},
        {'"', "\\char34{}"},
        {'`', "\\textasciigrave{}"},
        {'[', "{[}"},
        {'*', "{*}"},
    };
    for (size_t i = 0; i < sizeof characters / sizeof *characters; i++)
        if (characters[i].c == c)
            return characters[i].text;
    return NULL;
}

/* Characters that LaTeX's fonts would join when they stand twice: -- is a dash, '' and ,, are quotes. */
static bool is_joined(char c)
{
    return c == '-' || c == '\'' || c == ',';
}

static void latex_text(FILE *out, const char *text)
{
    for (const char *at = text; *at; at++) {
        const char *instead = latex_character(*at);
        if (at > text && is_joined(*at) && at[-1] == *at)
            fputs("{}", out);
        if (instead)
            fputs(instead, out);
        else
            putc(*at, out);
    }
}

/* The length of "1.979" or "-3" at the start of a text; 0: it does not begin with a number. */
static size_t number_length(const char *text)
{
    size_t sign = *text == '-' || *text == '+', digits = strspn(text + sign, "0123456789.");
    return digits && isdigit((unsigned char)text[sign]) ? sign + digits : 0;
}

/* A number with its unit: a minus, a thin space before the unit that ends no line, and the micro of "us". */
static void latex_quantity(FILE *out, const char *text, size_t length)
{
    if (*text == '-')
        fputs("$-$", out);
    fwrite(text + (*text == '-'), 1, length - (*text == '-'), out);
    if (text[length] != ' ')
        return;
    const char *unit = text + length + 1;
    fputs("\\,", out);
    if (strncmp(unit, "us", 2) == 0) {
        fputs("$\\mu$", out);
        unit++;
    }
    latex_text(out, unit);
}

static void latex_cell(FILE *out, const char *text)
{
    size_t length = number_length(text);
    bool quantity = length && (!text[length] || (text[length] == ' ' && !strchr(text + length + 1, ' ')));
    if (quantity)
        latex_quantity(out, text, length);
    else
        latex_text(out, text);
}

static void write_latex(const struct table *table, FILE *out)
{
    size_t columns = table_column_count(table);
    fputs("% needs \\usepackage{booktabs}\n\\begin{tabular}{", out);
    for (size_t column = 0; column < columns; column++)
        putc(table_align(table, column) == '>' ? 'r' : 'l', out);
    fputs("}\n\\toprule\n", out);
    for (size_t column = 0; column < columns; column++) {
        fputs(column ? " & " : "", out);
        latex_text(out, table_title(table, column));
    }
    fputs(" \\\\\n\\midrule\n", out);
    for (size_t row = 0; row < table_row_count(table); row++) {
        for (size_t column = 0; column < columns; column++) {
            fputs(column ? " & " : "", out);
            latex_cell(out, table_text(table, row, column));
        }
        fputs(" \\\\\n", out);
    }
    fputs("\\bottomrule\n\\end{tabular}\n", out);
}

/* ---- Markdown ---- */

/* Any punctuation may stand behind a backslash. A dash or a digit begins something at the start of a line only, which
 * no cell is. */
static void markdown_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("\\`*_{}[]<>|&~$#!", *text))
            putc('\\', out);
        putc(*text, out);
    }
}

static void write_markdown_row(const struct table *table, FILE *out, size_t row, bool title)
{
    putc('|', out);
    for (size_t column = 0; column < table_column_count(table); column++) {
        putc(' ', out);
        markdown_text(out, title ? table_title(table, column) : table_text(table, row, column));
        fputs(" |", out);
    }
    putc('\n', out);
}

static void write_markdown(const struct table *table, FILE *out)
{
    write_markdown_row(table, out, 0, true);
    putc('|', out);
    for (size_t column = 0; column < table_column_count(table); column++)
        fputs(table_align(table, column) == '>' ? " ---: |" : " --- |", out);
    putc('\n', out);
    for (size_t row = 0; row < table_row_count(table); row++)
        write_markdown_row(table, out, row, false);
}

/* ---- CSV and JSON ---- */

/* "error before" as error_before: what is no letter and no digit is one _ between those that are. */
void table_key(char *key, size_t size, const char *title)
{
    size_t used = 0;
    bool gap = false;
    for (; *title && used + 2 < size; title++) {
        bool plain = isalnum((unsigned char)*title) != 0;
        if (plain && gap)
            key[used++] = '_';
        if (plain)
            key[used++] = (char)tolower((unsigned char)*title);
        gap = !plain && used;
    }
    key[used] = '\0';
}

static void write_csv(const struct table *table, FILE *out)
{
    size_t columns = table_column_count(table);
    struct arena *arena = arena_create();
    char key[TABLE_CELL_MAX], number[NUMBER_TEXT_MAX];
    for (size_t column = 0; column < columns; column++) {
        table_key(key, sizeof key, table_title(table, column));
        fprintf(out, "%s%s", column ? "," : "", key);
    }
    putc('\n', out);
    for (size_t row = 0; row < table_row_count(table); row++) {
        for (size_t column = 0; column < columns; column++) {
            double value = table_number(table, row, column);
            fputs(column ? "," : "", out);
            if (isnan(value))
                fputs(csv_cell(table_text(table, row, column), arena), out);
            else
                fwrite(number, 1, number_write(number, value), out);
        }
        putc('\n', out);
    }
    arena_destroy(arena);
}

static void write_json(const struct table *table, FILE *out)
{
    char key[TABLE_CELL_MAX];
    struct json_writer json = json_writer_init(out);
    json_array_begin(&json, NULL, true);
    for (size_t row = 0; row < table_row_count(table); row++) {
        json_object_begin(&json, NULL, false);
        for (size_t column = 0; column < table_column_count(table); column++) {
            double value = table_number(table, row, column);
            table_key(key, sizeof key, table_title(table, column));
            if (!isnan(value))
                json_number(&json, key, value);
            else if (*table_text(table, row, column))
                json_text(&json, key, table_text(table, row, column));
        }
        json_object_end(&json);
    }
    json_array_end(&json);
    putc('\n', out);
}

static void write_as(const struct table *table, FILE *out, struct table_style style)
{
    if (style.format == TABLE_LATEX)
        write_latex(table, out);
    else if (style.format == TABLE_MARKDOWN)
        write_markdown(table, out);
    else if (style.format == TABLE_CSV)
        write_csv(table, out);
    else if (style.format == TABLE_JSON)
        write_json(table, out);
    else
        table_print_within(table, out, 0, style.width);
}

/* ---- what goes with a table ---- */

/* Blanks that align text come out as one. */
static void remark(FILE *out, enum table_format format, const char *line, size_t length)
{
    char *text = strndup(line, length), *to = text;
    for (const char *from = text; text && *from; from++)
        if (*from != ' ' || (to > text && to[-1] != ' '))
            *to++ = *from;
    if (text)
        *to = '\0';
    if (text && format == TABLE_LATEX)
        fprintf(out, "%% %s\n", text);
    else if (text) {
        putc('\n', out);
        markdown_text(out, text);
        putc('\n', out);
    }
    free(text);
}

void table_finish(struct table *table, FILE *out, struct table_style style)
{
    write_as(table, out, style);
    table_destroy(table);
}

void table_remarks(FILE *out, enum table_format format, const char *lines)
{
    if (format == TABLE_TEXT)
        fputs(lines, out);
    if (format != TABLE_LATEX && format != TABLE_MARKDOWN)
        return;
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        if (length)
            remark(out, format, lines, length);
        lines += length + (lines[length] == '\n');
    }
}

static void end_without_memory(void)
{
    fputs("stagesim: out of memory\n", stderr);
    exit(EXIT_FAILED);
}

FILE *table_remarks_begin(char **lines, size_t *size)
{
    FILE *remarks = open_memstream(lines, size);
    if (!remarks)
        end_without_memory();
    return remarks;
}

void table_remarks_end(FILE *out, enum table_format format, FILE *remarks, char **lines)
{
    if (ferror(remarks) || fclose(remarks) || !*lines)
        end_without_memory();
    table_remarks(out, format, *lines);
    free(*lines);
    *lines = NULL;
}
