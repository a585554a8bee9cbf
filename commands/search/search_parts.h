/* SPDX-License-Identifier: Apache-2.0 */
/* What is missing of a search that was done in parts. */
#ifndef STAGESIM_SEARCH_PARTS_H
#define STAGESIM_SEARCH_PARTS_H

#include "studies/search/search.h"

/* Which of so many shards have candidates in the table that were not looked at or not timed; missing[shard - 1].
 * Returns how many. */
uint32_t search_parts_missing(const struct search *search, uint32_t shards, bool *missing);
/* An exit code; reported where candidates are missing. */
int search_parts_check(const struct search *search);

#endif
