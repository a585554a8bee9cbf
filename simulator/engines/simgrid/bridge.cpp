/* SPDX-License-Identifier: Apache-2.0 */
/* The one C++ file: loads a platform and runs the engine under try, and reaches the few things that SimGrid offers to
 * C++ only. Everything else uses SimGrid's C API. */
extern "C" {
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/sanitized.h"
#include "platforms/library.h"
#include "platforms/platform_file.h"
#include "platforms/properties.h"
#include "platforms/rating.h"
#include "platforms/soundness.h"
#include "simulator/engines/simgrid_part.h"
}

#include "simulator/engines/simgrid/bridge.h"
#include "simulator/engines/simgrid/versions.hpp"

#include <simgrid/Exception.hpp>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/plugins/energy.h>
#include <xbt/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
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

/* The first failure inside the simulation; one simulation per process, so one place. */
struct failure {
    bool seen = false;
    std::string text;
    void set(const std::string &what)
    {
        if (!seen)
            text = what;
        seen = true;
    }
};

failure &first_failure()
{
    static failure instance;
    return instance;
}

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

/* "link 'l' went down at 5.000000 s; a message needed it at 7.000000 s". */
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

void throw_on_host_failure(sg4::Host const &host)
{
    if (host.is_on() || host.get_actor_count() == 0)
        return;
    first_failure().set("host '" + host.get_name() + "' went down at " + std::to_string(sg4::Engine::get_clock()) +
                        " s while the job ran on it");
    throw stop_simulation();
}

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

void set_where_free(const char *setting)
{
    if (settings_made().count(key_of(setting)) == 0)
        sg4::Engine::set_config(setting);
}

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

struct platform *load(const char *file, bool varies, struct arena *arena)
{
    sg4::Engine *engine = sg4::Engine::get_instance();
    engine->load_platform(file);
    engine->seal_platform();
    versions::on_host_state(throw_on_host_failure);
    versions::on_link_state(note_link_state);

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
        platform->hosts[i].varies = varies;
    rating_find(platform);
    fill_links(platform, engine, kept);
    fill_library(platform, hosts);
    return platform;
}

/* ---- platforms that SimGrid has not loaded ---- */

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

sg4::Host *host_of(const struct platform *platform, uint32_t host)
{
    return flat() ? flat()->host(host) : static_cast<sg4::Host *>(platform->hosts[host].handle);
}

/* Runs an actor's body. An exception must not leave it: outside an actor nobody could catch it. ForcefulKillException,
 * by which SimGrid unwinds a killed actor, is no std::exception and passes. */
void run_body(void (*body)(void *), void *argument)
{
    try {
        body(argument);
    } catch (const simgrid::NetworkFailureException &) {
        first_failure().set(link_failure());
        simgrid::s4u::Actor::kill_all();
    } catch (const std::exception &exception) {
        first_failure().set(exception.what());
        simgrid::s4u::Actor::kill_all();
    }
}

} // namespace

bool bridge_configure(const char *const *config, size_t count, struct fault *fault)
{
    static char program[] = "stagesim", quiet[] = "--log=root.thres:critical", layout[] = "--log=root.fmt:%m%n";
    static char *arguments[] = {program, quiet, layout, nullptr};
    int argument_count = 3;
    try {
        sg4::Engine::get_instance(&argument_count, arguments);
        set_defaults();
        for (size_t i = 0; i < count; i++) {
            sg4::Engine::set_config(config[i]);
            settings_made().insert(key_of(config[i]));
        }
    } catch (const std::exception &exception) {
        return fault_set(fault, "%s", exception.what());
    }
    return true;
}

struct platform *bridge_load(const char *file, struct arena *arena, struct fault *fault)
{
    struct platform_file facts;
    if (!platform_file_check(file, &facts, arena, fault))
        return nullptr;
    if (!versions::bare_shapes && facts.bare_shape.line) {
        fault_set(fault,
                  "%s:%u:%u: SimGrid %s reads a <cluster> with a topology only within a zone, such as <zone id=\"all\" "
                  "routing=\"Full\">; stagesim's own reader, loader: auto, knows it as it is",
                  file, facts.bare_shape.line, facts.bare_shape.column, bridge_version(arena));
        return nullptr;
    }
    try {
        for (size_t i = 0; i < facts.setting_count; i++)
            set_where_free(facts.settings[i]);
        struct platform *platform = load(file, facts.varies, arena);
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
    return nullptr;
}

bool bridge_adopt(struct platform *platform, struct fault *fault)
{
    if (platform->route == find_route || flat())
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
    if (platform->route == find_route)
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
    return sg_host_get_consumed_energy(host_of(platform, host));
}

void *bridge_actor_start(struct platform *platform, uint32_t host, void (*body)(void *argument), void *argument)
{
    auto *where = host_of(platform, host);
    try {
        return versions::start_actor("rank", where, [body, argument]() { run_body(body, argument); }).get();
    } catch (const simgrid::HostFailureException &) {
        first_failure().set("host '" + where->get_name() + "' is down when the job starts");
    }
    return nullptr;
}

void bridge_expect_many_actors(void)
{
    /* Each stack with a guard page is two mappings, of which Linux allows 65,530. */
    sg4::Engine::set_config("contexts/guard-size:0");
    sg4::Engine::set_config("contexts/stack-size:16");
}

void *bridge_mailbox(const char *name, void *actor)
{
    sg4::Mailbox *mailbox = sg4::Mailbox::by_name(name);
    mailbox->set_receiver(static_cast<sg4::Actor *>(actor)); /* a mailbox keeps that of a simulation before */
    return mailbox;
}

double bridge_set_precision(double seconds)
{
    if (simgrid::config::is_default(versions::precision_option))
        simgrid::config::set_value(versions::precision_option, seconds);
    return simgrid::config::get_value<double>(versions::precision_option);
}

bool bridge_run(struct fault *fault)
{
    try {
        if (!first_failure().seen)
            sg4::Engine::get_instance()->run();
    } catch (const std::exception &exception) {
        first_failure().set(exception.what());
    }
    if (first_failure().seen)
        return fault_set(fault, "%s", first_failure().text.c_str());
    return true;
}

void *bridge_send(void *mailbox, double bytes)
{
    static char payload; /* SimGrid wants one; nobody reads it */
    sg4::CommPtr comm = static_cast<sg4::Mailbox *>(mailbox)->put_init(&payload, 0);
    versions::open_comm::set_bytes(comm.get(), bytes);
    comm->start();
    comm->add_ref();
    return comm.get();
}

void *bridge_receive(void *mailbox)
{
    static void *payload; /* nobody reads it */
    sg4::CommPtr comm = static_cast<sg4::Mailbox *>(mailbox)->get_init();
    comm->set_dst_data(&payload, sizeof payload);
    comm->start();
    comm->add_ref();
    return comm.get();
}

double bridge_comm_finish(const void *comm)
{
    return static_cast<const sg4::Comm *>(comm)->get_finish_time();
}

double bridge_comm_remaining(const void *comm)
{
    return static_cast<const sg4::Comm *>(comm)->get_remaining();
}

double bridge_wait(void *comm)
{
    sg4::CommPtr owned(static_cast<sg4::Comm *>(comm), false);
    owned->wait();
    return owned->get_finish_time();
}

void *bridge_target_start(struct platform *platform, uint32_t host)
{
    auto *where = host_of(platform, host);
    /* Not suspended: messages to a suspended actor are suspended, too. */
    sg4::ActorPtr target = versions::start_actor("target", where, []() { sg4::Semaphore::create(0)->acquire(); });
    target->daemonize();
    return target.get();
}

void bridge_target_move(struct platform *platform, void *target, uint32_t host)
{
    static_cast<sg4::Actor *>(target)->set_host(host_of(platform, host));
}

void bridge_actor_move(struct platform *platform, uint32_t host)
{
    sg4::this_actor::set_host(host_of(platform, host));
}

const char *bridge_version(struct arena *arena)
{
    int major, minor, patch;
    sg_version_get(&major, &minor, &patch);
    return patch ? arena_print(arena, "%d.%d.%d", major, minor, patch) : arena_print(arena, "%d.%d", major, minor);
}
