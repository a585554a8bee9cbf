/* SPDX-License-Identifier: Apache-2.0 */
/* `stagesim platform show` as tables. */
#include "commands/platform/platform_text.h"

#include <math.h>

static void rate_cell(struct table *table, double bytes_per_second)
{
    char text[32] = "";
    if (bytes_per_second > 0)
        text_rate(text, sizeof text, bytes_per_second);
    table_cell(table, "%s", text);
    if (bytes_per_second > 0 && isfinite(bytes_per_second))
        table_value(table, bytes_per_second);
}

static void time_cell(struct table *table, double seconds)
{
    char text[32];
    text_time(text, sizeof text, seconds);
    table_cell(table, "%s", text);
    table_value(table, seconds);
}

static void count_cell(struct table *table, uint32_t count)
{
    table_cell(table, "%u", count);
    table_value(table, count);
}

static void write_nodes(FILE *out, const struct view *view, enum table_format format)
{
    char text[32];
    struct table *table = table_create();
    table_columns(table, ">nodes", ">hosts each", "<device", ">speed", ">memory", ">ring in a node",
                  ">to the next node", NULL);
    for (uint32_t i = 0; i < view->node_count; i++) {
        const struct view_node *node = &view->nodes[i];
        const struct platform_host *host = &view->platform->hosts[node->first];
        count_cell(table, node->count);
        count_cell(table, node->size);
        table_cell(table, "%s", host->model ? host->model : "");
        text_speed(text, sizeof text, host->speed);
        table_cell(table, "%s", text);
        text_memory(text, sizeof text, host->memory);
        table_cell(table, "%s", host->memory > 0 ? text : "");
        rate_cell(table, node->size > 1 ? node->ring : 0);
        rate_cell(table, node->out);
    }
    table_finish(table, out, (struct table_style){format, 0});
}

void platform_tables_write(FILE *out, const struct view *view, enum table_format format)
{
    static const char *const sharing[] = {"shared", "every flow at full rate", "rate of its own kind"};
    if (table_is_read(format)) {
        write_nodes(out, view, format);
        putc('\n', out);
    }
    struct table *table = table_create();
    table_columns(table, "<link", ">count", ">bandwidth", ">latency", "<sharing", NULL);
    for (uint32_t i = 0; i < view->link_count; i++) {
        const struct view_links *links = &view->links[i];
        table_cell(table, "%s", links->name);
        count_cell(table, links->count);
        rate_cell(table, links->bandwidth);
        time_cell(table, links->latency);
        table_cell(table, "%s", sharing[links->sharing]);
    }
    table_finish(table, out, (struct table_style){format, 0});
}

void platform_route_table(FILE *out, struct platform *platform, uint32_t from, uint32_t to, enum table_format format)
{
    struct platform_route route;
    platform->route(platform, from, to, &route);
    struct table *table = table_create();
    table_columns(table, "<link", ">bandwidth", ">latency", NULL);
    for (uint32_t i = 0; i < route.link_count; i++) {
        const struct platform_link *link = &platform->links[route.links[i]];
        table_cell(table, "%s", link->name);
        rate_cell(table, platform_link_rate(link));
        time_cell(table, link->latency);
    }
    table_finish(table, out, (struct table_style){format, 0});
}
