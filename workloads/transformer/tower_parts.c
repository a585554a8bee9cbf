/* SPDX-License-Identifier: Apache-2.0 */
/* Towers as parts of the first stage: layers like others, of images or clips in place of samples. Ranks that share a
 * sequence divide the items among each other. */
#include "workloads/transformer/kinds/memory.h"
#include "workloads/transformer/kinds/tower.h"
#include "workloads/transformer/transformer.h"

/* Numbers of parts that stand apart as they vary; those of layers are smaller. */
enum { APART = 1 << 24 };

static struct transformer_job at_tower(const struct transformer_job *j, enum transformer_tower_kind kind)
{
    const struct transformer_tower *t = &j->model.towers[kind];
    struct transformer_job at = *j;
    at.model = tower_model(t);
    at.layout.samples = j->layout.samples * t->items / j->layout.context;
    at.layout.context = 1;
    at.known = NULL;
    at.layer_kinds = NULL;
    return at;
}

static bool is_frozen(const struct transformer_job *j, enum transformer_tower_kind kind)
{
    return j->model.towers[kind].frozen || j->parameters->adapter_rank > 0;
}

uint32_t transformer_tower_part_count(const struct transformer_job *j)
{
    uint32_t count = 0;
    for (enum transformer_tower_kind kind = TOWER_IMAGES; kind < TRANSFORMER_TOWERS; kind++)
        count += j->model.towers[kind].layers ? (uint32_t)j->model.towers[kind].layers * LAYER_PARTS_MAX + 1 : 0;
    return count;
}

static void freeze(struct stagesim_part *part)
{
    part->backward = part->weight = part->backward_flops = part->weight_flops = part->gradient = 0;
    part->backward_exchanges = (struct stagesim_exchanges){.items = {{.bytes = 0}}};
}

/* Of a layer, the biases of keys that it does not have, on one rank. */
static double spared_biases(const struct transformer_job *j, enum transformer_tower_kind kind)
{
    const struct transformer_tower *t = &j->model.towers[kind];
    return t->key_biases ? 0 : (double)t->hidden / j->layout.tensor;
}

static uint32_t list_parts(const struct transformer_job *on, enum transformer_tower_kind kind,
                           struct stagesim_part *out)
{
    struct transformer_job at = at_tower(on, kind);
    uint32_t count = 0, each = 0;
    if (!on->model.towers[kind].layers || !(on->model.towers[kind].items > 0))
        return 0;
    out[count++] = transformer_part(on, (enum transformer_block)(BLOCK_TOWER + kind), STAGESIM_NONE);
    out[0].forward_exchanges = out[0].backward_exchanges = (struct stagesim_exchanges){.items = {{.bytes = 0}}};
    for (uint32_t layer = 0; layer < at.model.layers; layer++) {
        if (!layer)
            each = transformer_layer_parts(&at, layer, &out[count]);
        for (uint32_t i = 0; layer && i < each; i++) /* all of its layers are alike */
            out[count + i] = out[count + i - each];
        if (!layer)
            out[count].gradient -= spared_biases(on, kind) * on->layout.gradient_bytes;
        count += each;
    }
    for (uint32_t i = 0; i < count; i++) {
        out[i].layer = STAGESIM_NONE;
        if (is_frozen(on, kind))
            freeze(&out[i]);
        if (on->towers[kind].factors) {
            out[i].varies = transformer_documents_axis;
            out[i].factors = on->towers[kind].factors;
            out[i].apart = APART + (uint32_t)kind;
        }
    }
    return count;
}

uint32_t transformer_tower_parts(const struct transformer_job *on, struct stagesim_part *out)
{
    uint32_t count = 0;
    for (enum transformer_tower_kind kind = TOWER_IMAGES; kind < TRANSFORMER_TOWERS; kind++)
        count += list_parts(on, kind, out + count);
    return count;
}

static double parameters_of(const struct transformer_job *j, enum transformer_tower_kind kind)
{
    struct transformer_job at = at_tower(j, kind);
    if (!j->model.towers[kind].layers)
        return 0;
    double layer = transformer_block_parameters(&at, BLOCK_ATTENTION) + transformer_block_parameters(&at, BLOCK_FFN);
    return (double)at.model.layers * (layer - spared_biases(j, kind)) + tower_end_parameters(&j->model, kind);
}

double transformer_tower_parameters(const struct transformer_job *j)
{
    return parameters_of(j, TOWER_IMAGES) + parameters_of(j, TOWER_AUDIO);
}

double transformer_frozen_tower_parameters(const struct transformer_job *j)
{
    double sum = 0;
    for (enum transformer_tower_kind kind = TOWER_IMAGES; kind < TRANSFORMER_TOWERS; kind++)
        sum += j->model.towers[kind].frozen ? parameters_of(j, kind) : 0;
    return sum;
}

/* Where micro-batches differ all are taken to keep as much as the one with most. */
double transformer_tower_activation(const struct transformer_job *j)
{
    double sum = 0;
    for (enum transformer_tower_kind kind = TOWER_IMAGES; kind < TRANSFORMER_TOWERS; kind++) {
        struct transformer_job at = at_tower(j, kind);
        double most = j->towers[kind].factors ? j->towers[kind].most : 1;
        if (!j->model.towers[kind].layers || is_frozen(j, kind))
            continue;
        sum += most * (double)at.model.layers * transformer_own_layer_activation(&at.model, &at.layout);
        sum += most * at.layout.samples * tower_end_elements(&j->model, kind) * at.layout.element_bytes;
    }
    return sum;
}
