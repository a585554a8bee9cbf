/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of a profile by kind and shape, beside what measured kernels of the same GPU take: which of them are slower
 * than they could be. */
#ifndef STAGESIM_PROFILE_OPERATORS_H
#define STAGESIM_PROFILE_OPERATORS_H

#include "base/diagnostics.h"
#include "studies/profile/profile.h"

struct arena;

struct profile_operator {
    uint32_t name, shape; /* names of the trace; shape: "[[8192,4096],[4096,4096]] [c10::BFloat16,c10::BFloat16]" */
    double calls;         /* of a step and rank */
    double seconds;       /* of the device, of a step and rank */
    double expected;      /* the same by measured kernels; NaN: there are none of its kind and type */
    bool outside;         /* its sizes are beyond those that were measured */
    const char *what;     /* the kernel that it is, in words: "matmul 8192 x 4096 x 4096"; NULL: none of the known */
};

struct operators {
    struct profile_operator *list; /* count of them: those known first, most seconds above the expected first; then the
                                      others, longest first */
    size_t count, known_count;
    const char *gpu; /* whose kernels: a table's name; NULL: none is installed of the trace's device */
    bool similar;    /* the trace calls the device otherwise: it is of that product */
    double known, expected,
        unknown;       /* seconds of a step and rank: of the known, what they should take, of the others */
    double recomputed; /* seconds of a step and rank: activations that are computed again */
};

/* Operators are known where the profile recorded shapes and the device's operations name the operator that they come
 * from. False with the fault filled where a table of kernels cannot be read. Memory from the arena. */
bool operators_find(const struct recorded *recorded, const struct profile *profile, struct arena *arena,
                    struct operators *operators, struct fault *fault);

#endif
