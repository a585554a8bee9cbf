/* SPDX-License-Identifier: Apache-2.0 */
/* Platforms that SimGrid loads: its hosts, links and routes as a struct platform. */
extern "C" {
#include "base/arena.h"
#include "base/diagnostics.h"
#include "platforms/library.h"
#include "platforms/platform_file.h"
#include "platforms/properties.h"
#include "platforms/rating.h"
#include "platforms/soundness.h"
}

#include "simulator/engines/simgrid/parts.hpp"

#include <simgrid/Exception.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/engines/simgrid/services.h"

namespace sg4 = simgrid::s4u;

namespace
{

/* What the bridge keeps beside struct platform, whose handle points here. */
struct loaded {
    struct arena *arena;
    std::unordered_map<const sg4::Link *, uint32_t> link_index;
    std::vector<uint32_t> route_links;  /* of the newest route */
    std::vector<sg4::Link *> traversed; /* scratch of the newest route */
};

struct bad_property : std::exception {
    std::string text;
    explicit bad_property(std::string what) : text(std::move(what))
    {
    }
    const char *what() const noexcept override
    {
        return text.c_str();
    }
};

void fill_host(struct platform_host *out, sg4::Host *host, struct arena *arena)
{
    struct fault fault = {};
    out->name = arena_copy(arena, host->get_cname());
    out->state = static_cast<uint32_t>(host->get_pstate());
    for (const char *const *key = properties_host_keys; *key; key++) {
        const char *value = host->get_property(*key);
        if (value && !properties_set(out, *key, value, arena, &fault))
            throw bad_property(fault.text);
    }
    if (!out->node)
        out->node = arena_copy(arena, host->get_englobing_zone()->get_cname());
    out->speed = host->get_speed();
    for (unsigned long state = 0; state < host->get_pstate_count(); state++)
        out->full_speed = std::max(out->full_speed, host->get_pstate_speed(state));
    out->handle = host;
}

/* Every host is a GPU unless some host carries the property kind; then those with kind=gpu are. */
std::vector<sg4::Host *> gpu_hosts(sg4::Engine *engine)
{
    std::vector<sg4::Host *> all = engine->get_all_hosts();
    bool kinds = std::any_of(all.begin(), all.end(),
                             [](const sg4::Host *host) { return host->get_property("kind") != nullptr; });
    if (kinds)
        all.erase(std::remove_if(all.begin(), all.end(),
                                 [](const sg4::Host *host) {
                                     const char *kind = host->get_property("kind");
                                     return !kind || strcmp(kind, "gpu") != 0;
                                 }),
                  all.end());
    std::sort(all.begin(), all.end(), [](const sg4::Host *left, const sg4::Host *right) {
        return strverscmp(left->get_cname(), right->get_cname()) < 0;
    });
    return all;
}

enum link_sharing sharing_of(const sg4::Link *link)
{
    switch (link->get_sharing_policy()) {
    case sg4::Link::SharingPolicy::SHARED:
        return LINK_SHARED;
    case sg4::Link::SharingPolicy::FATPIPE:
        return LINK_FATPIPE;
    default:
        return LINK_OTHER;
    }
}

void fill_link_watts(struct platform *platform, uint32_t index, const sg4::Link *link, const loaded *loaded)
{
    struct fault fault = {};
    const char *value = link->get_property("wattage_range");
    if (!value)
        return;
    if (!platform->link_watts)
        platform->link_watts = static_cast<struct platform_link_watts *>(
            arena_array(loaded->arena, platform->link_count + 1, sizeof(struct platform_link_watts)));
    if (!properties_link_watts(&platform->link_watts[index], link->get_cname(), value, &fault))
        throw bad_property(fault.text);
}

void fill_links(struct platform *platform, sg4::Engine *engine, loaded *loaded)
{
    std::vector<sg4::Link *> links = engine->get_all_links();
    std::sort(links.begin(), links.end(), [](const sg4::Link *left, const sg4::Link *right) {
        return strverscmp(left->get_cname(), right->get_cname()) < 0;
    });
    platform->link_count = static_cast<uint32_t>(links.size());
    platform->links =
        static_cast<struct platform_link *>(arena_array(loaded->arena, links.size() + 1, sizeof(struct platform_link)));
    for (uint32_t index = 0; index < platform->link_count; index++) {
        sg4::Link *link = links[index];
        loaded->link_index[link] = index;
        platform->links[index] = {arena_copy(loaded->arena, link->get_cname()), link->get_bandwidth(),
                                  link->get_latency(), sharing_of(link), 0};
        fill_link_watts(platform, index, link, loaded);
    }
}

void find_route(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    auto *loaded = static_cast<struct loaded *>(platform->handle);
    auto *source = static_cast<sg4::Host *>(platform->hosts[from].handle);
    auto *target = static_cast<sg4::Host *>(platform->hosts[to].handle);
    loaded->traversed.clear();
    loaded->route_links.clear();
    double latency = 0, bandwidth = INFINITY;
    try {
        source->route_to(target, loaded->traversed, &latency);
    } catch (const std::exception &) {
        loaded->traversed.clear();
        latency = 0;
    }
    for (const sg4::Link *link : loaded->traversed) {
        auto found = loaded->link_index.find(link);
        if (found == loaded->link_index.end())
            continue;
        loaded->route_links.push_back(found->second);
        bandwidth = std::min(bandwidth, link->get_bandwidth());
    }
    *route = {latency, bandwidth, static_cast<uint32_t>(loaded->route_links.size()), loaded->route_links.data()};
}

bool find_reaches(struct platform *platform, uint32_t from, uint32_t to)
{
    struct platform_route route;
    find_route(platform, from, to, &route);
    return from == to || route.link_count > 0 ||
           route.latency > 0; /* a route of nothing: SimGrid sends nothing over it */
}

void read_library(struct platform_library *library, const std::unordered_map<std::string, std::string> *properties,
                  const std::string &owner)
{
    std::vector<std::pair<std::string, std::string>> ordered(properties->begin(), properties->end());
    std::sort(ordered.begin(), ordered.end()); /* the first mistake is the same one every time */
    for (const auto &[key, value] : ordered) {
        struct fault fault = {};
        if (library_owns(key.c_str()) && !library_set(library, key.c_str(), value.c_str(), &fault))
            throw bad_property(owner + ": " + fault.text);
    }
}

/* The collective library's properties: on the outermost zones, or, as in a <cluster>, on the hosts. */
void fill_library(struct platform *platform, const std::vector<sg4::Host *> &hosts)
{
    const std::string file = std::string(platform->file) + ": ";
    if (!hosts.empty())
        read_library(&platform->library, hosts[0]->get_properties(), file + "host '" + hosts[0]->get_name() + "'");
    for (const sg4::NetZone *outermost : versions::outermost_zones()) {
        read_library(&platform->library, outermost->get_properties(), file + "zone '" + outermost->get_name() + "'");
        for (const sg4::NetZone *zone : outermost->get_children())
            read_library(&platform->library, zone->get_properties(), file + "zone '" + zone->get_name() + "'");
    }
    library_complete(&platform->library);
}

struct platform *load(const char *file, const struct platform_file &facts, struct arena *arena)
{
    sg4::Engine *engine = sg4::Engine::get_instance();
    parts::load_file(file, facts.bare_shapes.from, facts.bare_shapes.to);
    engine->seal_platform();
    parts::watch_failures();

    auto *platform = static_cast<struct platform *>(arena_alloc(arena, sizeof(struct platform)));
    static std::unique_ptr<loaded> owner;
    owner = std::make_unique<loaded>();
    loaded *kept = owner.get();
    kept->arena = arena;
    platform->file = arena_copy(arena, file);
    platform->loader = "simgrid";
    platform->handle = kept;
    platform->route = find_route;
    platform->reaches = find_reaches;
    std::vector<sg4::Host *> hosts = gpu_hosts(engine);
    platform->host_count = static_cast<uint32_t>(hosts.size());
    platform->hosts =
        static_cast<struct platform_host *>(arena_array(arena, hosts.size() + 1, sizeof(struct platform_host)));
    for (size_t i = 0; i < hosts.size(); i++)
        fill_host(&platform->hosts[i], hosts[i], arena);
    for (size_t i = 0; i < hosts.size(); i++)
        platform->hosts[i].varies = facts.varies;
    rating_find(platform);
    fill_links(platform, engine, kept);
    fill_library(platform, hosts);
    return platform;
}

/* Then SimGrid sets it, too, where it is not yet. */
bool sets_latency_factor(const struct platform_file &facts)
{
    return std::any_of(facts.settings, facts.settings + facts.setting_count,
                       [](const char *setting) { return strstr(setting, "network/latency-factor:") == setting; });
}

} // namespace

bool parts::is_loaded(const struct platform *platform)
{
    return platform->route == find_route;
}

struct platform *bridge_load(const char *file, struct arena *arena, struct fault *fault)
{
    struct platform_file facts;
    if (!platform_file_check(file, &facts, arena, fault))
        return nullptr;
    if (facts.deep && !versions::deep_gateways) {
        fault_set(
            fault,
            "%s, and SimGrid 4.1, which reads this file, finds no routes through it; expected a gateway that stands "
            "in the zone itself, or SimGrid 3.32 or 4.0",
            facts.deep);
        return nullptr;
    }
    try {
        for (size_t i = 0; i < facts.setting_count; i++)
            parts::set_where_free(facts.settings[i], std::string(file) + ": <config>: ");
        if (sets_latency_factor(facts))
            parts::set_latency_factor();
        struct platform *platform = load(file, facts, arena);
        return platform_sound(platform, arena, fault) ? platform : nullptr;
    } catch (const std::exception &exception) {
        static const char prefix[] = "Parse error at ";
        const char *what = exception.what();
        bool placed = strncmp(what, prefix, sizeof prefix - 1) == 0;
        if (strncmp(what, "sto", 3) == 0 && strlen(what) <= sizeof "stoull" - 1) /* of the C++ library, nothing more */
            fault_set(fault, "%s: SimGrid cannot read one of its numbers", file);
        else
            fault_set(fault, "%s", placed ? what + sizeof prefix - 1 : what);
    }
    return nullptr;
}
