/* SPDX-License-Identifier: Apache-2.0 */
/* report.html: one self-contained page with pictures, figures and what they mean. */
#ifndef STAGESIM_REPORT_HTML_H
#define STAGESIM_REPORT_HTML_H

#include "analysis/figures/report.h"
#include "analysis/output/comparison.h"
#include "analysis/pictures/gantt.h"
#include "base/diagnostics.h"

#include <stdbool.h>
#include <stdio.h>

/* The page of one run. The gantt comes from gantt_of_run; where it has levels, memory over time is shown. False with
 * the fault filled when it could not be made; errors of writing stay on the stream. */
bool report_html(FILE *out, const struct report *report, const struct gantt *gantt, struct fault *fault);

/* The page of several runs; links are relative addresses. False with the fault filled. */
struct comparison_view;
bool report_html_comparison(FILE *out, const struct comparison_view *view, struct fault *fault);

#endif
