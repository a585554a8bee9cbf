/* SPDX-License-Identifier: Apache-2.0 */
/* Algorithms of convolutions: what each multiplies and which memory it takes beside its tensors, by counts (Ben-Nun and
 * Hoefler, arXiv 1802.09941; Winograd's transforms: Lavin and Gray, arXiv 1509.09308), and the choice of one for each
 * layer within a bound on that memory (after Zou et al., arXiv 1709.06622). */
#ifndef STAGESIM_LAYERS_ALGORITHM_H
#define STAGESIM_LAYERS_ALGORITHM_H

#include <stdbool.h>
#include <stdint.h>

enum convolution_algorithm {
    ALGORITHM_DIRECT,
    ALGORITHM_GEMM, /* a product of matrices: of the weights and of all inputs that each output reads */
    ALGORITHM_FFT,
    ALGORITHM_WINOGRAD_2, /* F(2 x 2, 3 x 3) */
    ALGORITHM_WINOGRAD_4, /* F(4 x 4, 3 x 3) */
    ALGORITHMS
};
extern const char *const algorithm_names[ALGORITHMS];

/* Of `samples` images; height and width are those of the input with its padding. */
struct convolution {
    double samples, inputs, outputs; /* channels */
    double height, width;
    double rows, columns; /* of the output */
    double kernel_height, kernel_width;
    bool strided; /* a stride other than 1 */
};

struct algorithm_work {
    bool possible;
    bool matrix; /* products of matrices, which matrix units can take */
    double multiplications;
    double flops;     /* twice the multiplications; with transforms as these are counted, and complex products */
    double workspace; /* numbers beside input, weights and output */
};

struct algorithm_work algorithm_work_of(const struct convolution *convolution, enum convolution_algorithm algorithm);

/* What a layer takes with an algorithm, seconds and bytes; not possible: it cannot have it. */
struct algorithm_option {
    bool possible;
    double seconds, workspace;
};

/* For each layer the fastest algorithm whose workspace is within the bound; of equals the one with less workspace, then
 * the first. Layers use the same memory one after the other. Each layer has one that takes no workspace. */
void algorithm_choose_each(const struct algorithm_option (*options)[ALGORITHMS], uint32_t count, double bound,
                           unsigned *choice);
/* The least sum of seconds whose sum of workspaces is within the bound: every layer has memory of its own. Exact. False
 * where there are more than ALGORITHM_SUMS_MAX sums worth keeping. */
enum { ALGORITHM_SUMS_MAX = 1 << 20 };
bool algorithm_choose_together(const struct algorithm_option (*options)[ALGORITHMS], uint32_t count, double bound,
                               unsigned *choice);

#endif
