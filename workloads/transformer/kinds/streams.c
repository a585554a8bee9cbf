/* SPDX-License-Identifier: Apache-2.0 */
/* What comes out of a block is added to what went in. Several residual streams: manifold-constrained hyper-connections
 * (DeepSeek-AI 2025, arXiv 2512.24880, as in DeepSeek-V4): before each block the m streams of a token are collapsed
 * into one, behind it they are mixed and take up what came out; the weights of all that come from one product over the
 * streams. */
#include "workloads/transformer/kinds/operator_list.h"

/* Weights of a site: of the collapse and the spread m each, of the mixture m x m. */
static double weights(double streams)
{
    return (2 + streams) * streams;
}

static void mix(const struct transformer_model *m, const struct operator_shape *s, struct transformer_operators *out)
{
    double count = (double)m->streams;
    operators_add_matrix(out, s, "stream weights", count * s->h, weights(count));
    out->items[out->count - 1].wide = true;
    operators_add_vector(out, "streams", s->element * s->hidden * (3 * count + 2));
}

static void mix_backward(const struct transformer_model *m, const struct transformer_layout *l,
                         const struct operator_shape *s, struct transformer_operators *out)
{
    double count = (double)m->streams;
    operators_add_vector(out, "streams", 2 * s->element * s->hidden * (3 * count + 2));
    operators_add_matrix_backward(out, l, s, "stream weights", count * s->h, weights(count));
    operators_keep_wide(out, out->count - 2);
}

/* Attention over what blocks of layers left (AttnRes, Kimi K3): a read of all of them, half of them on the mean. */
static double read_again(const struct transformer_model *m, const struct operator_shape *s)
{
    enum { FLOAT = 4 };
    double blocks = m->residual_blocks ? (double)m->layers / (double)m->residual_blocks : 0;
    return FLOAT * s->hidden * blocks / 2;
}

void operators_add_residual(const struct transformer_model *m, struct transformer_operators *out,
                            const struct operator_shape *s)
{
    if (m->residual_blocks)
        operators_add_vector(out, "residuals of blocks", read_again(m, s));
    if (m->streams > 1)
        mix(m, s, out);
    else
        operators_add_vector(out, "residual", (3 * s->element + s->mask) * s->hidden);
}

void operators_add_residual_backward(const struct transformer_model *m, const struct transformer_layout *l,
                                     struct transformer_operators *out, const struct operator_shape *s)
{
    if (m->streams > 1)
        mix_backward(m, l, s, out);
    else
        operators_add_vector(out, "residual", (2 * s->element + s->mask) * s->hidden);
    if (m->residual_blocks)
        operators_add_vector(out, "residuals of blocks", 2 * read_again(m, s));
}
