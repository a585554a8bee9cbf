/* SPDX-License-Identifier: Apache-2.0 */
/* Options of Megatron-LM: those that are a key of the scenario, precision, recomputation, sharing. */
#include "base/arena.h"
#include "frameworks/import/parts.h"

#include <string.h>

/* Not worth a line where they are not given. */
static bool is_quiet(const struct arguments *a, const struct megatron_option *option)
{
    static const char *const quiet[] = {"model.qkv_biases", "model.qk_norm", "model.experts", NULL};
    static const char *const experts[] = {"model.top_k",     "model.shared_gate",          "model.router_bias",
                                          "parallel.expert", "transformer.expert_overlap", NULL};
    for (const char *const *each = quiet; *each; each++)
        if (!strcmp(*each, option->key))
            return true;
    for (const char *const *each = experts; *each; each++)
        if (!strcmp(*each, option->key))
            return !argument_count(a, "num-experts", 0);
    return !strncmp(option->key, "model.", 6) && !argument_find(a, "hidden-size");
}

static void put_direct(struct arguments *a, const struct megatron_option *option, const struct argument *argument)
{
    struct source from = argument_source(a, argument);
    char word[32];
    const char *text = option->role == OPTION_WORD ? argument_text(a, option->name, "") : "";
    if (option->role == OPTION_WORD && argument->count && argument->values[0].open)
        return;
    if (option->role == OPTION_VALUE)
        settings_put_count(a->settings, option->key, argument_count(a, option->name, 0), from);
    else if (option->role == OPTION_SWITCH)
        settings_put(a->settings, option->key, option->value, from);
    else if (megatron_option_word(option, text, 0, word, sizeof word))
        settings_put(a->settings, option->key, word, from);
    else
        diag_error(a->settings->diag, argument->at, "%s is '%s'; expected one of %s", argument->label, text,
                   option->value);
}

/* Options that are a key of the scenario on their own. */
static void read_direct(struct arguments *a)
{
    for (const struct megatron_option *option = megatron_options; option->name; option++) {
        const struct argument *argument = argument_find(a, option->name);
        bool direct = option->role == OPTION_VALUE || option->role == OPTION_SWITCH || option->role == OPTION_WORD;
        /* The narrow widths of latent attention are normalised in any case. */
        bool latent = argument_is_on(a, "multi-latent-attention") && !strcmp(option->name, "qk-layernorm");
        if (!direct || latent || !strcmp(option->name, "kv-channels"))
            continue;
        if (argument && (option->role != OPTION_SWITCH || argument_is_on(a, option->name)))
            put_direct(a, option, argument);
        else if (option->absent && arguments_have_defaults(a) && !is_quiet(a, option))
            settings_put(a->settings, option->key, option->absent, argument_absent(a, option->name));
    }
}

/* ---- precision ---- */

/* How products of 8 bits are scaled; of 4, NVFP4 is all that there is. */
static void read_scaling(struct arguments *a)
{
    static const char *const words[][2] = {
        {"delayed", "delayed"}, {"tensorwise", "current"}, {"blockwise", "block"}, {"mxfp8", "mxfp8"}};
    const struct argument *recipe = argument_find(a, "fp8-recipe"), *fp4 = argument_find(a, "fp4-format");
    const char *text = recipe && recipe->count && !recipe->values[0].open ? recipe->values[0].text : "";
    if (fp4)
        settings_put(a->settings, "compute.scaling", "nvfp4", argument_source(a, fp4));
    if (fp4 || !argument_find(a, "fp8-format"))
        return;
    if (!recipe) {
        if (arguments_have_defaults(a))
            settings_put(a->settings, "compute.scaling", "delayed", argument_absent(a, "fp8-recipe"));
        return;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(text, words[i][0])) {
            settings_put(a->settings, "compute.scaling", words[i][1], argument_source(a, recipe));
            return;
        }
    settings_remark(a->settings, REMARK_PARTIAL, recipe->at, recipe->label,
                    "a recipe of fp8 that is not known here: products with one scale a tensor");
}

static void read_precision(struct arguments *a)
{
    const struct argument *fp4 = argument_find(a, "fp4-format"), *fp8 = fp4 ? fp4 : argument_find(a, "fp8-format"),
                          *bf16 = argument_find(a, "bf16"), *fp16 = argument_find(a, "fp16");
    bool half = argument_is_on(a, "bf16") || argument_is_on(a, "fp16");
    const struct argument *given = fp8 ? fp8 : argument_is_on(a, "bf16") ? bf16 : fp16;
    const char *precision = fp8 ? "fp8" : argument_is_on(a, "bf16") ? "bf16" : half ? "fp16" : "fp32";
    if (fp8 || half)
        settings_put(a->settings, "compute.precision", precision, argument_source(a, given));
    else if (arguments_have_defaults(a))
        settings_put(a->settings, "compute.precision", precision, argument_absent(a, "bf16"));
    read_scaling(a);
}

/* Megatron-FSDP's own type counts before what Megatron-LM's options say of it. */
static bool read_gradient_type(struct arguments *a)
{
    const struct argument *type = argument_find(a, "megatron-fsdp-grad-comm-dtype");
    type = type ? type : argument_find(a, "grad-comm-dtype");
    const char *text = type && type->count && !type->values[0].open ? type->values[0].text : "";
    bool half = strstr(text, "bf16") || strstr(text, "fp16") || strstr(text, "bfloat16");
    if (!half && !strstr(text, "fp32"))
        return false;
    settings_put(a->settings, "transformer.gradients", half ? "same" : "fp32", argument_source(a, type));
    return true;
}

static void read_gradients(struct arguments *a)
{
    const struct argument *bf16 = argument_find(a, "grad-reduce-in-bf16"),
                          *fp32 = argument_find(a, "accumulate-allreduce-grads-in-fp32");
    if (read_gradient_type(a))
        return;
    if (argument_is_on(a, "grad-reduce-in-bf16"))
        settings_put(a->settings, "transformer.gradients", "same", argument_source(a, bf16));
    else if (fp32)
        settings_put(a->settings, "transformer.gradients", "fp32", argument_source(a, fp32));
    else if (argument_is_on(a, "fp16"))
        settings_put(a->settings, "transformer.gradients", "same",
                     argument_absent(a, "accumulate-allreduce-grads-in-fp32"));
    else if (arguments_have_defaults(a))
        settings_put(a->settings, "transformer.gradients", "fp32", argument_absent(a, "grad-reduce-in-bf16"));
}

/* ---- recomputation and attention ---- */

static void read_modules(struct arguments *a)
{
    const struct argument *modules = argument_find(a, "recompute-modules");
    for (size_t i = 0; modules && i < modules->count; i++)
        if (strcmp(modules->values[i].text, "core_attn") != 0 && strcmp(modules->values[i].text, "mla_up_proj") != 0)
            settings_remark(a->settings, REMARK_PARTIAL, modules->at, modules->label,
                            "%s is not computed again by stagesim: only the attention's core is",
                            modules->values[i].text);
}

static void read_full(struct arguments *a, const struct argument *granularity)
{
    const char *method = argument_text(a, "recompute-method", "uniform");
    const struct argument *count = argument_find(a, "recompute-num-layers"),
                          *older = argument_find(a, "checkpoint-num-layers");
    settings_put(a->settings, "schedule.recompute", "full", argument_source(a, granularity));
    if (!count && older && argument_count(a, "checkpoint-num-layers", 1) > 1)
        settings_remark(a->settings, REMARK_PARTIAL, older->at, older->label,
                        "%s layers keep one input: stagesim keeps one for each layer",
                        argument_text(a, "checkpoint-num-layers", "some"));
    if (count && !strcmp(method, "block"))
        settings_remark(a->settings, REMARK_PARTIAL, count->at, count->label,
                        "only the first %s layers of a stage are computed again: stagesim computes all",
                        argument_text(a, "recompute-num-layers", "some"));
    else if (count && argument_count(a, "recompute-num-layers", 1) > 1)
        settings_remark(a->settings, REMARK_PARTIAL, count->at, count->label,
                        "%s layers keep one input: stagesim keeps one for each layer",
                        argument_text(a, "recompute-num-layers", "some"));
}

/* Selective recomputation of modules other than the attention's core: what is named is not modelled. */
static bool without_core(struct arguments *a)
{
    const struct argument *modules = argument_find(a, "recompute-modules");
    if (!modules || !modules->count || !strcmp(argument_text(a, "recompute-granularity", ""), "full"))
        return false;
    for (size_t i = 0; i < modules->count; i++)
        if (!strcmp(modules->values[i].text, "core_attn"))
            return false;
    read_modules(a);
    return true;
}

static void read_recompute(struct arguments *a)
{
    const struct argument *short_form = argument_find(a, "recompute-activations"),
                          *granularity = argument_find(a, "recompute-granularity");
    const char *how = argument_text(a, "recompute-granularity", "");
    if (!strcmp(how, "full"))
        read_full(a, granularity);
    else if (!granularity && argument_is_on(a, "checkpoint-activations"))
        read_full(a, argument_find(a, "checkpoint-activations"));
    else if (without_core(a))
        settings_put(a->settings, "schedule.recompute", "none",
                     argument_source(a, argument_find(a, "recompute-modules")));
    else if (!strcmp(how, "selective") || argument_is_on(a, "recompute-activations")) {
        settings_put(a->settings, "schedule.recompute", "selective",
                     argument_source(a, granularity ? granularity : short_form));
        read_modules(a);
    } else if (granularity)
        diag_error(a->settings->diag, granularity->at, "%s is '%s'; expected selective or full", granularity->label,
                   how);
    else if (arguments_have_defaults(a))
        settings_put(a->settings, "schedule.recompute", "none", argument_absent(a, "recompute-granularity"));
}

static void read_attention(struct arguments *a)
{
    static const char *const versions[] = {"use-flash-attn", "use-flash-attn-v2", "use-flash-attn-v1",
                                           "use-flash-attn-triton", NULL};
    const struct argument *backend = argument_find(a, "attention-backend"), *old = NULL;
    for (const char *const *version = versions; *version && !old; version++)
        old = argument_find(a, *version);
    const char *how = argument_text(a, "attention-backend", "auto");
    bool standard = !strcmp(how, "unfused") || !strcmp(how, "local");
    if (backend)
        settings_put(a->settings, "transformer.attention", standard ? "standard" : "flash",
                     argument_source(a, backend));
    else if (old)
        settings_put_flag(a->settings, "transformer.attention", true, argument_source(a, old));
    else if (argument_find(a, "deepspeed"))
        settings_put(a->settings, "transformer.attention", "standard",
                     source_default("Megatron-DeepSpeed without --use-flash-attn"));
    else if (arguments_have_defaults(a))
        settings_put(a->settings, "transformer.attention", "flash", argument_absent(a, "attention-backend"));
    if (old && !backend)
        settings_replace(a->settings, "transformer.attention",
                         argument_is_on(a, old->option->name) ? "flash" : "standard", argument_source(a, old));
}

/* ---- what replicas share ---- */

static void read_fsdp(struct arguments *a, const struct argument *fsdp)
{
    static const char *const words[] = {"no_shard", "optim", "optim_grads", "optim_grads_params", NULL};
    const struct argument *strategy = argument_find(a, "data-parallel-sharding-strategy");
    const char *text = argument_text(a, "data-parallel-sharding-strategy", "no_shard");
    uint64_t zero = 0;
    while (words[zero] && strcmp(words[zero], text) != 0)
        zero++;
    if (words[zero])
        settings_put_count(a->settings, "transformer.zero", zero, argument_source(a, strategy ? strategy : fsdp));
    else
        diag_error(a->settings->diag, strategy->at,
                   "%s is '%s'; expected no_shard, optim, optim_grads or optim_grads_params", strategy->label, text);
}

static void read_sharing(struct arguments *a)
{
    const struct argument *fsdp = argument_find(a, "use-megatron-fsdp"), *torch = argument_find(a, "use-torch-fsdp2"),
                          *shared = argument_find(a, "use-distributed-optimizer");
    if (argument_is_on(a, "use-megatron-fsdp"))
        read_fsdp(a, fsdp);
    else if (argument_is_on(a, "use-torch-fsdp2"))
        settings_put(a->settings, "transformer.zero", "3", argument_source(a, torch));
    else if (argument_find(a, "zero-stage"))
        settings_put_count(a->settings, "transformer.zero", argument_count(a, "zero-stage", 0),
                           argument_source(a, argument_find(a, "zero-stage")));
    else if (argument_is_on(a, "use-distributed-optimizer"))
        settings_put(a->settings, "transformer.zero", "1", argument_source(a, shared));
    else if (arguments_have_defaults(a))
        settings_put(a->settings, "transformer.zero", "0", argument_absent(a, "use-distributed-optimizer"));
}

/* Bytes of a number of the optimizer's; 0: the option does not say, or nothing that is known. */
static double type_bytes(struct arguments *a, const char *option)
{
    static const struct {
        const char *name;
        double bytes;
    } types[] = {{"fp32", 4}, {"fp16", 2}, {"bf16", 2}, {"fp8", 1}};
    const char *text = argument_text(a, option, "");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(text, types[i].name))
            return types[i].bytes;
    return 0;
}

/* Moments and master weights of other types than fp32; those of 8 bits have a scale for 256 of them. */
static void read_state(struct arguments *a)
{
    const struct argument *first = argument_find(a, "exp-avg-dtype"), *second = argument_find(a, "exp-avg-sq-dtype"),
                          *eight = argument_find(a, "use-bnb-optimizer"),
                          *master = argument_find(a, "main-params-dtype");
    double one = type_bytes(a, "exp-avg-dtype"), other = type_bytes(a, "exp-avg-sq-dtype"),
           own = type_bytes(a, "main-params-dtype");
    if (eight)
        settings_put(a->settings, "transformer.moment_bytes", "1.015625", argument_source(a, eight));
    else if (one > 0 || other > 0)
        settings_put(a->settings, "transformer.moment_bytes",
                     arena_print(a->settings->arena, "%g", ((one > 0 ? one : 4) + (other > 0 ? other : 4)) / 2),
                     argument_source(a, first ? first : second));
    if (own > 0)
        settings_put(a->settings, "transformer.master_bytes", arena_print(a->settings->arena, "%g", own),
                     argument_source(a, master));
}

static void read_optimizer(struct arguments *a)
{
    const struct argument *argument = argument_find(a, "optimizer");
    const char *name = argument_text(a, "optimizer", "adam");
    bool bits = strstr(name, "onebit") || strstr(name, "zeroone") || strstr(name, "1bit") || strstr(name, "01adam");
    bool adam = strstr(name, "adam") != NULL && !bits, sgd = !strcmp(name, "sgd"),
         muon = !strcmp(name, "muon") || !strcmp(name, "dist_muon");
    read_state(a);
    if (adam || sgd || muon) {
        if (argument)
            settings_put(a->settings, "transformer.optimizer",
                         adam   ? "adam"
                         : muon ? "muon"
                                : "momentum",
                         argument_source(a, argument));
    } else if (argument)
        settings_remark(a->settings, REMARK_PARTIAL, argument->at, argument->label,
                        "the optimizer %s is taken as adam: its state and time differ", name);
}

/* Products of experts are grouped here, and tokens travel in one all-to-all, or by DeepEP: Megatron-LM does so where it
 * is told to. */
static void read_experts(struct arguments *a)
{
    const struct argument *experts = argument_find(a, "num-experts"),
                          *dispatcher = argument_find(a, "moe-token-dispatcher-type");
    uint64_t count = argument_count(a, "num-experts", 0), ranks = argument_count(a, "expert-model-parallel-size", 1);
    const char *type = argument_text(a, "moe-token-dispatcher-type", "allgather");
    if (!count || !arguments_have_defaults(a))
        return;
    if (!argument_is_on(a, "moe-grouped-gemm") && count > ranks)
        settings_remark(a->settings, REMARK_PARTIAL, experts->at, experts->label,
                        "without --moe-grouped-gemm the products of a rank's experts run one after the other: "
                        "stagesim groups them");
    if (!strcmp(type, "flex") && ranks > 1) {
        settings_put(a->settings, "transformer.expert_exchange", "deepep", argument_source(a, dispatcher));
        settings_remark(a->settings, REMARK_PARTIAL, dispatcher->at, dispatcher->label,
                        "tokens travel once to each node where transformer.expert_node says how many of the ranks that "
                        "share experts a node has");
    }
    if (!strcmp(type, "allgather") && ranks > 1)
        settings_remark(a->settings, REMARK_PARTIAL, dispatcher ? dispatcher->at : experts->at,
                        "--moe-token-dispatcher-type",
                        "%s gathers the tokens of all ranks that share experts: stagesim sends each to its own",
                        dispatcher ? "allgather" : "absent, it is allgather, which");
}

/* An option that is not known may set what was then written as a default: it is not one. */
static void refuse_defaults(const struct arguments *a)
{
    static const char *const sets[][2] = {{"recompute", "schedule.recompute"},
                                          {"checkpoint-act", "schedule.recompute"},
                                          {"checkpoint_act", "schedule.recompute"},
                                          {"zero-stage", "transformer.zero"},
                                          {"zero_stage", "transformer.zero"},
                                          {"fsdp", "transformer.zero"},
                                          {"shard", "transformer.zero"},
                                          {"tensor-parallel", "parallel.tensor"},
                                          {"model-parallel", "parallel.tensor"},
                                          {"pipe-parallel", "parallel.pipeline"},
                                          {"pipeline-parallel", "parallel.pipeline"},
                                          {"context-parallel", "parallel.context"},
                                          {"expert-parallel", "parallel.expert"}};
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; !a->items[i].option && k < sizeof sets / sizeof *sets; k++) {
            const struct setting *setting = settings_find(a->settings, sets[k][1]);
            if (!strstr(a->items[i].label, sets[k][0]) || !setting || setting->from.origin != SETTING_DEFAULT)
                continue;
            diag_error(a->settings->diag, a->items[i].at,
                       "%s is no option that stagesim knows, and may set %s; expected its value: --set %s=VALUE",
                       a->items[i].label, sets[k][1], sets[k][1]);
            break;
        }
}

void megatron_read(struct arguments *a)
{
    read_direct(a);
    megatron_read_model(a);
    megatron_read_kinds(a);
    megatron_read_layout(a);
    read_precision(a);
    read_gradients(a);
    read_recompute(a);
    read_attention(a);
    read_sharing(a);
    read_optimizer(a);
    read_experts(a);
    refuse_defaults(a);
}
