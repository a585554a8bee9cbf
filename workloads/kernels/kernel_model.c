/* SPDX-License-Identifier: Apache-2.0 */
/* What a model of a kind of kernels says of a shape. */
#include "workloads/kernels/kernel_time.h"

#include <math.h>

/* A product is cut into tiles, which all processors work on at the same time, in waves. Each tile takes as long as its
 * flop and those of 128 further columns for its beginning and end; smaller tiles move more for each flop. The fastest
 * counts. */
static const struct tile {
    double rows, columns, penalty;
} tiles[] = {{128, 256, 1}, {128, 128, 1.06}, {64, 128, 1.18}};

static const double tile_ends = 128;

enum { WIDE = 2, FLOAT = 4 };

static double tiles_seconds(const struct kernel_model *model, double groups, double rows, double columns, double inner)
{
    double least = INFINITY;
    for (unsigned i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        double count = groups * ceil(rows / tiles[i].rows) * ceil(columns / tiles[i].columns);
        double waves = ceil(count / model->processors) * model->processors;
        least = fmin(least, waves * tiles[i].rows * tiles[i].columns * tiles[i].penalty);
    }
    return 2 * least * (inner + tile_ends) / (model->peak * model->compute);
}

static double moving_seconds(const struct kernel_model *model, double bytes)
{
    return bytes / (model->bandwidth * model->memory);
}

/* Of an operand. */
static double element_bytes(enum kernel_type type)
{
    static const double bytes[] = {2, 1, 1, 0.5};
    return bytes[type];
}

/* Weight gradients are read and written in fp32. */
static double product_seconds(const struct kernel_model *model, const struct kernel_shape *s)
{
    double element = element_bytes(s->type), out = s->stage == KERNEL_WEIGHT ? 2 * FLOAT : WIDE;
    double bytes = s->groups * (element * s->k * (s->m + s->n) + out * s->m * s->n);
    return fmax(tiles_seconds(model, s->groups, s->m, s->n, s->k), moving_seconds(model, bytes));
}

/* Waves are those of all groups together. The gradient of a group's weights sums over its rows. */
static double grouped_seconds(const struct kernel_model *model, const struct kernel_shape *s)
{
    struct kernel_shape product = *s;
    if (s->stage == KERNEL_WEIGHT) {
        product.m = s->n;
        product.n = s->k;
        product.k = s->m;
    }
    return s->groups * model->extra * 1e-6 + product_seconds(model, &product);
}

/* Rows come to their experts (read and written), go through two matrices for the gated activation and one behind it,
 * and come back. */
static double experts_seconds(const struct kernel_model *model, const struct kernel_shape *s)
{
    struct kernel_shape first = *s, second = *s;
    double rows = s->groups * s->m, moved = WIDE * rows * (3 * s->k + 3 * s->n);
    first.n = 2 * s->n;
    second.n = s->k;
    second.k = s->n;
    return grouped_seconds(model, &first) + grouped_seconds(model, &second) + moving_seconds(model, moved);
}

/* Attention is cut into blocks of 128 queries. With a causal mask blocks differ, so processors even out among them;
 * where blocks are fewer some idle. Short sequences reach less of the rate. */
static double attention_seconds(const struct kernel_model *model, const struct kernel_shape *s)
{
    enum { BLOCK = 128 };
    double idle = fmax(1, model->processors / (s->groups * ceil(s->m / BLOCK)));
    double computing = kernel_flops(s) * idle * (1 + model->extra / s->m) / (model->peak * model->compute);
    return fmax(computing, moving_seconds(model, 2 * WIDE * s->groups * s->m * (s->n + s->k)));
}

/* ---- scans ---- */

static bool is_scan(enum kernel_kind kind)
{
    return kind == KERNEL_MAMBA || kind == KERNEL_GATED_DELTA || kind == KERNEL_KIMI_DELTA || kind == KERNEL_LIGHTNING;
}

/* Of a head and token, in chunks of 64 tokens, of Mamba-2 128, of lightning attention 256. */
static double scan_flops(const struct kernel_shape *s)
{
    enum { CHUNK = 64, MAMBA_CHUNK = 128, LIGHTNING_CHUNK = 256 };
    if (s->kind == KERNEL_MAMBA)
        return 4 * s->n * s->k + 2 * MAMBA_CHUNK * s->n;
    if (s->kind == KERNEL_LIGHTNING)
        return 4 * s->n * s->k + 2 * LIGHTNING_CHUNK * (s->n + s->k);
    return 6 * s->n * s->k + 2 * CHUNK * (3 * s->n + 2 * s->k) + CHUNK * CHUNK * 2.0 / 3;
}

/* Chunks of a head follow each other: few heads leave processors idle. */
static double scan_seconds(const struct kernel_model *model, const struct kernel_shape *s)
{
    double computing = kernel_flops(s) * (1 + model->extra / s->groups) / (model->peak * model->compute);
    double passes = s->stage == KERNEL_BACKWARD ? 2.5 : 1;
    return fmax(computing, moving_seconds(model, passes * WIDE * s->groups * s->m * 2 * (s->n + s->k)));
}

/* ---- attention over a cache ---- */

/* Of a head of keys of each sequence one block of the grid, or several: each takes a while even over a short cache, and
 * all processors work on blocks at the same time. */
static double decode_seconds(const struct kernel_model *model, const struct kernel_shape *s)
{
    double kept = s->groups * s->m * s->n * element_bytes(s->type) * 2;
    double moving = moving_seconds(model, kept + 2 * WIDE * s->groups * s->n * s->k);
    double blocks = s->groups * model->extra * 1e-6 / model->processors;
    return fmax(fmax(moving, blocks), kernel_flops(s) / (model->peak * model->compute));
}

double kernel_flops(const struct kernel_shape *s)
{
    bool full = s->stage == KERNEL_FORWARD_FULL || s->stage == KERNEL_BACKWARD_FULL;
    bool backward = s->stage == KERNEL_BACKWARD || s->stage == KERNEL_BACKWARD_FULL;
    if (is_scan(s->kind))
        return s->groups * s->m * scan_flops(s) * (backward ? 2 : 1);
    switch (s->kind) {
    case KERNEL_MATMUL:
    case KERNEL_GROUPED:
        return 2 * s->groups * s->m * s->n * s->k;
    case KERNEL_EXPERTS:
        return 6 * s->groups * s->m * s->n * s->k;
    case KERNEL_DECODE:
        return 4 * s->groups * s->m * s->n * s->k;
    case KERNEL_ATTENTION:
        return s->groups * s->m * s->m * (s->n + s->k) * (full ? 2 : 1) * (backward ? 2.5 : 1);
    default:
        return 0;
    }
}

double kernel_model_seconds(const struct kernel_model *model, const struct kernel_shape *shape)
{
    if (is_scan(shape->kind))
        return model->launch + scan_seconds(model, shape);
    switch (shape->kind) {
    case KERNEL_MATMUL:
        return model->launch + product_seconds(model, shape);
    case KERNEL_GROUPED:
        return model->launch + grouped_seconds(model, shape);
    case KERNEL_EXPERTS:
        return model->launch + experts_seconds(model, shape);
    case KERNEL_ATTENTION:
        return model->launch + attention_seconds(model, shape);
    case KERNEL_DECODE:
        return model->launch + decode_seconds(model, shape);
    default:
        return model->launch + moving_seconds(model, shape->m);
    }
}
