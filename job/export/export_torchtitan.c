/* SPDX-License-Identifier: Apache-2.0 */
/* torchtitan's TOML. */
#include "base/arena.h"
#include "base/bulk.h"
#include "base/document.h"
#include "frameworks/torchtitan_models.h"
#include "job/export/export.h"
#include "schedules/plan/plan_pytorch.h"
#include "workloads/transformer/pipeline_layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct file {
    struct export_job *job;
    FILE *out;
};

static void count(const struct file *f, const char *key, uint64_t value)
{
    fprintf(f->out, "%s = %" PRIu64 "\n", key, value);
}

static void text(const struct file *f, const char *key, const char *value)
{
    fprintf(f->out, "%s = \"%s\"\n", key, value);
}

/* ---- the model: one of those that a file can name ---- */

#define COUNT(name)                                                                                                    \
    {                                                                                                                  \
#name, offsetof(struct transformer_model, name), false                                                         \
    }
#define FLAG(name)                                                                                                     \
    {                                                                                                                  \
#name, offsetof(struct transformer_model, name), true                                                          \
    }

/* What tells shapes apart. */
static const struct field {
    const char *name;
    size_t offset;
    bool flag;
} fields[] = {COUNT(layers),     COUNT(hidden),         COUNT(heads),      COUNT(kv_heads),     COUNT(head_size),
              COUNT(ffn),        COUNT(vocabulary),     COUNT(positions),  COUNT(window),       COUNT(experts),
              COUNT(top_k),      COUNT(shared_experts), COUNT(expert_ffn), COUNT(dense_layers), COUNT(expert_period),
              COUNT(query_rank), COUNT(kv_rank),        COUNT(rope_size),  COUNT(value_size),   COUNT(expert_groups),
              COUNT(top_groups), FLAG(gated),           FLAG(tied),        FLAG(biases),        FLAG(qkv_biases),
              FLAG(qk_norm),     FLAG(sinks),           FLAG(router_bias), FLAG(shared_gate)};

enum { FIELDS = sizeof fields / sizeof *fields };

static uint64_t *count_of(struct transformer_model *model, const struct field *field)
{
    return (uint64_t *)((char *)model + field->offset);
}

static bool *flag_of(struct transformer_model *model, const struct field *field)
{
    return (bool *)((char *)model + field->offset);
}

static void set_field(struct transformer_model *model, const char *name, size_t length, const char *value)
{
    for (size_t i = 0; i < FIELDS; i++) {
        if (strlen(fields[i].name) != length || strncmp(fields[i].name, name, length) != 0)
            continue;
        if (fields[i].flag)
            *flag_of(model, &fields[i]) = !strncmp(value, "true", 4);
        else
            *count_of(model, &fields[i]) = strtoull(value, NULL, 10);
    }
}

static void set_shape(struct transformer_model *model, const char *shape)
{
    while (*shape) {
        size_t key = strcspn(shape, " "), value = strcspn(shape + key + 1, " ");
        set_field(model, shape, key, shape + key + 1);
        shape += key + 1 + value;
        shape += *shape == ' ';
    }
}

static bool is_model(const struct export_job *job, const struct torchtitan_model *known)
{
    struct transformer_model model = {0}, own = job->model;
    set_shape(&model, torchtitan_common);
    set_shape(&model, known->shape);
    transformer_model_complete(&model);
    bool same = own.norm == NORM_RMS;
    for (size_t i = 0; i < FIELDS; i++)
        same &= fields[i].flag ? *flag_of(&model, &fields[i]) == *flag_of(&own, &fields[i])
                               : *count_of(&model, &fields[i]) == *count_of(&own, &fields[i]);
    return same;
}

static void write_model(const struct file *f)
{
    const struct torchtitan_model *known = torchtitan_models;
    while (known->name && !is_model(f->job, known))
        known++;
    fputs("[model]\n", f->out);
    if (known->name) {
        text(f, "name", known->name);
        text(f, "flavor", known->flavor);
    } else {
        export_remark(f->job, "model",
                      "none of the shapes that are known here (llama3 8B, 70B, 405B, deepseek_v3 16B, "
                      "671B): torchtitan has shapes in Python, add one and name it as name and flavor");
    }
    if (f->job->model.dropout)
        export_remark(f->job, "model.dropout", "its models have none");
    if (f->job->parameters->precision == FP8)
        fputs("converters = [\"float8\"]\n", f->out);
}

/* ---- training ---- */

static void write_training(const struct file *f)
{
    const struct scenario *scenario = f->job->scenario;
    const struct transformer_parameters *p = f->job->parameters;
    uint64_t micro = scenario->micro_batch_size, parts = scenario->micro_batches;
    uint64_t global = micro * parts * scenario->data, local = f->job->pipeline > 1 ? micro * parts : micro;
    fputs("\n[training]\n", f->out);
    count(f, "local_batch_size", local);
    if (export_has(f->job, "batch.global") || local * scenario->data != global)
        count(f, "global_batch_size", global);
    count(f, "seq_len", f->job->model.sequence);
    double step = (double)global * (double)f->job->model.sequence;
    if (p->tokens > 0)
        count(f, "steps", (uint64_t)(p->tokens / step + 0.5));
    text(f, "mixed_precision_param", p->precision == FP32 || p->precision == TF32 ? "float32" : "bfloat16");
    text(f, "mixed_precision_reduce", p->gradients == GRADIENTS_SAME && p->precision >= FP16 ? "bfloat16" : "float32");
    if (p->precision == FP16)
        export_remark(f->job, "compute.precision", "fp16 needs scaled losses, which it does not have: bfloat16");
    if (p->precision == TF32)
        export_remark(f->job, "compute.precision", "tf32 is a setting of PyTorch: float32");
    if (p->optimizer)
        export_remark(f->job, "transformer.optimizer", "its optimizers are kinds of Adam");
}

/* ---- the layout ---- */

static void write_data(const struct file *f)
{
    const struct transformer_parameters *p = f->job->parameters;
    uint64_t zero = p->zero ? p->zero : p->distributed_optimizer;
    uint64_t shards = zero ? p->shard_ranks ? p->shard_ranks : f->job->data : 1;
    count(f, "data_parallel_replicate_degree", f->job->data / shards);
    count(f, "data_parallel_shard_degree", shards);
    if (zero == 1 || zero == 2)
        export_remark(f->job, "transformer.zero", "%" PRIu64 " shares less than FSDP, which also shares parameters: 3",
                      zero);
    if (zero)
        text(f, "fsdp_reshard_after_forward", zero < 3 || !p->reshard ? "never" : "always");
}

static const struct {
    const char *name, *titan;
    bool looped;
} schedules[] = {{"1f1b", "1F1B", false},
                 {"gpipe", "GPipe", false},
                 {"interleaved", "Interleaved1F1B", true},
                 {"interleaved-zb", "InterleavedZeroBubble", true},
                 {"breadth-first", "LoopedBFS", true},
                 {"zb-v", "ZBVZeroBubble", false},
                 {"dualpipe-v", "DualPipeV", false}};

/* Two chunks are torchtitan's own choice for looped schedules; others follow from the layers of a stage. */
static void write_chunks(const struct file *f)
{
    uint64_t chunks = (uint64_t)export_schedule_option(f->job, "chunks", 2);
    if (chunks == 2)
        return;
    if (f->job->model.layers % (f->job->pipeline * chunks) == 0)
        count(f, "pipeline_parallel_layers_per_stage", f->job->model.layers / (f->job->pipeline * chunks));
    else
        export_remark(f->job, "schedule.chunks",
                      "%" PRIu64 " chunks of unequal layers: it takes a number of layers for "
                      "each stage",
                      chunks);
}

/* Whether PyTorch's files can hold the schedule. One that is searched for is such an order, found or not. */
static bool is_held(const struct export_job *job, struct fault *fault)
{
    const struct schedule *schedule = job->scenario->schedule;
    if (schedule->searches)
        return true;
    struct schedule_request request = scenario_schedule_request(job->scenario);
    struct plan *plan = schedule->plan(&request);
    bool held = plan_pytorch_holds(plan, fault);
    plan_destroy(plan);
    return held;
}

/* A schedule that torchtitan has no name for. */
static void write_schedule_file(const struct file *f, const char *name)
{
    struct fault fault = {""};
    if (!is_held(f->job, &fault)) {
        export_remark(f->job, "schedule", "%s is not there, and a file for PyTorch cannot hold it: %s", name,
                      fault.text);
        return;
    }
    text(f, "pipeline_parallel_schedule_csv", "schedule.csv");
    export_remark(f->job, "schedule",
                  "%s is not there by name; schedule.csv is what `stagesim schedule %s --workers %" PRIu64
                  " --micro-batches %u --format pytorch -o schedule.csv` writes",
                  name, name, f->job->pipeline, f->job->scenario->micro_batches);
}

static void write_schedule(const struct file *f)
{
    static const char *const said[] = {"chunks", NULL}, *const said_of_looped[] = {"chunks", "backwards", NULL};
    const char *name = export_schedule(f->job);
    if (f->job->scenario->schedule_file) {
        text(f, "pipeline_parallel_schedule_csv", f->job->scenario->schedule_file);
        export_remark(f->job, "schedule.file", "has to be in PyTorch's form: stagesim schedule FILE --format pytorch");
        return;
    }
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++)
        if (!strcmp(schedules[i].name, name)) {
            text(f, "pipeline_parallel_schedule", schedules[i].titan);
            if (schedules[i].looped)
                write_chunks(f);
            bool looped = !strcmp(name, "breadth-first");
            if (looped && !export_schedule_option(f->job, "backwards", 0))
                export_remark(f->job, "schedule",
                              "LoopedBFS runs a chunk's backwards from the last micro-batch: "
                              "breadth-first with backwards: lifo");
            export_schedule_options(f->job, looped ? said_of_looped : said);
            return;
        }
    write_schedule_file(f, name);
}

/* How torchtitan deals out layers: the first stage has `first` fewer than an even share, the last `last`; what does not
 * divide goes to the first stages. */
static bool is_dealt(const struct pipeline_layout *layout, uint64_t first, uint64_t last)
{
    uint64_t all = layout->layers + first + last, each = all / layout->stages, more = all % layout->stages;
    for (uint32_t stage = 0; stage < layout->stages; stage++) {
        uint64_t layers = each + (stage < more), less = (stage ? 0 : first) + (stage + 1 == layout->stages ? last : 0);
        if (layers < less || layout->counts[stage] != layers - less)
            return false;
    }
    return true;
}

static void write_stages(const struct file *f)
{
    uint64_t first = 0, last = 0, most = 8;
    struct pipeline_layout layout;
    struct fault fault = {""};
    bool found = !f->job->layout;
    if (!found && pipeline_layout_read(f->job->layout, 0, &layout, &fault)) {
        for (uint64_t i = 0; i < most * most && !found; i++) {
            first = i / most;
            last = i % most;
            found = is_dealt(&layout, first, last);
        }
        pipeline_layout_finish(&layout);
    }
    if (!found) {
        export_remark(f->job, "transformer.pipeline_layout",
                      "%s: module_fqns_per_model_part lists the modules of each stage", f->job->layout);
        first = last = 0;
    }
    count(f, "pipeline_parallel_first_stage_less_layers", first);
    count(f, "pipeline_parallel_last_stage_less_layers", last);
}

static void write_order(const struct file *f)
{
    static const char *const names[] = {"tensor", "context", "data", "pipeline"};
    const struct mesh *mesh = &f->job->scenario->mesh;
    unsigned before = 0;
    bool same = true;
    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = 0; k < mesh->name_count; k++)
            if (!strcmp(mesh->names[k].name, names[i])) {
                same &= k >= before;
                before = k;
            }
    if (!same)
        export_remark(f->job, "order", "ranks lie tensor, context, data, pipeline from the innermost");
}

static void write_pipeline(const struct file *f)
{
    if (f->job->pipeline == 1)
        return;
    count(f, "pipeline_parallel_degree", f->job->pipeline);
    count(f, "pipeline_parallel_microbatch_size", f->job->scenario->micro_batch_size);
    write_schedule(f);
    write_stages(f);
}

static void write_parallelism(const struct file *f)
{
    const struct transformer_parameters *p = f->job->parameters;
    fputs("\n[parallelism]\n", f->out);
    write_data(f);
    count(f, "tensor_parallel_degree", f->job->tensor);
    if (f->job->tensor > 1 && !p->sequence_parallel)
        export_remark(f->job, "transformer.sequence_parallel", "is always on beside a tensor axis");
    if (f->job->tensor > 1 && p->product_overlap)
        fputs("enable_async_tensor_parallel = true\n", f->out);
    if (f->job->context > 1) {
        bool ring = p->routing.context_method == CONTEXT_RING;
        if (p->routing.context_method == CONTEXT_HEADS)
            export_remark(f->job, "transformer.context_method", "gathers keys and values or passes them around a ring");
        count(f, "context_parallel_degree", f->job->context);
        text(f, "context_parallel_rotate_method", ring ? "alltoall" : "allgather");
    }
    if (f->job->expert > 1)
        count(f, "expert_parallel_degree", f->job->expert);
    if (f->job->experts_whole)
        count(f, "expert_tensor_parallel_degree", 1);
    write_order(f);
    write_pipeline(f);
    if (p->routing.capacity_factor > 0)
        export_remark(f->job, "transformer.capacity_factor", "experts take what comes");
    if (p->routing.expert_overlap)
        export_remark(f->job, "transformer.expert_overlap", "is a matter of its MoE code");
    if (!p->overlap)
        export_remark(f->job, "communication.overlap", "FSDP always overlaps gradients with the backward");
}

static void write_recompute(const struct file *f)
{
    enum scenario_recompute how = f->job->scenario->recompute;
    fputs("\n[activation_checkpoint]\n", f->out);
    text(f, "mode", how == RECOMPUTE_FULL ? "full" : how == RECOMPUTE_OPERATORS ? "selective" : "none");
    if (how == RECOMPUTE_OPERATORS)
        text(f, "selective_ac_option", "op");
    if (f->job->scenario->recompute_count)
        export_remark(f->job, "schedule.recompute",
                      "stages differ; it computes alike in all: as in the first one here");
    if (how == RECOMPUTE_SELECTIVE)
        export_remark(f->job, "schedule.recompute",
                      "selective is Megatron-LM's, of the attention alone; torchtitan's is operators");
}

/* Operators that are said to be fused are compiled ones. */
static void write_compile(const struct file *f)
{
    const struct transformer_parameters *p = f->job->scenario->parameters;
    if (p->unfused <= 1 && node_find(f->job->scenario->root, "compute.unfused"))
        fputs("\n[compile]\nenable = true\n", f->out);
}

static const char *torchtitan_text(struct export_job *job)
{
    char *written = NULL;
    size_t size = 0;
    struct file f = {job, memory_stream_open(&written, &size)};
    export_common(job);
    export_remark_kinds(job, false);
    write_model(&f);
    write_training(&f);
    write_parallelism(&f);
    write_recompute(&f);
    write_compile(&f);
    memory_stream_close(f.out);
    const char *result = arena_copy(job->arena, written);
    free(written);
    return result;
}

const struct exporter exporter_torchtitan = {
    .name = "torchtitan",
    .title = "torchtitan",
    .comment = "#",
    .rest = "To be added: [job], data set, tokenizer, optimizer, learning rate, checkpoints.",
    .text = torchtitan_text,
};
