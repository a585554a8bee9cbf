/* SPDX-License-Identifier: Apache-2.0 */
/* Scaling laws: the loss of a model of N parameters after D tokens is E + A / N^alpha + B / D^beta, and training takes
 * 6 N D flop (Hoffmann et al. 2022, arXiv 2203.15556, section 3.3). */
#ifndef STAGESIM_FLEET_LAW_H
#define STAGESIM_FLEET_LAW_H

#include "abi/workload.h"

#include <stdbool.h>

struct fleet_law {
    const char *name, *source; /* of a published one, else "own" and "the scenario" */
    double e, a, alpha, b, beta;
};

/* "hoffmann", "besiroglu", or E, A, alpha, B and beta as five numbers above 0. False where it is neither. */
bool fleet_law_read(const struct stagesim_texts *texts, struct fleet_law *law);

/* What a number of flop is best spent on, and the loss that comes of it: the least of all N and D with 6 N D flop. */
struct fleet_optimum {
    double parameters, tokens, loss;
};
struct fleet_optimum fleet_law_optimum(const struct fleet_law *law, double flop);
double fleet_law_loss(const struct fleet_law *law, double parameters, double tokens);

#endif
