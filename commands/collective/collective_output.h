/* SPDX-License-Identifier: Apache-2.0 */
/* The table of `stagesim collective` in all its forms. */
#ifndef STAGESIM_COLLECTIVE_OUTPUT_H
#define STAGESIM_COLLECTIVE_OUTPUT_H

#include "analysis/pictures/canvas.h"
#include "analysis/pictures/picture_form.h"
#include "base/tables/table_write.h"
#include "commands/collective/collective_table.h"

/* As people read it, in one of the formats for them. */
void collective_text_write(FILE *out, const struct collective_request *request, const struct collective_table *table,
                           enum table_format format);
/* What was asked for as comments, which `stagesim platform fit` reads; then size_bytes,time_us,algbw_GBps,busbw_GBps;
 * with several algorithms one column more, the algorithm ("auto" for its choice). */
void collective_csv_write(FILE *out, const struct collective_request *request, const struct collective_table *table);
void collective_json_write(FILE *out, const struct collective_request *request, const struct collective_table *table);
/* Time over size, a line for each algorithm, marks on the one that auto chose. False with the fault filled. */
bool collective_picture_write(FILE *out, const struct collective_request *request, const struct collective_table *table,
                              enum canvas_format format, const struct picture_form *form, struct fault *fault);

#endif
