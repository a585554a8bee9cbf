/* SPDX-License-Identifier: Apache-2.0 */
/* K-FAC (Martens and Grosse 2015; for convolutions Grosse and Martens 2016): the gradient of a layer is multiplied from
 * both sides by the inverses of two factors, the second moments of what the layer reads and of the gradient of what it
 * writes. */
#ifndef STAGESIM_LAYERS_KFAC_H
#define STAGESIM_LAYERS_KFAC_H

#include "workloads/layers/layers.h"

/* The factors of a layer are a x a and c x c. */
struct kfac_layer {
    double inner;     /* a: numbers that an output is computed from, and one more with a bias; 0: the layer has none */
    double outer;     /* c: output channels */
    double positions; /* outputs of a channel, of one sample */
};

/* What a job's layer has: convolutions and dense layers with weights of their own do. */
struct kfac_layer kfac_layer_of(const struct layers_job *job, uint32_t layer);
/* Whether the layer's weights are the matrix that its shape gives, with at most a few numbers more per channel. */
bool kfac_fits(const struct layers_job *job, uint32_t layer);

/* Numbers of both factors: all, and those on and above the diagonals. */
double kfac_numbers(const struct kfac_layer *layer);
double kfac_packed(const struct kfac_layer *layer);
/* Flops of both factors for so many samples: two products of a matrix with its transpose, symmetry not used. */
double kfac_factor_flops(const struct kfac_layer *layer, double samples);
/* Flops of both inverses: `work` a^3 + `work` c^3. */
double kfac_inverse_flops(const struct kfac_layer *layer, double work);
/* Flops of the gradient between the two inverses. */
double kfac_precondition_flops(const struct kfac_layer *layer);

/* Gives each of `count` layers to one of `owners` ranks: the one with most seconds first, to the rank that has least so
 * far. `load`, [owner], is set to the sums. */
void kfac_distribute(const double *seconds, uint32_t count, uint32_t owners, double *load);

#endif
