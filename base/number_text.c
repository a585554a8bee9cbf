/* SPDX-License-Identifier: Apache-2.0 */
#include "base/number_text.h"

#include "base/arena.h"
#include "base/figure.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_ENTRIES = 1 << 13, EXACT_DIGITS = 15 };

struct cached {
    double value;
    unsigned char length;
    char text[NUMBER_TEXT_MAX];
};

struct number_cache {
    struct cached entries[CACHE_ENTRIES]; /* by hash of the value; length 0: empty */
};

struct number_cache *number_cache_create(void)
{
    size_t capacity = 0;
    struct number_cache *cache = array_grow(NULL, &capacity, 1, sizeof *cache);
    for (size_t i = 0; i < CACHE_ENTRIES; i++)
        cache->entries[i].length = 0;
    return cache;
}

void number_cache_destroy(struct number_cache *cache)
{
    free(cache);
}

size_t number_write_integer(char *text, unsigned long long value)
{
    char digits[24];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    for (size_t i = 0; i < count; i++)
        text[i] = digits[count - 1 - i];
    return count;
}

/* Powers of ten that a double holds exactly. */
static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Writes digits with the point before the last `decimals` of them, without trailing zeros behind the point. */
static size_t write_decimal(char *text, uint64_t digits, int decimals)
{
    for (; decimals > 0 && digits % 10 == 0; decimals--)
        digits /= 10;
    if (decimals <= 0)
        return number_write_integer(text, digits);
    char plain[24];
    int count = (int)number_write_integer(plain, digits);
    size_t length = 0;
    if (count <= decimals) {
        text[length++] = '0';
        text[length++] = '.';
        for (int zero = count; zero < decimals; zero++)
            text[length++] = '0';
    }
    for (int i = 0; i < count; i++) {
        if (i > 0 && i == count - decimals)
            text[length++] = '.';
        text[length++] = plain[i];
    }
    return length;
}

/* Values between 1e-5 and 1e15 with at most 15 significant digits: digits / 10^decimals is one correctly rounded
 * division of exact doubles, so equality proves that the text reads back as the value. Returns 0 when it does not. */
static size_t write_short(char *text, double value)
{
    if (!(value >= 1e-5 && value < 1e15))
        return 0;
    int whole = 1;
    while (whole < EXACT_DIGITS && value >= powers[whole])
        whole++;
    for (int leading = 0; leading < 5 && value < powers[0] / powers[leading]; leading++)
        whole--;
    int decimals = EXACT_DIGITS - whole;
    double scaled = nearbyint(value * powers[decimals]);
    if (!(scaled < 9007199254740992.0) || scaled / powers[decimals] != value)
        return 0;
    return write_decimal(text, (uint64_t)scaled, decimals);
}

/* snprintf writes the locale's decimal point. */
static size_t write_long(char *text, double value)
{
    char buffer[NUMBER_TEXT_MAX];
    int length = 0;
    for (int precision = EXACT_DIGITS; precision <= 17; precision++) {
        length = snprintf(buffer, sizeof buffer, "%.*g", precision, value);
        if (strtod(buffer, NULL) == value)
            break;
    }
    for (int i = 0; i < length; i++)
        text[i] = strchr("0123456789+-e", buffer[i]) ? buffer[i] : '.';
    return (size_t)length;
}

size_t number_write(char *text, double value)
{
    if (!isfinite(value)) {
        figure("a number", value);
        value = 0;
    }
    if (value == 0) {
        text[0] = '0';
        return 1;
    }
    size_t sign = value < 0;
    if (sign)
        text[0] = '-';
    size_t length = write_short(text + sign, fabs(value));
    return length ? length + sign : write_long(text, value);
}

size_t number_write_cached(struct number_cache *cache, char *text, double value)
{
    if (!cache)
        return number_write(text, value);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    struct cached *entry = &cache->entries[bits * 0x9e3779b97f4a7c15u >> 51];
    if (!entry->length || entry->value != value) {
        entry->length = (unsigned char)number_write(entry->text, value);
        entry->value = value;
    }
    memcpy(text, entry->text, entry->length);
    return entry->length;
}
