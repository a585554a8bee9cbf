/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/generate.h"

#include "platforms/library.h"
#include "platforms/xml.h"
#include "simulator/arena.h"

#include <math.h>
#include <string.h>

/* Full routing tables grow with the square of the devices; a larger star is written as a Floyd zone around its switch. */
#define FULL_DEVICES_MAX 16u
#define ROUTE_STEPS_MAX 64u

struct route {
    uint32_t count;
    struct node_step *steps;
};

/* The design with the routes of its node, found once and written for every copy. */
struct layout {
    const struct design *design;
    uint32_t devices;
    bool star, has_port;
    struct route *pairs; /* [a * devices + b] for a < b */
    struct route *out;   /* to the port */
    bool *used;          /* by cable: on some route */
};

static bool keep_route(struct layout *layout, struct route *route, uint32_t from, uint32_t to, struct fault *fault)
{
    const struct node *node = layout->design->node;
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

static bool layout_routes(struct layout *layout, struct fault *fault)
{
    const struct node *node = layout->design->node;
    uint32_t port = node_port(node), count = layout->devices;
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

static void write_steps(FILE *out, const struct layout *layout, uint32_t node, const struct route *route)
{
    for (uint32_t i = 0; i < route->count; i++) {
        const struct node_cable *cable = &layout->design->node->cables[route->steps[i].cable];
        xml_link_on_route(out, cable->wire->name, node, cable->number, route->steps[i].up);
    }
    fputs("</route>\n", out);
}

static void write_links(FILE *out, const struct layout *layout, uint32_t copy)
{
    const struct node *node = layout->design->node;
    for (uint32_t i = 0; i < node->cable_count; i++)
        if (layout->used[i])
            xml_link(out, node->cables[i].wire->name, copy, node->cables[i].number, node->cables[i].bandwidth,
                     node->cables[i].wire->latency);
}

static void write_hosts(FILE *out, const struct layout *layout, uint32_t copy)
{
    for (uint32_t i = 0; i < layout->devices; i++) {
        const struct node_part *device = &layout->design->node->parts[i];
        fprintf(out, "      <host id=\"%s-%u-%u\" speed=\"", layout->design->prefix, copy, i);
        xml_speed(out, device);
        fputs("\">\n", out);
        xml_properties(out, device, 8);
        fputs("      </host>\n", out);
    }
}

static void write_full_routes(FILE *out, const struct layout *layout, uint32_t copy)
{
    const char *prefix = layout->design->prefix;
    for (uint32_t a = 0; a < layout->devices; a++)
        for (uint32_t b = a + 1; b < layout->devices; b++) {
            fprintf(out, "      <route src=\"%s-%u-%u\" dst=\"%s-%u-%u\">", prefix, copy, a, prefix, copy, b);
            write_steps(out, layout, copy, &layout->pairs[(size_t)a * layout->devices + b]);
        }
}

/* Devices to their switch: Floyd finds the rest. The switch is declared before the port, so that it wins should both be as
 * near. */
static void write_star_routes(FILE *out, const struct layout *layout, uint32_t copy)
{
    const char *prefix = layout->design->prefix;
    for (uint32_t a = 0; a < layout->devices; a++) {
        struct route half = layout->pairs[a ? a : 1];
        struct node_step step = a ? half.steps[1] : half.steps[0];
        step.up = a ? !step.up : step.up;
        half = (struct route){1, &step};
        fprintf(out, "      <route src=\"%s-%u-%u\" dst=\"switch-%u\">", prefix, copy, a, copy);
        write_steps(out, layout, copy, &half);
    }
}

/* The properties of the outermost zone. */
static void write_library(FILE *out, const struct design *design)
{
    if (design->library)
        library_write(out, &design->library->properties, design->nodes > 1 ? 4 : 6);
}

/* `own_links`: the links are declared in the node's zone, not in the outermost one. SimGrid looks names up zone by zone, so
 * this is for a few nodes only. */
static void write_node(FILE *out, const struct layout *layout, uint32_t copy, bool own_links)
{
    fprintf(out, "    <zone id=\"node-%u\" routing=\"%s\">\n", copy, layout->star ? "Floyd" : "Full");
    if (layout->design->nodes == 1)
        write_library(out, layout->design);
    write_hosts(out, layout, copy);
    if (layout->star)
        fprintf(out, "      <router id=\"switch-%u\"/>\n", copy);
    if (layout->has_port)
        fprintf(out, "      <router id=\"port-%u\"/>\n", copy);
    if (own_links)
        write_links(out, layout, copy);
    if (layout->star)
        write_star_routes(out, layout, copy);
    else
        write_full_routes(out, layout, copy);
    for (uint32_t a = 0; a < layout->devices && layout->has_port; a++) {
        fprintf(out, "      <route src=\"%s-%u-%u\" dst=\"port-%u\">", layout->design->prefix, copy, a, copy);
        write_steps(out, layout, copy, &layout->out[a]);
    }
    fputs("    </zone>\n", out);
}

/* A zone that holds nothing but one switch. */
static void write_switch_zone(FILE *out, const char *zone, const char *router)
{
    fprintf(out, "    <zone id=\"%s\" routing=\"Full\"><router id=\"%s\"/></zone>\n", zone, router);
}

static void write_node_routes(FILE *out, uint32_t first, uint32_t past, uint32_t pod)
{
    for (uint32_t i = first; i < past; i++) {
        fprintf(out, "    <zoneRoute src=\"node-%u\" dst=\"leaf-%u\" gw_src=\"port-%u\" gw_dst=\"leaf-switch-%u\">", i, pod, i, pod);
        xml_link_on_route(out, "uplink", i, NODE_NONE, true);
        fputs("</zoneRoute>\n", out);
    }
}

static void write_uplinks(FILE *out, const struct layout *layout)
{
    double bandwidth = node_port_bandwidth(layout->design->node);
    for (uint32_t i = 0; i < layout->design->nodes; i++)
        xml_link(out, "uplink", i, NODE_NONE, bandwidth, layout->design->fabric.hop);
}

static void write_pod(FILE *out, const struct layout *layout, uint32_t pod, uint32_t first, uint32_t past)
{
    char zone[32], router[32];
    snprintf(zone, sizeof zone, "leaf-%u", pod);
    snprintf(router, sizeof router, "leaf-switch-%u", pod);
    fprintf(out, "    <zone id=\"pod-%u\" routing=\"Floyd\">\n", pod);
    write_switch_zone(out, zone, router);
    for (uint32_t i = first; i < past; i++)
        write_node(out, layout, i, false);
    write_node_routes(out, first, past, pod);
    fputs("    </zone>\n", out);
}

static void write_pods(FILE *out, const struct layout *layout)
{
    const struct design *design = layout->design;
    uint32_t size = design->fabric.pod, pods = (design->nodes + size - 1) / size;
    double bandwidth = node_port_bandwidth(design->node) * size / design->fabric.oversubscription;
    fputs("  <zone id=\"cluster\" routing=\"Floyd\">\n", out);
    write_library(out, design);
    write_switch_zone(out, "spine", "spine-switch");
    for (uint32_t i = 0; i < design->nodes; i++)
        write_links(out, layout, i);
    write_uplinks(out, layout);
    for (uint32_t pod = 0; pod < pods; pod++)
        xml_link(out, "spine", pod, NODE_NONE, bandwidth, design->fabric.hop);
    for (uint32_t pod = 0; pod < pods; pod++)
        write_pod(out, layout, pod, pod * size, pod + 1 < pods ? (pod + 1) * size : design->nodes);
    for (uint32_t pod = 0; pod < pods; pod++) {
        fprintf(out, "    <zoneRoute src=\"pod-%u\" dst=\"spine\" gw_src=\"leaf-switch-%u\" gw_dst=\"spine-switch\">", pod, pod);
        xml_link_on_route(out, "spine", pod, NODE_NONE, true);
        fputs("</zoneRoute>\n", out);
    }
    fputs("  </zone>\n", out);
}

/* Nodes around one leaf switch. */
static void write_one_pod(FILE *out, const struct layout *layout)
{
    uint32_t nodes = layout->design->nodes;
    fputs("  <zone id=\"cluster\" routing=\"Floyd\">\n", out);
    write_library(out, layout->design);
    write_switch_zone(out, "leaf-0", "leaf-switch-0");
    for (uint32_t i = 0; i < nodes; i++)
        write_links(out, layout, i);
    write_uplinks(out, layout);
    for (uint32_t i = 0; i < nodes; i++)
        write_node(out, layout, i, false);
    write_node_routes(out, 0, nodes, 0);
    fputs("  </zone>\n", out);
}

static void write_ring(FILE *out, const struct layout *layout)
{
    const struct fabric *fabric = &layout->design->fabric;
    uint32_t nodes = layout->design->nodes, cables = nodes == 2 ? 1 : nodes;
    fputs("  <zone id=\"cluster\" routing=\"Floyd\">\n", out);
    write_library(out, layout->design);
    for (uint32_t i = 0; i < nodes; i++)
        write_node(out, layout, i, true);
    for (uint32_t i = 0; i < cables; i++)
        xml_link(out, fabric->wire->name, i, NODE_NONE, fabric->wire->effective * 1e9, fabric->wire->latency);
    for (uint32_t i = 0; i < cables; i++) {
        uint32_t next = (i + 1) % nodes;
        fprintf(out, "    <zoneRoute src=\"node-%u\" dst=\"node-%u\" gw_src=\"port-%u\" gw_dst=\"port-%u\">", i, next, i, next);
        xml_link_on_route(out, fabric->wire->name, i, NODE_NONE, true);
        fputs("</zoneRoute>\n", out);
    }
    fputs("  </zone>\n", out);
}

static void write_mesh_routes(FILE *out, const struct design *design)
{
    uint32_t number = 0;
    for (uint32_t a = 0; a < design->nodes; a++)
        for (uint32_t b = a + 1; b < design->nodes; b++) {
            fprintf(out, "    <route src=\"%s-%u\" dst=\"%s-%u\">", design->prefix, a, design->prefix, b);
            xml_link_on_route(out, design->fabric.wire->name, number++, NODE_NONE, true);
            fputs("</route>\n", out);
        }
}

/* Single devices in one zone, a private link between every two. */
static void write_mesh(FILE *out, const struct design *design)
{
    const struct wire *wire = design->fabric.wire;
    fputs("  <zone id=\"mesh\" routing=\"Full\">\n", out);
    for (uint32_t i = 0; i < design->nodes; i++) {
        fprintf(out, "    <host id=\"%s-%u\" speed=\"", design->prefix, i);
        xml_speed(out, &design->node->parts[0]);
        fputs("\">\n", out);
        xml_properties(out, &design->node->parts[0], 6);
        fputs("    </host>\n", out);
    }
    for (uint32_t i = 0; i < design->nodes * (design->nodes - 1) / 2; i++)
        xml_link(out, wire->name, i, NODE_NONE, wire->effective * 1e9, wire->latency);
    write_mesh_routes(out, design);
    fputs("  </zone>\n", out);
}

/* SimGrid's own torus or dragonfly of single devices. */
static void write_cluster(FILE *out, const struct design *design)
{
    const struct fabric *fabric = &design->fabric;
    const struct wire *wire = fabric->wire;
    const uint32_t *size = fabric->dimensions;
    bool torus = fabric->kind == FABRIC_TORUS;
    uint32_t count = node_device_count(design->node) * design->nodes;
    fprintf(out, "  <cluster id=\"cluster\" prefix=\"%s-\" suffix=\"\" radical=\"0-%u\" speed=\"", design->prefix, count - 1);
    xml_speed(out, &design->node->parts[0]);
    fputs("\"\n           bw=\"", out);
    xml_bandwidth(out, wire->effective * 1e9);
    fputs("\" lat=\"", out);
    xml_latency(out, wire->latency);
    fprintf(out, "\" sharing_policy=\"SPLITDUPLEX\" topology=\"%s\" topo_parameters=\"", torus ? "TORUS" : "DRAGONFLY");
    for (uint32_t i = 0; torus && i < 4 && size[i]; i++)
        fprintf(out, "%s%u", i ? "," : "", size[i]);
    if (!torus) {
        double spread = size[0] > 1 ? (double)size[1] * size[2] * size[3] / fabric->oversubscription / (size[0] - 1) : 1;
        fprintf(out, "%u,%u;%u,4;%u,4;%u", size[0], spread < 1 ? 1 : (unsigned)spread, size[1], size[2], size[3]);
    }
    fputs("\">\n", out);
    xml_properties(out, &design->node->parts[0], 4);
    write_library(out, design);
    fputs("  </cluster>\n", out);
}

/* SimGrid finds the routes of a Floyd zone in the cube of its children: seconds for a thousand of them. */
static bool check_routing(const struct design *design, struct fault *fault)
{
    double limit = 4e9, nodes = design->nodes, pod = design->fabric.pod < nodes ? design->fabric.pod : nodes, pods = ceil(nodes / pod);
    if (design->fabric.kind != FABRIC_SWITCHED || pods * pow(pod + 1, 3) + pow(pods + 1, 3) <= limit)
        return true;
    double best = ceil(pow(1.5 * nodes * nodes, 0.2)); /* makes the sum of both cubes least */
    return fault_set(fault, "%u nodes in pods of %u: SimGrid would take minutes to find the routes; try --pod %.0f", design->nodes,
                     design->fabric.pod, best < 64 ? 64 : best);
}

static bool write_nodes(FILE *out, struct layout *layout, struct fault *fault)
{
    if (!check_routing(layout->design, fault) || !layout_routes(layout, fault))
        return false;
    if (layout->design->nodes > 1 && !layout->has_port)
        return fault_set(fault, "the node has no network interface, so several nodes cannot be joined: use one node");
    xml_head(out, layout->design);
    if (layout->design->nodes == 1)
        write_node(out, layout, 0, true);
    else if (layout->design->fabric.kind == FABRIC_RING)
        write_ring(out, layout);
    else if (layout->design->nodes <= layout->design->fabric.pod)
        write_one_pod(out, layout);
    else
        write_pods(out, layout);
    return true;
}

bool design_write(const struct design *design, FILE *out, struct fault *fault)
{
    struct layout layout = {.design = design, .devices = node_device_count(design->node)};
    if (layout.devices == 0)
        return fault_set(fault, "the node has no device that could hold a rank");
    if (design->nodes == 0 || design->nodes > DESIGN_NODES_MAX || (uint64_t)design->nodes * layout.devices > DESIGN_DEVICES_MAX)
        return fault_set(fault, "%u nodes of %u devices: a platform has 1 to %u nodes and at most %u devices", design->nodes,
                         layout.devices, DESIGN_NODES_MAX, DESIGN_DEVICES_MAX);
    switch (design->fabric.kind) {
    case FABRIC_SWITCHED:
    case FABRIC_RING:
        if (!write_nodes(out, &layout, fault))
            return false;
        break;
    case FABRIC_TORUS:
    case FABRIC_DRAGONFLY:
        xml_head(out, design);
        write_cluster(out, design);
        break;
    case FABRIC_MESH:
        xml_head(out, design);
        write_mesh(out, design);
        break;
    }
    xml_tail(out);
    return true;
}
