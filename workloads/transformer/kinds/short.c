/* SPDX-License-Identifier: Apache-2.0 */
/* LFM2's gated short convolution (transformers' modular_lfm2.py @ 02f41779): a matrix into two gates and what they
 * weight, its product with the first, a convolution over few tokens, the product with the second, a matrix out. */
#include "workloads/transformer/kinds/scan.h"

static struct transformer_widths widths(const struct transformer_model *m)
{
    double h = (double)m->hidden;
    return (struct transformer_widths){h, h, h, h};
}

static struct kind_parameters parameters(const struct transformer_model *m)
{
    double h = (double)m->hidden;
    return (struct kind_parameters){.into = 3 * h * h, .out = h * h, .divided = h * (double)m->convolution};
}

static double core_flops(const struct transformer_model *m)
{
    return (double)m->sequence * 2 * (double)m->convolution * (double)m->hidden;
}

static double no_scores(const struct transformer_model *m)
{
    (void)m;
    return 0;
}

/* A product of two is read and written: three passes, and five of its backward. */
static void add_gate(const struct transformer_model *m, const struct transformer_layout *l,
                     const struct operator_shape *s, bool backward, struct transformer_operators *out)
{
    operators_add_vector(out, "gate", (backward ? 5 : 3) * s->element * s->rows * (double)m->hidden / l->tensor);
}

static void core(const struct transformer_model *m, const struct transformer_layout *l, const struct operator_shape *s,
                 struct transformer_operators *out)
{
    add_gate(m, l, s, false, out);
    scan_convolution(m, l, s, (double)m->hidden, false, out);
    add_gate(m, l, s, false, out);
}

static void core_backward(const struct transformer_model *m, const struct transformer_layout *l,
                          const struct operator_shape *s, struct transformer_operators *out)
{
    add_gate(m, l, s, true, out);
    scan_convolution(m, l, s, (double)m->hidden, true, out);
    add_gate(m, l, s, true, out);
}

/* What goes into the convolution, and what comes out of it. */
static double kept(const struct transformer_model *m, const struct transformer_layout *l)
{
    return l->element_bytes * 2 * (double)m->hidden;
}

/* The tokens before that the convolution still sees. */
static double state(const struct transformer_model *m)
{
    return ((double)m->convolution - 1) * (double)m->hidden;
}

const struct transformer_kind kind_short = {
    .widths = widths,
    .parameters = parameters,
    .core_flops = core_flops,
    .scores_flops = no_scores,
    .projections = scan_projections,
    .projections_backward = scan_projections_backward,
    .core = core,
    .core_backward = core_backward,
    .kept_divided = kept,
    .sharing = SHARING_STATES,
    .state = state,
};
