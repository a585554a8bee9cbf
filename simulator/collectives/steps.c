/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/collectives/steps.h"

#include "base/arena.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void steps_cut(struct collective_steps *steps, uint32_t blocks, uint32_t blocks_of_size)
{
    steps->blocks = blocks;
    steps->blocks_of_size = blocks_of_size;
}

void steps_join(struct collective_steps *steps, uint32_t first, uint32_t count)
{
    struct collective_transfer *transfer = &steps->transfers[steps->count - 1];
    assert(count && (uint64_t)first + count <= steps->blocks);
    steps->pieces = array_grow(steps->pieces, &steps->piece_capacity, steps->piece_count + 1, sizeof *steps->pieces);
    steps->pieces[steps->piece_count++] = (struct collective_blocks){first, count};
    transfer->pieces++;
    transfer->blocks += count;
}

void steps_add(struct collective_steps *steps, uint32_t round, uint32_t from, uint32_t to, bool reduces, uint32_t first,
               uint32_t count)
{
    assert(from != to);
    steps->transfers = array_grow(steps->transfers, &steps->capacity, steps->count + 1, sizeof *steps->transfers);
    steps->transfers[steps->count++] = (struct collective_transfer){
        .from = from, .to = to, .round = round, .reduces = reduces, .first = steps->piece_count};
    if (round >= steps->rounds)
        steps->rounds = round + 1;
    steps_join(steps, first, count);
}

void steps_sort(struct collective_steps *steps)
{
    size_t *next = array_zeroed((size_t)steps->rounds + 1, sizeof *next);
    struct collective_transfer *sorted = array_zeroed(steps->count, sizeof *sorted);
    for (size_t i = 0; i < steps->count; i++)
        next[steps->transfers[i].round + 1]++;
    for (uint32_t round = 0; round < steps->rounds; round++)
        next[round + 1] += next[round];
    for (size_t i = 0; i < steps->count; i++)
        sorted[next[steps->transfers[i].round]++] = steps->transfers[i];
    free(next);
    free(steps->transfers);
    steps->transfers = sorted;
    steps->capacity = steps->count + 1;
}

void steps_finish(struct collective_steps *steps)
{
    free(steps->transfers);
    free(steps->pieces);
    *steps = (struct collective_steps){0};
}

/* `now`: ends of the rounds before; `ends`: with the transfers of the current round. */
static void evaluate_transfer(const struct collective_steps *steps, const struct collective_transfer *transfer,
                              double bytes, const struct steps_network *network, const double *now, double *ends)
{
    double alpha, beta, size = steps_bytes(steps, transfer, bytes);
    network->edge(network->user, transfer->from, transfer->to, &alpha, &beta);
    double start = fmax(now[transfer->from], now[transfer->to]);
    double end = start + alpha + size * (beta + (transfer->reduces ? network->gamma : 0));
    ends[transfer->from] = fmax(ends[transfer->from], end);
    ends[transfer->to] = fmax(ends[transfer->to], end);
}

double steps_evaluate(const struct collective_steps *steps, uint32_t ranks, double bytes,
                      const struct steps_network *network, const double *arrivals, double *ends)
{
    double *now = array_zeroed(ranks, sizeof *now), latest = 0;
    for (uint32_t rank = 0; rank < ranks; rank++)
        ends[rank] = arrivals ? arrivals[rank] : 0;
    for (size_t i = 0; i < steps->count;) {
        memcpy(now, ends, ranks * sizeof *now);
        for (uint32_t round = steps->transfers[i].round; i < steps->count && steps->transfers[i].round == round; i++)
            evaluate_transfer(steps, &steps->transfers[i], bytes, network, now, ends);
    }
    for (uint32_t rank = 0; rank < ranks; rank++)
        latest = fmax(latest, ends[rank]);
    free(now);
    return latest;
}
