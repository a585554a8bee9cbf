/* SPDX-License-Identifier: Apache-2.0 */
#include "base/figure.h"

#include <math.h>
#include <stdio.h>

enum { NAME_MAX_SIZE = 96 };

/* The first one that is not finite: writers that know nothing of each other share the process's outputs. */
static struct {
    bool noted;
    double value;
    char name[NAME_MAX_SIZE];
} first;

double figure(const char *name, double value)
{
    if (isfinite(value) || first.noted)
        return value;
    first.noted = true;
    first.value = value;
    snprintf(first.name, sizeof first.name, "%s", name);
    diag_clean(first.name, sizeof first.name);
    return value;
}

bool figures_finite(struct fault *fault)
{
    return !first.noted || fault_set(fault,
                                     "%s is %s, not a finite number: values of the input are too large or too small to "
                                     "be computed with; nothing is written",
                                     first.name, isnan(first.value) ? "not a number" : "infinite");
}
