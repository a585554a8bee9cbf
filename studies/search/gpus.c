/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/search/gpus.h"

#include "base/arena.h"

#include <stdlib.h>

static int smaller_first(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

struct stagesim_list search_gpus(const struct scenario *scenario, uint32_t gpus, struct arena *arena)
{
    const struct stagesim_list *given = &scenario->search.gpus;
    double *numbers = arena_array(arena, given->count + 1, sizeof *numbers);
    size_t count = 0;
    if (!given->count)
        numbers[count++] = gpus;
    for (size_t i = 0; i < given->count; i++)
        numbers[i] = given->values[i];
    if (given->count)
        qsort(numbers, given->count, sizeof *numbers, smaller_first);
    for (size_t i = 0; i < given->count; i++)
        if (!count || numbers[count - 1] < numbers[i])
            numbers[count++] = numbers[i];
    return (struct stagesim_list){count, numbers};
}

const char *search_gpus_words(const struct stagesim_list *numbers, struct arena *arena)
{
    const char *text = arena_print(arena, "%.0f", numbers->values[0]);
    for (size_t i = 1; i < numbers->count; i++)
        text = arena_print(arena, "%s, %.0f", text, numbers->values[i]);
    return text;
}
