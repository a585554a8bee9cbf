/* SPDX-License-Identifier: Apache-2.0 */
/* A tower of another modality before the language model: layers of full attention over the patches of each image, and
 * what makes tokens of them (Qwen3-VL: transformers' modeling_qwen3_vl.py). Documented in doc/layer-kinds.md. */
#ifndef STAGESIM_TRANSFORMER_TOWER_H
#define STAGESIM_TRANSFORMER_TOWER_H

#include "workloads/transformer/kinds/operator_list.h"

/* The tower as a model of its own, whose samples are images. */
struct transformer_model tower_model(const struct transformer_model *model);
/* Parameters of the tower, and of them those beside its layers: patches, positions, mergers. */
double tower_parameters(const struct transformer_model *model);
double tower_end_parameters(const struct transformer_model *model);
/* Flop of an image's forward beside the layers. */
double tower_end_flops(const struct transformer_model *model);
/* Operators of what is beside its layers, of so many images. */
void tower_ends(const struct transformer_model *model, const struct transformer_layout *layout, double images,
                bool backward, struct transformer_operators *out);

#endif
