/* SPDX-License-Identifier: Apache-2.0 */
/* What a run's page says beside its timeline and tables: the verdict, and what a decision needs. */
#ifndef STAGESIM_REPORT_SECTIONS_H
#define STAGESIM_REPORT_SECTIONS_H

#include "analysis/figures/report.h"

#include <stdio.h>

/* A sentence or two: what runs on what, how long an iteration takes, whether it fits, why ranks are idle, what the
 * training takes. */
void report_verdict(FILE *out, const struct report *report);
/* Model, layout, precision, platform, versions, command line, inputs. */
void report_about(FILE *out, const struct report *report);
/* What an import of the job left open; nothing where nobody imported it. */
void report_imported(FILE *out, const struct report *report);
/* Idle time by what can be done about it; nothing where that is not known. */
void report_idle(FILE *out, const struct report *report);
/* Memory by component against the GPU's, with the reserve, and what would need less. */
void report_memory(FILE *out, const struct report *report);
/* Days, energy and cost of the training, with what they assume; nothing where nobody asked. */
void report_training(FILE *out, const struct report *report);
/* Links by kind, the bottleneck first. */
void report_link_kinds(FILE *out, const struct report *report);

#endif
