/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as users write them, with their unit: 1.5us, 80GiB, 400Gbps, 312Tf, 500W, 0.6, 8. */
#ifndef STAGESIM_QUANTITY_H
#define STAGESIM_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum quantity {
    QUANTITY_RATIO,  /* a plain number */
    QUANTITY_TIME,   /* seconds: ns us ms s min h */
    QUANTITY_BYTES,  /* B kB MB GB TB PB KiB MiB GiB TiB PiB */
    QUANTITY_RATE,   /* bytes per second, from bits (400Gbps) or bytes (25GBps, 20GiBps) */
    QUANTITY_FLOPS,  /* flop/s: f kf Mf Gf Tf Pf Ef */
    QUANTITY_POWER,  /* watts: W kW MW GW */
    QUANTITY_LENGTH, /* metres, of what is printed: mm cm in pt (1/72 in) px (1/96 in) */
};

/* Why a text is no quantity, with an example of what would be one; one line. */
struct quantity_reason {
    char text[256];
};

/* The value in SI units, correctly rounded: 3us is the same double as 3e-6. Negative numbers, numbers too large or too
 * small for the type, and anything after the unit are refused. False with the reason filled; *value is then untouched.
 */
bool quantity_parse(enum quantity type, const char *text, double *value, struct quantity_reason *reason);
/* A plain integer without sign or leading zeros. */
bool quantity_count(const char *text, uint64_t *value, struct quantity_reason *reason);

/* What a type is, with an example: "a time such as 1.5us". */
const char *quantity_expected(enum quantity type);

#endif
