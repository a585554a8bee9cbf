/* SPDX-License-Identifier: Apache-2.0 */
/* Logs of each format, typed from public threads (sources.md), against the figures that stand in them; what is left
 * out; and lines that are refused with their place. */
#include "frameworks/logs/training_log.h"

#include "base/arena.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct arena *arena;

static void setup(void)
{
    arena = arena_create();
}

static void teardown(void)
{
    arena_destroy(arena);
}

TestSuite(logs, .init = setup, .fini = teardown);

static void near(double got, double expected, const char *what)
{
    cr_assert(fabs(got - expected) <= 1e-9 * fabs(expected), "%s: %.17g, expected %.17g", what, got, expected);
}

/* What is reported of a text; "" where it is read. */
static const char *complaint(const char *text, struct training_log **log)
{
    char *told = NULL;
    size_t size = 0;
    struct diag diag = {.out = open_memstream(&told, &size)};
    struct training_log *read = training_log_parse("run.log", text, strlen(text), arena, &diag);
    fclose(diag.out);
    const char *kept = arena_copy(arena, told);
    free(told);
    cr_assert(!read == (diag.errors > 0));
    if (log)
        *log = read;
    return kept;
}

Test(logs, of_public_threads)
{
    static const struct {
        const char *file, *format;
        enum log_measure measure;
        size_t kept, others;
        double mean, gibibytes;
        const char *date;
    } rows[] = {
        {"megatron-llama2-70b.log", "Megatron-LM", LOG_SECONDS, 4, 0, (86.5452 + 87.8716 + 89.4748 + 89.0752) / 4, 0,
         ""},
        {"torchtitan-llama3-8b.log", "torchtitan", LOG_TOKENS_PER_S_PER_GPU, 6, 0,
         (5856 + 5593 + 5868 + 5869 + 5864 + 5862) / 6.0, 49.66, "2025-06-16"},
        {"torchtitan-experts.log", "torchtitan", LOG_TOKENS_PER_S_PER_GPU, 3, 0, (10050 + 10049 + 10007) / 3.0, 66.91,
         "2026-02-24"},
        {"nemo2-esm2.log", "NeMo", LOG_SECONDS, 4, 0, (0.03146 + 0.03163 + 0.03215 + 0.03157) / 4, 0, ""},
        {"deepspeed-0.7.7.log", "DeepSpeed", LOG_SAMPLES_PER_S, 5, 0,
         (159.628891629629 + 145.0889530760849 + 157.80592669930536 + 155.10475468488542 + 155.01088859630886) / 5,
         2.62, "2022-12-20"},
        {"deepspeed-0.5.log", "DeepSpeed", LOG_SAMPLES_PER_S, 2, 0, (83.48609168106144 + 83.73838805358588) / 2, 9.02,
         "2022-03-11"},
        {"deepspeed-pipeline.log", "DeepSpeed", LOG_SAMPLES_PER_S, 1, 0, 257.601, 0, "2022-08-25"},
        {"deepspeed-breakdown.log", "DeepSpeed (wall_clock_breakdown)", LOG_SECONDS, 1, 0,
         (435.67 + 744.11 + 0.98) / 1e3, 0, "2021-10-08"},
        {"megatron-argonne.log", "Megatron-LM", LOG_SECONDS, 2, 1, (7.1365 + 7.1470) / 2, 9752.35498046875 / 1024,
         "2024-09-16"},
        {"trainer-2080.log", "Hugging Face Trainer", LOG_SECONDS, 3, 0, (5.01 + 5.97 + 9.33) / 3, 0, "2021-06-05"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct diag diag = {.out = stderr};
        const struct training_log *log =
            training_log_read(arena_print(arena, SOURCE "/test/frameworks/logs/%s", rows[i].file), arena, &diag);
        cr_assert(log, "%s", rows[i].file);
        cr_assert_str_eq(log->format, rows[i].format);
        cr_assert(log->measure == rows[i].measure && log->counts[LOG_KEPT] == rows[i].kept &&
                      log->count == rows[i].kept + rows[i].others,
                  "%s: %zu of %zu", rows[i].file, log->counts[LOG_KEPT], log->count);
        near(log->mean, rows[i].mean, rows[i].file);
        cr_assert(fabs(log->bytes.value / 1073741824 - rows[i].gibibytes) < 1e-9);
        cr_assert_str_eq(log->date, rows[i].date);
    }
}

Test(logs, timers_say_what_is_beside_them)
{
    struct diag diag = {.out = stderr};
    const struct training_log *log =
        training_log_read(SOURCE "/test/frameworks/logs/megatron-argonne.log", arena, &diag);
    cr_assert(log);
    near(log->outside, ((7136.5 - 7079.28 - 43.08) + (7147.0 - 7092.56 - 40.11)) / 2e3,
         "seconds of the steps that count");
    struct training_log *other;
    static const char step[] = " iteration 1/ 9 | elapsed time per iteration (ms): 1000.0 |\n";
    cr_assert_str_empty(complaint(arena_print(arena,
                                              "%smax time across ranks (ms):\n    forward-backward ....: 900.00\n"
                                              "    optimizer ......: 60.00\n    optimizer-inner-step ....: 7.00\n",
                                              step),
                                  &other));
    near(other->outside, 0.04, "of the slowest rank alone");
    cr_assert_str_empty(complaint(arena_print(arena, "%s    forward-backward ....: (1.00, 900.00)\n", step), &other));
    cr_assert(other->outside == 0, "one timer alone says nothing");
    static const char both[] = "    forward-backward ....: (1.00, %s)\n    optimizer ....: (1.00, 60.00)\n";
    cr_assert_str_empty(complaint(
        arena_print(arena, "%s%s    grads-all-reduce ....: (1.00, 9.00)\n", step, arena_print(arena, both, "900.00")),
        &other));
    cr_assert(other->outside == 0, "gradients were synchronised outside of both");
    cr_assert_str_empty(complaint(arena_print(arena, "%s%s%s%s", step, arena_print(arena, both, "900.00"), step,
                                              arena_print(arena, both, "960.00")),
                                  &other));
    near(other->outside, (0.04 - 0.02) / 2, "a step whose ranks' slowest add up to more than it takes counts, too");
    cr_assert(
        strstr(complaint(arena_print(arena, "%s    optimizer ....: (1.00, x)\n", step), NULL), "'x' is no number"));
}

Test(logs, mlperf_counts_tokens_of_gpt3)
{
    static const char tracked[] =
        "0: :::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"throughput\": 5154997.267404211}, \"metadata\": {}}\n";
    struct training_log *log;
    cr_assert_str_empty(complaint(tracked, &log));
    near(log->mean, 5154997.267404211, "another benchmark");
    cr_assert_str_empty(complaint(
        arena_print(arena, ":::MLLOG {\"key\": \"submission_benchmark\", \"value\": \"gpt3\"}\n%s", tracked), &log));
    near(log->mean, 5154997.267404211 / 2048, "gpt3");
    cr_assert(fabs(2688 / log->mean - 1.07) < 0.005, "an iteration of 2,688 samples, as published");
}

Test(logs, steps_that_do_not_count_are_told_apart)
{
    struct training_log *log;
    const char *text =
        "using world size: 64, data-parallel size: 4, context-parallel size: 1, tensor-model-parallel size: 8, "
        "pipeline-model-parallel size: 2\n"
        "  micro_batch_size ................................ 1\n"
        "  seq_length ...................................... 4096\n"
        "NVIDIA A100-SXM4-80GB\n"
        " [2026-11-20 10:00:00] iteration 1/ 9 | elapsed time per iteration (ms): 20000.0 | global batch size: 128 |\n"
        " [2026-11-20 10:00:20] iteration 2/ 9 | elapsed time per iteration (ms): 30000.0 | global batch size: 256 |\n"
        " [2026-11-20 10:00:20] iteration 3/ 9 | elapsed time per iteration (ms): 10000.0 | global batch size: 256 |\n"
        "[Rank 0] (after 3 iterations) memory (MB) | allocated: 100.0 | max allocated: 2048.0 | reserved: 4000.0\n"
        " [2026-11-20 10:00:20] iteration 4/ 9 | elapsed time per iteration (ms): 10100.0 | global batch size: 256 |\n"
        "saving checkpoint at iteration       4 to /secret/place\n"
        " [2026-11-20 10:00:20] iteration 5/ 9 | elapsed time per iteration (ms): 10050.0 | global batch size: 256 |\n"
        " validation loss at iteration 5 | lm loss value: 2.0\n"
        " [2026-11-20 10:00:20] iteration 6/ 9 | elapsed time per iteration (ms): 10070.0 | global batch size: 256 |\n"
        " [2026-11-20 10:00:20] iteration 7/ 9 | elapsed time per iteration (ms): 15000.0 | global batch size: 256 |\n"
        " [2026-11-20 10:00:20] iteration 8/ 9 | elapsed time per iteration (ms): 9900.0 | global batch size: 256 |\n";
    cr_assert_str_empty(complaint(text, &log));
    static const size_t expected[LOG_SORTS] = {3, 1, 1, 1, 1, 1};
    for (int sort = 0; sort < LOG_SORTS; sort++)
        cr_assert(log->counts[sort] == expected[sort], "%s: %zu", log_sort_names[sort], log->counts[sort]);
    near(log->mean, 10, "mean of the steps that count");
    near(log->spread, 0.1, "their spread");
    cr_assert(log->first_line == 7 && log->last_line == 15, "%u to %u", log->first_line, log->last_line);
    static const double facts[LOG_FACTS] = {64, 8, 2, 1, 0, 4, 1, 0, 4096};
    for (int fact = 0; fact < LOG_FACTS; fact++)
        cr_assert(log->facts[fact].value == facts[fact], "%s: %g", log_fact_names[fact], log->facts[fact].value);
    cr_assert_str_eq(log->gpu, "A100");
    cr_assert(log->bytes.value == 2048.0 * 1048576 && log->bytes.line == 8);
}

Test(logs, of_other_formats)
{
    struct training_log *log;
    cr_assert_str_empty(complaint("Building 2-D device mesh with ['dp_shard', 'tp'], [4, 2]\n"
                                  "\033[36m[titan]\033[0m step: 10  loss: 9.1  memory: 45.12GiB(47.5%)  tps: 6,123\n",
                                  &log));
    cr_assert(log->mean == 6123 && log->facts[LOG_GPUS].value == 8 && log->facts[LOG_TENSOR].value == 2);
    cr_assert_str_empty(complaint("Epoch 0:   1%| | 1/9 [00:09<01:12, v_num=, train_step_timing in s=9.450]\r"
                                  "Epoch 0:   2%| | 2/9 [00:19<01:12, v_num=, train_step_timing in s=9.550]\n"
                                  "All distributed processes registered. Starting with 64 processes\n",
                                  &log));
    cr_assert_str_eq(log->format, "NeMo");
    near(log->mean, 9.5, "of a progress bar");
    cr_assert(log->facts[LOG_GPUS].value == 64);
    cr_assert_str_empty(
        complaint(":::MLLOG {\"namespace\": \"\", \"key\": \"global_batch_size\", \"value\": 1152, \"metadata\": {}}\n"
                  ":::MLLOG {\"namespace\": \"\", \"key\": \"tracked_stats\", \"value\": {\"throughput\": 37.5}, "
                  "\"metadata\": {}}\n",
                  &log));
    cr_assert(log->measure == LOG_SAMPLES_PER_S && log->mean == 37.5 && log->facts[LOG_GLOBAL_BATCH].value == 1152);
    cr_assert_str_empty(
        complaint("{'train_runtime': 100.0, 'train_samples_per_second': 12.1, 'train_steps_per_second': 0.5}\n", &log));
    cr_assert(log->mean == 2);
    cr_assert_str_empty(
        complaint("iteration 1/ 9 | elapsed time per iteration (s): 93.8 | samples per second: 21.8\n", &log));
    cr_assert(log->mean == 93.8);
}

/* Bars of a log: `count` of them from `first` on, of `total`, each with the rate. */
static const char *bars(const char *before, unsigned first, unsigned count, unsigned total, const char *rate)
{
    const char *text = "";
    for (unsigned i = first; i < first + count; i++)
        text = arena_print(arena, "%s%s%3u%%|##   | %u/%u [00:01<01:00, %s]\r", text, before, 100 * i / total, i, total,
                           rate);
    return arena_print(arena, "%s\n", text);
}

/* Of the bars of a log only those of the training count, however it says which these are, or does not. */
Test(logs, bars_of_the_training_alone)
{
    static const char begun[] = "***** Running training *****\n", total[] = "  Total optimization steps = 1,040\n",
                      evaluation[] = "***** Running Evaluation *****\n", ended[] = "{'eval_runtime': 9.1}\n";
    const char *loading = bars("Loading checkpoint shards: ", 1, 30, 30, "2.00it/s"),
               *same = bars("Loading checkpoint shards: ", 1, 1040, 1040, "2.00it/s"),
               *first = bars("", 1, 20, 1040, "9.00s/it"), *second = bars("[rank0]: ", 21, 20, 1040, "9.00s/it"),
               *others = bars("", 1, 100, 100, "2.00it/s"), *alike = bars("", 1, 1040, 1040, "2.00it/s"),
               *data = "Map: 45%|## | 45.2k/1.20M [00:00<00:01, 1.0k examples/s]\n";
    const char *const texts[] = {
        arena_print(arena, "%s%s%s%s%s%s%s%s%s", data, loading, begun, total, first, evaluation, others, ended, second),
        arena_print(arena, "%s%s%s%s%s%s%s", same, begun, total, first, evaluation, others, second),
        arena_print(arena, "%s%s%s%s%s%s", loading, begun, first, evaluation, others, second),
        arena_print(arena, "%s%s%s%s%s%s%s", loading, begun, total, first, evaluation, alike, second),
        arena_print(arena, "%s%s%s%s%s%s%s", begun, total, first, evaluation, alike, ended, second),
        arena_print(arena, "%s%s%s%s%s", loading, first, others, ended, second),
        arena_print(arena, "%s%s%s%s%s", others, begun, total, first, second),
        arena_print(arena, "%s%s%s%s", begun, total, first, second),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct training_log *log;
        cr_assert_str_empty(complaint(texts[i], &log), "text %zu", i);
        cr_assert_str_eq(log->format, "Hugging Face Trainer", "text %zu", i);
        cr_assert(log->count == 40, "text %zu: %zu steps", i, log->count);
        near(log->mean, 9, "updates of the training");
    }
    struct training_log *log;
    cr_assert_str_empty(complaint(bars("Epoch 1: ", 1, 8, 9, "4.00s/it"), &log));
    cr_assert(log->count == 8 && log->mean == 4);
    cr_assert_str_empty(
        complaint("  5%|# | 1/9 [00:01<01:00, 4.00s/it]\n  5%|# | 1/9 [00:01<01:00, 4.00s/it]\n", &log));
    cr_assert(log->count == 1, "a bar that is drawn again is no further step");
    cr_assert(strstr(complaint(loading, NULL), "no line has the time of a step"));
    cr_assert(strstr(complaint(arena_print(arena, "%s%s%s", begun, total, others), NULL), "no line has the time"));
}

/* What a log says of its job is read as its steps are: whole numbers, with commas between thousands or without. */
Test(logs, facts_are_counts)
{
    static const char step[] = "iteration 1 | elapsed time per iteration (ms): 10.0 | lm loss\n";
    static const char *const lines[][3] = {
        {"using world size: ", ", data-parallel size: 1", "Megatron-LM"},
        {"  world_size ...................... ", "", "Megatron-LM"},
        {"All distributed processes registered. Starting with ", " processes", "NeMo"},
        {"Building 2-D device mesh with ['pp', 'dp'], [", ", 2]", "torchtitan"},
    };
    static const char *const steps[] = {step, step, "train_step_timing in s=9.450\n",
                                        "step: 1  memory: 4GiB  tps: 6,123\n"};
    static const char *const wrong[] = {"1e999", "0x10", "64.5", "1,0", "12abc", "9007199254740993000", "1e999999999"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct training_log *log;
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            const char *told =
                complaint(arena_print(arena, "%s%s%s\n%s", lines[i][0], wrong[k], lines[i][1], steps[i]), NULL);
            cr_assert(strstr(told, "is no number") && strstr(told, "run.log:1:"), "%s, %s: %s", lines[i][0], wrong[k],
                      told);
        }
        const char *count = i == 3 ? "512" : "1,024"; /* a comma of a list is none of a number */
        cr_assert_str_empty(
            complaint(arena_print(arena, "%s%s%s\n%s", lines[i][0], count, lines[i][1], steps[i]), &log));
        cr_assert(log->facts[LOG_GPUS].value == 1024, "%s: %g", lines[i][0], log->facts[LOG_GPUS].value);
        cr_assert_str_eq(log->format, lines[i][2]);
    }
}

Test(logs, mistakes_have_their_place)
{
    static const char *const rows[][2] = {
        {"", "no line has the time of a step"},
        {"hello\n\nworld\n", "no line has the time of a step"},
        {"iteration 1 | elapsed time per iteration (ms): 9012,3 | lm loss\n",
         "run.log:1:48: error: '9012,3' is no number"},
        {"\niteration 1 | elapsed time per iteration (ms): nan | lm loss\n", "run.log:2:48: error: 'nan' is no number"},
        {"iteration 1 | elapsed time per iteration (ms): ", "run.log:1:48: error: the line ends where a number"},
        {"iteration 1 | elapsed time per iteration (ms): 0 | lm loss\n", "run.log:1:1: error: this step takes no time"},
        {"[titan] step: 1  loss: 9.1  memory: 4GiB  tps: 6.123,5\n", "'6.123,5' is no number"},
        {"[titan] step: 1  loss: 9.1  memory: 4GiB  tps: 61,23\n", "'61,23' is no number"},
        {"iteration 1 | elapsed time per iteration (ms): 1e999 |\n", "'1e999' is no number"},
        {"iteration 1 | elapsed time per iteration (ms): 1e200 |\n", "a step of 1e+197; expected 1e-15 to 1e+15"},
        {"[titan] step: 1  loss: 9.1  memory: 4GiB  tps: 1e-200\n", "a step of 1e-200; expected 1e-15 to 1e+15"},
        {"saving checkpoint at iteration 1\niteration 2 | elapsed time per iteration (ms): 10.0 |\n",
         "none of 1 steps counts"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *told = complaint(rows[i][0], NULL);
        cr_assert(strstr(told, rows[i][1]), "row %zu: %s", i, told);
    }
}
