/* SPDX-License-Identifier: Apache-2.0 */
#include "test/support/steps_evaluate.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
