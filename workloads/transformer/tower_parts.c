/* SPDX-License-Identifier: Apache-2.0 */
/* Towers as parts of the first stage: layers like others, of images or clips in place of samples. Ranks that share a
 * sequence divide the items among each other. */
#include "base/arena.h"
#include "workloads/transformer/kinds/memory.h"
#include "workloads/transformer/kinds/tower.h"
#include "workloads/transformer/transformer.h"

#include <math.h>
#include <stdlib.h>

/* Numbers of parts that stand apart as they vary; those of layers are smaller. */
enum { APART = 1 << 24 };

/* Where a tower has fewer tensor-parallel ranks they divide the items: the group with most is waited for. */
static double share_of(const struct transformer_job *j, enum transformer_tower_kind kind)
{
    return j->place.apart ? j->towers[kind].spread / j->place.groups : 1;
}

static struct transformer_job at_tower(const struct transformer_job *j, enum transformer_tower_kind kind)
{
    const struct transformer_tower *t = &j->model.towers[kind];
    struct transformer_job at = *j;
    at.model = tower_model(t);
    at.layout.samples = share_of(j, kind) * j->layout.samples * t->items / j->layout.context;
    at.layout.context = 1;
    if (j->place.apart) {
        at.layout.tensor = j->place.tensor;
        at.tensor.tensor = (uint32_t)j->place.tensor;
        at.layout.sequence_parallel = j->layout.sequence_parallel && j->place.tensor > 1;
        at.layout.cast_share = at.layout.sequence_parallel ? 1 / j->place.tensor : 0;
    }
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
    return t->key_biases ? 0 : (double)t->hidden / j->place.tensor;
}

/* Bytes of the tokens that a tower makes of a replica's micro-batch. */
static double token_bytes(const struct transformer_job *j, enum transformer_tower_kind kind)
{
    const struct transformer_tower *t = &j->model.towers[kind];
    return t->layers ? j->layout.element_bytes * j->layout.samples * t->passed * tower_tokens(t) * (double)t->mergers *
                           (double)j->model.hidden
                     : 0;
}

static void add_gather(struct stagesim_exchanges *exchanges, enum stagesim_moment moment, const char *axes,
                       double bytes)
{
    if (bytes > 0)
        transformer_add_exchange(
            exchanges, (struct stagesim_exchange){STAGESIM_ALL_GATHER, STAGESIM_TENSOR, moment, axes, bytes, 1, false});
}

void transformer_receive_tokens(const struct transformer_job *on, struct stagesim_part *first)
{
    if (on->layout.tensor <= 1)
        return;
    add_gather(&first->forward_exchanges, STAGESIM_BEFORE, "tensor", transformer_tower_bytes(on, false));
    if (on->layout.sequence_parallel) /* each rank has the gradients of its part of the sequence */
        add_gather(&first->backward_exchanges, STAGESIM_AFTER, "tensor", transformer_tower_bytes(on, true));
}

/* Ranks that share a tower's layers do so along a part of the axis tensor, and what they make goes to all along it. The
 * same of its gradients, of which each rank gets a part from another stage, or with sequence parallelism has those of a
 * part of the sequence. */
static void set_apart(const struct transformer_job *on, enum transformer_tower_kind kind, struct stagesim_part *parts,
                      uint32_t count)
{
    const struct transformer_tower_place *place = &on->place;
    struct stagesim_part *last = &parts[count - 1];
    double bytes = token_bytes(on, kind);
    for (uint32_t i = 0; i < count; i++) {
        for (unsigned k = 0; k < STAGESIM_EXCHANGES_MAX; k++) {
            if (parts[i].forward_exchanges.items[k].bytes > 0)
                parts[i].forward_exchanges.items[k].axes = place->axes->shared;
            if (parts[i].backward_exchanges.items[k].bytes > 0)
                parts[i].backward_exchanges.items[k].axes = place->axes->shared;
        }
        parts[i].expert_gradient = parts[i].gradient;
        parts[i].gradient = 0;
    }
    if (!place->own)
        add_gather(&last->forward_exchanges, STAGESIM_AFTER, "tensor", bytes);
    if (!place->own && on->layout.sequence_parallel && !is_frozen(on, kind))
        add_gather(&last->backward_exchanges, STAGESIM_BEFORE, "tensor", bytes);
}

static uint32_t list_parts(const struct transformer_job *on, enum transformer_tower_kind kind,
                           struct stagesim_part *out)
{
    struct transformer_job at = at_tower(on, kind), ends = *on;
    uint32_t count = 0, each = 0;
    ends.layout.samples *= share_of(on, kind);
    if (!on->model.towers[kind].layers || !(on->model.towers[kind].items > 0))
        return 0;
    out[count++] = transformer_part(&ends, (enum transformer_block)(BLOCK_TOWER + kind), STAGESIM_NONE);
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
    }
    if (on->place.apart)
        set_apart(on, kind, out, count);
    if (on->place.own && on->place.tensor > 1 && !is_frozen(on, kind))
        add_gather(&out[count - 1].backward_exchanges, STAGESIM_BEFORE, on->place.axes->shared,
                   token_bytes(on, kind) / on->place.groups);
    for (uint32_t i = 0; i < count; i++) {
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

double transformer_tower_bytes(const struct transformer_job *j, bool gradients)
{
    double sum = 0;
    for (enum transformer_tower_kind kind = TOWER_IMAGES; kind < TRANSFORMER_TOWERS; kind++)
        sum += gradients && is_frozen(j, kind) ? 0 : token_bytes(j, kind);
    return sum;
}

/* Of a replica's micro-batches together, over the mean of all replicas. */
static double share_of_replica(const struct transformer_job *j, enum transformer_tower_kind kind, uint32_t replica)
{
    const double *factors = j->towers[kind].factors;
    uint32_t batches = j->api->micro_batches(j->job);
    double sum = 0;
    for (uint32_t batch = 0; factors && batch < batches; batch++)
        sum += factors[(size_t)batch * j->data + replica];
    return factors ? sum / batches : 1;
}

struct transformer_tower_times transformer_tower_times(const struct transformer_job *j)
{
    struct transformer_job on = transformer_on_stage(j, 0);
    struct transformer_tower_times times = {0, 0};
    double seconds[TRANSFORMER_TOWERS] = {0};
    for (enum transformer_tower_kind kind = TOWER_IMAGES; kind < TRANSFORMER_TOWERS; kind++) {
        struct stagesim_part *parts = array_zeroed(1 + (size_t)transformer_tower_part_count(j), sizeof *parts);
        uint32_t count = list_parts(&on, kind, parts);
        for (uint32_t i = 0; i < count; i++)
            seconds[kind] += j->api->micro_batches(j->job) * (parts[i].forward + parts[i].backward);
        times.mean += seconds[kind];
        free(parts);
    }
    for (uint32_t replica = 0; replica < j->data; replica++) {
        double own = 0;
        for (enum transformer_tower_kind kind = TOWER_IMAGES; kind < TRANSFORMER_TOWERS; kind++)
            own += seconds[kind] * share_of_replica(j, kind, replica);
        times.most = fmax(times.most, own);
    }
    return times;
}

double transformer_tower_sharing(const struct transformer_job *j)
{
    return j->data * j->place.groups;
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

double transformer_towers_flops(const struct transformer_job *j, const struct transformer_model *model)
{
    double sum = 0;
    for (enum transformer_tower_kind kind = TOWER_IMAGES; kind < TRANSFORMER_TOWERS; kind++)
        sum += (is_frozen(j, kind) ? 1 : 3) * transformer_tower_flops(model, kind);
    return sum;
}

double transformer_tower_repeated_flops(const struct transformer_job *on)
{
    double sum = 0;
    for (enum transformer_tower_kind kind = TOWER_IMAGES; kind < TRANSFORMER_TOWERS; kind++) {
        const struct transformer_tower *t = &on->model.towers[kind];
        struct transformer_model tower = tower_model(t);
        sum += t->layers && !is_frozen(on, kind) ? t->items * transformer_repeated_flops(&tower, &on->layout) : 0;
    }
    return sum;
}

double transformer_tower_largest(const struct transformer_job *j, transformer_of_layer of)
{
    double largest = 0;
    for (enum transformer_tower_kind kind = TOWER_IMAGES; kind < TRANSFORMER_TOWERS; kind++) {
        struct transformer_job at = at_tower(j, kind);
        if (j->model.towers[kind].layers && !is_frozen(j, kind))
            largest = fmax(largest, j->towers[kind].most * of(&at));
    }
    return largest;
}

/* Where micro-batches differ all are taken to keep as much as the one with most. */
double transformer_tower_activation(const struct transformer_job *j)
{
    double sum = 0;
    for (enum transformer_tower_kind kind = TOWER_IMAGES; kind < TRANSFORMER_TOWERS; kind++) {
        struct transformer_job at = at_tower(j, kind);
        double most = j->towers[kind].most;
        if (!j->model.towers[kind].layers || is_frozen(j, kind))
            continue;
        sum += most * (double)at.model.layers * transformer_own_layer_activation(&at.model, &at.layout);
        sum += most * at.layout.samples * tower_end_elements(&j->model, kind) * at.layout.element_bytes;
    }
    return sum;
}
