/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/collectives/every_pair.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RECENT = 8 };

struct counting {
    struct platform *platform;
    const struct pair_visit *visit;
    struct pair_flow recent[RECENT]; /* most flows are like one of the last few */
    unsigned next;
};

static void tell(struct counting *c, const struct pair_flow *flow)
{
    for (unsigned i = 0; i < RECENT; i++)
        if (c->recent[i].latency == flow->latency && c->recent[i].bandwidth == flow->bandwidth &&
            c->recent[i].scope == flow->scope)
            return;
    c->recent[c->next] = *flow;
    c->next = (c->next + 1) % RECENT;
    c->visit->flow(c->visit->user, flow);
}

static void load(const struct counting *c, uint32_t link, enum platform_scope scope, uint32_t flows, double latency)
{
    struct pair_port *port = &c->visit->ports[link];
    if (!port->flows[scope] || latency < port->least[scope])
        port->least[scope] = latency;
    port->flows[scope] += flows;
}

static struct pair_flow flow_of(const struct counting *c, uint32_t from, uint32_t to, struct platform_route *route)
{
    c->platform->route(c->platform, from, to, route);
    return (struct pair_flow){route->latency, route->bandwidth, platform_scope_of(c->platform, from, to)};
}

static void visit_one(struct counting *c, uint32_t from, uint32_t to)
{
    struct platform_route route;
    struct pair_flow flow = flow_of(c, from, to, &route);
    for (uint32_t i = 0; i < route.link_count; i++)
        load(c, route.links[i], flow.scope, 1, flow.latency);
    tell(c, &flow);
}

static void visit_each(struct counting *c, const uint32_t *hosts, uint32_t count)
{
    for (uint32_t from = 0; from < count; from++)
        for (uint32_t to = 0; to < count; to++)
            if (from != to)
                visit_one(c, hosts[from], hosts[to]);
}

/* ---- bundles ---- */

struct member {
    uint32_t host;
    struct platform_bundle bundle;
};

struct bundle {
    const struct member *members;
    uint32_t count;
    double least[2][SCOPES]; /* latencies of flows that leave it, and of those that come in */
    uint32_t flows[SCOPES];  /* that leave it from each member, and as many come in */
};

static int by_bundle(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    if (a->bundle.number != b->bundle.number)
        return a->bundle.number < b->bundle.number ? -1 : 1;
    return (a->host > b->host) - (a->host < b->host);
}

/* Whether two routes have links of equal latency and rate from one place on, so many. */
static bool same_links(const struct platform *platform, const uint32_t *links, const uint32_t *others, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct platform_link *a = &platform->links[links[i]], *b = &platform->links[others[i]];
        if (a->latency != b->latency || a->bandwidth != b->bandwidth)
            return false;
    }
    return true;
}

/* Whether the ways of a bundle's members to `other` and back are alike, so that the first stands for all. */
static bool is_even(const struct counting *c, const struct bundle *bundle, uint32_t other)
{
    const struct member *first = bundle->members;
    bool even = true;
    for (uint32_t back = 0; back < 2; back++) {
        uint32_t known = back ? first->bundle.in : first->bundle.out;
        uint32_t *links = array_zeroed(known, sizeof *links);
        for (uint32_t i = 0; i < bundle->count && even; i++) {
            const struct member *member = &first[i];
            struct platform_route route;
            uint32_t ends[] = {member->host, other}, own = back ? member->bundle.in : member->bundle.out;
            struct pair_flow flow = flow_of(c, ends[back], ends[!back], &route);
            const uint32_t *part = back ? route.links + route.link_count - own : route.links;
            even = own == known && own <= route.link_count &&
                   flow.scope == platform_scope_of(c->platform, first->host, other) &&
                   (i == 0 || same_links(c->platform, part, links, own));
            if (i == 0 && even && own)
                memcpy(links, part, own * sizeof *links);
        }
        free(links);
    }
    return even;
}

/* Whether all of it is in one node: then the scope of a flow is that of its bundles. */
static bool is_in_node(const struct counting *c, const struct bundle *bundle)
{
    for (uint32_t i = 1; i < bundle->count; i++)
        if (platform_scope_of(c->platform, bundle->members[0].host, bundle->members[i].host) != SCOPE_NODE)
            return false;
    return true;
}

/* NULL where routes have to be looked at one by one. The caller frees it. */
static struct bundle *find_bundles(const struct counting *c, const struct member *members, uint32_t count,
                                   uint32_t *bundle_count)
{
    struct bundle *bundles = array_zeroed(count, sizeof *bundles);
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || members[i].bundle.number != members[i - 1].bundle.number)
            bundles[found++] =
                (struct bundle){.members = &members[i], .least = {{INFINITY, INFINITY}, {INFINITY, INFINITY}}};
        bundles[found - 1].count++;
    }
    bool even = found > 1 && found < count;
    for (uint32_t i = 0; i < found && even; i++)
        even = is_in_node(c, &bundles[i]) && is_even(c, &bundles[i], bundles[i ? 0 : 1].members->host);
    *bundle_count = found;
    if (even)
        return bundles;
    free(bundles);
    return NULL;
}

static void note_flows(struct bundle *bundle, bool in, const struct pair_flow *flow, uint32_t flows)
{
    double *least = &bundle->least[in][flow->scope];
    *least = fmin(*least, flow->latency);
    bundle->flows[flow->scope] += in ? 0 : flows;
}

/* From every member of one to every member of the other: what lies between the bundles. */
static void visit_between(struct counting *c, struct bundle *from, struct bundle *to)
{
    struct platform_route route;
    struct pair_flow flow = flow_of(c, from->members->host, to->members->host, &route);
    uint32_t first = from->members->bundle.out, in = to->members->bundle.in;
    for (uint32_t i = 0; route.link_count < first + in && i < from->count; i++) /* there is no way */
        for (uint32_t k = 0; k < to->count; k++)
            visit_one(c, from->members[i].host, to->members[k].host);
    if (route.link_count < first + in)
        return;
    for (uint32_t i = first; i < route.link_count - in; i++)
        load(c, route.links[i], flow.scope, from->count * to->count, flow.latency);
    note_flows(from, false, &flow, to->count);
    note_flows(to, true, &flow, from->count);
    tell(c, &flow);
}

/* What only the members' own flows pass. */
static void visit_ends(struct counting *c, const struct bundle *bundle, uint32_t other)
{
    for (uint32_t i = 0; i < bundle->count; i++) {
        const struct member *member = &bundle->members[i];
        struct platform_route route;
        for (uint32_t back = 0; back < 2; back++) {
            uint32_t ends[] = {member->host, other}, own = back ? member->bundle.in : member->bundle.out;
            c->platform->route(c->platform, ends[back], ends[!back], &route);
            const uint32_t *part = back ? route.links + route.link_count - own : route.links;
            for (unsigned scope = 0; scope < SCOPES; scope++)
                for (uint32_t k = 0; k < own && bundle->flows[scope]; k++)
                    load(c, part[k], (enum platform_scope)scope, bundle->flows[scope], bundle->least[back][scope]);
        }
    }
}

static void visit_bundles(struct counting *c, struct bundle *bundles, uint32_t count)
{
    for (uint32_t from = 0; from < count; from++)
        for (uint32_t to = 0; to < count; to++)
            if (from != to)
                visit_between(c, &bundles[from], &bundles[to]);
    for (uint32_t i = 0; i < count; i++) {
        const struct bundle *bundle = &bundles[i];
        uint32_t *hosts = array_zeroed(bundle->count, sizeof *hosts);
        for (uint32_t k = 0; k < bundle->count; k++)
            hosts[k] = bundle->members[k].host;
        visit_each(c, hosts, bundle->count);
        free(hosts);
        visit_ends(c, bundle, bundles[i ? 0 : 1].members->host);
    }
}

void every_pair_visit(struct platform *platform, const uint32_t *hosts, uint32_t count, const struct pair_visit *visit)
{
    struct counting c = {.platform = platform, .visit = visit};
    uint32_t bundle_count = 0;
    struct member *members = platform->bundle ? array_zeroed(count, sizeof *members) : NULL;
    for (uint32_t i = 0; members && i < count; i++) {
        members[i].host = hosts[i];
        platform->bundle(platform, hosts[i], &members[i].bundle);
    }
    if (members)
        qsort(members, count, sizeof *members, by_bundle);
    struct bundle *bundles = members ? find_bundles(&c, members, count, &bundle_count) : NULL;
    if (bundles)
        visit_bundles(&c, bundles, bundle_count);
    else
        visit_each(&c, hosts, count);
    free(bundles);
    free(members);
}
