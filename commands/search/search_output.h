/* SPDX-License-Identifier: Apache-2.0 */
/* What a search prints and writes. */
#ifndef STAGESIM_SEARCH_OUTPUT_H
#define STAGESIM_SEARCH_OUTPUT_H

#include "analysis/output/comparison.h"
#include "studies/search/search.h"

/* The best `top` and why the others are left out. A table for people, or the content of search.csv (every candidate) or
 * search.json. */
void search_print(FILE *out, const struct search *search, uint32_t top, enum table_format format);

#endif
