/* SPDX-License-Identifier: Apache-2.0 */
/* What share of its peaks a GPU reaches, by the size of an operator: a table of measured or fitted points, documented
 * in doc/transformer.md. */
#ifndef STAGESIM_EFFICIENCY_H
#define STAGESIM_EFFICIENCY_H

#include "base/diagnostics.h"
#include "workloads/transformer/kinds/operators.h"

#include <stdbool.h>

enum { EFFICIENCY_POINTS_MAX = 64 };

/* Between two points the efficiency goes with the logarithm of the size; beyond them it stays. */
struct efficiency_curve {
    unsigned count;
    double size[EFFICIENCY_POINTS_MAX], value[EFFICIENCY_POINTS_MAX];
};

struct efficiency {
    struct efficiency_curve matrix;      /* by flop of a matrix product: share of the peak */
    struct efficiency_curve matrix_fp8;  /* the same of products of 8-bit numbers; without points: as `matrix` */
    struct efficiency_curve matrix_fp4;  /* of 4-bit numbers; without points: as of 8-bit numbers */
    struct efficiency_curve convolution; /* the same of convolutions; without points: as `matrix` */
    struct efficiency_curve memory;      /* by bytes that an operator moves: share of the memory's bandwidth */
    double normalisation; /* of the passes over data that batch normalisation needs, the share that takes time of its
                             own: 0 where the compiler makes them part of the convolution */
    double flash;         /* share of the peak that flash attention reaches, at any size */
    double launch;        /* seconds that each operator takes beside its work */
    double dispatch; /* seconds that the host needs to issue an operator: what a block takes at least, per operator */
    double step;     /* seconds that the host needs beside all operators for an iteration's end */
};

/* Reads a table. False with the fault filled ("FILE:LINE: what"). */
bool efficiency_read(const char *path, struct efficiency *efficiency, struct fault *fault);
/* The same efficiency at every size for matrix products, no other costs. */
void efficiency_constant(struct efficiency *efficiency, double share);

double efficiency_at(const struct efficiency_curve *curve, double size);

struct kernel_use;
struct kernel_class_times;

/* A device as operators meet it. */
struct efficiency_device {
    const struct efficiency *efficiency;
    double peak;                        /* flop/s of matrix products in the precision in use */
    double wide_peak;                   /* the same of those that stay in 16 bits */
    bool fp8;                           /* the precision in use has 8 bits, or 4 */
    enum kernel_type narrow;            /* of its kernels */
    double clock;                       /* share of its full clock at which it computes; 0: all of it */
    double held;                        /* clock in training over that of the table's measurements; 0: the same */
    double bandwidth;                   /* bytes per second of its memory; 0: moving bytes costs nothing */
    bool own_flash;                     /* the scenario says what flash attention reaches */
    double plain_peak;                  /* flop/s in fp32 outside of matrix units, for whoever asks; 0: not known */
    struct kernel_class_times *classes; /* NULL: all of them as they are known */
    struct kernel_use *kernels;         /* measured kernels, which count where they have an operator; NULL: none */
};

/* Seconds of one operator: launch + max(flops / (clock held peak e(flops)), bytes / (bandwidth e(bytes))). A measured
 * kernel takes 1 / clock times its time where arithmetic bounds it, by its flops over the peak and its bytes over the
 * bandwidth; another one keeps its time as long as arithmetic at that clock takes no more. All of it so many times as
 * `classes` says. */
double efficiency_operator_time(const struct efficiency_device *device, const struct transformer_operator *operator);
/* Seconds of operators that follow each other, but with the `behind` seconds of transfers that the device then waits
 * for at least what the host needs to issue them: it goes on while data moves. `weight`: of them the part of weight
 * gradients. */
double efficiency_time(const struct efficiency_device *device, const struct transformer_operators *operators,
                       double behind, double *weight);

#endif
