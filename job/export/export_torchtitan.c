/* SPDX-License-Identifier: Apache-2.0 */
/* torchtitan's configuration: a registry in Python, as releases since February 2026 read it
 * (torchtitan/config/configs.py, torchtitan/trainer.py @ b5bcd76c), and the TOML of releases before. */
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
    bool python;
};

/* ---- lines ---- */

static void entry(const struct file *f, const char *key, const char *value)
{
    if (f->python)
        fprintf(f->out, "            %s=%s,\n", key, value);
    else
        fprintf(f->out, "%s = %s\n", key, value);
}

static void count(const struct file *f, const char *key, uint64_t value)
{
    entry(f, key, arena_print(f->job->arena, "%" PRIu64, value));
}

static void text(const struct file *f, const char *key, const char *value)
{
    entry(f, key, arena_print(f->job->arena, "\"%s\"", value));
}

static void on(const struct file *f, const char *key)
{
    entry(f, key, f->python ? "True" : "true");
}

static void off(const struct file *f, const char *key)
{
    entry(f, key, f->python ? "False" : "false");
}

/* [training], or training=TrainingConfig( with what closes it. */
static void open_section(const struct file *f, const char *name, const char *class)
{
    if (f->python)
        fprintf(f->out, "        %s=%s(\n", name, class);
    else
        fprintf(f->out, "\n[%s]\n", name);
}

static void close_section(const struct file *f)
{
    if (f->python)
        fputs("        ),\n", f->out);
}

/* ---- the model ---- */

static bool is_compiled(const struct export_job *job)
{
    const struct transformer_parameters *p = job->scenario->parameters;
    return p->unfused <= 1 && node_find(job->scenario->root, "compute.unfused");
}

static void write_model(const struct file *f)
{
    const struct torchtitan_model *known = export_torchtitan_model(f->job);
    const char *flavor = known ? known->flavor : "FLAVOR";
    if (!known)
        export_remark(f->job, "model",
                      "none of the shapes that are known here: torchtitan has shapes in Python, add one and name it");
    if (f->job->model.dropout)
        export_remark(f->job, "model.dropout", "its models have none");
    bool fp8 = f->job->parameters->precision == FP8;
    unsigned scaling = f->job->parameters->scaling;
    if (fp8 && (scaling == SCALING_DELAYED || scaling == SCALING_BLOCK))
        export_remark(f->job, "compute.scaling", "it has scales of tensors, rows, MXFP8 and NVFP4: here of tensors");
    if (f->python && fp8)
        fprintf(f->out,
                "        model_spec=model_registry(\n            \"%s\",\n            "
                "converters=[%s.Config(%smodel_compile_enabled=%s)],\n        ),\n",
                flavor, export_torchtitan_converter(f->job, true),
                f->job->parameters->scaling == SCALING_ROW ? "recipe_name=\"rowwise\", " : "",
                is_compiled(f->job) ? "True" : "False");
    else if (f->python)
        fprintf(f->out, "        model_spec=model_registry(\"%s\"),\n", flavor);
    else {
        fputs("[model]\n", f->out);
        if (known)
            fprintf(f->out, "name = \"%s\"\nflavor = \"%s\"\n", known->name, flavor);
        if (fp8)
            fprintf(f->out, "converters = [\"%s\"]\n%s", export_torchtitan_converter(f->job, false),
                    f->job->parameters->scaling == SCALING_ROW ? "\n[float8]\nrecipe_name = \"rowwise\"\n" : "");
    }
}

/* ---- training ---- */

/* Counted in samples. */
static void write_samples(const struct file *f, uint64_t global)
{
    const struct scenario *scenario = f->job->scenario;
    uint64_t micro = scenario->micro_batch_size, parts = scenario->micro_batches,
             local = f->job->pipeline > 1 ? micro * parts : micro;
    count(f, "local_batch_size", local);
    if (export_has(f->job, "batch.global") || local * scenario->data != global)
        count(f, "global_batch_size", global);
    count(f, "seq_len", f->job->model.sequence);
}

/* Counted in tokens. */
static void write_tokens(const struct file *f, uint64_t global)
{
    const struct scenario *scenario = f->job->scenario;
    uint64_t micro = scenario->micro_batch_size, sequence = f->job->model.sequence;
    uint64_t together = micro * scenario->data * (f->job->pipeline > 1 ? scenario->micro_batches : 1);
    count(f, "num_tokens_per_microbatch_per_dp_rank", micro * sequence);
    if (export_has(f->job, "batch.global") || together != global)
        count(f, "num_tokens_per_train_step", global * sequence);
    count(f, "max_context_length", sequence);
}

static void write_precision(const struct file *f)
{
    const struct transformer_parameters *p = f->job->parameters;
    bool same = p->gradients == GRADIENTS_SAME && p->precision >= FP16;
    text(f, "mixed_precision_param", p->precision == FP32 || p->precision == TF32 ? "float32" : "bfloat16");
    if (!f->python)
        text(f, "mixed_precision_reduce", same ? "bfloat16" : "float32");
    else if (same)
        export_remark(f->job, "transformer.gradients", "FSDP reduces gradients in float32");
    if (p->precision == FP16)
        export_remark(f->job, "compute.precision", "fp16 needs scaled losses, which it does not have: bfloat16");
    if (p->precision == TF32)
        export_remark(f->job, "compute.precision", "tf32 is a setting of PyTorch: float32");
}

static void write_training(const struct file *f)
{
    const struct scenario *scenario = f->job->scenario;
    const struct transformer_parameters *p = f->job->parameters;
    uint64_t global = (uint64_t)scenario->micro_batch_size * scenario->micro_batches * scenario->data;
    open_section(f, "training", "TrainingConfig");
    if (f->python)
        write_tokens(f, global);
    else
        write_samples(f, global);
    double step = (double)global * (double)f->job->model.sequence;
    if (p->tokens > 0)
        count(f, "steps", (uint64_t)(p->tokens / step + 0.5));
    write_precision(f);
    if (f->python && (f->job->pipeline > 1 || f->job->expert > 1))
        on(f, "disable_cuda_graphs"); /* it refuses them beside pipelines and its standard exchange of experts */
    if (p->optimizer)
        export_remark(f->job, "transformer.optimizer", "its optimizers are kinds of Adam");
    if (p->moment_bytes > 0 && p->moment_bytes != 4)
        export_remark(f->job, "transformer.moment_bytes", "moments have the type of the parameters, fp32");
    if (p->master_bytes > 0 && p->master_bytes != 4)
        export_remark(f->job, "transformer.master_bytes", "parameters are fp32, and there is no copy of them");
    close_section(f);
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
    if (f->python)
        count(f, "num_pp_microbatches", f->job->scenario->micro_batches);
    else
        count(f, "pipeline_parallel_microbatch_size", f->job->scenario->micro_batch_size);
    write_schedule(f);
    write_stages(f);
}

static void write_context(const struct file *f)
{
    bool ring = f->job->parameters->routing.context_method == CONTEXT_RING;
    if (f->job->context == 1)
        return;
    if (f->job->parameters->routing.context_method == CONTEXT_HEADS)
        export_remark(f->job, "transformer.context_method", "gathers keys and values or passes them around a ring");
    count(f, "context_parallel_degree", f->job->context);
    if (!f->python)
        text(f, "context_parallel_rotate_method", ring ? "alltoall" : "allgather");
    else if (ring)
        export_remark(f->job, "transformer.context_method", "gathers keys and values");
}

static void write_experts(const struct file *f)
{
    if (f->job->expert > 1)
        count(f, "expert_parallel_degree", f->job->expert);
    if (f->job->experts_whole && !f->python)
        count(f, "expert_tensor_parallel_degree", 1);
    if (f->python && f->job->model.experts && f->job->tensor > 1 && !f->job->experts_whole)
        export_remark(f->job, "parallel.expert", "ranks of an expert axis hold whole experts");
    if (f->job->parameters->routing.exchange == EXCHANGE_DEEPEP)
        export_remark(f->job, "transformer.expert_exchange", "tokens travel in its standard all-to-all");
}

static void write_parallelism(const struct file *f)
{
    const struct transformer_parameters *p = f->job->parameters;
    open_section(f, "parallelism", "ParallelismConfig");
    write_data(f);
    count(f, "tensor_parallel_degree", f->job->tensor);
    if (f->job->tensor > 1 && !p->sequence_parallel && f->python)
        off(f, "enable_sequence_parallel");
    else if (f->job->tensor > 1 && !p->sequence_parallel)
        export_remark(f->job, "transformer.sequence_parallel", "is always on beside a tensor axis");
    if (f->job->tensor > 1 && p->product_overlap && !f->python)
        on(f, "enable_async_tensor_parallel");
    write_context(f);
    write_experts(f);
    write_order(f);
    write_pipeline(f);
    close_section(f);
    if (p->routing.capacity_factor > 0)
        export_remark(f->job, "transformer.capacity_factor", "experts take what comes");
    if (p->routing.expert_overlap)
        export_remark(f->job, "transformer.expert_overlap", "is a matter of its MoE code");
    if (!p->overlap)
        export_remark(f->job, "communication.overlap", "FSDP always overlaps gradients with the backward");
}

/* ---- recomputation and compilation ---- */

static void write_policy(const struct file *f, enum scenario_recompute how)
{
    if (f->python) {
        fprintf(f->out, "        activation_checkpoint=%s,\n",
                how == RECOMPUTE_FULL        ? "FullAC.Config()"
                : how == RECOMPUTE_OPERATORS ? "SelectiveAC.Config()"
                                             : "None");
        return;
    }
    open_section(f, "activation_checkpoint", "");
    text(f, "mode", how == RECOMPUTE_FULL ? "full" : how == RECOMPUTE_OPERATORS ? "selective" : "none");
    if (how == RECOMPUTE_OPERATORS)
        text(f, "selective_ac_option", "op");
}

static void write_recompute(const struct file *f)
{
    enum scenario_recompute how = f->job->scenario->recompute;
    write_policy(f, how);
    if (f->job->scenario->recompute_count)
        export_remark(f->job, "schedule.recompute",
                      "stages differ; it computes alike in all: as in the first one here");
    if (how == RECOMPUTE_FULL && !f->job->parameters->recompute_stops_early)
        export_remark(f->job, "transformer.recompute_stops_early",
                      "what it computes again ends with the last product whose inputs the backward needs");
    if (how == RECOMPUTE_SELECTIVE)
        export_remark(f->job, "schedule.recompute",
                      "selective is Megatron-LM's, of the attention alone; torchtitan's is operators");
}

/* Operators that are said to be fused are compiled ones. In the registry an overlap of products with messages belongs
 * to the compiler, too. */
static void write_compile(const struct file *f)
{
    bool compiled = is_compiled(f->job),
         overlap = f->python && f->job->tensor > 1 && f->job->parameters->product_overlap;
    if (!compiled && !overlap)
        return;
    if (overlap && !compiled)
        export_remark(f->job, "transformer.tensor_overlap", "only in compiled models: compiled");
    open_section(f, "compile", "CompileConfig");
    on(f, "enable");
    if (overlap)
        on(f, "enable_async_tensor_parallel");
    close_section(f);
}

/* ---- the file ---- */

static void write_imports(const struct file *f)
{
    const struct torchtitan_model *known = export_torchtitan_model(f->job);
    enum scenario_recompute how = f->job->scenario->recompute;
    if (f->job->parameters->precision == FP8)
        fprintf(f->out, "from torchtitan.components.quantization import %s\n",
                export_torchtitan_converter(f->job, true));
    fputs("from torchtitan.config import CompileConfig, ParallelismConfig, TrainingConfig\n", f->out);
    if (how == RECOMPUTE_FULL || how == RECOMPUTE_OPERATORS)
        fprintf(f->out, "from torchtitan.distributed.activation_checkpoint import %s\n",
                how == RECOMPUTE_FULL ? "FullAC" : "SelectiveAC");
    fprintf(f->out, "from torchtitan.models.%s import model_registry\nfrom torchtitan.trainer import Trainer\n",
            known ? known->name : "NAME");
    fputs("\n\ndef exported() -> Trainer.Config:\n    return Trainer.Config(\n", f->out);
}

static const char *write(struct export_job *job, bool python)
{
    char *written = NULL;
    size_t size = 0;
    struct file f = {job, memory_stream_open(&written, &size), python};
    export_common(job);
    export_remark_kinds(job, false);
    if (python)
        write_imports(&f);
    write_model(&f);
    write_training(&f);
    write_parallelism(&f);
    write_recompute(&f);
    write_compile(&f);
    if (python)
        fputs("    )\n", f.out);
    memory_stream_close(f.out);
    const char *result = arena_copy(job->arena, written);
    free(written);
    return result;
}

static const char *python_text(struct export_job *job)
{
    return write(job, true);
}

static const char *toml_text(struct export_job *job)
{
    return write(job, false);
}

const struct exporter exporter_torchtitan = {
    .name = "torchtitan",
    .title = "torchtitan",
    .comment = "#",
    .rest = "To be added: loss, data set, tokenizer, optimizer, learning rate, checkpoints.",
    .text = python_text,
};

const struct exporter exporter_torchtitan_toml = {
    .name = "torchtitan-toml",
    .title = "torchtitan before February 2026",
    .comment = "#",
    .rest = "To be added: [job], data set, tokenizer, optimizer, learning rate, checkpoints.",
    .text = toml_text,
};
