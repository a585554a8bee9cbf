/* SPDX-License-Identifier: Apache-2.0 */
/* Times of a collective's steps, transfer by transfer: what closed forms and engines are held to. */
#ifndef TEST_STEPS_EVALUATE_H
#define TEST_STEPS_EVALUATE_H

#include "simulator/collectives/steps.h"

/* Start-up in seconds and seconds per byte from one member to another. */
struct steps_network {
    void (*edge)(void *user, uint32_t from, uint32_t to, double *alpha, double *beta);
    void *user;
    double gamma; /* seconds per byte of reducing */
};

/* When each of `ranks` members is done (ends[rank]), given when each arrives (NULL: all at 0); transfers do not disturb
 * each other. Returns the latest end. */
double steps_evaluate(const struct collective_steps *steps, uint32_t ranks, double bytes,
                      const struct steps_network *network, const double *arrivals, double *ends);

#endif
