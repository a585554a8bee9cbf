/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/import/hostlist.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 256, DIGITS_MAX = 9 };

/* One name with brackets being written out: what stands there so far, and what is left of the pattern. */
struct expansion {
    const struct hostlist_taker *taker;
    struct fault *fault;
    uint32_t count;
    char name[NAME_MAX_LENGTH];
};

static bool expand_rest(struct expansion *e, size_t length, const char *rest, const char *end);

static bool append(struct expansion *e, size_t *length, const char *text, size_t size)
{
    if (*length + size >= NAME_MAX_LENGTH)
        return fault_set(e->fault, "a name of more than %d characters", NAME_MAX_LENGTH - 1);
    memcpy(e->name + *length, text, size);
    *length += size;
    return true;
}

/* "3" or "03-12". The width is that of the first number. */
static bool read_range(struct expansion *e, const char **at, uint32_t *low, uint32_t *high, int *width)
{
    size_t first = strspn(*at, "0123456789");
    if (!first || first > DIGITS_MAX)
        return fault_set(e->fault, "expected a number of at most %d digits in brackets at '%.20s'", DIGITS_MAX, *at);
    *width = (int)first;
    *low = *high = (uint32_t)strtoul(*at, NULL, 10);
    *at += first;
    if (**at != '-')
        return true;
    size_t second = strspn(*at + 1, "0123456789");
    if (!second || second > DIGITS_MAX)
        return fault_set(e->fault, "expected a number of at most %d digits behind '-' at '%.20s'", DIGITS_MAX, *at);
    *high = (uint32_t)strtoul(*at + 1, NULL, 10);
    *at += 1 + second;
    return *high >= *low || fault_set(e->fault, "the range %u-%u counts down", *low, *high);
}

static bool expand_range(struct expansion *e, size_t length, uint32_t low, uint32_t high, int width, const char *rest,
                         const char *end)
{
    for (uint32_t i = low; i <= high; i++) {
        char number[16];
        size_t size = (size_t)snprintf(number, sizeof number, "%0*u", width, i), now = length;
        if (!append(e, &now, number, size) || !expand_rest(e, now, rest, end))
            return false;
    }
    return true;
}

/* Brackets at `at`. */
static bool expand_brackets(struct expansion *e, size_t length, const char *at, const char *end)
{
    const char *close = memchr(at, ']', (size_t)(end - at));
    if (!close)
        return fault_set(e->fault, "'[' without ']' at '%.20s'", at);
    if (close == at + 1)
        return fault_set(e->fault, "empty brackets at '%.20s'", at);
    for (at++; at < close; at += *at == ',') {
        uint32_t low = 0, high = 0;
        int width = 0;
        if (!read_range(e, &at, &low, &high, &width))
            return false;
        if (*at != ',' && at != close)
            return fault_set(e->fault, "expected ',' or ']' at '%.20s'", at);
        if (!expand_range(e, length, low, high, width, close + 1, end))
            return false;
    }
    return true;
}

static bool expand_rest(struct expansion *e, size_t length, const char *rest, const char *end)
{
    const char *bracket = memchr(rest, '[', (size_t)(end - rest));
    if (!append(e, &length, rest, (size_t)((bracket ? bracket : end) - rest)))
        return false;
    if (bracket)
        return expand_brackets(e, length, bracket, end);
    if (++e->count > HOSTLIST_MOST)
        return fault_set(e->fault, "more than %d names", HOSTLIST_MOST);
    e->name[length] = '\0';
    return e->taker->take(e->taker->user, e->name);
}

/* The end of the name at the beginning: a comma outside of brackets. */
static const char *name_end(const char *list)
{
    int open = 0;
    for (; *list && (*list != ',' || open); list++)
        open = *list == '[' ? 1 : *list == ']' ? 0 : open;
    return list;
}

bool hostlist_expand(const char *list, const struct hostlist_taker *taker, struct fault *fault)
{
    struct expansion e = {.taker = taker, .fault = fault};
    for (const char *end;; list = end + 1) {
        end = name_end(list);
        if (end == list)
            return fault_set(fault, "an empty name in a list");
        if (!expand_rest(&e, 0, list, end))
            return false;
        if (!*end)
            return true;
    }
}
