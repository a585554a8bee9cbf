/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/units.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { PREFIXES = 8 };

static const char *const decimal[PREFIXES] = {"k", "M", "G", "T", "P", "E", "Z", "Y"};
static const char *const binary[PREFIXES] = {"Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi"};
static const char *const words[PREFIXES] = {"kilo", "mega", "giga", "tera", "peta", "exa", "zeta", "yotta"};

/* A unit with one of the prefixes, or without: *scale is the unit's value times the base for each prefix up to it. */
static bool prefixed(const char *text, const char *unit, double value, const char *const *prefixes, double base,
                     double *scale)
{
    if (!strcmp(text, unit)) {
        *scale = value;
        return true;
    }
    for (unsigned i = 0; i < PREFIXES; i++) {
        size_t length = strlen(prefixes[i]);
        value *= base;
        if (!strncmp(text, prefixes[i], length) && !strcmp(text + length, unit)) {
            *scale = value;
            return true;
        }
    }
    return false;
}

static bool bandwidth_scale(const char *unit, double *scale)
{
    return prefixed(unit, "Bps", 1, decimal, 1000, scale) || prefixed(unit, "bps", 0.125, decimal, 1000, scale) ||
           prefixed(unit, "Bps", 1, binary, 1024, scale) || prefixed(unit, "bps", 0.125, binary, 1024, scale);
}

static bool speed_scale(const char *unit, double *scale)
{
    return prefixed(unit, "f", 1, decimal, 1000, scale) || prefixed(unit, "flops", 1, words, 1000, scale);
}

static bool time_scale(const char *unit, double *scale)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"s", 1},  {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12},
                 {"m", 60}, {"h", 3600},  {"d", 86400}, {"w", 604800}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(unit, units[i].name)) {
            *scale = units[i].seconds;
            return true;
        }
    return false;
}

static bool parse(const char *text, bool (*scale_of)(const char *unit, double *scale), double *value)
{
    char *unit;
    double scale = 1;
    errno = 0;
    double number = strtod(text, &unit);
    if (errno == ERANGE || unit == text || (*unit && !scale_of(unit, &scale)))
        return false;
    *value = number * scale;
    return true;
}

bool units_bandwidth(const char *text, double *value)
{
    return parse(text, bandwidth_scale, value);
}

bool units_time(const char *text, double *value)
{
    return parse(text, time_scale, value);
}

bool units_speed(const char *text, double *value)
{
    return parse(text, speed_scale, value);
}
