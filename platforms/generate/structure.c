/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/generate/structure.h"

#include "base/arena.h"
#include "platforms/generate/layout.h"
#include "platforms/generate/written.h"
#include "platforms/generate/xml.h"
#include "platforms/rating.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Links of one name but for numbers: NAME-NODE-NUMBER or, for ways between nodes, NAME-NUMBER. */
struct link_class {
    const char *name;
    uint32_t copies, count; /* nodes or pods that have them; of each */
    uint32_t *cables;       /* [count]: of the node, by number; NULL for ways between nodes */
    double bandwidth, latency;
    uint32_t first; /* index of the first of them among the platform's links */
};

/* Where the copies of one cable are among the platform's links: two for each copy, down and then up. */
struct cable_links {
    uint32_t first, stride;
    double bandwidth, latency;
};

enum { ROUTE_LINKS_MAX = 160 };

struct structure {
    struct layout layout;
    uint32_t devices, nodes;
    struct cable_links *cables;                      /* [cable] */
    struct cable_links uplink, spine, top, loopback; /* top: of groups to the switch above them */
    struct cable_links flows[LEVELS];                /* limits of single transfers; bandwidth 0: there is none */
    uint32_t class_count;
    struct link_class *classes;
    /* the newest route */
    uint32_t count, links[ROUTE_LINKS_MAX];
    double latency, bandwidth;
};

/* ---- routes ---- */

static void pass(struct structure *route, const struct cable_links *cable, uint32_t copy, bool up)
{
    route->links[route->count++] = cable->first + copy * cable->stride + up;
    if (cable->bandwidth < route->bandwidth)
        route->bandwidth = cable->bandwidth;
}

/* The limit of a transfer over that level, which both ends' ways have. */
static void pass_limit(struct structure *route, enum design_level level)
{
    if (route->flows[level].bandwidth > 0)
        pass(route, &route->flows[level], 0, false);
}

/* The steps of a route of the node, in the order of travel. SimGrid adds latencies up in the order in which it finds
 * the parts of a route, so links and latencies come apart. */
static void pass_steps(struct structure *route, const struct layout_route *steps, uint32_t copy, bool backwards)
{
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct node_step *step = &steps->steps[backwards ? steps->count - 1 - i : i];
        pass(route, &route->cables[step->cable], copy, step->up != backwards);
    }
}

static void add_latencies(struct structure *route, const struct layout_route *steps, bool backwards)
{
    for (uint32_t i = 0; i < steps->count; i++)
        route->latency += route->cables[steps->steps[backwards ? steps->count - 1 - i : i].cable].latency;
}

static void within_node(struct structure *route, uint32_t copy, uint32_t from, uint32_t to)
{
    bool backwards = from > to;
    const struct layout_route *steps =
        &route->layout.pairs[(size_t)(backwards ? to : from) * route->devices + (backwards ? from : to)];
    pass_steps(route, steps, copy, backwards);
    add_latencies(route, steps, backwards);
}

static void between_nodes(struct structure *route, const uint32_t *nodes, const uint32_t *devices)
{
    const struct layout_route *out = &route->layout.out[devices[0]], *in = &route->layout.out[devices[1]];
    const struct design *design = route->layout.design;
    uint32_t pods[] = {design_pod_of(design, nodes[0]), design_pod_of(design, nodes[1])};
    uint32_t group = design_group_nodes(design), groups[] = {nodes[0] / group, nodes[1] / group};
    bool far = pods[0] != pods[1], farther = groups[0] != groups[1];
    pass_steps(route, out, nodes[0], false);
    pass(route, &route->uplink, nodes[0], true);
    pass_limit(route, LEVEL_POD);
    if (far) {
        pass(route, &route->spine, pods[0], true);
        pass_limit(route, LEVEL_SPINE);
    }
    if (farther) {
        pass(route, &route->top, groups[0], true);
        pass_limit(route, LEVEL_TOP);
        pass_limit(route, LEVEL_TOP);
        pass(route, &route->top, groups[1], false);
    }
    if (far) {
        pass_limit(route, LEVEL_SPINE);
        pass(route, &route->spine, pods[1], false);
    }
    pass_limit(route, LEVEL_POD);
    pass(route, &route->uplink, nodes[1], false);
    pass_steps(route, in, nodes[1], true);
    /* the outermost zone first, then each end's way up to it */
    const struct cable_links *outermost = farther ? &route->top : far ? &route->spine : &route->uplink;
    route->latency = outermost->latency + outermost->latency;
    route->latency += farther ? route->spine.latency : 0;
    route->latency += far ? route->uplink.latency : 0;
    add_latencies(route, out, false);
    route->latency += farther ? route->spine.latency : 0;
    route->latency += far ? route->uplink.latency : 0;
    add_latencies(route, in, true);
}

static void find_route(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    struct structure *structure = platform->handle;
    uint32_t nodes[] = {from / structure->devices, to / structure->devices};
    uint32_t devices[] = {from % structure->devices, to % structure->devices};
    structure->count = 0;
    structure->latency = 0;
    structure->bandwidth = INFINITY;
    if (nodes[0] != nodes[1])
        between_nodes(structure, nodes, devices);
    else if (from != to)
        within_node(structure, nodes[0], devices[0], devices[1]);
    else
        pass(structure, &structure->loopback, 0, false);
    *route = (struct platform_route){structure->latency, structure->bandwidth, structure->count, structure->links};
}

/* A node: what is between nodes depends on these. */
static void find_bundle(struct platform *platform, uint32_t host, struct platform_bundle *bundle)
{
    const struct structure *structure = platform->handle;
    const struct layout_route *out = &structure->layout.out[host % structure->devices];
    *bundle = (struct platform_bundle){host / structure->devices, out->count, out->count};
}

static bool reaches(struct platform *platform, uint32_t from, uint32_t to)
{
    (void)platform, (void)from, (void)to;
    return true;
}

/* ---- hosts ---- */

static char *put_number(char *text, uint32_t number)
{
    char digits[12];
    unsigned count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        *text++ = digits[--count];
    return text;
}

static char *put_text(char *text, const char *from)
{
    while (*from)
        *text++ = *from++;
    return text;
}

/* "NAME-a-b", "NAME-a" for b of NODE_NONE; returns where the 0 byte went. */
static char *put_name(char *text, const char *name, uint32_t a, uint32_t b)
{
    text = put_text(text, name);
    *text++ = '-';
    text = put_number(text, a);
    if (b != NODE_NONE) {
        *text++ = '-';
        text = put_number(text, b);
    }
    *text = '\0';
    return text;
}

enum { NUMBERS_LENGTH = 2 * 11 + 6 }; /* "-4294967295" twice, "_DOWN" and the 0 byte */

static bool fill_hosts(struct platform *platform, const struct structure *structure, struct arena *arena,
                       struct fault *fault)
{
    const struct design *design = structure->layout.design;
    size_t room = strlen(design->prefix) + NUMBERS_LENGTH;
    struct platform_host *kinds = arena_array(arena, structure->devices, sizeof *kinds);
    char *text = arena_alloc(arena, (size_t)structure->nodes * (structure->devices * room + NUMBERS_LENGTH));
    for (uint32_t i = 0; i < structure->devices; i++)
        if (!written_host(&kinds[i], &design->node->parts[i], design->interface, arena, fault))
            return false;
    platform->host_count = structure->nodes * structure->devices;
    platform->hosts = arena_array(arena, platform->host_count, sizeof *platform->hosts);
    for (uint32_t copy = 0; copy < structure->nodes; copy++) {
        const char *node = text;
        text = put_name(text, "node", copy, NODE_NONE) + 1;
        for (uint32_t i = 0; i < structure->devices; i++) {
            struct platform_host *host = &platform->hosts[(size_t)copy * structure->devices + i];
            *host = kinds[i];
            host->node = node;
            host->name = text;
            text = put_name(text, design->prefix, copy, i) + 1;
        }
    }
    return true;
}

/* ---- links ---- */

static struct link_class *class_of(struct structure *structure, const char *name)
{
    for (uint32_t i = 0; i < structure->class_count; i++)
        if (!strcmp(structure->classes[i].name, name))
            return &structure->classes[i];
    struct link_class *added = &structure->classes[structure->class_count++];
    added->name = name;
    return added;
}

/* Cables of a name are numbered in the order of the node's cables. */
static void list_classes(struct structure *structure, struct arena *arena)
{
    const struct design *design = structure->layout.design;
    const struct node_graph *node = design->node;
    const struct fabric_group *top = &design->fabric.group;
    uint32_t pods = design_pod_of(design, structure->nodes - 1) + 1, groups = design_groups(design);
    structure->classes = arena_array(arena, node->cable_count + 4 + LEVELS, sizeof *structure->classes);
    for (uint32_t i = 0; i < node->cable_count; i++) {
        if (!structure->layout.used[i])
            continue;
        struct link_class *class = class_of(structure, node->cables[i].wire->name);
        if (!class->cables)
            class->cables = arena_array(arena, node->cable_count, sizeof *class->cables);
        class->cables[class->count++] = i;
        class->copies = structure->nodes;
    }
    double port = written_bandwidth(node_port_bandwidth(node)), hop = written_latency(design->fabric.hop);
    structure->classes[structure->class_count++] =
        (struct link_class){.name = platform_loopback.name, .bandwidth = platform_loopback.bandwidth};
    if (structure->nodes > 1)
        structure->classes[structure->class_count++] =
            (struct link_class){"uplink", structure->nodes, 1, NULL, port, hop, 0};
    if (pods > 1) {
        double spine = node_port_bandwidth(node) * design_pod_nodes(design) / design->fabric.oversubscription;
        structure->classes[structure->class_count++] =
            (struct link_class){"spine", pods, 1, NULL, written_bandwidth(spine), hop, 0};
    }
    if (groups > 1)
        structure->classes[structure->class_count++] = (struct link_class){
            top->links, groups, 1, NULL, written_bandwidth(top->rate), written_latency(top->hop), 0};
    uint32_t members[LEVELS] = {structure->nodes, pods, groups};
    for (unsigned level = 0; level < LEVELS; level++)
        if (members[level] > 1 && design_flow_rate(design, level) > 0)
            structure->classes[structure->class_count++] = (struct link_class){
                .name = design_flow_links[level], .bandwidth = written_bandwidth(design_flow_rate(design, level))};
}

static int by_name(const void *left, const void *right)
{
    const struct link_class *a = left, *b = right;
    char names[2][96];
    snprintf(names[0], sizeof names[0], "%s-0", a->name);
    snprintf(names[1], sizeof names[1], "%s-0", b->name);
    return strverscmp(names[0], names[1]);
}

/* Both directions of a link; down comes before up. */
static char *put_link(struct platform *platform, uint32_t index, char *text, const char *name, uint32_t a, uint32_t b,
                      const struct cable_links *rates)
{
    for (uint32_t up = 0; up < 2; up++) {
        platform->links[index + up] = (struct platform_link){text, rates->bandwidth, rates->latency, LINK_SHARED};
        text = put_text(put_name(text, name, a, b), up ? "_UP" : "_DOWN");
        *text++ = '\0';
    }
    return text;
}

/* A link without number that every transfer has for itself: the loopback, or a limit of transfers. */
static void fill_single(struct platform *platform, struct structure *structure, const struct link_class *class)
{
    bool loopback = class->name == platform_loopback.name;
    struct cable_links *place = &structure->loopback;
    for (unsigned level = 0; level < LEVELS && !loopback; level++)
        if (class->name == design_flow_links[level])
            place = &structure->flows[level];
    *place = (struct cable_links){platform->link_count, 0, class->bandwidth, 0};
    platform->links[platform->link_count++] = (struct platform_link){class->name, class->bandwidth, 0, LINK_FATPIPE, 0};
}

/* The class takes the next links of the platform; where they are is kept for the routes. */
static void fill_class(struct platform *platform, struct structure *structure, struct link_class *class,
                       struct arena *arena)
{
    const struct node_graph *node = structure->layout.design->node;
    struct cable_links *between = !strcmp(class->name, "spine")    ? &structure->spine
                                  : !strcmp(class->name, "uplink") ? &structure->uplink
                                                                   : &structure->top;
    if (!class->copies) {
        fill_single(platform, structure, class);
        return;
    }
    char *text = arena_alloc(arena, 2 * (size_t) class->copies * class->count * (strlen(class->name) + NUMBERS_LENGTH));
    class->first = platform->link_count;
    for (uint32_t k = 0; k < class->count; k++) {
        const struct node_cable *cable = class->cables ? &node->cables[class->cables[k]] : NULL;
        struct cable_links *links = cable ? &structure->cables[class->cables[k]] : between;
        links->first = class->first + 2 * k;
        links->stride = 2 * class->count;
        links->bandwidth = cable ? written_bandwidth(cable->bandwidth) : class->bandwidth;
        links->latency = cable ? written_latency(cable->wire->latency) : class->latency;
    }
    for (uint32_t copy = 0; copy < class->copies; copy++)
        for (uint32_t k = 0; k < class->count; k++) {
            const struct cable_links *links = class->cables ? &structure->cables[class->cables[k]] : between;
            uint32_t number = class->cables ? node->cables[class->cables[k]].number : NODE_NONE;
            text = put_link(platform, links->first + copy * links->stride, text, class->name, copy, number, links);
        }
    platform->link_count += 2 * class->copies * class->count;
}

static void fill_links(struct platform *platform, struct structure *structure, struct arena *arena)
{
    size_t count = 0;
    list_classes(structure, arena);
    qsort(structure->classes, structure->class_count, sizeof *structure->classes, by_name);
    for (uint32_t i = 0; i < structure->class_count; i++)
        count += 2 * (size_t)structure->classes[i].copies * structure->classes[i].count;
    platform->links = arena_array(arena, count + 1 + LEVELS, sizeof *platform->links);
    for (uint32_t i = 0; i < structure->class_count; i++)
        fill_class(platform, structure, &structure->classes[i], arena);
}

/* ---- all together ---- */

bool structure_covers(const struct design *design)
{
    return design->fabric.rails == RAILS_NONE && !design->fabric.group.direct &&
           (design->fabric.kind == FABRIC_SWITCHED || design->nodes == 1) && design->fabric.kind != FABRIC_TORUS &&
           design->fabric.kind != FABRIC_DRAGONFLY && design->fabric.kind != FABRIC_MESH;
}

struct platform *structure_platform(const struct design *design, const char *name, struct arena *arena,
                                    struct fault *fault)
{
    struct structure *structure = arena_alloc(arena, sizeof *structure);
    struct platform *platform = arena_alloc(arena, sizeof *platform);
    if (!design_check(design, fault) || !layout_create(&structure->layout, design, fault))
        return NULL;
    if (design->nodes > 1 && !structure->layout.has_port) {
        fault_set(fault, DESIGN_NEEDS_PORT);
        return NULL;
    }
    structure->devices = structure->layout.devices;
    structure->nodes = design->nodes;
    structure->cables = arena_array(arena, design->node->cable_count + 1, sizeof *structure->cables);
    *platform = (struct platform){.file = name,
                                  .loader = "stagesim",
                                  .route = find_route,
                                  .reaches = reaches,
                                  .bundle = find_bundle,
                                  .handle = structure};
    if (!fill_hosts(platform, structure, arena, fault))
        return NULL;
    rating_find(platform);
    fill_links(platform, structure, arena);
    if (design->library && !written_library(&platform->library, &design->library->properties, fault))
        return NULL;
    library_complete(&platform->library);
    return platform;
}
