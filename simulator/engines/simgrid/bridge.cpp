/* SPDX-License-Identifier: Apache-2.0 */
/* Actors and messages, and the run, with exceptions turned into text. What SimGrid's C API does not give; everything
 * else uses it. The files *.cpp beside this one are all that is in C++. */
extern "C" {
#include "base/diagnostics.h"
}

#include "simulator/engines/simgrid/parts.hpp"

#include <simgrid/Exception.hpp>

#include <exception>

#include "simulator/engines/simgrid/services.h"

namespace sg4 = simgrid::s4u;
using parts::first_failure;
using parts::host_of;

namespace
{

/* Runs an actor's body. An exception must not leave it: outside an actor nobody could catch it. ForcefulKillException,
 * by which SimGrid unwinds a killed actor, is no std::exception and passes. */
void run_body(void (*body)(void *), void *argument)
{
    try {
        body(argument);
    } catch (const simgrid::NetworkFailureException &) {
        first_failure().set(parts::link_failure());
        simgrid::s4u::Actor::kill_all();
    } catch (const std::exception &exception) {
        first_failure().set(exception.what());
        simgrid::s4u::Actor::kill_all();
    }
}

} // namespace

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

void *bridge_mailbox(const char *name, void *actor)
{
    sg4::Mailbox *mailbox = sg4::Mailbox::by_name(name);
    mailbox->set_receiver(static_cast<sg4::Actor *>(actor)); /* a mailbox keeps that of a simulation before */
    return mailbox;
}

bool bridge_run(struct fault *fault)
{
    try {
        parts::set_latency_factor();
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
