/* SPDX-License-Identifier: Apache-2.0 */
/* Algorithms of convolutions: counts worked out by hand or one by one, and choices against all that there are. */
#include "workloads/layers/algorithm.h"

#include <criterion/criterion.h>
#include <math.h>

static void near(double value, double expected)
{
    cr_assert_float_eq(value, expected, 1e-9 * fmax(1, fabs(expected)), "%.17g, expected %.17g", value, expected);
}

/* A convolution of stride 1 whose output is as large as its input. */
static struct convolution same(double samples, double inputs, double outputs, double size, double kernel)
{
    return (struct convolution){.samples = samples,
                                .inputs = inputs,
                                .outputs = outputs,
                                .height = size + kernel - 1,
                                .width = size + kernel - 1,
                                .rows = size,
                                .columns = size,
                                .kernel_height = kernel,
                                .kernel_width = kernel};
}

Test(algorithm, counts_of_one_tile)
{
    struct convolution c = same(1, 1, 1, 4, 3);
    near(algorithm_work_of(&c, ALGORITHM_DIRECT).multiplications, 16 * 9);
    near(algorithm_work_of(&c, ALGORITHM_DIRECT).workspace, 0);
    near(algorithm_work_of(&c, ALGORITHM_GEMM).multiplications, 16 * 9);
    near(algorithm_work_of(&c, ALGORITHM_GEMM).workspace, 16 * 9);
    /* Four tiles of 4 x 4 and one of 6 x 6: 2.25 and 4 times fewer. */
    near(algorithm_work_of(&c, ALGORITHM_WINOGRAD_2).multiplications, 144 / 2.25);
    near(algorithm_work_of(&c, ALGORITHM_WINOGRAD_4).multiplications, 144 / 4.0);
    near(algorithm_work_of(&c, ALGORITHM_WINOGRAD_2).workspace, 2 * 16 * 16 / 4.0);
    near(algorithm_work_of(&c, ALGORITHM_WINOGRAD_4).workspace, 2 * 16 * 36 / 16.0);
    near(algorithm_work_of(&c, ALGORITHM_WINOGRAD_2).flops, 2 * 64 + 4 * (32 + 24) + 28);
    near(algorithm_work_of(&c, ALGORITHM_WINOGRAD_4).flops, 2 * 36 + (156 + 90) + 72);
    /* 36 points: three planes are transformed, 36 products. */
    near(algorithm_work_of(&c, ALGORITHM_FFT).multiplications, 1.25 * 36 * log2(36) * 3 + 36);
    near(algorithm_work_of(&c, ALGORITHM_FFT).workspace, 3 * 36);
    near(algorithm_work_of(&c, ALGORITHM_FFT).flops, 2.5 * 36 * log2(36) * 3 + 4 * 36);
}

/* Products of numbers, each counted: tiles reach beyond the output where it is no multiple of them. */
Test(algorithm, counts_one_by_one)
{
    for (unsigned size = 1; size <= 9; size++) {
        struct convolution c = same(2, 3, 5, size, 3);
        unsigned plain = 0, tiled[2] = {0, 0};
        for (unsigned k = 0; k < 2 * 3 * 5; k++) {
            for (unsigned y = 0; y < size; y++)
                for (unsigned x = 0; x < size; x++)
                    plain += 9;
            for (unsigned w = 0; w < 2; w++)
                for (unsigned y = 0, m = 2 + 2 * w; y < size; y += m)
                    for (unsigned x = 0; x < size; x += m)
                        tiled[w] += (m + 2) * (m + 2);
        }
        near(algorithm_work_of(&c, ALGORITHM_DIRECT).multiplications, plain);
        near(algorithm_work_of(&c, ALGORITHM_WINOGRAD_2).multiplications, tiled[0]);
        near(algorithm_work_of(&c, ALGORITHM_WINOGRAD_4).multiplications, tiled[1]);
    }
}

Test(algorithm, winograd_is_for_small_kernels_without_stride)
{
    struct convolution c = same(1, 1, 1, 8, 3);
    cr_assert(algorithm_work_of(&c, ALGORITHM_WINOGRAD_4).possible &&
              !algorithm_work_of(&c, ALGORITHM_WINOGRAD_4).matrix);
    c.strided = true;
    cr_assert(!algorithm_work_of(&c, ALGORITHM_WINOGRAD_2).possible);
    cr_assert(algorithm_work_of(&c, ALGORITHM_FFT).possible && algorithm_work_of(&c, ALGORITHM_GEMM).matrix);
    c = same(1, 1, 1, 8, 5);
    cr_assert(!algorithm_work_of(&c, ALGORITHM_WINOGRAD_2).possible);
}

/* ---- choices ---- */

enum { LAYERS = 5, CASES = 400 };

static unsigned long long state = 1;

/* A whole number below `most`. */
static unsigned draw(unsigned most)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) % most;
}

static void draw_options(struct algorithm_option (*options)[ALGORITHMS])
{
    for (int layer = 0; layer < LAYERS; layer++)
        for (int k = 0; k < ALGORITHMS; k++)
            options[layer][k] = (struct algorithm_option){.possible = k == ALGORITHM_DIRECT || draw(4) > 0,
                                                          .seconds = 1 + draw(20),
                                                          .workspace = k == ALGORITHM_DIRECT ? 0 : draw(30)};
}

/* Seconds of a choice; infinite where it is not allowed. */
static double seconds_of(const struct algorithm_option (*options)[ALGORITHMS], const unsigned *choice, double bound,
                         bool together)
{
    double seconds = 0, sum = 0;
    for (int layer = 0; layer < LAYERS; layer++) {
        const struct algorithm_option *option = &options[layer][choice[layer]];
        seconds += option->seconds;
        sum = together ? sum + option->workspace : fmax(sum, option->workspace);
        if (!option->possible)
            return INFINITY;
    }
    return sum <= bound ? seconds : INFINITY;
}

static double best_of_all(const struct algorithm_option (*options)[ALGORITHMS], double bound, bool together)
{
    unsigned choice[LAYERS], all = (unsigned)pow(ALGORITHMS, LAYERS);
    double best = INFINITY;
    for (unsigned number = 0; number < all; number++) {
        for (unsigned layer = 0, rest = number; layer < LAYERS; layer++, rest /= ALGORITHMS)
            choice[layer] = rest % ALGORITHMS;
        best = fmin(best, seconds_of(options, choice, bound, together));
    }
    return best;
}

Test(algorithm, choices_are_the_best_of_all)
{
    struct algorithm_option drawn[LAYERS][ALGORITHMS];
    const struct algorithm_option(*options)[ALGORITHMS] = (const struct algorithm_option(*)[ALGORITHMS])drawn;
    unsigned choice[LAYERS], differing = 0;
    for (int i = 0; i < CASES; i++) {
        draw_options(drawn);
        double bound = draw(60);
        cr_assert(algorithm_choose_together(options, LAYERS, bound, choice));
        double together = seconds_of(options, choice, bound, true);
        near(together, best_of_all(options, bound, true));
        algorithm_choose_each(options, LAYERS, bound, choice);
        double each = seconds_of(options, choice, bound, false);
        near(each, best_of_all(options, bound, false));
        differing += each < together;
    }
    cr_assert(differing > CASES / 4, "bounds are seldom met: %u", differing);
}

/* What a layer saves is what it takes: each of 2^40 sums is worth keeping. */
Test(algorithm, too_many_sums_are_refused)
{
    enum { MANY = 40 };
    struct algorithm_option options[MANY][ALGORITHMS] = {{{0}}};
    unsigned choice[MANY];
    for (int layer = 0; layer < MANY; layer++)
        for (int k = 0; k < 2; k++)
            options[layer][k] =
                (struct algorithm_option){true, ldexp(1, MANY) - k * ldexp(1, layer), k * ldexp(1, layer)};
    cr_assert(
        !algorithm_choose_together((const struct algorithm_option(*)[ALGORITHMS])options, MANY, INFINITY, choice));
}
