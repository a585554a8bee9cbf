/* SPDX-License-Identifier: Apache-2.0 */
/* Strategies from which a search starts. choices[layer] is filled. */
#ifndef STAGESIM_STARTS_H
#define STAGESIM_STARTS_H

#include "studies/operators/operators.h"

/* Every layer is divided by samples over as many devices as can be. */
void start_data(const struct operators *o, uint32_t *choices);

/* What experts did by hand. Without recurrent layers, "one weird trick" (Krizhevsky 2014, arXiv 1404.5997): dense
 * layers by output channels over all devices, the others by samples. With recurrent layers, as in Google's translation
 * system (Wu et al. 2016, arXiv 1609.08144): nodes share the samples, and the devices of a node take the layers in
 * turn; `node`: devices of a node, which follow each other. */
void start_expert(const struct operators *o, uint32_t node, uint32_t *choices);

/* degrees[layer]: parts along samples, and along output channels, on neighbouring devices; where a layer has no such
 * configuration, as start_data. */
void start_divided(const struct operators *o, const uint32_t (*degrees)[2], uint32_t *choices);

/* Any configuration of each layer, all equally likely; layers that change together have the same. */
struct draws;
void start_random(const struct operators *o, struct draws *random, uint32_t *choices);

#endif
