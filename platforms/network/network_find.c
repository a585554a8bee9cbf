/* SPDX-License-Identifier: Apache-2.0 */
/* Routes between points, as SimGrid finds them: the way between two zones first, then those within them up to its
 * gateways; latencies are added up in that order. */
#include "base/arena.h"
#include "platforms/network/network.h"

#include <stdlib.h>
#include <string.h>

/* What a zone knows of the way between two of its points. */
struct local {
    size_t first; /* its links begin here among network->found */
    uint32_t gateways[2];
};

/* The way back over a pair is its other link. */
static uint32_t link_of_step(uint32_t step, bool backwards)
{
    uint32_t link = step / STEP_LINK;
    if (!(step & STEP_PAIRED) || !backwards)
        return link;
    return step & STEP_DOWN ? link - 1 : link + 1;
}

static void pass_route(struct network *network, uint32_t coded)
{
    const struct network_route *route = &network->routes[coded / 2];
    bool backwards = coded & 1;
    for (uint32_t i = 0; i < route->count; i++) {
        uint32_t step = network->steps[route->first + (backwards ? route->count - 1 - i : i)];
        network_pass(network, link_of_step(step, backwards));
    }
}

static void set_gateways(const struct network *network, uint32_t coded, uint32_t *gateways)
{
    const struct network_route *route = &network->routes[coded / 2];
    gateways[0] = route->gateways[coded & 1];
    gateways[1] = route->gateways[!(coded & 1)];
}

static const struct network_edge *find_edge(const struct network *network, const struct network_zone *zone,
                                            uint32_t from, uint32_t to)
{
    uint32_t low = 0, high = zone->edges;
    const struct network_edge *edges = network->edges + (zone->edges ? zone->first_edge : 0);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct network_edge *edge = &edges[middle];
        if (edge->from < from || (edge->from == from && edge->to < to))
            low = middle + 1;
        else
            high = middle;
    }
    return low < zone->edges && edges[low].from == from && edges[low].to == to ? &edges[low] : NULL;
}

/* ---- Floyd: shortest ways ---- */

/* Marks the tree around `root`; false where it closes a circle or a way leads in one direction only. */
static bool mark_tree(const struct network *network, const struct network_zone *zone, const uint32_t *starts,
                      uint32_t root, struct network_paths *paths, uint32_t *queue)
{
    uint32_t head = 0, tail = 0;
    queue[tail++] = root;
    paths->parent[root] = root;
    for (; head < tail; head++) {
        uint32_t point = queue[head];
        for (uint32_t i = starts[point]; i < starts[point + 1]; i++) {
            uint32_t next = network->edges[zone->first_edge + i].to;
            if (!find_edge(network, zone, next, point))
                return false;
            if (next == paths->parent[point] && next != point)
                continue;
            if (paths->parent[next] != NETWORK_NONE)
                return false;
            paths->parent[next] = point;
            paths->depth[next] = paths->depth[point] + 1;
            queue[tail++] = next;
        }
    }
    return true;
}

/* Where the routes of a zone make no circle there is one way only, and tables grow with the points, not with their
 * square. */
static bool find_forest(const struct network *network, const struct network_zone *zone, struct network_paths *paths)
{
    struct arena *arena = network->arena;
    uint32_t *starts = array_zeroed((size_t)zone->points + 1, sizeof *starts);
    uint32_t *queue = array_zeroed((size_t)zone->points + 1, sizeof *queue);
    paths->parent = arena_array(arena, zone->points, sizeof *paths->parent);
    paths->depth = arena_array(arena, zone->points, sizeof *paths->depth);
    for (uint32_t i = 0; i < zone->edges; i++)
        starts[network->edges[zone->first_edge + i].from + 1]++;
    for (uint32_t i = 0; i < zone->points; i++) {
        starts[i + 1] += starts[i];
        paths->parent[i] = NETWORK_NONE;
    }
    bool forest = true;
    for (uint32_t i = 0; i < zone->points && forest; i++)
        forest = paths->parent[i] != NETWORK_NONE || mark_tree(network, zone, starts, i, paths, queue);
    free(starts);
    free(queue);
    if (!forest)
        paths->parent = NULL;
    return forest;
}

/* All pairs, by the number of links; of equally short ways the one that was found first stays. */
static void find_shortest(const struct network *network, const struct network_zone *zone, struct network_paths *paths)
{
    size_t points = zone->points;
    uint32_t *cost = array_zeroed(points * points, sizeof *cost);
    paths->before = arena_array(network->arena, points * points, sizeof *paths->before);
    for (size_t i = 0; i < points * points; i++)
        cost[i] = paths->before[i] = NETWORK_NONE;
    for (uint32_t i = 0; i < zone->edges; i++) {
        const struct network_edge *edge = &network->edges[zone->first_edge + i];
        cost[edge->from * points + edge->to] = network->routes[edge->route / 2].count;
        paths->before[edge->from * points + edge->to] = edge->from;
    }
    for (size_t i = 0; i < points && !zone->has_zones; i++) /* a way of one link from each point to itself */
        if (cost[i * points + i] == NETWORK_NONE) {
            cost[i * points + i] = 1;
            paths->before[i * points + i] = (uint32_t)i;
        }
    for (size_t c = 0; c < points; c++)
        for (size_t a = 0; a < points; a++) {
            uint32_t first = cost[a * points + c];
            for (size_t b = 0; first != NETWORK_NONE && b < points; b++) {
                uint32_t second = cost[c * points + b];
                if (second == NETWORK_NONE || (uint64_t)first + second >= cost[a * points + b])
                    continue;
                cost[a * points + b] = first + second;
                paths->before[a * points + b] = paths->before[c * points + b];
            }
        }
    free(cost);
}

bool network_is_tree(struct network *network, uint32_t number)
{
    struct network_zone *zone = &network->zones[number];
    struct network_paths *paths = arena_alloc(network->arena, sizeof *paths);
    uint32_t roots = 0;
    if (zone->has_zones || !zone->edges || !find_forest(network, zone, paths))
        return false;
    for (uint32_t i = 0; i < zone->edges; i++)
        if (network->routes[network->edges[zone->first_edge + i].route / 2].count != 1)
            return false; /* SimGrid has an order of its own for them */
    for (uint32_t i = 0; i < zone->points; i++)
        roots += paths->parent[i] == i;
    zone->paths = paths;
    return roots == 1;
}

static void prepare_paths(struct network *network, struct network_zone *zone)
{
    if (zone->paths)
        return;
    zone->paths = arena_alloc(network->arena, sizeof *zone->paths);
    if (!find_forest(network, zone, zone->paths))
        find_shortest(network, zone, zone->paths);
}

/* The points of the way in a tree: up from one end to where the ways meet, down to the other. */
static uint32_t *tree_way(const struct network_paths *paths, uint32_t from, uint32_t to, uint32_t *count)
{
    uint32_t most = paths->depth[from] + paths->depth[to] + 2, ups = 0, downs = 0;
    uint32_t *way = array_zeroed(most, sizeof *way);
    while (from != to) {
        bool up = paths->depth[from] >= paths->depth[to];
        uint32_t *end = up ? &from : &to;
        if (paths->parent[*end] == *end) { /* two trees */
            free(way);
            return NULL;
        }
        way[up ? ups++ : most - ++downs] = *end;
        *end = paths->parent[*end];
    }
    way[ups++] = from;
    memmove(way + ups, way + most - downs, downs * sizeof *way);
    *count = ups + downs;
    return way;
}

static uint32_t *table_way(const struct network_zone *zone, uint32_t from, uint32_t to, uint32_t *count)
{
    uint32_t *way = NULL;
    size_t capacity = 0;
    *count = 0;
    for (uint32_t point = to;;) {
        way = array_grow(way, &capacity, *count + 1, sizeof *way);
        way[(*count)++] = point;
        if (point == from && *count > 1)
            break;
        point = zone->paths->before[(size_t)from * zone->points + point];
        if (point == NETWORK_NONE) {
            free(way);
            return NULL;
        }
    }
    for (uint32_t i = 0; i < *count / 2; i++) {
        uint32_t swapped = way[i];
        way[i] = way[*count - 1 - i];
        way[*count - 1 - i] = swapped;
    }
    return way;
}

static bool find(struct network *network, uint32_t from, uint32_t to);

/* Between two zones on the way that do not share a gateway, the way within the zone. */
static bool pass_way(struct network *network, const struct network_zone *zone, const uint32_t *way, uint32_t count,
                     struct local *local)
{
    uint32_t left = NETWORK_NONE;
    for (uint32_t i = 0; i + 1 < count; i++) {
        uint32_t gateways[2], coded = find_edge(network, zone, way[i], way[i + 1])->route;
        set_gateways(network, coded, gateways);
        if (i == 0)
            local->gateways[0] = gateways[0];
        if (zone->has_zones && left != NETWORK_NONE && left != gateways[0] && !find(network, left, gateways[0]))
            return false;
        pass_route(network, coded);
        left = local->gateways[1] = gateways[1];
    }
    return true;
}

/* Moves the links that were found last, from `middle` on, to before those from `first` on. */
static void put_before(struct network *network, size_t first, size_t middle)
{
    size_t count = network->found_count - middle, before = middle - first;
    if (!count || !before)
        return;
    uint32_t *kept = array_zeroed(before, sizeof *kept);
    memcpy(kept, network->found + first, before * sizeof *kept);
    memmove(network->found + first, network->found + middle, count * sizeof *kept);
    memcpy(network->found + first + count, kept, before * sizeof *kept);
    free(kept);
}

/* As SimGrid's Dijkstra does: latencies are summed from the last route on, and links come before all others. */
static bool pass_from_end(struct network *network, const struct network_zone *zone, const uint32_t *way, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        size_t found = network->found_count;
        pass_route(network, find_edge(network, zone, way[i - 2], way[i - 1])->route);
        put_before(network, 0, found);
    }
    return true;
}

static bool pass_floyd(struct network *network, struct network_zone *zone, uint32_t from, uint32_t to,
                       struct local *local)
{
    uint32_t count = 0;
    if (from == to && !zone->has_zones && !find_edge(network, zone, from, to)) {
        network_pass(network, network->loopback);
        return true;
    }
    prepare_paths(network, zone);
    uint32_t *way = zone->paths->parent ? tree_way(zone->paths, from, to, &count) : table_way(zone, from, to, &count);
    bool found = way && (zone->must_be_tree ? pass_from_end(network, zone, way, count)
                                            : pass_way(network, zone, way, count, local));
    free(way);
    return found;
}

/* ---- the others ---- */

/* Without zones inside, a way that is not given is none, and no mistake. */
static bool pass_full(struct network *network, const struct network_zone *zone, uint32_t from, uint32_t to,
                      struct local *local)
{
    const struct network_edge *edge = find_edge(network, zone, from, to);
    if (edge) {
        set_gateways(network, edge->route, local->gateways);
        pass_route(network, edge->route);
    } else if (from == to && !zone->has_zones)
        network_pass(network, network->loopback);
    return edge || !zone->has_zones;
}

/* A link that is on both halves is passed once. */
static void pass_star(struct network *network, const struct network_zone *zone, uint32_t from, uint32_t to)
{
    size_t first = network->found_count;
    const uint32_t halves[] = {zone->rays[from], zone->rays[to]};
    for (uint32_t half = 0; half < 2; half++) {
        const struct network_route *route = &network->routes[halves[half]];
        for (uint32_t i = 0; i < route->count; i++) {
            uint32_t step = network->steps[route->first + (half ? route->count - 1 - i : i)];
            uint32_t link = link_of_step(step, half);
            bool passed = false;
            for (size_t k = first; k < network->found_count && !passed; k++)
                passed = network->found[k] == link;
            if (!passed)
                network_pass(network, link);
        }
    }
}

static bool pass_local(struct network *network, struct network_zone *zone, uint32_t from, uint32_t to,
                       struct local *local)
{
    local->gateways[0] = local->gateways[1] = NETWORK_NONE;
    switch (zone->routing) {
    case NETWORK_FULL:
        return pass_full(network, zone, from, to, local);
    case NETWORK_FLOYD:
        return pass_floyd(network, zone, from, to, local);
    case NETWORK_STAR:
        pass_star(network, zone, from, to);
        return true;
    case NETWORK_TORUS:
    case NETWORK_DRAGONFLY:
        network_cluster_route(network, zone, from, to);
        return true;
    }
    return false;
}

/* The zones on the way from both up to the first that holds both; `ends` become the points in it. */
static uint32_t common_zone(const struct network *network, uint32_t *ends)
{
    uint32_t zones[] = {network->points[ends[0]].zone, network->points[ends[1]].zone};
    while (zones[0] != zones[1]) {
        uint32_t deeper = network->zones[zones[0]].depth < network->zones[zones[1]].depth;
        ends[deeper] = network->zones[zones[deeper]].point;
        zones[deeper] = network->zones[zones[deeper]].parent;
    }
    return zones[0];
}

static bool find(struct network *network, uint32_t from, uint32_t to)
{
    uint32_t ends[] = {from, to};
    struct network_zone *zone = &network->zones[common_zone(network, ends)];
    struct local local;
    size_t first = network->found_count, middle;
    if (!pass_local(network, zone, network->points[ends[0]].number, network->points[ends[1]].number, &local))
        return false;
    if (ends[0] == from && ends[1] == to)
        return true;
    if (local.gateways[0] == NETWORK_NONE || local.gateways[1] == NETWORK_NONE)
        return false;
    middle = network->found_count;
    if (from != local.gateways[0] && !find(network, from, local.gateways[0]))
        return false;
    put_before(network, first, middle);
    return to == local.gateways[1] || find(network, local.gateways[1], to);
}

bool network_find(struct network *network, uint32_t from, uint32_t to)
{
    network->found_count = 0;
    network->latency = 0;
    if (find(network, from, to))
        return true;
    network->found_count = 0;
    network->latency = 0;
    return false;
}
