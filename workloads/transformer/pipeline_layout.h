/* SPDX-License-Identifier: Apache-2.0 */
/* Which layers the stages of a pipeline hold, in the notation of Megatron-LM's --pipeline-model-parallel-layout: E the
 * embedding, t a layer, m a layer that predicts a further token, L the output with the loss; | ends a stage, commas
 * mean nothing, `(...)*n` and `x*n` repeat. `Et|(tt|)*6tL` is eight stages, of one layer at either end. */
#ifndef STAGESIM_PIPELINE_LAYOUT_H
#define STAGESIM_PIPELINE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

struct fault;

enum { PIPELINE_LAYOUT_MOST = 1 << 17 }; /* letters and bars of a text whose repetitions are written out */

struct pipeline_layout {
    uint32_t stages, layers;                /* all t */
    uint32_t *counts;                       /* [stage]: its t */
    uint32_t embedding, loss;               /* their stages */
    uint32_t prediction, prediction_layers; /* the stage of all m, and how many; 0 layers: there is none */
};

/* Reads a text. `workers`: of the pipeline, stage i lives on worker i mod workers; 0: not known. False with the fault
 * filled: what is wrong and at which character, counted from 1. The caller finishes a layout that was read. */
bool pipeline_layout_read(const char *text, uint32_t workers, struct pipeline_layout *layout, struct fault *fault);
void pipeline_layout_finish(struct pipeline_layout *layout);

/* The text in its normal form: no commas, four and more equal letters as t*4, equal stages in a row as (tt|)*2, empty
 * ones as |*2. Reading it gives the layout again. The caller frees it. */
char *pipeline_layout_text(const struct pipeline_layout *layout);
/* The same of stages with so many layers each, embedding in the first, and in the last layers that predict further
 * tokens and the loss. */
char *pipeline_layout_text_of(const uint32_t *counts, uint32_t stages, uint32_t predictions);

#endif
