/* SPDX-License-Identifier: Apache-2.0 */
/* The workload `transformer`: GPT, BERT and Llama in data x tensor x pipeline parallel; the order in which the job is
 * built. */
#include "workloads/transformer/transformer.h"

#include "base/arena.h"
#include "workloads/transformer/pipeline_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Hybrid sharding: the axis data is cut into those who share and those who hold copies. */
static bool set_sharing(struct transformer_job *j)
{
    uint64_t ranks = j->parameters->shard_ranks;
    bool shards = tensor_shard_axes(&j->tensor) != NULL;
    j->sharing =
        shards ? j->tensor.z
               : j->island * (j->tensor.algorithm == TENSOR_TESSERACT ? j->tensor.z : (uint32_t)j->layout.context);
    if (!ranks)
        return true;
    if (j->tensor.algorithm != TENSOR_MEGATRON) {
        j->api->error(j->job, "shard_ranks", "hybrid sharding is for megatron-1d, the algorithm is %s",
                      tensor_algorithm_names[j->tensor.algorithm]);
        return false;
    }
    if (j->zero && ranks <= j->data && j->data % ranks == 0 && j->api->cut(j->job, "data", (uint32_t)ranks)) {
        j->sharing = (uint32_t)ranks;
        return true;
    }
    if (j->zero)
        j->api->error(j->job, "shard_ranks",
                      "%u data-parallel ranks cannot be cut into groups of %llu; expected a divisor", j->data,
                      (unsigned long long)ranks);
    else
        j->api->error(j->job, "shard_ranks", "nothing is sharded; expected zero: 1, 2 or 3 beside it");
    return false;
}

/* ---- the profile ---- */

static bool set_profile(struct transformer_job *j)
{
    struct fault fault = {""};
    struct layer_time time;
    if (!j->parameters->profile)
        return true;
    bool ok = layer_profile_read(j->parameters->profile, &j->profile, &fault);
    for (int kind = 0; ok && kind < PROFILE_KINDS; kind++)
        ok = !j->profile.rows[kind] ||
             layer_profile_at(&j->profile, (enum layer_kind)kind, j->layout.samples, &time, &fault);
    if (!ok)
        (fault.trouble ? j->api->trouble : j->api->error)(j->job, "compute.profile", "%s", fault.text);
    return ok;
}

/* ---- building ---- */

static double bytes_of(enum device_precision precision)
{
    return precision <= TF32 ? 4 : 2; /* fp8 is for the products alone: activations and weights stay in 16 bits */
}

/* Of an element that is gathered as narrow as products compute with it. */
static double gathered_bytes(const struct transformer_parameters *p)
{
    unsigned scaling = p->precision == FP8 ? p->scaling : SCALING_TENSOR;
    return transformer_scaling_message((enum transformer_scaling)scaling, (double)p->model.hidden, true);
}

/* How layers are shared; what is sharded along z is so as with zero: 3 among replicas. */
static void describe_tensor(struct transformer_job *j)
{
    const struct transformer_parameters *p = j->parameters;
    j->data = j->api->axis(j->job, "data");
    j->tensor = (struct transformer_tensor){
        .algorithm = (enum tensor_algorithm)p->algorithm,
        .tensor = j->api->axis(j->job, "tensor"),
        .x = j->api->axis(j->job, "x"),
        .y = j->api->axis(j->job, "y"),
        .z = j->api->axis(j->job, "z"),
        .overlap = p->overlap ? p->tensor_overlap : 0,
        .product_overlap = p->product_overlap,
        .exposed = 1 - p->overlap_hidden,
        .spared = p->tensor_gathers == DISPATCH_FP8 ? 1 - gathered_bytes(p) / bytes_of(p->precision) : 0};
    j->zero = tensor_shard_axes(&j->tensor) ? 3 : (uint32_t)(p->zero > 0 ? p->zero : p->distributed_optimizer);
}

/* Moments and master weights of other sizes than 4 bytes. */
static void narrow_state(struct transformer_job *j)
{
    enum { FLOAT = 4 };
    const struct transformer_parameters *p = j->parameters;
    double master = j->layout.element_bytes < FLOAT ? FLOAT : 0, moments = j->state.optimizer - master,
           own = master > 0 && p->master_bytes > 0 ? p->master_bytes : master,
           narrow = p->moment_bytes > 0 ? p->moment_bytes / FLOAT : 1;
    double bytes = own + narrow * moments;
    j->state.update += 2 * (bytes - j->state.optimizer);
    j->state.optimizer = bytes;
    j->state.further *= narrow;
}

static void describe_job(struct transformer_job *j)
{
    const struct transformer_parameters *p = j->parameters;
    double element = bytes_of(p->precision);
    j->model = p->model;
    transformer_model_complete(&j->model);
    j->workers = j->api->workers(j->job);
    describe_tensor(j);
    j->layout = (struct transformer_layout){
        .samples = j->api->micro_batch_size(j->job),
        .sequence_parallel = p->sequence_parallel && j->api->axis(j->job, "tensor") > 1,
        .flash = p->attention == ATTENTION_FLASH,
        .element_bytes = element,
        .gradient_bytes = p->gradients == GRADIENTS_SAME ? element : 4,
        .gradient_copy = p->gradients == GRADIENTS_ACCUMULATED ? element : 0,
        .context = j->api->axis(j->job, "context"),
        .exchanged_heads = p->routing.context_method == CONTEXT_HEADS,
        .expert = j->api->axis(j->job, "expert"),
        .expert_tensor = (double)j->api->axis(j->job, "tensor") / j->api->axis(j->job, "whole_experts"),
        .padding = p->routing.capacity_factor > 0 ? p->routing.capacity_factor : 1,
        .recompute = (enum transformer_recompute)j->api->recompute(j->job),
        .copies = p->tensor_copies,
        .stops_early = p->recompute_stops_early,
        .shard_copies = p->shard_copies && j->zero == 3,
        .gathers_again = p->reshard};
    tensor_set_layout(&j->tensor, &j->layout);
    bool casts_parts = p->tensor_gathers == DISPATCH_FP8 && j->layout.sequence_parallel;
    j->layout.cast_share = casts_parts ? 1 / j->layout.tensor : 0;
    j->state = transformer_state_of((enum transformer_optimizer)p->optimizer, element, j->layout.gradient_bytes);
    j->state.gradient += j->layout.gradient_copy;
    narrow_state(j);
}

/* Ranks that are more than the heads of keys and values repeat them: each has one. */
static void repeat_kv_heads(struct transformer_job *j)
{
    uint64_t ranks = (uint64_t)j->layout.tensor;
    if (j->model.kv_heads < ranks)
        j->model.kv_heads = ranks;
    j->model.repeated = ranks;
}

/* Where stages may hold unequal numbers of layers. The caller frees it. */
static char *layout_text(const struct transformer_job *j)
{
    const struct transformer_parameters *p = j->parameters;
    bool told = p->balance == BALANCE_AUTO || p->layers_per_stage.count || p->pipeline_layout;
    return told && j->stages > 1 && !j->place.own
               ? pipeline_layout_text_of(j->layers, j->stages, (uint32_t)j->model.predictions)
               : NULL;
}

/* Of a sample, what backwards compute again; where stages do so differently by their shares of the layers. */
static double repeated_flops(const struct transformer_job *j, const struct transformer_model *model)
{
    double sum = 0;
    for (uint32_t stage = 0; stage < j->stages; stage++) {
        struct transformer_job on = transformer_on_stage(j, stage);
        sum += j->layers[stage] * transformer_repeated_flops(model, &on.layout) / (double)j->model.layers;
    }
    struct transformer_job first = transformer_on_stage(j, 0);
    return sum + transformer_tower_repeated_flops(&first);
}

/* Kernels that are not of the source that was asked for, nor of a library that trains. */
static void tell_sources(const struct transformer_job *j, const struct kernel_use *use)
{
    const char *source = j->parameters->source;
    if (use->elsewhere)
        j->api->note(j->job, "compute.source", "%s has not measured %u of %u kernels; those of %s count",
                     source ? source : "a library that trains", use->elsewhere, use->asked, use->other);
    if (use->one_by_one)
        j->api->note(j->job, "compute.source",
                     "no library that trains has measured %u of %u kernels, grouped products; they take as long as the "
                     "products of their groups one by one; `compute.source: %s` takes those of an inference library",
                     use->one_by_one, use->asked, use->inference);
}

/* Scales that no kernel of the GPU was measured with, or that a table knows nothing of. */
static void tell_scaling(const struct transformer_job *j, const struct kernel_use *use)
{
    const struct transformer_parameters *p = j->parameters;
    bool alike = p->scaling == SCALING_ROW || p->scaling == SCALING_MX;
    if (p->precision != FP8 || p->scaling == SCALING_TENSOR || p->profile)
        return;
    if (!use->table.model_count)
        j->api->note(
            j->job, "compute.scaling",
            "an efficiency table has no casts of its own: beside the peak of nvfp4, and scales in messages, it "
            "changes nothing; `compute.kernels: measured` has casts");
    else if (use->rescaled || alike)
        j->api->note(
            j->job, "compute.scaling",
            "no products with such scales are measured on this GPU, or not all: those with one scale a tensor, "
            "or the efficiency table, stand for them");
}

/* Classes that the scenario makes slower or faster, and of which no kernel takes time. */
static void tell_classes(const struct transformer_job *j)
{
    for (int class = 0; class < KERNEL_CLASSES; class ++) {
        double times = j->parameters->times[class];
        bool met = !(times < 1) && !(times > 1);
        for (const struct transformer_device *kind = j->kinds; kind; kind = kind->next)
            met |= kind->classes.met[class];
        if (!met)
            j->api->note(j->job, kernel_class_keys[class], "no kernel of this class takes time, so it changes nothing");
    }
}

/* Where no layer has a last product that can be left out. */
static void tell_early(const struct transformer_job *j)
{
    bool stops = !j->layout.stops_early || j->layout.recompute != TRANSFORMER_FULL;
    for (uint32_t layer = 0; !stops && layer < j->model.layers; layer++) {
        struct transformer_job at = transformer_at_layer(j, layer);
        stops = at.model.feed == FEED_DENSE && transformer_stops_early(&at.model, &at.layout, BLOCK_FFN);
    }
    if (!stops)
        j->api->note(j->job, "recompute_stops_early",
                     "no layer ends with a product of a feed-forward block that nothing follows: it changes nothing");
}

static void declare(const struct transformer_job *j)
{
    char *layout = layout_text(j);
    double samples = j->api->micro_batch_size(j->job) * j->api->micro_batches(j->job) * j->data;
    struct transformer_model whole = j->parameters->model; /* without what ranks repeat */
    transformer_model_complete(&whole);
    whole.documents = j->model.documents;
    whole.document_counts = j->model.document_counts;
    whole.packed = j->model.packed;
    memcpy(whole.towers, j->model.towers, sizeof whole.towers);
    double frozen = j->parameters->adapter_rank ? transformer_weight_flops(&whole) : 0;
    double model = samples * (transformer_flops(&whole) - frozen + transformer_towers_flops(j, &whole)),
           again = samples * repeated_flops(j, &whole);
    struct transformer_tower_times towers = transformer_tower_times(j);
    struct stagesim_figures figures = {.size = sizeof figures,
                                       .tower_seconds = towers.mean,
                                       .tower_most = towers.most,
                                       .sequence_length = (double)j->model.sequence,
                                       .model_flops = model,
                                       .hardware_flops = model + again,
                                       .peak_flops = j->peak,
                                       .tokens = j->parameters->tokens,
                                       .price = j->parameters->price,
                                       .pipeline_layout = layout};
    for (const struct transformer_device *kind = j->kinds; kind; kind = kind->next) {
        figures.kernels += kind->kernels.asked;
        figures.kernels_outside += kind->kernels.outside;
        tell_sources(j, &kind->kernels);
        tell_scaling(j, &kind->kernels);
    }
    j->api->declare(j->job, &figures);
    free(layout);
}

static bool build(const void *parameters, struct stagesim_job *job, const struct stagesim_api *api)
{
    struct transformer_job j = {.parameters = parameters, .job = job, .api = api};
    describe_job(&j);
    bool ok = transformer_check_keys(&j); /* all mistakes in one run: every step is taken */
    ok = transformer_place_towers(&j) && ok;
    ok &= transformer_check_shape(&j);
    ok &= transformer_check_offload(&j);
    ok &= transformer_set_islands(&j);
    ok &= set_sharing(&j);
    ok &= transformer_divide(&j);
    ok = ok && transformer_pack(&j);
    ok = ok && transformer_draw_towers(&j);
    ok = ok && set_profile(&j);
    repeat_kv_heads(&j);
    j.stages = api->stages(job);
    transformer_find_copies(&j);
    j.layers = array_zeroed(j.stages, sizeof *j.layers);
    ok = ok && transformer_find_kinds(&j);
    ok = ok && j.layers && transformer_find_devices(&j) && transformer_assign_layers(&j);
    ok = ok && transformer_check_tower_stages(&j);
    ok = ok && transformer_lower(&j);
    if (ok) {
        tell_classes(&j);
        tell_early(&j);
        declare(&j);
    }
    transformer_free_devices(&j);
    free(j.layers);
    free(j.layer_kinds);
    transformer_division_finish(&j.division);
    transformer_packing_finish(&j.packing);
    transformer_tower_loads_finish(&j);
    return ok;
}

const struct stagesim_workload transformer_workload = {
    .abi = STAGESIM_WORKLOAD_ABI,
    .size = sizeof transformer_workload,
    .name = "transformer",
    .summary = "GPT, BERT, Llama, Mixtral or DeepSeek in data x context x expert x tensor x pipeline parallel",
    .fields = transformer_fields,
    .parameters_size = sizeof(struct transformer_parameters),
    .defaults = &transformer_defaults,
    .build = build,
    .needs = transformer_needs,
};
