/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/routing.h"

#include "base/arena.h"
#include "base/quantity.h"
#include "platforms/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "routing_";
static const char *const policies[] = {"adaptive", "ecmp", NULL};
static const char *const names[] = {"routing", "routing_links", "routing_paths", "routing_flows", "routing_seed"};

/* ---- properties ---- */

bool routing_owns(const char *key)
{
    return strcmp(key, "routing") == 0 || strncmp(key, prefix, sizeof prefix - 1) == 0;
}

static bool read_count(const char *key, const char *value, uint64_t least, uint64_t most, uint64_t *to,
                       struct fault *fault)
{
    struct quantity_reason reason;
    if (quantity_count(value, to, &reason) && *to >= least && *to <= most)
        return true;
    return fault_set(fault, "property %s=\"%.60s\": expected a whole number from %llu to %llu", key, value,
                     (unsigned long long)least, (unsigned long long)most);
}

static bool set_policy(struct platform_routing *routing, const char *value, struct fault *fault)
{
    bool ecmp = strcmp(value, policies[ROUTING_ECMP]) == 0;
    if (!ecmp && strcmp(value, policies[ROUTING_ADAPTIVE]) != 0)
        return fault_set(fault, "property routing=\"%.60s\": expected ecmp or adaptive", value);
    routing->policy = ecmp ? ROUTING_ECMP : ROUTING_ADAPTIVE;
    return true;
}

static bool set_links(struct platform_routing *routing, const char *value, struct fault *fault)
{
    if (!*value || strlen(value) >= sizeof routing->links)
        return fault_set(fault, "property routing_links=\"%.60s\": expected a kind of links such as spine", value);
    snprintf(routing->links, sizeof routing->links, "%s", value);
    return true;
}

bool routing_property(unsigned index, struct platform_property *property)
{
    if (index >= sizeof names / sizeof *names)
        return false;
    *property = (struct platform_property){.kind = index == 0   ? PROPERTY_WORD
                                                   : index == 1 ? PROPERTY_TEXT
                                                                : PROPERTY_COUNT,
                                           .words = index == 0 ? policies : NULL};
    snprintf(property->name, sizeof property->name, "%s", names[index]);
    return true;
}

bool routing_set(struct platform_routing *routing, const char *key, const char *value, struct fault *fault)
{
    uint64_t count = 0;
    bool good = false;
    if (!strcmp(key, names[0]))
        return set_policy(routing, value, fault);
    if (!strcmp(key, names[1]))
        return set_links(routing, value, fault);
    if (!strcmp(key, names[2])) {
        good = read_count(key, value, 1, ROUTING_PATHS_MAX, &count, fault);
        routing->paths = (uint32_t)count;
        return good;
    }
    if (!strcmp(key, names[3])) {
        good = read_count(key, value, 1, ROUTING_FLOWS_MAX, &count, fault);
        routing->flows = (uint32_t)count;
        return good;
    }
    if (!strcmp(key, names[4]))
        return read_count(key, value, 0, UINT64_MAX >> 11, &routing->seed, fault);
    const char *near = diag_nearest(key, names, sizeof names / sizeof *names);
    return fault_set(fault, "there is no property %s; did you mean %s?", key, near ? near : names[0]);
}

static void write_count(FILE *out, const char *name, uint64_t count, unsigned indent)
{
    if (count)
        fprintf(out, "%*s<prop id=\"%s%s\" value=\"%llu\"/>\n", (int)indent, "", prefix, name,
                (unsigned long long)count);
}

void routing_write(FILE *out, const struct platform_routing *routing, unsigned indent)
{
    if (!routing->paths)
        return;
    fprintf(out, "%*s<prop id=\"routing\" value=\"%s\"/>\n", (int)indent, "", policies[routing->policy]);
    fprintf(out, "%*s<prop id=\"%slinks\" value=\"%s\"/>\n", (int)indent, "", prefix, routing->links);
    write_count(out, "paths", routing->paths, indent);
    write_count(out, "flows", routing->flows, indent);
    write_count(out, "seed", routing->seed, indent);
}

/* ---- the platform ---- */

#define NONE UINT32_MAX

struct routed {
    struct platform *base, *platform;
    struct platform_routing routing;
    uint32_t *place;  /* [base link]: its link, or, where `paths` is set, where its cables are in `cables` */
    bool *spread;     /* [base link]: it is cables */
    uint32_t *cables; /* [place + number] */
    const bool *down; /* [link]; NULL: none is */
    uint32_t *links;  /* of the newest route */
    size_t capacity;
    struct arena *arena;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) + 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ hash >> 27) * 0x94d049bb133111ebu;
    return hash ^ hash >> 31;
}

/* Whether cable `number` is up on every spread link of the route. */
static bool is_up(const struct routed *routed, const struct platform_route *route, uint32_t number)
{
    for (uint32_t i = 0; i < route->link_count && routed->down; i++)
        if (routed->spread[route->links[i]] && routed->down[routed->cables[routed->place[route->links[i]] + number]])
            return false;
    return true;
}

/* The cable that a flow draws: as a switch does, among those that are up; among all where none is. */
static uint32_t draw(const struct routed *routed, const struct platform_route *route, uint64_t hash)
{
    uint32_t paths = routed->routing.paths, up = 0;
    if (!routed->down)
        return (uint32_t)(hash % paths);
    for (uint32_t i = 0; i < paths; i++)
        up += is_up(routed, route, i);
    if (!up)
        return (uint32_t)(hash % paths);
    uint32_t wanted = (uint32_t)(hash % up), number = 0;
    while (!is_up(routed, route, number) || wanted--)
        number++;
    return number;
}

static bool is_spread(const struct routed *routed, const struct platform_route *route)
{
    for (uint32_t i = 0; i < route->link_count; i++)
        if (routed->spread[route->links[i]])
            return true;
    return false;
}

static void find_route(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    struct routed *routed = platform->handle;
    const struct platform_routing *routing = &routed->routing;
    uint32_t count = 0;
    routed->base->route(routed->base, from, to, route);
    size_t most = (size_t)route->link_count * routing->flows;
    if (most > routed->capacity) {
        routed->capacity = 2 * most;
        routed->links = arena_array(routed->arena, routed->capacity, sizeof *routed->links);
    }
    uint32_t numbers[ROUTING_FLOWS_MAX] = {0};
    bool spread = is_spread(routed, route);
    for (uint32_t flow = 0; spread && flow < routing->flows; flow++)
        numbers[flow] = draw(routed, route, mix(mix(mix(mix(0, routing->seed), from), to), flow));
    for (uint32_t i = 0; i < route->link_count; i++) {
        uint32_t place = routed->place[route->links[i]];
        bool cables = routed->spread[route->links[i]];
        for (uint32_t flow = 0; flow < (cables ? routing->flows : 1); flow++)
            routed->links[count++] = cables ? routed->cables[place + numbers[flow]] : place;
    }
    route->links = routed->links;
    route->link_count = count;
    if (spread)
        route->bandwidth = routing_rate(platform, routed->links, count);
}

static bool reaches(struct platform *platform, uint32_t from, uint32_t to)
{
    struct routed *routed = platform->handle;
    return routed->base->reaches(routed->base, from, to);
}

double routing_rate(const struct platform *platform, const uint32_t *links, uint32_t count)
{
    double rate = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        const struct platform_link *link = &platform->links[links[i]];
        uint32_t passes = 1;
        for (uint32_t k = 0; k < count && link->parts > 1; k++)
            passes += k != i && links[k] == links[i];
        rate = fmin(rate, link->bandwidth / passes);
    }
    return rate;
}

/* A link with where it came from, to be ordered by name. */
struct made {
    struct platform_link link;
    uint32_t base, number; /* number: of the cable; NONE: the link as it was */
};

static int by_name(const void *left, const void *right)
{
    return strverscmp(((const struct made *)left)->link.name, ((const struct made *)right)->link.name);
}

/* "spine-0_UP" becomes "spine-0-3_UP". */
static const char *cable_name(const char *name, uint32_t number, struct arena *arena)
{
    static const char *const endings[] = {"_UP", "_DOWN"};
    size_t length = strlen(name);
    for (unsigned i = 0; i < 2; i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && !strcmp(name + length - ending, endings[i]))
            return arena_print(arena, "%.*s-%u%s", (int)(length - ending), name, number, endings[i]);
    }
    return arena_print(arena, "%s-%u", name, number);
}

static uint32_t mark_spread(struct routed *routed)
{
    char kind[sizeof routed->routing.links + 1];
    uint32_t count = 0;
    for (uint32_t i = 0; i < routed->base->link_count; i++) {
        view_link_class(routed->base->links[i].name, kind, sizeof kind);
        routed->spread[i] = !strcmp(kind, routed->routing.links) && routed->base->links[i].sharing == LINK_SHARED;
        count += routed->spread[i];
    }
    return count;
}

/* Each cable has its part of the link's rate. What a transfer of several flows passes is listed once a flow, so that
 * the rate counts as often. */
static void make_links(struct routed *routed, uint32_t spread, struct arena *arena)
{
    const struct platform *base = routed->base;
    uint32_t paths = routed->routing.paths, flows = routed->routing.flows, count = 0, next = 0;
    struct made *all = array_zeroed((size_t)base->link_count + (size_t)spread * paths + 1, sizeof *all);
    for (uint32_t i = 0; i < base->link_count; i++)
        for (uint32_t k = 0; k < (routed->spread[i] ? paths : 1); k++) {
            all[count] = (struct made){base->links[i], i, routed->spread[i] ? k : NONE};
            struct platform_link *link = &all[count++].link;
            if (!routed->spread[i])
                continue;
            link->name = cable_name(link->name, k, arena);
            link->bandwidth = link->bandwidth / paths * flows;
            link->parts = flows;
        }
    if (count)
        qsort(all, count, sizeof *all, by_name);
    for (uint32_t i = 0; i < base->link_count; i++)
        if (routed->spread[i])
            routed->place[i] = paths * next++;
    routed->platform->link_count = count;
    routed->platform->links = arena_array(arena, count + 1, sizeof *routed->platform->links);
    for (uint32_t i = 0; i < count; i++) {
        routed->platform->links[i] = all[i].link;
        if (all[i].number == NONE)
            routed->place[all[i].base] = i;
        else
            routed->cables[routed->place[all[i].base] + all[i].number] = i;
    }
    free(all);
}

static bool check(const struct platform *platform, const struct platform_routing *routing, struct fault *fault)
{
    if (!routing->paths || !routing->links[0])
        return fault_set(fault,
                         "%s: nothing says over how many links flows are spread; expected the properties "
                         "routing_links and routing_paths, or a platform of several pods or with rails",
                         platform->file);
    if (platform->loader && !strcmp(platform->loader, "simgrid"))
        return fault_set(fault, "%s: routing=\"ecmp\" needs a platform that stagesim reads itself; SimGrid has to: %s",
                         platform->file, platform->loader_reason ? platform->loader_reason : "it was asked to");
    return true;
}

struct platform *routing_platform(struct platform *platform, const struct platform_routing *routing,
                                  struct arena *arena, struct fault *fault)
{
    if (routing->policy != ROUTING_ECMP)
        return platform;
    if (!check(platform, routing, fault))
        return NULL;
    struct routed *routed = arena_alloc(arena, sizeof *routed);
    struct platform *copy = arena_alloc(arena, sizeof *copy);
    *copy = *platform;
    copy->library.routing = *routing;
    *routed = (struct routed){.base = platform, .platform = copy, .routing = *routing, .arena = arena};
    routed->routing.flows = routing->flows ? routing->flows : 1;
    routed->place = arena_array(arena, platform->link_count + 1, sizeof *routed->place);
    routed->spread = arena_array(arena, platform->link_count + 1, sizeof *routed->spread);
    uint32_t spread = mark_spread(routed);
    if (!spread) {
        fault_set(fault, "%s: property routing_links=\"%s\" is no kind of its shared links", platform->file,
                  routing->links);
        return NULL;
    }
    routed->cables = arena_array(arena, (size_t)spread * routing->paths + 1, sizeof *routed->cables);
    make_links(routed, spread, arena);
    copy->route = find_route;
    copy->reaches = platform->reaches ? reaches : NULL;
    copy->bundle = NULL; /* every pair of hosts draws its own */
    copy->handle = routed;
    return copy;
}

struct platform *routing_base(struct platform *platform)
{
    return platform->route == find_route ? ((struct routed *)platform->handle)->base : platform;
}

void routing_avoid(struct platform *platform, const bool *down)
{
    if (platform->route == find_route)
        ((struct routed *)platform->handle)->down = down;
}
