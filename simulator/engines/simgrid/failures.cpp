/* SPDX-License-Identifier: Apache-2.0 */
/* The first failure of a simulation, and the hosts and links that went down. */
#include "simulator/engines/simgrid/parts.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "simulator/engines/simgrid/services.h"

namespace parts
{

failure &first_failure()
{
    static failure instance;
    return instance;
}

namespace
{

struct stop_simulation : std::exception {
    const char *what() const noexcept override
    {
        return "the simulation was stopped";
    }
};

/* Links that are down and since when; one simulation per process, so one place. */
std::map<std::string, double> &links_down()
{
    static std::map<std::string, double> instance;
    return instance;
}

void note_link_state(sg4::Link const &link)
{
    if (link.is_on())
        links_down().erase(link.get_name());
    else
        links_down().emplace(link.get_name(), sg4::Engine::get_clock());
}

void throw_on_host_failure(sg4::Host const &host)
{
    if (host.is_on() || host.get_actor_count() == 0)
        return;
    first_failure().set("host '" + host.get_name() + "' went down at " + std::to_string(sg4::Engine::get_clock()) +
                        " s while the job ran on it");
    throw stop_simulation();
}

} // namespace

std::string link_failure()
{
    std::string names;
    double since = INFINITY, now = sg4::Engine::get_clock();
    for (const sg4::Link *link : sg4::Engine::get_instance()->get_all_links())
        if (!link->is_on()) /* from the start: nobody said so */
            links_down().emplace(link->get_name(), 0);
    for (const auto &[name, when] : links_down()) {
        names += (names.empty() ? "link '" : ", '") + name + "'";
        since = std::min(since, when);
    }
    if (names.empty())
        return "a link went down at " + std::to_string(now) + " s while a message was on it";
    return names + " went down at " + std::to_string(since) + " s; a message needed it at " + std::to_string(now) +
           " s";
}

void watch_failures()
{
    versions::on_host_state(throw_on_host_failure);
    versions::on_link_state(note_link_state);
}

} // namespace parts
