/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from all files together: replicas, the batch, chunks, what is missing. */
#include "base/arena.h"
#include "frameworks/import/parts.h"
#include "workloads/transformer/pipeline_layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct combination {
    const struct import_request *request;
    struct import *import;
    struct settings *settings;
    uint64_t tensor, pipeline, context, data, ranks; /* 0: not known */
};

static void put_derived(struct combination *c, const char *key, uint64_t value, const struct setting *because,
                        const char *text)
{
    struct source from = source_given(because ? because->from.at : (struct place){0}, text);
    if (because && because->from.origin < SETTING_GIVEN)
        from.origin = because->from.origin;
    settings_put_count(c->settings, key, value, from);
}

/* Tensor x pipeline x context. */
static uint64_t ranks_of_replica(const struct combination *c)
{
    return settings_product(settings_product(c->tensor, c->pipeline), c->context);
}

/* ---- the vocabulary ---- */

/* Megatron-LM computes with a multiple of --make-vocab-size-divisible-by x tensor. */
static void pad_vocabulary(struct combination *c)
{
    const struct setting *padding = settings_find(c->settings, "@padding");
    const struct setting *size = settings_find(c->settings, "model.vocabulary");
    uint64_t multiple = settings_product(settings_count(c->settings, "@padding", 0), c->tensor),
             count = settings_count(c->settings, "model.vocabulary", 0);
    if (!padding || !size || !multiple || count % multiple == 0 || count > UINT32_MAX || multiple > UINT32_MAX)
        return;
    struct source from = size->from;
    from.origin = SETTING_GIVEN;
    from.text = arena_print(c->settings->arena, "%s %" PRIu64 ", padded to a multiple of %" PRIu64 " (%s x tensor)",
                            size->from.text, count, multiple, padding->value);
    settings_remove(c->settings, "model.vocabulary");
    settings_put_count(c->settings, "model.vocabulary", (count + multiple - 1) / multiple * multiple, from);
}

/* ---- ranks and replicas ---- */

/* Sizes that are multiplied and divided by: no scenario takes more of any of them. */
static bool check_sizes(struct combination *c)
{
    static const char *const sizes[] = {"parallel.tensor", "parallel.pipeline", "parallel.context",
                                        "parallel.data",   "parallel.expert",   "schedule.chunks",
                                        "batch.micro",     "batch.global",      "batch.micro_batches",
                                        "@ranks",          "@replicas",         "@shards",
                                        "@accumulation",   "@padding",          "@chunk_layers",
                                        "@instances",      "@first_layers",     "@last_layers",
                                        "@first_less",     "@last_less"};
    bool ok = true;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct setting *size = settings_find(c->settings, sizes[i]);
        if (!size || settings_count(c->settings, sizes[i], UINT64_MAX) <= UINT32_MAX)
            continue;
        struct place at = size->from.at.line ? size->from.at : (struct place){.file = size->from.text};
        diag_error(c->settings->diag, at, "%s is %s; expected a whole number of at most %" PRIu32,
                   size->from.at.line ? size->from.text : size->key, size->value, UINT32_MAX);
        ok = false;
    }
    return ok;
}

static void read_sizes(struct combination *c)
{
    c->tensor = settings_count(c->settings, "parallel.tensor", 1);
    c->pipeline = settings_count(c->settings, "parallel.pipeline", 1);
    c->context = settings_count(c->settings, "parallel.context", 1);
    c->tensor += !c->tensor;
    c->pipeline += !c->pipeline;
    c->context += !c->context;
    c->ranks = c->request->gpus ? c->request->gpus : settings_count(c->settings, "@ranks", 0);
    const struct setting *said = settings_find(c->settings, "@ranks");
    if (said && c->request->gpus && settings_count(c->settings, "@ranks", 0) != c->request->gpus)
        settings_remark(c->settings, REMARK_CHOICE, said->from.at, said->from.text,
                        "says %s GPUs; the command line's %" PRIu64 " count", said->value, c->request->gpus);
}

/* Copies of the model times the ranks that share one. */
static uint64_t replicas_of_shards(struct combination *c)
{
    const struct setting *copies = settings_find(c->settings, "@replicas");
    uint64_t replicas = settings_count(c->settings, "@replicas", 1), shards = settings_count(c->settings, "@shards", 0);
    uint64_t left = c->ranks / ranks_of_replica(c);
    replicas += !replicas;
    if (!copies)
        return 0;
    if (!shards)
        shards = left / replicas;
    if (replicas > 1 && shards > 1)
        put_derived(c, "transformer.shard_ranks", shards, copies, copies->from.text);
    return settings_product(replicas, shards);
}

/* Where a file says how many ranks share a copy, or how many copies there are. */
static struct place place_of_shards(const struct combination *c)
{
    const struct setting *copies = settings_find(c->settings, "@replicas"),
                         *shards = settings_find(c->settings, "@shards");
    return copies->from.at.line || !shards ? copies->from.at : shards->from.at;
}

static void put_data(struct combination *c)
{
    uint64_t others = ranks_of_replica(c), shards = replicas_of_shards(c);
    const struct setting *said = settings_find(c->settings, "@ranks");
    const char *origin = c->request->gpus ? "GPUs of the command line" : said ? said->from.text : "GPUs";
    const char *text =
        arena_print(c->settings->arena, "%s, %" PRIu64 ", / (tensor x pipeline x context)", origin, c->ranks);
    c->data = settings_count(c->settings, "parallel.data", 0);
    if (c->data)
        return;
    if (shards && (!c->ranks || settings_product(shards, others) == c->ranks)) {
        c->data = shards;
        put_derived(c, "parallel.data", shards, settings_find(c->settings, "@replicas"), "copies x shards");
    } else if (shards)
        diag_error(c->settings->diag, place_of_shards(c),
                   "copies x shards %" PRIu64 " times tensor x pipeline x context %" PRIu64 " are not the %" PRIu64
                   " GPUs; expected a product of that many",
                   shards, others, c->ranks);
    else if (c->ranks && c->ranks % others == 0) {
        c->data = c->ranks / others;
        put_derived(c, "parallel.data", c->data, c->request->gpus ? NULL : said, text);
    } else if (c->ranks && c->request->gpus)
        diag_error(c->settings->diag, (struct place){.file = "--platform"},
                   "%" PRIu64 " GPUs are no multiple of tensor %" PRIu64 " x pipeline %" PRIu64 " x context %" PRIu64
                   "; expected one, or --gpus with one",
                   c->ranks, c->tensor, c->pipeline, c->context);
    else if (c->ranks)
        settings_remark(c->settings, REMARK_MISSING, said->from.at, "parallel.data",
                        "%s gives %" PRIu64 " GPUs, no multiple of tensor %" PRIu64 " x pipeline %" PRIu64
                        " x context %" PRIu64 ": --platform PRESET:NODES with as many says how many there are",
                        said->from.text, c->ranks, c->tensor, c->pipeline, c->context);
    else
        settings_remark(c->settings, REMARK_MISSING, (struct place){0}, "parallel.data",
                        "no file says how many GPUs: --platform PRESET:NODES, or --gpus");
}

/* ---- the batch ---- */

static void put_micro(struct combination *c, const struct setting *global, uint64_t accumulation)
{
    uint64_t all = settings_count(c->settings, "batch.global", 0), parts = settings_product(accumulation, c->data);
    const char *text = arena_print(c->settings->arena, "%s / (accumulation %" PRIu64 " x data %" PRIu64 ")",
                                   global->from.text, accumulation, c->data);
    if (!c->data)
        settings_remark(c->settings, REMARK_MISSING, global->from.at, "batch.micro",
                        "%s is shared among replicas, and no file says how many", global->from.text);
    else if (all % parts)
        diag_error(c->settings->diag, global->from.at,
                   "%s %" PRIu64 " is no multiple of accumulation %" PRIu64 " x data %" PRIu64 "; expected one",
                   global->from.text, all, accumulation, c->data);
    else
        put_derived(c, "batch.micro", all / parts, global, text);
}

static void check_global(struct combination *c, const struct setting *global, uint64_t accumulation)
{
    uint64_t all = settings_count(c->settings, "batch.global", 0),
             micro = settings_count(c->settings, "batch.micro", 1);
    uint64_t step = settings_product(micro + !micro, c->data);
    if (c->data && all % step)
        diag_error(c->settings->diag, global->from.at,
                   "%s %" PRIu64 " is no multiple of micro %" PRIu64 " x data %" PRIu64 "; expected one",
                   global->from.text, all, micro, c->data);
    else if (c->data && accumulation && all != settings_product(accumulation, step))
        diag_error(c->settings->diag, global->from.at,
                   "%s %" PRIu64 " is not micro %" PRIu64 " x accumulation %" PRIu64 " x data %" PRIu64
                   "; expected the product",
                   global->from.text, all, micro, accumulation, c->data);
}

static void put_batch(struct combination *c)
{
    const struct setting *global = settings_find(c->settings, "batch.global"),
                         *micro = settings_find(c->settings, "batch.micro"),
                         *several = settings_find(c->settings, "@accumulation");
    uint64_t accumulation = settings_count(c->settings, "@accumulation", 0);
    if (global && !micro)
        put_micro(c, global, accumulation ? accumulation : 1);
    else if (global)
        check_global(c, global, accumulation);
    else if (micro && several)
        put_derived(c, "batch.micro_batches", accumulation, several, several->from.text);
    else if (micro)
        settings_put(c->settings, "batch.micro_batches", "1",
                     source_default("no accumulation where no file asks for it"));
}

/* ---- chunks, and layers of stages ---- */

static void put_chunks(struct combination *c)
{
    const struct setting *each = settings_find(c->settings, "@chunk_layers");
    uint64_t layers = settings_count(c->settings, "model.layers", 0),
             size = settings_count(c->settings, "@chunk_layers", 0), round = settings_product(c->pipeline, size);
    if (!each || !layers)
        return;
    if (!size || layers % round)
        diag_error(c->settings->diag, each->from.at,
                   "%s %" PRIu64 ": %" PRIu64 " layers are no multiple of it x pipeline %" PRIu64 "; expected one",
                   each->from.text, size, layers, c->pipeline);
    else if (layers / round > 1)
        put_derived(c, "schedule.chunks", layers / round, each,
                    arena_print(c->settings->arena, "layers / (pipeline x %s)", each->from.text));
}

/* What the stages of a pipeline hold: so many of the first and of the last where they are given, or fewer than those
 * between; where that does not divide, torchtitan gives one more to each of the first stages. */
struct uneven {
    uint64_t stages, first, last, less, loss; /* first, last: 0, not given */
    uint64_t each, more;                      /* of those between; first ones that have one more */
};

static bool divide_layers(struct combination *c, uint64_t layers, struct uneven *u)
{
    uint64_t fixed = u->first + u->last, given = (u->first > 0) + (u->last > 0), open = u->stages - given;
    bool rest = c->import->framework && !strcmp(c->import->framework, "torchtitan");
    if (!open || fixed > layers || (given && settings_count(c->settings, "schedule.chunks", 1) > 1))
        return false;
    uint64_t all = layers + u->less + u->loss - fixed;
    u->each = all / open;
    u->more = all % open;
    return (!u->more || (rest && !given)) && u->each >= u->less && u->each >= u->loss;
}

static uint64_t stage_layers(const struct uneven *u, uint64_t stage)
{
    if (stage == 0 && u->first)
        return u->first;
    if (stage + 1 == u->stages && u->last)
        return u->last;
    uint64_t layers = u->each + (stage < u->more);
    return layers - (stage == 0 ? u->less : 0) - (stage + 1 == u->stages ? u->loss : 0);
}

static void put_uneven(struct combination *c)
{
    static const char *const keys[] = {"@first_layers", "@last_layers", "@first_less", "@last_less"};
    const struct setting *because = NULL;
    uint64_t layers = settings_count(c->settings, "model.layers", 0),
             chunks = settings_count(c->settings, "schedule.chunks", 1), counts[4];
    for (size_t i = 0; i < 4; i++) {
        counts[i] = settings_count(c->settings, keys[i], 0);
        because = because ? because : settings_find(c->settings, keys[i]);
    }
    struct uneven u = {
        settings_product(c->pipeline, chunks + !chunks), counts[0], counts[1], counts[2], counts[3], 0, 0};
    if (!because || u.stages < 2 || !layers || u.stages > 4096 || layers > 100000)
        return;
    if (!divide_layers(c, layers, &u)) {
        diag_error(c->settings->diag, because->from.at,
                   "%s: %" PRIu64 " layers do not divide over %" PRIu64 " stages so", because->from.text, layers,
                   u.stages);
        return;
    }
    const char *text = "";
    for (uint64_t stage = 0; stage < u.stages; stage++)
        text = arena_print(c->settings->arena, "%s%s%" PRIu64, text, stage ? ", " : "", stage_layers(&u, stage));
    settings_put(c->settings, "transformer.layers_per_stage", arena_print(c->settings->arena, "[%s]", text),
                 because->from);
}

/* Megatron-LM's text says how many chunks there are, and what each holds. */
static void put_layout(struct combination *c)
{
    const struct setting *text = settings_find(c->settings, "@layout");
    struct pipeline_layout layout;
    struct fault fault = {""};
    if (!text)
        return;
    if (!pipeline_layout_read(text->value, c->pipeline < UINT32_MAX ? (uint32_t)c->pipeline : 0, &layout, &fault)) {
        diag_error(c->settings->diag, text->from.at, "%s: %s", text->from.text, fault.text);
        return;
    }
    if (layout.stages > c->pipeline)
        put_derived(c, "schedule.chunks", layout.stages / c->pipeline, text,
                    arena_print(c->settings->arena, "stages of %s / pipeline", text->from.text));
    if (layout.prediction_layers && !settings_find(c->settings, "model.predictions"))
        put_derived(c, "model.predictions", layout.prediction_layers, text,
                    arena_print(c->settings->arena, "m of %s", text->from.text));
    settings_put(c->settings, "transformer.pipeline_layout", text->value, text->from);
    pipeline_layout_finish(&layout);
}

static void put_schedule(struct combination *c)
{
    const struct setting *chunks = settings_find(c->settings, "schedule.chunks");
    const struct setting *beside = settings_find(c->settings, "@beside");
    if (settings_find(c->settings, "schedule.name"))
        return;
    bool chunked = chunks && settings_count(c->settings, "schedule.chunks", 1) > 1;
    if (beside && c->pipeline > 1 && !chunked) {
        settings_remark(c->settings, REMARK_PARTIAL, beside->from.at, beside->from.text,
                        "exchanges of experts run beside another micro-batch only where stages are cut into chunks: "
                        "left out");
        beside = NULL;
    }
    if (beside)
        settings_put(c->settings, "schedule.name", beside->value, beside->from);
    else if (chunked)
        settings_put(c->settings, "schedule.name", "interleaved", chunks->from);
    else if (c->import->framework)
        settings_put(c->settings, "schedule.name", "1f1b",
                     c->pipeline > 1 ? source_default(c->import->framework)
                                     : source_assumed("no pipeline: any schedule is the same"));
    else
        settings_put(c->settings, "schedule.name", "1f1b", source_assumed("no file says which"));
}

/* ---- what replicas share ---- */

static void put_sharing(struct combination *c)
{
    const struct setting *instances = settings_find(c->settings, "@instances"),
                         *bucket = settings_find(c->settings, "@bucket");
    uint64_t groups = settings_count(c->settings, "@instances", 1),
             elements = settings_count(c->settings, "@bucket", 0);
    bool same = !strcmp(settings_text(c->settings, "transformer.gradients", "fp32"), "same"),
         half = strcmp(settings_text(c->settings, "compute.precision", "bf16"), "fp32") != 0;
    uint64_t bytes = same && half ? 2 : 4;
    if (instances && groups > 1 && c->data && c->data % groups == 0)
        put_derived(c, "transformer.shard_ranks", c->data / groups, instances,
                    arena_print(c->settings->arena, "data / %s", instances->from.text));
    if (!bucket || (!elements && !c->data))
        return;
    uint64_t most = elements ? elements : c->data > 40 ? settings_product(c->data, 1000000) : 40000000;
    struct source from = bucket->from;
    from.text = arena_print(c->settings->arena,
                            elements ? "%s, in elements of %" PRIu64 " bytes"
                                     : "%s: the larger of 40 M and 1 M x data elements of %" PRIu64 " bytes",
                            from.text, bytes);
    if (most < UINT64_MAX / 8 && !settings_find(c->settings, "transformer.bucket"))
        settings_put(c->settings, "transformer.bucket", arena_print(c->settings->arena, "%" PRIu64 "B", most * bytes),
                     from);
}

static void put_tokens(struct combination *c)
{
    const struct setting *samples = settings_find(c->settings, "@samples"),
                         *iterations = settings_find(c->settings, "@iterations");
    const struct setting *because = samples ? samples : iterations;
    double sequence = (double)settings_count(c->settings, "model.sequence", 0),
           global = (double)settings_count(c->settings, "batch.global", 0);
    double tokens = samples ? (double)settings_count(c->settings, "@samples", 0) * sequence
                            : (double)settings_count(c->settings, "@iterations", 0) * global * sequence;
    if (because && tokens > 0)
        settings_put(c->settings, "transformer.tokens", arena_print(c->settings->arena, "%.15g", tokens),
                     source_given(because->from.at, arena_print(c->settings->arena, "%s x %s", because->from.text,
                                                                samples ? "sequence" : "global x sequence")));
}

/* ---- what a run needs ---- */

static void ask(struct combination *c, const char *key, const char *how)
{
    if (settings_find(c->settings, key))
        return;
    for (const struct remark *each = c->settings->remarks; each; each = each->next)
        if (each->kind == REMARK_MISSING && !strcmp(each->name, key))
            return;
    settings_remark(c->settings, REMARK_MISSING, (struct place){0}, key, "%s", how);
}

/* Layouts that no run could have: the frameworks refuse them, too. */
static void ask_for_layout(struct combination *c)
{
    const struct setting *experts = settings_find(c->settings, "parallel.expert"),
                         *workers = settings_find(c->settings, "parallel.pipeline");
    uint64_t layers = settings_count(c->settings, "model.layers", 0),
             sharing = settings_count(c->settings, "parallel.expert", 1);
    uint64_t chunks = settings_count(c->settings, "schedule.chunks", 1),
             stages = settings_product(c->pipeline, chunks + !chunks);
    bool given = settings_find(c->settings, "transformer.layers_per_stage") ||
                 settings_find(c->settings, "transformer.pipeline_layout") ||
                 settings_find(c->settings, "transformer.balance") || settings_find(c->settings, "schedule.file");
    bool along_tensor = !strcmp(settings_text(c->settings, "parallel.expert_tensor", ""), "1");
    uint64_t ranks = settings_product(settings_product(c->data, c->context), along_tensor ? c->tensor : 1);
    if (workers && layers && !given && layers % stages)
        settings_remark(c->settings, REMARK_MISSING, workers->from.at, "transformer.layers_per_stage",
                        "%" PRIu64 " layers do not divide over %" PRIu64
                        " stages: --set transformer.balance=auto, or another pipeline",
                        layers, stages);
    if (experts && c->data && sharing && ranks % sharing)
        settings_remark(c->settings, REMARK_MISSING, experts->from.at, "parallel.expert",
                        "%s %" PRIu64 " does not divide the %" PRIu64
                        " ranks along data and context: a platform with more GPUs has them",
                        experts->from.text, sharing, ranks);
}

static void ask_for_all(struct combination *c)
{
    static const char *const shape[] = {"model.layers", "model.hidden", "model.heads", "model.vocabulary", NULL};
    size_t count = 0;
    ask(c, "platform", "no file says on which machines: --platform PRESET:NODES, such as dgx-h100:64");
    for (const char *const *key = shape; *key; key++)
        count += settings_find(c->settings, *key) != NULL;
    if (!count)
        ask(c, "model.layers", "no file has the model's shape: give its config.json as well");
    for (const char *const *key = shape; count && *key; key++)
        ask(c, *key,
            strcmp(*key, "model.vocabulary") ? "the files do not say: give config.json, or --set"
                                             : "the tokenizer has it: --set model.vocabulary=NUMBER");
    ask(c, "model.sequence", "no file has the tokens of a sample: --set model.sequence=4096");
    if (!settings_find(c->settings, "batch.global"))
        ask(c, "batch.micro", "no file has a batch: --set batch.micro=1 --set batch.global=NUMBER");
}

/* What one file lacks and another has is not missing. */
static void drop_answered(struct settings *settings)
{
    struct remark **link = &settings->remarks;
    settings->last_remark = NULL;
    while (*link) {
        struct remark *each = *link;
        if (each->kind == REMARK_MISSING && settings_find(settings, each->name))
            *link = each->next;
        else {
            settings->last_remark = each;
            link = &each->next;
        }
    }
}

void import_combine(const struct import_request *request, struct import *import)
{
    struct combination c = {.request = request, .import = import, .settings = &import->settings};
    drop_answered(c.settings);
    if (!check_sizes(&c))
        return;
    read_sizes(&c);
    if (request->platform)
        settings_put(c.settings, "platform", request->platform, (struct source){SETTING_TYPED, {0}, "--platform"});
    settings_put(c.settings, "workload", "transformer", source_assumed("what all these files describe"));
    put_data(&c);
    if (!check_sizes(&c))
        return;
    pad_vocabulary(&c);
    put_chunks(&c);
    put_layout(&c);
    put_batch(&c);
    put_uneven(&c);
    put_schedule(&c);
    put_sharing(&c);
    put_tokens(&c);
    if (request->kernels && import->framework && strstr("Megatron-LM NeMo Megatron-Bridge", import->framework))
        settings_put(c.settings, "compute.kernels", request->kernels,
                     source_default(arena_print(c.settings->arena, "%s", import->framework)));
    ask_for_layout(&c);
    ask_for_all(&c);
}
