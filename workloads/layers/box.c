/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/layers/box.h"

#include <math.h>

double range_length(struct range range)
{
    return range.to > range.from ? range.to - range.from : 0;
}

struct range range_intersect(struct range a, struct range b)
{
    return (struct range){fmax(a.from, b.from), fmin(a.to, b.to)};
}

double box_volume(const struct box *box)
{
    double volume = 1;
    for (int i = 0; i < BOX_DIMENSIONS; i++)
        volume *= range_length(box->ranges[i]);
    return volume;
}

struct box box_intersect(const struct box *a, const struct box *b)
{
    struct box common;
    for (int i = 0; i < BOX_DIMENSIONS; i++)
        common.ranges[i] = range_intersect(a->ranges[i], b->ranges[i]);
    return common;
}

double box_common(const struct box *a, const struct box *b)
{
    struct box common = box_intersect(a, b);
    return box_volume(&common);
}

uint64_t window_outputs(const struct box_window *window, uint64_t size)
{
    if (window->whole)
        return 1;
    uint64_t padded = size + 2 * window->padding;
    return padded < window->kernel ? 0 : (padded - window->kernel) / window->stride + 1;
}

struct range window_inputs(const struct box_window *window, struct range outputs, uint64_t size)
{
    struct range all = {0, (double)size};
    if (window->whole || range_length(outputs) <= 0)
        return range_length(outputs) > 0 ? all : (struct range){0, 0};
    double stride = (double)window->stride, padding = (double)window->padding, kernel = (double)window->kernel;
    /* The first and the last output of the range that do not read padding alone. */
    double first = fmax(outputs.from, ceil((padding - kernel + 1) / stride)),
           last = fmin(outputs.to - 1, floor((all.to - 1 + padding) / stride));
    if (first > last)
        return (struct range){0, 0};
    return range_intersect((struct range){first * stride - padding, last * stride - padding + kernel}, all);
}

/* Where the first k parts end. */
static double find_cut(struct range range, uint32_t k, uint32_t count, const double *shares, bool whole)
{
    double length = range_length(range), sum = 0, before = 0;
    if (k == 0 || k == count)
        return k ? range.from + length : range.from;
    if (!shares)
        return range.from + (whole ? floor(length * k / count) : length * k / count);
    for (uint32_t i = 0; i < count; i++) {
        before += i < k ? shares[i] : 0;
        sum += shares[i];
    }
    double cut = length * before / sum;
    return range.from + (whole ? round(cut) : cut);
}

struct range range_part(struct range range, uint32_t k, uint32_t count, const double *shares, bool whole)
{
    return (struct range){find_cut(range, k, count, shares, whole), find_cut(range, k + 1, count, shares, whole)};
}
