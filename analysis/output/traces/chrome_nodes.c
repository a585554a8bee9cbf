/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/traces/chrome_nodes.h"

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

void chrome_nodes_begin(struct json_writer *json, const char *title)
{
    json_object_begin(json, NULL, true);
    json_array_begin(json, "traceEvents", true);
    put_name(json, "process_name", 0, title);
}

void chrome_nodes_name(struct json_writer *json, uint32_t node, const char *name)
{
    put_name(json, "thread_name", node, name);
}

void chrome_nodes_slice(struct json_writer *json, uint32_t node, const char *name, const char *category, double from,
                        double to)
{
    begin_event(json, "X", name);
    json_integer(json, "tid", node);
    json_number(json, "ts", from * microseconds);
    json_number(json, "dur", (to - from) * microseconds);
    json_text(json, "cat", category);
    json_object_end(json);
}

void chrome_nodes_level(struct json_writer *json, const char *name, double time, uint32_t value)
{
    begin_event(json, "C", name);
    json_number(json, "ts", time * microseconds);
    json_object_begin(json, "args", false);
    json_integer(json, name, value);
    json_object_end(json);
    json_object_end(json);
}

void chrome_nodes_end(struct json_writer *json)
{
    json_array_end(json);
    json_object_end(json);
}
