/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/collectives/steps.h"

#include "base/arena.h"

#include <assert.h>
#include <stdlib.h>

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
