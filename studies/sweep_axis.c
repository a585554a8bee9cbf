/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/sweep_axis.h"

#include "base/arena.h"
#include "base/rounded/rounded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists ---- */

static int depth_after(char character, int depth)
{
    return depth + (character == '[' || character == '{') - (character == ']' || character == '}');
}

/* The end of a value: a comma that stands in no bracket, brace or quote, or the end. */
static const char *value_end(const char *text)
{
    int depth = 0;
    char quote = 0;
    for (; *text; text++) {
        if (quote)
            quote = *text == quote ? 0 : quote;
        else if (*text == '"' || *text == '\'')
            quote = *text;
        else if (*text == ',' && depth <= 0)
            break;
        else
            depth = depth_after(*text, depth);
    }
    return text;
}

static bool read_list(const char *text, struct sweep_axis *axis, struct arena *arena, struct fault *fault)
{
    size_t most = 1;
    for (const char *at = text; *at; at++)
        most += *at == ',';
    axis->values = arena_array(arena, most, sizeof *axis->values);
    for (const char *end;; text = end + 1) {
        end = value_end(text);
        while (*text == ' ')
            text++;
        if (end <= text)
            return fault_set(fault, "a value is empty; expected values as a,b,c or from:to:step or from:to:xF");
        const char *last = end;
        while (last[-1] == ' ')
            last--;
        axis->values[axis->count++] = arena_print(arena, "%.*s", (int)(last - text), text);
        if (!*end)
            return true;
    }
}

/* ---- numbers with a unit ---- */

/* "1.5us" as 1.5 and "us"; false where it is no number with a word of letters or %. */
static bool split_number(const char *text, double *number, const char **unit)
{
    char *end;
    if (!strchr("+-.0123456789", *text))
        return false;
    *number = strtod(text, &end);
    *unit = end;
    return end != text && isfinite(*number) &&
           strspn(end, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ%") == strlen(end);
}

static void find_numbers(struct sweep_axis *axis, struct arena *arena)
{
    double *numbers = arena_array(arena, axis->count + 1, sizeof *numbers);
    for (size_t i = 0; i < axis->count; i++) {
        const char *unit;
        if (!split_number(axis->values[i], &numbers[i], &unit) || (i && strcmp(unit, axis->unit) != 0))
            return;
        axis->unit = unit;
    }
    axis->numbers = numbers;
}

/* ---- ranges ---- */

struct range {
    double from, to, step;
    bool factor; /* the step multiplies */
    const char *unit;
};

/* Whether a text has the form of a range; `from:to` alone has not, as a preset with its nodes. */
static bool split_range(const char *text, struct range *range, struct arena *arena)
{
    char *from = arena_copy(arena, text), *to = strchr(from, ':'), *step = to ? strchr(to + 1, ':') : NULL;
    const char *units[3];
    if (!step || strchr(step + 1, ':') || strchr(text, ','))
        return false;
    *to++ = *step++ = '\0';
    range->factor = *step == 'x';
    bool numbers = split_number(from, &range->from, &units[0]) && split_number(to, &range->to, &units[1]) &&
                   split_number(step + range->factor, &range->step, &units[2]);
    range->unit = numbers ? units[1] : "";
    return numbers && (!*units[0] || !strcmp(units[0], range->unit)) &&
           (!*units[2] || (!range->factor && !strcmp(units[2], range->unit)));
}

static double range_value(const struct range *range, size_t i)
{
    return range->factor ? range->from * rounded_pow(range->step, (double)i) : range->from + range->step * (double)i;
}

/* Ten digits: 0.1 three times is 0.3. Counts are written without an exponent. */
static const char *write_value(double value, const char *unit, struct arena *arena)
{
    bool whole = fabs(value) < 1e15 && fabs(value - round(value)) <= 1e-9 * fabs(value);
    return whole ? arena_print(arena, "%.0f%s", round(value), unit) : arena_print(arena, "%.10g%s", value, unit);
}

static bool fill_range(const struct range *range, struct sweep_axis *axis, struct arena *arena, struct fault *fault)
{
    bool up = range->to >= range->from;
    bool moves = range->factor ? range->from > 0 && range->to > 0 && range->step > 0 && (range->step > 1) == up &&
                                     range->step != 1
                               : range->step != 0 && (range->step > 0) == up;
    if (!moves && range->from != range->to)
        return fault_set(fault, "its step never gets from one end of the range to the other");
    double slack = 1e-9 * fmax(fabs(range->from), fabs(range->to));
    size_t count = 1;
    while (moves && count <= SWEEP_AXIS_VALUES_MAX &&
           (up ? range_value(range, count) <= range->to + slack : range_value(range, count) >= range->to - slack))
        count++;
    if (count > SWEEP_AXIS_VALUES_MAX)
        return fault_set(fault, "the range has more than %d values", SWEEP_AXIS_VALUES_MAX);
    axis->values = arena_array(arena, count, sizeof *axis->values);
    for (size_t i = 0; i < count; i++)
        axis->values[i] = write_value(range_value(range, i), range->unit, arena);
    axis->count = count;
    return true;
}

/* ---- an axis ---- */

bool sweep_axis_parse(const char *text, struct sweep_axis *axis, struct arena *arena, struct fault *fault)
{
    struct range range;
    struct fault reason = {""};
    const char *equals = strchr(text, '=');
    *axis = (struct sweep_axis){.kind = SWEEP_KEY, .key = text, .unit = ""};
    if (!equals || equals == text)
        return fault_set(fault, "--set %s: there is no '='; expected KEY=VALUES such as parallel.pipeline=4,8", text);
    axis->key = arena_print(arena, "%.*s", (int)(equals - text), text);
    bool ok = split_range(equals + 1, &range, arena) ? fill_range(&range, axis, arena, &reason)
                                                     : read_list(equals + 1, axis, arena, &reason);
    if (!ok)
        return fault_set(fault, "--set %s: %s", axis->key, reason.text);
    axis->labels = axis->values;
    find_numbers(axis, arena);
    return true;
}

const struct scenario_set *sweep_axis_sets(const char *value, size_t *count, struct arena *arena)
{
    size_t most = 1;
    for (const char *c = value; *c; c++)
        most += *c == ' ';
    struct scenario_set *sets = arena_array(arena, most, sizeof *sets);
    *count = 0;
    for (; *value; value += *value == ' ') {
        size_t length = strcspn(value, " ");
        sets[(*count)++] = (struct scenario_set){"--set", arena_print(arena, "%.*s", (int)length, value)};
        value += length;
    }
    return sets;
}

struct sweep_axis sweep_axis_of(enum sweep_axis_kind kind, const char **values, const char **labels, size_t count)
{
    static const char *const keys[] = {"", "schedule", "what_if", "variant"};
    return (struct sweep_axis){
        .kind = kind, .key = keys[kind], .values = values, .labels = labels, .count = count, .unit = ""};
}
