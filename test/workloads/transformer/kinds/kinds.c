/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of layers: products per token and bytes against counts by hand, operators against formulas. */
#include "workloads/transformer/kinds/kinds.h"
#include "workloads/transformer/kinds/memory.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static void expect_near(double value, double expected, double tolerance, const char *what)
{
    cr_expect(fabs(value - expected) <= tolerance * fabs(expected), "%s: %.12g, not %.12g", what, value, expected);
}

/* ---- models, each with one kind of layer ---- */

#define COMMON .layers = 1, .sequence = 8192, .vocabulary = 1000, .norm = NORM_RMS, .gated = true, .causal = true

static const struct transformer_model nano = {COMMON,           .hidden = 2688,    .heads = 32,  .kv_heads = 2,
                                              .head_size = 128, .mamba_heads = 64, .chunk = 128, .mixers = "M"};
static const struct transformer_model ultra = {COMMON,       .hidden = 8192, .heads = 64, .mamba_heads = 256,
                                               .chunk = 128, .mixers = "M"};
static const struct transformer_model qwen_35b = {
    COMMON,       .hidden = 2048, .heads = 16, .linear_key_heads = 16, .linear_value_heads = 32, .linear_key_size = 128,
    .mixers = "G"};
static const struct transformer_model qwen_27b = {
    COMMON,       .hidden = 5120, .heads = 24, .linear_key_heads = 16, .linear_value_heads = 48, .linear_key_size = 128,
    .mixers = "G"};
static const struct transformer_model kimi_k3 = {COMMON,
                                                 .hidden = 7168,
                                                 .heads = 96,
                                                 .linear_value_heads = 96,
                                                 .linear_key_size = 128,
                                                 .linear_full_gate = true,
                                                 .mixers = "K"};
static const struct transformer_model kimi_narrow = {
    COMMON, .hidden = 2304, .heads = 32, .linear_value_heads = 32, .linear_key_size = 128, .mixers = "K"};
static const struct transformer_model lightning = {
    COMMON, .hidden = 6144, .heads = 64, .linear_value_heads = 64, .linear_key_size = 128, .chunk = 256, .mixers = "L"};
static const struct transformer_model latent = {
    COMMON,          .hidden = 7168,    .heads = 128,       .head_size = 128,
    .rope_size = 64, .value_size = 128, .query_rank = 1536, .kv_rank = 512,
    .mixers = "*"};
static const struct transformer_model gated = {COMMON,
                                               .hidden = 7168,
                                               .heads = 96,
                                               .head_size = 128,
                                               .rope_size = 64,
                                               .value_size = 128,
                                               .query_rank = 1536,
                                               .kv_rank = 512,
                                               .output_gate = true,
                                               .mixers = "*"};
static const struct transformer_model sparse = {
    COMMON,          .hidden = 7168,    .heads = 128,       .head_size = 128,
    .rope_size = 64, .value_size = 128, .query_rank = 1536, .kv_rank = 512,
    .mixers = "D"};
static const struct transformer_model shared = {
    COMMON,          .hidden = 6144,    .heads = 64,        .head_size = 192,
    .rope_size = 64, .value_size = 256, .query_rank = 2048, .kv_rank = 512,
    .mixers = "S"};
static const struct transformer_model taught = {COMMON,
                                                .hidden = 7168,
                                                .heads = 128,
                                                .head_size = 128,
                                                .rope_size = 64,
                                                .value_size = 128,
                                                .query_rank = 1536,
                                                .kv_rank = 512,
                                                .index_trained = true,
                                                .mixers = "D"};
static const struct transformer_model blocks = {COMMON,          .hidden = 6144,     .heads = 64,
                                                .kv_heads = 4,   .head_size = 128,   .index_heads = 4,
                                                .index_top = 16, .index_block = 128, .mixers = "B"};
#define V4                                                                                                             \
    .hidden = 4096, .heads = 64, .kv_heads = 1, .head_size = 512, .query_rank = 1024, .output_groups = 8,              \
    .output_rank = 1024, .window = 128, .index_top = 512
static const struct transformer_model near = {COMMON, V4, .mixers = "w"};
static const struct transformer_model compressed = {COMMON, V4, .mixers = "c"};
static const struct transformer_model heavily = {COMMON, V4, .mixers = "h"};
static const struct transformer_model streams = {COMMON, V4, .mixers = "w", .streams = 4};
static const struct transformer_model mimo = {COMMON,        .hidden = 4096,      .heads = 64,
                                              .kv_heads = 4, .head_size = 192,    .value_size = 128,
                                              .window = 128, .local_kv_heads = 8, .mixers = "W"};
static const struct transformer_model lfm2 = {COMMON, .hidden = 2048, .heads = 32, .convolution = 3, .mixers = "C"};
static const struct transformer_model chunks = {.layers = 1,
                                                .sequence = 32768,
                                                .vocabulary = 1000,
                                                .norm = NORM_RMS,
                                                .causal = true,
                                                .hidden = 5120,
                                                .heads = 40,
                                                .kv_heads = 8,
                                                .head_size = 128,
                                                .window = 8192,
                                                .chunked = true,
                                                .mixers = "W"};

static struct transformer_model own_model(const struct transformer_model *given)
{
    struct transformer_model model = *given;
    transformer_model_complete(&model);
    return transformer_model_of_layer(&model, 0);
}

/* Of a token's forward, in millions: matrices, and all beside them. */
static void count(const struct transformer_model *own, double *matrices, double *rest)
{
    struct kind_parameters p = transformer_kind_of(own)->parameters(own);
    *matrices = 2 * (p.into + p.whole + p.out) / 1e6;
    *rest = transformer_attention_flops(own) / (double)own->sequence / 1e6;
}

/* Counted apart from the program for each model's published shape: matrices of a token and layer; core, convolution and
 * indexer beside them. Attention without an indexer counts the whole square, as the program does. */
Test(kinds, products_of_a_token)
{
    static const struct {
        const char *name;
        const struct transformer_model *model;
        double matrices, rest;
    } counted[] = {
        {"Nemotron-3-Nano, Mamba-2", &nano, 77.414, 0.049 + 3.408},
        {"Nemotron-3-Ultra, Mamba-2", &ultra, 843.055, 0.147 + 12.845},
        {"Qwen3.5-35B, gated delta net", &qwen_35b, 67.371, 0.066 + 5.855},
        {"Qwen3.5-27B, gated delta net", &qwen_27b, 231.670, 0.082 + 8.782},
        {"Kimi K3, delta attention", &kimi_k3, 887.161, 0.295 + 17.564},
        {"LFM2-1.2B, short convolution", &lfm2, 33.554432, 0.012288},
        {"DeepSeek-V3, latent attention", &latent, 374.211, 2 * 335.544},
        {"Kimi K3, latent attention with a gate", &gated, 464.388, 2 * 251.658},
        {"DeepSeek-V3.2, sparse attention", &sparse, 374.211, 499.122 + 95.551},
        {"DeepSeek-V4-Flash, window", &near, 213.910, 16.646},
        {"DeepSeek-V4-Flash, compressed", &compressed, 213.910 + 16.777, 75.366 + 38.273},
        {"DeepSeek-V4-Flash, heavily compressed", &heavily, 213.910 + 8.389, 16.646 + 4.194},
    };
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        struct transformer_model own = own_model(counted[i].model);
        double matrices, rest;
        count(&own, &matrices, &rest);
        expect_near(matrices, counted[i].matrices, 1e-5, counted[i].name);
        expect_near(rest, counted[i].rest, 2e-4, counted[i].name);
    }
}

/* Of a window of 128 tokens 127 are met on the mean, of a chunk the half; both count twice, as the square does. */
Test(kinds, windows_and_chunks)
{
    struct transformer_model own = own_model(&mimo);
    double matrices, rest;
    count(&own, &matrices, &rest);
    expect_near(matrices + rest / 2, 193.946, 1e-4, "MiMo-V2-Flash");
    own = own_model(&chunks);
    count(&own, &matrices, &rest);
    expect_near(matrices + rest / 2, 209.725, 1e-4, "Llama 4");
}

/* Parameters of one layer's mixer, by hand; without the normalisation before it. */
Test(kinds, parameters)
{
    static const struct {
        const char *name;
        const struct transformer_model *model;
        double parameters;
    } counted[] = {
        {"Mamba-2", &nano, 2688.0 * (8192 + 2048 + 64) + 6144 * 5 + 3 * 64 + 4096 + 4096.0 * 2688},
        {"gated delta net", &qwen_35b, 2048.0 * (4096 + 8192 + 64) + 4 * 8192 + 64 + 128 + 4096.0 * 2048},
        {"Kimi delta attention, narrow gate", &kimi_narrow,
         3 * 2304.0 * 4096 + 3 * 4096 * 4 + 2 * (2304.0 * 128 + 128.0 * 4096) + 2304 * 32 + 32 + 4096 + 128 +
             4096.0 * 2304},
        {"lightning attention", &lightning, 4 * 6144.0 * 8192 + 8192 + 8192.0 * 6144},
        {"sparse attention", &sparse,
         7168.0 * 1536 + 1536 + 1536.0 * 128 * 192 + 7168.0 * 576 + 512 + 512.0 * 128 * 256 + 128 * 128 * 7168.0 +
             1536.0 * 8192 + 7168.0 * 128 + 256 + 7168.0 * 64},
        {"block-sparse attention", &blocks,
         6144.0 * 8192 + 2 * 6144.0 * 512 + 8192 * 6144.0 + 6144.0 * 512 + 6144.0 * 128 + 256},
        {"compressed attention", &compressed,
         4096.0 * 1024 + 1024 + 1024.0 * 32768 + 4096.0 * 512 + 512 + 32768.0 * 1024 + 8192 * 4096.0 + 64 +
             4 * 4096.0 * 512 + 9 * 512 + 4 * 4096.0 * 128 + 9 * 128 + 1024.0 * 8192 + 4096.0 * 64},
    };
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        struct transformer_model own = own_model(counted[i].model);
        double norm = (double)own.hidden;
        double sum = transformer_attention_divided(&own) + transformer_attention_whole(&own) - norm;
        cr_expect_eq(sum, counted[i].parameters, "%s: %.0f, not %.0f", counted[i].name, sum, counted[i].parameters);
    }
}

/* ---- operators ---- */

static struct transformer_layout layout_of(double context, enum transformer_recompute recompute)
{
    return (struct transformer_layout){.samples = 4,
                                       .tensor = 1,
                                       .context = context,
                                       .expert = 1,
                                       .expert_tensor = 1,
                                       .padding = 1,
                                       .width = 1,
                                       .gathered_rows = 1,
                                       .flash = true,
                                       .element_bytes = 2,
                                       .gradient_bytes = 4,
                                       .recompute = recompute};
}

static double block_flops(const struct transformer_model *own, const struct transformer_layout *layout, bool backward)
{
    struct transformer_operators list;
    (backward ? transformer_backward : transformer_forward)(own, layout, BLOCK_ATTENTION, &list);
    for (unsigned i = 0; i < list.count; i++)
        cr_assert(isfinite(list.items[i].flops) && list.items[i].bytes >= 0, "%s", list.items[i].name);
    return transformer_operators_flops(&list, false);
}

static const struct transformer_model *const all[] = {
    &nano,   &ultra,  &qwen_35b, &qwen_27b, &kimi_k3, &kimi_narrow, &lightning, &latent,  &gated,
    &sparse, &shared, &taught,   &blocks,   &near,    &compressed,  &heavily,   &streams, &lfm2};

/* What ranks compute together is what the formulas say: forward, backward, and what runs again. */
Test(kinds, operators_add_up_to_the_model)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (double context = 1; context <= 4; context *= 2) {
            struct transformer_model own = own_model(all[i]);
            own.feed = FEED_NONE;
            own.vocabulary = 0;
            own.causal = own.mixer != MIXER_ATTENTION; /* whose square counts in full, and runs where all is seen */
            const struct transformer_kind *kind = transformer_kind_of(&own);
            struct transformer_layout kept = layout_of(context, TRANSFORMER_KEEP),
                                      full = layout_of(context, TRANSFORMER_FULL);
            double forward = context * block_flops(&own, &kept, false) / 4, layer = transformer_own_layer_flops(&own);
            double spared = kind->spared_flops ? kind->spared_flops(&own) : 0;
            /* The model with this one layer: its feed-forward block is not counted. */
            struct transformer_model model = own;
            model.feeds = ".";
            double again = transformer_repeated_flops(&model, &kept);
            expect_near(forward, layer, 1e-12, own.mixers);
            expect_near(context * block_flops(&own, &kept, true) / 4, 2 * layer - spared + again, 1e-12, own.mixers);
            expect_near(context * block_flops(&own, &full, true) / 4, 3 * layer - spared + again, 1e-12, own.mixers);
            expect_near(transformer_flops(&model), 3 * layer - spared, 1e-12, own.mixers);
        }
}

/* ---- memory ---- */

/* Bytes of a token, in 16 bits. */
static double kept(const struct transformer_model *given, enum transformer_recompute recompute)
{
    struct transformer_model own = own_model(given);
    struct transformer_layout layout = layout_of(1, recompute);
    own.feed = FEED_NONE;
    return transformer_own_layer_activation(&own, &layout) / (4 * (double)own.sequence);
}

/* By hand: the input of the normalisation and its own, columns of the matrix in and of the core, and what each kind
 * keeps beside them. */
Test(kinds, activations)
{
    expect_near(kept(&nano, TRANSFORMER_KEEP), 2 * (2 * 2688 + 2 * 4096 + 2048 + 64 + 4096), 1e-12, "Mamba-2");
    expect_near(kept(&qwen_35b, TRANSFORMER_KEEP),
                2 * (2 * 2048 + 2 * 2048 + 2 * 4096 + 64 + 4096 + 3 * 4096 + 32 * 64), 1e-12, "gated delta net");
    expect_near(kept(&kimi_k3, TRANSFORMER_KEEP), 2 * (2 * 7168 + 4 * 12288 + 96 + 12288 + 4 * 12288 + 2 * 96 * 64),
                1e-12, "Kimi delta attention");
    expect_near(kept(&lfm2, TRANSFORMER_KEEP), 2 * (2 * 2048 + 3 * 2048 + 2048 + 2 * 2048), 1e-12, "convolution");
    expect_near(kept(&lightning, TRANSFORMER_KEEP), 2 * (2 * 6144 + 5 * 8192), 1e-12, "lightning attention");
    expect_near(kept(&sparse, TRANSFORMER_KEEP), 2 * (2 * 7168 + 2 * 24576 + 2 * 16384 + 2 * (1536 + 512) + 64), 1e-12,
                "sparse attention");
    expect_near(kept(&near, TRANSFORMER_KEEP), 2 * (2 * 4096 + 2 * 32768 + 8192 + 2 * (1024 + 512)), 1e-12, "window");
    expect_near(kept(&compressed, TRANSFORMER_KEEP) - kept(&near, TRANSFORMER_KEEP), 2 * 2048, 1e-12, "compressed");
    expect_near(kept(&streams, TRANSFORMER_KEEP) - kept(&near, TRANSFORMER_KEEP), 2 * 4 * 4096, 1e-12, "streams");
    expect_near(kept(&nano, TRANSFORMER_FULL), 2 * 2688, 1e-12, "recomputed");
    expect_near(kept(&streams, TRANSFORMER_FULL), 2 * 4 * 4096, 1e-12, "recomputed, with streams");
}

/* A gate of what attention gives moves as much in every kind that has it, forward and backward, and keeps as much; so
 * do normalised queries and keys. */
Test(kinds, gates_in_every_kind)
{
    static const struct transformer_model *const models[] = {&latent, &sparse, &shared, &taught,
                                                             &blocks, &mimo,   &chunks};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct transformer_model plain = *models[i], gates = *models[i], normal = *models[i];
        struct transformer_model own = own_model(models[i]);
        struct transformer_layout layout = layout_of(1, TRANSFORMER_KEEP);
        double output = transformer_widths_of(&own).output, tokens = 4 * (double)own.sequence;
        gates.output_gate = true;
        normal.qk_norm = true;
        for (int backward = 0; backward < 2; backward++) {
            struct transformer_model with = own_model(&gates);
            struct transformer_operators list;
            double moved = 0;
            (backward ? transformer_backward : transformer_forward)(&with, &layout, BLOCK_ATTENTION, &list);
            for (unsigned k = 0; k < list.count; k++)
                if (!list.items[k].matrix && !strcmp(list.items[k].name, "output gate"))
                    moved += list.items[k].bytes;
            expect_near(moved, (backward ? 5 : 3) * 2 * tokens * output, 1e-12, models[i]->mixers);
        }
        expect_near(kept(&gates, TRANSFORMER_KEEP) - kept(&plain, TRANSFORMER_KEEP), 2 * 2 * output, 1e-9,
                    models[i]->mixers);
        expect_near(kept(&normal, TRANSFORMER_KEEP) - kept(&plain, TRANSFORMER_KEEP),
                    2 * (transformer_widths_of(&own).query + transformer_widths_of(&own).key), 1e-9, models[i]->mixers);
    }
}

/* ---- which layer is what ---- */

Test(kinds, sequences_of_layers)
{
    struct transformer_model m = {COMMON, .hidden = 64, .heads = 4, .experts = 8, .pattern = "M*-E"}, own;
    m.layers = 8;
    m.predictions = 1;
    m.prediction_mixers = "G";
    m.prediction_feeds = "-";
    transformer_model_complete(&m);
    static const enum transformer_mixer mixers[] = {MIXER_MAMBA, MIXER_ATTENTION, MIXER_NONE, MIXER_NONE};
    static const enum transformer_feed feeds[] = {FEED_NONE, FEED_NONE, FEED_DENSE, FEED_EXPERTS};
    for (uint64_t layer = 0; layer < 8; layer++) {
        own = transformer_model_of_layer(&m, layer);
        cr_expect(own.mixer == mixers[layer % 4] && own.feed == feeds[layer % 4], "layer %d", (int)layer);
    }
    cr_expect_eq(transformer_expert_layers(&m, 8), 2);
    own = transformer_model_of_layer(&m, 8);
    cr_expect(own.mixer == MIXER_GATED_DELTA && own.feed == FEED_DENSE);
    double heads[] = {4, 0, 2, 4, 4, 4, 4, 4}, widths[] = {0, 64, 32, 64, 64, 64, 64, 64};
    m.pattern = NULL;
    m.experts = 0;
    m.layer_kv_heads = (struct stagesim_list){.count = 8, .values = heads};
    m.layer_ffn = (struct stagesim_list){.count = 8, .values = widths};
    own = transformer_model_of_layer(&m, 1);
    cr_expect(own.mixer == MIXER_NONE && own.feed == FEED_DENSE && own.ffn == 64);
    own = transformer_model_of_layer(&m, 2);
    cr_expect(own.mixer == MIXER_ATTENTION && own.kv_heads == 2 && own.ffn == 32);
    own = transformer_model_of_layer(&m, 0);
    cr_expect(own.feed == FEED_NONE && !transformer_layers_alike(&own, &m));
}

/* Bytes of a token that compressed attention reads and writes beside products, in 16 bits: queries of all heads are
 * normalised and rotated in one pass, what the heads give is rotated back, and so are the indexer's queries. */
Test(kinds, compressed_heads_are_rotated)
{
    static const struct {
        const struct transformer_model *model;
        const char *name;
        double forward, backward; /* elements */
    } moved[] = {{&near, "heads", 2 * 32768, 4 * 32768},
                 {&heavily, "rotation back", 2 * 32768, 2 * 32768},
                 {&compressed, "rotation back", 2 * 32768, 2 * 32768},
                 {&compressed, "index rotation", 2 * 8192, 0}};
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++)
        for (int backward = 0; backward < 2; backward++) {
            struct transformer_model own = own_model(moved[i].model);
            struct transformer_layout layout = layout_of(1, TRANSFORMER_KEEP);
            struct transformer_operators list;
            double bytes = 0;
            (backward ? transformer_backward : transformer_forward)(&own, &layout, BLOCK_ATTENTION, &list);
            for (unsigned k = 0; k < list.count; k++)
                bytes += strcmp(list.items[k].name, moved[i].name) != 0 ? 0 : list.items[k].bytes;
            expect_near(bytes / (4 * (double)own.sequence), 2 * (backward ? moved[i].backward : moved[i].forward),
                        1e-12, moved[i].name);
        }
}
