/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a layer with experts: a router sends each token to top_k of them (Shazeer et al. 2017, arXiv 1701.06538),
 * whose products run as one grouped operator over all experts of the rank. Under sequence parallelism a tensor-parallel
 * rank routes its own part of the tokens.
 */
#include "workloads/transformer/kinds/shape.h"

static double inputs(const struct transformer_model *m)
{
    return m->gated ? 2 : 1;
}

/* Tokens that this rank routes. */
static double own_rows(const struct transformer_layout *l, const struct operator_shape *s)
{
    return s->rows / (l->sequence_parallel ? l->tensor : 1);
}

/* Tokens that come to this rank's experts, each as often as it chose one of them: those of all ranks along tensor that
 * share an expert, or its own ones' equal. */
static double routed_rows(const struct transformer_model *m, const struct transformer_layout *l,
                          const struct operator_shape *s)
{
    return s->rows * (double)m->top_k * l->padding * l->expert_tensor / l->tensor;
}

/* Experts whose products are one grouped operator, and its sizes: all tokens of the rank, the columns of one expert. */
struct grouped {
    struct operator_shape shape;
    double experts;
};

/* Of one expert, as measured kernels have it. */
static void set_shape(const struct grouped *g, struct transformer_operator *operator, double inner, double columns)
{
    if (g->experts <= 1)
        return;
    operator->shape.kind = KERNEL_GROUPED;
    operator->shape.groups = g->experts;
    operator->shape.m = g->shape.rows * g->shape.gathered / g->experts;
    operator->shape.n = operator->shape.stage == KERNEL_INPUT ? inner : columns;
    operator->shape.k = operator->shape.stage == KERNEL_INPUT ? columns : inner;
}

/* Moves the weights of all of them. */
static void add_matrix(struct transformer_operators *out, const struct grouped *g, const char *name, double inner,
                       double columns)
{
    operators_add_matrix(out, &g->shape, name, inner, columns);
    out->items[out->count - 1].bytes += (g->experts - 1) * inner * columns * g->shape.element;
    set_shape(g, &out->items[out->count - 1], inner, columns);
}

static void add_matrix_backward(struct transformer_operators *out, const struct transformer_layout *l,
                                const struct grouped *g, const char *name, double inner, double columns)
{
    operators_add_matrix_backward(out, l, &g->shape, name, inner, columns);
    out->items[out->count - 2].bytes += (g->experts - 1) * inner * columns * g->shape.element;
    out->items[out->count - 1].bytes +=
        (g->experts - 1) * inner * columns * (l->gradient_copy > 0 ? l->gradient_copy : 2 * l->gradient_bytes);
    set_shape(g, &out->items[out->count - 2], inner, columns);
    set_shape(g, &out->items[out->count - 1], inner, columns);
}

/* ---- the feed-forward of experts: of all tokens or of those that were sent ---- */

static void products(const struct transformer_model *m, const struct grouped *g, struct transformer_operators *out)
{
    const struct operator_shape *s = &g->shape;
    add_matrix(out, g, "first matrix", s->h, inputs(m) * s->ffn);
    operators_add_vector(out, "activation", (inputs(m) + 1) * s->element * s->rows * s->ffn);
    add_matrix(out, g, "second matrix", s->ffn, s->h);
}

static void products_backward(const struct transformer_model *m, const struct transformer_layout *l,
                              const struct grouped *g, struct transformer_operators *out)
{
    const struct operator_shape *s = &g->shape;
    if (l->recompute == TRANSFORMER_FULL)
        products(m, g, out);
    if (l->recompute == TRANSFORMER_OPERATORS) { /* grouped products are not among those that are kept */
        add_matrix(out, g, "first matrix", s->h, inputs(m) * s->ffn);
        operators_add_vector(out, "activation", (inputs(m) + 1) * s->element * s->rows * s->ffn);
    }
    add_matrix_backward(out, l, g, "second matrix", s->ffn, s->h);
    operators_add_vector(out, "activation", (2 * inputs(m) + 1) * s->element * s->rows * s->ffn);
    add_matrix_backward(out, l, g, "first matrix", s->h, inputs(m) * s->ffn);
}

/* Shared experts are one of as many times the width. */
static struct grouped grouped_of(const struct transformer_model *m, const struct transformer_layout *l,
                                 enum transformer_block block)
{
    struct grouped grouped = {operator_shape_of(m, l), block == BLOCK_SHARED ? 1 : (double)m->experts / l->expert};
    grouped.shape.ffn =
        block == BLOCK_SHARED ? transformer_shared_width(m) / l->tensor : (double)m->expert_ffn / l->expert_tensor;
    if (block != BLOCK_EXPERTS)
        return grouped;
    grouped.shape.rows = routed_rows(m, l, &grouped.shape);
    grouped.shape.h = transformer_expert_width(m);
    return grouped;
}

static void add_products(const struct transformer_model *m, const struct transformer_layout *l,
                         enum transformer_block block, bool backward, struct transformer_operators *out)
{
    struct grouped grouped = grouped_of(m, l, block);
    if (block == BLOCK_SHARED && !(transformer_shared_width(m) > 0))
        return;
    if (backward)
        products_backward(m, l, &grouped, out);
    else
        products(m, &grouped, out);
}

/* ---- router, and the sum of what comes back ---- */

/* Tokens of this rank as the router and the sum meet them. */
static struct operator_shape own_shape(const struct transformer_layout *l, const struct operator_shape *s)
{
    struct operator_shape own = *s;
    own.rows = own_rows(l, s);
    return own;
}

/* Three more around routed experts and what stands beside them (Gemma 4). */
static double more_norms(const struct transformer_model *m)
{
    return m->norms == 7 ? 3 : 0;
}

static void router(const struct transformer_model *m, const struct transformer_layout *l,
                   const struct operator_shape *s, struct transformer_operators *out)
{
    struct operator_shape own = own_shape(l, s);
    double width = transformer_expert_width(m);
    operators_add_norms(out, s, transformer_norms_of(m).ffn, false);
    operators_add_matrix(out, &own, "router", s->h, (double)m->experts);
    if (transformer_narrow_experts(m))
        operators_add_matrix(out, &own, "experts' columns", s->h, width);
    operators_add_vector(out, "permutation", s->element * own.rows * width * (1 + (double)m->top_k));
}

static void router_backward(const struct transformer_model *m, const struct transformer_layout *l,
                            const struct operator_shape *s, struct transformer_operators *out)
{
    struct operator_shape own = own_shape(l, s);
    double width = transformer_expert_width(m);
    operators_add_vector(out, "permutation", s->element * own.rows * width * (1 + (double)m->top_k));
    if (transformer_narrow_experts(m))
        operators_add_matrix_backward(out, l, &own, "experts' columns", s->h, width);
    operators_add_matrix_backward(out, l, &own, "router", s->h, (double)m->experts);
    operators_add_norms(out, s, transformer_norms_of(m).ffn, true);
}

static void combine(const struct transformer_model *m, const struct transformer_layout *l,
                    const struct operator_shape *s, struct transformer_operators *out)
{
    struct operator_shape own = own_shape(l, s);
    double width = transformer_expert_width(m);
    operators_add_vector(out, "weighted sum", s->element * own.rows * width * (1 + (double)m->top_k));
    if (transformer_narrow_experts(m))
        operators_add_matrix(out, &own, "columns of all", width, s->h);
    operators_add_norms(out, s, transformer_norms_of(m).behind + more_norms(m), false);
    operators_add_residual(m, out, s);
}

static void combine_backward(const struct transformer_model *m, const struct transformer_layout *l,
                             const struct operator_shape *s, struct transformer_operators *out)
{
    struct operator_shape own = own_shape(l, s);
    double width = transformer_expert_width(m);
    operators_add_residual_backward(m, l, out, s);
    operators_add_norms(out, s, transformer_norms_of(m).behind + more_norms(m), true);
    if (transformer_narrow_experts(m))
        operators_add_matrix_backward(out, l, &own, "columns of all", width, s->h);
    operators_add_vector(out, "weighted sum", s->element * own.rows * width * (1 + 2 * (double)m->top_k));
}

/* ---- all together ---- */

void experts_forward(const struct transformer_model *m, const struct transformer_layout *l,
                     enum transformer_block block, struct transformer_operators *out)
{
    struct operator_shape shape = operator_shape_of(m, l);
    if (block == BLOCK_ROUTER) {
        router(m, l, &shape, out);
        operators_keep_wide(out, 0);
    } else if (block == BLOCK_COMBINE)
        combine(m, l, &shape, out);
    else
        add_products(m, l, block, false, out);
}

void experts_backward(const struct transformer_model *m, const struct transformer_layout *l,
                      enum transformer_block block, struct transformer_operators *out)
{
    struct operator_shape shape = operator_shape_of(m, l);
    if (l->recompute == TRANSFORMER_FULL && (block == BLOCK_ROUTER || block == BLOCK_COMBINE))
        experts_forward(m, l, block, out);
    if (block == BLOCK_ROUTER) {
        router_backward(m, l, &shape, out);
        operators_keep_wide(out, 0);
    } else if (block == BLOCK_COMBINE)
        combine_backward(m, l, &shape, out);
    else
        add_products(m, l, block, true, out);
}
