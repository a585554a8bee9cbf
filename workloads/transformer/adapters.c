/* SPDX-License-Identifier: Apache-2.0 */
/* Low-rank adapters (LoRA: Hu et al. 2021, arXiv 2106.09685): beside a frozen matrix of k x n one of k x r and one of r
 * x n. The backward goes through the frozen matrix, whose weights have no gradient. Embedding, output, normalisations
 * and routers are frozen. */
#include "workloads/transformer/transformer.h"

static bool has_adapters(enum transformer_block block)
{
    return block != BLOCK_INPUT && block != BLOCK_OUTPUT && block != BLOCK_ROUTER && block != BLOCK_COMBINE &&
           block != BLOCK_PREDICTION;
}

static void drop_weights(struct transformer_operators *operators)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < operators->count; i++)
        if (!operators->items[i].weight)
            operators->items[kept++] = operators->items[i];
    operators->count = kept;
}

bool transformer_is_product(const struct transformer_operator *operator)
{
    return operator->matrix && !operator->flash && operator->shape.groups>
        0 &&(operator->shape.kind == KERNEL_MATMUL || operator->shape.kind == KERNEL_GROUPED);
}

/* Elements of the adapters of all products of a block's forward: r (k + n) each. */
static double adapters_of(const struct transformer_job *at, enum transformer_block block, double *product_rows)
{
    struct transformer_operators list;
    double rank = (double)at->parameters->adapter_rank, sum = 0;
    transformer_forward(&at->model, &at->layout, block, &list);
    for (unsigned i = 0; i < list.count; i++) {
        const struct kernel_shape *s = &list.items[i].shape;
        if (!transformer_is_product(&list.items[i]))
            continue;
        sum += s->groups * rank * (s->k + s->n);
        *product_rows += s->groups * s->m * rank * (s->k + s->n);
    }
    return sum;
}

double transformer_adapter_parameters(const struct transformer_job *at, enum transformer_block block)
{
    double unused = 0;
    return has_adapters(block) && at->parameters->adapter_rank ? adapters_of(at, block, &unused) : 0;
}

void transformer_adapt(const struct transformer_job *at, enum transformer_block block, bool backward,
                       struct transformer_operators *operators)
{
    double products = 0;
    if (!at->parameters->adapter_rank)
        return;
    drop_weights(operators);
    double elements = has_adapters(block) ? adapters_of(at, block, &products) : 0;
    if (!(elements > 0))
        return;
    /* Narrow products read and write more than they compute: all as one, for the input and in a backward for the
     * weights, too. */
    struct transformer_operator adapters = {.name = "adapters", .matrix = true, .wide = true};
    double rows = products / elements, element = at->layout.element_bytes;
    adapters.flops = 2 * products;
    adapters.bytes = element * (elements + products / (double)at->parameters->adapter_rank);
    for (unsigned i = 0; i < (backward ? 2 : 1) && rows > 0; i++) {
        adapters.weight = i > 0;
        operators->items[operators->count++] = adapters;
    }
}
