/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that update whole tensors each, and broadcast them: HybridZeroOptimizer of InternEvo (_partition_param_list and
 * broadcast_params of internlm/solver/optimizer/hybrid_zero_optim.py @ c628a8c). Tensors are given away from the
 * largest on, each to the rank with fewest elements so far. A rank's tensors are one buffer, and ranks broadcast one
 * after the other: the rings of a library go through a node against the order of ranks (NVIDIA/nccl issue 514), so that
 * the next root is among the last to get what the one before sends. */
#include "workloads/transformer/transformer.h"

#include "base/arena.h"

#include <stdlib.h>

bool transformer_owns_tensors(const struct transformer_job *j)
{
    return j->parameters->zero_parts == PARTS_TENSORS && j->zero == 1 && j->sharing > 1;
}

bool transformer_check_owners(const struct transformer_job *j)
{
    const struct transformer_model *m = &j->model;
    const char *beside = m->experts                               ? "experts"
                         : transformer_has_tower(m)               ? "a tower"
                         : j->parameters->adapter_rank            ? "adapters"
                         : j->tensor.algorithm != TENSOR_MEGATRON ? "another algorithm than megatron-1d"
                                                                  : NULL;
    if (j->parameters->zero_parts != PARTS_TENSORS || j->zero != 1 || !beside)
        return true;
    j->api->error(j->job, "zero_parts", "owners of whole tensors are not known beside %s; expected zero_parts: equal",
                  beside);
    return false;
}

/* Elements of tensors on one rank. */
struct tensors {
    double *sizes;
    size_t count, capacity;
};

static void add(struct tensors *tensors, double size)
{
    if (!(size > 0))
        return;
    tensors->sizes = array_grow(tensors->sizes, &tensors->capacity, tensors->count + 1, sizeof *tensors->sizes);
    tensors->sizes[tensors->count++] = size;
}

/* Matrices of products; both into a gated block are tensors of their own. What is left (norms, biases) is one. */
static void add_block(struct tensors *tensors, const struct transformer_job *at, enum transformer_block block)
{
    struct transformer_operators list;
    double all = transformer_block_parameters(at, block), left = all;
    bool gated = block == BLOCK_FFN && at->model.gated;
    size_t first = tensors->count;
    transformer_forward(&at->model, &at->layout, block, &list);
    for (unsigned i = 0, products = 0; i < list.count; i++) {
        const struct kernel_shape *shape = &list.items[i].shape;
        if (!transformer_is_product(&list.items[i]))
            continue;
        unsigned parts = gated && !products++ ? 2 : 1;
        double size = shape->groups * shape->k * shape->n / parts;
        for (unsigned part = 0; part < parts; part++)
            add(tensors, size);
        left -= parts * size;
    }
    if (left < 0) { /* products of what the block does not hold */
        tensors->count = first;
        left = all;
    }
    add(tensors, left);
}

static void add_stage(struct tensors *tensors, const struct transformer_job *j, uint32_t stage)
{
    uint32_t first = transformer_stage_first(j, stage), further = transformer_stage_further(j, stage);
    for (uint32_t layer = first; layer < first + j->layers[stage] + further; layer++) {
        struct transformer_job at = transformer_at_layer(j, layer);
        add_block(tensors, &at, BLOCK_ATTENTION);
        if (at.model.feed == FEED_DENSE)
            add_block(tensors, &at, BLOCK_FFN);
    }
    for (uint32_t i = 0; i < further; i++)
        add(tensors, transformer_block_parameters(j, BLOCK_PREDICTION));
    if (stage == 0)
        add(tensors, transformer_block_parameters(j, BLOCK_INPUT));
    if (stage + 1 == j->stages) {
        add_block(tensors, j, BLOCK_OUTPUT);
        add(tensors, transformer_further_embedding(j));
    }
}

static int descending(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a < *b) - (*a > *b);
}

/* Puts the first of a heap, whose load has grown, where it belongs. */
static void sink(double *loads, size_t count)
{
    for (size_t at = 0, next; (next = 2 * at + 1) < count; at = next) {
        next += next + 1 < count && loads[next + 1] < loads[next];
        if (loads[at] <= loads[next])
            return;
        double own = loads[at];
        loads[at] = loads[next];
        loads[next] = own;
    }
}

/* Loads of the ranks that own anything. */
static double *give_away(struct tensors *tensors, size_t ranks, size_t *owners)
{
    *owners = ranks < tensors->count ? ranks : tensors->count;
    double *loads = array_zeroed(*owners + 1, sizeof *loads);
    qsort(tensors->sizes, tensors->count, sizeof *tensors->sizes, descending);
    for (size_t i = 0; i < tensors->count; i++) {
        loads[0] += tensors->sizes[i];
        sink(loads, *owners);
    }
    qsort(loads, *owners, sizeof *loads, descending);
    return loads;
}

struct transformer_owners transformer_find_owners(const struct transformer_job *j, uint32_t stage)
{
    struct tensors tensors = {0};
    size_t owners, capacity = 0;
    add_stage(&tensors, j, stage);
    double *loads = give_away(&tensors, j->sharing, &owners);
    struct transformer_owners found = {.most = loads[0]};
    for (size_t i = 0; i < owners; i++) {
        double bytes = loads[i] * j->state.weight;
        if (i && loads[i] == loads[i - 1]) {
            found.buffers[found.count - 1].bytes += bytes;
            found.buffers[found.count - 1].repeats++;
            continue;
        }
        found.buffers = array_grow(found.buffers, &capacity, found.count + (size_t)1, sizeof *found.buffers);
        found.buffers[found.count++] = (struct stagesim_cost){.bytes = bytes, .repeats = 1};
    }
    free(loads);
    free(tensors.sizes);
    return found;
}
