/* SPDX-License-Identifier: Apache-2.0 */
/* Activations that are not kept but computed again (Chen et al. 2016, arXiv 1604.06174): the network is cut into
 * segments, of which the forward keeps what crosses the cuts. The backward of a segment begins with its forward. The
 * last segment's backward follows its forward at once, so its activations are kept. */
#include "workloads/layers/layers.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

/* Fills segments from the front with at most `limit` bytes of activations each. The first one has two layers at least:
 * the backward of the network's first layer could not take what it gives back itself. Their number; where `ends` is
 * given, the layers past them. */
static uint32_t cut(const struct layers_job *j, const struct layer_cost *costs, double limit, uint32_t *ends)
{
    uint32_t count = 0;
    for (uint32_t layer = 0; layer < j->count; count++) {
        double sum = costs[layer++].activation;
        while (layer < j->count && (layer == 1 || sum + costs[layer].activation <= limit))
            sum += costs[layer++].activation;
        if (ends)
            ends[count] = layer;
    }
    return count;
}

/* The least bytes of the fullest segment, of at most so many segments: the limit is bisected until no number lies
 * between one that suffices and one that does not. */
static double least_limit(const struct layers_job *j, const struct layer_cost *costs, uint64_t segments)
{
    double low = j->count > 1 ? costs[0].activation + costs[1].activation : 0, high = 0;
    for (uint32_t i = 0; i < j->count; i++) {
        low = fmax(low, costs[i].activation);
        high += costs[i].activation;
    }
    high *= 1 + 1e-12; /* sums of parts are rounded in another order */
    if (cut(j, costs, low, NULL) <= segments)
        return low;
    for (;;) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            return high;
        *(cut(j, costs, middle, NULL) <= segments ? &high : &low) = middle;
    }
}

/* Layers [first, past) between two cuts. Each backward gives back what the one before it has used last: an operation
 * either takes or gives back, and the first one takes the whole segment. */
static void compute_again(struct layer_cost *costs, uint32_t first, uint32_t past)
{
    for (uint32_t i = past; i-- > first;) {
        struct layer_cost *cost = &costs[i];
        costs[past - 1].freed += cost->activation;
        *(i > 0 ? &costs[i - 1].freed : &cost->freed) -= cost->activation;
        cost->taken = 0;
        cost->backward += cost->forward;
        cost->memory_bound += cost->forward_bound;
        cost->backward_flops += cost->forward_flops;
        cost->again_flops = cost->forward_flops;
    }
    costs[past - 1].taken = costs[past - 1].message;
    costs[past - 1].freed -= costs[past - 1].message;
}

void layers_checkpoints(const struct layers_job *j, struct layer_cost *costs)
{
    uint64_t segments = j->parameters->checkpoints + 1;
    for (uint32_t i = 0; i < j->count; i++) {
        costs[i].taken = costs[i].activation;
        costs[i].freed = 0;
    }
    uint32_t *ends = array_zeroed(j->count, sizeof *ends);
    uint32_t count = segments > 1 ? cut(j, costs, least_limit(j, costs, segments), ends) : 0;
    for (uint32_t s = 0; s + 1 < count; s++)
        compute_again(costs, s ? ends[s - 1] : 0, ends[s]);
    for (uint32_t i = count > 1 ? ends[count - 2] : 0; i < j->count; i++)
        costs[i].freed -= costs[i].activation;
    free(ends);
}
