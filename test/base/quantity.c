/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct good {
    enum quantity type;
    const char *text;
    double value;
};

Test(quantity, values_are_rounded_once)
{
    static const struct good cases[] = {
        {QUANTITY_RATIO, "0.6", 0.6},
        {QUANTITY_RATIO, "0", 0},
        {QUANTITY_RATIO, "1e3", 1e3},
        {QUANTITY_RATIO, "2.5E-3", 2.5e-3},
        {QUANTITY_TIME, "1.5us", 1.5e-6},
        {QUANTITY_TIME, "3us", 3e-6}, /* 3 * 1e-6 is another double */
        {QUANTITY_TIME, "7ns", 7e-9},
        {QUANTITY_TIME, "2min", 120},
        {QUANTITY_TIME, "1.5h", 5400},
        {QUANTITY_TIME, "1e3ms", 1},
        {QUANTITY_TIME, "0s", 0},
        {QUANTITY_TIME, "0.000s", 0},
        {QUANTITY_BYTES, "80GiB", 85899345920.0},
        {QUANTITY_BYTES, "0B", 0},
        {QUANTITY_BYTES, "1.5kB", 1500},
        {QUANTITY_BYTES, "2TB", 2e12},
        {QUANTITY_RATE, "400Gbps", 5e10},
        {QUANTITY_RATE, "25GBps", 2.5e10},
        {QUANTITY_RATE, "1GiBps", 1073741824.0},
        {QUANTITY_RATE, "8bps", 1},
        {QUANTITY_FLOPS, "312Tf", 3.12e14},
        {QUANTITY_FLOPS, "1Ef", 1e18},
        {QUANTITY_POWER, "500W", 500},
        {QUANTITY_POWER, "1.5kW", 1500},
        {QUANTITY_POWER, "2MW", 2e6},
        {QUANTITY_LENGTH, "84mm", 0.084},
        {QUANTITY_LENGTH, "1in", 0.0254},
        {QUANTITY_LENGTH, "72pt", 0.0254},
        {QUANTITY_LENGTH, "96px", 0.0254},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = NAN;
        struct quantity_reason reason;
        cr_assert(quantity_parse(cases[i].type, cases[i].text, &value, &reason), "%s: %s", cases[i].text, reason.text);
        cr_assert_eq(value, cases[i].value, "%s is %.17g, not %.17g", cases[i].text, value, cases[i].value);
    }
}

struct bad {
    enum quantity type;
    const char *text, *reason; /* reason: what the message must say */
};

Test(quantity, mistakes_say_what_was_expected)
{
    static const struct bad cases[] = {
        {QUANTITY_TIME, "", "is missing; expected a time such as 1.5us"},
        {QUANTITY_TIME, "1", "has no unit; expected a time such as 1.5us"},
        {QUANTITY_TIME, "-1s", "is negative"},
        {QUANTITY_TIME, "-0s", "is negative"},
        {QUANTITY_TIME, "+1s", "does not begin with a digit"},
        {QUANTITY_TIME, "1 s", "a blank after the number"},
        {QUANTITY_TIME, "1GB", "is a size; expected a time"},
        {QUANTITY_TIME, "1sec", "'sec' is no unit of a time"},
        {QUANTITY_TIME, "01s", "leading zero"},
        {QUANTITY_TIME, "nan", "is not finite"},
        {QUANTITY_TIME, ".nan", "is not finite"},
        {QUANTITY_TIME, "-.inf", "is not finite"},
        {QUANTITY_TIME, "Infinity", "is not finite"},
        {QUANTITY_TIME, "1e400s", "is too large"},
        {QUANTITY_TIME, "1e16s", "is too large"},
        {QUANTITY_TIME, "1e-400s", "is too small"},
        {QUANTITY_TIME, "1e99999999999999999999s", "is too large"},
        {QUANTITY_TIME, "0x10s", "'x10s' is no unit"},
        {QUANTITY_TIME, "1,5s", "',5s' is no unit"},
        {QUANTITY_TIME, "1.s", "'.s' is no unit"},
        {QUANTITY_TIME, "1es", "'es' is no unit"},
        {QUANTITY_BYTES, "80", "has no unit; expected a size such as 80GiB"},
        {QUANTITY_BYTES, "80Gb", "'Gb' is no unit of a size (B kB MB"},
        {QUANTITY_BYTES, "25GBps", "is a rate; expected a size"},
        {QUANTITY_RATE, "25GB", "is a size; expected a rate such as 400Gbps (bits per second) or 25GBps"},
        {QUANTITY_FLOPS, "312T", "'T' is no unit of a speed"},
        {QUANTITY_POWER, "500", "has no unit; expected a power such as 500W or 2MW"},
        {QUANTITY_POWER, "500GiB", "is a size; expected a power"},
        {QUANTITY_RATIO, "60%", "has text after the number"},
        {QUANTITY_RATIO, "1s", "is a time; expected a plain number such as 0.6"},
        {QUANTITY_RATIO, "1e16", "is too large"},
        {QUANTITY_RATIO, "00", "leading zero"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = 42;
        struct quantity_reason reason;
        cr_assert(!quantity_parse(cases[i].type, cases[i].text, &value, &reason), "'%s' was accepted", cases[i].text);
        cr_assert(strstr(reason.text, cases[i].reason), "'%s': %s", cases[i].text, reason.text);
        cr_assert_eq(value, 42, "'%s' changed the value", cases[i].text);
    }
}

Test(quantity, units_that_were_meant)
{
    static const struct {
        enum quantity type;
        const char *text, *meant; /* NULL: nothing is offered */
    } cases[] = {
        {QUANTITY_TIME, "14sec", "14s"},
        {QUANTITY_TIME, "3msec", "3ms"},
        {QUANTITY_TIME, "2.5e3usec", "2.5e3us"},
        {QUANTITY_TIME, "3\xc2\xb5s", "3us"},
        {QUANTITY_TIME, "2Hours", "2h"},
        {QUANTITY_TIME, "5minutes", "5min"},
        {QUANTITY_TIME, "3m", NULL},
        {QUANTITY_TIME, "3parsecs", NULL},
        {QUANTITY_BYTES, "80Gi", "80GiB"},
        {QUANTITY_BYTES, "80G", "80GB"},
        {QUANTITY_BYTES, "80kb", "80kB"},
        {QUANTITY_BYTES, "80KIB", "80KiB"},
        {QUANTITY_BYTES, "80MBytes", "80MB"},
        {QUANTITY_BYTES, "80apples", NULL},
        {QUANTITY_RATE, "10GBs", "10GBps"},
        {QUANTITY_RATE, "10GB/s", "10GBps"},
        {QUANTITY_RATE, "10Gb/s", "10Gbps"},
        {QUANTITY_RATE, "10Gbit/s", "10Gbps"},
        {QUANTITY_RATE, "10GiB/s", "10GiBps"},
        {QUANTITY_FLOPS, "312T", "312Tf"},
        {QUANTITY_FLOPS, "312TFLOPS", "312Tf"},
        {QUANTITY_FLOPS, "312Tflop/s", "312Tf"},
        {QUANTITY_FLOPS, "1.5Pflops/s", "1.5Pf"},
        {QUANTITY_FLOPS, "312W", NULL},
        {QUANTITY_POWER, "500w", "500W"},
        {QUANTITY_POWER, "2megawatts", NULL},
        {QUANTITY_POWER, "500watts", "500W"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct quantity_reason reason = {""};
        double value = 0;
        char expected[64];
        snprintf(expected, sizeof expected, "did you mean '%s'?", cases[i].meant ? cases[i].meant : "");
        cr_assert(!quantity_parse(cases[i].type, cases[i].text, &value, &reason));
        const char *offer = strstr(reason.text, "did you mean");
        cr_assert(cases[i].meant ? offer && !strcmp(offer, expected) : !offer, "%s: %s", cases[i].text, reason.text);
    }
}

Test(quantity, endless_digits_are_refused)
{
    char text[400];
    struct quantity_reason reason;
    double value;
    memset(text, '1', sizeof text);
    strcpy(text + 300, "s");
    cr_assert(!quantity_parse(QUANTITY_TIME, text, &value, &reason));
    cr_assert(strstr(reason.text, "more than 64 digits"));
}

Test(quantity, counts)
{
    uint64_t value = 0;
    struct quantity_reason reason;
    cr_assert(quantity_count("18446744073709551615", &value, &reason));
    cr_assert_eq(value, UINT64_MAX);
    cr_assert(quantity_count("0", &value, &reason));
    cr_assert_eq(value, 0);
    static const struct bad cases[] = {
        {0, "18446744073709551616", "too large"},
        {0, "08", "leading zero"},
        {0, "8.0", "text after the digits"},
        {0, "-8", "is negative"},
        {0, "8k", "text after the digits"},
        {0, "", "is missing"},
        {0, "1e3", "text after the digits"},
        {0, "eight", "does not begin with a digit; expected a plain integer such as 8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert(!quantity_count(cases[i].text, &value, &reason), "'%s' was accepted", cases[i].text);
        cr_assert(strstr(reason.text, cases[i].reason), "'%s': %s", cases[i].text, reason.text);
    }
}

/* Every unit of every type is told apart from the others: none is in two tables. */
Test(quantity, units_are_unambiguous)
{
    static const char *const units[] = {"s",     "ms",    "us",    "ns",    "min", "h",    "B",    "kB",   "MB",
                                        "GB",    "TB",    "PB",    "KiB",   "MiB", "GiB",  "TiB",  "PiB",  "bps",
                                        "kbps",  "Mbps",  "Gbps",  "Tbps",  "Bps", "kBps", "MBps", "GBps", "TBps",
                                        "KiBps", "MiBps", "GiBps", "TiBps", "f",   "kf",   "Mf",   "Gf",   "Tf",
                                        "Pf",    "Ef",    "W",     "kW",    "MW",  "GW"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        char text[32];
        int accepted = 0;
        snprintf(text, sizeof text, "1%s", units[i]);
        for (enum quantity type = QUANTITY_RATIO; type <= QUANTITY_POWER; type++) {
            double value;
            struct quantity_reason reason;
            accepted += quantity_parse(type, text, &value, &reason);
        }
        cr_assert_eq(accepted, 1, "%s belongs to %d types", text, accepted);
    }
}
