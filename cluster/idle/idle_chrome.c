/* SPDX-License-Identifier: Apache-2.0 */
/* Idle nodes in the trace format of Chrome: a slice of a node is the time for which it is idle, and within it are the
 * jobs that have it. */
#include "analysis/output/traces/chrome_nodes.h"
#include "base/arena.h"
#include "cluster/idle/idle_output.h"

#include <math.h>
#include <stdlib.h>

/* [node]: since when it is idle, NAN: it is not. */
static void end_idle(struct json_writer *json, double *since, uint32_t node, double to)
{
    if (!isnan(since[node]))
        chrome_nodes_slice(json, node, "idle", "idle", since[node], to);
    since[node] = NAN;
}

static void write_idle(struct json_writer *json, const struct idle_study *study, double duration)
{
    uint32_t nodes = study->log->node_count, idle = 0;
    double *since = array_zeroed(nodes + (size_t)1, sizeof *since);
    for (uint32_t node = 0; node < nodes; node++)
        since[node] = NAN;
    for (size_t i = 0; i < study->moments.count; i++) {
        const struct idle_moment *moment = &study->moments.items[i];
        for (uint32_t k = 0; k < moment->left_count; k++)
            end_idle(json, since, moment->left[k], moment->time);
        for (uint32_t k = 0; k < moment->joined_count; k++)
            since[moment->joined[k]] = moment->time;
        idle += moment->joined_count - moment->left_count;
        chrome_nodes_level(json, "idle nodes", moment->time, idle);
    }
    for (uint32_t node = 0; node < nodes; node++)
        end_idle(json, since, node, duration);
    free(since);
}

void idle_chrome_write(FILE *out, const struct idle_study *study, const char *name)
{
    const struct replay *replay = study->replays[0];
    struct json_writer json = json_writer_init(out);
    chrome_nodes_begin(&json, name);
    for (uint32_t node = 0; node < study->log->node_count; node++)
        chrome_nodes_name(&json, node, study->log->names[node]);
    write_idle(&json, study, replay->duration);
    for (size_t i = 0; i < replay->stay_count; i++)
        chrome_nodes_slice(&json, replay->stays[i].node, study->jobs[replay->stays[i].job].name, "job",
                           replay->stays[i].from, replay->stays[i].to);
    for (size_t i = 0; i < replay->decision_count; i++)
        chrome_nodes_level(&json, "nodes used", replay->decisions[i].time, replay->decisions[i].used);
    chrome_nodes_end(&json);
    putc('\n', out);
}
