/* SPDX-License-Identifier: Apache-2.0 */
/* Which links of the platform a job uses, one by one and by kind. */
#ifndef STAGESIM_LINK_USE_H
#define STAGESIM_LINK_USE_H

#include "analysis/figures/frame.h"
#include "analysis/figures/report.h"

struct arena;

/* Fills the report's links and kinds of links. */
void links_rank(struct report *report, const struct frame *frame, struct platform *platform, struct arena *arena);

#endif
