/* SPDX-License-Identifier: Apache-2.0 */
/* cairo's SVG, made fit for use: ids that do not depend on what was drawn before in the process, a title and a
 * description. */
#ifndef STAGESIM_SVG_TIDY_H
#define STAGESIM_SVG_TIDY_H

#include "analysis/pictures/canvas.h"

/* Writes an SVG document that cairo made: its ids become PREFIX0, PREFIX1, ... in order of appearance, and the
 * caption's title and description come first inside the root element. Errors are left in ferror(out). */
void svg_tidy(const char *svg, size_t size, const struct canvas_caption *caption, FILE *out);

/* Writes text with & < > " ' as entities, for XML and HTML; what is no printable UTF-8 becomes '?'. */
void xml_escape(FILE *out, const char *text);

#endif
