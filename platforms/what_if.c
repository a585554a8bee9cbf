/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/what_if.h"

#include "base/arena.h"
#include "base/quantity.h"
#include "base/words/pattern.h"
#include "platforms/detour.h"
#include "platforms/routing.h"
#include "platforms/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 96, KINDS_SHOWN = 12 };
static const double factor_least = 1e-6, factor_most = 1e6;

/* ---- one change, as it is written ---- */

static const char routing_target[] = "routing", down_word[] = "down";

/* "ecmp", "ecmp/7", "adaptive". */
static bool read_routing(const char *text, struct what_if *change, struct fault *fault)
{
    static const char ecmp[] = "ecmp";
    struct quantity_reason reason;
    size_t length = sizeof ecmp - 1;
    change->figure = WHAT_IF_ROUTING;
    change->hashed = strncmp(text, ecmp, length) == 0 && (!text[length] || text[length] == '/');
    if (change->hashed ? !text[length] || quantity_count(text + length + 1, &change->seed, &reason)
                       : strcmp(text, "adaptive") == 0)
        return true;
    return fault_set(fault, "'%.60s' is no routing; expected adaptive, ecmp, or ecmp/7 with the seed 7", text);
}

static bool read_factor(const char *text, struct what_if *change, struct fault *fault)
{
    if (strcmp(text, down_word) == 0) {
        bool whole = change->figure == WHAT_IF_RATE;
        change->figure = WHAT_IF_DOWN;
        return whole || fault_set(fault, "'%.60s' is down as a whole; expected no .speed, .bandwidth or .latency",
                                  change->target);
    }
    struct quantity_reason reason;
    if (quantity_parse(QUANTITY_RATIO, text, &change->factor, &reason) && change->factor >= factor_least &&
        change->factor <= factor_most)
        return true;
    return fault_set(fault, "'%.60s' is no factor; expected a number from 1e-6 to 1e6, such as nic=0.5, or 'down'",
                     text);
}

/* "5%" or "5%/7". */
static bool read_share(const char *text, struct what_if *change, struct fault *fault)
{
    char *end;
    struct quantity_reason reason;
    double percent = strtod(text, &end);
    bool sound = end != text && *end == '%' && percent > 0 && percent <= 100;
    change->share = percent / 100;
    if (sound && end[1] == '/')
        sound = quantity_count(end + 2, &change->seed, &reason);
    else
        sound = sound && !end[1];
    return sound ||
           fault_set(fault, "'@%.60s' is no share; expected one such as @5%%, or @5%%/7 with the seed 7", text);
}

/* Cuts a figure off the end of the target. A name may hold dots of its own. */
static void cut_figure(char *target, struct what_if *change)
{
    static const char *const figures[] = {NULL, ".speed", ".bandwidth", ".latency"};
    size_t length = strlen(target);
    for (unsigned i = WHAT_IF_SPEED; i <= WHAT_IF_LATENCY; i++) {
        size_t ending = strlen(figures[i]);
        if (length <= ending || strcmp(target + length - ending, figures[i]) != 0)
            continue;
        target[length - ending] = '\0';
        change->figure = (enum what_if_figure)i;
        return;
    }
}

bool what_if_parse(const char *text, struct what_if *change, struct arena *arena, struct fault *fault)
{
    char *target = arena_copy(arena, text), *factor = strrchr(target, '=');
    *change = (struct what_if){.text = text, .target = target, .share = 1};
    if (!factor || factor == target)
        return fault_set(fault, "'%.60s' is no change of a platform; expected TARGET=FACTOR, such as nic=0.5", text);
    *factor++ = '\0';
    char *share = strrchr(target, '@');
    if (share)
        *share++ = '\0';
    cut_figure(target, change);
    if (!*target)
        return fault_set(fault, "'%.60s' names nothing to change; expected a kind of links or names of hosts", text);
    if (!strcmp(target, routing_target) && !share)
        return read_routing(factor, change, fault);
    return read_factor(factor, change, fault) && (!share || read_share(share, change, fault));
}

/* ---- what it is about ---- */

/* The length of a link's name without what tells the two directions apart. */
static size_t stem_length(const char *name)
{
    static const char *const endings[] = {"_UP", "_DOWN"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && !strcmp(name + length - ending, endings[i]))
            return length - ending;
    }
    return length;
}

static bool is_link(const char *target, const char *name)
{
    char kind[NAME_MAX_BYTES], stem[NAME_MAX_BYTES];
    view_link_class(name, kind, sizeof kind);
    if (!strcmp(kind, target) || pattern_matches(target, name))
        return true;
    size_t length = stem_length(name);
    if (length >= sizeof stem)
        return false;
    memcpy(stem, name, length);
    stem[length] = '\0';
    return pattern_matches(target, stem);
}

static bool is_host(const char *target, const struct platform_host *host)
{
    return pattern_matches(target, host->name) || pattern_matches(target, host->node) ||
           (host->model && pattern_matches(target, host->model));
}

bool what_if_can_change(const struct platform *platform)
{
    return !platform->loader || strcmp(platform->loader, "simgrid") != 0;
}

bool what_if_has_links(const struct platform *platform, const struct what_if *change)
{
    uint32_t link = 0;
    while (link < platform->link_count && !is_link(change->target, platform->links[link].name))
        link++;
    return link < platform->link_count;
}

/* ---- a share of them ---- */

/* Both directions of a link are drawn together: they have one number. */
static uint64_t draw_of(const char *name, size_t length, uint64_t seed)
{
    uint64_t hash = 0xcbf29ce484222325u ^ seed * 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3u;
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ hash >> 27) * 0x94d049bb133111ebu;
    return hash ^ hash >> 31;
}

static int by_value(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The largest number that is drawn: of `count` numbers, equal ones counted once, the share rounded to whole ones, but
 * one at least. */
static uint64_t largest_drawn(const uint64_t *draws, size_t count, double share)
{
    uint64_t *sorted = array_zeroed(count + 1, sizeof *sorted);
    size_t different = 0;
    memcpy(sorted, draws, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || sorted[i] != sorted[different - 1])
            sorted[different++] = sorted[i];
    double wanted = fmax(1, round(share * (double)different));
    uint64_t largest = sorted[(size_t)wanted - 1];
    free(sorted);
    return largest;
}

/* ---- the platform ---- */

struct changed {
    struct platform *base;
    struct platform *platform;
    bool *down;      /* [link]; NULL: none is */
    uint32_t *found; /* hosts or links that a change is about; room for all */
    uint64_t *draws; /* [found] */
};

static void find_route(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    struct changed *changed = platform->handle;
    const struct platform_link *before = changed->base->links, *now = platform->links;
    changed->base->route(changed->base, from, to, route);
    if (route->link_count)
        route->bandwidth = routing_rate(platform, route->links, route->link_count);
    for (uint32_t i = 0; i < route->link_count; i++) {
        uint32_t link = route->links[i], before_it = 0;
        while (route->links[before_it] != link)
            before_it++;
        if (before_it < i && now[link].parts > 1) /* another part of the transfer, at the same time */
            continue;
        if (now[link].latency != before[link].latency)
            route->latency += now[link].latency - before[link].latency;
    }
    route->latency = fmax(route->latency, 0);
}

static bool reaches(struct platform *platform, uint32_t from, uint32_t to)
{
    struct changed *changed = platform->handle;
    return changed->base->reaches(changed->base, from, to);
}

static uint32_t find_hosts(struct changed *changed, const struct what_if *change)
{
    const struct platform *platform = changed->platform;
    uint32_t count = 0;
    for (uint32_t i = 0; i < platform->host_count; i++)
        if (is_host(change->target, &platform->hosts[i])) {
            const char *name = platform->hosts[i].name;
            changed->draws[count] = draw_of(name, strlen(name), change->seed);
            changed->found[count++] = i;
        }
    return count;
}

static uint32_t find_links(struct changed *changed, const struct what_if *change)
{
    const struct platform *platform = changed->platform;
    uint32_t count = 0;
    for (uint32_t i = 0; i < platform->link_count; i++)
        if (is_link(change->target, platform->links[i].name)) {
            const char *name = platform->links[i].name;
            changed->draws[count] = draw_of(name, stem_length(name), change->seed);
            changed->found[count++] = i;
        }
    return count;
}

static void change_host(struct platform_host *host, double factor)
{
    host->full_speed = platform_full_speed(host); /* times still hold at that speed */
    host->speed *= factor;
}

static void change_link(struct platform_link *link, enum what_if_figure figure, double factor)
{
    if (figure == WHAT_IF_LATENCY)
        link->latency *= factor;
    else
        link->bandwidth *= factor;
}

static void take_down(struct changed *changed, uint32_t link, struct arena *arena)
{
    if (!changed->down)
        changed->down = arena_array(arena, changed->platform->link_count + 1, sizeof *changed->down);
    changed->down[link] = true;
}

/* The kinds of links that there are, as a list. */
static const char *list_kinds(const struct platform *platform, const char *target, struct arena *arena)
{
    char kinds[KINDS_SHOWN][NAME_MAX_BYTES], kind[NAME_MAX_BYTES];
    const char *names[KINDS_SHOWN], *list = "";
    size_t count = 0;
    for (uint32_t i = 0; i < platform->link_count && count < KINDS_SHOWN; i++) {
        view_link_class(platform->links[i].name, kind, sizeof kind);
        bool known = strpbrk(kind, "_#") == kind;
        for (size_t k = 0; k < count; k++)
            known |= !strcmp(kinds[k], kind);
        if (known)
            continue;
        memcpy(kinds[count], kind, sizeof kind);
        names[count] = kinds[count];
        list = arena_print(arena, "%s%s'%s'", list, count ? ", " : "", kind);
        count++;
    }
    const char *nearest = diag_nearest(target, names, count);
    return nearest ? arena_print(arena, "; did you mean '%s'?", nearest)
                   : arena_print(arena, "; its links are of the kinds %s, its first GPU is '%s' of '%s'", list,
                                 platform->hosts[0].name, platform->hosts[0].node);
}

static bool refuse(struct changed *changed, const struct what_if *change, struct arena *arena, struct fault *fault)
{
    static const char *const nothing[] = {
        "kind of links, and no name of a link or a GPU", "name of a GPU", "kind of links, and no name of a link",
        "kind of links, and no name of a link", "kind of links, and no name of a link"};
    if (change->figure == WHAT_IF_DOWN && find_hosts(changed, change))
        return fault_set(fault,
                         "'%.80s' is a GPU, whose rank would have no place; expected links, such as its "
                         "interface",
                         change->target);
    return fault_set(fault, "'%.80s' is no %s of this platform%s", change->target, nothing[change->figure],
                     list_kinds(changed->platform, change->target, arena));
}

static bool apply(struct changed *changed, const struct what_if *change, struct arena *arena, struct fault *fault)
{
    struct platform *platform = changed->platform;
    bool hosts = change->figure <= WHAT_IF_SPEED;
    uint32_t count = hosts ? find_hosts(changed, change) : 0;
    if (!count && change->figure != WHAT_IF_SPEED) {
        hosts = false;
        count = find_links(changed, change);
    }
    if (!count)
        return refuse(changed, change, arena, fault);
    uint64_t largest = change->share < 1 ? largest_drawn(changed->draws, count, change->share) : UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (changed->draws[i] > largest)
            continue;
        if (change->figure == WHAT_IF_DOWN)
            take_down(changed, changed->found[i], arena);
        else if (hosts)
            change_host(&platform->hosts[changed->found[i]], change->factor);
        else
            change_link(&platform->links[changed->found[i]], change->figure, change->factor);
    }
    return true;
}

static struct changed *copy_platform(struct platform *platform, struct arena *arena)
{
    struct changed *changed = arena_alloc(arena, sizeof *changed);
    struct platform *copy = arena_alloc(arena, sizeof *copy);
    *copy = *platform;
    copy->hosts = arena_array(arena, platform->host_count + 1, sizeof *copy->hosts);
    copy->links = arena_array(arena, platform->link_count + 1, sizeof *copy->links);
    if (platform->host_count)
        memcpy(copy->hosts, platform->hosts, platform->host_count * sizeof *copy->hosts);
    if (platform->link_count)
        memcpy(copy->links, platform->links, platform->link_count * sizeof *copy->links);
    copy->route = find_route;
    copy->reaches = platform->reaches ? reaches : NULL;
    copy->bundle = NULL;
    copy->handle = changed;
    *changed = (struct changed){.base = platform, .platform = copy};
    return changed;
}

/* The platform with the routing that the last change of it says; NULL with the fault filled and *wrong that change. */
static struct platform *route_anew(struct platform *platform, const struct what_if *changes, size_t count,
                                   struct arena *arena, size_t *wrong, struct fault *fault)
{
    struct platform *base = routing_base(platform);
    struct platform_routing routing = platform->library.routing;
    for (size_t i = 0; i < count; i++) {
        if (changes[i].figure != WHAT_IF_ROUTING)
            continue;
        *wrong = i;
        routing.policy = changes[i].hashed ? ROUTING_ECMP : ROUTING_ADAPTIVE;
        routing.seed = changes[i].seed;
    }
    return routing_platform(base, &routing, arena, fault); /* anew in any case: routing_avoid is for this one only */
}

/* What comes to a link when each host sends to the one in its place of the next node. */
struct crowd {
    double now, before; /* bytes per second that the faster links before it let through to it, of all transfers */
    uint32_t transfers; /* that the link is on the way of */
};

static bool is_faster(const struct changed *changed, uint32_t link)
{
    return changed->platform->links[link].bandwidth > changed->base->links[link].bandwidth;
}

/* Transfers share a link that became faster; each brings its part to the links behind. */
static void join_crowds(const struct changed *changed, const struct platform_route *route, struct crowd *crowds)
{
    double now = 0, before = 0;
    for (uint32_t i = 0; i < route->link_count; i++) {
        uint32_t link = route->links[i];
        double share = changed->platform->links[link].bandwidth / crowds[link].transfers;
        crowds[link].now += now;
        crowds[link].before += before;
        if (is_faster(changed, link)) {
            now = now > 0 ? fmin(now, share) : share;
            before = changed->base->links[link].bandwidth / crowds[link].transfers;
        }
    }
}

static void find_crowds(const struct changed *changed, struct crowd *crowds)
{
    struct platform *platform = changed->platform;
    uint32_t hosts = platform->host_count, stride = 1; /* the hosts of the first node */
    while (stride < hosts && platform_scope_of(platform, 0, stride) == SCOPE_NODE)
        stride++;
    for (int counted = 0; counted < 2; counted++)
        for (uint32_t host = 0; host < hosts; host++) {
            struct platform_route route = {.bandwidth = 0};
            platform->route(platform, host, (host + stride) % hosts, &route);
            if (counted)
                join_crowds(changed, &route, crowds);
            for (uint32_t i = 0; !counted && i < route.link_count; i++)
                crowds[route.links[i]].transfers++;
        }
}

/* The link that is narrowest for what comes from links that became faster, where it carries less, in words; NULL: there
 * is none. */
static const char *find_cap(const struct changed *changed, struct arena *arena)
{
    const struct platform *platform = changed->platform;
    const struct platform_link *links = platform->links, *cap = NULL;
    struct crowd *crowds = array_zeroed((size_t)platform->link_count + 1, sizeof *crowds), *worst = crowds;
    const char *words = NULL;
    find_crowds(changed, crowds);
    for (uint32_t i = 0; i < platform->link_count; i++)
        if (crowds[i].now > links[i].bandwidth * 1.000001 &&
            (!cap || links[i].bandwidth / crowds[i].now < cap->bandwidth / worst->now)) {
            cap = &links[i];
            worst = &crowds[i];
        }
    if (cap)
        words = arena_print(arena,
                            "%.*s carries %.4g GB/s, less than the %.4g GB/s of the faster links before it (%.4g as "
                            "they were): transfers of all at once gain less than one alone",
                            (int)stem_length(cap->name), cap->name, cap->bandwidth / 1e9, worst->now / 1e9,
                            worst->before / 1e9);
    free(crowds);
    return words;
}

static bool any_faster(const struct changed *changed)
{
    for (uint32_t i = 0; i < changed->platform->link_count; i++)
        if (is_faster(changed, i))
            return true;
    return false;
}

/* The platform without the links that are down; NULL with the fault filled where that cuts a host off. */
static struct platform *go_around(struct changed *changed, struct arena *arena, struct fault *fault)
{
    uint32_t from, to;
    routing_avoid(changed->base, changed->down);
    changed->platform->down = changed->down;
    struct platform *platform = detour_platform(changed->platform, changed->down, arena);
    if (!detour_cuts_off(platform, &from, &to))
        return platform;
    fault_set(fault, "cuts off '%s' of '%s': no way is left to '%s'", platform->hosts[from].name,
              platform->hosts[from].node, platform->hosts[to].name);
    return NULL;
}

static bool apply_all(struct changed *changed, const struct what_if *changes, size_t count, struct arena *arena,
                      size_t *wrong, struct fault *fault)
{
    const struct platform *platform = changed->platform;
    size_t most = platform->host_count > platform->link_count ? platform->host_count : platform->link_count, last = 0;
    bool ok = true;
    changed->found = array_zeroed(most + 1, sizeof *changed->found);
    changed->draws = array_zeroed(most + 1, sizeof *changed->draws);
    for (*wrong = 0; ok && *wrong < count; *wrong += ok) {
        last = changes[*wrong].figure == WHAT_IF_DOWN ? *wrong : last;
        ok = changes[*wrong].figure == WHAT_IF_ROUTING || apply(changed, &changes[*wrong], arena, fault);
    }
    if (ok)
        *wrong = last; /* should something be cut off */
    free(changed->found);
    free(changed->draws);
    return ok;
}

struct platform *what_if_platform(struct platform *platform, const struct what_if *changes, size_t count,
                                  struct arena *arena, size_t *wrong, struct fault *fault)
{
    *wrong = 0;
    if (!count)
        return platform;
    if (!what_if_can_change(platform)) {
        fault_set(fault, "only platforms that stagesim reads itself can be changed; SimGrid has read this one: %s",
                  platform->loader_reason ? platform->loader_reason : "it was asked to");
        return NULL;
    }
    platform = route_anew(platform, changes, count, arena, wrong, fault);
    if (!platform)
        return NULL;
    struct changed *changed = copy_platform(platform, arena);
    if (!apply_all(changed, changes, count, arena, wrong, fault))
        return NULL;
    if (platform->host_count > 1 && any_faster(changed))
        changed->platform->capped = find_cap(changed, arena);
    return changed->down ? go_around(changed, arena, fault) : changed->platform;
}
