/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/names.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

unsigned names_distance(const char *a, const char *b)
{
    unsigned rows[3][NAME_COMPARED_MAX + 1];
    unsigned *before = rows[0], *previous = rows[1], *current = rows[2];
    size_t a_length = strnlen(a, NAME_COMPARED_MAX), b_length = strnlen(b, NAME_COMPARED_MAX);
    for (size_t j = 0; j <= b_length; j++)
        previous[j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        current[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            unsigned best = previous[j - 1] + (a[i - 1] != b[j - 1]);
            best = previous[j] + 1 < best ? previous[j] + 1 : best;
            best = current[j - 1] + 1 < best ? current[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            current[j] = best;
        }
        unsigned *free_row = before;
        before = previous;
        previous = current;
        current = free_row;
    }
    return previous[b_length];
}

/* The letters to change as a share of all, in thousandths: in a list, 'pipeline' is nearer to 'pipe' than 'x' is. */
static unsigned share_changed(const char *a, const char *b)
{
    size_t a_length = strnlen(a, NAME_COMPARED_MAX), b_length = strnlen(b, NAME_COMPARED_MAX);
    size_t longer = a_length > b_length ? a_length : b_length;
    return longer ? 1000 * names_distance(a, b) / (unsigned)longer : 0;
}

/* The nearest name beside the `count_taken` taken ones; the first of those that are as near. */
static size_t take_nearest(const char *word, const char *const *names, size_t count, const size_t *taken,
                           size_t count_taken)
{
    size_t nearest = count;
    unsigned least = 0;
    for (size_t i = 0; i < count; i++) {
        bool again = false;
        for (size_t j = 0; j < count_taken; j++)
            again |= taken[j] == i;
        unsigned far = again || !word ? 0 : share_changed(word, names[i]);
        if (again || (nearest < count && far >= least))
            continue;
        nearest = i;
        least = far;
    }
    return nearest;
}

__attribute__((format(printf, 2, 3))) static void append(struct names_text *list, const char *format, ...)
{
    size_t used = strlen(list->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(list->text + used, sizeof list->text - used, format, arguments);
    va_end(arguments);
}

const char *names_list(struct names_text *list, const char *word, const char *const *names, size_t count,
                       const char *where)
{
    bool all = count <= NAMES_SHOWN_MAX;
    size_t taken[NAMES_NEAREST], shown = all ? count : NAMES_NEAREST;
    snprintf(list->text, sizeof list->text, "%s", count ? "" : "none");
    for (size_t i = 0; i < shown; i++) {
        size_t index = all ? i : (taken[i] = take_nearest(word, names, count, taken, i));
        append(list, "%s%.64s", !i ? "" : all && i + 1 == count ? " or " : ", ", names[index]);
    }
    if (!all)
        append(list, " or one of %zu more", count - shown);
    if (!all && where)
        append(list, " (%s)", where);
    return list->text;
}
