/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/answers/queue_comparison.h"

#include <string.h>

/* More nodes have no rows. */
enum { ALIGNED_NODES_MAX = 64 };

struct gantt *queue_aligned(const struct queue_drawing *drawing, const char *policy)
{
    const char *title = policy;
    for (size_t i = 0; queue_policies[i]; i++)
        if (!strcmp(queue_policy_name(queue_policies[i]), policy))
            title = queue_policy_title(queue_policies[i]);
    char text[160];
    snprintf(text, sizeof text, "%.60s%s", title, drawing->nodes && !drawing->draws ? "; " QUEUE_NOT_DRAWN : "");
    struct gantt *gantt = gantt_create(text, "", GANTT_SECONDS);
    snprintf(gantt->computing, sizeof gantt->computing, "given to a job");
    for (uint32_t node = 0; node < drawing->nodes && node < ALIGNED_NODES_MAX; node++) {
        char label[24];
        snprintf(label, sizeof label, "node %u", node);
        gantt_add_row(gantt, label, -1);
    }
    for (size_t i = 0; i < drawing->box_count; i++) {
        const struct queue_box *box = &drawing->boxes[i];
        for (uint32_t node = box->first; node < box->first + box->count && node < gantt->row_count; node++)
            gantt_add_box(gantt, &(struct gantt_box){.start = box->from - drawing->begin,
                                                     .end = box->to - drawing->begin,
                                                     .row = node,
                                                     .number = GANTT_NO_NUMBER,
                                                     .kind = GANTT_COMPUTE});
    }
    gantt_finish(gantt);
    return gantt;
}
