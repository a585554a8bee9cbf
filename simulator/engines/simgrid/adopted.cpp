/* SPDX-License-Identifier: Apache-2.0 */
/* Platforms that SimGrid has not loaded: their hosts, links and routes for SimGrid. */
extern "C" {
#include "base/diagnostics.h"
}

#include "simulator/engines/simgrid/parts.hpp"

#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/plugins/energy.h>
#include <xbt/config.hpp>

#include <cstring>
#include <exception>
#include <vector>

#include "simulator/engines/simgrid/services.h"

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

    simgrid::kernel::resource::StandardLinkImpl *make_link(struct platform_link given)
    {
        if (!strcmp(given.name, PLATFORM_LOOPBACK)) { /* the one that SimGrid's settings know */
            given.bandwidth = simgrid::config::get_value<double>("network/loopback-bw");
            given.latency = simgrid::config::get_value<double>("network/loopback-lat");
        }
        sg4::Link *link = versions::add_link(this, given.name, given.bandwidth)->set_latency(given.latency);
        if (given.sharing == LINK_FATPIPE)
            link->set_sharing_policy(sg4::Link::SharingPolicy::FATPIPE);
        return link->seal()->get_impl();
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
        platform_->route(platform_, host_of_point_[from->id()], host_of_point_[to->id()], &route);
        for (uint32_t i = 0; i < route.link_count; i++) {
            simgrid::kernel::resource::StandardLinkImpl *&link = links_[route.links[i]];
            if (!link)
                link = make_link(platform_->links[route.links[i]]);
            into->link_list_.push_back(link);
        }
        if (latency)
            *latency += route.latency;
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
