/* SPDX-License-Identifier: Apache-2.0 */
/* SimGrid's settings: stagesim's defaults, the platform file's above them, the scenario's above both. */
extern "C" {
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/sanitized.h"
}

#include "simulator/engines/simgrid/parts.hpp"

#include <xbt/config.hpp>

#include <cstring>
#include <set>
#include <stdexcept>
#include <utility>

#include "simulator/engines/simgrid/services.h"

namespace sg4 = simgrid::s4u;

namespace
{

void set_defaults()
{
    sg4::Engine::set_config("network/model:CM02");
    sg4::Engine::set_config("network/crosstraffic:0");
    sg4::Engine::set_config("network/TCP-gamma:0");
#if SANITIZED
    sg4::Engine::set_config("contexts/factory:thread");
#else
    sg4::Engine::set_config("contexts/stack-size:64");
#endif
}

/* Keys that the scenario sets: it overrides the platform file, which overrides stagesim's defaults. One simulation per
 * process, so one place. */
std::set<std::string> &settings_made()
{
    static std::set<std::string> instance;
    return instance;
}

/* Of "key:value". */
std::string key_of(const char *setting)
{
    return std::string(setting, strcspn(setting, ":"));
}

const char latency_option[] = "network/latency-factor";

/* "key:value" of latency_option until it is known whose it is; "": it is not given, or taken. */
std::string &latency_setting()
{
    static std::string instance;
    return instance;
}

/* SimGrid reads latency factors when the first message leaves, from its settings or from a function, and refuses to
 * have both: so they wait. Throws, with `place` before the reason, if this release has no such setting. */
void set(const char *setting, const std::string &place)
{
    if (!versions::has_infiniband && strcmp(setting, "network/model:IB") == 0)
        throw std::invalid_argument(
            place + "network/model: IB is a model that this release of SimGrid cannot run; 3.32 can, and "
                    "CM02, LV08 and SMPI are there");
    if (key_of(setting) == latency_option)
        latency_setting() = setting;
    else
        sg4::Engine::set_config(setting);
}

} // namespace

void parts::set_where_free(const char *setting, const std::string &place)
{
    if (settings_made().count(key_of(setting)) == 0)
        set(setting, place);
}

double parts::take_latency_factor()
{
    const std::string setting = std::exchange(latency_setting(), "");
    return setting.empty() ? 1 : std::stod(setting.substr(sizeof latency_option));
}

void parts::set_latency_factor()
{
    const std::string setting = std::exchange(latency_setting(), "");
    if (!setting.empty())
        sg4::Engine::set_config(setting);
}

bool bridge_configure(const char *const *config, size_t count, struct fault *fault)
{
    static char program[] = "stagesim", quiet[] = "--log=root.thres:critical", layout[] = "--log=root.fmt:%m%n";
    static char *arguments[] = {program, quiet, layout, nullptr};
    int argument_count = 3;
    try {
        sg4::Engine::get_instance(&argument_count, arguments);
        set_defaults();
        for (size_t i = 0; i < count; i++) {
            set(config[i], "");
            settings_made().insert(key_of(config[i]));
        }
    } catch (const std::exception &exception) {
        return fault_set(fault, "%s", exception.what());
    }
    return true;
}

const char *bridge_weighs(void)
{
    using simgrid::config::get_value;
    const std::string host = get_value<std::string>("host/model"); /* SimGrid's default becomes "compound" */
    if (get_value<std::string>("network/model") != "CM02" || (host != "default" && host != "compound"))
        return "SimGrid's model of networks or hosts is another one";
    /* Its default is another model's until CM02 is set up, with 0. */
    bool weight = !simgrid::config::is_default("network/weight-S") && get_value<double>("network/weight-S") > 0;
    if (get_value<bool>("network/crosstraffic") || weight)
        return "SimGrid is set to weigh flows by more than their latencies";
    if (get_value<double>("network/TCP-gamma") > 0)
        return "SimGrid is set to bound flows by their latencies";
    if (get_value<int>("maxmin/concurrency-limit") > 0)
        return "SimGrid is set to count the flows of a link";
    if (!simgrid::config::is_default(latency_option))
        return "the platform file has SimGrid multiply latencies";
    return nullptr;
}

void bridge_expect_many_actors(void)
{
    /* Each stack with a guard page is two mappings, of which Linux allows 65,530. */
    sg4::Engine::set_config("contexts/guard-size:0");
    sg4::Engine::set_config("contexts/stack-size:16");
}

double bridge_set_precision(double seconds)
{
    if (simgrid::config::is_default(versions::precision_option))
        simgrid::config::set_value(versions::precision_option, seconds);
    return simgrid::config::get_value<double>(versions::precision_option);
}

void bridge_raise_solver_precision(double precision)
{
    constexpr auto key = "maxmin/precision";
    if (simgrid::config::is_default(key) && simgrid::config::get_value<double>(key) < precision)
        simgrid::config::set_value(key, precision);
}

const char *bridge_version(struct arena *arena)
{
    int major, minor, patch;
    sg_version_get(&major, &minor, &patch);
    return patch ? arena_print(arena, "%d.%d.%d", major, minor, patch) : arena_print(arena, "%d.%d", major, minor);
}
