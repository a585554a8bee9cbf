/* SPDX-License-Identifier: Apache-2.0 */
/* How many tokens samples have. Of many samples the lengths are the quantiles of their distribution, evenly spaced;
 * what is drawn is which sample has which: those of one prompt are alike as far as `correlation` says. */
#ifndef STAGESIM_GENERATION_LENGTHS_H
#define STAGESIM_GENERATION_LENGTHS_H

#include "base/random/distribution.h"

#include <stdint.h>

struct lengths_request {
    const struct distribution
        *distribution;         /* of samples with as many values as are asked for: those, in their order */
    double most;               /* longer ones are cut there; 0: none are */
    uint32_t prompts, samples; /* samples: of a prompt */
    double correlation;        /* of normal scores of two samples of a prompt: 0 to 1 */
    uint64_t seed;
};

/* Fills lengths[prompt * samples + sample] with whole numbers from 1 on. */
void lengths_draw(const struct lengths_request *request, double *lengths);

#endif
