/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/plan/plan_share.h"

static double value_of(const double *values, size_t count, uint64_t share)
{
    return values[count == 1 ? 0 : share];
}

uint32_t plan_share_end(uint32_t shares, uint32_t stages, uint32_t stage)
{
    return (uint32_t)((((uint64_t)stage + 1) * shares - 1) / stages);
}

/* The model is shares * stages pieces long: a share has `stages` of them, a stage `shares`. */
double plan_share_cut(const double *values, size_t count, uint32_t shares, uint32_t stages, uint32_t stage)
{
    uint64_t begin = (uint64_t)stage * shares, end = begin + shares;
    uint32_t first = (uint32_t)(begin / stages), last = plan_share_end(shares, stages, stage);
    if (stages % shares == 0 || count == 1)
        return value_of(values, count, first) / ((double)stages / shares);
    double sum = 0;
    for (uint32_t share = first; share <= last; share++) {
        uint64_t from = (uint64_t)share * stages, to = from + stages;
        uint64_t pieces = (to < end ? to : end) - (from > begin ? from : begin);
        sum += value_of(values, count, share) * ((double)pieces / stages);
    }
    return sum;
}
