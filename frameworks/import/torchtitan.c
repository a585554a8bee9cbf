/* SPDX-License-Identifier: Apache-2.0 */
/* torchtitan's TOML (torchtitan/config/job_config.py) and, in the same tree, what its registries in Python say
 * (torchtitan_python.c). They name the model and do not describe it: shapes are those of torchtitan/models. */
#include "base/arena.h"
#include "frameworks/import/parts.h"
#include "frameworks/torchtitan_models.h"

#include <string.h>

const char *const torchtitan_ignored[] = {"job*",
                                          "profiling*",
                                          "metrics*",
                                          "optimizer.*",
                                          "lr_scheduler*",
                                          "checkpoint*",
                                          "comm*",
                                          "experimental*",
                                          "fault_tolerance*",
                                          "float8*",
                                          "quantize*",
                                          "mx*",
                                          "memory_estimation*",
                                          "validation*",
                                          "validator*",
                                          "loss*",
                                          "hf_assets_path",
                                          "dump_folder",
                                          "profiler*",
                                          "dataloader*",
                                          "tokenizer*",
                                          "override*",
                                          "optimizer",
                                          "parallelism.spmd_backend",
                                          "parallelism.context_parallel_load_balancer",
                                          "parallelism.context_parallel_ptrr_mask_key",
                                          "parallelism.num_pp_microbatches",
                                          "training.disable_cuda_graphs",
                                          "debug*",
                                          "deepep*",
                                          "model.tokenizer_path",
                                          "model.hf_assets_path",
                                          "model.print_after_conversion",
                                          "training.dataset",
                                          "training.dataset_path",
                                          "training.max_norm",
                                          "training.warmup_steps",
                                          "training.seed",
                                          "training.deterministic",
                                          "training.gc_freq",
                                          "training.gc_debug",
                                          "training.data_parallel_*",
                                          "training.fsdp_*",
                                          "training.mixed_precision_*",
                                          "parallelism.pipeline_parallel_split_points",
                                          "parallelism.disable_loss_parallel",
                                          "activation_checkpoint.*",
                                          "compile.components",
                                          "compile.backend",
                                          NULL};

static const char *const partial[] = {"parallelism.enable_fsdp_symm_mem",
                                      "weights are gathered through symmetric memory: stagesim uses NCCL's rates",
                                      "training.enable_cpu_offload",
                                      "weights, gradients and state are on the host: stagesim keeps them on the GPU",
                                      "float8.enable_fsdp_float8_all_gather",
                                      "weights are gathered in fp8: stagesim gathers 2 bytes of each",
                                      "parallelism.enable_compiled_autograd",
                                      "compiled backward: stagesim's tables are of what was measured",
                                      "parallelism.pipeline_parallel_split_points",
                                      "which layer begins a stage: see transformer.layers_per_stage",
                                      "parallelism.module_fqns_per_model_part",
                                      "what each stage holds: see transformer.layers_per_stage",
                                      NULL};

static struct source source(struct reading *r, const char *path)
{
    return reading_source(r, path, "torchtitan");
}

/* Keys of the model with their values. */
static void put_shape(struct reading *r, const char *shape, struct source from, bool common)
{
    struct arena *arena = r->settings->arena;
    while (*shape) {
        size_t key = strcspn(shape, " "), value = strcspn(shape + key + 1, " ");
        const char *name = arena_print(arena, "model.%.*s", (int)key, shape);
        const struct setting *there = common ? settings_find(r->settings, name) : NULL;
        if (!there || strcmp(there->from.text ? there->from.text : "", from.text) != 0)
            settings_put(r->settings, name, arena_print(arena, "%.*s", (int)value, shape + key + 1), from);
        shape += key + 1 + value;
        shape += *shape == ' ';
    }
}

static void read_model(struct reading *r)
{
    const char *name = reading_text(r, "model.name", ""), *flavor = reading_text(r, "model.flavor", "");
    const struct node *node = reading_get(r, "model.flavor");
    struct source from = source(r, "model.flavor");
    from.text = arena_print(r->settings->arena, "torchtitan's %s %s", name, flavor);
    for (const struct torchtitan_model *known = torchtitan_models; known->name; known++)
        if (!strcmp(known->name, name) && !strcmp(known->flavor, flavor)) {
            put_shape(r, known->shape, from, false);
            put_shape(r, torchtitan_common, from, true);
            return;
        }
    const char *list = "";
    for (const struct torchtitan_model *known = torchtitan_models; known->name; known++)
        list = arena_print(r->settings->arena, "%s%s%s %s", list, *list ? ", " : "", known->name, known->flavor);
    settings_remark(r->settings, REMARK_MISSING, node ? node->at : r->root->at, "model.layers",
                    "the shape of %s %s is not known here, and the file has none: give its config.json as well. Known "
                    "are %s",
                    *name ? name : "a model without name", flavor, list);
}

/* ---- batch ---- */

static void put_count(struct reading *r, const char *key, const char *path, uint64_t other)
{
    settings_put_count(r->settings, key, reading_count(r, path, other), source(r, path));
}

static const char tokens_path[] = "training.num_tokens_per_microbatch_per_dp_rank",
                  step_path[] = "training.num_tokens_per_train_step", length_path[] = "training.max_context_length";

/* As many tokens as a number of sequences has; 0 after a mistake was reported. */
static uint64_t sequences(struct reading *r, const char *path, uint64_t tokens, uint64_t length)
{
    if (length && tokens && tokens % length == 0)
        return tokens / length;
    diag_error(r->settings->diag, source(r, path).at, "%s %llu is no multiple of %s %llu; expected whole sequences",
               path, (unsigned long long)tokens, length_path, (unsigned long long)length);
    return 0;
}

/* A batch in tokens, as the registries have it: micro-batches are of whole sequences. */
static void read_tokens(struct reading *r, uint64_t pipeline)
{
    const char *micro_path = "parallelism.num_pp_microbatches", *step = reading_text(r, step_path, "-1");
    uint64_t length = reading_count(r, length_path, 2048),
             micro = sequences(r, tokens_path, reading_count(r, tokens_path, 16384), length);
    settings_put_count(r->settings, "model.sequence", length, source(r, length_path));
    if (!micro)
        return;
    settings_put_count(r->settings, "batch.micro", micro, source(r, tokens_path));
    if (strcmp(step, "-1") != 0)
        settings_put_count(r->settings, "batch.global", sequences(r, step_path, reading_count(r, step_path, 0), length),
                           source(r, step_path));
    else
        settings_put_count(r->settings, "@accumulation", pipeline > 1 ? reading_count(r, micro_path, 1) : 1,
                           source(r, pipeline > 1 ? micro_path : tokens_path));
    if (pipeline <= 1 && !reading_flag(r, "training.disable_cuda_graphs", false))
        settings_remark(r->settings, REMARK_PARTIAL, r->root->at, "training.disable_cuda_graphs",
                        "a step is captured as a CUDA graph where its shapes allow that: stagesim's profile is of "
                        "releases without");
}

static void read_batch(struct reading *r, uint64_t pipeline)
{
    if (reading_get(r, tokens_path) || reading_get(r, length_path)) {
        read_tokens(r, pipeline);
        if (reading_get(r, "training.steps"))
            put_count(r, "@iterations", "training.steps", 0);
        return;
    }
    const char *path = reading_get(r, "training.local_batch_size") || !reading_get(r, "training.batch_size")
                           ? "training.local_batch_size"
                           : "training.batch_size";
    uint64_t local = reading_count(r, path, 8),
             micro = pipeline > 1 ? reading_count(r, "parallelism.pipeline_parallel_microbatch_size", 1) : local;
    const struct node *global = reading_get(r, "training.global_batch_size");
    put_count(r, "model.sequence", "training.seq_len", 2048);
    settings_put_count(r->settings, "batch.micro", micro,
                       source(r, pipeline > 1 ? "parallelism.pipeline_parallel_microbatch_size" : path));
    if (global && strcmp(reading_text(r, "training.global_batch_size", "-1"), "-1") != 0)
        put_count(r, "batch.global", "training.global_batch_size", 0);
    else if (micro && local % micro == 0)
        settings_put_count(r->settings, "@accumulation", local / micro, source(r, path));
    else
        diag_error(r->settings->diag, source(r, path).at, "%s %llu is no multiple of micro-batches of %llu", path,
                   (unsigned long long)local, (unsigned long long)micro);
    if (reading_get(r, "training.steps"))
        put_count(r, "@iterations", "training.steps", 0);
}

/* ---- layout ---- */

static uint64_t put_axis(struct reading *r, const char *key, const char *path)
{
    uint64_t count = reading_count(r, path, 1);
    settings_put_count(r->settings, key, count, source(r, path));
    return count;
}

/* Old files have the data axis in [training]. */
static const char *data_path(struct reading *r, const char *name)
{
    const char *old = arena_print(r->settings->arena, "training.%s", name);
    return reading_get(r, old) ? old : arena_print(r->settings->arena, "parallelism.%s", name);
}

static void read_data(struct reading *r, uint64_t pipeline)
{
    const char *replicate = data_path(r, "data_parallel_replicate_degree"),
               *shard = data_path(r, "data_parallel_shard_degree");
    const struct node *node = reading_get(r, shard);
    bool rest = !node || !strcmp(reading_text(r, shard, "-1"), "-1");
    uint64_t copies = reading_count(r, replicate, 1), shards = rest ? 0 : reading_count(r, shard, 1);
    settings_put_count(r->settings, "@replicas", copies, source(r, replicate));
    settings_put_count(r->settings, "@shards", shards, source(r, shard));
    settings_put(r->settings, "transformer.zero", shards == 1 ? "0" : "3", source(r, shard));
    const char *path = "parallelism.fsdp_reshard_after_forward", *how = reading_text(r, path, "default");
    if (shards == 1)
        return;
    bool reshard = !strcmp(how, "always") || (strcmp(how, "never") != 0 && pipeline <= 1);
    settings_put_flag(r->settings, "transformer.reshard", reshard, source(r, path));
}

static const struct {
    const char *titan, *name;
    bool looped;
} schedules[] = {{"1F1B", "1f1b", false},
                 {"GPipe", "gpipe", false},
                 {"Interleaved1F1B", "interleaved", true},
                 {"InterleavedZeroBubble", "interleaved-zb", true},
                 {"LoopedBFS", "breadth-first", true},
                 {"ZBVZeroBubble", "zb-v", false},
                 {"DualPipeV", "dualpipe-v", false}};

static void put_chunks(struct reading *r)
{
    const char *path = "parallelism.pipeline_parallel_layers_per_stage";
    if (reading_get(r, path))
        settings_put_count(r->settings, "@chunk_layers", reading_count(r, path, 1), source(r, path));
    else
        settings_put(r->settings, "schedule.chunks", "2", source(r, path));
}

static void read_schedule(struct reading *r)
{
    const char *path = "parallelism.pipeline_parallel_schedule", *name = reading_text(r, path, "1F1B");
    const struct node *node = reading_get(r, path), *csv = reading_get(r, "parallelism.pipeline_parallel_schedule_csv");
    if (csv && csv->kind == NODE_SCALAR && *csv->text) {
        settings_put(r->settings, "schedule.file", csv->text, source(r, "parallelism.pipeline_parallel_schedule_csv"));
        return;
    }
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++)
        if (!strcmp(name, schedules[i].titan)) {
            settings_put(r->settings, "schedule.name", schedules[i].name, source(r, path));
            if (schedules[i].looped)
                put_chunks(r);
            if (!strcmp(name, "LoopedBFS"))
                settings_put(r->settings, "schedule.backwards", "lifo", source(r, path));
            return;
        }
    diag_error(r->settings->diag, node ? node->at : r->root->at,
               "%s is '%s'; expected 1F1B, GPipe, Interleaved1F1B, InterleavedZeroBubble, LoopedBFS, ZBVZeroBubble or "
               "DualPipeV",
               path, name);
}

static void read_stages(struct reading *r)
{
    static const char *const paths[] = {"parallelism.pipeline_parallel_first_stage_less_layers",
                                        "parallelism.pipeline_parallel_last_stage_less_layers"};
    static const char *const keys[] = {"@first_less", "@last_less"};
    for (size_t i = 0; i < 2; i++)
        put_count(r, keys[i], paths[i], 1);
}

/* Keys that do not count without a pipeline. */
static void pass_over_pipeline(struct reading *r)
{
    static const char *const names[] = {"schedule",
                                        "schedule_csv",
                                        "layers_per_stage",
                                        "first_stage_less_layers",
                                        "last_stage_less_layers",
                                        "microbatch_size",
                                        "expert_parallel_overlap",
                                        NULL};
    for (const char *const *name = names; *name; name++)
        r->settings->ignored +=
            reading_get(r, arena_print(r->settings->arena, "parallelism.pipeline_parallel_%s", *name)) != NULL;
}

static void read_layout(struct reading *r)
{
    uint64_t tensor = put_axis(r, "parallel.tensor", "parallelism.tensor_parallel_degree");
    uint64_t context = put_axis(r, "parallel.context", "parallelism.context_parallel_degree");
    uint64_t pipeline = put_axis(r, "parallel.pipeline", "parallelism.pipeline_parallel_degree");
    if (settings_find(r->settings, "model.experts"))
        put_axis(r, "parallel.expert", "parallelism.expert_parallel_degree");
    else
        reading_get(r, "parallelism.expert_parallel_degree");
    const struct node *expert_tensor = reading_get(r, "parallelism.expert_tensor_parallel_degree");
    if (expert_tensor && tensor > 1 && reading_count(r, "parallelism.expert_tensor_parallel_degree", 1) == 1 &&
        settings_find(r->settings, "model.experts"))
        put_count(r, "parallel.expert_tensor", "parallelism.expert_tensor_parallel_degree", 1);
    settings_put(r->settings, "order", "[tensor, context, data, pipeline]",
                 source_default("torchtitan's mesh, pp-dp-cp-tp from the outside"));
    const char *parts = "parallelism.enable_sequence_parallel";
    settings_put_flag(r->settings, "transformer.sequence_parallel", tensor > 1 && reading_flag(r, parts, true),
                      reading_get(r, parts) ? source(r, parts)
                                            : source_default("torchtitan with a tensor axis: always"));
    static const char *const overlaps[] = {"compile.enable_async_tensor_parallel",
                                           "parallelism.enable_async_tensor_parallel",
                                           "experimental.enable_async_tensor_parallel"};
    for (size_t i = 0; i < sizeof overlaps / sizeof *overlaps; i++)
        if (reading_flag(r, overlaps[i], false))
            settings_put_flag(r->settings, "transformer.tensor_overlap", tensor > 1, source(r, overlaps[i]));
    const char *rotate = reading_text(r, "parallelism.context_parallel_rotate_method", "allgather");
    if (context > 1)
        settings_put(r->settings, "transformer.context_method", strcmp(rotate, "allgather") ? "ring" : "all-gather",
                     source(r, "parallelism.context_parallel_rotate_method"));
    read_data(r, pipeline);
    if (pipeline > 1) {
        read_schedule(r);
        read_stages(r);
    } else
        pass_over_pipeline(r);
}

/* ---- precision and recomputation ---- */

static bool mentions(const struct node *node, const char *word)
{
    if (node && node->kind == NODE_SCALAR)
        return strstr(node->text, word) != NULL;
    for (const struct node *each = node && node->kind == NODE_LIST ? node->first : NULL; each; each = each->next)
        if (mentions(each, word))
            return true;
    return false;
}

/* Products of fewer bits, by the names of converters or the older flag; a recipe of rows stands beside them. */
static bool read_converters(struct reading *r, const struct node *converters)
{
    static const char *const recipes[] = {"float8.recipe_name", "quantize.linear.float8.recipe_name"};
    const char *scaling = mentions(converters, "mx")        ? "mxfp8"
                          : mentions(converters, "nvfp4")   ? "nvfp4"
                          : mentions(converters, "rowwise") ? "row"
                                                            : NULL;
    bool flag = reading_flag(r, "float8.enable_float8_linear", false),
         named = scaling || mentions(converters, "float8");
    if (!named && !flag)
        return false;
    settings_put(r->settings, "compute.precision", "fp8",
                 source(r, named ? "model.converters" : "float8.enable_float8_linear"));
    if (scaling)
        settings_put(r->settings, "compute.scaling", scaling, source(r, "model.converters"));
    for (size_t i = 0; !scaling && i < sizeof recipes / sizeof *recipes; i++)
        if (strstr(reading_text(r, recipes[i], ""), "rowwise")) {
            settings_put(r->settings, "compute.scaling", "row", source(r, recipes[i]));
            break;
        }
    return true;
}

static void read_precision(struct reading *r)
{
    const char *param = "training.mixed_precision_param", *reduce = "training.mixed_precision_reduce";
    const struct node *converters = reading_get(r, "model.converters");
    bool full = !strcmp(reading_text(r, param, "bfloat16"), "float32");
    if (!read_converters(r, converters))
        settings_put(r->settings, "compute.precision", full ? "fp32" : "bf16", source(r, param));
    settings_put(r->settings, "transformer.gradients",
                 !strcmp(reading_text(r, reduce, "float32"), "float32") ? "fp32" : "same", source(r, reduce));
    settings_remark(
        r->settings, REMARK_PARTIAL, r->root->at, "memory",
        "weights live as shards in fp32, 16 bytes a parameter with gradients and state: stagesim counts 18");
}

static void read_adapters(struct reading *r)
{
    const struct node *converters = reading_get(r, "model.converters");
    if (mentions(converters, "lora"))
        settings_remark(r->settings, REMARK_PARTIAL, converters->key_at, "model.converters",
                        "LoRA: --set transformer.adapter_rank=RANK. Here all weights are trained");
}

/* What is compiled is fused; the profile says what it costs where it is not. */
static void read_compile(struct reading *r)
{
    static const char *const paths[] = {"compile.enable", "training.compile"};
    const struct node *components = reading_get(r, "compile.components");
    for (unsigned i = 0; i < sizeof paths / sizeof *paths; i++)
        if (reading_flag(r, paths[i], false) && (!components || mentions(components, "model"))) {
            settings_put(r->settings, "compute.unfused", "1", source(r, paths[i]));
            return;
        }
}

static void read_recompute(struct reading *r)
{
    const char *path = "activation_checkpoint.mode", *mode = reading_text(r, path, "selective");
    const struct node *node = reading_get(r, path);
    const char *option = reading_text(r, "activation_checkpoint.selective_ac_option", "2");
    bool full = !strcmp(mode, "full"), selective = !strcmp(mode, "selective"), single = !strcmp(option, "op");
    settings_put(r->settings, "schedule.recompute",
                 full                  ? "full"
                 : selective && single ? "operators"
                                       : "none",
                 source(r, path));
    if (selective && !single)
        settings_remark(r->settings, REMARK_PARTIAL, node ? node->key_at : r->root->at, path,
                        "selective (%s): every so-many-th layer is computed again; stagesim has no such thing and "
                        "takes none, --set schedule.recompute=full is the other bound",
                        option);
    else if (!full && !selective && strcmp(mode, "none") != 0)
        diag_error(r->settings->diag, node->at, "%s is '%s'; expected none, selective or full", path, mode);
}

static void read_optimizer(struct reading *r)
{
    const struct node *node = reading_get(r, "optimizer.name");
    if (node && strncmp(reading_text(r, "optimizer.name", "Adam"), "Adam", 4) != 0)
        settings_remark(r->settings, REMARK_PARTIAL, node->key_at, "optimizer.name",
                        "taken as adam: its state and time differ");
}

bool torchtitan_is(const struct node *root)
{
    const struct node *parallelism = node_get(root, "parallelism"), *training = node_get(root, "training");
    bool own = (training && node_get(training, "seq_len")) || node_find(root, "model.flavor");
    for (const struct node *each = parallelism && parallelism->kind == NODE_MAP ? parallelism->first : NULL; each;
         each = each->next)
        own |= strstr(each->key, "_degree") || strstr(each->key, "pipeline_parallel_") || strstr(each->key, "fsdp_");
    return own;
}

void torchtitan_read(const struct node *root, struct settings *settings)
{
    struct reading reading = reading_of(root, settings);
    read_model(&reading);
    read_layout(&reading);
    read_batch(&reading, settings_count(settings, "parallel.pipeline", 1));
    read_precision(&reading);
    read_recompute(&reading);
    read_compile(&reading);
    read_adapters(&reading);
    read_optimizer(&reading);
    reading_account(&reading, torchtitan_ignored, partial);
}
