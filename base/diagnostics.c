/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diagnostics.h"

#include "base/arena.h"
#include "base/text/names.h"
#include "base/text/wrap.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    ERRORS_SHOWN = 8,    /* a file that is wrong throughout must not bury its first mistake */
    MESSAGE_SIZE = 2048, /* longer texts are cut */
    EXCERPT_WIDTH = 110, /* characters of the source line that are shown */
    EXCERPT_BEFORE = 70, /* of these before the caret */
    LINE_SIZE = 64 << 10 /* bytes of a source line that are looked at */
};

/* The bytes of the character at text (at least one) when they are well-formed UTF-8 of a printable character, else 0.
 */
static size_t printable_size(const unsigned char *text)
{
    if (text[0] < 0x80)
        return text[0] >= 0x20 && text[0] != 0x7F;
    size_t size = text[0] >= 0xF0 && text[0] < 0xF5 ? 4 : text[0] >= 0xE0 ? 3 : text[0] >= 0xC2 ? 2 : 0;
    if (text[0] >= 0xF5)
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    /* C1 controls steer terminals like escape sequences do. */
    return size == 2 && text[0] == 0xC2 && text[1] < 0xA0 ? 0 : size;
}

/* Control characters and broken UTF-8 are shown as \xNN: what a user's file holds must not steer the terminal. A report
 * is one line: breaks become blanks. */
static void write_clean(FILE *out, const char *text)
{
    for (const unsigned char *byte = (const unsigned char *)text; *byte;) {
        size_t size = printable_size(byte);
        if (size)
            fwrite(byte, 1, size, out);
        else if (*byte == '\n')
            fputc(' ', out);
        else
            fprintf(out, "\\x%02x", *byte);
        byte += size ? size : 1;
    }
}

/* Writes \xNN for what must not be shown, to at most `size` bytes with the final zero; `breaks` are kept. */
static void clean(char *to, size_t size, const char *text, bool breaks)
{
    size_t used = 0;
    for (const unsigned char *byte = (const unsigned char *)text; *byte;) {
        size_t bytes = printable_size(byte);
        if (!bytes && breaks && (*byte == '\n' || *byte == '\t'))
            bytes = 1;
        if (used + (bytes ? bytes : 4) >= size)
            break;
        if (bytes)
            memcpy(to + used, byte, bytes);
        else
            snprintf(to + used, 5, "\\x%02x", *byte);
        used += bytes ? bytes : 4;
        byte += bytes ? bytes : 1;
    }
    to[used] = '\0';
}

static bool is_clean(const char *text)
{
    const unsigned char *byte = (const unsigned char *)text;
    for (size_t size; *byte; byte += size)
        if (!(size = printable_size(byte)))
            return false;
    return true;
}

void diag_clean(char *text, size_t size)
{
    if (is_clean(text))
        return;
    char *copy = strcpy(array_zeroed(strlen(text) + 1, 1), text);
    clean(text, size, copy, false);
    free(copy);
}

void diag_print(FILE *out, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    size_t size = length < 0 ? 1 : (size_t)length + 1;
    char *text = array_zeroed(size, 5), *shown = text + size;
    vsnprintf(text, size, format, again);
    clean(shown, 4 * size, text, true);
    fputs(shown, out);
    free(text);
    va_end(again);
    va_end(arguments);
}

static void close_file(FILE **file)
{
    if (*file)
        fclose(*file);
}

/* The bytes of the line break that ends the text, 0 when there is none: those that YAML counts. */
static size_t break_at_end(const char *text, size_t length)
{
    if (length && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        return 1;
    if (length >= 2 && !memcmp(text + length - 2, "\xC2\x85", 2))
        return 2;
    bool separator =
        length >= 3 && (!memcmp(text + length - 3, "\xE2\x80\xA8", 3) || !memcmp(text + length - 3, "\xE2\x80\xA9", 3));
    return separator ? 3 : 0;
}

/* Reads a line of any length into `line` (LINE_SIZE bytes; what does not fit is left out), without its break. The last
 * one that is wanted is not read beyond what fits. */
static bool next_line(FILE *file, char *line, bool last)
{
    size_t length = 0, end = 0;
    bool any = false;
    for (int byte; !end && (byte = getc(file)) != EOF; any = true) {
        if (byte == '\0')
            byte = ' ';
        if (length + 1 == LINE_SIZE)
            length -= byte == '\n' || byte == '\r';
        if (length + 1 < LINE_SIZE)
            line[length++] = (char)byte;
        end = break_at_end(line, length);
        if (last && length + 1 == LINE_SIZE)
            break;
        if (byte == '\r' && (byte = getc(file)) != '\n')
            ungetc(byte, file);
    }
    line[length - end] = '\0';
    return any;
}

/* Only regular files are read again: a pipe would wait for ever. */
static bool read_line(const char *name, unsigned number, char *line)
{
    struct stat status;
    if (stat(name, &status) || !S_ISREG(status.st_mode))
        return false;
    SCOPED(close_file) FILE *file = fopen(name, "rb");
    for (; file && number && next_line(file, line, number == 1); number--)
        ;
    return file && !number;
}

/* Writes at most EXCERPT_WIDTH characters in single columns: tabs as blanks, unprintable ones as '?'. */
static void write_window(FILE *out, const char *text)
{
    for (unsigned shown = 0; *text && shown < EXCERPT_WIDTH; shown++) {
        size_t size = printable_size((const unsigned char *)text);
        if (size)
            fwrite(text, 1, size, out);
        else
            fputc(*text == '\t' ? ' ' : '?', out);
        text += size ? size : 1;
    }
    fputs(*text ? "...\n" : "\n", out);
}

/* The source line, its part around the column where it is long, and the caret. */
static void write_excerpt(FILE *out, struct place at)
{
    char *line = malloc(LINE_SIZE);
    if (line && read_line(at.file, at.line, line)) {
        const char *from = line + (strncmp(line, "\xEF\xBB\xBF", 3) ? 0 : 3);
        unsigned skipped = 0;
        for (; *from && at.column > EXCERPT_BEFORE + skipped; skipped++) {
            size_t size = printable_size((const unsigned char *)from);
            from += size ? size : 1;
        }
        fprintf(out, "%8u | %s", at.line, skipped ? "..." : "");
        write_window(out, from);
        if (at.column && at.column - skipped <= EXCERPT_WIDTH)
            fprintf(out, "         | %*s^\n", (int)(at.column - 1 - skipped + (skipped ? 3 : 0)), "");
    }
    free(line);
}

/* A line of a report; `head` can be shown as it is. */
static void write_line(FILE *out, const char *head, const char *text)
{
    char shown[4 * MESSAGE_SIZE], line[MESSAGE_SIZE];
    snprintf(line, sizeof line, "%s", text);
    for (char *at = line; (at = strchr(at, '\n'));)
        *at = ' ';
    clean(shown, sizeof shown, line, false);
    wrap_write(out, head, shown);
}

static void report(FILE *out, const char *label, struct place at, const char *format, va_list arguments)
{
    char text[MESSAGE_SIZE], *head = NULL;
    size_t size = 0;
    vsnprintf(text, sizeof text, format, arguments);
    FILE *heading = open_memstream(&head, &size);
    write_clean(heading, at.file ? at.file : "stagesim");
    if (at.line)
        fprintf(heading, ":%u", at.line);
    if (at.line && at.column)
        fprintf(heading, ":%u", at.column);
    fprintf(heading, ": %s: ", label);
    fclose(heading);
    write_line(out, head, text);
    free(head);
    if (at.file && at.line)
        write_excerpt(out, at);
}

void diag_verror(struct diag *diag, struct place at, const char *format, va_list arguments)
{
    diag->errors++;
    if (diag->out && diag->errors <= ERRORS_SHOWN)
        report(diag->out, "error", at, format, arguments);
}

void diag_rest(struct diag *diag)
{
    unsigned told = diag->told > ERRORS_SHOWN ? diag->told : ERRORS_SHOWN;
    if (diag->out && diag->errors > told)
        fprintf(diag->out, "stagesim: error: %u more mistake%s, not shown\n", diag->errors - told,
                diag->errors - told == 1 ? "" : "s");
    diag->told = diag->errors;
}

void diag_error(struct diag *diag, struct place at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    diag_verror(diag, at, format, arguments);
    va_end(arguments);
}

void diag_trouble(struct diag *diag, struct place at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    diag->trouble = true;
    diag_verror(diag, at, format, arguments);
    va_end(arguments);
}

void diag_note(struct diag *diag, struct place at, const char *format, ...)
{
    if (!diag->out || diag->errors > ERRORS_SHOWN)
        return;
    va_list arguments;
    va_start(arguments, format);
    report(diag->out, "note", at, format, arguments);
    va_end(arguments);
}

/* ":LINE: " or ":LINE:COLUMN: " at the start of a text: its length, 0 when it is neither. */
static int read_place(const char *text, struct place *at)
{
    int used = 0;
    at->column = 0;
    if (sscanf(text, ":%u:%u: %n", &at->line, &at->column, &used) == 2 && used)
        return used;
    at->column = 0;
    return sscanf(text, ":%u: %n", &at->line, &used) == 1 ? used : 0;
}

void diag_fault(struct diag *diag, const char *label, const char *text)
{
    char file[FAULT_SIZE];
    struct place at = {.file = file};
    int used = 0;
    const char *colon = strchr(text, ':');
    while (colon && (used = read_place(colon, &at)) == 0)
        colon = strchr(colon + 1, ':');
    if (colon) {
        snprintf(file, sizeof file, "%.*s", (int)(colon - text), text);
        diag_error(diag, at, "%s", colon + used);
    } else if (label) {
        diag->errors++;
        if (!diag->out)
            return;
        char head[FAULT_SIZE];
        snprintf(head, sizeof head, "%s: ", label);
        write_line(diag->out, head, text);
    } else {
        diag_error(diag, (struct place){0}, "%s", text);
    }
}

const char *diag_nearest(const char *word, const char *const *words, size_t count)
{
    size_t length = strlen(word);
    if (!length || length > NAME_COMPARED_MAX)
        return NULL;
    /* A third of the letters may differ: 'data' must not be offered for 'order'. */
    unsigned least = (unsigned)(length + 1) / 3 + 1;
    const char *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t candidate_length = strlen(words[i]);
        if (candidate_length > NAME_COMPARED_MAX)
            continue;
        unsigned edits = names_distance(word, words[i]);
        if (edits < least && edits < candidate_length) {
            least = edits;
            nearest = words[i];
        }
    }
    return nearest;
}

bool fault_set(struct fault *fault, const char *format, ...)
{
    if (fault->text[0])
        return false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->text, sizeof fault->text, format, arguments);
    va_end(arguments);
    return false;
}

const char *diag_first(char *reports)
{
    static const char mark[] = ": error: ", own[] = "stagesim: ";
    wrap_join(reports);
    char *end = strchr(reports, '\n'), *start = strstr(reports, mark);
    bool placed = start && (!end || start < end);
    if (end)
        *end = '\0';
    if (placed)
        return start + sizeof mark - 1;
    return strncmp(reports, own, sizeof own - 1) ? reports : reports + sizeof own - 1;
}
