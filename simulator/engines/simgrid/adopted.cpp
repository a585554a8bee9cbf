/* SPDX-License-Identifier: Apache-2.0 */
/* Platforms that SimGrid has not loaded: their hosts, links and routes for SimGrid. */
extern "C" {
#include "base/diagnostics.h"
}

#include "simulator/engines/simgrid/parts.hpp"

#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/plugins/energy.h>
#include <xbt/config.hpp>

#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <unordered_map>
#include <vector>

#include "simulator/engines/simgrid/services.h"

/* More pairs than these are lent one for a transfer, for a link takes a kilobyte. A test has fewer. */
#ifndef OWN_LINKS_MAX
#define OWN_LINKS_MAX 65536
#endif

namespace sg4 = simgrid::s4u;

namespace
{

/* One flat zone whose routes are the platform's own: SimGrid's zones look names up zone by zone and find routes from
 * tables of their own, which takes minutes for a hundred thousand hosts. It stands outside SimGrid's tree, where it is
 * never sealed, so hosts and links are made when the job first uses them. */
class flat_zone : public simgrid::kernel::routing::NetZoneImpl
{
    struct platform *platform_;
    std::vector<uint32_t> host_of_point_; /* by number of the net point */
    std::vector<simgrid::kernel::resource::StandardLinkImpl *> links_;
    std::unordered_map<uint64_t, simgrid::kernel::resource::StandardLinkImpl *> own_links_; /* by from << 32 | to */
    double fastest_ = 1; /* of all links, bytes per second */
    /* First links of pairs that have none of their own: those that were taken, with the moment at which the transfer
     * has begun to move, and those that are free, with the moment at which they were found so. */
    std::deque<std::pair<sg4::Link *, double>> taken_, free_;
    size_t lent_ = 0;

    /* Flows without a latency weigh 1. To weigh another thing they need one, of which this share is time. */
    static constexpr double NO_TIME = 1e-300;
    /* Models of SimGrid multiply latencies by up to 13. */
    static constexpr double LATENCIES = 16;

    simgrid::kernel::resource::StandardLinkImpl *make_link(struct platform_link given)
    {
        if (!strcmp(given.name, PLATFORM_LOOPBACK)) { /* the one that SimGrid's settings know */
            given.bandwidth = simgrid::config::get_value<double>("network/loopback-bw");
            given.latency = simgrid::config::get_value<double>("network/loopback-lat");
        }
        sg4::Link *link = versions::add_link(this, given.name, given.bandwidth)->set_latency(given.latency);
        if (given.sharing == LINK_FATPIPE) /* the loopback: others are limits, see limit_of */
            link->set_sharing_policy(sg4::Link::SharingPolicy::FATPIPE);
        return link->seal()->get_impl();
    }

    uint32_t index_of(const simgrid::kernel::routing::NetPoint *point) const
    {
        return host_of_point_[point->id()];
    }

    double weight(uint32_t from, uint32_t to) const
    {
        return platform_->weight ? platform_->weight(platform_, from, to) : 1;
    }

    /* Transfers on it are of one pair, and none takes from another. */
    sg4::Link *make_first_link(const std::string &name, double limit)
    {
        return versions::add_link(this, name, limit)->set_sharing_policy(sg4::Link::SharingPolicy::FATPIPE)->seal();
    }

    /* What links that every transfer has for itself leave one on that route. SimGrid gives transfers on such a link
     * shares in inverse proportion to their latencies, so that only the shortest reach its rate. */
    double limit_of(const struct platform_route &route) const
    {
        double limit = 1e3 * fastest_;
        for (uint32_t i = 0; i < route.link_count; i++)
            if (is_limit(route.links[i]))
                limit = std::min(limit, platform_->links[route.links[i]].bandwidth);
        return limit;
    }

    bool is_limit(uint32_t link) const
    {
        return platform_->links[link].sharing == LINK_FATPIPE &&
               strcmp(platform_->links[link].name, PLATFORM_LOOPBACK) != 0;
    }

    /* Each time a few of those that were taken are looked at: so there are hardly more than transfers under way. */
    void find_free(double now)
    {
        for (size_t left = std::min<size_t>(taken_.size(), 4); left; left--) {
            const auto [link, moves] = taken_.front();
            taken_.pop_front();
            if (moves < now && !link->is_used())
                free_.emplace_back(link, now);
            else
                taken_.emplace_back(link, moves);
        }
    }

    /* One that nothing uses, nor has used at this moment. */
    sg4::Link *take_link(double latency, double limit)
    {
        const double now = sg4::Engine::get_clock();
        sg4::Link *link = nullptr;
        find_free(now);
        if (!free_.empty() && free_.front().second < now) {
            link = free_.front().first;
            free_.pop_front();
            if (link->get_bandwidth() != limit)
                link->set_bandwidth(limit);
        } else {
            link = make_first_link("lent " + std::to_string(lent_++), limit);
        }
        taken_.emplace_back(link, now + LATENCIES * latency);
        return link;
    }

    /* Every route begins with a link of its own, which is as wide as the route's limit, or never full. Of a transfer
     * that begins to move SimGrid (3.32 and later, network/optim: Lazy) looks at the first link alone; where another
     * one has begun there at the same moment it overlooks the others, and they keep their old shares. */
    simgrid::kernel::resource::StandardLinkImpl *first_link(uint32_t from, uint32_t to, double latency, double limit)
    {
        const uint64_t pair = (uint64_t)from << 32 | to;
        auto known = own_links_.find(pair);
        if (known != own_links_.end())
            return known->second;
        if (own_links_.size() >= OWN_LINKS_MAX)
            return take_link(latency, limit)->get_impl();
        sg4::Link *made = make_first_link("from " + std::to_string(from) + " to " + std::to_string(to), limit);
        return own_links_.emplace(pair, made->get_impl()).first->second;
    }

  public:
    flat_zone(struct platform *platform, const simgrid::kernel::routing::NetZoneImpl &root)
        : NetZoneImpl("stagesim"), platform_(platform), links_(platform->link_count)
    {
        set_network_model(root.get_network_model());
        set_cpu_pm_model(root.get_cpu_pm_model());
        set_cpu_vm_model(root.get_cpu_vm_model());
        set_disk_model(root.get_disk_model());
        set_host_model(root.get_host_model());
        for (uint32_t i = 0; i < platform->link_count; i++)
            fastest_ = std::max(fastest_, platform->links[i].bandwidth);
    }

    /* What the latency of a route is multiplied by so that it weighs more, undone where time is concerned. */
    double undo_weight(const sg4::Host *from, const sg4::Host *to) const
    {
        const uint32_t a = index_of(from->get_netpoint()), b = index_of(to->get_netpoint());
        const double weight = this->weight(a, b);
        if (weight == 1)
            return 1;
        struct platform_route route;
        platform_->route(platform_, a, b, &route);
        return route.latency > 0 ? 1 / weight : NO_TIME;
    }

    /* A host of two states, at full and at its own clock, in the second. */
    void make_host(uint32_t index, const struct power_state &state)
    {
        struct platform_host &given = platform_->hosts[index];
        char watts[128];
        snprintf(watts, sizeof watts, "%.17g:%.17g,%.17g:%.17g", state.idle, state.full, state.idle, state.busy);
        sg4::Host *host = versions::add_host(this, given.name, {given.speed, given.speed * state.clock});
        host->set_property("wattage_per_state", watts);
        given.handle = host->seal();
        host->set_pstate(1);
        host_of_point_.push_back(index);
    }

    sg4::Host *host(uint32_t index)
    {
        struct platform_host &given = platform_->hosts[index];
        if (!given.handle) {
            given.handle = versions::add_host(this, given.name, {given.speed})->seal();
            host_of_point_.push_back(index);
        }
        return static_cast<sg4::Host *>(given.handle);
    }

    void get_local_route(const simgrid::kernel::routing::NetPoint *from, const simgrid::kernel::routing::NetPoint *to,
                         simgrid::kernel::routing::Route *into, double *latency) override
    {
        struct platform_route route;
        const uint32_t a = index_of(from), b = index_of(to);
        platform_->route(platform_, a, b, &route);
        if (route.link_count || route.latency <= 0)
            into->link_list_.push_back(first_link(a, b, route.latency, limit_of(route)));
        for (uint32_t i = 0; i < route.link_count; i++) {
            if (is_limit(route.links[i]))
                continue;
            simgrid::kernel::resource::StandardLinkImpl *&link = links_[route.links[i]];
            if (!link)
                link = make_link(platform_->links[route.links[i]]);
            into->link_list_.push_back(link);
        }
        if (!latency)
            return;
        const double weight = this->weight(a, b);
        *latency += (weight != 1 && route.latency <= 0 ? 1 : route.latency) * weight;
    }
};

/* The zone of a platform that bridge_load has not loaded; one simulation per process, so one place. */
flat_zone *&flat()
{
    static flat_zone *instance;
    return instance;
}

} // namespace

sg4::Host *parts::host_of(const struct platform *platform, uint32_t host)
{
    return flat() ? flat()->host(host) : static_cast<sg4::Host *>(platform->hosts[host].handle);
}

bool bridge_adopt(struct platform *platform, struct fault *fault)
{
    if (parts::is_loaded(platform) || flat())
        return true;
    try {
        flat() = new flat_zone(platform, *versions::root_zone()->get_impl());
        if (platform->weight)
            versions::scale_latencies(
                [factor = parts::take_latency_factor()](const sg4::Host *from, const sg4::Host *to) {
                    return factor * flat()->undo_weight(from, to);
                });
    } catch (const std::exception &exception) {
        return fault_set(fault, "%s", exception.what());
    }
    return true;
}

bool bridge_measures_energy(const struct platform *platform)
{
    if (parts::is_loaded(platform))
        return false;
    sg_host_energy_plugin_init();
    return true;
}

void bridge_host_state(struct platform *platform, uint32_t host, const struct power_state *state)
{
    if (!platform->hosts[host].handle)
        flat()->make_host(host, *state);
}

double bridge_host_joules(struct platform *platform, uint32_t host)
{
    return sg_host_get_consumed_energy(parts::host_of(platform, host));
}
