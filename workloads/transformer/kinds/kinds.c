/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/kinds/kinds.h"

/* Of a layer that has a feed-forward block alone. */
static struct transformer_widths no_widths(const struct transformer_model *m)
{
    (void)m;
    return (struct transformer_widths){0, 0, 0, 0};
}

static struct kind_parameters no_parameters(const struct transformer_model *m)
{
    (void)m;
    return (struct kind_parameters){0};
}

static double no_flops(const struct transformer_model *m)
{
    (void)m;
    return 0;
}

static void no_operators(const struct transformer_model *m, const struct transformer_layout *l,
                         const struct operator_shape *s, struct transformer_operators *out)
{
    (void)m, (void)l, (void)s, (void)out;
}

static const struct transformer_kind kind_none = {
    .widths = no_widths,
    .parameters = no_parameters,
    .core_flops = no_flops,
    .projections = no_operators,
    .projections_backward = no_operators,
    .core = no_operators,
    .core_backward = no_operators,
    .join = no_operators,
    .join_backward = no_operators,
};

static const struct transformer_kind *const kinds[TRANSFORMER_MIXERS] = {
    [MIXER_ATTENTION] = &kind_attention,
    [MIXER_LOCAL] = &kind_attention,
    [MIXER_MAMBA] = &kind_mamba,
    [MIXER_GATED_DELTA] = &kind_gated_delta,
    [MIXER_KIMI_DELTA] = &kind_kimi_delta,
    [MIXER_LIGHTNING] = &kind_lightning,
    [MIXER_SHORT] = &kind_short,
    [MIXER_SPARSE] = &kind_sparse,
    [MIXER_SPARSE_SHARED] = &kind_sparse_shared,
    [MIXER_BLOCK_SPARSE] = &kind_block_sparse,
    [MIXER_NEAR] = &kind_compressed,
    [MIXER_COMPRESSED] = &kind_compressed,
    [MIXER_HEAVILY_COMPRESSED] = &kind_compressed,
    [MIXER_NONE] = &kind_none,
};

const struct transformer_kind *transformer_kind_of(const struct transformer_model *model)
{
    return kinds[model->mixer];
}

struct transformer_widths transformer_widths_of(const struct transformer_model *model)
{
    return transformer_kind_of(model)->widths(model);
}
