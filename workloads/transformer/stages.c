/* SPDX-License-Identifier: Apache-2.0 */
/* From blocks to stages: what the layers that a stage holds cost. */
#include "base/arena.h"
#include "workloads/transformer/kinds/kinds.h"
#include "workloads/transformer/transformer.h"

#include <math.h>
#include <stdlib.h>

/* ---- stages ---- */

/* All per-stage arrays of struct stagesim_pipeline that the workload fills. */
enum {
    FORWARD,
    BACKWARD,
    WEIGHT,
    FORWARD_FLOPS,
    BACKWARD_FLOPS,
    WEIGHT_FLOPS,
    GRADIENT,
    EXPERT_GRADIENT,
    OPTIMIZER,
    MESSAGE,
    GRADIENT_MESSAGE,
    ACTIVATION,
    PARAMETER,
    STATE,
    GATHERED,
    EXPERT_GATHERED,
    GRADIENT_MEMORY,
    BUFFERS,
    ATTENTION,
    ATTENTION_BACKWARD,
    KEYS_VALUES,
    ARRAYS
};

struct stages {
    const struct transformer_job *j;
    double *arrays[ARRAYS];
    struct stagesim_part **parts;
    uint32_t *part_counts;
    uint32_t *ahead;                    /* [stage]: layers whose weights are asked for before they are needed */
    struct transformer_owners *owners;  /* [stage]: who updates whole tensors; NULL: equal parts */
    const struct stagesim_cost **owned; /* [stage]: what they broadcast, with the next; NULL likewise */
    uint32_t *owned_counts;
};

/* ---- messages ---- */

/* An activation between layers on one rank. */
static double activation_bytes(const struct transformer_job *j)
{
    double rows = j->layout.samples * (double)j->model.sequence / j->layout.context;
    return j->layout.element_bytes * rows * (double)j->model.hidden / j->layout.width;
}

/* All residual streams, and with attention over what blocks of layers left all of these so far, in fp32. */
static double message_bytes(const struct transformer_job *j, uint32_t stage, bool gradient)
{
    enum { FLOAT = 4 };
    double streams = j->model.streams > 1 ? (double)j->model.streams : 1, one = activation_bytes(j);
    if (stage < transformer_input_stage(j))
        return transformer_tower_bytes(j, gradient);
    uint64_t passed = transformer_stage_first(j, stage) + j->layers[stage],
             blocks = j->model.residual_blocks ? passed / j->model.residual_blocks : 0;
    return streams * one + (double)blocks * one * FLOAT / j->layout.element_bytes;
}

/* Whether ranks that have the same activations each send a part of a message, and gather the parts behind it. */
static bool divides_messages(const struct transformer_job *j)
{
    return tensor_equal_axis(&j->tensor) && j->layout.tensor > 1 && j->parameters->scatter_gather &&
           !j->layout.sequence_parallel;
}

/* What comes in parts is gathered before it is used. */
static void gather_message(const struct transformer_job *j, uint32_t stage, struct stagesim_part *first)
{
    unsigned count = 0;
    while (first->forward_exchanges.items[count].bytes > 0)
        count++;
    first->forward_exchanges.items[count] = (struct stagesim_exchange){STAGESIM_ALL_GATHER,
                                                                       STAGESIM_TENSOR,
                                                                       STAGESIM_BEFORE,
                                                                       tensor_equal_axis(&j->tensor),
                                                                       .bytes = message_bytes(j, stage - 1, false),
                                                                       .buffers = 1};
}

/* A layer that predicts a further token: what joins its inputs, the layer, and the output once more, whose weights are
 * those of the model's own. */
static uint32_t list_further(const struct transformer_job *on, uint32_t layer, struct stagesim_part *parts)
{
    uint32_t count = 0;
    parts[count++] = transformer_part(on, BLOCK_PREDICTION, STAGESIM_NONE);
    count += transformer_layer_parts(on, layer, &parts[count]);
    parts[count] = transformer_part(on, BLOCK_OUTPUT, STAGESIM_NONE);
    parts[count].gradient = 0;
    return count + 1;
}

/* Input and output are parts of their own. */
static void list_parts(struct stages *s, uint32_t stage, uint32_t first_layer)
{
    const struct transformer_job *j = s->j;
    struct transformer_job on = transformer_on_stage(j, stage);
    struct stagesim_part *parts = NULL;
    size_t capacity = 0;
    uint32_t count = 0;
    parts = array_grow(parts, &capacity, 2 + transformer_tower_part_count(j), sizeof *parts);
    if (stage == 0)
        count += transformer_tower_parts(&on, parts);
    if (stage == transformer_input_stage(j))
        parts[count++] = transformer_part(&on, BLOCK_INPUT, STAGESIM_NONE);
    for (uint32_t layer = first_layer; layer < first_layer + j->layers[stage]; layer++) {
        parts = array_grow(parts, &capacity, count + LAYER_PARTS_MAX + 1, sizeof *parts);
        count += transformer_layer_parts(&on, layer, &parts[count]);
    }
    if (stage + 1 == j->stages)
        parts[count++] = transformer_part(&on, BLOCK_OUTPUT, STAGESIM_NONE);
    for (uint32_t number = 0; number < transformer_stage_further(j, stage); number++) {
        parts = array_grow(parts, &capacity, count + LAYER_PARTS_MAX + 3, sizeof *parts);
        uint32_t first = count;
        count += list_further(&on, (uint32_t)j->model.layers + number, &parts[count]);
        if (!number && !j->parameters->adapter_rank)
            parts[first].gradient += transformer_further_embedding(j) * j->layout.gradient_bytes;
    }
    if (count && stage > transformer_input_stage(j) && divides_messages(j))
        gather_message(j, stage, &parts[0]);
    if (j->place.own && stage == 1)
        transformer_receive_tokens(&on, &parts[0]);
    s->parts[stage] = parts;
    s->part_counts[stage] = count;
}

/* Halves and blocks do not vary: they take as long as on the rank that has most to do, and with packed documents or
 * images, of which the next micro-batch's rank with most is another one, as the mean. */
static double longest(const struct transformer_job *j, const struct stagesim_part *part)
{
    double most = 1;
    if (part->varies == transformer_documents_axis)
        return most;
    for (uint32_t i = 0; part->varies && i < j->api->axis(j->job, part->varies); i++)
        most = fmax(most, part->factors[i]);
    return most;
}

static void add_up(struct stages *s, uint32_t stage)
{
    for (uint32_t i = 0; i < s->part_counts[stage]; i++) {
        const struct stagesim_part *part = &s->parts[stage][i];
        double times = longest(s->j, part);
        s->arrays[FORWARD][stage] += times * part->forward;
        s->arrays[BACKWARD][stage] += times * part->backward;
        s->arrays[WEIGHT][stage] += times * part->weight;
        s->arrays[FORWARD_FLOPS][stage] += part->forward_flops;
        s->arrays[BACKWARD_FLOPS][stage] += part->backward_flops;
        s->arrays[WEIGHT_FLOPS][stage] += part->weight_flops;
        s->arrays[GRADIENT][stage] += part->gradient;
        s->arrays[EXPERT_GRADIENT][stage] += part->expert_gradient;
    }
}

/* Without recomputation: profiles may have measured activations; otherwise the formulas say. */
static double whole_activation(const struct transformer_job *j)
{
    struct layer_time time = {0};
    struct fault unused = {""};
    struct transformer_layout kept = j->layout;
    kept.recompute = TRANSFORMER_KEEP;
    bool measured = j->profile.rows[PROFILE_LAYER] &&
                    layer_profile_at(&j->profile, PROFILE_LAYER, j->layout.samples, &time, &unused);
    return measured && time.activation > 0 ? time.activation : transformer_own_layer_activation(&j->model, &kept);
}

/* Recomputation takes from a measured activation what it takes from the formula's. */
static double layer_activation(const struct transformer_job *j)
{
    struct transformer_layout kept = j->layout;
    double left = transformer_own_layer_activation(&j->model, &j->layout);
    kept.recompute = TRANSFORMER_KEEP;
    if (j->layout.recompute == TRANSFORMER_FULL || !j->profile.rows[PROFILE_LAYER])
        return left;
    return fmax(0, whole_activation(j) - (transformer_own_layer_activation(&j->model, &kept) - left));
}

/* What ranks that share a sequence hold of each other's while a layer runs, of the layer that needs most. */
static double context_buffers(const struct transformer_job *j, uint32_t stage)
{
    return j->layout.context <= 1 ? 0 : transformer_stage_largest(j, stage, transformer_shared_buffer);
}

/* Those that a rank updates, where ranks own whole tensors the one with most. */
static double updated(const struct stages *s, uint32_t stage)
{
    return s->owners ? s->owners[stage].most : transformer_held_trained(s->j, stage, 1);
}

/* Bytes of weights: frozen ones may be narrower, adapters beside them are not. */
static double weight_bytes(const struct transformer_job *j, uint32_t stage)
{
    const struct transformer_parameters *p = j->parameters;
    double frozen = p->adapter_rank && p->frozen_bytes > 0 ? p->frozen_bytes : j->state.weight;
    double adapters = p->adapter_rank ? transformer_held_trained(j, stage, 3) * j->state.weight : 0;
    return transformer_held(j, stage, 3) * frozen + adapters;
}

static double stage_activation(const struct transformer_job *j, uint32_t stage)
{
    double sum = transformer_stage_sum(j, stage, layer_activation);
    double output = stage + 1 == j->stages         ? transformer_output_activation(&j->model, &j->layout)
                    : j->parameters->stage_outputs ? message_bytes(j, stage, false)
                                                   : 0;
    sum += stage == 0 ? transformer_tower_activation(j) : 0;
    sum += stage == transformer_input_stage(j) ? transformer_input_activation(&j->model, &j->layout) : 0;
    return sum + output + transformer_stage_further(j, stage) * (output + 2 * activation_bytes(j));
}

/* What a layer that is computed again has beside what it keeps. */
static double again_of(const struct transformer_job *at)
{
    return whole_activation(at) - (at->layout.recompute == TRANSFORMER_OPERATORS ? layer_activation(at) : 0);
}

/* A layer that is computed again has all its activations for that time. */
static double again_buffers(const struct transformer_job *j, uint32_t stage)
{
    bool again = j->layout.recompute == TRANSFORMER_FULL || j->layout.recompute == TRANSFORMER_OPERATORS;
    double tower = again && stage == 0 ? transformer_tower_largest(j, again_of) : 0;
    return again ? fmax(transformer_stage_largest(j, stage, again_of), tower) : 0;
}

/* Of a layer, what later slices of a sequence need of earlier ones. */
static double keys_values_of(const struct transformer_job *at)
{
    struct transformer_widths widths = transformer_widths_of(&at->model);
    if (!transformer_kind_of(&at->model)->attends)
        return 0;
    return at->layout.element_bytes * at->layout.samples * (double)at->model.sequence * (widths.key + widths.value) /
           (at->layout.tensor * at->layout.context);
}

/* The products over scores, whose time grows with the square of a sequence, as shares of a stage's time. */
static void set_attention(struct stages *s, uint32_t stage, uint32_t first_layer)
{
    const struct transformer_job *j = s->j;
    struct transformer_job on = transformer_on_stage(j, stage);
    bool measured = j->profile.rows[PROFILE_LAYER]; /* whole layers: then by flop */
    double forward = s->arrays[measured ? FORWARD_FLOPS : FORWARD][stage];
    double backward = s->arrays[measured ? BACKWARD_FLOPS : BACKWARD][stage], sums[2] = {0, 0};
    for (uint32_t layer = first_layer; layer < first_layer + j->layers[stage]; layer++) {
        struct transformer_model own = transformer_model_of_layer(&j->model, layer);
        if (!transformer_kind_of(&own)->attends)
            continue;
        struct stagesim_part core = transformer_part(&on, BLOCK_CORE, layer);
        sums[0] += measured ? core.forward_flops : core.forward;
        sums[1] += measured ? core.backward_flops : core.backward;
    }
    s->arrays[ATTENTION][stage] = forward > 0 ? fmin(sums[0] / forward, 1) : 0;
    s->arrays[ATTENTION_BACKWARD][stage] = backward > 0 ? fmin(sums[1] / backward, 1) : 0;
    s->arrays[KEYS_VALUES][stage] = fmin(s->arrays[ACTIVATION][stage], transformer_stage_sum(j, stage, keys_values_of));
}

/* How many layers ahead a stage asks for weights. The bytes of gathered weights that a rank holds: of the layer that
 * runs and of those asked for ahead, or where they are kept for the backward of all. */
static double set_gathers(struct stages *s, uint32_t stage)
{
    const struct transformer_parameters *p = s->j->parameters;
    double whole = s->arrays[GATHERED][stage] + s->arrays[EXPERT_GATHERED][stage], count = 0,
           layer = transformer_stage_gathered(s->j, stage, whole, &count),
           filling = layer > 0 ? fmax(1, ceil(p->prefetch_bucket / layer)) : STAGESIM_AHEAD_MAX;
    s->ahead[stage] = p->prefetch_bucket > 0 ? (uint32_t)fmin(filling, STAGESIM_AHEAD_MAX) : (uint32_t)p->prefetch;
    if (s->j->zero < 3)
        return 0;
    return p->reshard ? fmin(1.0 + s->ahead[stage], fmax(count, 2)) * layer : whole;
}

/* Of a stage's matrices what `zero` leaves on a rank: shared optimizers are taken to divide whole matrices. */
static struct transformer_matrices held_matrices(const struct transformer_job *j, uint32_t stage)
{
    struct transformer_matrices others = {0}, experts = {0};
    if (!j->state.products)
        return others;
    others = transformer_stage_matrices(j, stage, false);
    experts = transformer_stage_matrices(j, stage, true);
    return (struct transformer_matrices){.elements = transformer_held_of(j, 1, others.elements, experts.elements),
                                         .flops = transformer_held_of(j, 1, others.flops, experts.flops),
                                         .products = transformer_held_of(j, 1, others.products, experts.products)};
}

/* Bytes of a parameter's further moment where it is in no matrix, the mean over all that are held. */
static double further_bytes(const struct transformer_job *j, uint32_t stage)
{
    double held = transformer_held_trained(j, stage, 1);
    return held > 0 ? fmax(0, 1 - held_matrices(j, stage).elements / held) * j->state.further : 0;
}

static struct transformer_operator optimizer_step(const struct stages *s, uint32_t stage)
{
    const struct transformer_job *j = s->j;
    struct transformer_matrices matrices = held_matrices(j, stage);
    double own = (1 - j->parameters->optimizer_offload) * updated(s, stage),
           held = transformer_held_trained(j, stage, 1);
    const struct efficiency *efficiency = j->devices[stage]->device.efficiency;
    return (struct transformer_operator){
        .name = "optimizer",
        .matrix = matrices.products > 0,
        .wide = true,
        .flops = matrices.products > 0 ? own / held * matrices.flops : 0,
        .share = matrices.products > 0 ? efficiency_at(&efficiency->matrix, matrices.flops / matrices.products) : 0,
        .bytes = own * (j->state.update + 2 * further_bytes(j, stage)) * j->parameters->optimizer_unfused};
}

static void set_memory(struct stages *s, uint32_t stage)
{
    const struct transformer_job *j = s->j;
    struct transformer_job on = transformer_on_stage(j, stage);
    enum { WHOLE = 4 }; /* as far as no `zero` goes */
    double experts = transformer_stage_experts(j, stage), others = transformer_stage_parameters(j, stage);
    if (j->zero < 3) /* what is frozen stays as it is, on each rank */
        transformer_trained(j, stage, &others, &experts);
    s->arrays[ACTIVATION][stage] = stage_activation(&on, stage);
    s->arrays[GATHERED][stage] = others * j->state.weight;
    s->arrays[EXPERT_GATHERED][stage] = (experts + transformer_trained_tower(j, stage, WHOLE)) * j->state.weight;
    s->arrays[PARAMETER][stage] = weight_bytes(j, stage);
    s->arrays[GRADIENT_MEMORY][stage] = transformer_held_trained(j, stage, 2) * j->state.gradient;
    s->arrays[STATE][stage] =
        (1 - j->parameters->optimizer_offload) * updated(s, stage) * (j->state.optimizer + further_bytes(j, stage)) +
        transformer_outer_memory(j, stage);
    double logits =
        stage + 1 == j->stages ? transformer_logits_buffer(&j->model, &on.layout, j->parameters->logits_bytes) : 0;
    s->arrays[BUFFERS][stage] = again_buffers(&on, stage) + context_buffers(j, stage) + set_gathers(s, stage) + logits +
                                tensor_panels(&j->tensor, &j->model, &on.layout) +
                                j->parameters->extra_memory * (double)j->workers / j->stages;
}

static void set_transfers(struct stages *s, uint32_t stage)
{
    const struct transformer_job *j = s->j;
    bool divided = j->layout.sequence_parallel || divides_messages(j) || stage < transformer_input_stage(j);
    s->arrays[MESSAGE][stage] = message_bytes(j, stage, false) / (divided ? j->layout.tensor : 1);
    s->arrays[GRADIENT_MESSAGE][stage] = message_bytes(j, stage, true) / (divided ? j->layout.tensor : 1);
    double chunks = (double)j->workers / j->stages;
    struct transformer_operator step = optimizer_step(s, stage);
    s->arrays[OPTIMIZER][stage] = j->profile.rows[PROFILE_LAYER] && j->devices[stage]->device.bandwidth <= 0
                                      ? 0
                                      : efficiency_operator_time(&j->devices[stage]->device, &step) +
                                            chunks * j->devices[stage]->device.efficiency->step;
    s->arrays[OPTIMIZER][stage] += transformer_offload_seconds(j, updated(s, stage));
}

/* Ranks that own whole tensors, where any do. */
static void find_owners(struct stages *s)
{
    if (!transformer_owns_tensors(s->j))
        return;
    s->owners = array_zeroed(s->j->stages, sizeof *s->owners);
    s->owned = array_zeroed(s->j->stages, sizeof *s->owned);
    s->owned_counts = array_zeroed(s->j->stages, sizeof *s->owned_counts);
    for (uint32_t stage = 0; stage < s->j->stages; stage++) {
        s->owners[stage] = transformer_find_owners(s->j, stage);
        s->owned[stage] = s->owners[stage].buffers;
        s->owned_counts[stage] = s->owners[stage].count;
    }
}

static void fill(struct stages *s)
{
    s->parts = array_zeroed(s->j->stages, sizeof *s->parts);
    s->part_counts = array_zeroed(s->j->stages, sizeof *s->part_counts);
    s->ahead = array_zeroed(s->j->stages, sizeof *s->ahead);
    for (unsigned i = 0; i < ARRAYS; i++)
        s->arrays[i] = array_zeroed(s->j->stages, sizeof *s->arrays[i]);
    find_owners(s);
    uint32_t first_layer = 0;
    for (uint32_t stage = 0; stage < s->j->stages; first_layer += s->j->layers[stage++]) {
        list_parts(s, stage, first_layer);
        add_up(s, stage);
        set_memory(s, stage);
        set_attention(s, stage, first_layer);
        set_transfers(s, stage);
    }
}

/* Pieces of weights that are too many to be worth having are a slip of the unit. */
static bool check_gathers(const struct stages *s)
{
    enum { PIECES_MAX = 1000 };
    const struct transformer_job *j = s->j;
    double bucket = j->parameters->gather_bucket, largest = 0;
    for (uint32_t stage = 0; stage < j->stages; stage++)
        largest = fmax(largest, s->arrays[GATHERED][stage] + s->arrays[EXPERT_GATHERED][stage]);
    if (!(bucket > 0) || j->zero < 3 || largest <= bucket * PIECES_MAX)
        return true;
    j->api->error(j->job, "gather_bucket",
                  "a stage's weights of %.4g bytes would be gathered in more than %d pieces; expected at least %.0fB",
                  largest, (int)PIECES_MAX, ceil(largest / PIECES_MAX));
    return false;
}

static void finish(struct stages *s)
{
    for (uint32_t stage = 0; stage < s->j->stages; stage++)
        free(s->parts[stage]);
    for (uint32_t stage = 0; s->owners && stage < s->j->stages; stage++)
        free(s->owners[stage].buffers);
    free(s->owners);
    free((void *)s->owned);
    free(s->owned_counts);
    for (unsigned i = 0; i < ARRAYS; i++)
        free(s->arrays[i]);
    free(s->parts);
    free(s->part_counts);
    free(s->ahead);
}

/* What a stage costs as a whole. */
static void put_costs(const struct stages *s, struct stagesim_pipeline *pipeline)
{
    pipeline->forward = s->arrays[FORWARD];
    pipeline->backward = s->arrays[BACKWARD];
    pipeline->weight = s->arrays[WEIGHT];
    pipeline->optimizer = s->arrays[OPTIMIZER];
    pipeline->forward_flops = s->arrays[FORWARD_FLOPS];
    pipeline->backward_flops = s->arrays[BACKWARD_FLOPS];
    pipeline->weight_flops = s->arrays[WEIGHT_FLOPS];
    pipeline->message = s->arrays[MESSAGE];
    pipeline->gradient_message = s->j->place.own ? s->arrays[GRADIENT_MESSAGE] : NULL;
    pipeline->gradient = s->arrays[GRADIENT];
    pipeline->activation = s->arrays[ACTIVATION];
    pipeline->parameter = s->arrays[PARAMETER];
    pipeline->optimizer_state = s->arrays[STATE];
}

bool transformer_lower(const struct transformer_job *j)
{
    struct stages s = {.j = j};
    fill(&s);
    const struct transformer_parameters *p = j->parameters;
    bool hybrid = p->shard_ranks > 0 && !tensor_shard_axes(&j->tensor);
    char shared[24], copies[40];
    snprintf(shared, sizeof shared, "data:%u", j->sharing);
    snprintf(copies, sizeof copies, "context,data,-%s", shared);
    bool axonn = j->tensor.algorithm == TENSOR_AXONN;
    unsigned overlap = j->tensor.overlap;
    bool drawn = transformer_towers_vary(j);
    struct stagesim_pipeline pipeline = {
        .size = sizeof pipeline,
        .stages = j->stages,
        .parts = (const struct stagesim_part *const *)s.parts,
        .part_counts = s.part_counts,
        .fine = p->granularity == GRANULARITY_LAYER,
        .late_sync = axonn ? !(overlap & OVERLAP_DATA) && j->tensor.z == 1 : !p->overlap,
        .bucket = p->bucket,
        .sharding = (enum stagesim_sharding)j->zero,
        .keep_gathered = !p->reshard,
        .gathered = s.arrays[GATHERED],
        .gradient_memory = s.arrays[GRADIENT_MEMORY],
        .buffers = s.arrays[BUFFERS],
        .expert_gradient = s.arrays[EXPERT_GRADIENT],
        .expert_gathered = s.arrays[EXPERT_GATHERED],
        .expert_axes = "whole_experts,context,data,-expert",
        .sync_axes = hybrid ? copies : tensor_sync_axes(&j->tensor),
        .shard_axes = hybrid ? shared : tensor_shard_axes(&j->tensor),
        .late_gather = axonn && !(overlap & OVERLAP_GATHER),
        .blocking_scatter = axonn && !(overlap & OVERLAP_SCATTER),
        .attention = s.arrays[ATTENTION],
        .attention_backward = s.arrays[ATTENTION_BACKWARD],
        .keys_values = s.arrays[KEYS_VALUES],
        .slice_grain = j->model.sequence > 0 ? j->layout.tensor / (double)j->model.sequence : 0,
        .late_replicas = axonn && !(overlap & OVERLAP_DATA),
        .gathers_ahead = axonn && !(overlap & OVERLAP_GATHER) ? NULL : s.ahead,
        .gather_bucket = p->gather_bucket,
        .gather_pieces = (uint32_t)p->gather_pieces,
        .tied_gradient = transformer_tied_gradient(j),
        .owned = s.owned,
        .owned_counts = s.owned_counts,
        .factor_sets = j->packing.sequences || drawn ? j->api->micro_batches(j->job) : 0,
        .unsliced = j->model.documents.count > 0 || transformer_tower_bytes(j, false) > 0,
        .first_expert_axes = j->place.apart ? j->place.axes->copies : NULL,
    };
    struct transformer_islands islands;
    put_costs(&s, &pipeline);
    transformer_islands_begin(j, &islands, &pipeline);
    bool ok = check_gathers(&s) && j->api->pipeline(j->job, &pipeline);
    transformer_islands_finish(&islands);
    finish(&s);
    return ok;
}
