/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of random numbers. What is drawn for a node, a link or a run has a stream of its own, named by numbers: one
 * more of them changes no other's. The same bits on every processor. */
#ifndef STAGESIM_DRAWS_H
#define STAGESIM_DRAWS_H

#include <stdint.h>

/* A stream; any state begins one. */
struct draws {
    uint64_t state;
};

/* The stream of an entity: what it is drawn for (a number of the caller's) and which of them. */
struct draws draws_of(uint64_t seed, uint64_t purpose, uint64_t entity);

/* 64 bits by splitmix64: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014. */
uint64_t draw_bits(struct draws *draws);
/* In [0, 1), a multiple of 2^-53. */
double draw_unit(struct draws *draws);
/* A whole number below `count`, which is not 0, each as likely. */
uint64_t draw_below(struct draws *draws, uint64_t count);
/* With mean 1: how long until something that happens at any moment alike. */
double draw_exponential(struct draws *draws);
/* With mean 0 and deviation 1. */
double draw_normal(struct draws *draws);

/* The value that a standard normal number stays below with this probability, in (0, 1): M. Wichura, "Algorithm AS 241",
 * Applied Statistics 37, 1988, exact to 1e-15 of itself. */
double normal_quantile(double probability);
/* The probability that a standard normal number is below a value, to 1e-14 of itself: near the middle by its series
 * (NIST Digital Library of Mathematical Functions, 7.6.2), outside by its continued fraction (7.9.4). */
double normal_below(double value);

#endif
