/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/kinds/tower.h"

#include <math.h>

/* ---- positions ---- */

/* Frames, or numbers of a frame, behind the first `count` convolutions, which pad what they see. */
static double strided(const struct transformer_tower *t, double length, size_t count)
{
    for (size_t i = 0; i < count && i < t->strides.count; i++)
        length = ceil(length / t->strides.values[i]);
    return length;
}

/* Of a clip behind so many convolutions. */
static double frames(const struct transformer_tower *t, size_t count)
{
    double all = t->clip * t->rate, together = t->chunk && (double)t->chunk < all ? (double)t->chunk : all;
    return all / together * strided(t, together, count);
}

double tower_positions(const struct transformer_tower *t)
{
    return t->kind == TOWER_AUDIO ? frames(t, t->strides.count) : (double)t->patches;
}

double tower_tokens(const struct transformer_tower *t)
{
    return tower_positions(t) / (double)(t->merge * t->pool);
}

struct transformer_model tower_model(const struct transformer_tower *t)
{
    double positions = ceil(tower_positions(t)) + (double)t->extra;
    struct transformer_model tower = {.layers = t->layers,
                                      .hidden = t->hidden,
                                      .heads = t->heads ? t->heads : 1,
                                      .ffn = t->ffn,
                                      .sequence = positions >= 1 ? (uint64_t)positions : 1,
                                      .vocabulary = 1,
                                      .biases = true,
                                      .gated = t->gated,
                                      .norm = t->rms ? NORM_RMS : NORM_LAYER};
    transformer_model_complete(&tower);
    return tower;
}

/* ---- products beside the layers ---- */

enum { PRODUCTS_MAX = TOWER_STRIDES_MAX + 3 };

/* Of an item; `kept`: elements that its backward needs beside the weights. */
struct product {
    const char *name;
    double rows, inner, columns, biases, kept;
    double copies; /* each with its own weights */
    bool convolution, activated;
};

/* From the frames of a clip to positions. */
static unsigned convolve(const struct transformer_tower *t, struct product *out)
{
    double taps = (double)t->kernel, channels = (double)t->channels, before = channels > 0 ? 1 : (double)t->inputs;
    size_t count = t->strides.count < TOWER_STRIDES_MAX ? t->strides.count : TOWER_STRIDES_MAX;
    for (size_t i = 0; i < count; i++) {
        double bins = channels > 0 ? strided(t, (double)t->inputs, i + 1) : 1,
               seen = channels > 0 ? strided(t, (double)t->inputs, i) : 1,
               columns = channels > 0 ? channels : (double)t->hidden, rows = frames(t, i + 1) * bins;
        out[i] = (struct product){.name = "strided convolution",
                                  .rows = rows,
                                  .inner = before * (channels > 0 ? taps * taps : taps),
                                  .columns = columns,
                                  .biases = columns,
                                  .kept = frames(t, i) * seen * before,
                                  .copies = 1,
                                  .convolution = true,
                                  .activated = true};
        before = columns;
    }
    if (!t->channels)
        return (unsigned)count;
    double bins = strided(t, (double)t->inputs, count), positions = tower_positions(t);
    out[count] = (struct product){.name = "frames",
                                  .rows = positions,
                                  .inner = bins * before,
                                  .columns = (double)t->hidden,
                                  .kept = positions * bins * before,
                                  .copies = 1};
    return (unsigned)count + 1;
}

/* To tokens: two matrices, or one. */
static unsigned project(const struct transformer_tower *t, double h, struct product *out)
{
    double tokens = tower_tokens(t), w = (double)(t->merge * t->hidden), inner = (double)t->projector,
           copies = (double)t->mergers, first = inner > 0 ? inner : h;
    out[0] = (struct product){.name = "projector",
                              .rows = tokens,
                              .inner = w,
                              .columns = first,
                              .biases = t->projector_biases ? first : 0,
                              .kept = tokens * w,
                              .copies = copies,
                              .activated = inner > 0};
    out[1] = (struct product){.name = "projector",
                              .rows = tokens,
                              .inner = inner,
                              .columns = h,
                              .biases = t->projector_biases ? h : 0,
                              .kept = tokens * inner,
                              .copies = copies};
    return inner > 0 ? 2 : 1;
}

static unsigned list_products(const struct transformer_model *m, enum transformer_tower_kind kind, struct product *out)
{
    const struct transformer_tower *t = &m->towers[kind];
    double v = (double)t->hidden, inputs = (double)t->inputs, patches = (double)t->patches;
    unsigned count = 1;
    out[0] =
        (struct product){"patches", patches, inputs, v, t->input_biases ? v : 0, patches * inputs, 1, false, false};
    if (kind == TOWER_AUDIO)
        count = convolve(t, out);
    return count + project(t, (double)m->hidden, out + count);
}

/* Beside products: positions, norms beside the layers, one for each further projector of what was put together. */
double tower_end_parameters(const struct transformer_model *m, enum transformer_tower_kind kind)
{
    const struct transformer_tower *t = &m->towers[kind];
    struct product products[PRODUCTS_MAX];
    unsigned count = list_products(m, kind, products);
    double v = (double)t->hidden, norm = t->rms ? v : 2 * v,
           sum = (double)(t->positions + t->extra) * v + (double)t->norms * norm;
    sum += t->projector_norm ? (double)t->merge * v : 0;
    sum += ((double)t->mergers - 1) * 2 * (double)t->merge * v + (double)(t->vectors * m->hidden);
    for (unsigned i = 0; i < count; i++)
        sum += products[i].copies * (products[i].inner * products[i].columns + products[i].biases);
    return sum;
}

double tower_parameters(const struct transformer_model *m, enum transformer_tower_kind kind)
{
    const struct transformer_tower *t = &m->towers[kind];
    struct transformer_model tower = tower_model(t);
    double spared = t->key_biases ? 0 : (double)t->hidden;
    if (!t->layers)
        return 0;
    return (double)tower.layers * (transformer_layer_parameters(&tower, false) - spared) +
           tower_end_parameters(m, kind);
}

double tower_end_flops(const struct transformer_model *m, enum transformer_tower_kind kind)
{
    struct product products[PRODUCTS_MAX];
    unsigned count = list_products(m, kind, products);
    double sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += 2 * products[i].copies * products[i].rows * products[i].inner * products[i].columns;
    return sum;
}

double tower_end_elements(const struct transformer_model *m, enum transformer_tower_kind kind)
{
    struct product products[PRODUCTS_MAX];
    unsigned count = list_products(m, kind, products);
    double sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += products[i].copies *
               (products[i].kept + (products[i].activated ? products[i].rows * products[i].columns : 0));
    return sum;
}

/* Behind a product, or before its backward. */
static void activate(const struct product *product, const struct operator_shape *s, bool backward,
                     struct transformer_operators *out)
{
    if (product->activated)
        operators_add_vector(out, "activation", (backward ? 3 : 2) * s->element * s->rows * product->columns);
}

void tower_ends(const struct transformer_model *m, const struct transformer_layout *l, enum transformer_tower_kind kind,
                bool backward, struct transformer_operators *out)
{
    double items = l->samples * m->towers[kind].items / l->context;
    struct product products[PRODUCTS_MAX];
    unsigned count = list_products(m, kind, products);
    out->count = 0;
    for (unsigned i = 0; i < count && items > 0; i++) {
        const struct product *product = &products[backward ? count - 1 - i : i];
        struct operator_shape s = {
            .rows = items * product->rows * product->copies, .gathered = 1, .element = l->element_bytes};
        unsigned first = out->count;
        if (backward) {
            activate(product, &s, true, out);
            operators_add_matrix_backward(out, l, &s, product->name, product->inner, product->columns);
        } else {
            operators_add_matrix(out, &s, product->name, product->inner, product->columns);
            activate(product, &s, false, out);
        }
        for (unsigned added = first; added < out->count; added++)
            out->items[added].convolution = product->convolution && out->items[added].matrix;
    }
}
