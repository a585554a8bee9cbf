/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/kinds/scan.h"

static double tokens_flops(const struct transformer_model *m, const struct kind_scan *scan, double tokens)
{
    return tokens * (2 * (double)m->convolution * scan->convolved + scan->flops);
}

double scan_flops(const struct transformer_model *m, const struct kind_scan *scan)
{
    return tokens_flops(m, scan, (double)m->sequence);
}

/* Reads and writes its columns; its products are few. */
void scan_convolution(const struct transformer_model *m, const struct transformer_layout *l,
                      const struct operator_shape *s, double convolved, bool backward,
                      struct transformer_operators *out)
{
    double columns = convolved / l->tensor, times = backward ? 2 : 1;
    if (columns > 0)
        operators_add(out,
                      (struct transformer_operator){.name = "convolution",
                                                    .matrix = true,
                                                    .wide = true,
                                                    .flops = times * 2 * (double)m->convolution * s->rows * columns,
                                                    .bytes = s->element * s->rows * columns * (backward ? 4 : 2),
                                                    .shape = {.kind = KERNEL_MEMORY,
                                                              .stage = KERNEL_CONVOLUTION,
                                                              .groups = 1,
                                                              .m = s->element * s->rows * columns * (backward ? 4 : 2),
                                                              .n = 1,
                                                              .k = 1}});
}

static void add_scan(const struct transformer_layout *l, const struct operator_shape *s, const struct kind_scan *scan,
                     bool backward, struct transformer_operators *out)
{
    /* Where ranks that share a sequence exchange heads each has some heads of all of it. */
    double length = s->length > 0 ? s->length : 1;
    struct kernel_shape shape = {.kind = scan->kernel,
                                 .stage = backward ? KERNEL_BACKWARD : KERNEL_FORWARD,
                                 .groups = scan->heads / l->tensor * s->rows / length,
                                 .m = length,
                                 .n = scan->key,
                                 .k = scan->value};
    operators_add(out, (struct transformer_operator){.name = scan->name,
                                                     .matrix = true,
                                                     .wide = true,
                                                     .single = true,
                                                     .share = scan->share,
                                                     .flops = (backward ? 2 : 1) * scan->flops * s->rows / l->tensor,
                                                     .bytes = (backward ? 2.5 : 1) * s->element * s->rows *
                                                              scan->moved / l->tensor,
                                                     .shape = shape});
}

void scan_core(const struct transformer_model *m, const struct transformer_layout *l, const struct operator_shape *s,
               const struct kind_scan *scan, struct transformer_operators *out)
{
    scan_convolution(m, l, s, scan->convolved, false, out);
    add_scan(l, s, scan, false, out);
    operators_add_vector(out, "output gate", 3 * s->element * s->rows * scan->gated / l->tensor);
}

void scan_core_backward(const struct transformer_model *m, const struct transformer_layout *l,
                        const struct operator_shape *s, const struct kind_scan *scan, struct transformer_operators *out)
{
    operators_add_vector(out, "output gate", 5 * s->element * s->rows * scan->gated / l->tensor);
    add_scan(l, s, scan, true, out);
    scan_convolution(m, l, s, scan->convolved, true, out);
}

void scan_projections(const struct transformer_model *m, const struct transformer_layout *l,
                      const struct operator_shape *s, struct transformer_operators *out)
{
    (void)m;
    (void)l;
    operators_add_vector(out, "normalisation", 2 * s->element * s->hidden);
    operators_add_gathered_matrix(out, s, "in projection", s->h_inner, s->query + s->key_value);
}

void scan_projections_backward(const struct transformer_model *m, const struct transformer_layout *l,
                               const struct operator_shape *s, struct transformer_operators *out)
{
    (void)m;
    operators_add_matrix_backward(out, l, s, "in projection", s->h_inner, s->query + s->key_value);
    operators_add_vector(out, "normalisation", 4 * s->element * s->hidden);
}
