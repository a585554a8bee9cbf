/* SPDX-License-Identifier: Apache-2.0 */
#include "base/words/pattern.h"

#include <stddef.h>
#include <string.h>

bool pattern_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *again = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = ++pattern;
            again = name;
        } else if (*pattern == *name || *pattern == '?') {
            pattern++;
            name++;
        } else if (star) {
            pattern = star;
            name = ++again;
        } else {
            return false;
        }
    }
    return !pattern[strspn(pattern, "*")];
}

bool pattern_means(const char *text, const char *name, bool exact)
{
    return exact ? strcmp(text, name) == 0 : pattern_matches(text, name);
}
