/* SPDX-License-Identifier: Apache-2.0 */
/* What SimGrid 3.32, 4.0 and 4.1 call differently, under names of our own: the one file that asks for the version.
 * Sources: SimGrid's ChangeLog and headers of these releases. */
#ifndef STAGESIM_SIMGRID_VERSIONS_HPP
#define STAGESIM_SIMGRID_VERSIONS_HPP

#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#if SIMGRID_VERSION < 40000
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#endif

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

namespace versions
{

namespace sg4 = simgrid::s4u;

/* Renamed in 3.34: a host or a link went up or down. */
inline void on_host_state(const std::function<void(sg4::Host const &)> &notice)
{
#if SIMGRID_VERSION >= 33400
    sg4::Host::on_onoff_cb(notice);
#else
    sg4::Host::on_state_change_cb(notice);
#endif
}

inline void on_link_state(const std::function<void(sg4::Link const &)> &notice)
{
#if SIMGRID_VERSION >= 33400
    sg4::Link::on_onoff_cb(notice);
#else
    sg4::Link::on_state_change_cb(notice);
#endif
}

/* Renamed in 4.0. */
inline sg4::Host *add_host(simgrid::kernel::routing::NetZoneImpl *zone, const std::string &name,
                           const std::vector<double> &speeds)
{
#if SIMGRID_VERSION >= 40000
    return zone->add_host(name, speeds);
#else
    return zone->create_host(name, speeds);
#endif
}

inline sg4::Link *add_link(simgrid::kernel::routing::NetZoneImpl *zone, const std::string &name, double bandwidth)
{
#if SIMGRID_VERSION >= 40000
    return zone->add_link(name, {bandwidth});
#else
    return zone->create_link(name, {bandwidth});
#endif
}

/* A function of the engine since 4.0, of the host since 4.1. */
inline sg4::ActorPtr start_actor(const std::string &name, sg4::Host *host, const std::function<void()> &code)
{
#if SIMGRID_VERSION >= 40100
    return host->add_actor(name, code);
#elif SIMGRID_VERSION >= 40000
    return sg4::Engine::add_actor(name, host, code);
#else
    return sg4::Actor::create(name, host, code);
#endif
}

/* Bytes of a message that has not started, which may be a fraction: protected since 4.0, where the public way takes
 * whole numbers. */
struct open_comm : sg4::Comm {
    static void set_bytes(sg4::Comm *comm, double bytes)
    {
        (comm->*&open_comm::set_remaining)(bytes);
    }
};

/* The zone that stands above all others, made where nothing was loaded: the first zone makes SimGrid's models. Since
 * 4.0 it is there from the start. */
inline const sg4::NetZone *root_zone()
{
    const sg4::NetZone *root = sg4::Engine::get_instance()->get_netzone_root();
#if SIMGRID_VERSION < 40000
    if (!root)
        root = sg4::create_empty_zone("root");
#endif
    return root;
}

/* The outermost zones of a file that was loaded. Before 4.0 its one outermost zone was the root; since then there is a
 * root of SimGrid's own above it. */
inline std::vector<const sg4::NetZone *> outermost_zones()
{
    const sg4::NetZone *root = sg4::Engine::get_instance()->get_netzone_root();
#if SIMGRID_VERSION >= 40000
    std::vector<const sg4::NetZone *> zones;
    for (const sg4::NetZone *zone : root->get_children())
        zones.push_back(zone);
    return zones;
#else
    return {root};
#endif
}

/* Latencies of transfers are multiplied by what `factor` says for their hosts; what they weigh is not. Of the model's
 * interface until 3.36, of zones since. */
inline void scale_latencies(const std::function<double(const sg4::Host *, const sg4::Host *)> &factor)
{
    auto scale = [factor](double, const sg4::Host *from, const sg4::Host *to, const std::vector<sg4::Link *> &,
                          const std::unordered_set<sg4::NetZone *> &) { return factor(from, to); };
#if SIMGRID_VERSION >= 40000
    root_zone()->set_latency_factor_cb(scale);
#else
    root_zone()->get_network_model()->set_lat_factor_cb(scale);
#endif
}

/* Whether a torus, fat tree or dragonfly may stand in no zone: 4.0 and 4.1 end the process there (sg_platf.cpp asks its
 * parent, which is not there). */
inline constexpr bool bare_shapes = SIMGRID_VERSION < 40000;

/* Whether gateways may stand in zones within the zone that they are of: 4.1 looks for their routes in the wrong zone,
 * and crashes or finds none (NetZoneImpl.cpp, get_interzone_route). */
inline constexpr bool deep_gateways = SIMGRID_VERSION < 40100;

/* Whether the network model IB is to be had. Since 3.34 it is told of a transfer by both ends, and crashes where one
 * comes after the transfer has ended (network_ib.cpp, IB_comm_start_callback; s4u_Comm.cpp, do_start). */
inline constexpr bool has_infiniband = SIMGRID_VERSION < 33400;

/* Renamed in 3.34; the old name is still read. */
#if SIMGRID_VERSION >= 33400
inline const char precision_option[] = "precision/timing";
#else
inline const char precision_option[] = "surf/precision";
#endif

} // namespace versions

#endif
