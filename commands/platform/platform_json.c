/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_writer.h"
#include "commands/platform/platform_text.h"
#include "platforms/library.h"
#include "platforms/presets/presets.h"
#include "simulator/program/program.h"

#include <math.h>

static void write_host(struct json_writer *json, const struct platform_host *host)
{
    json_object_begin(json, "host", true);
    if (host->model)
        json_text(json, "model", host->model);
    json_number(json, "speed_flops_per_s", host->speed);
    if (host->memory > 0)
        json_number(json, "memory_bytes", host->memory);
    if (host->memory_bandwidth > 0)
        json_number(json, "memory_bandwidth_bytes_per_s", host->memory_bandwidth);
    json_object_begin(json, "peak_flops_per_s", false);
    for (unsigned i = 0; i < PRECISIONS; i++)
        if (host->peak[i] > 0)
            json_number(json, precision_name(i), host->peak[i]);
    json_object_end(json);
    json_object_end(json);
}

static void write_pairs(struct json_writer *json, const struct platform *platform, const struct view_node *node)
{
    json_array_begin(json, "pairs", true);
    for (uint32_t i = 0; i < node->pair_count; i++) {
        const struct view_pairs *pairs = &node->pairs[i];
        json_object_begin(json, NULL, false);
        json_integer(json, "count", pairs->count);
        json_number(json, "bandwidth_bytes_per_s", pairs->bandwidth);
        json_number(json, "latency_s", pairs->latency);
        json_text(json, "from", platform->hosts[pairs->from].name);
        json_text(json, "to", platform->hosts[pairs->to].name);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_node(struct json_writer *json, const struct platform *platform, const struct view_node *node)
{
    json_object_begin(json, NULL, true);
    json_integer(json, "count", node->count);
    json_text(json, "first", platform->hosts[node->first].node);
    json_integer(json, "hosts", node->size);
    write_host(json, &platform->hosts[node->first]);
    write_pairs(json, platform, node);
    if (node->size > 1)
        json_number(json, "ring_bytes_per_s", node->ring);
    if (node->out > 0)
        json_number(json, "out_bytes_per_s", node->out);
    json_object_end(json);
}

static void write_zone(struct json_writer *json, const char *key, const struct zone *zone, unsigned depth)
{
    enum { DEPTH_SHOWN = 6 };
    json_object_begin(json, key, true);
    json_text(json, "name", zone->name);
    json_integer(json, "count", zone->count);
    json_text(json, "routing", zone->routing);
    json_integer(json, "hosts", zone->total_hosts);
    if (zone->child && depth < DEPTH_SHOWN) {
        json_array_begin(json, "zones", true);
        for (const struct zone *child = zone->child; child; child = child->next)
            write_zone(json, NULL, child, depth + 1);
        json_array_end(json);
    }
    json_object_end(json);
}

static void write_links(struct json_writer *json, const struct view *view)
{
    json_array_begin(json, "links", true);
    for (uint32_t i = 0; i < view->link_count; i++) {
        static const char *const sharing[] = {"shared", "fatpipe", "other"};
        const struct view_links *links = &view->links[i];
        json_object_begin(json, NULL, false);
        json_text(json, "name", links->name);
        json_integer(json, "count", links->count);
        json_number(json, "bandwidth_bytes_per_s", links->bandwidth);
        json_number(json, "latency_s", links->latency);
        json_text(json, "sharing", sharing[links->sharing]);
        json_object_end(json);
    }
    json_array_end(json);
}

/* What limits a protocol only where it does. */
static void write_protocols(struct json_writer *json, const char *key, const struct platform_protocol *protocols,
                            uint32_t count)
{
    json_array_begin(json, key, true);
    for (uint32_t i = 0; i < count; i++) {
        json_object_begin(json, NULL, false);
        json_text(json, "name", protocols[i].name);
        json_number(json, "start_s", protocols[i].start);
        json_number(json, "latency", protocols[i].latency);
        json_number(json, "efficiency", protocols[i].efficiency);
        if (protocols[i].most > 0)
            json_number(json, "most_bytes", protocols[i].most);
        if (protocols[i].rate > 0)
            json_number(json, "rate_bytes_per_s", protocols[i].rate);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_regime(struct json_writer *json, const char *key, const struct platform_library *library,
                         enum platform_scope scope)
{
    uint32_t count;
    const struct platform_protocol *protocols = library_protocols(library, scope, &count);
    json_object_begin(json, key, true);
    json_object_begin(json, "launch_s", false);
    for (int kind = 0; kind < PLATFORM_COLLECTIVES; kind++)
        json_number(json, collective_name((enum stagesim_collective)kind), library->regimes[scope].launch[kind]);
    json_object_end(json);
    write_protocols(json, "protocols", protocols, count);
    if (library->regimes[scope].direct_count)
        write_protocols(json, "messages", library->regimes[scope].direct, library->regimes[scope].direct_count);
    if (library->regimes[scope].in_network_start > 0)
        json_number(json, "in_network_start_s", library->regimes[scope].in_network_start);
    json_object_end(json);
}

static void write_library(struct json_writer *json, const struct platform_library *library)
{
    static const char *const words[] = {"none", "node", "cluster"};
    json_object_begin(json, "collectives", true);
    write_regime(json, "node", library, SCOPE_NODE);
    write_regime(json, "network", library, SCOPE_NETWORK);
    json_text(json, "in_network", words[library->in_network]);
    json_object_end(json);
}

void platform_json_write(FILE *out, const struct view *view, const struct zone *root)
{
    struct json_writer json = json_writer_init(out);
    json_object_begin(&json, NULL, true);
    json_text(&json, "platform", view->platform->file);
    json_integer(&json, "gpus", view->platform->host_count);
    json_integer(&json, "nodes_total", view->node_total);
    write_zone(&json, "zone", root, 0);
    json_array_begin(&json, "nodes", true);
    for (uint32_t i = 0; i < view->node_count; i++)
        write_node(&json, view->platform, &view->nodes[i]);
    json_array_end(&json);
    json_number(&json, "bisection_bytes_per_s", view->bisection);
    write_links(&json, view);
    write_library(&json, &view->platform->library);
    json_object_end(&json);
    fputc('\n', out);
}

void platform_route_json(FILE *out, struct platform *platform, uint32_t from, uint32_t to)
{
    struct json_writer json = json_writer_init(out);
    struct platform_route route;
    platform->route(platform, from, to, &route);
    json_object_begin(&json, NULL, true);
    json_text(&json, "from", platform->hosts[from].name);
    json_text(&json, "to", platform->hosts[to].name);
    json_number(&json, "bandwidth_bytes_per_s", route.bandwidth);
    json_number(&json, "latency_s", route.latency);
    json_array_begin(&json, "links", true);
    for (uint32_t i = 0; i < route.link_count; i++) {
        const struct platform_link *link = &platform->links[route.links[i]];
        json_object_begin(&json, NULL, false);
        json_text(&json, "name", link->name);
        json_number(&json, "bandwidth_bytes_per_s", platform_link_rate(link));
        json_number(&json, "latency_s", link->latency);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
    fputc('\n', out);
}
