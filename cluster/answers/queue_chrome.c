/* SPDX-License-Identifier: Apache-2.0 */
/* The queue in the trace format of Chrome: the slices of a node are the jobs that have it. */
#include "analysis/output/traces/chrome_nodes.h"
#include "cluster/answers/queue_output.h"

void queue_chrome(FILE *out, const struct queue_view *view)
{
    const struct queue_run *run = view->run;
    struct json_writer json = json_writer_init(out);
    char name[24];
    chrome_nodes_begin(&json, view->scenario->name);
    for (uint32_t node = 0; node < run->request->nodes; node++) {
        snprintf(name, sizeof name, "node %u", node);
        chrome_nodes_name(&json, node, name);
    }
    for (size_t i = 0; i < run->span_count; i++) {
        const struct queue_job *job = &run->request->jobs[run->spans[i].job];
        for (uint32_t k = 0; k < run->spans[i].count; k++)
            chrome_nodes_slice(&json, run->spans[i].nodes[k], job->name, queue_type_name(view, job->kind),
                               run->spans[i].from, run->spans[i].to);
    }
    for (size_t i = 0; i < run->away_count; i++)
        chrome_nodes_slice(&json, run->away[i].node, "in repair", "in repair", run->away[i].from, run->away[i].to);
    for (size_t i = 0; i < view->figures->level_count; i++) {
        chrome_nodes_level(&json, "jobs waiting", view->figures->levels[i].time, view->figures->levels[i].waiting);
        chrome_nodes_level(&json, "nodes in use", view->figures->levels[i].time, view->figures->levels[i].nodes);
    }
    chrome_nodes_end(&json);
    putc('\n', out);
}
