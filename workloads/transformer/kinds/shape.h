/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of a layer on one rank, from which its operators derive. */
#ifndef STAGESIM_TRANSFORMER_SHAPE_H
#define STAGESIM_TRANSFORMER_SHAPE_H

#include "workloads/transformer/kinds/operator_list.h"

struct operator_shape operator_shape_of(const struct transformer_model *model, const struct transformer_layout *layout);

#endif
