/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/kernel_use.h"

#include "workloads/transformer/efficiency.h"

#include <math.h>
#include <string.h>

/* Which measured operator one that only moves bytes is like; others are like an addition. */
static enum kernel_stage stage_of(const char *name)
{
    static const struct {
        const char *name;
        enum kernel_stage stage;
    } like[] = {{"normalisation", KERNEL_NORM},   {"query, key normalisation", KERNEL_NORM},
                {"activation", KERNEL_SILU},      {"heads", KERNEL_ROPE},
                {"embedding", KERNEL_EMBEDDING},  {"permutation", KERNEL_PERMUTE},
                {"weighted sum", KERNEL_PERMUTE}, {"loss", KERNEL_LOSS}};
    for (unsigned i = 0; i < sizeof like / sizeof *like; i++)
        if (strcmp(name, like[i].name) == 0)
            return like[i].stage;
    return KERNEL_ADD;
}

static bool same_shape(const struct kernel_shape *a, const struct kernel_shape *b)
{
    return a->kind == b->kind && a->type == b->type && a->stage == b->stage && a->groups == b->groups && a->m == b->m &&
           a->n == b->n && a->k == b->k;
}

/* The slot of a kernel: the first from its own on that has it or is empty; NULL: all others are taken. */
static struct kernel_known *slot_of(struct kernel_use *use, const struct kernel_shape *shape)
{
    double mixed = shape->m * 31 + shape->n * 17 + shape->k * 7 + shape->groups * 3 + shape->stage + 5.0 * shape->kind;
    unsigned first = (unsigned)fmod(mixed, KERNEL_MEMORY_SLOTS - 5);
    for (unsigned i = 0; i < KERNEL_MEMORY_SLOTS; i++) {
        struct kernel_known *known = &use->known[(first + i) % KERNEL_MEMORY_SLOTS];
        if (!(known->shape.groups > 0) || same_shape(&known->shape, shape))
            return known;
    }
    return NULL;
}

/* Whether libraries that train have measured anything on the GPU. */
static bool knows_training(const struct kernel_table *table)
{
    unsigned i = 0;
    while (i < table->model_count && table->models[i].user != KERNEL_TRAINING)
        i++;
    return i < table->model_count;
}

/* Grouped products that only inference measured: its kernels are fused, training launches a product for each group. */
static bool find_one_by_one(struct kernel_use *use, struct kernel_shape one, struct kernel_time *time)
{
    const struct kernel_model *fused = time->model;
    double groups = one.groups;
    one.kind = KERNEL_MATMUL;
    one.groups = 1;
    if (one.stage == KERNEL_WEIGHT) { /* a group sums over its rows */
        double rows = one.m;
        one.m = one.n;
        one.n = one.k;
        one.k = rows;
    }
    if (!kernel_time(&use->table, &one, NULL, time) || time->model->user == KERNEL_INFERENCE)
        return false;
    time->seconds *= groups;
    use->one_by_one++;
    use->inference = fused->source;
    return true;
}

/* The time with the source that is asked for; or of a library that trains, of which some kernels may be shared. */
static bool find_time(struct kernel_use *use, const struct kernel_shape *shape, struct kernel_time *time)
{
    if (use->source && kernel_time(&use->table, shape, use->source, time))
        return true;
    if (!kernel_time(&use->table, shape, NULL, time))
        return false;
    if (time->model->user == KERNEL_INFERENCE)
        return shape->kind == KERNEL_GROUPED && find_one_by_one(use, *shape, time);
    if (use->source || (time->model->user == KERNEL_SHARED && knows_training(&use->table))) {
        use->elsewhere++;
        use->other = time->model->source;
    }
    return true;
}

/* In what share of the device's peak or bandwidth it was measured. Negative: there is none. */
static double look_up(struct kernel_use *use, const struct efficiency_device *device, const struct kernel_shape *shape)
{
    struct kernel_time time;
    if (!find_time(use, shape, &time))
        return -1;
    use->asked++;
    use->outside += time.outside != 0;
    double peak = shape->type == KERNEL_BF16 ? device->wide_peak : device->peak;
    if (shape->kind == KERNEL_MEMORY)
        return device->bandwidth > 0 ? time.seconds * time.model->bandwidth / device->bandwidth : 0;
    return time.seconds * time.model->peak / peak / use->clock;
}

static double known_seconds(struct kernel_use *use, const struct efficiency_device *device,
                            const struct kernel_shape *shape)
{
    struct kernel_known *known = slot_of(use, shape);
    if (!known)
        return look_up(use, device, shape);
    if (!(known->shape.groups > 0))
        *known = (struct kernel_known){*shape, look_up(use, device, shape)};
    return known->seconds;
}

/* Operands of a product in 8 bits are cast from 16 and scaled. The forward casts what comes in, or a rank's share of
 * what ranks then gather, and the weights; of the backward's two products the first casts the gradient that both use.
 */
static double cast_seconds(const struct efficiency_device *device, const struct kernel_shape *shape, double share)
{
    double weights = shape->stage == KERNEL_FORWARD ? shape->n : 0;
    struct kernel_shape cast = {.kind = KERNEL_MEMORY,
                                .type = KERNEL_BF16,
                                .stage = KERNEL_CAST,
                                .groups = 1,
                                .m = device->kernels->cast_bytes * shape->groups * shape->k *
                                     (shape->m * (share > 0 ? share : 1) + weights),
                                .n = 1,
                                .k = 1};
    return shape->stage == KERNEL_WEIGHT ? 0 : fmax(0, known_seconds(device->kernels, device, &cast));
}

bool kernel_use_seconds(const struct efficiency_device *device, const struct transformer_operator *operator,
                        double * seconds)
{
    struct kernel_shape shape = operator->shape;
    bool narrow = device->fp8 && operator->matrix && !operator->wide;
    if (!operator->matrix) {
        shape =
            (struct kernel_shape){.kind = KERNEL_MEMORY, .groups = 1, .m = fmax(1, operator->bytes), .n = 1, .k = 1};
        shape.stage = stage_of(operator->name);
    }
    shape.type = narrow ? device->narrow : KERNEL_BF16;
    if (!(shape.groups > 0))
        return false;
    *seconds = known_seconds(device->kernels, device, &shape);
    if (*seconds < 0 && !operator->matrix) {
        shape.stage = KERNEL_ADD;
        *seconds = known_seconds(device->kernels, device, &shape);
    }
    if (*seconds < 0 && shape.type == KERNEL_FP8_BLOCK) {
        device->kernels->rescaled = true;
        shape.type = KERNEL_FP8;
        *seconds = known_seconds(device->kernels, device, &shape);
    }
    device->kernels->rescaled |= *seconds < 0 && narrow;
    if (*seconds < 0)
        return false;
    /* Masks, windows and ranks that share a sequence leave a part of the square. */
    if (shape.kind == KERNEL_ATTENTION)
        *seconds *= operator->flops / kernel_flops(&shape);
    *seconds += narrow ? cast_seconds(device, &shape, operator->cast_share) : 0;
    return true;
}
