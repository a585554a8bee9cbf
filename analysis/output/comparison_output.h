/* SPDX-License-Identifier: Apache-2.0 */
/* What stands on top of the directories of several runs: the aligned picture and the report. */
#ifndef STAGESIM_COMPARISON_OUTPUT_H
#define STAGESIM_COMPARISON_OUTPUT_H

#include "analysis/figures/nearest.h"
#include "analysis/output/comparison.h"
#include "analysis/pictures/gantt.h"
#include "analysis/pictures/picture_form.h"
#include "base/files/output.h"

/* The runs, the first being what times are relative to; everything is borrowed. */
struct comparison_view {
    const char *title;                    /* the first run's scenario */
    const struct gantt *const *gantts;    /* [count] */
    const struct comparison_row *rows;    /* [count] */
    const char *const *links;             /* [count]: address of the run's own page, NULL: it has none */
    const struct nearest *const *nearest; /* [count]; NULL: of none it is known */
    size_t count;
};

/* comparison.svg, ... as bits of enum picture_bit ask. False with the fault filled. */
bool comparison_write_pictures(const struct comparison_view *view, unsigned pictures, const struct picture_form *form,
                               struct output *output, struct fault *fault);
/* report.html. False with the fault filled. */
bool comparison_write_report(const struct comparison_view *view, struct output *output, struct fault *fault);

#endif
