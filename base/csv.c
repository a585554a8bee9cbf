/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "base/paths.h"
#include "base/text/names.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct csv {
    const char *name;
    const struct csv_columns *columns;
    struct diag *diag;   /* NULL: the fault is told */
    struct fault *fault; /* NULL with diag */
    const char *at, *end, *line_end;
    unsigned line;     /* of `at` */
    const char *row;   /* where the current row begins */
    unsigned row_line; /* and on which line */
    size_t *order;     /* [field of a row]: its column */
    size_t field_count, order_capacity;
    struct csv_field *fields; /* [column] of the current row */
};

/* ---- mistakes ---- */

/* Of a byte of the current row. Continuation bytes of UTF-8 begin no character. */
static struct place place_of(const struct csv *csv, const char *byte)
{
    struct place at = {csv->name, csv->row_line, 1};
    for (const char *text = csv->row; text < byte; text++) {
        at.column += ((unsigned char)*text & 0xC0) != 0x80;
        if (*text == '\n') {
            at.line++;
            at.column = 1;
        }
    }
    return at;
}

static bool vmistake(struct csv *csv, const char *byte, const char *format, va_list arguments)
{
    struct place at = place_of(csv, byte);
    if (csv->diag) {
        diag_verror(csv->diag, at, format, arguments);
        return false;
    }
    char text[512];
    vsnprintf(text, sizeof text, format, arguments);
    return fault_set(csv->fault, "%s:%u:%u: %s", at.file, at.line, at.column, text);
}

__attribute__((format(printf, 3, 4))) static bool mistake(struct csv *csv, const char *byte, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vmistake(csv, byte, format, arguments);
    va_end(arguments);
    return false;
}

struct place csv_place(const struct csv *csv, size_t column)
{
    struct csv_field field = csv_get(csv, column);
    return place_of(csv, field.text ? field.text - field.quoted : csv->row);
}

bool csv_mistake(struct csv *csv, size_t column, const char *format, ...)
{
    struct csv_field field = csv_get(csv, column);
    va_list arguments;
    va_start(arguments, format);
    vmistake(csv, field.text ? field.text - field.quoted : csv->row, format, arguments);
    va_end(arguments);
    return false;
}

struct csv_excerpt csv_excerpt(struct csv_field field)
{
    struct csv_excerpt excerpt = {""};
    size_t size = field.size < sizeof excerpt.text - 1 ? field.size : sizeof excerpt.text - 1;
    for (size_t i = 0; i < size; i++)
        excerpt.text[i] = (char)(field.text[i] ? field.text[i] : '?');
    return excerpt;
}

/* ---- splitting ---- */

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static void find_line_end(struct csv *csv)
{
    const char *end = csv->at < csv->end ? memchr(csv->at, '\n', (size_t)(csv->end - csv->at)) : NULL;
    csv->line_end = end ? end : csv->end;
}

/* The byte behind the line's last one that counts. */
static const char *text_end(const struct csv *csv)
{
    return csv->line_end - (csv->line_end > csv->at && csv->line_end[-1] == '\r');
}

/* Past the blanks at `at`. */
static void skip_blanks(struct csv *csv)
{
    while (csv->at < csv->line_end && is_blank(*csv->at))
        csv->at++;
}

/* A field whose opening quote is at `at`; the lines it spans are counted. */
static bool take_quoted(struct csv *csv, struct csv_field *field)
{
    const char *open = csv->at, *quote = open + 1;
    for (; (quote = memchr(quote, '"', (size_t)(csv->end - quote))); quote += 2)
        if (quote + 1 == csv->end || quote[1] != '"')
            break;
    if (!quote) {
        csv->at = csv->line_end = csv->end;
        return mistake(csv, open, "this quote is never closed");
    }
    *field = (struct csv_field){open + 1, (size_t)(quote - open - 1), true};
    for (const char *text = open; text < quote; text++)
        csv->line += *text == '\n';
    csv->at = quote + 1;
    find_line_end(csv);
    skip_blanks(csv);
    if (csv->at == text_end(csv) || *csv->at == ',')
        return true;
    mistake(csv, csv->at, "expected a comma after the closing quote");
    csv->at = csv->line_end;
    return false;
}

static void take_plain(struct csv *csv, struct csv_field *field)
{
    const char *end = text_end(csv), *comma = end > csv->at ? memchr(csv->at, ',', (size_t)(end - csv->at)) : NULL;
    *field = (struct csv_field){csv->at, (size_t)((comma ? comma : end) - csv->at), false};
    csv->at = comma ? comma : end;
    while (field->size && is_blank(field->text[field->size - 1]))
        field->size--;
}

/* Takes a field and the comma behind it. *more: another one follows on the row. */
static bool take_field(struct csv *csv, struct csv_field *field, bool *more)
{
    bool good = true;
    skip_blanks(csv);
    if (csv->at < csv->line_end && *csv->at == '"')
        good = take_quoted(csv, field);
    else
        take_plain(csv, field);
    *more = csv->at < csv->line_end && *csv->at == ',';
    csv->at += *more;
    return good;
}

/* To the first line that counts; `row` is its begin. */
static bool next_line(struct csv *csv)
{
    for (; csv->at < csv->end; csv->at = csv->line_end + (csv->line_end < csv->end), csv->line++) {
        find_line_end(csv);
        if (text_end(csv) > csv->at && !(csv->columns->comments && *csv->at == '#'))
            break;
    }
    csv->row = csv->at;
    csv->row_line = csv->line;
    return csv->at < csv->end;
}

static void end_line(struct csv *csv)
{
    csv->at = csv->line_end + (csv->line_end < csv->end);
    csv->line++;
}

/* ---- names ---- */

static size_t find_column(const struct csv *csv, struct csv_field field)
{
    size_t column = 0;
    while (column < csv->columns->count && !csv_is(field, csv->columns->names[column]))
        column++;
    return column;
}

/* "worker, kind, stage"; the caller frees it. */
static char *join(const struct csv_columns *columns, size_t count, const char *between)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = memory_stream_open(&text, &size);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s", i ? between : "", columns->names[i]);
    memory_stream_close(out);
    return text;
}

static bool report_unknown(struct csv *csv, struct csv_field field)
{
    struct csv_excerpt name = csv_excerpt(field);
    const char *nearest = diag_nearest(name.text, csv->columns->names, csv->columns->count);
    struct names_text list;
    const char *all = names_list(&list, name.text, csv->columns->names, csv->columns->count, csv->columns->page);
    mistake(csv, field.text - field.quoted, "'%s' is no column of %s; %s%s%s", name.text, csv->columns->what,
            nearest ? "did you mean '" : "expected ", nearest ? nearest : all, nearest ? "'?" : "");
    return false;
}

static bool add_column(struct csv *csv, struct csv_field field)
{
    bool passed_over = csv->columns->nameless && field.size == 0;
    size_t column = passed_over ? csv->columns->count : find_column(csv, field);
    bool good = passed_over || column < csv->columns->count || report_unknown(csv, field);
    if (good && !passed_over && csv_has(csv, column))
        good = mistake(csv, field.text - field.quoted, "column '%s' is there twice", csv->columns->names[column]);
    csv->order = array_grow(csv->order, &csv->order_capacity, csv->field_count + 1, sizeof *csv->order);
    csv->order[csv->field_count++] = column;
    if (good)
        csv->fields[column] = field;
    return good;
}

/* Numbers where names should be are one mistake, not many. */
static bool names_any(struct csv *csv)
{
    bool any = false, more = true;
    struct csv ahead = *csv;
    ahead.diag = &(struct diag){.out = NULL};
    for (struct csv_field field; more && !any && take_field(&ahead, &field, &more);)
        any = find_column(csv, field) < csv->columns->count;
    return any;
}

static bool read_names(struct csv *csv)
{
    bool good = true, more = true;
    if (!names_any(csv)) {
        char *names = join(csv->columns, csv->columns->required, ",");
        mistake(csv, csv->row, "the first line names the columns, separated by commas: %s", names ? names : "");
        free(names);
        return false;
    }
    while (more) {
        struct csv_field field;
        good &= take_field(csv, &field, &more) && add_column(csv, field);
    }
    for (size_t column = 0; column < csv->columns->required; column++)
        if (!csv_has(csv, column))
            good = mistake(csv, csv->row, "column '%s' is missing", csv->columns->names[column]);
    end_line(csv);
    return good;
}

struct csv *csv_open(const char *name, const char *text, size_t size, const struct csv_columns *columns,
                     struct diag *diag, struct fault *fault)
{
    struct csv *csv = array_grow(NULL, &(size_t){0}, 1, sizeof *csv);
    size_t mark = size >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3) ? 3 : 0;
    *csv = (struct csv){.name = name, .columns = columns, .diag = diag, .fault = fault, .line = 1};
    csv->at = csv->line_end = text + mark;
    csv->end = text + size;
    csv->fields = array_grow(NULL, &(size_t){0}, columns->count + 1, sizeof *csv->fields);
    memset(csv->fields, 0, (columns->count + 1) * sizeof *csv->fields);
    if (!next_line(csv) || read_names(csv))
        return csv;
    csv_close(csv);
    return NULL;
}

size_t csv_names(const char *text, size_t size, bool comments, const char **names, size_t most, struct arena *arena)
{
    const struct csv_columns none = {.comments = comments};
    size_t mark = size >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3) ? 3 : 0, count = 0;
    struct diag silent = {.out = NULL};
    struct csv csv = {.name = "", .columns = &none, .diag = &silent, .line = 1};
    csv.at = csv.line_end = text + mark;
    csv.end = text + size;
    bool more = next_line(&csv);
    for (struct csv_field field; more && count < most && take_field(&csv, &field, &more);)
        names[count++] = csv_text(field, arena);
    return count;
}

void csv_close(struct csv *csv)
{
    if (!csv)
        return;
    free(csv->order);
    free(csv->fields);
    free(csv);
}

/* ---- rows ---- */

static bool read_row(struct csv *csv)
{
    size_t count = 0;
    bool good = true, more = true;
    for (; more && good; count++) {
        struct csv_field field;
        good = take_field(csv, &field, &more);
        if (good && count < csv->field_count)
            csv->fields[csv->order[count]] = field;
    }
    if (good && count != csv->field_count)
        good = mistake(csv, csv->row, "this row has %zu field%s, the first line names %zu", count,
                       count == 1 ? "" : "s", csv->field_count);
    end_line(csv);
    return good;
}

bool csv_next(struct csv *csv)
{
    while (next_line(csv))
        if (read_row(csv))
            return true;
    return false;
}

bool csv_has(const struct csv *csv, size_t column)
{
    return csv->fields[column].text != NULL;
}

struct csv_field csv_get(const struct csv *csv, size_t column)
{
    return csv->fields[column];
}

unsigned csv_line(const struct csv *csv)
{
    return csv->row_line;
}

/* ---- values ---- */

bool csv_is(struct csv_field field, const char *text)
{
    return field.size == strlen(text) && !memcmp(field.text, text, field.size);
}

/* What begins a formula in a spreadsheet, and the apostrophe that says that none does. */
static const char formula_signs[] = "=+-@\t'";

const char *csv_cell(const char *text, struct arena *arena)
{
    size_t size = 4 * strlen(text) + 1;
    char *shown = strcpy(arena_alloc(arena, size), text);
    diag_clean(shown, size);
    bool escaped = *shown && strchr(formula_signs, *shown), quoted = strpbrk(shown, ",\"") != NULL;
    char *cell = arena_alloc(arena, 2 * strlen(shown) + 4), *to = cell;
    if (quoted)
        *to++ = '"';
    if (escaped)
        *to++ = '\'';
    for (; *shown; shown++) {
        if (*shown == '"')
            *to++ = '"';
        *to++ = *shown;
    }
    if (quoted)
        *to++ = '"';
    return cell;
}

const char *csv_text(struct csv_field field, struct arena *arena)
{
    char *text = arena_alloc(arena, field.size + 1), *to = text;
    size_t escaped = field.size > 1 && field.text[0] == '\'' && strchr(formula_signs, field.text[1]);
    for (size_t i = escaped; i < field.size; i++) {
        *to++ = field.text[i];
        i += field.quoted && field.text[i] == '"';
    }
    return text;
}

bool csv_integer(struct csv *csv, size_t column, uint32_t most, uint32_t *number)
{
    struct csv_field field = csv_get(csv, column);
    const char *name = csv->columns->names[column];
    uint64_t value = 0;
    bool good = field.size > 0 && (field.size == 1 || field.text[0] != '0');
    for (size_t i = 0; good && i < field.size; i++) {
        good = field.text[i] >= '0' && field.text[i] <= '9';
        value = value * 10 + (uint64_t)(field.text[i] - '0');
        if (good && value > most)
            return csv_mistake(csv, column, "%s '%s' is too large; at most %u is possible", name,
                               csv_excerpt(field).text, most);
    }
    if (!good)
        return csv_mistake(csv, column, "%s is a whole number from 0 without leading zeros, not '%s'", name,
                           csv_excerpt(field).text);
    *number = (uint32_t)value;
    return true;
}

bool csv_number(struct csv *csv, size_t column, double *number)
{
    struct csv_field field = csv_get(csv, column);
    char text[64], *end = text;
    if (field.size > 0 && field.size < sizeof text) {
        memcpy(text, field.text, field.size);
        text[field.size] = '\0';
        if (strspn(text, "0123456789.eE+-") == field.size) {
            *number = strtod(text, &end);
            if (end == text + field.size && isfinite(*number))
                return true;
        }
    }
    return csv_mistake(csv, column, "%s is a number such as 1.5e-3, not '%s'", csv->columns->names[column],
                       csv_excerpt(field).text);
}

bool csv_word(struct csv *csv, size_t column, const char *const *words, unsigned *index)
{
    struct csv_field field = csv_get(csv, column);
    size_t count = 0;
    for (; words[count]; count++)
        if (csv_is(field, words[count])) {
            *index = (unsigned)count;
            return true;
        }
    struct csv_excerpt word = csv_excerpt(field);
    const char *nearest = diag_nearest(word.text, words, count);
    return csv_mistake(csv, column, "'%s' is no %s; %s '%s'%s", word.text, csv->columns->names[column],
                       nearest ? "did you mean" : "expected one such as", nearest ? nearest : words[0],
                       nearest ? "?" : "");
}

/* ---- files ---- */

static void close_file(FILE **file)
{
    if (*file)
        fclose(*file);
}

char *csv_load(const char *path, size_t most, size_t *size)
{
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe would wait for ever */
    SCOPED(close_file) FILE *file = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    struct stat status;
    if (!file || fstat(descriptor, &status))
        return NULL;
    bool regular = S_ISREG(status.st_mode);
    path_note_read(descriptor);
    errno = S_ISDIR(status.st_mode) ? EISDIR : !regular ? EINVAL : (uint64_t)status.st_size > most ? EFBIG : 0;
    if (errno)
        return NULL;
    char *text = array_grow(NULL, &(size_t){0}, (size_t)status.st_size + 1, 1);
    *size = fread(text, 1, (size_t)status.st_size, file);
    if (!ferror(file))
        return text;
    free(text);
    return NULL;
}
