/* SPDX-License-Identifier: Apache-2.0 */
/* Linear attention with a state of keys by values for each head: gated delta net (Yang et al. 2024, arXiv 2412.06464),
 * Kimi delta attention (Kimi Team 2025, arXiv 2510.26692), lightning attention (Qin et al. 2024, arXiv 2405.17381, as
 * in MiniMax-Text-01). Kernels: fla-org/flash-linear-attention @ bc3b101d. */
#include "workloads/transformer/kinds/scan.h"

static double keys(const struct transformer_model *m)
{
    return (double)(m->linear_key_heads * m->linear_key_size);
}

static double values(const struct transformer_model *m)
{
    return (double)(m->linear_value_heads * m->linear_value_size);
}

/* Of a token and a value head, in chunks of C tokens: the triangular system of the delta rule, its inverse, and the
 * products with the state. */
static double delta_flops(const struct transformer_model *m)
{
    double c = (double)m->chunk, dk = (double)m->linear_key_size, dv = (double)m->linear_value_size;
    return (double)m->linear_value_heads * (6 * dk * dv + 2 * c * (3 * dk + 2 * dv) + c * c * 2 / 3);
}

static double state(const struct transformer_model *m)
{
    return (double)(m->linear_value_heads * m->linear_key_size * m->linear_value_size);
}

/* What ranks hand on that share a sequence: of each head the state and the matrix that it is multiplied with. */
static double passed(const struct transformer_model *m)
{
    return state(m) + (double)(m->linear_value_heads * m->linear_key_size * m->linear_key_size);
}

/* ---- gated delta net: keys may have fewer heads than values ---- */

/* Queries, gate and two numbers of each value head; keys; values. */
static struct transformer_widths gated_widths(const struct transformer_model *m)
{
    return (struct transformer_widths){keys(m) + values(m) + 2 * (double)m->linear_value_heads, keys(m), values(m),
                                       values(m)};
}

static struct kind_parameters gated_parameters(const struct transformer_model *m)
{
    double h = (double)m->hidden, heads = (double)m->linear_value_heads;
    return (struct kind_parameters){.into = h * (2 * keys(m) + 2 * values(m) + 2 * heads),
                                    .out = values(m) * h,
                                    .divided = (double)m->convolution * (2 * keys(m) + values(m)) + 2 * heads,
                                    .rest = (double)m->linear_value_size};
}

static struct kind_scan gated_scan(const struct transformer_model *m)
{
    double repeated = (double)(m->linear_value_heads * m->linear_key_size);
    return (struct kind_scan){.name = "gated delta rule",
                              .convolved = 2 * keys(m) + values(m),
                              .flops = delta_flops(m),
                              .moved = 2 * repeated + 2 * values(m) + 2 * (double)m->linear_value_heads,
                              .gated = values(m),
                              .heads = (double)m->linear_value_heads,
                              .key = (double)m->linear_key_size,
                              .value = (double)m->linear_value_size,
                              .share = 0.048,
                              .kernel = KERNEL_GATED_DELTA};
}

/* Behind the convolution queries and keys, repeated to the heads of values, and values; the system of each chunk
 * (fla/ops/gated_delta_rule/chunk.py; Megatron-LM repeats before the kernel). */
static double gated_kept(const struct transformer_model *m, const struct transformer_layout *l)
{
    double heads = (double)m->linear_value_heads;
    return l->element_bytes * (2 * heads * (double)m->linear_key_size + values(m) + heads * (double)m->chunk);
}

const struct transformer_kind kind_gated_delta = {
    .widths = gated_widths,
    .parameters = gated_parameters,
    .scan = gated_scan,
    .projections = scan_projections,
    .projections_backward = scan_projections_backward,
    .kept_divided = gated_kept,
    .sharing = SHARING_HEADS,
    .state = state,
};

/* ---- Kimi delta attention: a decay for each column of a key ---- */

/* Queries and the strength of each head, and the gate where it is one matrix; keys; values. Decay and gate otherwise
 * go through a narrow width, that of a head. */
static struct transformer_widths kimi_widths(const struct transformer_model *m)
{
    double query = keys(m) + (double)m->linear_value_heads + (m->linear_full_gate ? values(m) : 0);
    return (struct transformer_widths){query, keys(m), values(m), values(m)};
}

static struct kind_parameters kimi_parameters(const struct transformer_model *m)
{
    struct transformer_widths w = kimi_widths(m);
    double h = (double)m->hidden, dk = (double)m->linear_key_size, dv = (double)m->linear_value_size;
    double narrow = m->linear_full_gate ? 0 : dv;
    return (struct kind_parameters){.into = h * (w.query + w.key + w.value) + dk * keys(m) + narrow * values(m),
                                    .whole = h * (dk + narrow),
                                    .out = values(m) * h,
                                    .divided = (double)m->convolution * (2 * keys(m) + values(m)) +
                                               (double)m->linear_value_heads + keys(m),
                                    .rest = dv};
}

static struct kind_scan kimi_scan(const struct transformer_model *m)
{
    return (struct kind_scan){.name = "Kimi delta rule",
                              .convolved = 2 * keys(m) + values(m),
                              .flops = delta_flops(m),
                              .moved = 3 * keys(m) + 2 * values(m) + (double)m->linear_value_heads,
                              .gated = values(m),
                              .heads = (double)m->linear_value_heads,
                              .key = (double)m->linear_key_size,
                              .value = (double)m->linear_value_size,
                              .share = 0.04,
                              .kernel = KERNEL_KIMI_DELTA};
}

static void kimi_projections(const struct transformer_model *m, const struct transformer_layout *l,
                             const struct operator_shape *s, struct transformer_operators *out)
{
    double dk = (double)m->linear_key_size, dv = (double)m->linear_value_size;
    scan_projections(m, l, s, out);
    operators_add_matrix(out, s, "decay down", s->h, dk);
    operators_add_matrix(out, s, "decay up", dk, keys(m) / l->tensor);
    if (m->linear_full_gate)
        return;
    operators_add_matrix(out, s, "gate down", s->h, dv);
    operators_add_matrix(out, s, "gate up", dv, values(m) / l->tensor);
}

static void kimi_projections_backward(const struct transformer_model *m, const struct transformer_layout *l,
                                      const struct operator_shape *s, struct transformer_operators *out)
{
    double dk = (double)m->linear_key_size, dv = (double)m->linear_value_size;
    if (!m->linear_full_gate) {
        operators_add_matrix_backward(out, l, s, "gate up", dv, values(m) / l->tensor);
        operators_add_matrix_backward(out, l, s, "gate down", s->h, dv);
    }
    operators_add_matrix_backward(out, l, s, "decay up", dk, keys(m) / l->tensor);
    operators_add_matrix_backward(out, l, s, "decay down", s->h, dk);
    scan_projections_backward(m, l, s, out);
}

/* Behind the convolution queries, keys and values; decays; the gate; two systems of each chunk
 * (fla/ops/kda/chunk.py). */
static double kimi_kept(const struct transformer_model *m, const struct transformer_layout *l)
{
    double chunks = 2 * (double)(m->linear_value_heads * m->chunk), gate = m->linear_full_gate ? 0 : values(m);
    return l->element_bytes * (3 * keys(m) + values(m) + gate + chunks);
}

const struct transformer_kind kind_kimi_delta = {
    .widths = kimi_widths,
    .parameters = kimi_parameters,
    .scan = kimi_scan,
    .projections = kimi_projections,
    .projections_backward = kimi_projections_backward,
    .kept_divided = kimi_kept,
    .sharing = SHARING_STATES,
    .state = passed,
};

/* ---- lightning attention: a fixed decay for each head ---- */

/* Queries and gate; keys; values. */
static struct transformer_widths lightning_widths(const struct transformer_model *m)
{
    return (struct transformer_widths){keys(m) + values(m), keys(m), values(m), values(m)};
}

static struct kind_parameters lightning_parameters(const struct transformer_model *m)
{
    double h = (double)m->hidden;
    return (struct kind_parameters){.into = h * 2 * (keys(m) + values(m)), .out = values(m) * h, .divided = values(m)};
}

/* Within a chunk both products over scores, and those with the state. */
static struct kind_scan lightning_scan(const struct transformer_model *m)
{
    double c = (double)m->chunk, dk = (double)m->linear_key_size, dv = (double)m->linear_value_size;
    return (struct kind_scan){.name = "lightning attention",
                              .flops = (double)m->linear_value_heads * (2 * c * (dk + dv) + 4 * dk * dv),
                              .moved = 2 * keys(m) + 2 * values(m),
                              .gated = values(m),
                              .heads = (double)m->linear_value_heads,
                              .key = dk,
                              .value = dv,
                              .share = 0.048, /* that of the gated delta rule: none was measured */
                              .kernel = KERNEL_LIGHTNING};
}

const struct transformer_kind kind_lightning = {
    .widths = lightning_widths,
    .parameters = lightning_parameters,
    .scan = lightning_scan,
    .projections = scan_projections,
    .projections_backward = scan_projections_backward,
    .sharing = SHARING_STATES,
    .state = state,
};
