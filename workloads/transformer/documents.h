/* SPDX-License-Identifier: Apache-2.0 */
/* Documents in packed sequences: their lengths are drawn, sequences are filled with them, and the attention of each
 * rank and micro-batch follows from those that it gets. Documented in doc/packed-sequences.md. */
#ifndef STAGESIM_TRANSFORMER_DOCUMENTS_H
#define STAGESIM_TRANSFORMER_DOCUMENTS_H

#include "abi/workload.h"

struct transformer_job;

/* The sequences of an iteration, that of (micro-batch m, data-parallel rank d, sample k of b) being number
 * (m x ranks + d) x b + k: as samplers deal them. */
struct transformer_packing {
    double *lengths;         /* of the documents, one sequence behind the other */
    size_t *ends;            /* [sequence]: where its documents end */
    size_t count, sequences; /* sequences 0: nothing is drawn */
    double *values, *counts; /* [distinct]: lengths that occur, in order, and how often */
    size_t distinct;
};

/* Draws documents, and describes them in job->model. False with the mistake reported. */
bool transformer_pack(struct transformer_job *job);
void transformer_packing_finish(struct transformer_packing *packing);
/* Along which parts vary that do so by documents. */
extern const char transformer_documents_axis[];
/* How much longer than the mean of all the products over scores of a layer take, [micro-batch][data-parallel rank];
 * NULL: all sequences are alike. They belong to what is known of the device. */
const double *transformer_document_factors(const struct transformer_job *on, uint32_t layer);

#endif
