/* SPDX-License-Identifier: Apache-2.0 */
/* Mamba-2 (Dao and Gu 2024, arXiv 2405.21060, state-space duality), as state-spaces/mamba @ e9594ce1 and NVIDIA's
 * Nemotron-H have it: H heads of P columns (d = H P), G groups of B and C of N columns each, a convolution over x, B
 * and C, chunks of Q tokens. */
#include "workloads/transformer/kinds/scan.h"

static double inner(const struct transformer_model *m)
{
    return (double)(m->mamba_heads * m->mamba_head_size);
}

static double grouped(const struct transformer_model *m)
{
    return (double)(m->mamba_groups * m->mamba_state);
}

/* Of the matrix in: gate, x and steps; B; C. */
static struct transformer_widths widths(const struct transformer_model *m)
{
    double d = inner(m), g = grouped(m);
    return (struct transformer_widths){2 * d + (double)m->mamba_heads, g, g, d};
}

/* The convolution has taps and a bias; each head a bias of its step, a decay and a skip; the gate a normalisation. */
static struct kind_parameters parameters(const struct transformer_model *m)
{
    struct transformer_widths w = widths(m);
    double h = (double)m->hidden, d = inner(m);
    return (struct kind_parameters){.into = h * (w.query + w.key + w.value),
                                    .out = d * h,
                                    .divided = (d + 2 * grouped(m)) * ((double)m->convolution + 1) +
                                               3 * (double)m->mamba_heads + d};
}

/* Within a chunk C B^T for each group and its product with x for each head, beside it the chunk's state and what the
 * state before gives, and the skip. */
static struct kind_scan scan_of(const struct transformer_model *m)
{
    double q = (double)m->chunk, n = (double)m->mamba_state, p = (double)m->mamba_head_size, d = inner(m);
    return (struct kind_scan){.name = "state-space scan",
                              .convolved = d + 2 * grouped(m),
                              .flops = (double)m->mamba_groups * 2 * q * n +
                                       (double)m->mamba_heads * (2 * q * p + 4 * n * p),
                              .moved = 2 * d + 2 * grouped(m) + (double)m->mamba_heads,
                              .gated = d,
                              .heads = (double)m->mamba_heads,
                              .key = p,
                              .value = n,
                              .share = 0.033, /* as on B200, where it was measured */
                              .kernel = KERNEL_MAMBA};
}

static double state(const struct transformer_model *m)
{
    return inner(m) * (double)m->mamba_state;
}

/* Kept are what the matrix in gives and what the scan gives; the rest is computed again (ssd_combined.py of the named
 * source). Ranks that share a sequence exchange heads (megatron/core/ssm/mamba_context_parallel.py). */
const struct transformer_kind kind_mamba = {
    .widths = widths,
    .parameters = parameters,
    .scan = scan_of,
    .projections = scan_projections,
    .projections_backward = scan_projections_backward,
    .sharing = SHARING_HEADS,
    .state = state,
};
