/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/generate/generate.h"

#include "base/arena.h"
#include "base/rounded/rounded.h"
#include "platforms/generate/layout.h"
#include "platforms/generate/xml.h"

#include <math.h>
#include <string.h>

static void write_uplinks(FILE *out, const struct layout *layout)
{
    double bandwidth = node_port_bandwidth(layout->design->node);
    for (uint32_t i = 0; i < layout->design->nodes; i++)
        xml_link(out, "uplink", layout->first_node + i, NODE_NONE, bandwidth, layout->design->fabric.hop);
    layout_write_flow_link(out, layout, LEVEL_POD);
}

static void write_node_links(FILE *out, const struct layout *layout)
{
    for (uint32_t i = 0; i < layout->design->nodes; i++)
        layout_write_links(out, layout, layout->first_node + i);
    write_uplinks(out, layout);
}

static uint32_t pod_count(const struct design *design)
{
    return design->nodes ? design_pod_of(design, design->nodes - 1) + 1 : 0;
}

/* The ways of all pods to their spine; only where there are several. */
static void write_spine_links(FILE *out, const struct layout *layout)
{
    const struct design *design = layout->design;
    double bandwidth = node_port_bandwidth(design->node) * design_pod_nodes(design) / design->fabric.oversubscription;
    for (uint32_t pod = 0; pod < pod_count(design) && pod_count(design) > 1; pod++)
        xml_link(out, "spine", layout->first_pod + pod, NODE_NONE, bandwidth, design->fabric.hop);
}

/* Limits of transfers that leave their pod. */
static void write_flow_links(FILE *out, const struct layout *layout)
{
    if (pod_count(layout->design) > 1)
        layout_write_flow_link(out, layout, LEVEL_SPINE);
    if (design_groups(layout->design) > 1)
        layout_write_flow_link(out, layout, LEVEL_TOP);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The pods of the nodes `first` to `past` - 1, which begin a pod. */
static void write_design_pods(FILE *out, const struct layout *layout, uint32_t first, uint32_t past)
{
    const struct design *design = layout->design;
    for (uint32_t size = design->fabric.pod; first < past; first += least(size, past - first))
        layout->write_pod(out, layout, layout->first_pod + design_pod_of(design, first), first,
                          first + least(size, past - first));
}

/* From the pods `first` to `past` - 1 of the design to the zone spine-suffix. */
static void write_spine_routes(FILE *out, const struct layout *layout, uint32_t first, uint32_t past,
                               const char *suffix)
{
    const char *gateway = layout->design->fabric.rails == RAILS_NONE ? "leaf" : "pod";
    for (uint32_t i = first; i < past; i++) {
        uint32_t pod = layout->first_pod + i;
        fprintf(out, "    <zoneRoute src=\"pod-%u\" dst=\"spine%s\" gw_src=\"%s-switch-%u\" gw_dst=\"spine-switch%s\">",
                pod, suffix, gateway, pod, suffix);
        xml_link_on_route(out, "spine", pod, NODE_NONE, true);
        layout_flow_on_route(out, layout, LEVEL_SPINE);
        fputs("</zoneRoute>\n", out);
    }
}

/* A group of pods around a spine of its own: the zone group-NUMBER. */
static void write_group(FILE *out, const struct layout *layout, uint32_t group)
{
    const struct design *design = layout->design;
    uint32_t nodes = design_group_nodes(design), first = group * nodes,
             past = first + least(nodes, design->nodes - first);
    char number[16];
    snprintf(number, sizeof number, "-%u", group);
    fprintf(out, "    <zone id=\"group-%u\" routing=\"Floyd\">\n", group);
    layout_write_switch(out, "spine", "spine-switch", group);
    write_design_pods(out, layout, first, past);
    write_spine_routes(out, layout, design_pod_of(design, first), design_pod_of(design, past - 1) + 1, number);
    fputs("    </zone>\n", out);
}

/* One link of every group to the switch on top, or one for every two groups. */
static void write_group_links(FILE *out, const struct layout *layout)
{
    const struct fabric_group *level = &layout->design->fabric.group;
    uint32_t groups = design_groups(layout->design);
    for (uint32_t a = 0; a < groups; a++) {
        if (!level->direct)
            xml_link(out, level->links, a, NODE_NONE, level->rate, level->hop);
        for (uint32_t b = a + 1; b < groups && level->direct; b++)
            xml_link(out, level->links, a, b, level->rate / (groups - 1), 2 * level->hop);
    }
}

/* A way over the level on top; `to` is NODE_NONE for the switch there. */
static void write_top_route(FILE *out, const struct layout *layout, uint32_t from, uint32_t to)
{
    fprintf(out, "    <zoneRoute src=\"group-%u\" ", from);
    if (to == NODE_NONE)
        fprintf(out, "dst=\"core\" gw_src=\"spine-switch-%u\" gw_dst=\"core-switch\">", from);
    else
        fprintf(out, "dst=\"group-%u\" gw_src=\"spine-switch-%u\" gw_dst=\"spine-switch-%u\">", to, from, to);
    xml_link_on_route(out, layout->design->fabric.group.links, from, to, true);
    layout_flow_on_route(out, layout, LEVEL_TOP);
    fputs("</zoneRoute>\n", out);
}

/* Groups around the switch on top, or each beside all others. */
static void write_groups(FILE *out, const struct layout *layout)
{
    uint32_t groups = design_groups(layout->design);
    bool direct = layout->design->fabric.group.direct;
    for (uint32_t group = 0; group < groups; group++)
        write_group(out, layout, group);
    for (uint32_t a = 0; a < groups; a++) {
        if (!direct)
            write_top_route(out, layout, a, NODE_NONE);
        for (uint32_t b = a + 1; b < groups && direct; b++)
            write_top_route(out, layout, a, b);
    }
}

static void write_pods(FILE *out, const struct layout *layout)
{
    const struct design *design = layout->design;
    bool grouped = design_groups(design) > 1;
    fputs("  <zone id=\"cluster\" routing=\"Floyd\">\n", out);
    layout_write_library(out, design);
    if (!grouped)
        layout_write_switch(out, "spine", "spine-switch", NODE_NONE);
    else
        layout_write_switch(out, "core", "core-switch", NODE_NONE);
    if (design->fabric.rails == RAILS_NONE) {
        write_node_links(out, layout);
        write_spine_links(out, layout);
    } else
        rails_write_links(out, layout, pod_count(design));
    write_flow_links(out, layout);
    if (grouped) {
        write_group_links(out, layout);
        write_groups(out, layout);
    } else
        write_design_pods(out, layout, 0, design->nodes);
    if (!grouped && pod_count(design) > 1)
        write_spine_routes(out, layout, 0, pod_count(design), "");
    fputs("  </zone>\n", out);
}

/* Nodes around one leaf switch. */
static void write_one_pod(FILE *out, const struct layout *layout)
{
    fputs("  <zone id=\"cluster\" routing=\"Floyd\">\n", out);
    layout_write_library(out, layout->design);
    layout_write_switch(out, "leaf", "leaf-switch", 0);
    write_node_links(out, layout);
    for (uint32_t i = 0; i < layout->design->nodes; i++)
        layout_write_node(out, layout, i, false);
    layout_write_uplinks(out, layout, 0, layout->design->nodes, 0);
    fputs("  </zone>\n", out);
}

static void write_ring(FILE *out, const struct layout *layout)
{
    const struct fabric *fabric = &layout->design->fabric;
    uint32_t nodes = layout->design->nodes, cables = nodes == 2 ? 1 : nodes;
    fputs("  <zone id=\"cluster\" routing=\"Floyd\">\n", out);
    layout_write_library(out, layout->design);
    for (uint32_t i = 0; i < nodes; i++)
        layout_write_node(out, layout, i, true);
    for (uint32_t i = 0; i < cables; i++)
        xml_link(out, fabric->wire->name, i, NODE_NONE, fabric->wire->effective * 1e9, fabric->wire->latency);
    for (uint32_t i = 0; i < cables; i++) {
        uint32_t next = (i + 1) % nodes;
        fprintf(out, "    <zoneRoute src=\"node-%u\" dst=\"node-%u\" gw_src=\"port-%u\" gw_dst=\"port-%u\">", i, next,
                i, next);
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
    layout_write_single_hosts(out, design, design->nodes);
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
    fprintf(out, "  <cluster id=\"cluster\" prefix=\"%s-\" suffix=\"\" radical=\"0-%u\" speed=\"", design->prefix,
            count - 1);
    xml_speed(out, &design->node->parts[0]);
    fputs("\"\n           bw=\"", out);
    xml_bandwidth(out, wire->effective * 1e9);
    fputs("\" lat=\"", out);
    xml_latency(out, wire->latency);
    fprintf(out, "\" sharing_policy=\"SPLITDUPLEX\" topology=\"%s\" topo_parameters=\"", torus ? "TORUS" : "DRAGONFLY");
    for (uint32_t i = 0; torus && i < 4 && size[i]; i++)
        fprintf(out, "%s%u", i ? "," : "", size[i]);
    if (!torus) {
        double spread =
            size[0] > 1 ? (double)size[1] * size[2] * size[3] / fabric->oversubscription / (size[0] - 1) : 1;
        fprintf(out, "%u,%u;%u,4;%u,4;%u", size[0], spread < 1 ? 1 : (unsigned)spread, size[1], size[2], size[3]);
    }
    fputs("\">\n", out);
    xml_properties(out, &design->node->parts[0], 4);
    layout_write_library(out, design);
    fputs("  </cluster>\n", out);
}

/* SimGrid finds the routes of a Floyd zone in the cube of its children: seconds for a thousand of them. */
static bool check_routing(const struct design *design, struct fault *fault)
{
    double limit = 4e9, groups = design_groups(design), nodes = design_group_nodes(design),
           pod = design_pod_nodes(design), pods = design_group_pods(design);
    double cubes = groups * (pods * rounded_pow(pod + 1, 3) + rounded_pow(pods + 1, 3));
    if (design->fabric.kind != FABRIC_SWITCHED || cubes + rounded_pow(groups + 1, 3) <= limit)
        return true;
    if (groups > 1)
        return fault_set(
            fault,
            "%u nodes in pods of %u and groups of %.0f: SimGrid would take minutes to find the routes; try "
            "other pods or groups",
            design->nodes, design->fabric.pod, nodes);
    double best = ceil(rounded_pow(1.5 * nodes * nodes, 0.2)); /* makes the sum of both cubes least */
    return fault_set(fault, "%u nodes in pods of %u: SimGrid would take minutes to find the routes; try --pod %.0f",
                     design->nodes, design->fabric.pod, best < 64 ? 64 : best);
}

static bool check_size(const struct design *design, uint32_t parts, struct fault *fault)
{
    uint32_t devices = node_device_count(design->node);
    if (devices == 0)
        return fault_set(fault, "the node has no device that could hold a rank");
    if (parts > 1 && node_port(design->node) == NODE_NONE)
        return fault_set(fault, "the node has no network interface, so it cannot be joined to others");
    if (design->nodes > 0 && design->nodes <= DESIGN_NODES_MAX &&
        (uint64_t)design->nodes * devices <= DESIGN_DEVICES_MAX)
        return true;
    return fault_set(fault, "%u nodes of %u devices: a platform has 1 to %u nodes and at most %u devices",
                     design->nodes, devices, DESIGN_NODES_MAX, DESIGN_DEVICES_MAX);
}

static bool write_nodes(FILE *out, const struct design *design, struct fault *fault)
{
    struct layout layout;
    if (!check_routing(design, fault) || !layout_create(&layout, design, fault))
        return false;
    if (design->nodes > 1 && !layout.has_port)
        return fault_set(fault, DESIGN_NEEDS_PORT);
    if (design->fabric.rails != RAILS_NONE) {
        if (!rails_check(&layout, fault))
            return false;
        layout.exit_latency = design->fabric.hop;
        layout.write_pod = rails_write_pod;
    }
    xml_head(out, design->title, design, 1, NULL);
    if (design->nodes == 1)
        layout_write_node(out, &layout, 0, true);
    else if (design->fabric.rails == RAILS_PLANES)
        rails_write_planes(out, &layout);
    else if (design->fabric.kind == FABRIC_RING)
        write_ring(out, &layout);
    else if (design->nodes <= design->fabric.pod && design_groups(design) == 1 && design->fabric.rails == RAILS_NONE)
        write_one_pod(out, &layout);
    else
        write_pods(out, &layout);
    return true;
}

bool design_check(const struct design *design, struct fault *fault)
{
    return check_size(design, 1, fault);
}

bool design_write(const struct design *design, FILE *out, struct fault *fault)
{
    if (!check_size(design, 1, fault))
        return false;
    switch (design->fabric.kind) {
    case FABRIC_SWITCHED:
    case FABRIC_RING:
        if (!write_nodes(out, design, fault))
            return false;
        break;
    case FABRIC_TORUS:
    case FABRIC_DRAGONFLY:
        xml_head(out, design->title, design, 1, NULL);
        if (design->fabric.twisted)
            twisted_write(out, design);
        else
            write_cluster(out, design);
        break;
    case FABRIC_MESH:
        xml_head(out, design->title, design, 1, NULL);
        write_mesh(out, design);
        break;
    }
    xml_tail(out);
    return true;
}

/* ---- several designs, joined by interfaces of their own ---- */

/* SimGrid's Floyd keeps the first of two ways of as many links, so the way over the joint is declared last. */
static void write_joined(FILE *out, const struct layout *layouts, uint32_t count)
{
    bool spines = false;
    fputs("  <zone id=\"cluster\" routing=\"Floyd\">\n", out);
    for (uint32_t i = 0; i < count; i++)
        layout_write_library(out, layouts[i].design);
    for (uint32_t i = 0; i < count; i++)
        if (pod_count(layouts[i].design) > 1) {
            layout_write_switch(out, "spine", "spine-switch", i);
            spines = true;
        }
    if (!spines) /* SimGrid's reader wants a zone before links */
        layout_write_switch(out, "joint", "joint-switch", NODE_NONE);
    for (uint32_t i = 0; i < count; i++) {
        write_node_links(out, &layouts[i]);
        write_spine_links(out, &layouts[i]);
        write_flow_links(out, &layouts[i]);
        layout_write_joint_links(out, &layouts[i]);
        layout_write_joint_flow_link(out, &layouts[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        write_design_pods(out, &layouts[i], 0, layouts[i].design->nodes);
    if (spines)
        layout_write_switch(out, "joint", "joint-switch", NODE_NONE);
    for (uint32_t i = 0; i < count; i++) {
        char number[16];
        snprintf(number, sizeof number, "-%u", i);
        if (pod_count(layouts[i].design) > 1)
            write_spine_routes(out, &layouts[i], 0, pod_count(layouts[i].design), number);
    }
    for (uint32_t i = 0; i < count; i++)
        layout_write_joint_routes(out, &layouts[i]);
    fputs("  </zone>\n", out);
}

static bool check_joined(const struct design *designs, uint32_t count, struct fault *fault)
{
    uint64_t nodes = 0, devices = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct design *design = &designs[i];
        if (design->fabric.kind != FABRIC_SWITCHED)
            return fault_set(
                fault, "part %u: only clusters of nodes around switches can be joined, and this one's fabric is: %s",
                i + 1, design->fabric.name);
        if (design->fabric.rails != RAILS_NONE)
            return fault_set(fault, "part %u: clusters with rails cannot be joined", i + 1);
        if (design->fabric.group.nodes)
            return fault_set(
                fault, "part %u: clusters of groups or sites cannot be joined: the joint is the level on top", i + 1);
        if (!check_size(design, count, fault) || !check_routing(design, fault))
            return false;
        nodes += design->nodes;
        devices += (uint64_t)design->nodes * node_device_count(design->node);
    }
    if (nodes > DESIGN_NODES_MAX || devices > DESIGN_DEVICES_MAX)
        return fault_set(fault, "%llu nodes and %llu devices: a platform has at most %u and %u",
                         (unsigned long long)nodes, (unsigned long long)devices, DESIGN_NODES_MAX, DESIGN_DEVICES_MAX);
    return true;
}

bool design_write_joined(const char *title, const struct design *designs, uint32_t count, const struct joint *joint,
                         FILE *out, struct fault *fault)
{
    if (!check_joined(designs, count, fault))
        return false;
    struct layout *layouts = arena_array(designs[0].node->arena, count, sizeof *layouts);
    uint32_t nodes = 0, pods = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!layout_create(&layouts[i], &designs[i], fault))
            return false;
        layouts[i].joint = joint;
        layouts[i].first_node = nodes;
        layouts[i].first_pod = pods;
        nodes += designs[i].nodes;
        pods += pod_count(&designs[i]);
    }
    xml_head(out, title, designs, count, joint);
    write_joined(out, layouts, count);
    xml_tail(out);
    return true;
}
