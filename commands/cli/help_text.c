/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/cli/help_text.h"

#include <string.h>

/* The column in which the text of a line begins. */
static size_t text_column(const char *line, size_t length, size_t width)
{
    size_t column = 0;
    for (size_t i = 0; i < length && i < width / 2; i++)
        if (line[i] != ' ' && (i == 0 || (i >= 2 && line[i - 1] == ' ' && line[i - 2] == ' ')))
            column = i;
    return column;
}

/* How much of what is left fits, up to a blank; at least one word. */
static size_t fitting(const char *text, size_t length, size_t room)
{
    if (length <= room)
        return length;
    size_t cut = room;
    while (cut > 0 && text[cut] != ' ')
        cut--;
    for (cut = cut ? cut : room; cut < length && text[cut] != ' ';)
        cut++;
    return cut;
}

static void print_line(FILE *out, const char *line, size_t length, size_t width)
{
    size_t column = text_column(line, length, width), start = column;
    fwrite(line, 1, column, out);
    while (start < length) {
        size_t part = fitting(line + start, length - start, width - column);
        fwrite(line + start, 1, part, out);
        for (start += part; start < length && line[start] == ' ';)
            start++;
        if (start < length)
            fprintf(out, "\n%*s", (int)column, "");
    }
    putc('\n', out);
}

void help_text_print(FILE *out, const char *text, size_t width)
{
    static const char example[] = "  stagesim ";
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (!width || length <= width || !strncmp(text, example, strlen(example)))
            fprintf(out, "%.*s\n", (int)length, text);
        else
            print_line(out, text, length, width);
        text += length + (text[length] == '\n');
    }
}
