/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"

#include "base/diagnostics.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    SHOWN = 40,           /* bytes of the user's text that a reason repeats */
    MANTISSA_MAX = 64,    /* digits of a number */
    EXPONENT_MAX = 99999, /* larger ones are cut to this: too large for any type */
};

struct unit {
    const char *name;
    int shift;     /* decimal exponent */
    double factor; /* exact in binary, the seconds of a minute or an hour, or a part of an inch */
};

static const struct unit multiples[] = {{"k", 3, 1}, {"M", 6, 1}, {"G", 9, 1}, {"T", 12, 1}, {NULL, 0, 0}};
static const struct unit times[] = {{"s", 0, 1},    {"ms", -3, 1},  {"us", -6, 1},   {"ns", -9, 1},
                                    {"min", 0, 60}, {"h", 0, 3600}, {"d", 0, 86400}, {NULL, 0, 0}};
static const struct unit sizes[] = {{"B", 0, 1},        {"kB", 3, 1},       {"MB", 6, 1},       {"GB", 9, 1},
                                    {"TB", 12, 1},      {"PB", 15, 1},      {"KiB", 0, 0x1p10}, {"MiB", 0, 0x1p20},
                                    {"GiB", 0, 0x1p30}, {"TiB", 0, 0x1p40}, {"PiB", 0, 0x1p50}, {NULL, 0, 0}};
static const struct unit rates[] = {
    {"bps", 0, 0.125},    {"kbps", 3, 0.125},   {"Mbps", 6, 0.125},   {"Gbps", 9, 0.125},   {"Tbps", 12, 0.125},
    {"Bps", 0, 1},        {"kBps", 3, 1},       {"MBps", 6, 1},       {"GBps", 9, 1},       {"TBps", 12, 1},
    {"KiBps", 0, 0x1p10}, {"MiBps", 0, 0x1p20}, {"GiBps", 0, 0x1p30}, {"TiBps", 0, 0x1p40}, {NULL, 0, 0}};
static const struct unit flops[] = {{"f", 0, 1},   {"kf", 3, 1},  {"Mf", 6, 1},  {"Gf", 9, 1},
                                    {"Tf", 12, 1}, {"Pf", 15, 1}, {"Ef", 18, 1}, {NULL, 0, 0}};
static const struct unit powers[] = {{"W", 0, 1}, {"kW", 3, 1}, {"MW", 6, 1}, {"GW", 9, 1}, {NULL, 0, 0}};
static const struct unit lengths[] = {{"mm", -3, 1},          {"cm", -2, 1},          {"in", 0, 0.0254},
                                      {"pt", 0, 0.0254 / 72}, {"px", 0, 0.0254 / 96}, {NULL, 0, 0}};

static const struct type {
    const char *name, *expected;
    const struct unit *units;
    double most; /* sums of many such values stay finite */
    bool bare;   /* it needs no unit */
} types[] = {
    [QUANTITY_RATIO] = {"number", "a plain number such as 0.6", multiples, 1e15, true},
    [QUANTITY_TIME] = {"time", "a time such as 1.5us", times, 1e15},
    [QUANTITY_BYTES] = {"size", "a size such as 80GiB", sizes, 1e24},
    [QUANTITY_RATE] = {"rate", "a rate such as 400Gbps (bits per second) or 25GBps (bytes per second)", rates, 1e24},
    [QUANTITY_FLOPS] = {"speed", "a speed such as 312Tf (flop/s)", flops, 1e27},
    [QUANTITY_POWER] = {"power", "a power such as 500W or 2MW", powers, 1e12},
    [QUANTITY_LENGTH] = {"length", "a length such as 84mm", lengths, 1e3},
};
enum { TYPES = sizeof types / sizeof types[0] };

static const char *const count_expected = "a plain integer such as 8";

const char *quantity_expected(enum quantity type)
{
    return types[type].expected;
}

__attribute__((format(printf, 2, 3))) static bool refuse(struct quantity_reason *reason, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason->text, sizeof reason->text, format, arguments);
    va_end(arguments);
    return false;
}

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* What is wrong with a text that does not begin with a number. */
static bool refuse_start(const char *text, const char *expected, struct quantity_reason *reason)
{
    const char *word = text + strspn(text, "+-.");
    if (!*text)
        return refuse(reason, "the value is missing; expected %s", expected);
    if (!strncasecmp(word, "nan", 3) || !strncasecmp(word, "inf", 3))
        return refuse(reason, "'%.*s' is not finite; expected %s", SHOWN, text, expected);
    if (text[0] == '-' && isdigit((unsigned char)text[1]))
        return refuse(reason, "'%.*s' is negative; expected %s", SHOWN, text, expected);
    return refuse(reason, "'%.*s' does not begin with a digit; expected %s", SHOWN, text, expected);
}

struct number {
    const char *mantissa;
    size_t length; /* of the mantissa */
    int exponent;
    const char *rest;
};

/* DIGITS [. DIGITS] [e [+-] DIGITS]. An e that no digit follows belongs to the unit. */
static bool scan_number(const char *text, const char *expected, struct number *number, struct quantity_reason *reason)
{
    size_t length = digits(text);
    if (!length)
        return refuse_start(text, expected, reason);
    if (text[0] == '0' && length > 1)
        return refuse(reason, "'%.*s' has a leading zero; expected %s", SHOWN, text, expected);
    if (text[length] == '.' && digits(text + length + 1))
        length += 1 + digits(text + length + 1);
    if (length > MANTISSA_MAX)
        return refuse(reason, "'%.*s...' has more than %d digits", SHOWN, text, MANTISSA_MAX);
    *number = (struct number){.mantissa = text, .length = length, .rest = text + length};
    const char *exponent = number->rest;
    if (*exponent != 'e' && *exponent != 'E')
        return true;
    bool negative = exponent[1] == '-';
    exponent += exponent[1] == '-' || exponent[1] == '+' ? 2 : 1;
    if (!digits(exponent))
        return true;
    for (; isdigit((unsigned char)*exponent); exponent++)
        if (number->exponent < EXPONENT_MAX)
            number->exponent = number->exponent * 10 + (*exponent - '0');
    if (negative)
        number->exponent = -number->exponent;
    number->rest = exponent;
    return true;
}

static const struct unit *find_unit(const struct unit *units, const char *name)
{
    for (; units->name; units++)
        if (!strcmp(units->name, name))
            return units;
    return NULL;
}

/* Endings as they are often written, and as they are here, what stands before them being a prefix. */
static const struct spelling {
    const char *theirs, *ours;
} spellings[] = {
    {"seconds", "s"}, {"second", "s"},  {"secs", "s"},     {"sec", "s"},   {"minutes", "min"}, {"minute", "min"},
    {"mins", "min"},  {"days", "d"},    {"day", "d"},      {"hours", "h"}, {"hour", "h"},      {"hrs", "h"},
    {"hr", "h"},      {"bit/s", "bps"}, {"bits/s", "bps"}, {"/s", "ps"},   {"flop/s", "f"},    {"flops/s", "f"},
    {"flops", "f"},   {"flop", "f"},    {"bytes", "B"},    {"byte", "B"},  {"watts", "W"},     {"watt", "W"},
};

/* The unit that these many letters and an ending make, if there is one; with other capitals if there is none with
 * these. */
static const struct unit *find_spelt(const struct unit *units, const char *prefix, size_t length, const char *ending)
{
    const struct unit *found = NULL;
    for (; units->name; units++) {
        const char *name = units->name;
        if (strlen(name) != length + strlen(ending) || strncasecmp(name, prefix, length) ||
            strcasecmp(name + length, ending))
            continue;
        if (!strncmp(name, prefix, length) && !strcmp(name + length, ending))
            return units;
        found = found ? found : units;
    }
    return found;
}

/* What is left out of a unit most often. */
static const char *ending_of(const struct type *type)
{
    return type->units == sizes     ? "B"
           : type->units == flops   ? "f"
           : type->units == lengths ? "m"
           : type->units == powers  ? "W"
                                    : "ps";
}

/* The unit that was meant, or NULL: spelt in another way, with other capitals, cut short, or the nearest. */
static const char *unit_meant(const struct type *type, const char *name)
{
    const char *names[16];
    size_t count = 0, length = strlen(name);
    const struct unit *found = find_spelt(type->units, name, length, "");
    if (!strncmp(name, "\xc2\xb5", 2) || !strncmp(name, "\xce\xbc", 2)) /* the two characters of micro */
        return type->units == times ? "us" : NULL;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings && !found; i++) {
        size_t end = strlen(spellings[i].theirs);
        if (length >= end && !strcasecmp(name + length - end, spellings[i].theirs))
            found = find_spelt(type->units, name, length - end, spellings[i].ours);
    }
    if (!found && type->units != times)
        found = find_spelt(type->units, name, length, ending_of(type));
    for (const struct unit *unit = type->units; unit->name; unit++)
        names[count++] = unit->name;
    return found ? found->name : diag_nearest(name, names, count);
}

static bool refuse_unit(const struct type *type, const char *text, const char *unit, struct quantity_reason *reason)
{
    if (!*unit)
        return refuse(reason, "'%.*s' has no unit; expected %s", SHOWN, text, type->expected);
    if (*unit == ' ')
        return refuse(reason, "'%.*s' has a blank after the number; expected %s", SHOWN, text, type->expected);
    for (const struct type *other = types; other < types + TYPES; other++)
        if (!other->bare && find_unit(other->units, unit))
            return refuse(reason, "'%.*s' is a %s; expected %s", SHOWN, text, other->name, type->expected);
    if (type->bare)
        return refuse(reason, "'%.*s' has text after the number; expected %s", SHOWN, text, type->expected);
    char list[128] = "";
    for (const struct unit *known = type->units; known->name; known++) {
        strcat(list, known == type->units ? "" : " ");
        strcat(list, known->name);
    }
    const char *meant = unit_meant(type, unit);
    if (meant)
        return refuse(reason, "'%.*s' is no unit of a %s (%s); did you mean '%.*s%s'?", SHOWN, unit, type->name, list,
                      (int)(unit - text), text, meant);
    return refuse(reason, "'%.*s' is no unit of a %s (%s); expected %s", SHOWN, unit, type->name, list, type->expected);
}

/* strtod of the decimal digits with the unit's exponent added rounds once, where a multiplication would round twice. */
static double scale(const struct number *number, const struct unit *unit)
{
    char decimal[MANTISSA_MAX + 16];
    snprintf(decimal, sizeof decimal, "%.*se%d", (int)number->length, number->mantissa,
             number->exponent + (unit ? unit->shift : 0));
    return strtod(decimal, NULL) * (unit ? unit->factor : 1);
}

static bool is_zero(const struct number *number)
{
    return strspn(number->mantissa, "0.") >= number->length;
}

bool quantity_parse(enum quantity type, const char *text, double *value, struct quantity_reason *reason)
{
    const struct type *info = &types[type];
    struct number number = {.rest = ""};
    if (!scan_number(text, info->expected, &number, reason))
        return false;
    const struct unit *unit = find_unit(info->units, number.rest);
    bool plain = info->bare && !*number.rest;
    if (!unit && !plain)
        return refuse_unit(info, text, number.rest, reason);
    double result = scale(&number, unit);
    if (result > info->most)
        return refuse(reason, "'%.*s' is too large; expected %s", SHOWN, text, info->expected);
    if (result == 0 && !is_zero(&number))
        return refuse(reason, "'%.*s' is too small; expected %s", SHOWN, text, info->expected);
    *value = result;
    return true;
}

bool quantity_count(const char *text, uint64_t *value, struct quantity_reason *reason)
{
    size_t length = digits(text);
    if (!length)
        return refuse_start(text, count_expected, reason);
    if (text[0] == '0' && length > 1)
        return refuse(reason, "'%.*s' has a leading zero; expected %s", SHOWN, text, count_expected);
    if (text[length])
        return refuse(reason, "'%.*s' has text after the digits; expected %s", SHOWN, text, count_expected);
    uint64_t result = 0;
    for (const char *next = text; *next; next++) {
        uint64_t digit = (uint64_t)(*next - '0');
        if (result > (UINT64_MAX - digit) / 10)
            return refuse(reason, "'%.*s' is too large; expected %s", SHOWN, text, count_expected);
        result = result * 10 + digit;
    }
    *value = result;
    return true;
}
