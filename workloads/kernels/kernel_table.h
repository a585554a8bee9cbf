/* SPDX-License-Identifier: Apache-2.0 */
/* Measured kernels of one GPU by shape, and for each kind of them the constants of a model that knows only the shape.
 * Documented in doc/kernel.md. */
#ifndef STAGESIM_KERNEL_TABLE_H
#define STAGESIM_KERNEL_TABLE_H

#include "base/diagnostics.h"

#include <stdbool.h>

enum kernel_kind {
    KERNEL_MATMUL,
    KERNEL_GROUPED,
    KERNEL_EXPERTS,
    KERNEL_ATTENTION,
    KERNEL_MEMORY,
    KERNEL_MAMBA,
    KERNEL_GATED_DELTA,
    KERNEL_KIMI_DELTA,
    KERNEL_LIGHTNING,
    KERNEL_DECODE
};
extern const char *const kernel_kind_names[]; /* NULL-terminated, as the next two */

/* fp8: one scale for a tensor; fp8_block: one for 1 x 128 or 128 x 128 elements. */
enum kernel_type { KERNEL_BF16, KERNEL_FP8, KERNEL_FP8_BLOCK, KERNEL_NVFP4 };
extern const char *const kernel_type_names[];

/* Of products: forward (TN), the gradient of the input (NN), that of the weight (NT), which is added to one in fp32. Of
 * attention: causal or all of the square. The last ones are operators that only move bytes. */
enum kernel_stage {
    KERNEL_FORWARD,
    KERNEL_INPUT,
    KERNEL_WEIGHT,
    KERNEL_BACKWARD,
    KERNEL_FORWARD_FULL,
    KERNEL_BACKWARD_FULL,
    KERNEL_NORM,
    KERNEL_ADD,
    KERNEL_SILU,
    KERNEL_ROPE,
    KERNEL_EMBEDDING,
    KERNEL_CAST,
    KERNEL_PERMUTE,
    KERNEL_LOSS,
    KERNEL_CONVOLUTION,
};
extern const char *const kernel_stage_names[];

/* Who runs what was measured: a library that trains; one that infers, with a kernel that training runs, too (products
 * of cuBLAS, flash attention, copies); one that infers, with a kernel of its own (grouped products). */
enum kernel_user { KERNEL_TRAINING, KERNEL_SHARED, KERNEL_INFERENCE };
extern const char *const kernel_user_names[]; /* NULL-terminated */

enum { KERNEL_SIZES = 4, KERNEL_SOURCE_SIZE = 24 };

/* Scans carry a state from chunk to chunk: Mamba-2's, the gated and the Kimi delta rule's, lightning attention's.
 *
 * A kernel by its sizes: of products groups of m x k times k x n (of the weight gradient in a group: m rows, n x k
 * weights); of an expert layer `groups` experts with m rows each, inner width n and k columns; of attention batch x
 * heads, m tokens, n and k columns of a head's keys and values; of scans the same, of Mamba-2 n columns of a head and k
 * of its state; of what moves memory m bytes; of attention of one new token a sequence over a cache (decode) batch x
 * heads of keys and values, m tokens, n columns of a head, k heads of queries that share one of keys. */
struct kernel_shape {
    enum kernel_kind kind;
    enum kernel_type type;
    enum kernel_stage stage;
    double groups, m, n, k;
};

/* Constants of the model, and between which sizes it was measured. */
struct kernel_model {
    enum kernel_kind kind;
    enum kernel_type type;
    enum kernel_stage stage;
    char source[KERNEL_SOURCE_SIZE];
    enum kernel_user user;
    double processors, peak, bandwidth; /* flop/s, bytes/s */
    double launch;                      /* seconds of a kernel */
    double compute, memory;             /* shares of peak and bandwidth */
    double
        extra; /* grouped: microseconds of each group; attention: the length at which half of `compute` is reached;
                * scans: the number of heads where that is; decode: microseconds of a sequence's head on a processor */
    double low[KERNEL_SIZES], high[KERNEL_SIZES]; /* logarithms to base 2 of the measured sizes */
    struct kernel_row *rows;                      /* row_count of them */
    unsigned row_count;
    size_t room;
};

/* One measurement. */
struct kernel_row {
    double size[KERNEL_SIZES]; /* logarithms to base 2 of groups, m, n, k */
    double seconds;
    double beside; /* logarithm of measured over modelled seconds */
};

struct kernel_table {
    struct kernel_model *models; /* model_count of them */
    unsigned model_count;
};

/* Reads the models and their measured rows. False with the fault filled ("FILE:LINE:COLUMN: what"); what was read then
 * is freed. */
bool kernel_table_read(const char *models, const char *rows, struct kernel_table *table, struct fault *fault);
/* Frees what was read; an empty table is fine. */
void kernel_table_finish(struct kernel_table *table);

/* The sizes as rows have them. */
void kernel_sizes(const struct kernel_shape *shape, double sizes[KERNEL_SIZES]);

/* The first model of a kind, type and stage; `source`: of that source. NULL: of any, those of libraries that train
 * before shared ones, and those before what inference alone runs. NULL: there is none. */
const struct kernel_model *kernel_model_find(const struct kernel_table *table, const struct kernel_shape *shape,
                                             const char *source);
/* The first model of the shape's kind, type and stage whose source is a release of a library: begins with its
 * name and a hyphen. NULL: there is none. */
const struct kernel_model *kernel_model_of_library(const struct kernel_table *table, const struct kernel_shape *shape,
                                                   const char *library);

#endif
