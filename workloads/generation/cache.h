/* SPDX-License-Identifier: Apache-2.0 */
/* What a layer keeps of the tokens of a sequence, and what a new token does with it. */
#ifndef STAGESIM_GENERATION_CACHE_H
#define STAGESIM_GENERATION_CACHE_H

#include "workloads/transformer/kinds/model.h"

#include <stdbool.h>

/* Of one layer and one rank. */
struct generation_cache {
    double token;  /* bytes of a token that are kept, and read by each that meets it */
    double most;   /* tokens that are met at most; INFINITY: all */
    bool forgets;  /* no more than these are kept */
    double state;  /* bytes of a sequence however long it is, read and written in every step */
    double pair;   /* flop of a new token for each that it meets */
    double direct; /* the same of a prompt's tokens, which need not go through what is narrow */
    double looked; /* bytes of a token, kept, too, that are looked at of all tokens, to pick those that are met */
    double look;   /* flop for each of them */
};

/* Of a layer by its own model, on one of `tensor` ranks; elements of the cache have so many bytes. False: it is not
 * known what such a layer keeps. */
bool generation_cache_of(const struct transformer_model *own, double tensor, double element,
                         struct generation_cache *cache);

#endif
