/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns against a plain recursion, and patterns that a recursion never gets to the end of. */
#include "base/words/pattern.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>

static bool by_recursion(const char *pattern, const char *name)
{
    if (*pattern == '*')
        return by_recursion(pattern + 1, name) || (*name && by_recursion(pattern, name + 1));
    if (!*pattern || !*name)
        return !*pattern && !*name;
    return (*pattern == '?' || *pattern == *name) && by_recursion(pattern + 1, name + 1);
}

static uint32_t draw(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 16) % below;
}

Test(pattern, equals_recursion)
{
    uint32_t state = 1, matching = 0;
    enum { TRIES = 20000 };
    for (int i = 0; i < TRIES; i++) {
        char pattern[8] = "", name[8] = "";
        for (uint32_t k = draw(&state, 8); k-- > 0;)
            pattern[k] = "ab*?"[draw(&state, 4)];
        for (uint32_t k = draw(&state, 8); k-- > 0;)
            name[k] = "ab"[draw(&state, 2)];
        bool expected = by_recursion(pattern, name);
        matching += expected;
        cr_assert_eq(pattern_matches(pattern, name), expected, "'%s' and '%s'", pattern, name);
    }
    cr_assert(matching > TRIES / 20 && matching < TRIES / 2, "%u match", matching);
}

Test(pattern, names)
{
    cr_assert(pattern_means("a*", "a*", true) && !pattern_means("a*", "ab", true));
    cr_assert(pattern_means("a*", "a*", false) && pattern_means("a*", "ab", false) && !pattern_means("a", "ab", false));
}

Test(pattern, takes_no_time, .timeout = 10)
{
    enum { STARS = 1000, LENGTH = 10000 };
    static char pattern[2 * STARS + 2], name[LENGTH + 1];
    for (int i = 0; i < STARS; i++)
        snprintf(pattern + 2 * i, 3, "*a");
    pattern[2 * STARS] = 'b';
    for (int i = 0; i < LENGTH; i++)
        name[i] = 'a';
    cr_assert_not(pattern_matches(pattern, name));
    name[LENGTH - 1] = 'b';
    cr_assert(pattern_matches(pattern, name));
}
