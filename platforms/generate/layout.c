/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/generate/layout.h"

#include "base/arena.h"
#include "platforms/generate/xml.h"
#include "platforms/library.h"

#include <string.h>

#define ROUTE_STEPS_MAX 64u

uint32_t design_group_nodes(const struct design *design)
{
    uint32_t group = design->fabric.group.nodes;
    return group && group < design->nodes ? group : design->nodes;
}

uint32_t design_pod_nodes(const struct design *design)
{
    uint32_t group = design_group_nodes(design), pod = design->fabric.pod;
    return pod && pod < group ? pod : group;
}

uint32_t design_groups(const struct design *design)
{
    uint32_t nodes = design_group_nodes(design);
    return (design->nodes + nodes - 1) / nodes;
}

uint32_t design_group_pods(const struct design *design)
{
    uint32_t pod = design_pod_nodes(design);
    return pod ? (design_group_nodes(design) + pod - 1) / pod : 0;
}

static bool keep_route(struct layout *layout, struct layout_route *route, uint32_t from, uint32_t to,
                       struct fault *fault)
{
    const struct node_graph *node = layout->design->node;
    struct node_step steps[ROUTE_STEPS_MAX];
    route->count = node_route(node, from, to, steps, ROUTE_STEPS_MAX);
    if (route->count == 0 && node->parts[to].kind == NODE_PORT)
        return fault_set(fault, "device %u of the node has no way to the network", from);
    if (route->count == 0)
        return fault_set(fault, "devices %u and %u of the node have no connection to each other", from, to);
    route->steps = arena_array(node->arena, route->count, sizeof *steps);
    memcpy(route->steps, steps, route->count * sizeof *steps);
    for (uint32_t i = 0; i < route->count; i++)
        layout->used[steps[i].cable] = true;
    return true;
}

bool layout_create(struct layout *layout, const struct design *design, struct fault *fault)
{
    const struct node_graph *node = design->node;
    uint32_t port = node_port(node), count = node_device_count(node);
    *layout = (struct layout){.design = design, .write_pod = layout_write_pod, .devices = count};
    layout->pairs = arena_array(node->arena, (size_t)count * count, sizeof *layout->pairs);
    layout->out = arena_array(node->arena, count, sizeof *layout->out);
    layout->used = arena_array(node->arena, node->cable_count + 1, sizeof *layout->used);
    layout->has_port = port != NODE_NONE;
    for (uint32_t a = 0; a < count; a++) {
        for (uint32_t b = a + 1; b < count; b++)
            if (!keep_route(layout, &layout->pairs[(size_t)a * count + b], a, b, fault))
                return false;
        if (layout->has_port && !keep_route(layout, &layout->out[a], a, port, fault))
            return false;
    }
    layout->star = count > FULL_DEVICES_MAX && node_is_star(node);
    return true;
}

void layout_write_steps(FILE *out, const struct layout *layout, uint32_t copy, const struct layout_route *route,
                        bool exits)
{
    for (uint32_t i = 0; i < route->count; i++) {
        const struct node_cable *cable = &layout->design->node->cables[route->steps[i].cable];
        xml_link_on_route(out, cable->wire->name, copy, cable->number, route->steps[i].up);
    }
    if (exits)
        layout_flow_on_route(out, layout, LEVEL_POD);
    fputs("</route>\n", out);
}

void layout_write_links(FILE *out, const struct layout *layout, uint32_t copy)
{
    const struct node_graph *node = layout->design->node;
    for (uint32_t i = 0; i < node->cable_count; i++) {
        const struct node_cable *cable = &node->cables[i];
        bool exits = node->parts[cable->ends[0]].kind == NODE_PORT || node->parts[cable->ends[1]].kind == NODE_PORT;
        if (layout->used[i])
            xml_link(out, cable->wire->name, copy, cable->number, cable->bandwidth,
                     cable->wire->latency + (exits ? layout->exit_latency : 0));
    }
}

void layout_write_hosts(FILE *out, const struct layout *layout, uint32_t copy, bool node_property)
{
    for (uint32_t i = 0; i < layout->devices; i++) {
        const struct node_part *device = &layout->design->node->parts[i];
        fprintf(out, "      <host id=\"%s-%u-%u\" speed=\"", layout->design->prefix, copy, i);
        xml_speed(out, device);
        fputs("\">\n", out);
        xml_properties(out, device, 8);
        if (node_property)
            fprintf(out, "        <prop id=\"node\" value=\"node-%u\"/>\n", copy);
        if (layout->design->interface)
            fprintf(out, "        <prop id=\"nic\" value=\"%s\"/>\n", layout->design->interface);
        fputs("      </host>\n", out);
    }
}

void layout_write_single_hosts(FILE *out, const struct design *design, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, "    <host id=\"%s-%u\" speed=\"", design->prefix, i);
        xml_speed(out, &design->node->parts[0]);
        fputs("\">\n", out);
        xml_properties(out, &design->node->parts[0], 6);
        fputs("    </host>\n", out);
    }
}

void layout_write_pairs(FILE *out, const struct layout *layout, uint32_t copy)
{
    const char *prefix = layout->design->prefix;
    for (uint32_t a = 0; a < layout->devices; a++)
        for (uint32_t b = a + 1; b < layout->devices; b++) {
            fprintf(out, "      <route src=\"%s-%u-%u\" dst=\"%s-%u-%u\">", prefix, copy, a, prefix, copy, b);
            layout_write_steps(out, layout, copy, &layout->pairs[(size_t)a * layout->devices + b], false);
        }
}

/* Devices to their switch: Floyd finds the rest. The switch is declared before the port, so that it wins should both be
 * as near. */
static void write_star_routes(FILE *out, const struct layout *layout, uint32_t copy)
{
    const char *prefix = layout->design->prefix;
    for (uint32_t a = 0; a < layout->devices; a++) {
        struct layout_route half = layout->pairs[a ? a : 1];
        struct node_step step = a ? half.steps[1] : half.steps[0];
        step.up = a ? !step.up : step.up;
        half = (struct layout_route){1, &step};
        fprintf(out, "      <route src=\"%s-%u-%u\" dst=\"switch-%u\">", prefix, copy, a, copy);
        layout_write_steps(out, layout, copy, &half, false);
    }
}

/* To the interface that joins the designs: the way out but for the interface at its end, where that leaves anything. */
static void write_ways_to_joint(FILE *out, const struct layout *layout, uint32_t copy)
{
    for (uint32_t a = 0; a < layout->devices; a++) {
        struct layout_route route = layout->out[a];
        route.count = layout_to_joint(&route);
        fprintf(out, "      <route src=\"%s-%u-%u\" dst=\"joint-port-%u\">", layout->design->prefix, copy, a, copy);
        layout_write_steps(out, layout, copy, &route, false);
    }
}

void layout_write_library(FILE *out, const struct design *design)
{
    if (design->library)
        library_write(out, &design->library->properties, design->nodes > 1 ? 4 : 6);
}

void layout_write_node(FILE *out, const struct layout *layout, uint32_t copy, bool own_links)
{
    fprintf(out, "    <zone id=\"node-%u\" routing=\"%s\">\n", copy, layout->star ? "Floyd" : "Full");
    if (own_links && layout->design->nodes == 1)
        layout_write_library(out, layout->design);
    layout_write_hosts(out, layout, copy, false);
    if (layout->star)
        fprintf(out, "      <router id=\"switch-%u\"/>\n", copy);
    if (layout->has_port)
        fprintf(out, "      <router id=\"port-%u\"/>\n", copy);
    if (layout->joint) /* the last one, so that no way inside the node leads over it */
        fprintf(out, "      <router id=\"joint-port-%u\"/>\n", copy);
    if (own_links)
        layout_write_links(out, layout, copy);
    if (layout->star)
        write_star_routes(out, layout, copy);
    else
        layout_write_pairs(out, layout, copy);
    for (uint32_t a = 0; a < layout->devices && layout->has_port; a++) {
        fprintf(out, "      <route src=\"%s-%u-%u\" dst=\"port-%u\">", layout->design->prefix, copy, a, copy);
        layout_write_steps(out, layout, copy, &layout->out[a], false);
    }
    if (layout->joint)
        write_ways_to_joint(out, layout, copy);
    fputs("    </zone>\n", out);
}

void layout_write_uplinks(FILE *out, const struct layout *layout, uint32_t first, uint32_t past, uint32_t pod)
{
    for (uint32_t i = first; i < past; i++) {
        fprintf(out, "    <zoneRoute src=\"node-%u\" dst=\"leaf-%u\" gw_src=\"port-%u\" gw_dst=\"leaf-switch-%u\">", i,
                pod, i, pod);
        xml_link_on_route(out, "uplink", i, NODE_NONE, true);
        layout_flow_on_route(out, layout, LEVEL_POD);
        fputs("</zoneRoute>\n", out);
    }
}

void layout_write_switch(FILE *out, const char *zone, const char *router, uint32_t number)
{
    if (number == NODE_NONE)
        fprintf(out, "    <zone id=\"%s\" routing=\"Full\"><router id=\"%s\"/></zone>\n", zone, router);
    else
        fprintf(out, "    <zone id=\"%s-%u\" routing=\"Full\"><router id=\"%s-%u\"/></zone>\n", zone, number, router,
                number);
}

void layout_write_pod(FILE *out, const struct layout *layout, uint32_t pod, uint32_t first, uint32_t past)
{
    first += layout->first_node;
    past += layout->first_node;
    fprintf(out, "    <zone id=\"pod-%u\" routing=\"Floyd\">\n", pod);
    layout_write_switch(out, "leaf", "leaf-switch", pod);
    for (uint32_t i = first; i < past; i++)
        layout_write_node(out, layout, i, false);
    if (layout->joint) /* after the leaf, which is as near and has to win */
        layout_write_switch(out, "joint-leaf", "joint-leaf-switch", pod);
    layout_write_uplinks(out, layout, first, past, pod);
    for (uint32_t i = first; i < past && layout->joint; i++) {
        fprintf(out,
                "    <zoneRoute src=\"node-%u\" dst=\"joint-leaf-%u\" gw_src=\"joint-port-%u\" "
                "gw_dst=\"joint-leaf-switch-%u\">",
                i, pod, i, pod);
        xml_link_on_route(out, layout->joint->wire->name, i, NODE_NONE, true);
        layout_joint_flow_on_route(out, layout);
        fputs("</zoneRoute>\n", out);
    }
    fputs("    </zone>\n", out);
}

/* ---- the joint of several designs ---- */

/* Pods of the design, from the first. */
static uint32_t pod_nodes(const struct layout *layout, uint32_t pod)
{
    uint32_t size = layout->design->fabric.pod, before = pod * size;
    return layout->design->nodes - before < size ? layout->design->nodes - before : size;
}

void layout_write_joint_links(FILE *out, const struct layout *layout)
{
    const struct wire *join = layout->joint->wire;
    const struct design *design = layout->design;
    double bandwidth = join->effective * 1e9;
    for (uint32_t i = 0; i < design->nodes; i++)
        xml_link(out, join->name, layout->first_node + i, NODE_NONE, bandwidth, join->latency);
    for (uint32_t pod = 0; pod * design->fabric.pod < design->nodes; pod++)
        xml_link(out, "joint", layout->first_pod + pod, NODE_NONE, bandwidth * pod_nodes(layout, pod), 0);
}

void layout_write_joint_routes(FILE *out, const struct layout *layout)
{
    for (uint32_t i = 0; i * layout->design->fabric.pod < layout->design->nodes; i++) {
        uint32_t pod = layout->first_pod + i;
        fprintf(out,
                "    <zoneRoute src=\"pod-%u\" dst=\"joint\" gw_src=\"joint-leaf-switch-%u\" gw_dst=\"joint-switch\">",
                pod, pod);
        xml_link_on_route(out, "joint", pod, NODE_NONE, true);
        layout_joint_flow_on_route(out, layout);
        fputs("</zoneRoute>\n", out);
    }
}
