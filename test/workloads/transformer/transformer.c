/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/transformer.h"
#include "base/arena.h"
#include "job/scenario/scenario.h"
#include "test/support/memory_file.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void expect(double value, double expected, const char *what)
{
    cr_assert(fabs(value - expected) <= 1e-12 * fabs(expected), "%s: %.17g, not %.17g", what, value, expected);
}

/* ---- the models as they are shipped ---- */

/* A model as a scenario names it. */
static struct transformer_model load_model(const char *name, struct arena *arena)
{
    char text[512];
    struct diag diag = {.out = stderr};
    char file[MEMORY_FILE_NAME];
    struct scenario_request request = {.file = file};
    setenv("STAGESIM_MODELS", SOURCE "/workloads/models", 1);
    int length = snprintf(text, sizeof text,
                          "platform: " SOURCE "/test/bad/gpus-4.xml\nworkload: transformer\nmodel: %s\n", name);
    int descriptor = memory_file(text, (size_t)length, file);
    struct scenario *scenario = scenario_load(&request, arena, &diag);
    close(descriptor);
    cr_assert(scenario, "%s does not load", name);
    struct transformer_model model = ((const struct transformer_parameters *)scenario->parameters)->model;
    transformer_model_complete(&model);
    return model;
}

/* Published to the unit: Chimera's Table 4; the released Llama weights. GPT-3 as computed by hand from Table 2.1 of its
 * paper. */
Test(transformer, parameters_published_to_the_unit)
{
    static const struct {
        const char *name;
        double parameters;
    } published[] = {
        {"bert-48", 669790012},        {"gpt2-64", 1389327360},     {"llama2-7b", 6738415616},
        {"llama2-70b", 68976648192},   {"llama3-8b", 8030261248},   {"llama3-70b", 70553706496},
        {"llama3-405b", 405853388800}, {"gpt3-175b", 174604259328}, {"mixtral-8x7b", 46702792704},
        {"deepseek-v3", 671026419200}, {"bert-large", 336226108},
    };
    struct arena *arena = arena_create();
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        struct transformer_model model = load_model(published[i].name, arena);
        cr_assert_eq(transformer_parameters(&model), published[i].parameters, "%s: %.0f", published[i].name,
                     transformer_parameters(&model));
        cr_assert(!model.parameters || (double)model.parameters == published[i].parameters, "%s", published[i].name);
        double active = transformer_active_parameters(&model);
        cr_assert(model.experts || active == published[i].parameters, "%s", published[i].name);
        cr_assert(!model.active_parameters || (double)model.active_parameters == active, "%s: %.0f", published[i].name,
                  active);
    }
    arena_destroy(arena);
}

/* Published in billions with one digit, as the sizes in the names. */
Test(transformer, parameters_of_the_megatron_models)
{
    static const struct {
        const char *name;
        double billions;
    } published[] = {{"1.7b", 1.7},   {"3.6b", 3.6},     {"7.5b", 7.5},     {"18.4b", 18.4},   {"39.1b", 39.1},
                     {"76.1b", 76.1}, {"145.6b", 145.6}, {"310.1b", 310.1}, {"529.6b", 529.6}, {"1008b", 1008.0}};
    struct arena *arena = arena_create();
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        char name[64];
        snprintf(name, sizeof name, "megatron-%s", published[i].name);
        struct transformer_model m = load_model(name, arena);
        double h = (double)m.hidden, l = (double)m.layers, v = (double)m.vocabulary, s = (double)m.sequence;
        cr_assert_eq(round(transformer_parameters(&m) / 1e8) / 10, published[i].billions, "%s: %.0f", name,
                     transformer_parameters(&m));
        expect(transformer_parameters(&m) - 2 * h, 12 * l * h * h * (1 + 13 / (12 * h) + (v + s) / (12 * l * h)), name);
    }
    arena_destroy(arena);
}

/* ---- the formulas for classic GPT shapes ---- */

static const struct transformer_model gpt = {.layers = 96,
                                             .hidden = 12288,
                                             .heads = 96,
                                             .kv_heads = 96,
                                             .head_size = 128,
                                             .ffn = 49152,
                                             .sequence = 2048,
                                             .vocabulary = 51200,
                                             .positions = 2048,
                                             .tied = true,
                                             .biases = true,
                                             .causal = true,
                                             .dropout = true,
                                             .final_norm = true};

static struct transformer_layout layout_of(double samples, double tensor, bool sequence, bool flash,
                                           enum transformer_recompute recompute)
{
    return (struct transformer_layout){.samples = samples,
                                       .tensor = tensor,
                                       .context = 1,
                                       .expert = 1,
                                       .expert_tensor = tensor,
                                       .padding = 1,
                                       .width = 1,
                                       .gathered_rows = 1,
                                       .sequence_parallel = sequence,
                                       .flash = flash,
                                       .element_bytes = 2,
                                       .gradient_bytes = 4,
                                       .recompute = recompute};
}

Test(transformer, model_flops)
{
    double l = 96, s = 2048, h = 12288, v = 51200;
    expect(transformer_flops(&gpt), 72 * l * s * h * h * (1 + s / (6 * h) + v / (12 * h * l)), "useful");
    expect(transformer_flops(&gpt) + l * transformer_layer_flops(&gpt),
           96 * l * s * h * h * (1 + s / (6 * h) + v / (16 * l * h)), "full recomputation");
    expect(transformer_flops(&gpt) + 3 * transformer_all_attention_flops(&gpt),
           72 * l * s * h * h * (1 + s / (3 * h) + v / (12 * h * l)), "selective recomputation");
}

/* The operators of all ranks compute what the model's formula says. */
Test(transformer, operators_add_up_to_the_model)
{
    for (int recompute = TRANSFORMER_KEEP; recompute <= TRANSFORMER_FULL; recompute++) {
        struct transformer_layout layout = layout_of(4, 8, true, false, (enum transformer_recompute)recompute);
        double sum = 0, weights = 0;
        for (int block = BLOCK_INPUT; block <= BLOCK_OUTPUT; block++) {
            struct transformer_operators forward, backward;
            bool layer = block == BLOCK_ATTENTION || block == BLOCK_FFN;
            transformer_forward(&gpt, &layout, (enum transformer_block)block, &forward);
            transformer_backward(&gpt, &layout, (enum transformer_block)block, &backward);
            sum += (layer ? 96 : 1) *
                   (transformer_operators_flops(&forward, false) + transformer_operators_flops(&backward, false));
            weights += (layer ? 96 : 1) * transformer_operators_flops(&backward, true);
        }
        double again = recompute == TRANSFORMER_FULL        ? 96 * transformer_layer_flops(&gpt)
                       : recompute == TRANSFORMER_SELECTIVE ? 96 * transformer_attention_flops(&gpt)
                                                            : 0;
        expect(8 * sum, 4 * (transformer_flops(&gpt) + again), "all operators");
        expect(8 * weights, 4 * 2048.0 * (96 * 24 * 12288.0 * 12288 + 2 * 12288.0 * 51200), "weight gradients");
    }
}

/* Each operator of a list is one: it computes or moves bytes, and has a name. */
Test(transformer, operators_do_something)
{
    for (int block = BLOCK_INPUT; block <= BLOCK_OUTPUT; block++)
        for (unsigned back = 0; back < 2; back++) {
            struct transformer_layout layout = layout_of(4, 8, true, false, TRANSFORMER_KEEP);
            struct transformer_operators list;
            memset(&list, 0, sizeof list);
            (back ? transformer_backward : transformer_forward)(&gpt, &layout, (enum transformer_block)block, &list);
            for (uint32_t i = 0; i < list.count; i++) {
                const struct transformer_operator *operator= & list.items[i];
                cr_expect(operator->name &&(operator->flops> 0 || operator->bytes> 0), "block %d: operator %u of %u",
                          block, i, list.count);
            }
        }
}

/* Flop of one block's forward and backward on a rank. */
static double block_flops(const struct transformer_model *model, const struct transformer_layout *layout,
                          enum transformer_block block)
{
    struct transformer_operators forward, backward;
    transformer_forward(model, layout, block, &forward);
    transformer_backward(model, layout, block, &backward);
    return transformer_operators_flops(&forward, false) + transformer_operators_flops(&backward, false);
}

/* Blocks of a layer with experts, latent attention and a shared sequence add up to the formula, which counts attention
 * in full. */
Test(transformer, operators_of_experts_add_up_to_the_model)
{
    static const char *const names[] = {"mixtral-8x7b", "deepseek-v3"};
    struct arena *arena = arena_create();
    for (size_t i = 0; i < 2; i++) {
        struct transformer_model model = load_model(names[i], arena);
        struct transformer_layout layout = layout_of(2, 4, true, false, TRANSFORMER_KEEP);
        layout.context = 8;
        layout.expert = 4;
        double attention = block_flops(&model, &layout, BLOCK_ATTENTION), parts = 0, experts = 0;
        for (int block = BLOCK_PROJECTIONS; block <= BLOCK_JOIN; block++)
            parts += block_flops(&model, &layout, (enum transformer_block)block);
        expect(parts, attention, "parts of the attention");
        for (int block = BLOCK_ROUTER; block <= BLOCK_COMBINE; block++)
            experts += block_flops(&model, &layout, (enum transformer_block)block);
        double dense = (double)model.dense_layers * block_flops(&model, &layout, BLOCK_FFN);
        double sum = (double)model.layers * attention + dense +
                     (double)transformer_expert_layers(&model, model.layers) * experts +
                     block_flops(&model, &layout, BLOCK_OUTPUT);
        /* The narrow projections of latent attention run on all four tensor-parallel ranks. */
        double narrow = (double)(model.kv_rank ? model.query_rank + model.kv_rank + model.rope_size : 0);
        double again = 3 * 2.0 * 4096 * 7168 * narrow * (double)model.layers * (1 - 1 / 4.0);
        expect(32 * sum, 2 * transformer_flops(&model) + 32 * 2 * again / 8, names[i]);
    }
    arena_destroy(arena);
}

/* Pairs of tokens counted one by one; layers 1 and 3 of 4 see all tokens. Standard attention computes all scores. */
Test(transformer, windows_leave_their_pairs)
{
    struct transformer_model model = {.layers = 4,
                                      .hidden = 64,
                                      .heads = 4,
                                      .sequence = 4096,
                                      .vocabulary = 100,
                                      .causal = true,
                                      .window = 512,
                                      .window_period = 2};
    struct transformer_layout flash = layout_of(1, 1, false, true, TRANSFORMER_KEEP), standard = flash;
    double pairs = 0, all = 4096.0 * 4096 / 2;
    standard.flash = false;
    transformer_model_complete(&model);
    for (int token = 1; token <= 4096; token++)
        pairs += token < 512 ? token : 512;
    struct transformer_operators narrow, wide, scores;
    struct transformer_model even = transformer_model_of_layer(&model, 0), odd = transformer_model_of_layer(&model, 1);
    transformer_forward(&even, &flash, BLOCK_CORE, &narrow);
    transformer_forward(&odd, &flash, BLOCK_CORE, &wide);
    transformer_forward(&even, &standard, BLOCK_CORE, &scores);
    expect(transformer_operators_flops(&wide, false), 4 * all * 64, "all tokens");
    cr_expect_float_eq(transformer_operators_flops(&narrow, false) / (4 * pairs * 64), 1, 1.5e-4);
    expect(transformer_operators_flops(&scores, false), 2 * 4 * all * 64, "scores");
    cr_expect_float_eq(transformer_all_attention_flops(&model) / (2 * 8 * (all + pairs) * 64), 1, 1.5e-4);
    model.window = 0;
    struct transformer_model open = model;
    open.window = 512;
    expect(transformer_flops(&open) - 3 * transformer_all_attention_flops(&open),
           transformer_flops(&model) - 3 * transformer_all_attention_flops(&model), "the rest");
}

/* Of 10 layers 2, 5 and 8 have experts; two kinds of period 3 and 2 come again after 6 layers. */
Test(transformer, every_third_layer_has_experts)
{
    struct transformer_model model = {.layers = 10,
                                      .hidden = 8,
                                      .heads = 2,
                                      .sequence = 8,
                                      .vocabulary = 8,
                                      .causal = true,
                                      .experts = 4,
                                      .dense_layers = 2,
                                      .expert_period = 3,
                                      .window = 4,
                                      .window_period = 2};
    transformer_model_complete(&model);
    uint64_t count = 0;
    for (uint64_t layer = 0; layer < 10; layer++) {
        count += layer == 2 || layer == 5 || layer == 8;
        cr_expect(transformer_expert_layers(&model, layer + 1) == count);
    }
    cr_expect(transformer_layers_period(&model) == 6);
}

/* Korthikanti et al. 2022, Table 2, and the sizes of their Table 5: 66.84 and 12.35 GiB. */
Test(transformer, activations)
{
    double s = 2048, b = 3, h = 12288, a = 96, t = 8;
    struct transformer_layout none = layout_of(b, 1, false, false, TRANSFORMER_KEEP);
    struct transformer_layout tensor = layout_of(b, t, false, false, TRANSFORMER_KEEP);
    struct transformer_layout sequence = layout_of(b, t, true, false, TRANSFORMER_KEEP);
    struct transformer_layout selective = layout_of(b, t, false, false, TRANSFORMER_SELECTIVE);
    struct transformer_layout both = layout_of(b, t, true, false, TRANSFORMER_SELECTIVE);
    struct transformer_layout flash = layout_of(b, t, true, true, TRANSFORMER_KEEP);
    struct transformer_layout full = layout_of(b, t, false, false, TRANSFORMER_FULL);
    expect(transformer_layer_activation(&gpt, &none), s * b * h * (34 + 5 * a * s / h), "none");
    expect(transformer_layer_activation(&gpt, &tensor), s * b * h * (10 + 24 / t + 5 * a * s / (h * t)), "tensor");
    expect(transformer_layer_activation(&gpt, &sequence), s * b * h / t * (34 + 5 * a * s / h), "tensor and sequence");
    expect(transformer_layer_activation(&gpt, &selective), s * b * h * (10 + 24 / t), "tensor and selective");
    expect(transformer_layer_activation(&gpt, &both), 34 * s * b * h / t, "all three");
    expect(transformer_layer_activation(&gpt, &flash), 34 * s * b * h / t, "flash");
    expect(transformer_layer_activation(&gpt, &full), 2 * s * b * h, "full");
    struct transformer_layout parts = layout_of(b, t, true, false, TRANSFORMER_FULL);
    expect(transformer_layer_activation(&gpt, &parts), 2 * s * b * h / t, "full and sequence");
    expect(transformer_output_activation(&gpt, &both), 4 * s * b * h / t * (1 + 51200 / h), "output");
    expect(transformer_input_activation(&gpt, &both), s * b * h / t, "input");
    struct transformer_layout one = tensor, best = both;
    one.samples = best.samples = 1;
    double held = 96 * (1 + 7.0 / 24); /* 8 stages of 3 chunks, interleaved */
    cr_assert_float_eq(held * transformer_layer_activation(&gpt, &one) / 0x1p30, 66.84 - 0.09, 0.6);
    cr_assert_float_eq(held * transformer_layer_activation(&gpt, &best) / 0x1p30, 12.35, 0.25);
}

/* What lies between layers is one thing, whatever the layer is and however it is kept: under full recomputation nothing
 * else is left of a layer with experts either, and sequence parallelism divides it. */
Test(transformer, full_recomputation_keeps_what_lies_between_layers)
{
    struct transformer_model dense = gpt, sparse = gpt;
    dense.sequence = sparse.sequence = 4096;
    sparse.experts = 16;
    sparse.top_k = 2;
    sparse.expert_ffn = sparse.ffn;
    for (double t = 1; t <= 8; t *= 2)
        for (double context = 1; context <= 4; context *= 4)
            for (int sequence = 0; sequence <= 1; sequence++) {
                struct transformer_layout layout = layout_of(2, t, sequence, true, TRANSFORMER_FULL);
                layout.context = context;
                double between = 2.0 * 2 * 4096 / context * (double)gpt.hidden / (sequence ? t : 1);
                expect(transformer_layer_activation(&dense, &layout), between, "dense");
                expect(transformer_expert_layer_activation(&sparse, &layout), between, "experts");
            }
}

Test(transformer, states)
{
    struct transformer_state mixed = transformer_state_of(OPTIMIZER_ADAM, 2, 4);
    cr_assert_eq(mixed.weight + mixed.gradient + mixed.optimizer, 18);
    struct transformer_state zero = transformer_state_of(OPTIMIZER_ADAM, 2, 2);
    cr_assert_eq(zero.weight + zero.gradient + zero.optimizer, 16);
    struct transformer_state single = transformer_state_of(OPTIMIZER_ADAM, 4, 4);
    cr_assert_eq(single.weight + single.gradient + single.optimizer, 16);
}

/* ---- efficiency tables ---- */

static const char *write_table(const char *text)
{
    static char path[64];
    strcpy(path, "/tmp/stagesim-table-XXXXXX");
    int file = mkstemp(path);
    cr_assert(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text) && !close(file));
    return path;
}

Test(efficiency, time_is_launch_and_the_longer_of_computing_and_moving)
{
    struct efficiency table;
    struct fault fault = {""};
    const char *path = write_table(
        "# text\nwhat,size,value\nmatrix,1e6,0.1\nmatrix,1e8,0.5\nmemory,1e3,0.8\nlaunch,,1e-6\ndispatch,,1e-3\n");
    cr_assert(efficiency_read(path, &table, &fault), "%s", fault.text);
    unlink(path);
    expect(efficiency_at(&table.matrix, 1e7), 0.3, "half way on the logarithm");
    cr_assert(efficiency_at(&table.matrix, 1) == 0.1 && efficiency_at(&table.matrix, 1e12) == 0.5);
    struct efficiency_device device = {.efficiency = &table, .peak = 1e12, .wide_peak = 5e11, .bandwidth = 1e9};
    struct transformer_operator matrix = {"", true, false, false, false, 1e8, 1e3},
                                vector = {"", false, false, false, false, 0, 1e6};
    struct transformer_operator wide = {"", true, false, false, true, 1e8, 1e3};
    expect(efficiency_operator_time(&device, &matrix), 1e-6 + 1e8 / 0.5e12, "computing");
    expect(efficiency_operator_time(&device, &wide), 1e-6 + 1e8 / 0.25e12, "in 16 bits where others are in fp8");
    expect(efficiency_operator_time(&device, &vector), 1e-6 + 1e6 / 0.8e9, "moving");
    device.held = 0.8;
    expect(efficiency_operator_time(&device, &matrix), 1e-6 + 1e8 / 0.4e12, "computing at the clock that is held");
    expect(efficiency_operator_time(&device, &vector), 1e-6 + 1e6 / 0.8e9, "moving goes on as before");
    device.clock = 0.5;
    expect(efficiency_operator_time(&device, &matrix), 1e-6 + 1e8 / 0.2e12, "of which a cap leaves half");
    device.held = device.clock = 0;
    struct transformer_operators two = {{matrix, {"", true, false, true, false, 1e8, 1e3}}, 2};
    double weight;
    expect(efficiency_time(&device, &two, 0, &weight), 2e-3, "the host's issue");
    expect(weight, 1e-3, "of it weights");
    expect(efficiency_time(&device, &two, 5e-4, &weight), 1.5e-3, "the host's issue goes on during transfers");
    expect(efficiency_time(&device, &two, 1, &weight), 2 * (1e-6 + 1e8 / 0.5e12),
           "transfers longer than the host's issue");
}

Test(efficiency, classes_of_kernels_take_longer_each_by_itself)
{
    struct efficiency table;
    efficiency_constant(&table, 0.5);
    struct kernel_class_times classes = {{2, 3, 5, 7, 11, 13}, {false}};
    struct efficiency_device device = {
        .efficiency = &table, .peak = 1e12, .wide_peak = 1e12, .bandwidth = 1e9, .classes = &classes};
    const struct {
        struct transformer_operator operator;
        double times;
    } cases[] = {
        {{.name = "projection", .matrix = true, .flops = 1e9}, 2},
        {{.name = "first matrix", .matrix = true, .flops = 1e9, .shape = {.kind = KERNEL_GROUPED, .groups = 1}}, 3},
        {{.name = "attention", .matrix = true, .flash = true, .flops = 1e9}, 5},
        {{.name = "softmax", .bytes = 1e6}, 5},
        {{.name = "scores", .matrix = true, .flops = 1e9}, 5},
        {{.name = "state-space scan", .matrix = true, .share = 0.5, .flops = 1e9}, 7},
        {{.name = "normalisation", .bytes = 1e6}, 11},
        {{.name = "activation", .bytes = 1e6}, 13},
        {{.name = "optimizer", .bytes = 1e6}, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double alone = cases[i].operator.matrix ? 2e-3 : 1e-3;
        expect(efficiency_operator_time(&device, &cases[i].operator), cases[i].times * alone, cases[i].operator.name);
    }
    for (int class = 0; class < KERNEL_CLASSES; class ++)
        cr_assert(classes.met[class]);
}

Test(efficiency, products_of_8_bits_have_shares_of_their_own_where_the_table_has_them)
{
    static const char *const texts[] = {"what,size,value\nmatrix,1e6,0.5\nmemory,1,1\n",
                                        "what,size,value\nmatrix,1e6,0.5\nmatrix_fp8,1e6,0.2\nmemory,1,1\n"};
    for (int has = 0; has < 2; has++) {
        struct efficiency table;
        struct fault fault = {""};
        const char *path = write_table(texts[has]);
        cr_assert(efficiency_read(path, &table, &fault), "%s", fault.text);
        unlink(path);
        struct transformer_operator narrow = {"", true, false, false, false, 1e8, 0},
                                    wide = {"", true, false, false, true, 1e8, 0};
        for (int fp8 = 0; fp8 < 2; fp8++) {
            struct efficiency_device device = {.efficiency = &table, .peak = 1e12, .wide_peak = 5e11, .fp8 = fp8};
            expect(efficiency_operator_time(&device, &narrow), 1e8 / (has && fp8 ? 0.2e12 : 0.5e12), "of 8 bits");
            expect(efficiency_operator_time(&device, &wide), 1e8 / 0.25e12, "of 16 bits");
        }
    }
}

Test(efficiency, convolutions_have_a_share_of_their_own_where_the_table_has_one)
{
    static const char *const texts[] = {"what,size,value\nmatrix,1e6,0.5\nmemory,1,1\n",
                                        "what,size,value\nmatrix,1e6,0.5\nconvolution,1e6,0.2\nmemory,1,1\n"
                                        "normalisation,,0.25\n"};
    for (int has = 0; has < 2; has++) {
        struct efficiency table;
        struct fault fault = {""};
        const char *path = write_table(texts[has]);
        cr_assert(efficiency_read(path, &table, &fault), "%s", fault.text);
        unlink(path);
        expect(table.normalisation, has ? 0.25 : 1, "what normalisation keeps");
        struct efficiency_device device = {.efficiency = &table, .peak = 1e12};
        struct transformer_operator product = {.matrix = true, .flops = 1e8},
                                    convolution = {.matrix = true, .convolution = true, .flops = 1e8};
        expect(efficiency_operator_time(&device, &product), 1e8 / 0.5e12, "a product");
        expect(efficiency_operator_time(&device, &convolution), 1e8 / (has ? 0.2e12 : 0.5e12), "a convolution");
    }
}

Test(efficiency, mistakes_have_a_line)
{
    static const char *const bad[][2] = {
        {"matrix,1,0.5\n", ":1: expected the header"},
        {"what,size,value\nmatrix,1,1.5\n", ":2: an efficiency is 1.5"},
        {"what,size,value\nmatrix,1,0.5\nmatrix,1,0.6\n", ":3: the size is 1; expected more than 1"},
        {"what,size,value\nmatrices,1,0.5\n", ":2: 'matrices' is not known"},
        {"what,size,value\nmatrix,one,0.5\n", ":2: 'one,0.5' are no numbers"},
        {"what,size,value\nmatrix,1,nan\n", ":2: '1,nan' are no numbers"},
        {"what,size,value\nmatrix,1,0.5\n", "there is no line of 'memory'"},
        {"what,size,value\nlaunch\n", ":2: expected what,size,value"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct efficiency table;
        struct fault fault = {""};
        const char *path = write_table(bad[i][0]);
        cr_assert(!efficiency_read(path, &table, &fault), "accepted: %s", bad[i][0]);
        cr_assert(strstr(fault.text, bad[i][1]), "%s: not in %s", bad[i][1], fault.text);
        unlink(path);
    }
}

Test(profile, times_lie_between_measured_ones)
{
    struct layer_profile profile;
    struct layer_time time;
    struct fault fault = {""};
    const char *path = write_table(
        "kind,micro_batch,forward_s,backward_s,activation_bytes\nlayer,2,1,3,10\nlayer,6,2,5,30\nhead,1,4,4,\n");
    cr_assert(layer_profile_read(path, &profile, &fault), "%s", fault.text);
    unlink(path);
    cr_assert(layer_profile_at(&profile, PROFILE_LAYER, 3, &time, &fault));
    cr_assert(time.forward == 1.25 && time.backward == 3.5 && time.activation == 15);
    cr_assert(layer_profile_at(&profile, PROFILE_HEAD, 1, &time, &fault) && time.forward == 4);
    cr_assert(!layer_profile_at(&profile, PROFILE_LAYER, 7, &time, &fault));
    cr_assert(strstr(fault.text, "for micro-batches of 2 to 6 samples, not of 7"), "%s", fault.text);
}
