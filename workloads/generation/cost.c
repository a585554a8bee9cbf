/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/generation/cost.h"

#include "base/rounded/rounded.h"
#include "workloads/kernels/kernel_time.h"

#include <math.h>
#include <string.h>

enum { WIDE = 2 }; /* bytes of an activation */

/* Products with fewer rows were not measured for training: they take as much less arithmetic as they have fewer. */
static const double least_rows = 512;

double generation_element(enum generation_type type)
{
    /* Four bits and a scale of eight for sixteen of them; a scale for 128 x 128 elements of eight bits is nothing. */
    static const double bytes[GENERATION_TYPES] = {2, 1, 0.5625, 1};
    return bytes[type];
}

void generation_add(struct generation_work *sum, const struct generation_work *more, double times)
{
    sum->seconds += times * more->seconds;
    sum->bytes += times * more->bytes;
    sum->flops += times * more->flops;
    sum->wide_flops += times * more->wide_flops;
    sum->operators += times * more->operators;
}

static struct generation_work moved(const struct generation_device *device, double bytes)
{
    return (struct generation_work){
        .seconds = device->launch + bytes / (device->bandwidth * device->memory_share), .bytes = bytes, .operators = 1};
}

/* ---- products with weights ---- */

/* Of a grouped product the weights that some token meets: each is routed to top_k of the experts. How much experts are
 * sought is gamma-distributed; the chance that one is missed by all is a power then. */
static double touched(const struct generation_products *p, const struct transformer_model *own, double groups)
{
    double chance = (double)own->top_k / (double)own->experts, spread = p->device->skew * p->device->skew, missed = 0;
    if (chance >= 1)
        return groups;
    if (spread > 0)
        missed = rounded_pow(1 - spread * rounded_log1p(-chance) * p->routed, -1 / spread);
    else
        missed = rounded_pow(1 - chance, p->routed);
    return groups * fmax(1 - missed, chance);
}

/* Of ranks that have a part of the experts each, the most that one gets, over the mean: the largest of normal sums. */
static double most_loaded(const struct generation_products *p, const struct transformer_model *own)
{
    double ranks = p->layout.expert, spread = p->device->skew * sqrt(ranks / (double)own->experts);
    return ranks > 1 ? 1 + spread * sqrt(2 * rounded_log(ranks)) : 1;
}

/* Seconds of the arithmetic alone, by measured kernels where there are any. */
static double computing(const struct generation_products *p, const struct kernel_shape *shape, double flops, bool wide)
{
    const struct generation_device *device = p->device;
    double peak = wide ? device->wide_peak : device->peak, plain = flops / (peak * device->compute_share);
    struct kernel_time time;
    struct kernel_shape asked = *shape;
    asked.m = fmax(shape->m, least_rows);
    if (!device->kernels || shape->kind != KERNEL_MATMUL || !kernel_time(device->kernels, &asked, NULL, &time))
        return plain;
    double full = time.seconds * time.model->peak / device->wide_peak * fmin(1, shape->m / least_rows);
    return fmax(full * device->wide_peak / peak, flops / peak);
}

static struct generation_work product(const struct generation_products *p, const struct transformer_model *own,
                                      const struct transformer_operator *operator)
{
    const struct generation_device *device = p->device;
    struct kernel_shape shape = operator->shape;
    double element = operator->wide ? WIDE : p->weight, rows = shape.m * shape.groups;
    double groups = shape.kind == KERNEL_GROUPED ? touched(p, own, shape.groups) : shape.groups;
    double bytes = groups * shape.n * shape.k * element + WIDE * rows * (shape.n + shape.k);
    struct generation_work work = {.bytes = bytes,
                                   .flops = operator->wide ? 0 : operator->flops,
                                   .wide_flops = operator->wide ? operator->flops : 0,
                                   .operators = 1 };
    bool grouped = shape.kind == KERNEL_GROUPED;
    double share = grouped ? device->expert_share : device->memory_share;
    double arithmetic = grouped ? operator->flops * most_loaded(p, own) / (device->peak * share)
                                : computing(p, &shape, operator->flops, operator->wide);
    work.seconds =
        (grouped ? device->expert_launch : device->launch) + fmax(bytes / (device->bandwidth * share), arithmetic);
    return work;
}

/* Residuals are added, and tokens of experts gathered, by the operators behind. */
static bool is_fused(const char *name)
{
    static const char *const names[] = {"residual", "permutation", "query, key normalisation", NULL};
    for (const char *const *each = names; *each; each++)
        if (!strcmp(*each, name))
            return true;
    return false;
}

static void add_operators(const struct generation_products *p, const struct transformer_model *own,
                          const struct transformer_operators *operators, struct generation_work *sum)
{
    for (unsigned i = 0; i < operators->count; i++) {
        const struct transformer_operator *operator= & operators->items[i];
        if (!operator->matrix && is_fused(operator->name))
            continue;
        struct generation_work work = operator->matrix && operator->shape.groups> 0 ? product(p, own, operator)
                                                                                    : moved(p->device, operator->bytes);
        generation_add(sum, &work, 1);
    }
}

struct generation_work generation_block_work(const struct generation_products *p, const struct transformer_model *model,
                                             enum transformer_block block)
{
    struct transformer_operators operators;
    struct generation_work sum = {0};
    struct transformer_model one = *model;
    one.sequence = 1;
    transformer_forward(&one, &p->layout, block, &operators);
    add_operators(p, model, &operators, &sum);
    return sum;
}

/* Expert layers were measured from so many tokens on, whose sorting is part of the launch. Of it, what is left with one
 * token: of gpt-oss with 4 sequences on 8 B200 all of a layer takes 84 us, where this launch alone is 50. */
static const double few_tokens = 1024, few_share = 0.2;

/* So many tokens are as unequally routed as an engine's are: with few, experts' weights decide. */
static const double many_tokens = 256;

/* By the model of measured expert layers, from the way of tokens to the experts to their weighted sum. */
static double measured_seconds(const struct generation_products *p, const struct transformer_model *own)
{
    const struct generation_device *device = p->device;
    struct kernel_model model = *device->experts;
    double experts = (double)own->experts / p->layout.expert, met = touched(p, own, experts);
    double rows = p->routed * (double)own->top_k / p->layout.expert;
    struct kernel_shape shape = {.kind = KERNEL_EXPERTS,
                                 .type = device->expert_type,
                                 .stage = KERNEL_FORWARD,
                                 .groups = met,
                                 .m = rows * most_loaded(p, own) / met,
                                 .n = (double)own->expert_ffn / p->layout.expert_tensor,
                                 .k = transformer_expert_width(own)};
    model.launch *= few_share + (1 - few_share) * fmin(1, p->routed / few_tokens);
    model.peak *= device->peak / device->measured_peak;
    double reach = 1 - (1 - device->expert_reach) * fmin(1, p->routed / many_tokens);
    model.compute *= reach;
    model.memory *= reach;
    return kernel_model_seconds(&model, &shape);
}

struct generation_work generation_experts_work(const struct generation_products *p, const struct transformer_model *own)
{
    const struct generation_device *device = p->device;
    struct generation_work work = generation_block_work(p, own, BLOCK_EXPERTS);
    if (device->experts)
        work.seconds = fmax(measured_seconds(p, own), fmax(work.bytes / device->bandwidth, work.flops / device->peak));
    return work;
}

struct generation_work generation_layer_work(const struct generation_products *p, const struct transformer_model *own,
                                             bool carries)
{
    static const enum transformer_block of_experts[] = {BLOCK_ROUTER, BLOCK_SHARED, BLOCK_COMBINE};
    struct generation_work sum = {0}, work;
    enum transformer_block blocks[8] = {BLOCK_PROJECTIONS, BLOCK_JOIN};
    unsigned count = own->mixer == MIXER_NONE ? 0 : 2;
    if (carries)
        blocks[count++] = BLOCK_CORE;
    if (own->feed == FEED_DENSE)
        blocks[count++] = BLOCK_FFN;
    for (unsigned i = 0; own->feed == FEED_EXPERTS && i < 3; i++)
        blocks[count++] = of_experts[i];
    for (unsigned i = 0; i < count; i++) {
        work = generation_block_work(p, own, blocks[i]);
        generation_add(&sum, &work, 1);
    }
    return sum;
}

/* ---- attention over the cache ---- */

/* Of `met` tokens in all, and flop; no measurement that the device's own cache made faster than its memory counts. */
static double decoding(const struct generation_device *device, const struct generation_layers *layers, double sequences,
                       double met, double bytes, double flops)
{
    double rate = device->wide_peak * device->compute_share;
    if (layers->grid)
        return fmax(attention_grid_seconds(layers->grid, sequences, met / sequences), bytes / device->bandwidth);
    double launch = layers->cache.token > 0 ? device->attention_launch : device->launch;
    return launch + fmax(bytes / (device->bandwidth * device->cache_share), flops / rate);
}

/* Of attention within prompts: flash attention as it was measured reaches less where sequences are short. Prompts that
 * begin within the step have twice as many tokens as pairs of each. */
static double prompt_rate(const struct generation_device *device, double prefill, double pairs)
{
    const struct kernel_model *model = device->prompts;
    if (!model)
        return device->wide_peak * device->compute_share;
    return device->wide_peak * model->compute / (1 + model->extra * prefill / (2 * pairs));
}

struct generation_work generation_attention_work(const struct generation_device *device,
                                                 const struct generation_layers *layers, double sequences,
                                                 double context, double prefill, double pairs)
{
    const struct generation_cache *cache = &layers->cache;
    double met = sequences > 0 ? fmin(context, sequences * cache->most) : 0, seen = fmin(pairs, prefill * cache->most);
    double bytes = cache->token * met + cache->looked * context + 2 * cache->state * sequences;
    double decoded = cache->pair * met + cache->look * context, prompted = cache->direct * seen + cache->look * pairs;
    struct generation_work work = {.bytes = bytes, .wide_flops = decoded + prompted};
    if (bytes > 0)
        work.seconds = decoding(device, layers, sequences, met, bytes, decoded);
    work.operators = (bytes > 0) + (prompted > 0);
    if (prompted > 0)
        work.seconds += device->launch + prompted / prompt_rate(device, prefill, pairs);
    return work;
}
