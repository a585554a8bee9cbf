/* SPDX-License-Identifier: Apache-2.0 */
/* Queues side by side: what comparisons draw of each. */
#ifndef STAGESIM_QUEUE_COMPARISON_H
#define STAGESIM_QUEUE_COMPARISON_H

#include "analysis/pictures/gantt.h"
#include "cluster/answers/queue_page.h"

/* Nodes as rows and what they are given to as boxes, for pictures of several runs with the policy of that name. The
 * caller destroys it. */
struct gantt *queue_aligned(const struct queue_drawing *drawing, const char *policy);

#endif
