/* SPDX-License-Identifier: Apache-2.0 */
/* The C side of bridge.cpp, the one C++ file: what SimGrid's C API does not give, with exceptions turned into
 * faults. One platform, one simulation per process. */
#ifndef STAGESIM_SIMGRID_BRIDGE_H
#define STAGESIM_SIMGRID_BRIDGE_H

#include "base/diagnostics.h"
#include "platforms/platform.h"
#include "platforms/power/power.h"

#ifdef __cplusplus
extern "C" {
#endif

struct arena;

/* Sets stagesim's defaults and then `config` ("key:value" strings as in SimGrid's --cfg, count of them). False with the
 * fault filled when SimGrid knows no such key or value; of some wrong values it ends the process instead. */
bool bridge_configure(const char *const *config, size_t count, struct fault *fault);
/* Loads the platform file; to be called once, after bridge_configure. The platform lives in the arena. NULL with the
 * fault filled. */
struct platform *bridge_load(const char *file, struct arena *arena, struct fault *fault);

/* Makes a platform that bridge_load has not loaded SimGrid's, with routes from platform->route: hosts and links come
 * into being as the job uses them. Nothing happens for one that is SimGrid's already. After bridge_configure; the
 * platform has to outlive the process's simulation. False with the fault filled. */
bool bridge_adopt(struct platform *platform, struct fault *fault);

/* SimGrid's own plug-in for the energy of hosts, to be started before bridge_adopt. False where SimGrid has read the
 * platform, whose hosts are there already. */
bool bridge_measures_energy(const struct platform *platform);
/* What a host draws, and its clock, in which times are those of `state->clock` times its speed. Before anything starts
 * on it. */
void bridge_host_state(struct platform *platform, uint32_t host, const struct power_state *state);
/* What it has consumed until now. */
double bridge_host_joules(struct platform *platform, uint32_t host);

/* Why flows do not share links by their latencies alone, as SimGrid is set; NULL: they do. */
const char *bridge_weighs(void);

/* Starts an actor on host index `host` that calls body(argument); returns SimGrid's actor. NULL where the host is down:
 * then bridge_run says so. */
void *bridge_actor_start(struct platform *platform, uint32_t host, void (*body)(void *argument), void *argument);
/* Events no more than that many seconds apart are one, unless the configuration said so before; returns what holds.
 * Before the simulation runs. */
double bridge_set_precision(double seconds);
/* SimGrid's maxmin/precision becomes at least this, unless the scenario or the platform file sets it. */
void bridge_raise_solver_precision(double precision);
/* Makes room for very many actors: small stacks without guard pages. Before the first actor is started. */
void bridge_expect_many_actors(void);
/* "3.32", of the library in use. */
const char *bridge_version(struct arena *arena);

/* A mailbox (sg_mailbox_t) for messages to an actor: they start to move as soon as they are sent. NULL: for anybody,
 * they start when somebody receives. */
void *bridge_mailbox(const char *name, void *actor);
/* Runs until no actor is left. False with the fault filled when an actor or SimGrid failed (a host or a link went
 * down). */
bool bridge_run(struct fault *fault);

/* Starts a message of that many bytes (a fraction is allowed, 0 is not) from the calling actor's host to a mailbox; the
 * returned sg_comm_t is to be given to bridge_wait. */
void *bridge_send(void *mailbox, double bytes);
/* Receives a message from a mailbox that is addressed to nobody; to be given to bridge_wait. */
void *bridge_receive(void *mailbox);
/* When a message ended; negative while it is under way. */
double bridge_comm_finish(const void *comm);
/* How many of its bytes have not arrived yet. */
double bridge_comm_remaining(const void *comm);
/* Waits for a message, frees it, and returns when it ended, which may be before now. */
double bridge_wait(void *comm);
/* An actor that does nothing but be somewhere, so that messages can be addressed to it; it ends with the others. */
void *bridge_target_start(struct platform *platform, uint32_t host);
/* Moves it: messages to its mailboxes that start from now on go there. */
void bridge_target_move(struct platform *platform, void *target, uint32_t host);
/* Moves the calling actor to a host: messages that it starts from now on leave from there. */
void bridge_actor_move(struct platform *platform, uint32_t host);

#ifdef __cplusplus
}
#endif

#endif
