/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/view.h"

#include "base/arena.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nodes with more hosts are looked at from their first host only: pairs grow with the square. */
enum { PAIRS_HOSTS_MAX = 128 };
/* A node is compared with that many kinds at most: platforms in which every node is another one are not folded. */
enum { KINDS_COMPARED = 64 };

/* The route, or one of no bandwidth where there is none. */
static void route_or_none(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    if (!platform->reaches || platform->reaches(platform, from, to))
        platform->route(platform, from, to, route);
    else
        *route = (struct platform_route){0};
}

/* ---- transfers at the same time ---- */

struct flows {
    uint32_t count, *start, *links; /* links of flow i: links[start[i]] .. links[start[i + 1] - 1] */
    double *left;                   /* by link: capacity not given out yet */
    uint32_t *users;                /* by link: flows that still grow */
};

/* Finds the routes; transfers without one get a rate of 0 at once, all others grow from here. */
static void collect(struct platform *platform, const uint32_t *from, const uint32_t *to, uint32_t count,
                    struct flows *flows, double *rates)
{
    size_t used = 0, capacity = 0, starts = 0, link_capacity = 0, user_capacity = 0;
    *flows = (struct flows){.count = count};
    flows->start = array_grow(NULL, &starts, (size_t)count + 1, sizeof *flows->start);
    flows->left = array_grow(NULL, &link_capacity, platform->link_count + 1, sizeof *flows->left);
    flows->users = array_grow(NULL, &user_capacity, platform->link_count + 1, sizeof *flows->users);
    for (uint32_t i = 0; i < platform->link_count; i++)
        flows->left[i] = platform->links[i].bandwidth, flows->users[i] = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct platform_route route;
        route_or_none(platform, from[i], to[i], &route);
        rates[i] = route.bandwidth > 0 ? INFINITY : 0;
        flows->links = array_grow(flows->links, &capacity, used + route.link_count + 1, sizeof *flows->links);
        flows->start[i] = (uint32_t)used;
        for (uint32_t k = 0; k < route.link_count; k++) {
            flows->links[used++] = route.links[k];
            flows->users[route.links[k]]++;
        }
    }
    flows->start[count] = (uint32_t)used;
}

/* What each growing flow may still add before a link of `platform` is full. A fat pipe gives every flow its whole rate.
 */
static double share_of(const struct platform *platform, const struct flows *flows, uint32_t link)
{
    return platform->links[link].sharing == LINK_FATPIPE ? flows->left[link] : flows->left[link] / flows->users[link];
}

static bool is_held(const struct platform *platform, const struct flows *flows, uint32_t flow, double share)
{
    for (uint32_t k = flows->start[flow]; k < flows->start[flow + 1]; k++)
        if (share_of(platform, flows, flows->links[k]) <= share * (1 + 1e-12))
            return true;
    return false;
}

/* One round: the fullest link stops its flows at `share`. */
static void hold(const struct platform *platform, struct flows *flows, double share, double *rates, bool *held)
{
    for (uint32_t i = 0; i < flows->count; i++)
        held[i] = isinf(rates[i]) && flows->start[i] < flows->start[i + 1] && is_held(platform, flows, i, share);
    for (uint32_t i = 0; i < flows->count; i++) {
        if (!held[i])
            continue;
        rates[i] = share;
        for (uint32_t k = flows->start[i]; k < flows->start[i + 1]; k++) {
            uint32_t link = flows->links[k];
            if (platform->links[link].sharing != LINK_FATPIPE)
                flows->left[link] = fmax(0, flows->left[link] - share);
            flows->users[link]--;
        }
    }
}

void view_rates(struct platform *platform, const uint32_t *from, const uint32_t *to, uint32_t count, double *rates)
{
    struct flows flows;
    collect(platform, from, to, count, &flows, rates);
    size_t held_capacity = 0;
    bool *held = array_grow(NULL, &held_capacity, (size_t)count + 1, sizeof *held);
    for (;;) {
        double share = INFINITY;
        for (uint32_t link = 0; link < platform->link_count; link++)
            if (flows.users[link] && share_of(platform, &flows, link) < share)
                share = share_of(platform, &flows, link);
        if (isinf(share))
            break;
        hold(platform, &flows, share, rates, held);
    }
    free(held);
    free(flows.start);
    free(flows.links);
    free(flows.left);
    free(flows.users);
}

/* ---- nodes ---- */

static bool same_host(const struct platform_host *a, const struct platform_host *b)
{
    bool same = a->speed == b->speed && a->memory == b->memory && a->memory_bandwidth == b->memory_bandwidth;
    for (unsigned i = 0; i < PRECISIONS; i++)
        same &= a->peak[i] == b->peak[i];
    return same && ((!a->model && !b->model) || (a->model && b->model && strcmp(a->model, b->model) == 0));
}

static uint32_t node_size(const struct platform *platform, uint32_t first)
{
    uint32_t past = first + 1;
    while (past < platform->host_count && strcmp(platform->hosts[past].node, platform->hosts[first].node) == 0)
        past++;
    return past - first;
}

static int by_speed(const void *left, const void *right)
{
    const struct view_pairs *a = left, *b = right;
    if (a->bandwidth != b->bandwidth)
        return a->bandwidth > b->bandwidth ? -1 : 1;
    return a->latency < b->latency ? -1 : a->latency > b->latency;
}

/* Latencies are sums in the order of the route, so both directions of a pair may differ in the last bits. */
static bool same_speed(const struct view_pairs *pairs, const struct platform_route *route)
{
    return pairs->bandwidth == route->bandwidth && fabs(pairs->latency - route->latency) <= 1e-9 * route->latency;
}

static void add_pair(struct platform *platform, struct view_pairs **pairs, uint32_t *count, size_t *capacity,
                     uint32_t from, uint32_t to)
{
    struct platform_route route;
    route_or_none(platform, from, to, &route);
    for (uint32_t i = 0; i < *count; i++)
        if (same_speed(&(*pairs)[i], &route)) {
            (*pairs)[i].count++;
            return;
        }
    *pairs = array_grow(*pairs, capacity, *count + 1, sizeof **pairs);
    (*pairs)[(*count)++] = (struct view_pairs){1, route.bandwidth, route.latency, from, to};
}

static void find_pairs(struct platform *platform, struct view_node *node, struct arena *arena)
{
    struct view_pairs *pairs = NULL;
    uint32_t count = 0, past = node->first + node->size;
    size_t capacity = 0;
    node->sampled = node->size > PAIRS_HOSTS_MAX;
    for (uint32_t a = node->first; a < (node->sampled ? node->first + 1 : past); a++)
        for (uint32_t b = node->first; b < past; b++)
            if (a != b)
                add_pair(platform, &pairs, &count, &capacity, a, b);
    if (count)
        qsort(pairs, count, sizeof *pairs, by_speed);
    struct view_pairs *kept = arena_array(arena, count + 1, sizeof *kept);
    if (count)
        memcpy(kept, pairs, count * sizeof *kept);
    free(pairs);
    node->pairs = kept;
    node->pair_count = count;
}

/* The slowest of transfers around the node, and the sum of those to the next node. */
static void find_rates(struct platform *platform, struct view_node *node, struct arena *arena)
{
    uint32_t *from = arena_array(arena, node->size, sizeof *from), *to = arena_array(arena, node->size, sizeof *to);
    double *rates = arena_array(arena, node->size, sizeof *rates);
    uint32_t next = node->first + node->size;
    for (uint32_t i = 0; i < node->size; i++)
        from[i] = node->first + i, to[i] = node->first + (i + 1) % node->size;
    if (node->size > 1) {
        view_rates(platform, from, to, node->size, rates);
        node->ring = INFINITY;
        for (uint32_t i = 0; i < node->size; i++)
            node->ring = fmin(node->ring, rates[i]);
    }
    if (next < platform->host_count && node_size(platform, next) == node->size) {
        for (uint32_t i = 0; i < node->size; i++)
            to[i] = next + i;
        view_rates(platform, from, to, node->size, rates);
        for (uint32_t i = 0; i < node->size; i++)
            node->out += rates[i];
    }
}

/* Whether routes inside two nodes are equally fast, looked at from their first hosts. */
static bool same_routes(struct platform *platform, uint32_t a, uint32_t b, uint32_t size)
{
    for (uint32_t i = 1; i < size && i <= PAIRS_HOSTS_MAX; i++) {
        struct platform_route first, second;
        route_or_none(platform, a, a + i, &first);
        route_or_none(platform, b, b + i, &second);
        if (first.bandwidth != second.bandwidth || fabs(first.latency - second.latency) > 1e-9 * first.latency)
            return false;
    }
    return true;
}

static bool same_node(struct platform *platform, const struct view_node *node, uint32_t first, uint32_t size)
{
    if (node->size != size)
        return false;
    for (uint32_t i = 0; i < size; i++)
        if (!same_host(&platform->hosts[node->first + i], &platform->hosts[first + i]))
            return false;
    return same_routes(platform, node->first, first, size);
}

static void find_nodes(struct view *view, struct arena *arena)
{
    struct platform *platform = view->platform;
    struct view_node *nodes = NULL;
    size_t capacity = 0;
    for (uint32_t first = 0, size; first < platform->host_count; first += size) {
        uint32_t kind = 0;
        size = node_size(platform, first);
        if (view->node_count > KINDS_COMPARED)
            kind = view->node_count - KINDS_COMPARED;
        while (kind < view->node_count && !same_node(platform, &nodes[kind], first, size))
            kind++;
        if (kind == view->node_count) {
            nodes = array_grow(nodes, &capacity, kind + 1, sizeof *nodes);
            nodes[view->node_count++] = (struct view_node){.first = first, .size = size};
            find_pairs(platform, &nodes[kind], arena);
            find_rates(platform, &nodes[kind], arena);
        }
        nodes[kind].count++;
        view->node_total++;
    }
    struct view_node *kept = arena_array(arena, view->node_count + 1, sizeof *kept);
    if (view->node_count)
        memcpy(kept, nodes, view->node_count * sizeof *kept);
    free(nodes);
    view->nodes = kept;
}

/* ---- links ---- */

void view_link_class(const char *name, char *text, size_t size)
{
    size_t length = strlen(name), used = 0;
    if (length > 3 && strcmp(name + length - 3, "_UP") == 0)
        length -= 3;
    else if (length > 5 && strcmp(name + length - 5, "_DOWN") == 0)
        length -= 5;
    for (size_t i = 0; i < length && used + 1 < size; i++) {
        bool digit = isdigit((unsigned char)name[i]);
        if (!digit)
            text[used++] = name[i];
        else if (used == 0 || text[used - 1] != '#')
            text[used++] = '#';
    }
    while (used > 2 && text[used - 1] == '#' && text[used - 2] == '-') /* nvlink-#-#: one word is enough */
        used -= 2;
    text[used] = '\0';
}

int view_links_order(const void *left, const void *right)
{
    const struct view_links *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    if (order)
        return order;
    if (a->bandwidth != b->bandwidth)
        return a->bandwidth > b->bandwidth ? -1 : 1;
    return a->latency < b->latency ? -1 : a->latency > b->latency;
}

static void find_links(struct view *view, struct arena *arena)
{
    const struct platform *platform = view->platform;
    struct view_links *all = arena_array(arena, platform->link_count + 1, sizeof *all);
    uint32_t count = 0, kinds = 0;
    for (uint32_t i = 0; i < platform->link_count; i++) {
        const struct platform_link *link = &platform->links[i];
        if (strcmp(link->name, "__loopback__") == 0)
            continue;
        all[count] = (struct view_links){1, "", platform_link_rate(link), link->latency, link->sharing};
        view_link_class(link->name, all[count].name, sizeof all[count].name);
        count++;
    }
    qsort(all, count, sizeof *all, view_links_order);
    for (uint32_t i = 0; i < count; i++)
        if (kinds && view_links_order(&all[kinds - 1], &all[i]) == 0)
            all[kinds - 1].count++;
        else
            all[kinds++] = all[i];
    view->links = all;
    view->link_count = kinds;
}

static double bisection(struct platform *platform, struct arena *arena)
{
    uint32_t half = platform->host_count / 2;
    uint32_t *from = arena_array(arena, half + 1, sizeof *from), *to = arena_array(arena, half + 1, sizeof *to);
    double *rates = arena_array(arena, half + 1, sizeof *rates), sum = 0;
    for (uint32_t i = 0; i < half; i++)
        from[i] = i, to[i] = i + half;
    view_rates(platform, from, to, half, rates);
    for (uint32_t i = 0; i < half; i++)
        sum += rates[i];
    return sum;
}

const struct view *view_create(struct platform *platform, struct arena *arena)
{
    struct view *view = arena_alloc(arena, sizeof *view);
    view->platform = platform;
    find_nodes(view, arena);
    find_links(view, arena);
    view->bisection = bisection(platform, arena);
    return view;
}
