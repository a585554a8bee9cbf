/* SPDX-License-Identifier: Apache-2.0 */
/* search.html: the verdict, the best layouts, time over memory, what was left out and why; one self-contained page. */
#ifndef STAGESIM_SEARCH_HTML_H
#define STAGESIM_SEARCH_HTML_H

#include "base/diagnostics.h"
#include "studies/search/search.h"

#include <stdio.h>

/* With the best `top`. False with the fault filled. */
bool search_html(FILE *out, const struct search *search, uint32_t top, struct fault *fault);

#endif
