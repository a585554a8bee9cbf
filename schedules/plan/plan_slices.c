/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/plan/plan_slices.h"

#include "base/arena.h"

#include <math.h>

void plan_cut(struct plan *plan, uint32_t slices)
{
    size_t capacity = 0;
    plan->slices = slices;
    plan->slice_lengths = array_grow(plan->slice_lengths, &capacity, slices, sizeof *plan->slice_lengths);
    for (uint32_t slice = 0; slice < slices; slice++)
        plan->slice_lengths[slice] = 1.0 / slices;
}

/* Where a share `part` of the time is over that a sequence up to there takes: u with (1 - a) u + a u^2 = part. */
static double end_of(double attention, double part)
{
    double linear = 1 - attention;
    return attention > 0 ? (sqrt(linear * linear + 4 * attention * part) - linear) / (2 * attention) : part;
}

void plan_cut_balanced(struct plan *plan, double attention, double grain)
{
    double left = 1;
    for (uint32_t slice = plan->slices; slice-- > 1;) {
        double length =
            end_of(attention, (slice + 1.0) / plan->slices) - end_of(attention, (double)slice / plan->slices);
        double whole = grain > 0 ? floor(length / grain * (1 + 1e-12)) * grain : length;
        plan->slice_lengths[slice] = whole > 0 ? whole : length; /* a slice is never empty */
        left -= plan->slice_lengths[slice];
    }
    plan->slice_lengths[0] = left;
}

double plan_slice_length(const struct plan *plan, uint32_t micro_batch)
{
    return plan->slices > 1 ? plan->slice_lengths[micro_batch % plan->slices] : 1;
}

double plan_slice_work(const struct plan *plan, uint32_t micro_batch, double attention)
{
    double length = plan_slice_length(plan, micro_batch), before = 0;
    if (plan->slices == 1 || plan->even_slices)
        return length;
    for (uint32_t slice = 0; slice < micro_batch % plan->slices && attention > 0; slice++)
        before += plan->slice_lengths[slice];
    return length * (1 - attention + attention * (2 * before + length));
}
