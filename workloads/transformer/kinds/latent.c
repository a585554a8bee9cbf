/* SPDX-License-Identifier: Apache-2.0 */
/* Projections of latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1): queries, and keys and values, go
 * through narrow widths. The matrices into them are the same on all tensor-parallel ranks, those out of them are
 * divided by heads. */
#include "workloads/transformer/kinds/operator_list.h"

/* Into and out of the narrow widths; columns of this rank. */
struct latent {
    double query_rank, kv_rank, narrow; /* narrow: of keys and values with the rotary part */
    double query, key_value;
};

static struct latent latent_of(const struct transformer_model *m, const struct transformer_layout *l,
                               const struct operator_shape *s)
{
    double query_rank = (double)m->query_rank, kv_rank = (double)m->kv_rank;
    double key_value = (double)(m->heads * (m->head_size + m->value_size)) / l->tensor;
    return (struct latent){query_rank, kv_rank, kv_rank + (double)m->rope_size, s->query, key_value};
}

void latent_projections(const struct transformer_model *m, const struct transformer_layout *l,
                        const struct operator_shape *s, struct transformer_operators *out)
{
    struct latent latent = latent_of(m, l, s);
    if (latent.query_rank > 0)
        operators_add_matrix(out, s, "query down", s->h, latent.query_rank);
    operators_add_matrix(out, s, "key, value down", s->h, latent.narrow);
    operators_add_vector(out, "normalisation", 2 * s->element * s->rows * (latent.query_rank + latent.kv_rank));
    operators_add_matrix(out, s, "query up", latent.query_rank > 0 ? latent.query_rank : s->h, latent.query);
    operators_add_matrix(out, s, "key, value up", latent.kv_rank, latent.key_value);
}

void latent_projections_backward(const struct transformer_model *m, const struct transformer_layout *l,
                                 const struct operator_shape *s, struct transformer_operators *out)
{
    struct latent latent = latent_of(m, l, s);
    operators_add_matrix_backward(out, l, s, "key, value up", latent.kv_rank, latent.key_value);
    operators_add_matrix_backward(out, l, s, "query up", latent.query_rank > 0 ? latent.query_rank : s->h,
                                  latent.query);
    operators_add_vector(out, "normalisation", 4 * s->element * s->rows * (latent.query_rank + latent.kv_rank));
    operators_add_matrix_backward(out, l, s, "key, value down", s->h, latent.narrow);
    if (latent.query_rank > 0)
        operators_add_matrix_backward(out, l, s, "query down", s->h, latent.query_rank);
}
