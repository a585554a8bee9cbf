/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor parallelism: how ranks share the matrices of a layer, and what they exchange. The keys `tensor_parallel`,
 * documented in doc/tensor-parallel.md.
 *
 * With a linear map Y = X W, X of m x k, W of k x n, all sizes those of a whole micro-batch of one replica, and axes of
 * x, y, z ranks: megatron-1d     the axis `tensor` alone (Shoeybi et al. 2019): transformer_exchange_forward and
 * _backward. With product_overlap each linear map has its own: forward all-gather of X or reduce-scatter of Y, backward
 * all-gather of dY, or of X again and reduce-scatter of dX, all while its products run (TransformerEngine's
 * communication overlap; Wang et al. 2023, ASPLOS, "Overlap communication with dependent computation via
 * decomposition"). summa-2d        x = y = q (Xu and You 2021, "Optimus"): blocks of m/q x k/q, k/q x n/q, m/q x n/q.
 * Forward: all-gather of X along x and of W along y; backward: the same once more, reduce-scatter of dX along x and of
 * dW along y. (The q broadcasts of an operand, each from another rank, are an all-gather; the q reductions a
 * reduce-scatter.) tesseract-2.5d  x = y = q, z = d (Wang et al. 2021): d such meshes, each with its share of the
 * samples; gradients are summed along z. cube-3d         x = y = z = q (Bian et al. 2021): all-gather of X along z and
 * of W along x, reduce-scatter of Y along y; backward: all-gather of dY along y, reduce-scatter of dX along z and of dW
 * along x. The next map has y and z swapped. axonn-3d        x, y, z of any size (Singh et al. 2023): X has its rows
 * divided along z and its columns along y, W its rows along y and its columns along x. All-gather of W along z before
 * the forward and the backward, all-reduce of Y along y, of dX along x, reduce-scatter of dW along z, then all-reduce
 * along data. The next map is transposed: x and y swapped. */
#ifndef STAGESIM_TRANSFORMER_TENSOR_H
#define STAGESIM_TRANSFORMER_TENSOR_H

#include "workloads/transformer/kinds/operators.h"

#include <stdbool.h>

enum tensor_algorithm { TENSOR_MEGATRON, TENSOR_SUMMA, TENSOR_TESSERACT, TENSOR_CUBE, TENSOR_AXONN };
extern const char *const tensor_algorithm_names[];

/* What axonn-3d overlaps; bits in the order of tensor_overlap_names. */
enum tensor_overlap {
    OVERLAP_GATHER = 1,  /* all-gather of a layer's weights, with the layer before */
    OVERLAP_SCATTER = 2, /* reduce-scatter of its gradients, with the backward of those before it */
    OVERLAP_INPUT = 4,   /* all-reduce of dX, with the computation of dW */
    OVERLAP_DATA = 8,    /* all-reduce of gradients along data, with the rest of the backward */
};
extern const char *const tensor_overlap_names[];

/* How a layer is shared. */
struct transformer_tensor {
    enum tensor_algorithm algorithm;
    uint32_t tensor, x, y, z; /* ranks along the axes */
    unsigned overlap;         /* bits of enum tensor_overlap */
    bool product_overlap;     /* megatron-1d under sequence parallelism: what a linear map exchanges moves while its
                                 products run */
    double exposed;           /* the share of it that does not, but follows them */
    double spared;            /* of what is gathered under sequence parallelism, the share that narrow numbers spare */
};

/* A micro-batch is divided by samples into so many parts. */
uint32_t tensor_row_parts(const struct transformer_tensor *tensor);
/* Ranks that hold different parts of every matrix, those along which gradients are reduced or weights are sharded left
 * out. */
uint32_t tensor_weight_parts(const struct transformer_tensor *tensor);
/* Sets what depends on the algorithm: samples (of the whole micro-batch before), tensor, width, gathered_rows,
 * whole_inner. */
void tensor_set_layout(const struct transformer_tensor *tensor, struct transformer_layout *layout);
/* The axis along which activations between blocks are the same on all ranks, which share messages between stages; NULL:
 * none. */
const char *tensor_equal_axis(const struct transformer_tensor *tensor);
/* Axes along which ranks hold the same weights, and those along which they shard them (NULL: none). */
const char *tensor_sync_axes(const struct transformer_tensor *tensor);
const char *tensor_shard_axes(const struct transformer_tensor *tensor);
/* Bytes of the largest operands that are gathered for one linear map. */
double tensor_panels(const struct transformer_tensor *tensor, const struct transformer_model *model,
                     const struct transformer_layout *layout);

/* Whether linear maps are parts with exchanges of their own beside them. */
bool tensor_hides_exchanges(const struct transformer_tensor *tensor);

/* The exchanges of a block in one direction, recomputed ones included; but for megatron-1d of one that has a single
 * linear map, or none. */
void tensor_exchanges(const struct transformer_tensor *tensor, const struct transformer_model *model,
                      const struct transformer_layout *layout, enum transformer_block block, bool backward,
                      struct stagesim_exchanges *out);

#endif
