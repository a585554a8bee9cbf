/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/explain/explain_parts.h"

#include <string.h>

enum { COLUMNS = 100 };

void explain_lines(FILE *out, const char *text)
{
    for (size_t length = strlen(text); length;) {
        size_t end = length;
        for (size_t i = 1; length > COLUMNS && i <= COLUMNS; i++)
            end = text[i] == ' ' ? i : end;
        diag_print(out, "%.*s\n", (int)end, text);
        end += text[end] == ' ';
        text += end;
        length -= end;
    }
}
