/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/wrap.h"

#include <stdbool.h>
#include <string.h>

static bool begins_character(char byte)
{
    return ((unsigned char)byte & 0xC0) != 0x80;
}

static size_t columns_of(const char *text)
{
    size_t columns = 0;
    for (; *text; text++)
        columns += begins_character(*text);
    return columns;
}

/* The blank at which the text is broken so that at most `room` columns stand before it, NULL: it fits, or there is
 * none. A word that is longer than the room stands alone. */
static const char *break_of(const char *text, size_t room)
{
    if (columns_of(text) <= room)
        return NULL;
    const char *blank = NULL, *clause = NULL, *comma = NULL;
    size_t columns = 0;
    for (const char *at = text; *at && (columns <= room || !blank); at++) {
        if (*at == ' ' && at > text) {
            blank = at;
            clause = at[-1] == ';' && columns > room / 3 ? at : clause;
            comma = strchr(",:;", at[-1]) && columns > room / 3 * 2 ? at : comma;
        }
        columns += begins_character(*at);
    }
    return clause ? clause : comma ? comma : blank;
}

void wrap_write(FILE *out, const char *head, const char *text)
{
    size_t column = columns_of(head);
    fputs(head, out);
    if (column >= WRAP_COLUMNS) {
        fprintf(out, "\n%*s", WRAP_INDENT, "");
        column = WRAP_INDENT;
    }
    for (const char *end; (end = break_of(text, WRAP_COLUMNS - column)); column = WRAP_INDENT) {
        fprintf(out, "%.*s\n%*s", (int)(end - text), text, WRAP_INDENT, "");
        text = end + 1;
    }
    fprintf(out, "%s\n", text);
}

void wrap_join(char *text)
{
    char *line = text;
    while ((line = strchr(line, '\n')) && strspn(line + 1, " ") == WRAP_INDENT) {
        *line = ' ';
        memmove(line + 1, line + 1 + WRAP_INDENT, strlen(line + 1 + WRAP_INDENT) + 1);
    }
}
