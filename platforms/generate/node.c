/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/generate/node.h"

#include "base/arena.h"

#include <string.h>

/* The state of the search for routes from one part, one entry for each part. */
struct reach {
    uint32_t hops;  /* NODE_NONE: not reached */
    double width;   /* narrowest cable on the way */
    uint32_t cable; /* the last cable on the way */
};

/* Routes are asked for row by row: the ways from one part serve a whole row. */
struct node_search {
    uint32_t start, part_count, cable_count; /* what it was made for */
    bool whole;                              /* the ways lead to everything */
    struct reach *reach;
};

/* Cables of one wire name. */
struct node_names {
    const char *name;
    uint32_t count;
    struct node_names *next;
};

struct node_graph *node_create(struct arena *arena)
{
    struct node_graph *node = arena_alloc(arena, sizeof *node);
    node->arena = arena;
    node->search = arena_alloc(arena, sizeof *node->search);
    return node;
}

uint32_t node_add(struct node_graph *node, enum node_part_kind kind)
{
    node->parts = arena_grow(node->arena, node->parts, &node->part_capacity, node->part_count, sizeof *node->parts);
    node->parts[node->part_count] =
        (struct node_part){.kind = kind, .forwards = kind == NODE_SWITCH || kind == NODE_SOCKET, .exit = NODE_NONE};
    return node->part_count++;
}

uint32_t node_add_device(struct node_graph *node, const struct device_model *model)
{
    uint32_t device = node_add(node, NODE_DEVICE);
    node->parts[device].model = model;
    return device;
}

uint32_t node_join(struct node_graph *node, uint32_t from, uint32_t to, const struct wire *wire, double count)
{
    struct node_names *names = node->names;
    while (names && names->name != wire->name && strcmp(names->name, wire->name) != 0)
        names = names->next;
    if (!names) {
        names = arena_alloc(node->arena, sizeof *names);
        *names = (struct node_names){wire->name, 0, node->names};
        node->names = names;
    }
    uint32_t number = names->count++;
    node->cables =
        arena_grow(node->arena, node->cables, &node->cable_capacity, node->cable_count, sizeof *node->cables);
    node->cables[node->cable_count] = (struct node_cable){
        .ends = {from, to}, .wire = wire, .bandwidth = wire->effective * 1e9 * count, .number = number};
    return node->cable_count++;
}

uint32_t node_device_count(const struct node_graph *node)
{
    uint32_t count = 0;
    while (count < node->part_count && node->parts[count].kind == NODE_DEVICE)
        count++;
    return count;
}

uint32_t node_port(const struct node_graph *node)
{
    for (uint32_t i = 0; i < node->part_count; i++)
        if (node->parts[i].kind == NODE_PORT)
            return i;
    return NODE_NONE;
}

double node_port_bandwidth(const struct node_graph *node)
{
    uint32_t port = node_port(node);
    double sum = 0;
    for (uint32_t i = 0; i < node->cable_count; i++)
        if (node->cables[i].ends[0] == port || node->cables[i].ends[1] == port)
            sum += node->cables[i].bandwidth;
    return sum;
}

/* Tries to extend the ways that are `hops` long over one cable; true when that reached or widened anything. */
static bool extend(const struct node_graph *node, struct reach *reach, uint32_t index, uint32_t from, uint32_t hops,
                   uint32_t start)
{
    const struct node_cable *cable = &node->cables[index];
    uint32_t here = cable->ends[from], there = cable->ends[!from];
    if (reach[here].hops != hops || (here != start && !node->parts[here].forwards))
        return false;
    double width = reach[here].width < cable->bandwidth ? reach[here].width : cable->bandwidth;
    bool better = reach[there].hops == NODE_NONE || (reach[there].hops == hops + 1 && width > reach[there].width);
    if (better)
        reach[there] = (struct reach){hops + 1, width, index};
    return better;
}

/* Ways from `start`, shortest first, wider before narrower, to whatever is as near as `end`; NODE_NONE: to everything.
 * Whether these are all. */
static bool search(const struct node_graph *node, uint32_t start, uint32_t end, struct reach *reach)
{
    for (uint32_t i = 0; i < node->part_count; i++)
        reach[i] = (struct reach){.hops = NODE_NONE};
    reach[start] = (struct reach){.hops = 0, .width = 1e300};
    bool moved = true;
    for (uint32_t hops = 0; moved && (end == NODE_NONE || reach[end].hops == NODE_NONE); hops++) {
        moved = false;
        for (uint32_t i = 0; i < node->cable_count; i++)
            for (uint32_t from = 0; from < 2; from++)
                moved |= extend(node, reach, i, from, hops, start);
    }
    return !moved;
}

/* Whoever asks for a second end that is not as near is likely to ask for all. */
static const struct reach *ways_from(const struct node_graph *node, uint32_t start, uint32_t end)
{
    struct node_search *known = node->search;
    bool same = known->part_count == node->part_count && known->cable_count == node->cable_count;
    if (known->part_count != node->part_count)
        known->reach = arena_array(node->arena, node->part_count, sizeof *known->reach);
    if (!same || known->start != start)
        known->whole = search(node, start, end, known->reach);
    else if (!known->whole && (end == NODE_NONE || known->reach[end].hops == NODE_NONE))
        known->whole = search(node, start, NODE_NONE, known->reach);
    known->start = start;
    known->part_count = node->part_count;
    known->cable_count = node->cable_count;
    return known->reach;
}

/* Writes the way to `to` that `search` found, in order of travel. */
static uint32_t unwind(const struct node_graph *node, const struct reach *reach, uint32_t to, struct node_step *steps,
                       uint32_t capacity)
{
    uint32_t count = reach[to].hops;
    if (count == NODE_NONE || count > capacity)
        return 0;
    for (uint32_t i = count; i-- > 0;) {
        const struct node_cable *cable = &node->cables[reach[to].cable];
        bool up = cable->ends[1] == to;
        steps[i] = (struct node_step){reach[to].cable, up};
        to = cable->ends[up ? 0 : 1];
    }
    return count;
}

/* From a device out of the node over its own exit cable. */
static uint32_t route_out(const struct node_graph *node, uint32_t device, uint32_t port, struct node_step *steps,
                          uint32_t capacity, const struct reach *reach)
{
    uint32_t exit = node->parts[device].exit;
    if (exit == NODE_NONE)
        return unwind(node, reach, port, steps, capacity);
    bool up = node->cables[exit].ends[1] == port;
    uint32_t inner = node->cables[exit].ends[up ? 0 : 1];
    uint32_t count = inner == device ? 0 : unwind(node, reach, inner, steps, capacity);
    if ((inner != device && count == 0) || count >= capacity)
        return 0;
    steps[count] = (struct node_step){exit, up};
    return count + 1;
}

static void reverse(struct node_step *steps, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        struct node_step swapped = steps[i];
        steps[i] = steps[count - 1 - i];
        steps[count - 1 - i] = swapped;
    }
    for (uint32_t i = 0; i < count; i++)
        steps[i].up = !steps[i].up;
}

uint32_t node_route(const struct node_graph *node, uint32_t from, uint32_t to, struct node_step *steps,
                    uint32_t capacity)
{
    uint32_t port = node_port(node), count;
    bool backwards = from == port || (to != port && from > to); /* both directions of a pair share one way */
    uint32_t start = backwards ? to : from, end = backwards ? from : to;
    const struct reach *reach = ways_from(node, start, end == port ? NODE_NONE : end);
    count =
        end == port ? route_out(node, start, port, steps, capacity, reach) : unwind(node, reach, end, steps, capacity);
    if (backwards)
        reverse(steps, count);
    return count;
}

/* The switch that a device's first cable leads to, or NODE_NONE. */
static uint32_t switch_of(const struct node_graph *node, uint32_t device)
{
    for (uint32_t i = 0; i < node->cable_count; i++)
        for (uint32_t end = 0; end < 2; end++)
            if (node->cables[i].ends[end] == device && node->parts[node->cables[i].ends[!end]].kind == NODE_SWITCH)
                return node->cables[i].ends[!end];
    return NODE_NONE;
}

bool node_is_star(const struct node_graph *node)
{
    uint32_t devices = node_device_count(node), hub = devices ? switch_of(node, 0) : NODE_NONE;
    if (hub == NODE_NONE)
        return false;
    for (uint32_t a = 0; a < devices; a++)
        for (uint32_t b = a + 1; b < devices; b++) {
            struct node_step steps[2];
            if (node_route(node, a, b, steps, 2) != 2)
                return false;
            const struct node_cable *first = &node->cables[steps[0].cable];
            if (first->ends[steps[0].up ? 1 : 0] != hub)
                return false;
        }
    return true;
}
