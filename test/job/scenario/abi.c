/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of plug-ins is what it was when its number was made: members stay where they are, structs without a
 * size do not grow, enumerations keep their values; and structs of older layouts are read as far as they go. A table
 * here only ever gets new lines, unless STAGESIM_WORKLOAD_ABI changes. Offsets are those of 64-bit systems. */
#include "job/scenario/abi.h"

#include <criterion/criterion.h>
#include <string.h>

#define MEMBER(of, member, at)                                                                                         \
    {                                                                                                                  \
#of "." #member, offsetof(struct of, member), at                                                               \
    }

struct expected {
    const char *name;
    size_t value, expected;
};

static const struct expected members[] = {
    MEMBER(stagesim_list, count, 0),
    MEMBER(stagesim_list, values, 8),
    MEMBER(stagesim_texts, count, 0),
    MEMBER(stagesim_texts, texts, 8),
    MEMBER(stagesim_amount, elements, 0),
    MEMBER(stagesim_amount, bytes, 8),
    MEMBER(stagesim_amount, given, 16),
    MEMBER(stagesim_rows, count, 0),
    MEMBER(stagesim_rows, rows, 8),
    MEMBER(stagesim_row_type, what, 0),
    MEMBER(stagesim_row_type, fields, 8),
    MEMBER(stagesim_row_type, size, 16),
    MEMBER(stagesim_row_type, defaults, 24),
    MEMBER(stagesim_field, key, 0),
    MEMBER(stagesim_field, type, 8),
    MEMBER(stagesim_field, offset, 16),
    MEMBER(stagesim_field, required, 24),
    MEMBER(stagesim_field, least, 32),
    MEMBER(stagesim_field, most, 40),
    MEMBER(stagesim_field, names, 48),
    MEMBER(stagesim_field, doc, 56),
    MEMBER(stagesim_field, rows, 64),
    MEMBER(stagesim_need, key, 0),
    MEMBER(stagesim_need, needs, 8),
    MEMBER(stagesim_need, note, 16),
    MEMBER(stagesim_identity, kind, 0),
    MEMBER(stagesim_identity, stage, 4),
    MEMBER(stagesim_identity, micro_batch, 8),
    MEMBER(stagesim_identity, pipeline, 12),
    MEMBER(stagesim_identity, part, 16),
    MEMBER(stagesim_identity, layer, 20),
    MEMBER(stagesim_identity, iteration, 24),
    MEMBER(stagesim_cost, seconds, 0),
    MEMBER(stagesim_cost, flops, 8),
    MEMBER(stagesim_cost, bytes, 16),
    MEMBER(stagesim_cost, memory, 24),
    MEMBER(stagesim_cost, stash, 32),
    MEMBER(stagesim_cost, repeats, 40),
    MEMBER(stagesim_static_memory, parameters, 0),
    MEMBER(stagesim_static_memory, gradients, 8),
    MEMBER(stagesim_static_memory, optimizer, 16),
    MEMBER(stagesim_static_memory, buffers, 24),
    MEMBER(stagesim_device, model, 0),
    MEMBER(stagesim_device, speed, 8),
    MEMBER(stagesim_device, peak, 16),
    MEMBER(stagesim_device, memory, 56),
    MEMBER(stagesim_device, memory_bandwidth, 64),
    MEMBER(stagesim_figures, size, 0),
    MEMBER(stagesim_figures, sequence_length, 8),
    MEMBER(stagesim_figures, model_flops, 16),
    MEMBER(stagesim_figures, hardware_flops, 24),
    MEMBER(stagesim_figures, peak_flops, 32),
    MEMBER(stagesim_figures, tokens, 40),
    MEMBER(stagesim_figures, price, 48),
    MEMBER(stagesim_figures, bounds_known, 56),
    MEMBER(stagesim_figures, memory_bound, 64),
    MEMBER(stagesim_figures, pipeline_layout, 72),
    MEMBER(stagesim_figures, kernels, 80),
    MEMBER(stagesim_figures, kernels_outside, 84),
    MEMBER(stagesim_figures, choices, 88),
    MEMBER(stagesim_figures, tower_seconds, 96),
    MEMBER(stagesim_figures, tower_most, 104),
    MEMBER(stagesim_exchange, collective, 0),
    MEMBER(stagesim_exchange, kind, 4),
    MEMBER(stagesim_exchange, moment, 8),
    MEMBER(stagesim_exchange, axes, 16),
    MEMBER(stagesim_exchange, bytes, 24),
    MEMBER(stagesim_exchange, buffers, 32),
    MEMBER(stagesim_exchange, hidden, 40),
    MEMBER(stagesim_exchanges, items, 0),
    MEMBER(stagesim_part, layer, 0),
    MEMBER(stagesim_part, forward, 8),
    MEMBER(stagesim_part, backward, 16),
    MEMBER(stagesim_part, weight, 24),
    MEMBER(stagesim_part, forward_flops, 32),
    MEMBER(stagesim_part, backward_flops, 40),
    MEMBER(stagesim_part, weight_flops, 48),
    MEMBER(stagesim_part, gradient, 56),
    MEMBER(stagesim_part, expert_gradient, 64),
    MEMBER(stagesim_part, forward_exchanges, 72),
    MEMBER(stagesim_part, backward_exchanges, 648),
    MEMBER(stagesim_part, apart, 1224),
    MEMBER(stagesim_part, varies, 1232),
    MEMBER(stagesim_part, factors, 1240),
    MEMBER(stagesim_pipeline, size, 0),
    MEMBER(stagesim_pipeline, stages, 8),
    MEMBER(stagesim_pipeline, forward, 16),
    MEMBER(stagesim_pipeline, backward, 24),
    MEMBER(stagesim_pipeline, weight, 32),
    MEMBER(stagesim_pipeline, block, 40),
    MEMBER(stagesim_pipeline, optimizer, 48),
    MEMBER(stagesim_pipeline, forward_flops, 56),
    MEMBER(stagesim_pipeline, backward_flops, 64),
    MEMBER(stagesim_pipeline, weight_flops, 72),
    MEMBER(stagesim_pipeline, message, 80),
    MEMBER(stagesim_pipeline, gradient, 88),
    MEMBER(stagesim_pipeline, activation, 96),
    MEMBER(stagesim_pipeline, weight_activation, 104),
    MEMBER(stagesim_pipeline, parameter, 112),
    MEMBER(stagesim_pipeline, optimizer_state, 120),
    MEMBER(stagesim_pipeline, parts, 128),
    MEMBER(stagesim_pipeline, part_counts, 136),
    MEMBER(stagesim_pipeline, fine, 144),
    MEMBER(stagesim_pipeline, late_sync, 145),
    MEMBER(stagesim_pipeline, bucket, 152),
    MEMBER(stagesim_pipeline, sharding, 160),
    MEMBER(stagesim_pipeline, keep_gathered, 164),
    MEMBER(stagesim_pipeline, gathered, 168),
    MEMBER(stagesim_pipeline, gradient_memory, 176),
    MEMBER(stagesim_pipeline, buffers, 184),
    MEMBER(stagesim_pipeline, sync_axes, 192),
    MEMBER(stagesim_pipeline, shard_axes, 200),
    MEMBER(stagesim_pipeline, expert_gradient, 208),
    MEMBER(stagesim_pipeline, expert_gathered, 216),
    MEMBER(stagesim_pipeline, expert_axes, 224),
    MEMBER(stagesim_pipeline, late_gather, 232),
    MEMBER(stagesim_pipeline, blocking_scatter, 233),
    MEMBER(stagesim_pipeline, late_replicas, 234),
    MEMBER(stagesim_pipeline, attention, 240),
    MEMBER(stagesim_pipeline, attention_backward, 248),
    MEMBER(stagesim_pipeline, keys_values, 256),
    MEMBER(stagesim_pipeline, slice_grain, 264),
    MEMBER(stagesim_pipeline, checkpoint, 272),
    MEMBER(stagesim_pipeline, gathers_ahead, 280),
    MEMBER(stagesim_pipeline, gather_bucket, 288),
    MEMBER(stagesim_pipeline, gather_pieces, 296),
    MEMBER(stagesim_pipeline, tied_gradient, 304),
    MEMBER(stagesim_pipeline, owned, 312),
    MEMBER(stagesim_pipeline, owned_counts, 320),
    MEMBER(stagesim_pipeline, factor_sets, 328),
    MEMBER(stagesim_pipeline, unsliced, 332),
    MEMBER(stagesim_pipeline, outer_axes, 336),
    MEMBER(stagesim_pipeline, outer_interval, 344),
    MEMBER(stagesim_pipeline, outer_delay, 348),
    MEMBER(stagesim_pipeline, outer_bytes, 352),
    MEMBER(stagesim_pipeline, outer_before, 360),
    MEMBER(stagesim_pipeline, outer_after, 368),
    MEMBER(stagesim_pipeline, outer_gathered, 376),
    MEMBER(stagesim_pipeline, outer_expert_gathered, 384),
    MEMBER(stagesim_pipeline, first_expert_axes, 392),
    MEMBER(stagesim_pipeline, gradient_message, 400),
    MEMBER(stagesim_pace, size, 0),
    MEMBER(stagesim_pace, period, 8),
    MEMBER(stagesim_pace, overlapping, 12),
    MEMBER(stagesim_pace, independent, 13),
    MEMBER(stagesim_api, abi, 0),
    MEMBER(stagesim_api, size, 8),
    MEMBER(stagesim_api, workers, 16),
    MEMBER(stagesim_api, stages, 24),
    MEMBER(stagesim_api, micro_batches, 32),
    MEMBER(stagesim_api, iterations, 40),
    MEMBER(stagesim_api, positions, 48),
    MEMBER(stagesim_api, axis, 56),
    MEMBER(stagesim_api, host_speed, 64),
    MEMBER(stagesim_api, error, 72),
    MEMBER(stagesim_api, cost, 80),
    MEMBER(stagesim_api, group, 88),
    MEMBER(stagesim_api, compute, 96),
    MEMBER(stagesim_api, delay, 104),
    MEMBER(stagesim_api, message, 112),
    MEMBER(stagesim_api, collective, 120),
    MEMBER(stagesim_api, wait, 128),
    MEMBER(stagesim_api, static_memory, 136),
    MEMBER(stagesim_api, pipeline, 144),
    MEMBER(stagesim_api, device, 152),
    MEMBER(stagesim_api, micro_batch_size, 160),
    MEMBER(stagesim_api, recompute, 168),
    MEMBER(stagesim_api, efficiency_table, 176),
    MEMBER(stagesim_api, declare, 184),
    MEMBER(stagesim_api, varying_cost, 192),
    MEMBER(stagesim_api, cut, 200),
    MEMBER(stagesim_api, scheduled, 208),
    MEMBER(stagesim_api, pace, 216),
    MEMBER(stagesim_api, collective_seconds, 224),
    MEMBER(stagesim_api, stage_workers, 232),
    MEMBER(stagesim_api, trouble, 240),
    MEMBER(stagesim_api, recomputed, 248),
    MEMBER(stagesim_api, recompute_of, 256),
    MEMBER(stagesim_api, clock, 264),
    MEMBER(stagesim_api, pairs_cost, 272),
    MEMBER(stagesim_api, note, 280),
    MEMBER(stagesim_api, weights_travel, 288),
    MEMBER(stagesim_api, narrow_peak, 296),
    MEMBER(stagesim_api, order, 304),
    MEMBER(stagesim_api, worker_of, 312),
    MEMBER(stagesim_slot, kind, 0),
    MEMBER(stagesim_slot, stage, 4),
    MEMBER(stagesim_slot, micro_batch, 8),
    MEMBER(stagesim_slot, iteration, 12),
    MEMBER(stagesim_slot, split, 16),
    MEMBER(stagesim_shape, distinct, 0),
    MEMBER(stagesim_shape, extra, 4),
    MEMBER(stagesim_workload, abi, 0),
    MEMBER(stagesim_workload, size, 8),
    MEMBER(stagesim_workload, name, 16),
    MEMBER(stagesim_workload, summary, 24),
    MEMBER(stagesim_workload, fields, 32),
    MEMBER(stagesim_workload, parameters_size, 40),
    MEMBER(stagesim_workload, defaults, 48),
    MEMBER(stagesim_workload, check, 56),
    MEMBER(stagesim_workload, build, 64),
    MEMBER(stagesim_workload, shape, 72),
    MEMBER(stagesim_workload, needs, 80),
};

/* Structs that have no `size`. */
static const struct expected sizes[] = {
    {"stagesim_list", sizeof(struct stagesim_list), 16},
    {"stagesim_texts", sizeof(struct stagesim_texts), 16},
    {"stagesim_amount", sizeof(struct stagesim_amount), 24},
    {"stagesim_rows", sizeof(struct stagesim_rows), 16},
    {"stagesim_row_type", sizeof(struct stagesim_row_type), 32},
    {"stagesim_field", sizeof(struct stagesim_field), 72},
    {"stagesim_identity", sizeof(struct stagesim_identity), 28},
    {"stagesim_cost", sizeof(struct stagesim_cost), 48},
    {"stagesim_static_memory", sizeof(struct stagesim_static_memory), 32},
    {"stagesim_device", sizeof(struct stagesim_device), 72},
    {"stagesim_exchange", sizeof(struct stagesim_exchange), 48},
    {"stagesim_exchanges", sizeof(struct stagesim_exchanges), 576},
    {"stagesim_part", sizeof(struct stagesim_part), 1248},
    {"stagesim_shape", sizeof(struct stagesim_shape), 8},
    {"stagesim_need", sizeof(struct stagesim_need), 24},
};

static const struct expected values[] = {
    {"STAGESIM_FIELD_COUNT", STAGESIM_FIELD_COUNT, 0},
    {"STAGESIM_FIELD_RATIO", STAGESIM_FIELD_RATIO, 1},
    {"STAGESIM_FIELD_TIME", STAGESIM_FIELD_TIME, 2},
    {"STAGESIM_FIELD_BYTES", STAGESIM_FIELD_BYTES, 3},
    {"STAGESIM_FIELD_RATE", STAGESIM_FIELD_RATE, 4},
    {"STAGESIM_FIELD_FLOPS", STAGESIM_FIELD_FLOPS, 5},
    {"STAGESIM_FIELD_FLAG", STAGESIM_FIELD_FLAG, 6},
    {"STAGESIM_FIELD_NAME", STAGESIM_FIELD_NAME, 7},
    {"STAGESIM_FIELD_TEXT", STAGESIM_FIELD_TEXT, 8},
    {"STAGESIM_FIELD_PATH", STAGESIM_FIELD_PATH, 9},
    {"STAGESIM_FIELD_TIMES", STAGESIM_FIELD_TIMES, 10},
    {"STAGESIM_FIELD_BYTES_LIST", STAGESIM_FIELD_BYTES_LIST, 11},
    {"STAGESIM_FIELD_NAMES", STAGESIM_FIELD_NAMES, 12},
    {"STAGESIM_FIELD_COUNTS", STAGESIM_FIELD_COUNTS, 13},
    {"STAGESIM_FIELD_AMOUNT", STAGESIM_FIELD_AMOUNT, 14},
    {"STAGESIM_FIELD_ROWS", STAGESIM_FIELD_ROWS, 15},
    {"STAGESIM_FIELD_TEXTS", STAGESIM_FIELD_TEXTS, 16},
    {"STAGESIM_FIELD_WATTS", STAGESIM_FIELD_WATTS, 17},
    {"STAGESIM_FIELD_RATIOS", STAGESIM_FIELD_RATIOS, 18},
    {"STAGESIM_FIELD_DISTRIBUTION", STAGESIM_FIELD_DISTRIBUTION, 19},
    {"STAGESIM_FIELD_FACTORS", STAGESIM_FIELD_FACTORS, 20},
    {"STAGESIM_FORWARD", STAGESIM_FORWARD, 0},
    {"STAGESIM_BACKWARD", STAGESIM_BACKWARD, 1},
    {"STAGESIM_WEIGHT", STAGESIM_WEIGHT, 2},
    {"STAGESIM_BLOCK", STAGESIM_BLOCK, 3},
    {"STAGESIM_OPTIMIZER", STAGESIM_OPTIMIZER, 4},
    {"STAGESIM_ACTIVATION", STAGESIM_ACTIVATION, 5},
    {"STAGESIM_GRADIENT", STAGESIM_GRADIENT, 6},
    {"STAGESIM_GRADIENT_SYNC", STAGESIM_GRADIENT_SYNC, 7},
    {"STAGESIM_PARAMETER_GATHER", STAGESIM_PARAMETER_GATHER, 8},
    {"STAGESIM_TENSOR", STAGESIM_TENSOR, 9},
    {"STAGESIM_EXCHANGE", STAGESIM_EXCHANGE, 10},
    {"STAGESIM_OTHER", STAGESIM_OTHER, 11},
    {"STAGESIM_CONTEXT", STAGESIM_CONTEXT, 12},
    {"STAGESIM_EXPERT", STAGESIM_EXPERT, 13},
    {"STAGESIM_WEIGHTS", STAGESIM_WEIGHTS, 14},
    {"STAGESIM_SHARE", STAGESIM_SHARE, 15},
    {"STAGESIM_OFFLOAD", STAGESIM_OFFLOAD, 16},
    {"STAGESIM_LOAD", STAGESIM_LOAD, 17},
    {"STAGESIM_INPUT", STAGESIM_INPUT, 18},
    {"STAGESIM_ALL_REDUCE", STAGESIM_ALL_REDUCE, 0},
    {"STAGESIM_REDUCE_SCATTER", STAGESIM_REDUCE_SCATTER, 1},
    {"STAGESIM_ALL_GATHER", STAGESIM_ALL_GATHER, 2},
    {"STAGESIM_ALL_TO_ALL", STAGESIM_ALL_TO_ALL, 3},
    {"STAGESIM_BROADCAST", STAGESIM_BROADCAST, 4},
    {"STAGESIM_REDUCE", STAGESIM_REDUCE, 5},
    {"STAGESIM_BARRIER", STAGESIM_BARRIER, 6},
    {"STAGESIM_SEND_RECEIVE", STAGESIM_SEND_RECEIVE, 7},
    {"STAGESIM_SHARD_NOTHING", STAGESIM_SHARD_NOTHING, 0},
    {"STAGESIM_SHARD_OPTIMIZER", STAGESIM_SHARD_OPTIMIZER, 1},
    {"STAGESIM_SHARD_GRADIENTS", STAGESIM_SHARD_GRADIENTS, 2},
    {"STAGESIM_SHARD_PARAMETERS", STAGESIM_SHARD_PARAMETERS, 3},
    {"STAGESIM_AFTER", STAGESIM_AFTER, 0},
    {"STAGESIM_BEFORE", STAGESIM_BEFORE, 1},
    {"STAGESIM_BESIDE", STAGESIM_BESIDE, 2},
    {"STAGESIM_BESIDE_WEIGHT", STAGESIM_BESIDE_WEIGHT, 3},
};

static void expect_all(const struct expected *rows, size_t count)
{
    for (size_t i = 0; i < count && sizeof(void *) == 8; i++)
        cr_assert_eq(rows[i].value, rows[i].expected, "%s is %zu, not %zu: a change that needs another ABI number",
                     rows[i].name, rows[i].value, rows[i].expected);
}

Test(abi, layouts_are_those_of_its_number)
{
    cr_assert_eq(STAGESIM_WORKLOAD_ABI, 3, "another number begins with tables of its own");
    expect_all(members, sizeof members / sizeof *members);
    expect_all(sizes, sizeof sizes / sizeof *sizes);
    expect_all(values, sizeof values / sizeof *values);
}

Test(abi, todays_size_is_known)
{
    static const size_t today[ABI_STRUCTS] = {sizeof(struct stagesim_workload), sizeof(struct stagesim_figures),
                                              sizeof(struct stagesim_pipeline), sizeof(struct stagesim_pace)};
    for (int which = 0; which < ABI_STRUCTS; which++)
        cr_assert_eq(abi_size((enum abi_struct)which), today[which], "struct %d has no entry of its size", which);
}

Test(abi, an_older_layout_is_read_as_far_as_it_goes)
{
    struct fault fault = {""};
    struct stagesim_figures ours;
    memset(&ours, 0xff, sizeof ours);
    struct stagesim_figures theirs = {
        .size = offsetof(struct stagesim_figures, bounds_known), .price = 2.5, .bounds_known = true, .memory_bound = 7};
    cr_assert(abi_read(ABI_FIGURES, &theirs, theirs.size, &ours, &fault), "%s", fault.text);
    cr_assert(ours.price == 2.5 && !ours.bounds_known && ours.memory_bound == 0);
    cr_assert(abi_read(ABI_FIGURES, &theirs, sizeof theirs, &ours, &fault), "%s", fault.text);
    cr_assert(ours.bounds_known && ours.memory_bound == 7);
}

Test(abi, other_sizes_are_refused)
{
    struct stagesim_pipeline theirs = {0}, ours = {.stages = 77};
    for (size_t size = 0; size <= 2 * sizeof theirs; size++) {
        struct fault fault = {""};
        bool known = size == offsetof(struct stagesim_pipeline, sync_axes) ||
                     size == offsetof(struct stagesim_pipeline, attention) ||
                     size == offsetof(struct stagesim_pipeline, gathers_ahead) ||
                     size == offsetof(struct stagesim_pipeline, tied_gradient) ||
                     size == offsetof(struct stagesim_pipeline, owned) ||
                     size == offsetof(struct stagesim_pipeline, outer_axes) ||
                     size == offsetof(struct stagesim_pipeline, first_expert_axes) ||
                     size == offsetof(struct stagesim_pipeline, gradient_message) || size == sizeof theirs;
        if (known)
            continue;
        cr_assert(!abi_read(ABI_PIPELINE, &theirs, size, &ours, &fault), "%zu bytes were taken", size);
        cr_assert(strstr(fault.text, size > sizeof theirs ? "use a newer stagesim" : "no version had"), "%s",
                  fault.text);
        cr_assert_eq(ours.stages, 77);
    }
}
