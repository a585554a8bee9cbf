/* SPDX-License-Identifier: Apache-2.0 */
/* The tower as parts of the first stage: layers like others, of images in place of samples. Ranks that share a sequence
 * divide the images among each other. */
#include "workloads/transformer/kinds/memory.h"
#include "workloads/transformer/kinds/tower.h"
#include "workloads/transformer/transformer.h"

static struct transformer_job at_tower(const struct transformer_job *j)
{
    struct transformer_job at = *j;
    at.model = tower_model(&j->model);
    at.layout.samples = j->layout.samples * (double)j->model.tower_images / j->layout.context;
    at.layout.context = 1;
    at.known = NULL;
    at.layer_kinds = NULL;
    return at;
}

static bool is_frozen(const struct transformer_job *j)
{
    return j->model.tower_frozen || j->parameters->adapter_rank > 0;
}

uint32_t transformer_tower_part_count(const struct transformer_job *j)
{
    return j->model.tower_layers ? (uint32_t)j->model.tower_layers * LAYER_PARTS_MAX + 1 : 0;
}

static void freeze(struct stagesim_part *part)
{
    part->backward = part->weight = part->backward_flops = part->weight_flops = part->gradient = 0;
    part->backward_exchanges = (struct stagesim_exchanges){.items = {{.bytes = 0}}};
}

uint32_t transformer_tower_parts(const struct transformer_job *on, struct stagesim_part *out)
{
    struct transformer_job at = at_tower(on);
    uint32_t count = 0, each = 0;
    if (!on->model.tower_layers || !on->model.tower_images)
        return 0;
    out[count++] = transformer_part(on, BLOCK_TOWER, STAGESIM_NONE);
    out[0].forward_exchanges = out[0].backward_exchanges = (struct stagesim_exchanges){.items = {{.bytes = 0}}};
    for (uint32_t layer = 0; layer < at.model.layers; layer++) {
        if (!layer)
            each = transformer_layer_parts(&at, layer, &out[count]);
        for (uint32_t i = 0; layer && i < each; i++) /* all of its layers are alike */
            out[count + i] = out[count + i - each];
        count += each;
    }
    for (uint32_t i = 0; i < count; i++) {
        out[i].layer = STAGESIM_NONE;
        if (is_frozen(on))
            freeze(&out[i]);
    }
    return count;
}

double transformer_tower_parameters(const struct transformer_job *j)
{
    struct transformer_job at = at_tower(j);
    if (!j->model.tower_layers)
        return 0;
    double layer = transformer_block_parameters(&at, BLOCK_ATTENTION) + transformer_block_parameters(&at, BLOCK_FFN);
    return (double)at.model.layers * layer + tower_end_parameters(&j->model);
}

double transformer_tower_activation(const struct transformer_job *j)
{
    struct transformer_job at = at_tower(j);
    if (!j->model.tower_layers || is_frozen(j))
        return 0;
    return (double)at.model.layers * transformer_own_layer_activation(&at.model, &at.layout);
}
