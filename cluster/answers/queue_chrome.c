/* SPDX-License-Identifier: Apache-2.0 */
/* The queue in the trace format of Chrome, which Perfetto opens as well: a thread for each node, whose slices are the
 * jobs that have it. */
#include "base/json_writer.h"
#include "cluster/answers/queue_output.h"

static const double microseconds = 1e6;

static void begin_event(struct json_writer *json, const char *phase, const char *name)
{
    json_object_begin(json, NULL, false);
    json_text(json, "ph", phase);
    json_text(json, "name", name);
    json_integer(json, "pid", 0);
}

static void put_name(struct json_writer *json, const char *what, uint32_t thread, const char *name)
{
    begin_event(json, "M", what);
    json_integer(json, "tid", thread);
    json_object_begin(json, "args", false);
    json_text(json, "name", name);
    json_object_end(json);
    json_object_end(json);
}

/* Of a node that a job has, or that is in repair: then `job` is NULL. */
static void put_slice(struct json_writer *json, const struct queue_view *view, uint32_t node, double from, double to,
                      const struct queue_job *job)
{
    begin_event(json, "X", job ? job->name : "in repair");
    json_integer(json, "tid", node);
    json_number(json, "ts", from * microseconds);
    json_number(json, "dur", (to - from) * microseconds);
    json_text(json, "cat", job ? queue_type_name(view, job->kind) : "in repair");
    json_object_end(json);
}

static void put_level(struct json_writer *json, const char *name, double time, uint32_t value)
{
    begin_event(json, "C", name);
    json_number(json, "ts", time * microseconds);
    json_object_begin(json, "args", false);
    json_integer(json, name, value);
    json_object_end(json);
    json_object_end(json);
}

void queue_chrome(FILE *out, const struct queue_view *view)
{
    const struct queue_run *run = view->run;
    struct json_writer json = json_writer_init(out);
    char name[24];
    json_object_begin(&json, NULL, true);
    json_array_begin(&json, "traceEvents", true);
    put_name(&json, "process_name", 0, view->scenario->name);
    for (uint32_t node = 0; node < run->request->nodes; node++) {
        snprintf(name, sizeof name, "node %u", node);
        put_name(&json, "thread_name", node, name);
    }
    for (size_t i = 0; i < run->span_count; i++)
        for (uint32_t k = 0; k < run->spans[i].count; k++)
            put_slice(&json, view, run->spans[i].nodes[k], run->spans[i].from, run->spans[i].to,
                      &run->request->jobs[run->spans[i].job]);
    for (size_t i = 0; i < run->away_count; i++)
        put_slice(&json, view, run->away[i].node, run->away[i].from, run->away[i].to, NULL);
    for (size_t i = 0; i < view->figures->level_count; i++) {
        put_level(&json, "jobs waiting", view->figures->levels[i].time, view->figures->levels[i].waiting);
        put_level(&json, "nodes in use", view->figures->levels[i].time, view->figures->levels[i].nodes);
    }
    json_array_end(&json);
    json_object_end(&json);
    putc('\n', out);
}
