/* SPDX-License-Identifier: Apache-2.0 */
/* Queues side by side: what comparisons draw of each, and what they wrote, read back. */
#ifndef STAGESIM_QUEUE_COMPARISON_H
#define STAGESIM_QUEUE_COMPARISON_H

#include "analysis/output/comparison.h"
#include "analysis/pictures/gantt.h"
#include "cluster/answers/queue_page.h"

struct node;

/* Nodes as rows and what they are given to as boxes, for pictures of several runs with the policy of that name. The
 * caller destroys it. */
struct gantt *queue_aligned(const struct queue_drawing *drawing, const char *policy);

/* The queues of a `compare -o` that were run, in the order of the list in its comparison.json; *count of them. NULL
 * where it compares something else, and after mistakes were reported. Memory from the arena. */
struct comparison_row *queue_comparison_read(const struct node *list, size_t *count, struct arena *arena,
                                             struct diag *diag);

#endif
