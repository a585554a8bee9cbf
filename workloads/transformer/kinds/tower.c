/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/kinds/tower.h"

struct transformer_model tower_model(const struct transformer_model *m)
{
    struct transformer_model tower = {.layers = m->tower_layers,
                                      .hidden = m->tower_hidden,
                                      .heads = m->tower_heads ? m->tower_heads : 1,
                                      .ffn = m->tower_ffn,
                                      .sequence = m->tower_patches ? m->tower_patches : 1,
                                      .vocabulary = 1,
                                      .biases = true,
                                      .norm = NORM_LAYER};
    transformer_model_complete(&tower);
    return tower;
}

/* Columns of a merger: of all patches that become one token. */
static double merged(const struct transformer_model *m)
{
    return (double)(m->tower_merge * m->tower_hidden);
}

/* The matrix of patches, positions, and mergers of two matrices each; the first normalises patches, others what was put
 * together. */
double tower_end_parameters(const struct transformer_model *m)
{
    double v = (double)m->tower_hidden, w = merged(m), h = (double)m->hidden, count = (double)m->tower_mergers;
    double patches = (double)m->tower_inputs * v + v + (double)m->tower_positions * v;
    return patches + count * (w * w + w + w * h + h) + 2 * v + (count - 1) * 2 * w;
}

double tower_parameters(const struct transformer_model *m)
{
    struct transformer_model tower = tower_model(m);
    if (!m->tower_layers)
        return 0;
    return (double)tower.layers * transformer_layer_parameters(&tower, false) + tower_end_parameters(m);
}

double tower_end_flops(const struct transformer_model *m)
{
    double patches = (double)m->tower_patches, w = merged(m), tokens = patches / (double)m->tower_merge;
    return 2 * patches * (double)m->tower_inputs * (double)m->tower_hidden +
           2 * tokens * (double)m->tower_mergers * (w * w + w * (double)m->hidden);
}

void tower_ends(const struct transformer_model *m, const struct transformer_layout *l, double images, bool backward,
                struct transformer_operators *out)
{
    double patches = images * (double)m->tower_patches, w = merged(m);
    struct operator_shape s = {.rows = patches, .gathered = 1, .element = l->element_bytes};
    struct operator_shape tokens = s;
    tokens.rows = patches / (double)m->tower_merge * (double)m->tower_mergers;
    out->count = 0;
    if (!(patches > 0))
        return;
    if (!backward) {
        operators_add_matrix(out, &s, "patches", (double)m->tower_inputs, (double)m->tower_hidden);
        operators_add_matrix(out, &tokens, "merger", w, w);
        operators_add_matrix(out, &tokens, "merger", w, (double)m->hidden);
        return;
    }
    operators_add_matrix_backward(out, l, &tokens, "merger", w, (double)m->hidden);
    operators_add_matrix_backward(out, l, &tokens, "merger", w, w);
    operators_add_matrix_backward(out, l, &s, "patches", (double)m->tower_inputs, (double)m->tower_hidden);
}
