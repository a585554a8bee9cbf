/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/kernels/kernel_time.h"

#include "base/rounded/rounded.h"

#include <math.h>

/* Attention has another kernel for each size of heads: these are farther apart than their sizes. Over a cache the
 * number of tokens only adds rounds of the same work. */
static double distance(enum kernel_kind kind, const double a[KERNEL_SIZES], const double b[KERNEL_SIZES])
{
    static const double plain[KERNEL_SIZES] = {1, 1, 1, 1}, heads[KERNEL_SIZES] = {1, 1, 16, 16},
                        cached[KERNEL_SIZES] = {1, 0.5, 8, 4};
    const double *apart = kind == KERNEL_ATTENTION ? heads : kind == KERNEL_DECODE ? cached : plain;
    double sum = 0;
    for (unsigned i = 0; i < KERNEL_SIZES; i++)
        sum += apart[i] * (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/* Fills out->near; distances[i] belongs to near[i]. */
static void find_near(const struct kernel_model *rows, const double sizes[KERNEL_SIZES], struct kernel_time *out,
                      double distances[KERNEL_NEIGHBOURS])
{
    for (unsigned i = 0; i < rows->row_count; i++) {
        double away = distance(rows->kind, sizes, rows->rows[i].size);
        unsigned at = out->near_count;
        if (at == KERNEL_NEIGHBOURS && away >= distances[at - 1])
            continue;
        at -= at == KERNEL_NEIGHBOURS;
        for (; at > 0 && away < distances[at - 1]; at--) {
            distances[at] = distances[at - 1];
            out->near[at] = out->near[at - 1];
        }
        distances[at] = away;
        out->near[at] = &rows->rows[i];
        out->near_count += out->near_count < KERNEL_NEIGHBOURS;
    }
}

static unsigned outside_of(const struct kernel_model *rows, const double sizes[KERNEL_SIZES])
{
    unsigned outside = 0;
    for (unsigned i = 0; i < KERNEL_SIZES; i++)
        if (!rows->row_count || sizes[i] < rows->low[i] - 1e-9 || sizes[i] > rows->high[i] + 1e-9)
            outside |= 1U << i;
    return outside;
}

/* Of a model that nothing was measured of: those of its source's forward. */
static const struct kernel_model *rows_of(const struct kernel_table *table, const struct kernel_model *model)
{
    struct kernel_shape forward = {.kind = model->kind, .type = model->type, .stage = KERNEL_FORWARD};
    const struct kernel_model *other = model->row_count ? model : kernel_model_find(table, &forward, model->source);
    return other ? other : model;
}

bool kernel_time(const struct kernel_table *table, const struct kernel_shape *shape, const char *source,
                 struct kernel_time *out)
{
    /* A twentieth of a doubling squared: kernels nearer than that count alike. */
    static const double near = 0.05;
    double sizes[KERNEL_SIZES], distances[KERNEL_NEIGHBOURS], sum = 0, weights = 0;
    *out = (struct kernel_time){.model = kernel_model_find(table, shape, source)};
    if (!out->model)
        return false;
    const struct kernel_model *rows = rows_of(table, out->model);
    kernel_sizes(shape, sizes);
    find_near(rows, sizes, out, distances);
    for (unsigned i = 0; i < out->near_count; i++) {
        double weight = 1 / (distances[i] + near);
        sum += weight * out->near[i]->beside;
        weights += weight;
    }
    out->rows = rows;
    out->outside = outside_of(rows, sizes);
    out->modelled = kernel_model_seconds(out->model, shape);
    out->seconds = out->modelled * (weights > 0 ? rounded_exp(sum / weights) : 1);
    return true;
}
