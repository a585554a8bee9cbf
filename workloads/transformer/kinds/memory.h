/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that a rank holds: activations from forward to backward, and the state of its parameters. */
#ifndef STAGESIM_TRANSFORMER_MEMORY_H
#define STAGESIM_TRANSFORMER_MEMORY_H

#include "workloads/transformer/kinds/operators.h"

/* Activations of one layer that are kept from its forward to its backward. Classic GPT in 16 bits, Korthikanti et al.
 * 2022, Table 2: s b h (10 + 24/t + 5 a s/(h t)), with sequence parallelism all of it divided by t, without the last
 * term where the attention is computed again or never stored (flash), and 2 s b h under full recomputation, that too
 * divided by t with sequence parallelism: what lies between layers. */
double transformer_layer_activation(const struct transformer_model *model, const struct transformer_layout *layout);
/* Of a layer with experts: what shared experts and those on this rank compute with, and what the router and the sum
 * keep. */
double transformer_expert_layer_activation(const struct transformer_model *model,
                                           const struct transformer_layout *layout);
/* Of a layer by its own model, whatever its kind. */
double transformer_own_layer_activation(const struct transformer_model *own, const struct transformer_layout *layout);
/* Of the input: the mask of the embedding's dropout. */
double transformer_input_activation(const struct transformer_model *model, const struct transformer_layout *layout);
/* Of the output: inputs of the final normalisation and of the projection, logits in fp32: 4 s b h/t (1 + V/h). */
double transformer_output_activation(const struct transformer_model *model, const struct transformer_layout *layout);

/* What is held of logits beside their 4 bytes while the loss and its gradient are computed. */
double transformer_logits_buffer(const struct transformer_model *model, const struct transformer_layout *layout,
                                 double logits_bytes);

enum transformer_optimizer { OPTIMIZER_ADAM, OPTIMIZER_MOMENTUM, OPTIMIZER_SGD, OPTIMIZER_MUON };

/* Bytes of a parameter's state. Mixed precision with Adam: 2 + 4 + 12 = 18 (gradients accumulated in fp32), 2 + 2 + 12
 * = 16. */
struct transformer_state {
    double weight, gradient, optimizer;
    double update;   /* bytes that the optimizer's step moves per parameter */
    double products; /* steps of products over each matrix; 0: none */
    double further;  /* bytes of a parameter that is in no matrix beside `optimizer` */
};
struct transformer_state transformer_state_of(enum transformer_optimizer optimizer, double element_bytes,
                                              double gradient_bytes);

#endif
