/* SPDX-License-Identifier: Apache-2.0 */
/* How long a GPU takes for the scattered reads and writes of embedding lookups: what was measured of its memory and
 * what it has of caches. Installed as MODEL.lookups.csv beside the efficiency tables; documented in doc/dlrm.md. */
#ifndef STAGESIM_DLRM_MEMORY_CURVE_H
#define STAGESIM_DLRM_MEMORY_CURVE_H

#include "base/diagnostics.h"

#include <stdbool.h>

/* Lin et al. (arXiv 2404.12674), section on kernels that are bound by memory, with the numbers of their programs:
 *     bytes <= 2^flat:        overhead
 *     bytes > 2^straight:     overhead + bytes / rate
 *     between:                bytes / (1e9 10^(height / (1 + exp(-slope (log2 bytes - middle))) + base)) */
struct memory_curve {
    double flat, straight;              /* binary logarithms of bytes; straight 0: there is no curve */
    double rate;                        /* bytes per second */
    double overhead;                    /* seconds */
    double height, middle, slope, base; /* of the logistic curve of log10(GB/s) */
    double processors;                  /* streaming multiprocessors; 0: not known, then nothing is cached */
    double warps;                       /* of lookups at once in each */
    double cache, cache_rate;           /* bytes of the second-level cache; bytes per second, 0: not known */
};

/* Reads a file of lines `what,value` with the names of the struct's fields. False with the fault filled ("FILE:LINE:
 * COLUMN: what"). */
bool memory_curve_read(const char *path, struct memory_curve *curve, struct fault *fault);
/* The same for text in memory; `name` stands in messages. */
bool memory_curve_parse(const char *name, const char *text, size_t size, struct memory_curve *curve,
                        struct fault *fault);
/* Seconds that moving `bytes` takes by the curve, of which there has to be one. */
double memory_curve_seconds(const struct memory_curve *curve, double bytes);

#endif
