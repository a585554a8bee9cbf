/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/kinds/shape.h"

struct operator_shape operator_shape_of(const struct transformer_model *m, const struct transformer_layout *l)
{
    double s = (double)m->sequence, t = l->tensor;
    struct transformer_widths widths = transformer_widths_of(m);
    struct operator_shape shape = {.rows = l->samples * s / l->context,
                                   .samples = l->samples,
                                   .keys = l->samples * s / (l->exchanged_heads ? l->context : 1),
                                   .length = s / (l->exchanged_heads ? 1 : l->context),
                                   .h = (double)m->hidden / l->width,
                                   .gathered = l->gathered_rows,
                                   .cast_share = l->cast_share,
                                   .element = l->element_bytes,
                                   .mask = m->dropout};
    shape.hidden = shape.rows * shape.h / (l->sequence_parallel ? t : 1);
    shape.query = widths.query / t;
    shape.key_value = (widths.key + widths.value) / t;
    shape.key = widths.key / t;
    shape.output = widths.output / t;
    shape.ffn = (double)m->ffn / t;
    shape.scores = l->samples * s * s * (double)m->heads / t / l->context;
    shape.vocabulary = (double)m->vocabulary / t;
    shape.h_inner = l->whole_inner ? (double)m->hidden : shape.h;
    shape.output_inner = l->whole_inner ? widths.output : shape.output;
    shape.ffn_inner = l->whole_inner ? (double)m->ffn : shape.ffn;
    return shape;
}
