/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/generation/attention.h"

#include "base/arena.h"
#include "workloads/kernels/kernel_time.h"

#include <math.h>
#include <string.h>

/* Powers of two: kernels were measured there. */
enum { BATCHES = 13, LENGTHS = 21 };

struct attention_grid {
    char source[KERNEL_SOURCE_SIZE];
    double seconds[BATCHES][LENGTHS];
};

/* What one sequence with one token of its cache is; false: such layers were not measured. */
static bool shape_of(const struct transformer_model *own, double tensor, enum generation_type cache,
                     struct kernel_shape *shape)
{
    if ((own->mixer != MIXER_ATTENTION && own->mixer != MIXER_LOCAL) || own->keys_are_values || own->kv_rank)
        return false;
    *shape = (struct kernel_shape){.kind = KERNEL_DECODE,
                                   .type = cache == GENERATION_FP8 ? KERNEL_FP8 : KERNEL_BF16,
                                   .stage = KERNEL_FORWARD,
                                   .groups = (double)own->kv_heads / tensor,
                                   .m = 1,
                                   .n = (double)own->head_size,
                                   .k = (double)own->heads / (double)own->kv_heads};
    return true;
}

/* Of a kernel with so many sequences and tokens, and where fewer of them took longer, as long as these. */
static double measure(const struct attention_grid *grid, const struct kernel_table *kernels,
                      const struct kernel_shape *one, unsigned batch, unsigned length)
{
    struct kernel_shape shape = *one;
    struct kernel_time time = {0};
    shape.groups *= ldexp(1, (int)batch);
    shape.m = ldexp(1, (int)length);
    kernel_time(kernels, &shape, grid->source, &time);
    double seconds = time.seconds;
    if (batch)
        seconds = fmax(seconds, grid->seconds[batch - 1][length]);
    return length ? fmax(seconds, grid->seconds[batch][length - 1]) : seconds;
}

struct attention_grid *attention_grid_create(const struct generation_device *device, enum generation_type cache,
                                             const struct transformer_model *own, double tensor, struct arena *arena)
{
    struct kernel_shape shape;
    if (!device->kernels || !shape_of(own, tensor, cache, &shape))
        return NULL;
    const struct kernel_model *model = kernel_model_of_library(device->kernels, &shape, device->library);
    if (!model)
        return NULL;
    struct attention_grid *grid = arena_alloc(arena, sizeof *grid);
    memcpy(grid->source, model->source, sizeof grid->source);
    for (unsigned batch = 0; batch < BATCHES; batch++)
        for (unsigned length = 0; length < LENGTHS; length++)
            grid->seconds[batch][length] = measure(grid, device->kernels, &shape, batch, length);
    return grid;
}

/* Of `count` points the one below a value, and how far it is from there to the next. */
static unsigned below(double value, unsigned count, double *part)
{
    int at = ilogb(fmax(value, 1));
    unsigned point = (unsigned)(at < (int)count - 1 ? at : (int)count - 2);
    *part = fmax(value, 1) / ldexp(1, (int)point) - 1;
    return point;
}

double attention_grid_seconds(const struct attention_grid *grid, double sequences, double tokens)
{
    double up, along;
    unsigned batch = below(sequences, BATCHES, &up), length = below(tokens, LENGTHS, &along);
    const double *few = &grid->seconds[batch][length], *many = &grid->seconds[batch + 1][length];
    double low = few[0] + along * (few[1] - few[0]), high = many[0] + along * (many[1] - many[0]);
    return low + up * (high - low);
}

const char *attention_grid_source(const struct attention_grid *grid)
{
    return grid->source;
}
