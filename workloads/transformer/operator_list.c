/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/operator_list.h"

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

void operators_add(struct transformer_operators *out, struct transformer_operator operator)
{
    out->items[out->count++] = operator;
}

void operators_add_vector(struct transformer_operators *out, const char *name, double bytes)
{
    operators_add(out, (struct transformer_operator){.name = name, .bytes = bytes});
}

void operators_add_norms(struct transformer_operators *out, const struct operator_shape *s, double count, bool backward)
{
    if (count > 0)
        operators_add_vector(out, "normalisation", count * (backward ? 4 : 2) * s->element * s->hidden);
}

void operators_add_matrix(struct transformer_operators *out, const struct operator_shape *s, const char *name,
                          double inner, double columns)
{
    double rows = s->rows * s->gathered, bytes = s->element * (rows * inner + inner * columns + rows * columns);
    operators_add(
        out,
        (struct transformer_operator){
            .name = name,
            .matrix = true,
            .flops = 2 * rows * inner * columns,
            .bytes = bytes,
            .shape = {
                .kind = KERNEL_MATMUL, .stage = KERNEL_FORWARD, .groups = 1, .m = rows, .n = columns, .k = inner}});
}

void operators_add_gathered_matrix(struct transformer_operators *out, const struct operator_shape *s, const char *name,
                                   double inner, double columns)
{
    operators_add_matrix(out, s, name, inner, columns);
    out->items[out->count - 1].cast_share = s->cast_share;
}

void operators_add_matrix_backward(struct transformer_operators *out, const struct transformer_layout *l,
                                   const struct operator_shape *s, const char *name, double inner, double columns)
{
    operators_add_matrix(out, s, name, inner, columns);
    operators_add_matrix(out, s, name, inner, columns);
    struct transformer_operator *weight = &out->items[out->count - 1], *input = weight - 1;
    double rows = weight->shape.m;
    input->shape.stage = KERNEL_INPUT;
    input->shape.n = inner;
    input->shape.k = columns;
    weight->shape.stage = KERNEL_WEIGHT;
    weight->shape.m = columns;
    weight->shape.n = inner;
    weight->shape.k = rows;
    weight->weight = true;
    weight->bytes += inner * columns * (2 * l->gradient_bytes - s->element);
}

void operators_keep_wide(struct transformer_operators *out, unsigned from)
{
    for (unsigned i = from; i < out->count; i++)
        out->items[i].wide = true;
}
