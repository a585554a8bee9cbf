/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/answers/queue_comparison.h"

#include "analysis/output/comparison_queue.h"
#include "analysis/output/saved/kept_fields.h"
#include "base/arena.h"

#include <math.h>
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

/* ---- what was written ---- */

static void read_row(struct kept_file *file, const struct node *node, struct comparison_row *row)
{
    row->queue = (struct comparison_queue){.known = true, .joules = NAN, .kilograms = NAN, .cost = NAN};
    snprintf(row->scenario, sizeof row->scenario, "%s", kept_text(file, node_get(node, "scenario"), node));
    snprintf(row->schedule, sizeof row->schedule, "%s", kept_text(file, node_get(node, "policy"), node));
    snprintf(row->directory, sizeof row->directory, "%s", kept_text(file, node_get(node, "directory"), node));
    for (const struct node *entry = node->first; entry && file->good; entry = entry->next)
        if (strcmp(entry->key, "scenario") != 0 && strcmp(entry->key, "policy") != 0 &&
            strcmp(entry->key, "directory") != 0 &&
            !comparison_queue_set(row, entry->key, kept_number(file, entry, node)))
            kept_refuse(file, entry, "a figure of a queue");
    row->iteration = row->queue.completion;
    if (!(row->iteration > 0) || !*row->directory || strchr(row->directory, '/') || row->directory[0] == '.')
        kept_refuse(file, node, "a queue with its completion, and the directory of its run");
}

struct comparison_row *queue_comparison_read(const struct node *list, size_t *count, struct arena *arena,
                                             struct diag *diag)
{
    struct kept_file file = {"comparison.json", arena, diag, true};
    const struct node *first = list->first;
    *count = 0;
    if (!first || first->kind != NODE_MAP || !node_get(first, "policy"))
        return NULL;
    struct comparison_row *rows = arena_array(arena, list->count, sizeof *rows);
    for (const struct node *node = first; node && file.good; node = node->next)
        if (node->kind != NODE_MAP)
            kept_refuse(&file, node, "a row for each queue");
        else if (node_get(node, "directory"))
            read_row(&file, node, &rows[(*count)++]);
    return file.good && *count ? rows : NULL;
}
