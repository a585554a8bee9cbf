/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/tensor.h"

#include <math.h>
#include <stddef.h>

const char *const tensor_algorithm_names[] = {"megatron-1d", "summa-2d", "tesseract-2.5d", "cube-3d", "axonn-3d", NULL};
const char *const tensor_overlap_names[] = {"gather", "scatter", "input", "data", NULL};

/* ---- who holds what ---- */

uint32_t tensor_row_parts(const struct transformer_tensor *t)
{
    switch (t->algorithm) {
    case TENSOR_SUMMA:
        return t->y;
    case TENSOR_TESSERACT:
    case TENSOR_CUBE:
        return t->y * t->z;
    case TENSOR_AXONN:
        return t->z;
    default:
        return 1;
    }
}

uint32_t tensor_weight_parts(const struct transformer_tensor *t)
{
    return t->algorithm == TENSOR_CUBE ? t->x * t->y * t->z : t->tensor * t->x * t->y;
}

void tensor_set_layout(const struct transformer_tensor *t, struct transformer_layout *layout)
{
    bool panels = t->algorithm == TENSOR_SUMMA || t->algorithm == TENSOR_TESSERACT;
    layout->samples /= tensor_row_parts(t);
    layout->tensor = t->algorithm == TENSOR_MEGATRON ? t->tensor : t->x;
    layout->width = t->algorithm == TENSOR_MEGATRON ? 1 : t->y;
    layout->gathered_rows = t->algorithm == TENSOR_CUBE ? t->x : 1;
    layout->whole_inner = panels;
}

const char *tensor_equal_axis(const struct transformer_tensor *t)
{
    return t->algorithm == TENSOR_MEGATRON ? "tensor" : t->algorithm == TENSOR_AXONN ? "x" : NULL;
}

const char *tensor_sync_axes(const struct transformer_tensor *t)
{
    return t->algorithm == TENSOR_TESSERACT ? "z,data" : "context,data";
}

const char *tensor_shard_axes(const struct transformer_tensor *t)
{
    return t->algorithm == TENSOR_AXONN && t->z > 1 ? "z" : NULL;
}

/* ---- linear maps ---- */

/* Of a whole micro-batch of one replica, in elements. */
struct linear {
    double m, k, n;
    bool transposed; /* axes swapped: what comes in is divided as the map before left it */
    bool looks_up;   /* the embedding: rows of W are picked, there is no X and no dX */
};

static struct linear linear_of(const struct transformer_tensor *t, const struct transformer_model *model,
                               const struct transformer_layout *layout, enum transformer_block block)
{
    double m = layout->samples * tensor_row_parts(t) * (double)model->sequence, h = (double)model->hidden,
           ffn = (double)model->ffn;
    struct transformer_widths widths = transformer_widths_of(model);
    switch (block) {
    case BLOCK_PROJECTIONS:
        return (struct linear){m, h, widths.query + widths.key + widths.value, false, false};
    case BLOCK_JOIN:
        return (struct linear){m, widths.output, h, true, false};
    case BLOCK_FIRST:
        return (struct linear){m, h, (model->gated ? 2 : 1) * ffn, false, false};
    case BLOCK_SECOND:
        return (struct linear){m, ffn, h, true, false};
    case BLOCK_OUTPUT:
        return (struct linear){m, h, (double)model->vocabulary, false, false};
    default:
        return (struct linear){m, (double)model->vocabulary, h, true, true};
    }
}

static void add(struct stagesim_exchanges *out, enum stagesim_collective collective, enum stagesim_moment moment,
                const char *axes, double bytes)
{
    unsigned i = 0;
    while (out->items[i].bytes > 0)
        i++;
    out->items[i] = (struct stagesim_exchange){.collective = collective,
                                               .kind = STAGESIM_TENSOR,
                                               .moment = moment,
                                               .axes = axes,
                                               .bytes = bytes,
                                               .buffers = 1};
}

/* ---- 2D and 2.5D ---- */

static void summa_forward(const struct transformer_tensor *t, const struct linear *map, double e,
                          struct stagesim_exchanges *out)
{
    if (!map->looks_up)
        add(out, STAGESIM_ALL_GATHER, STAGESIM_BEFORE, "x", e * map->m / tensor_row_parts(t) * map->k);
    add(out, STAGESIM_ALL_GATHER, STAGESIM_BEFORE, "y", e * map->k * map->n / t->x);
}

static void summa_backward(const struct transformer_tensor *t, const struct linear *map, double e,
                           struct stagesim_exchanges *out)
{
    double input = e * map->m / tensor_row_parts(t) * map->k, weight = e * map->k * map->n / t->x;
    if (!map->looks_up) {
        add(out, STAGESIM_ALL_GATHER, STAGESIM_BEFORE, "y", weight);
        add(out, STAGESIM_ALL_GATHER, STAGESIM_BEFORE, "x", input);
        add(out, STAGESIM_REDUCE_SCATTER, STAGESIM_AFTER, "x", input);
    }
    add(out, STAGESIM_REDUCE_SCATTER, STAGESIM_AFTER, "y", weight);
}

/* ---- 3D of a cube ---- */

static void cube_forward(const struct transformer_tensor *t, const struct linear *map, double e,
                         struct stagesim_exchanges *out)
{
    const char *in = map->transposed ? "y" : "z", *sum = map->transposed ? "z" : "y";
    double q2 = (double)t->x * t->x;
    if (!map->looks_up)
        add(out, STAGESIM_ALL_GATHER, STAGESIM_BEFORE, in, e * map->m * map->k / q2);
    add(out, STAGESIM_ALL_GATHER, STAGESIM_BEFORE, "x", e * map->k * map->n / q2);
    add(out, STAGESIM_REDUCE_SCATTER, STAGESIM_AFTER, sum, e * map->m * map->n / q2);
}

static void cube_backward(const struct transformer_tensor *t, const struct linear *map, double e,
                          struct stagesim_exchanges *out)
{
    const char *in = map->transposed ? "y" : "z", *sum = map->transposed ? "z" : "y";
    double q2 = (double)t->x * t->x;
    add(out, STAGESIM_ALL_GATHER, STAGESIM_BEFORE, sum, e * map->m * map->n / q2);
    if (!map->looks_up)
        add(out, STAGESIM_REDUCE_SCATTER, STAGESIM_AFTER, in, e * map->m * map->k / q2);
    add(out, STAGESIM_REDUCE_SCATTER, STAGESIM_AFTER, "x", e * map->k * map->n / q2);
}

/* ---- AxoNN; weights are gathered and gradients scattered along z by the pipeline, layer by layer ---- */

static void axonn_forward(const struct transformer_tensor *t, const struct linear *map, double e,
                          struct stagesim_exchanges *out)
{
    double columns = map->n / (map->transposed ? t->y : t->x);
    add(out, STAGESIM_ALL_REDUCE, STAGESIM_AFTER, map->transposed ? "x" : "y", e * map->m / t->z * columns);
}

static void axonn_backward(const struct transformer_tensor *t, const struct linear *map, double e,
                           struct stagesim_exchanges *out)
{
    double columns = map->k / (map->transposed ? t->x : t->y);
    enum stagesim_moment moment = t->overlap & OVERLAP_INPUT ? STAGESIM_BESIDE_WEIGHT : STAGESIM_AFTER;
    if (!map->looks_up)
        add(out, STAGESIM_ALL_REDUCE, moment, map->transposed ? "y" : "x", e * map->m / t->z * columns);
}

/* ---- all together ---- */

/* Megatron-LM's, behind the block. */
static void megatron_exchanges(const struct transformer_tensor *t, const struct transformer_model *model,
                               const struct transformer_layout *layout, enum transformer_block block, bool backward,
                               struct stagesim_exchanges *out)
{
    struct transformer_exchange exchange = backward ? transformer_exchange_backward(model, layout, block)
                                                    : transformer_exchange_forward(model, layout, block);
    /* An all-gather and a reduce-scatter move as much as one all-reduce of the same buffer. */
    double gathered = (1 - t->spared) * (exchange.buffers + exchange.gathers);
    double buffers = layout->sequence_parallel ? exchange.buffers + gathered : exchange.buffers + exchange.gathers;
    out->items[0] =
        (struct stagesim_exchange){.collective = layout->sequence_parallel ? STAGESIM_ALL_GATHER : STAGESIM_ALL_REDUCE,
                                   .kind = STAGESIM_TENSOR,
                                   .axes = "tensor",
                                   .bytes = buffers * exchange.bytes,
                                   .buffers = buffers};
}

/* Whether a map is divided by columns: its input is gathered; otherwise by rows: its output is summed and scattered. */
static bool by_columns(enum transformer_block block)
{
    return block == BLOCK_PROJECTIONS || block == BLOCK_FIRST;
}

/* The same of one linear map, beside its products. The backward of a map divided by columns gathers its input again,
 * for the weight's gradient. */
static void megatron_beside(const struct transformer_tensor *t, const struct transformer_model *model,
                            const struct transformer_layout *layout, enum transformer_block block, bool backward,
                            struct stagesim_exchanges *out)
{
    double bytes = transformer_exchange_forward(model, layout, block).bytes;
    double gathered = 1 - t->spared, forward = by_columns(block) ? gathered : 1;
    double buffers = !backward ? forward : gathered + by_columns(block);
    if (backward && layout->recompute == TRANSFORMER_FULL && !transformer_stops_early(model, layout, block))
        buffers += forward;
    const double shares[] = {1 - t->exposed, t->exposed};
    for (unsigned i = 0, count = 0; i < 2; i++) {
        if (!(shares[i] > 0))
            continue;
        add(out, STAGESIM_ALL_GATHER, i ? STAGESIM_AFTER : STAGESIM_BESIDE, "tensor", shares[i] * buffers * bytes);
        out->items[count++].buffers = buffers;
    }
}

bool tensor_hides_exchanges(const struct transformer_tensor *t)
{
    return t->algorithm == TENSOR_MEGATRON && t->product_overlap && t->tensor > 1;
}

static bool is_linear(enum transformer_block block)
{
    return by_columns(block) || block == BLOCK_JOIN || block == BLOCK_SECOND;
}

typedef void (*direction)(const struct transformer_tensor *t, const struct linear *map, double e,
                          struct stagesim_exchanges *out);

void tensor_exchanges(const struct transformer_tensor *t, const struct transformer_model *model,
                      const struct transformer_layout *layout, enum transformer_block block, bool backward,
                      struct stagesim_exchanges *out)
{
    static const direction forwards[] = {NULL, summa_forward, summa_forward, cube_forward, axonn_forward};
    static const direction backwards[] = {NULL, summa_backward, summa_backward, cube_backward, axonn_backward};
    if (tensor_hides_exchanges(t) && is_linear(block))
        megatron_beside(t, model, layout, block, backward, out);
    else if (t->algorithm == TENSOR_MEGATRON)
        megatron_exchanges(t, model, layout, block, backward, out);
    if (t->algorithm == TENSOR_MEGATRON || block == BLOCK_CORE)
        return;
    struct linear map = linear_of(t, model, layout, block);
    if (!backward) {
        forwards[t->algorithm](t, &map, layout->element_bytes, out);
        return;
    }
    if (layout->recompute == TRANSFORMER_FULL && block != BLOCK_INPUT && block != BLOCK_OUTPUT) {
        forwards[t->algorithm](t, &map, layout->element_bytes,
                               out); /* ahead of the backward: its computations are one with it */
        for (unsigned i = 0; i < STAGESIM_EXCHANGES_MAX; i++)
            out->items[i].moment = STAGESIM_BEFORE;
    }
    backwards[t->algorithm](t, &map, layout->element_bytes, out);
}

double tensor_panels(const struct transformer_tensor *t, const struct transformer_model *model,
                     const struct transformer_layout *layout)
{
    static const enum transformer_block maps[] = {BLOCK_PROJECTIONS, BLOCK_JOIN, BLOCK_FIRST, BLOCK_SECOND};
    double most = 0;
    for (unsigned i = 0; i < 4 && t->algorithm != TENSOR_MEGATRON && t->algorithm != TENSOR_AXONN; i++) {
        struct stagesim_exchanges exchanges = {0};
        double sum = 0;
        struct linear map = linear_of(t, model, layout, maps[i]);
        (t->algorithm == TENSOR_CUBE ? cube_forward : summa_forward)(t, &map, layout->element_bytes, &exchanges);
        for (unsigned k = 0; k < STAGESIM_EXCHANGES_MAX; k++)
            sum += exchanges.items[k].bytes;
        most = fmax(most, sum);
    }
    return most;
}
