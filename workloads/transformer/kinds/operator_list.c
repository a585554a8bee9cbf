/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/kinds/operator_list.h"

#include <assert.h>

void operators_add(struct transformer_operators *out, struct transformer_operator operator)
{
    assert(out->count < TRANSFORMER_OPERATORS_MAX);
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
    if (!(l->gradient_copy > 0)) /* what is written is a copy otherwise, which an operator of its own adds up */
        weight->bytes += inner * columns * (2 * l->gradient_bytes - s->element);
}

void operators_keep_wide(struct transformer_operators *out, unsigned from)
{
    for (unsigned i = from; i < out->count; i++)
        out->items[i].wide = true;
}
