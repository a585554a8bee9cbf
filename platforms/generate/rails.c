/* SPDX-License-Identifier: Apache-2.0 */
/* Rails: interface k of all nodes of a pod is on leaf switch k, and the leaf switches of a pod meet in the spine.
 * Between two zones SimGrid has one way, so the nodes of such a pod are no zones: their devices stand in the pod's own,
 * with the node as a property. Floyd takes the way of the fewest links and, of several, the one whose switches are
 * declared first. */
#include "base/rounded/rounded.h"
#include "platforms/generate/layout.h"
#include "platforms/generate/xml.h"

#include <math.h>

/* The rail of a device: the number of its interface. */
static uint32_t rail_of(const struct layout *layout, uint32_t device)
{
    const struct layout_route *out = &layout->out[device];
    return layout->design->node->cables[out->steps[out->count - 1].cable].number;
}

static uint32_t rail_count(const struct layout *layout)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < layout->devices; i++)
        if (rail_of(layout, i) >= count)
            count = rail_of(layout, i) + 1;
    return count;
}

bool rails_check(const struct layout *layout, struct fault *fault)
{
    const struct design *design = layout->design;
    if (design->fabric.kind != FABRIC_SWITCHED || !layout->has_port || !node_is_star(design->node))
        return fault_set(fault,
                         "rails need nodes whose devices all hang on one switch, with network interfaces of their own");
    bool planes = design->fabric.rails == RAILS_PLANES; /* all of them are one zone */
    double hosts =
        (design->nodes < design->fabric.pod || planes ? design->nodes : design->fabric.pod) * (double)layout->devices;
    double pods = planes ? 1 : ceil((double)design->nodes / design->fabric.pod);
    if (pods * rounded_pow(hosts, 3) > 8e9)
        return fault_set(fault, "%u nodes in %s of %u: SimGrid would take minutes to find the routes; try %s",
                         design->nodes, planes ? "planes over pods" : "pods", design->fabric.pod,
                         planes ? "fewer nodes" : "a smaller --pod");
    return true;
}

static double rail_bandwidth(const struct layout *layout, uint32_t rail)
{
    const struct node_graph *node = layout->design->node;
    for (uint32_t i = 0; i < layout->devices; i++)
        if (rail_of(layout, i) == rail)
            return node->cables[layout->out[i].steps[layout->out[i].count - 1].cable].bandwidth;
    return 0;
}

/* `rail-POD-k` is what leaf switch k of the pod has upwards, `spine-POD` what a pod has in all: no less. */
void rails_write_links(FILE *out, const struct layout *layout, uint32_t pods)
{
    const struct fabric *fabric = &layout->design->fabric;
    uint32_t nodes = design_pod_nodes(layout->design);
    for (uint32_t i = 0; i < layout->design->nodes; i++)
        layout_write_links(out, layout, i);
    for (uint32_t pod = 0; pod < pods; pod++) {
        double sum = 0;
        for (uint32_t rail = 0; rail < rail_count(layout); rail++) {
            double bandwidth = rail_bandwidth(layout, rail) * nodes / fabric->oversubscription;
            xml_link(out, "rail", pod, rail, bandwidth, fabric->hop);
            sum += bandwidth;
        }
        if (pods > 1 && fabric->rails != RAILS_PLANES)
            xml_link(out, "spine", pod, NODE_NONE, sum, fabric->hop);
    }
    layout_write_flow_link(out, layout, LEVEL_POD);
}

static void write_routers(FILE *out, uint32_t pod, uint32_t rails)
{
    for (uint32_t rail = 0; rail < rails; rail++)
        fprintf(out, "      <router id=\"leaf-switch-%u-%u\"/>\n", pod, rail);
}

/* From device `a` of a node to its own leaf switch. */
static void write_exit(FILE *out, const struct layout *layout, uint32_t pod, uint32_t copy, uint32_t a)
{
    fprintf(out, "      <route src=\"%s-%u-%u\" dst=\"leaf-switch-%u-%u\">", layout->design->prefix, copy, a, pod,
            rail_of(layout, a));
    layout_write_steps(out, layout, copy, &layout->out[a], true);
}

/* From device `a` through device `b` of the same node to the leaf switch of b. One way only: what arrives on another
 * rail was forwarded by its sender. */
static void write_detour(FILE *out, const struct layout *layout, uint32_t pod, uint32_t copy, uint32_t a, uint32_t b)
{
    const char *prefix = layout->design->prefix;
    struct node_step steps[64];
    uint32_t count = node_route(layout->design->node, a, b, steps, 32);
    for (uint32_t i = 0; i < layout->out[b].count; i++)
        steps[count++] = layout->out[b].steps[i];
    struct layout_route route = {count, steps};
    fprintf(out, "      <route src=\"%s-%u-%u\" dst=\"leaf-switch-%u-%u\" symmetrical=\"NO\">", prefix, copy, a, pod,
            rail_of(layout, b));
    layout_write_steps(out, layout, copy, &route, true);
}

/* The first device on each other rail forwards. */
static void write_detours(FILE *out, const struct layout *layout, uint32_t pod, uint32_t copy, uint32_t a)
{
    for (uint32_t rail = 0; rail < rail_count(layout); rail++)
        for (uint32_t b = 0; b < layout->devices; b++)
            if (rail_of(layout, b) == rail) {
                if (rail != rail_of(layout, a))
                    write_detour(out, layout, pod, copy, a, b);
                break;
            }
}

/* A node's ways to the leaf switches of its pod: out of its own interfaces, and through other devices. */
static void write_node_ways(FILE *out, const struct layout *layout, uint32_t pod, uint32_t copy)
{
    layout_write_pairs(out, layout, copy);
    for (uint32_t a = 0; a < layout->devices; a++) {
        write_exit(out, layout, pod, copy, a);
        if (layout->design->fabric.rails != RAILS_SPINE)
            write_detours(out, layout, pod, copy, a);
    }
}

void rails_write_pod(FILE *out, const struct layout *layout, uint32_t pod, uint32_t first, uint32_t past)
{
    bool over_nvlink = layout->design->fabric.rails == RAILS_NVLINK;
    uint32_t rails = rail_count(layout);
    fprintf(out, "    <zone id=\"pod-%u\" routing=\"Floyd\">\n", pod);
    write_routers(out, pod, rails);
    if (!over_nvlink) /* before the devices: the way over the spine wins against one through them */
        fprintf(out, "      <router id=\"pod-switch-%u\"/>\n", pod);
    for (uint32_t i = first; i < past; i++)
        layout_write_hosts(out, layout, i, true);
    if (over_nvlink)
        fprintf(out, "      <router id=\"pod-switch-%u\"/>\n", pod);
    for (uint32_t i = first; i < past; i++)
        write_node_ways(out, layout, pod, i);
    for (uint32_t rail = 0; rail < rails; rail++) {
        fprintf(out, "      <route src=\"leaf-switch-%u-%u\" dst=\"pod-switch-%u\">", pod, rail, pod);
        xml_link_on_route(out, "rail", pod, rail, true);
        fputs("</route>\n", out);
    }
    fputs("    </zone>\n", out);
}

/* Leaf switch k of every pod meets those of the same number in spine switch k, and no others. Planes cross pods, so
 * they are all one zone. */
void rails_write_planes(FILE *out, const struct layout *layout)
{
    const struct design *design = layout->design;
    uint32_t rails = rail_count(layout), pods = design_group_pods(design);
    fputs("  <zone id=\"cluster\" routing=\"Floyd\">\n", out);
    layout_write_library(out, design);
    for (uint32_t rail = 0; rail < rails && pods > 1; rail++)
        fprintf(out, "      <router id=\"spine-switch-%u\"/>\n", rail);
    for (uint32_t pod = 0; pod < pods; pod++)
        write_routers(out, pod, rails);
    for (uint32_t i = 0; i < design->nodes; i++)
        layout_write_hosts(out, layout, i, true);
    rails_write_links(out, layout, pods);
    if (pods > 1)
        layout_write_flow_link(out, layout, LEVEL_SPINE);
    for (uint32_t i = 0; i < design->nodes; i++)
        write_node_ways(out, layout, design_pod_of(design, i), i);
    for (uint32_t pod = 0; pod < pods && pods > 1; pod++)
        for (uint32_t rail = 0; rail < rails; rail++) {
            fprintf(out, "      <route src=\"leaf-switch-%u-%u\" dst=\"spine-switch-%u\">", pod, rail, rail);
            xml_link_on_route(out, "rail", pod, rail, true);
            layout_flow_on_route(out, layout, LEVEL_SPINE);
            fputs("</route>\n", out);
        }
    fputs("  </zone>\n", out);
}
