/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/platform/platform_text.h"

#include "platforms/device.h"
#include "platforms/library.h"
#include "simulator/collectives/direct_rings.h"
#include "simulator/program/program.h"

#include "base/diagnostics.h"

#include <math.h>
#include <string.h>

/* ---- amounts ---- */

/* The largest unit that leaves at least 1; `step` from one unit to the next. */
static void text_amount(char *text, size_t size, double value, double step, const char *const *units, size_t count)
{
    size_t unit = 0;
    while (unit + 1 < count && value >= step * 0.9999999) {
        value /= step;
        unit++;
    }
    snprintf(text, size, "%.5g %s", value, units[unit]);
}

void text_rate(char *text, size_t size, double bytes_per_second)
{
    static const char *const units[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s", "EB/s"};
    if (isinf(bytes_per_second))
        snprintf(text, size, "unlimited");
    else
        text_amount(text, size, bytes_per_second, 1000, units, sizeof units / sizeof *units);
}

void text_time(char *text, size_t size, double seconds)
{
    if (seconds == 0)
        snprintf(text, size, "0 s");
    else if (seconds < 1e-6)
        snprintf(text, size, "%.5g ns", seconds * 1e9);
    else if (seconds < 1e-3)
        snprintf(text, size, "%.5g us", seconds * 1e6);
    else if (seconds < 1)
        snprintf(text, size, "%.5g ms", seconds * 1e3);
    else
        snprintf(text, size, "%.5g s", seconds);
}

void text_memory(char *text, size_t size, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    text_amount(text, size, bytes, 1024, units, sizeof units / sizeof *units);
}

void text_speed(char *text, size_t size, double flops_per_second)
{
    static const char *const units[] = {"f", "kf", "Mf", "Gf", "Tf", "Pf", "Ef"};
    text_amount(text, size, flops_per_second, 1000, units, sizeof units / sizeof *units);
}

/* ---- the tree of zones ---- */

static void write_zone_title(FILE *out, const struct zone *zone)
{
    if (zone->count > 1)
        fprintf(out, "%u x ", zone->count);
    diag_print(out, "%s", zone->name);
    if (zone->count > 1)
        diag_print(out, " to %s", zone->last);
    fprintf(out, " (%s)", zone->routing);
    if (zone->hosts)
        fprintf(out, ": %u host%s", zone->hosts, zone->hosts == 1 ? "" : "s");
    if (zone->speed && zone->hosts)
        fprintf(out, " of %s", zone->speed);
    if (zone->router && !zone->hosts && !zone->child)
        diag_print(out, ": %s", zone->router);
    if (!zone->hosts && zone->count > 1 && zone->total_hosts)
        fprintf(out, ": %llu hosts each", (unsigned long long)zone->total_hosts);
    fputc('\n', out);
}

static void write_zones(FILE *out, const struct zone *zone, char *prefix, size_t length, size_t size)
{
    for (; zone; zone = zone->next) {
        bool last = zone->next == NULL;
        fprintf(out, "%s%s", prefix, last ? "`-- " : "|-- ");
        write_zone_title(out, zone);
        if (length + 5 < size) {
            memcpy(prefix + length, last ? "    " : "|   ", 5);
            write_zones(out, zone->child, prefix, length + 4, size);
            prefix[length] = '\0';
        }
    }
}

/* ---- nodes ---- */

static void write_host(FILE *out, const struct platform_host *host)
{
    char text[32];
    text_speed(text, sizeof text, host->speed);
    fprintf(out, "  each host  %s", text);
    if (host->memory > 0) {
        text_memory(text, sizeof text, host->memory);
        fprintf(out, ", %s", text);
    }
    if (host->memory_bandwidth > 0) {
        text_rate(text, sizeof text, host->memory_bandwidth);
        fprintf(out, " at %s", text);
    }
    for (unsigned i = 0; i < PRECISIONS; i++) {
        if (host->peak[i] <= 0)
            continue;
        text_speed(text, sizeof text, host->peak[i]);
        fprintf(out, ", %s %s", precision_name(i), text);
    }
    fputs(host->has_watts ? ", watts given\n" : "\n", out);
}

/* The classes of the links on a route, in order, each once in a row. */
static void write_classes(FILE *out, const struct platform *platform, const struct platform_route *route)
{
    char before[96] = "", name[96];
    const char *gap = "";
    for (uint32_t i = 0; i < route->link_count; i++) {
        view_link_class(platform->links[route->links[i]].name, name, sizeof name);
        if (strcmp(name, before) == 0)
            continue;
        diag_print(out, "%s%s", gap, name);
        memcpy(before, name, sizeof before);
        gap = " > ";
    }
}

static void write_pairs(FILE *out, struct platform *platform, const struct view_node *node)
{
    enum { SHOWN = 12 };
    char rate[32], time[32];
    for (uint32_t i = 0; i < node->pair_count && i < SHOWN; i++) {
        const struct view_pairs *pairs = &node->pairs[i];
        struct platform_route route;
        if (pairs->bandwidth == 0) {
            fprintf(out, "  %u pair%s without a route\n", pairs->count, pairs->count == 1 ? "" : "s");
            continue;
        }
        platform->route(platform, pairs->from, pairs->to, &route);
        text_rate(rate, sizeof rate, pairs->bandwidth);
        text_time(time, sizeof time, pairs->latency);
        fprintf(out, "  %s%u pair%s  %s, %s  (", node->sampled ? "from the first host, " : "", pairs->count,
                pairs->count == 1 ? "" : "s", rate, time);
        write_classes(out, platform, &route);
        fputs(")\n", out);
    }
    if (node->pair_count > SHOWN)
        fprintf(out, "  and %u more kinds of pairs\n", node->pair_count - SHOWN);
}

/* Rings over the links between the hosts of a node, each once with how often it is laid. */
static void write_rings(FILE *out, struct platform *platform, const struct view_node *node)
{
    uint32_t hosts[RING_DEVICES_MAX];
    char rate[32];
    for (uint32_t i = 0; i < node->size && i < RING_DEVICES_MAX; i++)
        hosts[i] = node->first + i;
    const struct direct_rings *rings = direct_rings_of(platform, hosts, node->size);
    if (!rings)
        return;
    text_rate(rate, sizeof rate, rings->rate);
    fprintf(out, "  %u rings over the links, %s each\n", rings->count, rate);
    for (uint32_t ring = 0; ring < rings->count; ring++) {
        uint32_t equal = 0, before = 0;
        for (uint32_t other = 0; other < rings->count; other++)
            if (memcmp(rings->order[other], rings->order[ring], rings->devices) == 0) {
                equal++;
                before += other < ring;
            }
        if (before)
            continue;
        fprintf(out, "   %3u x ", equal);
        for (uint32_t i = 0; i < rings->devices; i++)
            fprintf(out, " %u", rings->order[ring][i]);
        fputc('\n', out);
    }
}

static void write_node(FILE *out, const struct view *view, const struct view_node *node)
{
    const struct platform_host *host = &view->platform->hosts[node->first];
    char rate[32];
    fprintf(out, "\n%u x node of %u host%s%s%s (%s%s)\n", node->count, node->size, node->size == 1 ? "" : "s",
            host->model ? ", " : "", host->model ? host->model : "", host->node, node->count > 1 ? " and others" : "");
    write_host(out, host);
    write_pairs(out, view->platform, node);
    if (node->size > 1) {
        text_rate(rate, sizeof rate, node->ring);
        fprintf(out, "  ring of all hosts in order  %s\n", rate);
        write_rings(out, view->platform, node);
    }
    if (node->out > 0) {
        text_rate(rate, sizeof rate, node->out);
        fprintf(out, "  to the next node, all hosts at once  %s\n", rate);
    }
}

static void write_links(FILE *out, const struct view *view)
{
    enum { SHOWN = 40 };
    static const char *const sharing[] = {"", ", every flow at full rate", ", rate of its own kind"};
    char rate[32], time[32];
    fputs("\nlinks, each direction by itself\n", out);
    for (uint32_t i = 0; i < view->link_count && i < SHOWN; i++) {
        const struct view_links *links = &view->links[i];
        text_rate(rate, sizeof rate, links->bandwidth);
        text_time(time, sizeof time, links->latency);
        diag_print(out, "  %6u  %-28s %s, %s%s\n", links->count, links->name, rate, time, sharing[links->sharing]);
    }
    if (view->link_count > SHOWN)
        fprintf(out, "  and %u more kinds of links\n", view->link_count - SHOWN);
}

/* ---- collectives ---- */

/* The launch time that most kinds have, and those that differ from it. */
static void write_launches(FILE *out, const double *launch)
{
    char time[32];
    int usual = 0, most = 0;
    for (int kind = 0; kind < PLATFORM_COLLECTIVES; kind++) {
        int same = 0;
        for (int other = 0; other < PLATFORM_COLLECTIVES; other++)
            same += launch[other] == launch[kind];
        if (same > most) {
            most = same;
            usual = kind;
        }
    }
    text_time(time, sizeof time, launch[usual]);
    fprintf(out, "launch %s", time);
    for (int kind = 0; kind < PLATFORM_COLLECTIVES; kind++)
        if (launch[kind] != launch[usual]) {
            text_time(time, sizeof time, launch[kind]);
            fprintf(out, ", of %s %s", collective_name((enum stagesim_collective)kind), time);
        }
    fputc('\n', out);
}

static void write_protocols(FILE *out, const char *kind, const struct platform_protocol *protocols, uint32_t count)
{
    char time[32], rate[32];
    for (uint32_t i = 0; i < count; i++) {
        text_time(time, sizeof time, protocols[i].start);
        fprintf(out, "  %s%-6s  start %s, latency x %.5g, bandwidth x %.5g", kind, protocols[i].name, time,
                protocols[i].latency, protocols[i].efficiency);
        if (protocols[i].most > 0)
            fprintf(out, ", up to %.5g KiB of each rank", protocols[i].most / 1024);
        text_rate(rate, sizeof rate, protocols[i].rate);
        if (protocols[i].rate > 0)
            fprintf(out, ", a message no more than %s", rate);
        fputc('\n', out);
    }
}

static void write_regime(FILE *out, const struct platform_library *library, enum platform_scope scope)
{
    static const char *const titles[SCOPES] = {"within a node", "over nodes"};
    char time[32];
    uint32_t count;
    const struct platform_protocol *protocols = library_protocols(library, scope, &count);
    const struct platform_regime *regime = &library->regimes[scope];
    fprintf(out, "\ncollectives %s: ", titles[scope]);
    write_launches(out, regime->launch);
    write_protocols(out, "", protocols, count);
    write_protocols(out, "messages ", regime->direct, regime->direct_count);
    if (regime->in_network_start > 0) {
        text_time(time, sizeof time, regime->in_network_start);
        fprintf(out, "  reductions in switches start %s\n", time);
    }
}

/* Nothing where the platform says nothing. */
static void write_library(FILE *out, const struct view *view)
{
    const struct platform_library *library = &view->platform->library;
    bool known = false;
    for (unsigned scope = 0; scope < SCOPES; scope++) {
        uint32_t count;
        library_protocols(library, (enum platform_scope)scope, &count);
        known |= count > 0;
        for (int kind = 0; kind < PLATFORM_COLLECTIVES; kind++)
            known |= library->regimes[scope].launch[kind] > 0;
    }
    for (unsigned scope = 0; known && scope < (view->node_total > 1 ? SCOPES : SCOPE_NETWORK); scope++)
        write_regime(out, library, (enum platform_scope)scope);
    if (library->in_network != PLATFORM_REDUCES_NOWHERE)
        fprintf(out, "\nswitches reduce %s\n",
                library->in_network == PLATFORM_REDUCES_IN_NODE ? "within a node" : "everywhere");
}

void platform_text_write(FILE *out, const struct view *view, const struct zone *root)
{
    enum { KINDS_SHOWN = 8 };
    char prefix[512] = "", rate[32];
    diag_print(out, "%s: %u GPU%s in %u node%s\n\n", view->platform->file, view->platform->host_count,
               view->platform->host_count == 1 ? "" : "s", view->node_total, view->node_total == 1 ? "" : "s");
    write_zone_title(out, root);
    write_zones(out, root->child, prefix, 0, sizeof prefix);
    for (uint32_t i = 0; i < view->node_count && i < KINDS_SHOWN; i++)
        write_node(out, view, &view->nodes[i]);
    if (view->node_count > KINDS_SHOWN)
        fprintf(out, "\nand %u more kinds of nodes\n", view->node_count - KINDS_SHOWN);
    if (view->platform->host_count > 1) {
        text_rate(rate, sizeof rate, view->bisection);
        fprintf(out, "\nbisection, first half of the hosts to the second  %s\n", rate);
    }
    write_links(out, view);
    write_library(out, view);
}

/* ---- one route ---- */

void platform_route_text(FILE *out, struct platform *platform, uint32_t from, uint32_t to)
{
    struct platform_route route;
    char rate[32], time[32];
    platform->route(platform, from, to, &route);
    text_rate(rate, sizeof rate, route.bandwidth);
    text_time(time, sizeof time, route.latency);
    fprintf(out, "%s to %s: %s, %s, %u link%s\n", platform->hosts[from].name, platform->hosts[to].name, rate, time,
            route.link_count, route.link_count == 1 ? "" : "s");
    for (uint32_t i = 0; i < route.link_count; i++) {
        const struct platform_link *link = &platform->links[route.links[i]];
        text_rate(rate, sizeof rate, platform_link_rate(link));
        text_time(time, sizeof time, link->latency);
        fprintf(out, "  %-32s %s, %s\n", link->name, rate, time);
    }
}
