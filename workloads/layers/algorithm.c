/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/layers/algorithm.h"

#include "base/arena.h"
#include "base/rounded/rounded.h"

#include <math.h>
#include <stdlib.h>

const char *const algorithm_names[ALGORITHMS] = {"direct", "gemm", "fft", "winograd-2", "winograd-4"};

/* ---- counts ---- */

static double plain_multiplications(const struct convolution *c)
{
    return c->samples * c->outputs * c->inputs * c->rows * c->columns * c->kernel_height * c->kernel_width;
}

/* All inputs that the outputs read, side by side. */
static double patches(const struct convolution *c)
{
    return c->samples * c->inputs * c->rows * c->columns * c->kernel_height * c->kernel_width;
}

/* The table's count takes a product of complex numbers for one. In flops, a transform of m real numbers takes
 * 2.5 m log2 m, half of them multiplications; half of its complex results follow from the others; and a complex
 * multiply-add is 8. */
static struct algorithm_work fft_work(const struct convolution *c)
{
    const double transform = 2.5, complex_product = 8;
    double area = c->height * c->width, products = area * c->samples * c->inputs * c->outputs;
    double planes = c->outputs * c->inputs + c->samples * c->inputs + c->samples * c->outputs;
    double transforms = transform * area * rounded_log2(area) * planes;
    return (struct algorithm_work){.possible = true,
                                   .multiplications = transforms / 2 + products,
                                   .flops = transforms + complex_product * products / 2,
                                   .workspace = area * planes};
}

/* Flops of the transforms of a tile: of the input, of the weights, of the result. */
struct winograd {
    double tile; /* outputs of a tile along each side */
    double input, weights, output;
};

static const struct winograd winograds[] = {{2, 32, 28, 24}, {4, 156, 72, 90}};

static struct algorithm_work winograd_work(const struct convolution *c, const struct winograd *winograd)
{
    enum { KERNEL = 3 };
    double side = winograd->tile + KERNEL - 1;
    double tiles = c->samples * ceil(c->rows / winograd->tile) * ceil(c->columns / winograd->tile);
    double multiplications = tiles * c->outputs * c->inputs * side * side;
    double transforms = tiles * (c->inputs * winograd->input + c->outputs * winograd->output) +
                        c->inputs * c->outputs * winograd->weights;
    bool square = c->kernel_height == KERNEL && c->kernel_width == KERNEL;
    return (struct algorithm_work){.possible = square && !c->strided,
                                   .multiplications = multiplications,
                                   .flops = 2 * multiplications + transforms,
                                   .workspace = tiles * side * side * (c->inputs + c->outputs)};
}

struct algorithm_work algorithm_work_of(const struct convolution *c, enum convolution_algorithm algorithm)
{
    if (algorithm == ALGORITHM_FFT)
        return fft_work(c);
    if (algorithm >= ALGORITHM_WINOGRAD_2)
        return winograd_work(c, &winograds[algorithm - ALGORITHM_WINOGRAD_2]);
    double multiplications = plain_multiplications(c);
    return (struct algorithm_work){.possible = true,
                                   .matrix = true,
                                   .multiplications = multiplications,
                                   .flops = 2 * multiplications,
                                   .workspace = algorithm == ALGORITHM_GEMM ? patches(c) : 0};
}

/* ---- the choice ---- */

static bool is_better(const struct algorithm_option *a, const struct algorithm_option *b)
{
    return a->seconds < b->seconds || (a->seconds <= b->seconds && a->workspace < b->workspace);
}

void algorithm_choose_each(const struct algorithm_option (*options)[ALGORITHMS], uint32_t count, double bound,
                           unsigned *choice)
{
    for (uint32_t layer = 0; layer < count; layer++) {
        const struct algorithm_option *best = NULL;
        for (unsigned k = 0; k < ALGORITHMS; k++) {
            const struct algorithm_option *option = &options[layer][k];
            if (option->possible && option->workspace <= bound && (!best || is_better(option, best)))
                best = option;
        }
        choice[layer] = best ? (unsigned)(best - options[layer]) : ALGORITHM_DIRECT;
    }
}

/* A choice for the first layers: none of the others that are kept is both faster and smaller. */
struct partial {
    double seconds, workspace;
    uint32_t before; /* the partial choice that it goes on from */
    unsigned choice; /* of the last of these layers */
};

struct front {
    struct partial *items; /* of all layers; those of the newest begin at `first` */
    size_t count, first, capacity;
};

static int smaller_first(const void *left, const void *right)
{
    const struct partial *a = left, *b = right;
    if (a->workspace < b->workspace || a->workspace > b->workspace)
        return a->workspace < b->workspace ? -1 : 1;
    if (a->seconds < b->seconds || a->seconds > b->seconds)
        return a->seconds < b->seconds ? -1 : 1;
    if (a->before != b->before)
        return a->before < b->before ? -1 : 1;
    return (a->choice > b->choice) - (a->choice < b->choice);
}

/* Keeps of the newest partial choices those that are faster than all smaller ones. */
static void prune(struct front *front)
{
    struct partial *items = front->items + front->first;
    size_t kept = 0;
    qsort(items, front->count - front->first, sizeof *items, smaller_first);
    for (size_t i = 0; i < front->count - front->first; i++)
        if (!kept || items[i].seconds < items[kept - 1].seconds)
            items[kept++] = items[i];
    front->count = front->first + kept;
}

/* Every choice that is kept goes on with every algorithm of the next layer. */
static bool extend(struct front *front, const struct algorithm_option *options, double bound)
{
    size_t from = front->first, to = front->count;
    if (ALGORITHMS * (to - from) + to > ALGORITHM_SUMS_MAX)
        return false;
    front->items = array_grow(front->items, &front->capacity, to + ALGORITHMS * (to - from), sizeof *front->items);
    front->first = to;
    for (size_t i = from; i < to; i++)
        for (unsigned k = 0; k < ALGORITHMS; k++) {
            const struct partial *before = &front->items[i];
            double workspace = before->workspace + options[k].workspace;
            if (options[k].possible && workspace <= bound)
                front->items[front->count++] =
                    (struct partial){before->seconds + options[k].seconds, workspace, (uint32_t)i, k};
        }
    prune(front);
    return true;
}

bool algorithm_choose_together(const struct algorithm_option (*options)[ALGORITHMS], uint32_t count, double bound,
                               unsigned *choice)
{
    struct front front = {0};
    bool fits = true;
    front.items = array_grow(front.items, &front.capacity, 1, sizeof *front.items);
    front.items[front.count++] = (struct partial){0};
    for (uint32_t layer = 0; layer < count && fits; layer++)
        fits = extend(&front, options[layer], bound);
    for (uint32_t layer = count, at = (uint32_t)front.count - 1; fits && layer-- > 0; at = front.items[at].before)
        choice[layer] = front.items[at].choice;
    free(front.items);
    return fits;
}
