/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of a tensor's indices: which part of a layer's output a rank holds, which part of its input it needs for that,
 * and how much two ranges have in common. */
#ifndef STAGESIM_LAYERS_BOX_H
#define STAGESIM_LAYERS_BOX_H

#include <stdbool.h>
#include <stdint.h>

enum box_dimension { BOX_SAMPLE, BOX_HEIGHT, BOX_WIDTH, BOX_CHANNEL, BOX_DIMENSIONS };

/* Indices from <= i < to. Rows and columns are whole numbers; samples and channels may be cut anywhere. */
struct range {
    double from, to;
};

/* A range along each dimension. Empty if one of them is. */
struct box {
    struct range ranges[BOX_DIMENSIONS];
};

/* What of its input an output index o reads along the height or the width: o stride - padding and the kernel - 1
 * indices behind it, as far as there are any. `whole`: all of it, whatever o. */
struct box_window {
    uint64_t kernel, stride, padding;
    bool whole;
};

/* How many indices; 0 where the range or box is empty. */
double range_length(struct range range);
double box_volume(const struct box *box);
/* What two ranges or boxes have in common, which may be empty. */
struct range range_intersect(struct range a, struct range b);
struct box box_intersect(const struct box *a, const struct box *b);
/* How many indices two boxes have in common. */
double box_common(const struct box *a, const struct box *b);

/* How many outputs a window has along `size` inputs: floor((size + 2 padding - kernel) / stride) + 1; 0 if the kernel
 * is longer than the padded input; 1 where it is whole. */
uint64_t window_outputs(const struct box_window *window, uint64_t size);
/* The inputs, of `size`, that a range of outputs reads: its first window's first one to its last window's last one. */
struct range window_inputs(const struct box_window *window, struct range outputs, uint64_t size);

/* The k-th of `count` parts of a range, in proportion to `shares` (NULL: equal). `whole`: the cuts are rounded to whole
 * indices; those of equal parts are rounded down. */
struct range range_part(struct range range, uint32_t k, uint32_t count, const double *shares, bool whole);

#endif
