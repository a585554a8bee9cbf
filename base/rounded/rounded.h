/* SPDX-License-Identifier: Apache-2.0 */
/* exp, log, pow and their kin, the same bits on every processor. The C library's have an error of a unit in the last
 * place or two, and other code for processors with and without fused multiplication: its results depend on the machine.
 * These take sums, products and quotients of doubles alone, which IEEE 754 defines to the bit.
 *
 * A result is the double that is nearest to the exact value, unless that value lies within 2^-90 of itself of the
 * middle between two doubles: one argument in 2^36 or fewer. Errors are those of C's functions: a pole is an infinity,
 * what is not defined is no number; errno and exceptions are not said. About 0.3 us each. */
#ifndef STAGESIM_ROUNDED_H
#define STAGESIM_ROUNDED_H

double rounded_exp(double value);   /* e^value */
double rounded_exp2(double value);  /* 2^value */
double rounded_expm1(double value); /* e^value - 1, exact digits also where value is small */
double rounded_log(double value);
double rounded_log2(double value); /* whole for powers of two */
double rounded_log10(double value);
double rounded_log1p(double value); /* log(1 + value), exact digits also where value is small */
double rounded_pow(double base, double exponent);

#endif
