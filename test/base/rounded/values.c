/* SPDX-License-Identifier: Apache-2.0 */
/* values: reads lines such as "pow 0x1.8p+0 0x1p-1" and prints what base/rounded makes of each. */
#include "base/rounded/rounded.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    double (*function)(double);
} functions[] = {
    {"exp", rounded_exp},   {"exp2", rounded_exp2},   {"expm1", rounded_expm1}, {"log", rounded_log},
    {"log2", rounded_log2}, {"log10", rounded_log10}, {"log1p", rounded_log1p},
};

int main(void)
{
    char name[16];
    double value, exponent;
    while (scanf("%15s %lf", name, &value) == 2) {
        if (strcmp(name, "pow") == 0 && scanf("%lf", &exponent) == 1)
            printf("%a\n", rounded_pow(value, exponent));
        for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
            if (strcmp(name, functions[i].name) == 0)
                printf("%a\n", functions[i].function(value));
    }
    return 0;
}
