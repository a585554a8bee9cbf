/* SPDX-License-Identifier: Apache-2.0 */
/* A tower of another modality before the language model. Images: a matrix makes a position of each patch, and each
 * projector makes a token of some (Qwen3-VL: transformers' modeling_qwen3_vl.py). Sound: convolutions make positions of
 * the frames of a spectrum, over frames alone (Whisper, arXiv 2212.04356; Qwen2-Audio and Voxtral) or over frames and
 * their numbers, with a matrix behind (Qwen3-Omni: modeling_qwen3_omni_moe.py). Documented in doc/layer-kinds.md. */
#ifndef STAGESIM_TRANSFORMER_TOWER_H
#define STAGESIM_TRANSFORMER_TOWER_H

#include "workloads/transformer/kinds/operator_list.h"

enum { TOWER_STRIDES_MAX = 6 };

/* The tower as a model of its own, whose samples are items: images or clips. */
struct transformer_model tower_model(const struct transformer_tower *tower);
/* Of an item: positions that attend to each other, and tokens that the language model gets. */
double tower_positions(const struct transformer_tower *tower);
double tower_tokens(const struct transformer_tower *tower);
/* Parameters of a tower, and of them those beside its layers: what makes positions, norms, projectors. */
double tower_parameters(const struct transformer_model *model, enum transformer_tower_kind kind);
double tower_end_parameters(const struct transformer_model *model, enum transformer_tower_kind kind);
/* Flop of an item's forward beside the layers. */
double tower_end_flops(const struct transformer_model *model, enum transformer_tower_kind kind);
/* Elements of an item that are kept for the backward beside the layers. */
double tower_end_elements(const struct transformer_model *model, enum transformer_tower_kind kind);
/* Operators of what is beside its layers, of the items of a rank. */
void tower_ends(const struct transformer_model *model, const struct transformer_layout *layout,
                enum transformer_tower_kind kind, bool backward, struct transformer_operators *out);

#endif
