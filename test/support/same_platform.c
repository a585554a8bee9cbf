/* SPDX-License-Identifier: Apache-2.0 */
#include "test/support/same_platform.h"

#include "base/arena.h"
#include "simulator/collectives/every_pair.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct comparison {
    struct platform *sides[2];
    char *difference;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static bool differ(const struct comparison *comparison, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(comparison->difference, comparison->size, format, arguments);
    va_end(arguments);
    return false;
}

static bool same_text(const char *left, const char *right)
{
    return left == right || (left && right && !strcmp(left, right));
}

static bool same_host(const struct platform_host *a, const struct platform_host *b)
{
    return same_text(a->name, b->name) && same_text(a->model, b->model) && same_text(a->node, b->node) &&
           same_text(a->nic, b->nic) && a->speed == b->speed && a->full_speed == b->full_speed &&
           a->state == b->state && !memcmp(a->peak, b->peak, sizeof a->peak) && a->memory == b->memory &&
           a->memory_bandwidth == b->memory_bandwidth && a->has_watts == b->has_watts &&
           a->idle_watts == b->idle_watts && a->busy_watts == b->busy_watts && a->varies == b->varies;
}

static bool same_hosts(const struct comparison *comparison)
{
    const struct platform *a = comparison->sides[0], *b = comparison->sides[1];
    if (a->host_count != b->host_count)
        return differ(comparison, "%u hosts and %u", a->host_count, b->host_count);
    for (uint32_t i = 0; i < a->host_count; i++)
        if (!same_host(&a->hosts[i], &b->hosts[i]))
            return differ(comparison, "host %u: %s of %s, %.17g flop/s and %s of %s, %.17g flop/s", i, a->hosts[i].name,
                          a->hosts[i].node, a->hosts[i].speed, b->hosts[i].name, b->hosts[i].node, b->hosts[i].speed);
    return true;
}

static bool same_links(const struct comparison *comparison)
{
    const struct platform *a = comparison->sides[0], *b = comparison->sides[1];
    if (a->link_count != b->link_count)
        return differ(comparison, "%u links and %u", a->link_count, b->link_count);
    for (uint32_t i = 0; i < a->link_count; i++) {
        const struct platform_link *x = &a->links[i], *y = &b->links[i];
        if (strcmp(x->name, y->name) || x->bandwidth != y->bandwidth || x->latency != y->latency ||
            x->sharing != y->sharing)
            return differ(comparison, "link %u: %s %.17g B/s %.17g s and %s %.17g B/s %.17g s", i, x->name,
                          x->bandwidth, x->latency, y->name, y->bandwidth, y->latency);
        static const struct platform_link_watts none = {0, 0};
        const struct platform_link_watts *v = a->link_watts ? &a->link_watts[i] : &none,
                                         *w = b->link_watts ? &b->link_watts[i] : &none;
        if (v->idle != w->idle || v->busy != w->busy)
            return differ(comparison, "link %u: %s %.17g:%.17g W and %.17g:%.17g W", i, x->name, v->idle, v->busy,
                          w->idle, w->busy);
    }
    return true;
}

static bool same_protocol(const struct platform_protocol *a, const struct platform_protocol *b)
{
    return same_text(a->name, b->name) && a->start == b->start && a->latency == b->latency &&
           a->efficiency == b->efficiency && a->most == b->most && a->rate == b->rate;
}

static bool same_library(const struct comparison *comparison)
{
    const struct platform_library *a = &comparison->sides[0]->library, *b = &comparison->sides[1]->library;
    bool same = a->in_network == b->in_network && a->in_network_efficiency == b->in_network_efficiency &&
                a->strided_efficiency == b->strided_efficiency && a->rings == b->rings &&
                a->in_network_decline == b->in_network_decline && a->copy_rate == b->copy_rate &&
                a->own_rate == b->own_rate && a->direct_own_rate == b->direct_own_rate &&
                a->in_network_efficiency_over == b->in_network_efficiency_over &&
                a->direct_efficiency[SCOPE_NODE] == b->direct_efficiency[SCOPE_NODE] &&
                a->direct_efficiency[SCOPE_NETWORK] == b->direct_efficiency[SCOPE_NETWORK] &&
                a->tree_rate == b->tree_rate && a->tree_rate_many == b->tree_rate_many &&
                a->overlap_node == b->overlap_node && a->overlap_network == b->overlap_network &&
                !memcmp(a->torus, b->torus, sizeof a->torus) && a->routing.policy == b->routing.policy &&
                same_text(a->routing.links, b->routing.links) && a->routing.paths == b->routing.paths &&
                a->routing.flows == b->routing.flows && a->routing.seed == b->routing.seed;
    for (unsigned scope = 0; scope < SCOPES; scope++) {
        const struct platform_regime *x = &a->regimes[scope], *y = &b->regimes[scope];
        same &= x->protocol_count == y->protocol_count && x->launch_default == y->launch_default &&
                x->direct_count == y->direct_count && x->in_network_start == y->in_network_start &&
                x->launch_default_given == y->launch_default_given && !memcmp(x->launch, y->launch, sizeof x->launch) &&
                !memcmp(x->launch_given, y->launch_given, sizeof x->launch_given);
        for (unsigned i = 0; i < PLATFORM_PROTOCOLS; i++)
            same &= same_protocol(&x->protocols[i], &y->protocols[i]) && same_protocol(&x->direct[i], &y->direct[i]);
    }
    return same || differ(comparison, "the libraries differ");
}

enum { ROUTE_LINKS_MAX = 4096 };

static bool same_route(const struct comparison *comparison, uint32_t from, uint32_t to)
{
    static uint32_t kept[ROUTE_LINKS_MAX]; /* the next route may write over the first one's links */
    struct platform *a = comparison->sides[0], *b = comparison->sides[1];
    const char *names[] = {a->hosts[from].name, a->hosts[to].name};
    struct platform_route x, y;
    bool there = a->reaches(a, from, to);
    if (there != b->reaches(b, from, to))
        return differ(comparison, "%s to %s: a route and none", names[0], names[1]);
    if (!there)
        return true;
    a->route(a, from, to, &x);
    if (x.link_count > ROUTE_LINKS_MAX)
        return differ(comparison, "%s to %s: %u links", names[0], names[1], x.link_count);
    if (x.link_count)
        memcpy(kept, x.links, x.link_count * sizeof *kept);
    b->route(b, from, to, &y);
    if (x.latency != y.latency || x.bandwidth != y.bandwidth || x.link_count != y.link_count)
        return differ(comparison, "%s to %s: %u links, %.17g B/s, %.17g s and %u links, %.17g B/s, %.17g s", names[0],
                      names[1], x.link_count, x.bandwidth, x.latency, y.link_count, y.bandwidth, y.latency);
    for (uint32_t i = 0; i < x.link_count; i++)
        if (kept[i] != y.links[i])
            return differ(comparison, "%s to %s: link %u is %s and %s", names[0], names[1], i, a->links[kept[i]].name,
                          b->links[y.links[i]].name);
    return true;
}

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
    uint64_t value = *state += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

static bool same_routes(const struct comparison *comparison, uint32_t pairs, uint64_t seed)
{
    uint32_t hosts = comparison->sides[0]->host_count;
    for (uint32_t i = 0; i < hosts; i++) {
        bool all = pairs == 0;
        for (uint32_t k = 0; k < (all ? hosts : 3); k++)
            if (!same_route(comparison, i, all ? k : (i + k) % hosts))
                return false;
    }
    for (uint32_t i = 0; i < pairs; i++) {
        uint32_t from = (uint32_t)(next_random(&seed) % hosts), to = (uint32_t)(next_random(&seed) % hosts);
        if (!same_route(comparison, from, to))
            return false;
    }
    return true;
}

/* ---- bundles ---- */

enum { BUNDLED_MAX = 64 };

struct flow_set {
    struct pair_flow flows[BUNDLED_MAX * BUNDLED_MAX];
    unsigned count;
};

/* Each kind of flow once. */
static void add_flow(void *user, const struct pair_flow *flow)
{
    struct flow_set *set = user;
    for (unsigned i = 0; i < set->count; i++)
        if (set->flows[i].latency == flow->latency && set->flows[i].bandwidth == flow->bandwidth &&
            set->flows[i].scope == flow->scope)
            return;
    set->flows[set->count++] = *flow;
}

static bool same_sets(const struct flow_set *a, struct flow_set *b)
{
    unsigned count = b->count;
    for (unsigned i = 0; i < a->count; i++)
        add_flow(b, &a->flows[i]);
    return a->count == count && b->count == count;
}

/* What links carry when everybody of some hosts sends to everybody, by bundles and route by route. */
static bool same_pairs(const struct comparison *comparison, struct platform *platform)
{
    static struct flow_set sets[2];
    uint32_t hosts[BUNDLED_MAX], count = platform->host_count < BUNDLED_MAX ? platform->host_count : BUNDLED_MAX;
    struct pair_port *ports[2];
    struct platform plain = *platform;
    struct platform *sides[] = {platform, &plain};
    plain.bundle = NULL;
    for (uint32_t i = 0; i < count; i++)
        hosts[i] = (uint32_t)((uint64_t)i * platform->host_count / count);
    for (int i = 0; i < 2; i++) {
        ports[i] = array_zeroed(platform->link_count, sizeof *ports[i]);
        sets[i].count = 0;
        every_pair_visit(sides[i], hosts, count, &(struct pair_visit){ports[i], add_flow, &sets[i]});
    }
    bool same = same_sets(&sets[0], &sets[1]) || differ(comparison, "bundles have other flows");
    for (uint32_t link = 0; link < platform->link_count && same; link++)
        for (unsigned scope = 0; scope < SCOPES && same; scope++) {
            const struct pair_port *a = &ports[0][link], *b = &ports[1][link];
            same = (a->flows[scope] == b->flows[scope] && a->least[scope] == b->least[scope]) ||
                   differ(comparison, "%s carries %u flows by bundles, %u route by route", platform->links[link].name,
                          a->flows[scope], b->flows[scope]);
        }
    free(ports[0]);
    free(ports[1]);
    return same;
}

bool same_platform(struct platform *left, struct platform *right, uint32_t pairs, uint64_t seed, char *difference,
                   size_t size)
{
    struct comparison comparison = {{left, right}, difference, size};
    return same_hosts(&comparison) && same_links(&comparison) && same_library(&comparison) &&
           (left->host_count == 0 || same_routes(&comparison, pairs, seed)) && same_pairs(&comparison, left) &&
           same_pairs(&comparison, right);
}
