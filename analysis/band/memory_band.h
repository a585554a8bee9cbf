/* SPDX-License-Identifier: Apache-2.0 */
/* How far the measured memory of a job like this may lie from the predicted one, from published jobs, and in how many
 * of such jobs it would fit. */
#ifndef STAGESIM_MEMORY_BAND_H
#define STAGESIM_MEMORY_BAND_H

#include "analysis/band/band.h"

#include <stdint.h>

enum { MEMORY_BAND_WORDS = 4, MEMORY_BAND_OWN = 64 };

/* Plain data. */
struct memory_band {
    struct band band;                    /* measured over predicted bytes, without those beside the allocator */
    double beside;                       /* bytes of a GPU beside PyTorch's allocator, taken as known; 0: none */
    uint64_t members[MEMORY_BAND_WORDS]; /* a bit for each published job of the class */
    double own[MEMORY_BAND_OWN];         /* own_count ratios of runs of one's own instead, of the whole memory */
    unsigned own_count;
};

/* What is said of one prediction. */
struct memory_outlook {
    unsigned jobs;    /* published jobs that it is made from; 0: nothing is said */
    double low, high; /* bytes of the fullest GPU in 8 of 10 cases */
    double sure;      /* in this share of such jobs it fits; below 0: the GPU's memory is not known */
};

/* The band of the narrowest class with enough jobs, as band_find has it: those that share kind, framework, one node or
 * several, and precision; then without precision, without nodes, of the framework or the kind alone, of all. GPUs make
 * no difference, for the same tensors are held everywhere. */
struct memory_band memory_band_find(const struct band_job *job, double beside);
/* That of a profile which was calibrated with `count` runs of one's own, from measured over predicted memory of each,
 * ascending, where the others predicted it; without rows where they are less than nine. Of more than MEMORY_BAND_OWN as
 * many count, evenly chosen, to say how often it fits. */
struct memory_band memory_band_of_own(const double *left_out, size_t count);
/* Of a prediction of `peak` bytes on GPUs of `capacity`, of which the share `reserve` is held back: a published job
 * whose memory was counted by tensors needs to fit in the rest, one whose allocator's memory was counted in the whole.
 * capacity 0: not known. */
struct memory_outlook memory_band_outlook(const struct memory_band *band, double peak, double capacity, double reserve);
/* Of 100, rounded down; and in words, "fits in 94 of 100 such jobs", on a stream. */
double memory_band_hundredths(double sure);
void memory_band_say_sure(FILE *out, double sure);
/* What it says of predictions, as a line on a stream; nothing where there is no band. */
void memory_band_say(FILE *out, const struct memory_band *band);

#endif
