/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/presets/presets.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/words/aliases.h"
#include "platforms/hardware/hardware.h"
#include "platforms/presets/interfaces.h"
#include "platforms/presets/library_read.h"
#include "platforms/routing.h"

#include <math.h>
#include <string.h>
#include <strings.h>

const struct preset *preset_find(const char *name)
{
    struct diag silent = {0};
    struct place nobody = {0};
    const struct preset *preset = preset_read(name, nobody, &silent);
    size_t count = 0;
    const char *const *names = preset ? NULL : hardware_names(HARDWARE_PRODUCT, &count);
    for (size_t i = 0; i < count && !preset; i++)
        if (strcasecmp(names[i], name) == 0)
            preset = preset_read(names[i], nobody, &silent);
    return preset;
}

const char *preset_named(const char *word)
{
    size_t count;
    const char *const *names = hardware_names(HARDWARE_PRODUCT, &count);
    for (size_t i = 0; i < count; i++)
        if (alias_is(word, names[i]))
            return names[i];
    return NULL;
}

static bool refuse_name(const char *name, struct fault *fault)
{
    size_t count;
    const char *const *names = hardware_names(HARDWARE_PRODUCT, &count);
    const char *near = alias_nearest(name, names, count);
    if (near)
        return fault_set(fault, "there is no preset '%s'; did you mean '%s'?", name, near);
    return fault_set(fault, "there is no preset '%s'; 'stagesim list presets' shows what there is", name);
}

static bool refuse_interface(const char *name, struct fault *fault)
{
    size_t count;
    const char *const *names = interface_names(&count);
    const char *near = diag_nearest(name, names, count);
    return fault_set(fault, "there is no interface '%s'; did you mean '%s'?", name, near ? near : names[0]);
}

static bool is_library(const char *name)
{
    size_t count;
    const char *const *names = hardware_names(HARDWARE_LIBRARY, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return design_library_find(name, (struct place){0}, &(struct diag){0}) != NULL;
    return false;
}

static bool refuse_library(const char *name, struct fault *fault)
{
    size_t count;
    const char *const *names = hardware_names(HARDWARE_LIBRARY, &count);
    const char *near = diag_nearest(name, names, count);
    return fault_set(fault, "there is no library '%s'; did you mean '%s'?", name, near ? near : names[0]);
}

/* Whether levels of switches above the spines, and sites, are as one can have them. */
static bool check_levels(const struct platform_request *request, const struct preset *preset, struct fault *fault)
{
    bool grouped = request->group || request->sites;
    uint32_t pod = request->pod ? request->pod : preset->fabric.pod;
    if (grouped && preset->fabric.kind != FABRIC_SWITCHED)
        return fault_set(fault, "%s has no %s: its fabric is: %s", preset->name, request->group ? "groups" : "sites",
                         preset->fabric.name);
    if (request->group && request->sites)
        return fault_set(fault, "groups of pods and sites are both the level on top; expected one of them");
    if (request->group && request->group % pod)
        return fault_set(fault, "groups of %u nodes are no whole pods of %u; expected a multiple", request->group, pod);
    if (request->sites && request->nodes % request->sites)
        return fault_set(fault, "%u nodes cannot be divided among %u sites; expected a multiple", request->nodes,
                         request->sites);
    if (request->sites > 1 && !(request->site_rate > 0 && request->site_latency > 0))
        return fault_set(fault,
                         "%u sites: expected the rate of a site's way to the others, such as 400Gbps, and the "
                         "latency from one to another, such as 30ms",
                         request->sites);
    if (request->sites > 1 && !(request->site_rate >= 1e6 && request->site_rate <= 1e15 &&
                                request->site_latency >= 1e-6 && request->site_latency <= 10))
        return fault_set(fault, "sites at %g B/s and %g s: expected 1 MB/s to 1 PB/s, and 1 us to 10 s",
                         request->site_rate, request->site_latency);
    if (request->sites < 2 && (request->site_rate > 0 || request->site_latency > 0))
        return fault_set(fault, "a site's rate and latency are for several sites; expected a number of sites");
    if (request->group_oversubscription != 0 && !request->group)
        return fault_set(fault, "an oversubscription of groups without groups; expected how many nodes a group has");
    if (request->group_oversubscription != 0 &&
        !(request->group_oversubscription >= 1 && request->group_oversubscription <= 1000))
        return fault_set(fault, "oversubscription %g of groups: expected 1 (none) to 1000",
                         request->group_oversubscription);
    if (request->group_direct && !request->group)
        return fault_set(fault, "groups are joined directly without groups; expected how many nodes a group has");
    if (grouped && request->ecmp)
        return fault_set(fault, "routing ecmp is for networks of two levels; expected no groups and one site");
    if (grouped && request->rails == RAILS_PLANES)
        return fault_set(fault, "planes have a spine each, and no level above it; expected no groups and one site");
    return true;
}

/* Limits of single transfers hold on ways between nodes. */
static bool check_flow(const struct platform_request *request, const struct preset *preset, struct fault *fault)
{
    if (request->flow_rate == 0 && request->flow_window == 0)
        return true;
    if (preset->fabric.kind != FABRIC_SWITCHED || (request->nodes == 1 && !request->joined))
        return fault_set(fault, "%s: limits of transfers are for several nodes around switches", preset->name);
    if (request->flow_rate != 0 && !(request->flow_rate >= 1e6 && request->flow_rate <= 1e15))
        return fault_set(fault, "a transfer at %g B/s: expected 1 MB/s to 1 PB/s", request->flow_rate);
    if (request->flow_window != 0 && !(request->flow_window >= 1024 && request->flow_window <= 1e15))
        return fault_set(fault, "a window of %g bytes: expected 1 KiB to 1 PB", request->flow_window);
    return true;
}

static bool check_request(const struct platform_request *request, const struct preset *preset, struct fault *fault)
{
    enum fabric_kind kind = preset->fabric.kind;
    if (request->nodes == 0)
        return fault_set(fault, "a platform has at least one node");
    if (preset->nodes_max && request->nodes > preset->nodes_max)
        return fault_set(fault, "%s has at most %u nodes, not %u", preset->name, preset->nodes_max, request->nodes);
    if (request->per_node && request->per_node != preset->devices &&
        (!preset->any_devices || request->per_node > preset->devices))
        return fault_set(fault,
                         preset->any_devices ? "a node of %s has 1 to %u devices, not %u"
                                             : "a node of %s has %u devices, not %u",
                         preset->name, preset->devices, request->per_node);
    if (request->pod && kind != FABRIC_SWITCHED)
        return fault_set(fault, "%s has no pods: its fabric is: %s", preset->name, preset->fabric.name);
    if (request->oversubscription != 0 && kind != FABRIC_SWITCHED && kind != FABRIC_DRAGONFLY)
        return fault_set(fault, "%s has no oversubscription: its fabric is: %s", preset->name, preset->fabric.name);
    if (request->oversubscription != 0 && !(request->oversubscription >= 1 && request->oversubscription <= 1000))
        return fault_set(fault, "oversubscription %g: expected 1 (none) to 1000", request->oversubscription);
    if (request->rails != RAILS_NONE && (kind != FABRIC_SWITCHED || request->nodes == 1))
        return fault_set(fault,
                         kind != FABRIC_SWITCHED ? "%s has no rails: its fabric is: %s" : "%s: one node has no rails",
                         preset->name, preset->fabric.name);
    if (request->nic && !interface_find(request->nic))
        return refuse_interface(request->nic, fault);
    if (request->library && !is_library(request->library))
        return refuse_library(request->library, fault);
    if (request->nic && kind != FABRIC_SWITCHED)
        return fault_set(fault, "%s keeps its interfaces: its fabric is: %s", preset->name, preset->fabric.name);
    if (!check_levels(request, preset, fault) || !check_flow(request, preset, fault))
        return false;
    if (request->paths > ROUTING_PATHS_MAX || request->flows > ROUTING_FLOWS_MAX)
        return fault_set(fault, "%u paths and %u flows: expected at most %d and %d", request->paths, request->flows,
                         ROUTING_PATHS_MAX, ROUTING_FLOWS_MAX);
    return true;
}

/* Another interface in place of each of the node's, as many as the product has. */
static void replace_interfaces(struct node_graph *node, const struct interface *interface)
{
    uint32_t port = node_port(node), number = 0;
    for (uint32_t i = 0; i < node->cable_count; i++) {
        struct node_cable *cable = &node->cables[i];
        if (cable->ends[0] != port && cable->ends[1] != port)
            continue;
        cable->wire = &interface->wire;
        cable->bandwidth = interface->wire.effective * 1e9;
        cable->number = number++;
    }
}

/* The technology of a product's own interfaces is the first word of its fabric's name: InfiniBand, Slingshot-11, EFA.
 */
static const char *technology_of(const struct fabric *fabric, struct arena *arena)
{
    return arena_print(arena, "%.*s", (int)strcspn(fabric->name, " "), fabric->name);
}

/* Hosts of equal `nic` reach each other over their own network: a second cluster of a technology gets a number. */
static void name_interfaces(struct design *designs, uint32_t count, struct arena *arena)
{
    const char **technologies = arena_array(arena, count, sizeof *technologies);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t same = 1;
        technologies[i] = designs[i].interface ? designs[i].interface : technology_of(&designs[i].fabric, arena);
        for (uint32_t k = 0; k < i; k++)
            same += strcmp(technologies[k], technologies[i]) == 0;
        designs[i].library =
            i ? NULL : designs[i].alone; /* one library runs on all: the first part's, of which the networks differ */
        designs[i].network = NULL;
        designs[i].interface = same > 1 ? arena_print(arena, "%s-%u", technologies[i], same) : technologies[i];
    }
}

/* Collectives along sides are known for rings that close without a shift. SimGrid numbers the hosts of a torus with the
 * first dimension fastest, collective_torus has the last one so. */
static const struct design_library *library_of(const struct preset *preset, const struct fabric *fabric,
                                               struct arena *arena)
{
    if (!preset->library || !preset->library->torus_of_fabric || fabric->twisted)
        return preset->library;
    struct design_library *library = arena_alloc(arena, sizeof *library);
    uint32_t count = fabric->dimensions[2] ? 3 : 2;
    *library = *preset->library;
    for (uint32_t i = 0; i < count; i++)
        library->properties.torus[i] = fabric->dimensions[count - 1 - i];
    return library;
}

void library_add_network(struct design *design, struct arena *arena)
{
    const struct design_library *library = design->library;
    if (library && design->network && design->nodes > 1)
        design->library = library_over(library, design->network, design_latency(design, LEVEL_POD), arena);
    if (design->library == library)
        design->network = NULL;
}

/* Links of a pod to the spine, or with rails of a leaf switch, that are as fast as the fastest interface. */
static double paths_of(const struct design *design)
{
    uint32_t port = node_port(design->node),
             pod = design->fabric.pod < design->nodes ? design->fabric.pod : design->nodes;
    double fastest = 0, own = node_port_bandwidth(design->node);
    for (uint32_t i = 0; i < design->node->cable_count; i++) {
        const struct node_cable *cable = &design->node->cables[i];
        if (cable->ends[0] == port || cable->ends[1] == port)
            fastest = fmax(fastest, cable->bandwidth);
    }
    if (design->fabric.rails != RAILS_NONE)
        own = fastest;
    return fmin(ROUTING_PATHS_MAX, fmax(1, round(own / fastest * pod / design->fabric.oversubscription)));
}

/* The library with how many links lead to the spine, where there is one, and how flows take them. */
static bool add_routing(struct design *design, const struct platform_request *request, struct arena *arena,
                        struct fault *fault)
{
    bool rails = design->fabric.rails != RAILS_NONE, switched = design->fabric.kind == FABRIC_SWITCHED;
    if (!switched || (!rails && design->nodes <= design->fabric.pod))
        return !request->ecmp ||
               fault_set(fault,
                         switched ? "routing ecmp: %u nodes of %s are one pod, within which there is one way; expected "
                                    "a smaller pod, or rails"
                                  : "routing ecmp: %u nodes of %s are joined without switches",
                         design->nodes, request->preset);
    struct design_library *library = arena_alloc(arena, sizeof *library);
    *library = design->library ? *design->library
                               : (struct design_library){.source = "only how many links lead to the spine",
                                                         .confidence = CONFIDENCE_L};
    struct platform_routing *routing = &library->properties.routing;
    *routing = (struct platform_routing){.policy = request->ecmp ? ROUTING_ECMP : ROUTING_ADAPTIVE,
                                         .paths = request->paths ? request->paths : (uint32_t)paths_of(design),
                                         .flows = request->flows,
                                         .seed = request->seed};
    snprintf(routing->links, sizeof routing->links, "%s", rails ? "rail" : "spine");
    design->library = library;
    return true;
}

/* The level above the spines. Sites are joined by links of a rate; groups by what their pods carry upwards, over the
 * oversubscription. */
static void add_level(struct design *design, const struct platform_request *request)
{
    struct fabric *fabric = &design->fabric;
    double taper = request->group_oversubscription > 0 ? request->group_oversubscription : 1;
    if (request->sites > 1)
        fabric->group = (struct fabric_group){design->nodes / request->sites, request->site_rate,
                                              request->site_latency / 2, "site", false};
    else if (request->group)
        fabric->group = (struct fabric_group){
            request->group, node_port_bandwidth(design->node) * request->group / fabric->oversubscription / taper,
            fabric->hop, request->group_direct ? "global" : "core", request->group_direct};
}

/* What the user says of single transfers, or else what is known of the network. */
static struct flow_limit flow_of(const struct platform_request *request, const struct design_network *network)
{
    struct flow_limit flow = network ? network->flow : (struct flow_limit){0};
    flow.rate = request->flow_rate > 0 ? request->flow_rate : flow.rate;
    flow.window = request->flow_window > 0 ? request->flow_window : flow.window;
    return flow;
}

bool preset_design(const struct platform_request *request, struct arena *arena, struct design *design,
                   struct fault *fault)
{
    const struct preset *preset = preset_find(request->preset);
    if (!preset)
        return refuse_name(request->preset, fault);
    if (!check_request(request, preset, fault))
        return false;
    uint32_t devices = request->per_node ? request->per_node : preset->devices;
    *design = (struct design){
        .prefix = preset->prefix, .fabric = preset->fabric, .nodes = request->nodes, .notes = preset->notes};
    if (preset->shape && !preset->shape(&design->fabric, request->nodes, fault))
        return false;
    if (request->torus && !fabric_shape_read(request->torus, preset->name, &design->fabric, request->nodes, fault))
        return false;
    if (request->pod)
        design->fabric.pod = request->pod;
    if (request->oversubscription != 0)
        design->fabric.oversubscription = request->oversubscription;
    design->fabric.rails = request->rails;
    struct node_graph *node = preset_node(preset, devices, arena);
    design->node = node;
    add_level(design, request);
    design->library = library_of(preset, &design->fabric, arena);
    if (request->library)
        design->library = design_library_find(request->library, (struct place){0}, &(struct diag){0});
    if (design->library)
        design->library = library_launched(design->library, request->launch, devices, arena);
    const struct interface *interface = request->nic ? interface_find(request->nic) : NULL;
    design->alone = design->library;
    design->network = preset->on_network;
    if (interface) {
        design->network = interface->network;
        replace_interfaces(node, interface);
        if (strncmp(preset->fabric.name, interface->product, strlen(interface->product)) != 0)
            design->fabric.name = arena_print(arena, "%s, switched as %s", interface->product, preset->fabric.name);
        design->interface = interface->technology;
    }
    if (design->fabric.kind == FABRIC_SWITCHED)
        design->fabric.flow = flow_of(request, design->network);
    library_add_network(design, arena);
    if (!add_routing(design, request, arena, fault))
        return false;
    design->title = arena_print(arena, "%s. %u node%s of %u device%s%s%s, from stagesim's preset %s.", preset->summary,
                                request->nodes, request->nodes == 1 ? "" : "s", devices, devices == 1 ? "" : "s",
                                interface ? " with " : "", interface ? interface->product : "", preset->name);
    return true;
}

bool platform_generate(const struct platform_request *request, FILE *out, struct fault *fault)
{
    struct arena *arena = arena_create();
    struct design design;
    bool done = preset_design(request, arena, &design, fault) && design_write(&design, out, fault);
    arena_destroy(arena);
    return done;
}

bool platform_generate_joined(const struct platform_request *requests, uint32_t count, const char *join, FILE *out,
                              struct fault *fault)
{
    const struct interface *interface = interface_find(join);
    if (!interface)
        return refuse_interface(join, fault);
    struct arena *arena = arena_create();
    struct design *designs = arena_array(arena, count, sizeof *designs);
    struct wire wire = interface->wire;
    bool done = true;
    wire.name = "joint-nic"; /* whatever it is: told by name from the clusters' own interfaces */
    for (uint32_t i = 0; i < count && done; i++) {
        struct platform_request part = requests[i];
        part.joined = true;
        done = preset_design(&part, arena, &designs[i], fault);
    }
    if (done)
        name_interfaces(designs, count, arena);
    const char *title = arena_print(arena, "%u clusters, joined by %s.", count, interface->product);
    const struct joint joint = {&wire, flow_of(&requests[0], interface->network)};
    done = done && design_write_joined(title, designs, count, &joint, out, fault);
    arena_destroy(arena);
    return done;
}
