/* SPDX-License-Identifier: Apache-2.0 */
/* Which profiles are taken and which are refused, at the bounds of each rule (SimGrid's manual, "Traces"). */
#include "platforms/profiles.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *text;
    double periodicity;
    const char *said; /* NULL: taken */
} cases[] = {
    {"0 1\n5 0.5\n", -1, NULL},
    {"# a comment\n\n% another\n  0 1  \n5 0.5 # behind it\n", -1, NULL},
    {"5 1\n5 0.5\n", -1, NULL},
    {"5 1\n4.9 0.5\n", -1, "the date 4.9 comes after 5"},
    {"5\n", -1, "line 1"},
    {"5 1 2\n", -1, "'2' follows"},
    {"-1 1\n", -1, "line 1"},
    {"0 -0.5\n", -1, "line 1"},
    {"0 nan\n", -1, "line 1"},
    {"0 1x\n", -1, "line 1"},
    /* repetition by <trace> or by a line of its own */
    {"0 1\n5 0.5\n", 0, NULL},
    {"0 1\n5 0.5\n", 5, NULL},
    {"0 1\n5 0.5\n", 4.9, "has an event at 5 s"},
    {"PERIODICITY 5\n0 1\n5 0.5\n", -1, NULL},
    {"PERIODICITY 4\n0 1\n5 0.5\n", -1, "has an event at 5 s"},
    {"PERIODICITY -1\n0 1\n", -1, "PERIODICITY is the time"},
    {"PERIODICITY 0\n0 1\n", -1, "PERIODICITY is the time"},
    {"LOOPAFTER 0\n0 1\n0.000001 0.5\n", -1, NULL},
    {"LOOPAFTER 0\n0 1\n0.0000009 0.5\n", -1, "never get past"},
    {"LOOPAFTER 1e-6\n0 1\n", -1, NULL},
    {"LOOPAFTER 9e-7\n0 1\n", -1, "never get past"},
    {"LOOPAFTER 1\n", -1, "has no event"},
    {"LOOPAFTER 1\n0 1\n", 5, "neither with STOCHASTIC nor with LOOPAFTER"},
    /* drawn numbers */
    {"STOCHASTIC\nDET 1 DET 0.5\nEXP 2 UNIF 0.1 0.9\n", -1, NULL},
    {"STOCHASTIC LOOP\nDET 1 DET 0.5\n", -1, NULL},
    {"STOCHASTIC LOOP\nDET 0 DET 0.5\n", -1, "never get past"},
    {"STOCHASTIC LOOP\nDET 5e-7 DET 1\nDET 5e-7 DET 0.5\n", -1, NULL},
    {"STOCHASTIC LOOP\nUNIF 0 1.8e-6 DET 1\n", -1, "never get past"},
    {"STOCHASTIC LOOP\nUNIF 0 2e-6 DET 1\n", -1, NULL},
    {"STOCHASTIC LOOP\nEXP 1e6 DET 1\n", -1, NULL},
    {"STOCHASTIC LOOP\nEXP 2e6 DET 1\n", -1, "never get past"},
    {"STOCHASTIC\nDET 1 DET 0.5\n", 5, "neither with STOCHASTIC"},
    {"STOCHASTIC\n1 0.5\n", -1, "none of DET"},
    {"STOCHASTIC\nUNIF 2 1 DET 1\n", -1, "the least comes first"},
    {"STOCHASTIC\nUNIF 1 1 DET 1\n", -1, NULL},
    {"STOCHASTIC\nEXP 0 DET 1\n", -1, "a rate is above 0"},
    {"STOCHASTIC\nNORM 5 1 DET 1\n", -1, NULL},
    {"STOCHASTIC\nNORM 4.9 1 DET 1\n", -1, "5 deviations"},
    {"UNIF 1 2 DET 1\n", -1, "STOCHASTIC comes before"},
    {"0 1\nSTOCHASTIC\n", -1, "before the first event"},
};

Test(profiles, rules)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        struct fault fault = {""};
        snprintf(text, sizeof text, "%s", cases[i].text);
        bool taken = profile_check(text, cases[i].periodicity, &fault);
        if (cases[i].said)
            cr_assert(!taken && strstr(fault.text, cases[i].said), "%s\nsaid '%s', expected '%s'", cases[i].text,
                      fault.text, cases[i].said);
        else
            cr_assert(taken, "%s\nsaid '%s'", cases[i].text, fault.text);
    }
}

Test(profiles, the_line_of_a_mistake)
{
    char text[] = "# one\n0 1\n\n3 x\n";
    struct fault fault = {""};
    cr_assert(!profile_check(text, -1, &fault) && strstr(fault.text, "4"), "%s", fault.text);
}
