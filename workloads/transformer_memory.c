/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer_memory.h"

static double rows(const struct transformer_model *m, const struct transformer_layout *l)
{
    return l->samples * (double)m->sequence / l->context;
}

/* By what activations between blocks are divided. */
static double between(const struct transformer_layout *l)
{
    return l->sequence_parallel ? l->tensor : l->width;
}

double transformer_layer_activation(const struct transformer_model *m, const struct transformer_layout *l)
{
    double h = (double)m->hidden, e = l->element_bytes, mask = m->dropout, n = rows(m, l);
    if (l->recompute == TRANSFORMER_FULL)
        return e * n * h / l->width;
    double query = (double)(m->heads * m->head_size), key_value = 2 * (double)(m->kv_heads * m->head_size);
    /* Inputs of the two normalisations and of the two blocks; a mask after each block. */
    double whole = (4 * e + 2 * mask) * h;
    /* Query, key, value, the projection's input; around the activation function. */
    double divided = e * (2 * query + key_value) + (m->gated ? 3 : 2) * e * (double)m->ffn;
    double scores = 0; /* softmax, and where there is dropout its mask and what is left */
    if (!l->flash && l->recompute == TRANSFORMER_KEEP)
        scores = (e + mask * (e + 1)) * (double)m->heads * (double)m->sequence;
    return n * (whole / between(l) + (divided + scores) / l->tensor);
}

double transformer_input_activation(const struct transformer_model *m, const struct transformer_layout *l)
{
    return m->dropout ? rows(m, l) * (double)m->hidden / between(l) : 0;
}

double transformer_output_activation(const struct transformer_model *m, const struct transformer_layout *l)
{
    double inputs = (m->final_norm ? 2 : 1) * l->element_bytes * (double)m->hidden / between(l);
    return rows(m, l) * (inputs + 4 * (double)m->vocabulary / l->tensor);
}

struct transformer_state transformer_state_of(enum transformer_optimizer optimizer, double element_bytes, double gradient_bytes)
{
    double moments = optimizer == OPTIMIZER_ADAM ? 8 : optimizer == OPTIMIZER_MOMENTUM ? 4 : 0;
    double master = element_bytes < 4 ? 4 : 0; /* a copy in fp32 of weights in 16 bits */
    return (struct transformer_state){.weight = element_bytes,
                                      .gradient = gradient_bytes,
                                      .optimizer = master + moments,
                                      /* Reads the gradient, reads and writes the state, writes (in fp32 also reads) the weight. */
                                      .update = gradient_bytes + 2 * (master + moments) + element_bytes * (master > 0 ? 1 : 2)};
}
