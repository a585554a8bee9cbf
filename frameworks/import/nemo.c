/* SPDX-License-Identifier: Apache-2.0 */
/* YAML of NeMo 1 (a whole job, with OmegaConf's ${...}) and of Megatron-Bridge (overrides of a recipe): the same
 * options as Megatron-LM's under their names in Python. */
#include "base/arena.h"
#include "frameworks/import/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NESTED_MAX = 16 };

struct nemo {
    const struct node *root;
    struct arguments arguments;
};

/* ---- ${...} ---- */

static const char *resolve(struct nemo *n, const struct node *map, const char *text, unsigned depth);

/* The matching brace of "${", or NULL. */
static const char *closing(const char *at)
{
    unsigned depth = 0;
    for (; *at; at++) {
        depth += *at == '{';
        if (*at == '}' && --depth == 0)
            return at;
    }
    return NULL;
}

static const char *multiply(struct nemo *n, const char *factors)
{
    char *end;
    double product = 1;
    while (*factors) {
        product *= strtod(factors, &end);
        if (end == factors || (*end && *end != ',' && *end != ' '))
            return NULL;
        factors = end + strspn(end, ", ");
    }
    return product == floor(product) && fabs(product) < 1e15
               ? arena_print(n->arguments.settings->arena, "%.0f", product)
               : NULL;
}

/* What stands between the braces: .sibling, a.path, multiply:a, b. NULL: only a run knows. */
static const char *resolve_inner(struct nemo *n, const struct node *map, const char *inner, unsigned depth)
{
    const char *text = resolve(n, map, inner, depth + 1);
    if (!text)
        return NULL;
    if (!strncmp(text, "multiply:", 9))
        return multiply(n, text + 9);
    const struct node *node = text[0] == '.' ? node_find(map, text + 1)
                                             : node_find(n->root, !strncmp(text, "training.", 9) ? text + 9 : text);
    return node && node->kind == NODE_SCALAR && node_given(node)
               ? resolve(n, text[0] == '.' ? map : n->root, node->text, depth + 1)
               : NULL;
}

static const char *resolve(struct nemo *n, const struct node *map, const char *text, unsigned depth)
{
    struct arena *arena = n->arguments.settings->arena;
    for (const char *begin; (begin = strstr(text, "${"));) {
        const char *end = closing(begin + 1);
        const char *value =
            end && depth < NESTED_MAX && strlen(text) < 4096
                ? resolve_inner(n, map, arena_print(arena, "%.*s", (int)(end - begin - 2), begin + 2), depth)
                : NULL;
        if (!value || strstr(value, "${"))
            return NULL;
        text = arena_print(arena, "%.*s%s%s", (int)(begin - text), text, value, end + 1);
    }
    return text;
}

/* ---- options ---- */

static void add(struct nemo *n, const char *name, const char *label, const char *value, const struct node *node)
{
    struct shell_word *word = arena_alloc(n->arguments.settings->arena, sizeof *word);
    *word = (struct shell_word){.text = value ? value : node->text, .at = node->at, .open = value ? NULL : node->text};
    arguments_add(&n->arguments, name, label, word, 1, node->key_at);
}

/* Keys that mean an option when they have a value: activation swiglu, bias false. */
static bool add_translated(struct nemo *n, const struct node *node, const char *label, const char *value)
{
    static const struct {
        const char *key, *values, *option;
    } words[] = {{"activation", "swiglu fast-swiglu geglu fast-geglu reglu fast-reglu", "swiglu"},
                 {"share_embeddings_and_output_weights", "false False", "untie-embeddings-and-output-weights"},
                 {"bias", "false False", "disable-bias-linear"},
                 {"add_bias_linear", "false False", "disable-bias-linear"},
                 {"gated_linear_unit", "true True", "swiglu"},
                 {"fp8", "true True hybrid e4m3", "fp8-format"},
                 {"grad_reduce_in_fp32", "false False", "grad-reduce-in-bf16"},
                 {"grad_reduce_in_fp32", "true True", "accumulate-allreduce-grads-in-fp32"}};
    bool known = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *found = strcmp(node->key, words[i].key) ? NULL : strstr(words[i].values, value);
        known |= !strcmp(node->key, words[i].key);
        if (found && *value && (found == words[i].values || found[-1] == ' ') && strchr(" ", found[strlen(value)]))
            add(n, words[i].option, label, "true", node);
    }
    if (!strcmp(node->key, "num_query_groups") && *value)
        add(n, "group-query-attention", label, "true", node);
    if (!strcmp(node->key, "bucket_size"))
        add(n, "ddp-bucket-size", label, value, node);
    if (!strcmp(node->key, "override_vocab_size"))
        add(n, "padded-vocab-size", label, value, node);
    return known || !strcmp(node->key, "bucket_size") || !strcmp(node->key, "override_vocab_size");
}

static bool is_listed(const char *const *list, const char *key)
{
    for (; *list; list++) {
        size_t length = strlen(*list);
        if ((*list)[length - 1] == '*' ? !strncmp(*list, key, length - 1) : !strcmp(*list, key))
            return true;
    }
    return false;
}

/* Of `model`, beside those that Megatron-LM has, too. */
const char *const nemo_ignored[] = {"resume_from_checkpoint",
                                    "init_method_std",
                                    "layernorm_epsilon",
                                    "pre_process",
                                    "post_process",
                                    "persist_layer_norm",
                                    "gradient_as_bucket_view",
                                    "grad_div_ar_fusion",
                                    "gradient_accumulation_fusion",
                                    "bias_activation_fusion",
                                    "bias_dropout_add_fusion",
                                    "masked_softmax_fusion",
                                    "apply_rope_fusion",
                                    "num_micro_batches_with_partial_activation_checkpoints",
                                    "activations_checkpoint_layers_per_pipeline",
                                    "fsdp_grad_reduce_dtype",
                                    "fsdp_sharded_checkpoint",
                                    "fsdp_sharding_strategy",
                                    "overlap_p2p_comm",
                                    "batch_p2p_comm",
                                    "native_amp_*",
                                    "hysteresis",
                                    "fp16_lm_cross_entropy",
                                    "megatron_amp_O2",
                                    "grad_allreduce_chunk_size_mb",
                                    "mcore_gpt",
                                    "transformer_engine",
                                    "fp8_*",
                                    "seed",
                                    "sync_batch_comm",
                                    "use_cpu_initialization",
                                    "onnx_safe",
                                    "apex_transformer_log_level",
                                    "gc_interval",
                                    "nsys_profile",
                                    "tokenizer",
                                    "data",
                                    "optim",
                                    "ub_tp_comm_overlap_cfg",
                                    "rotary_percentage",
                                    "seq_len_interpolation_factor",
                                    "attention_type",
                                    "share_token_embeddings",
                                    "transformer_block_type",
                                    "use_emha",
                                    "openai_gelu",
                                    "apply_query_key_layer_scaling",
                                    "ffn_dropout",
                                    "normalize_attention_scores",
                                    "name",
                                    "dist_ckpt*",
                                    "deterministic_mode",
                                    "do_layer_norm_weight_decay",
                                    "layernorm_zero_centered_gamma",
                                    "nsys*",
                                    "precision",
                                    "gradient_clip*",
                                    "async_save",
                                    "peft",
                                    "restore*",
                                    "*_target_",
                                    "_target_",
                                    "recipe*",
                                    NULL};
static const char *const part[] = {"fsdp", "sharp", NULL};

static void read_key(struct nemo *n, const struct node *map, const struct node *node, const char *label)
{
    struct settings *settings = n->arguments.settings;
    bool flag;
    if (is_listed(nemo_ignored, node->key)) {
        settings->ignored++;
        return;
    }
    if (node->kind != NODE_SCALAR || !node_given(node)) {
        bool asked = node_given(node) && !megatron_option_find_nemo(node->key);
        if (asked)
            settings_remark(settings, REMARK_UNKNOWN, node->key_at, label, "no key that stagesim knows");
        return;
    }
    const char *value = resolve(n, map, node->text, 0);
    if (value && add_translated(n, node, label, value))
        return;
    struct node plain = {.kind = NODE_SCALAR, .text = value ? value : ""};
    bool off = value && node_flag(&plain, &flag) && !flag && strcmp(value, "0") != 0;
    if (off && is_listed(part, node->key))
        return;
    if (is_listed(part, node->key))
        settings_remark(settings, REMARK_PARTIAL, node->key_at, label,
                        "see transformer.zero and communication.all_reduce: not taken over");
    else if (!off || !megatron_option_find_nemo(node->key))
        add(n, node->key, label, value, node);
}

static void read_section(struct nemo *n, const char *name)
{
    const struct node *map = node_find(n->root, name);
    struct arena *arena = n->arguments.settings->arena;
    for (const struct node *node = map && map->kind == NODE_MAP ? map->first : NULL; node; node = node->next)
        read_key(n, map, node, arena_print(arena, "%s.%s", name, node->key));
}

/* ---- NeMo 1 ---- */

static void read_trainer(struct nemo *n, struct reading *r)
{
    uint64_t nodes = reading_count(r, "trainer.num_nodes", 1);
    const struct node *devices = reading_get(r, "trainer.devices"), *precision = reading_get(r, "trainer.precision");
    uint64_t count;
    if (devices && node_count(devices, &count))
        settings_put_count(r->settings, "@ranks", settings_product(nodes, count),
                           source_given(devices->key_at, "trainer.num_nodes x trainer.devices"));
    const char *text = reading_text(r, "trainer.precision", "32");
    if (precision && !strncmp(text, "bf16", 4))
        add(n, "bf16", "trainer.precision", "true", precision);
    else if (precision && !strncmp(text, "16", 2))
        add(n, "fp16", "trainer.precision", "true", precision);
    if (reading_get(r, "trainer.max_steps"))
        settings_put_count(r->settings, "@iterations", reading_count(r, "trainer.max_steps", 0),
                           reading_source(r, "trainer.max_steps", "NeMo"));
}

static void read_optimizer(struct nemo *n, struct reading *r)
{
    const struct node *name = reading_get(r, "model.optim.name"),
                      *overlap = reading_get(r, "model.optim.overlap_grad_sync"),
                      *bucket = reading_get(r, "model.optim.bucket_cap_mb"),
                      *type = reading_get(r, "model.optim.grad_sync_dtype");
    const char *text = reading_text(r, "model.optim.name", "");
    double size;
    if (name && (!strcmp(text, "distributed_fused_adam") || !strcmp(text, "mcore_distributed_optim")))
        add(n, "use-distributed-optimizer", "model.optim.name", "true", name);
    if (overlap && reading_flag(r, "model.optim.overlap_grad_sync", false))
        add(n, "overlap-grad-reduce", "model.optim.overlap_grad_sync", "true", overlap);
    if (reading_flag(r, "model.optim.overlap_param_sync", false))
        add(n, "overlap-param-gather", "model.optim.overlap_param_sync", "true",
            reading_get(r, "model.optim.overlap_param_sync"));
    if (bucket && node_number(bucket, &size) && size > 0 && size < 1e9)
        settings_put(r->settings, "transformer.bucket", arena_print(r->settings->arena, "%.15gMiB", size),
                     source_given(bucket->key_at, "model.optim.bucket_cap_mb"));
    if (type && strstr(reading_text(r, "model.optim.grad_sync_dtype", ""), "16"))
        add(n, "grad-reduce-in-bf16", "model.optim.grad_sync_dtype", "true", type);
}

const char *const nemo_sections_ignored[] = {"defaults",
                                             "hydra*",
                                             "run*",
                                             "trainer*",
                                             "exp_manager*",
                                             "model",
                                             "model.*",
                                             "optimizer*",
                                             "scheduler*",
                                             "checkpoint*",
                                             "logger*",
                                             "rng*",
                                             "tokenizer*",
                                             "profiling*",
                                             "inference*",
                                             "nvrx*",
                                             "straggler*",
                                             "dataset*",
                                             "train*",
                                             "validation*",
                                             "ddp*",
                                             "dist*",
                                             "data*",
                                             "name",
                                             "restore_from*",
                                             "base_results_dir",
                                             "rerun*",
                                             "ft*",
                                             "peft*",
                                             "mixed_precision",
                                             "comm_overlap*",
                                             "stages*",
                                             "cluster*",
                                             "env_vars*",
                                             NULL};

/* ---- Megatron-Bridge ---- */

static void read_bridge(struct nemo *n, struct reading *r)
{
    static const char *const recipes[][2] = {{"mxfp8", "mxfp8"},
                                             {"current_scaling", "tensorwise"},
                                             {"delayed_scaling", "delayed"},
                                             {"subchannel_scaling", "blockwise"}};
    const struct node *precision = reading_get(r, "mixed_precision"),
                      *global = reading_get(r, "train.global_batch_size"),
                      *micro = reading_get(r, "train.micro_batch_size");
    const char *text = reading_text(r, "mixed_precision", "");
    const struct node *overlap = reading_get(r, "comm_overlap.tp_comm_overlap");
    if (global)
        add(n, "global-batch-size", "train.global_batch_size", NULL == global->text ? "" : global->text, global);
    if (micro)
        add(n, "micro-batch-size", "train.micro_batch_size", NULL == micro->text ? "" : micro->text, micro);
    if (reading_get(r, "train.train_iters"))
        settings_put_count(r->settings, "@iterations", reading_count(r, "train.train_iters", 0),
                           reading_source(r, "train.train_iters", "Megatron-Bridge"));
    if (precision && strstr(text, "nvfp4"))
        add(n, "fp4-format", "mixed_precision", "e2m1", precision);
    else if (precision && strstr(text, "fp8"))
        add(n, "fp8-format", "mixed_precision", "hybrid", precision);
    for (size_t i = 0; precision && i < sizeof recipes / sizeof *recipes; i++)
        if (strstr(text, recipes[i][0]))
            add(n, "fp8-recipe", "mixed_precision", recipes[i][1], precision);
    if (precision && strstr(text, "16"))
        add(n, strstr(text, "bf16") ? "bf16" : "fp16", "mixed_precision", "true", precision);
    if (overlap && reading_flag(r, "comm_overlap.tp_comm_overlap", false))
        add(n, "tp-comm-overlap", "comm_overlap.tp_comm_overlap", "true", overlap);
    read_section(n, "ddp");
    read_section(n, "dist");
    settings_remark(r->settings, REMARK_CHOICE, r->root->at, "recipe",
                    "the file overrides a recipe in Python, whose values are not here: what no line below says is "
                    "stagesim's default");
}

bool nemo_is(const struct node *root)
{
    const struct node *model = node_get(root, "model");
    return model && model->kind == NODE_MAP &&
           (node_get(root, "trainer") || node_get(root, "train") || node_get(root, "ddp") || node_get(root, "dist"));
}

void nemo_read(const struct node *root, struct settings *settings, enum dialect *dialect)
{
    *dialect = node_get(root, "trainer") || !node_get(root, "train") ? DIALECT_NEMO : DIALECT_BRIDGE;
    if (!node_get(root, "trainer"))
        *dialect = DIALECT_BRIDGE;
    struct nemo nemo = {root, {.dialect = *dialect, .settings = settings}};
    struct reading reading = reading_of(root, settings);
    read_section(&nemo, "model");
    if (*dialect == DIALECT_NEMO) {
        read_trainer(&nemo, &reading);
        read_optimizer(&nemo, &reading);
    } else
        read_bridge(&nemo, &reading);
    reading_account(&reading, nemo_sections_ignored, NULL);
    megatron_read(&nemo.arguments);
}
