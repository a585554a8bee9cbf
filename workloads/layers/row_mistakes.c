/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/layers/row_mistakes.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "workloads/layers/graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void row_mistake(const struct row_reporter *reporter, uint32_t *mistakes, uint32_t row, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ++*mistakes;
    reporter->report(reporter->user, row, text);
}

const char *row_nearest(const struct layer_operator *operators, uint32_t count, const char *name, char *text,
                        size_t size)
{
    const char **words = array_zeroed(count, sizeof *words);
    for (uint32_t i = 0; i < count; i++)
        words[i] = operators[i].layer->name;
    const char *near = diag_nearest(name, words, count);
    snprintf(text, size, near ? "; did you mean '%.60s'?" : "%s", near ? near : "");
    free(words);
    return text;
}
