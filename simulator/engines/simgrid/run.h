/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a simulation on SimGrid, shared by the files of the engine. See engine_simgrid.c. */
#ifndef STAGESIM_SIMGRID_RUN_H
#define STAGESIM_SIMGRID_RUN_H

#include "simulator/collectives/assignment.h"
#include "simulator/engines/class_network.h"
#include "simulator/engines/engine.h"

#include <simgrid/mailbox.h>
#include <simgrid/semaphore.h>

/* SimGrid takes an in-flight message of 0 bytes for an arrived one, so an empty message carries a thousandth of a byte.
 */
#define EMPTY_MESSAGE_BYTES 1e-3

/* SimGrid's selective update (3.32 and later) looks only at the first link of a transfer that begins to move. When that
 * link is already known to have changed at this very moment, because another transfer began there, the other links are
 * forgotten and keep their old shares. Routes have first links of their own (adopted.cpp); where SimGrid keeps a
 * platform that it has read, they have not, so transfers that would leave a rank at one moment leave one after the
 * other, this share of the job's time apart: far more than a rounding, far less than anybody measures. */
#define STAGGER 1e-13
/* Events that are no further apart than `surf/precision` are one to SimGrid. Where that is below the rounding of the
 * clock an event can slip between two clock readings and is never found again; where it is large, times are wrong. So
 * it is chosen from how long the job takes without contention: this share of it, enough for a clock that goes a
 * thousand times further; and never less than LEAST_PRECISION, in seconds. */
#define PRECISION_SHARE 0x1p-42
#define LEAST_PRECISION 1e-15
/* Precisions that a stagger has at least. */
#define STAGGER_PRECISIONS 8
enum { STAGGER_GROUPS = 64, STAGGER_MESSAGES = 8 };

enum { PROGRESS_INTERVAL = 4096, BUNDLE_FLOWS = 64, MANY_ACTORS = 20000 };

enum service {
    SERVED_BY_RANK,   /* the rank's actor: its compute stream, or a stream that it serves in passing */
    SERVED_BY_STREAM, /* receive: taken by the actor of another stream, the only one that waits for it */
    ACTOR_OWN,        /* an actor of its own */
    ACTOR_GROUP       /* collectives: the group's driver, or its members' actors */
};

struct rank;
struct member;
struct group_driver;
struct member_flows;
struct meeting_point;
struct spare_box;

struct stream_state {
    enum service service;
    uint32_t next;    /* index of the first operation that is not posted (send) or taken (receive) yet */
    sg_mailbox_t box; /* send: the receiver's; receive: its own */
    void *in_flight;  /* send served by the rank: the newest message, until its end is recorded */
    struct rank *rank;
    uint32_t index; /* of the stream in its position */
};

/* An actor that sleeps until an operation of its rank is done. Lives on the sleeping actor's stack. */
struct sleeper {
    uint32_t awaited;
    sg_sem_t semaphore;
    struct sleeper *next;
};

/* What collectives take of a rank's compute. */
struct overlap {
    double share; /* sum over those that move now */
    double lost;  /* seconds of computing, up to `since` */
    double since;
    uint32_t running; /* that take a share */
};

/* A simulated rank. */
struct rank {
    struct run *run;
    uint32_t number;
    const struct position *position;
    struct moment *times;
    struct stream_state *streams;
    const uint32_t *ghosts; /* [operation id]: numbers of ghost messages, see struct folding; NULL: none */
    double speed;     /* the full one of the host of the position's first replica, for which times are given: SimGrid
                         computes with its own */
    double last_post; /* when its newest message was sent */
    struct sleeper *sleepers;
    struct member **members; /* [stream]: what it is in the groups of its collective streams */
    struct overlap overlap;
};

struct member {
    uint32_t number;   /* of its rank */
    struct rank *rank; /* NULL: a ghost, it arrives with its equal of the simulated slice */
    uint32_t first;    /* id of its first collective in this group */
    struct group_driver *driver;
    struct member *alike, *next_ghost; /* its equal, itself where it is no ghost; the next ghost of the same equal */
    /* Of the collective that it is at. */
    double came;       /* when it arrived there, NaN: it has not */
    uint32_t at;       /* number of the newest one that it has come to, and one more */
    double data_start; /* of its first flow, launch and start of the protocol included; INFINITY: none has begun */
    bool overlaps;     /* it takes a share of its rank's compute */
    double previous_end;
    /* Where members have actors: */
    sg_sem_t wake;
    bool asleep;
    double ready; /* when it can begin its current phase */
    void **comms; /* of a phase */
};

/* Up to BUNDLE_FLOWS flows of a collective, started and awaited by one actor; moving an actor costs time in proportion
 * to its running transfers. */
struct bundle {
    struct group_driver *driver;
    size_t first, last; /* the flows, places in driver->order where there is one */
    sg_sem_t go;
    void *target;        /* the actor to which the flows are addressed, moved to the host of each; NULL: not started */
    sg_mailbox_t box;    /* its mailbox */
    struct bundle *next; /* that is free */
};

struct group_driver {
    struct run *run;
    const struct group *group;
    struct member *members;
    uint32_t member_count, simulated_count;
    const struct member *lead; /* a simulated member: its operations say what the group does */
    uint32_t *arrived;         /* [collective]: members that are ready, of those that are expected */
    uint32_t expected;         /* the simulated ones; all where they have actors */
    uint32_t current;          /* the collective that is waited for or running */
    bool waiting;
    uint32_t number; /* of the driver: staggers the flows of different groups */
    sg_sem_t wake;
    struct bundle *bundles, *free_bundles;
    uint32_t bundle_count, started_bundles, running_bundles;
    bool finished;                   /* no collective is left */
    struct collective_choice choice; /* of the running collective */
    const struct collective_flows *flows;
    uint32_t
        stands; /* the host of the site that stands in for the first member's, those for the others follow; 0: none */
    const struct class_instance *standing; /* for instances that are alike: flows stand for classes; NULL */
    const struct class_flows *classes;     /* of the running collective */
    double bytes, repeats;
    double end;        /* of the running phase, or of all flows so far: the latest, latencies of all steps included */
    double *latencies; /* [flow] of `flows`, NaN: not looked up */
    double overlap_share; /* of compute that a collective takes while it moves */
    /* Where pairs begin by and by: */
    bool by_pairs;   /* the running collective does */
    uint32_t *queue; /* members in the order in which they came */
    uint32_t queued, taken;
    size_t *order, ordered; /* flows in the order in which they begin; NULL: in their own */
    /* Where members have actors: */
    bool acting;
    uint32_t ended; /* collectives that the driver has ended */
    struct member_flows *member_flows;
    struct meeting_point *all; /* of all members */
};

struct drivers {
    struct group_driver **items;
    uint32_t count;
};

struct run {
    const struct engine_job *job;
    const struct program *program;
    struct platform *platform;
    const uint32_t *hosts;
    struct platform *site;         /* where actors are: the platform, or the network of classes that stands for it */
    const uint32_t *places;        /* [rank]: hosts of the site */
    struct class_network *network; /* NULL: none */
    struct stand_ins *stand_ins;   /* NULL: none */
    struct timeline *timeline;
    struct arena *arena;
    struct rank *ranks; /* [timeline index] */
    uint64_t done, total, activities;
    uint32_t *mailboxes;     /* names given so far, by all runs of the simulation */
    uint32_t groups;         /* drivers of the runs before it */
    struct spare_box *boxes; /* mailboxes for two that nobody uses now */
    struct drivers drivers;
    double length;    /* seconds that all jobs take without contention */
    double precision; /* seconds within which events are one */
    bool measures;    /* energy of hosts: the program has their states, and SimGrid makes them so */
};

/* What struct engine says of run. */
bool simgrid_run_program(const struct engine_job *job, struct fault *fault);

/* ---- run.c ---- */

/* The simulated rank of that number, or NULL. */
struct rank *run_rank(const struct run *run, uint32_t number);
/* One more operation has ended: progress is told. */
void count_done(struct run *run);
bool operation_is_done(const struct rank *rank, uint32_t id);
/* Whether all that an operation waits for is done, its stream left aside. */
bool operation_ready(const struct rank *rank, uint32_t id);
/* What an actor does first: sleeps until its job begins. */
void run_await_beginning(const struct run *run);
/* Sleeps for that many staggers, see STAGGER. */
void run_stagger(const struct run *run, uint32_t count);
/* What comes from group number `number` comes behind messages; apart from other groups where routes have no links of
 * their own, which is where SimGrid has read the platform and keeps it. Groups of other jobs are always apart: jobs
 * that are alike do not stay together where that is an unstable point. */
void run_stagger_group(const struct run *run, uint32_t number);
void sleep_until(double time);
/* A mailbox with a name of its own, addressed to an actor; NULL: whoever takes a message out of it. */
sg_mailbox_t run_mailbox(struct run *run, void *actor);

/* ---- streams.c ---- */

/* Called when an operation has ended, its end recorded: sets off what waits for it. */
void operation_done(struct rank *rank, uint32_t id);
/* Actors: of a rank, with its compute stream, and of a stream that the rank does not serve. */
void rank_actor(void *rank);
void stream_actor(void *stream);

/* ---- stream_service.c ---- */

/* [stream] of the position: who serves it; lives in the arena. */
enum service *stream_services(const struct position *position, struct arena *arena);
/* Of all simulated ranks and of the drivers of collectives. */
uint64_t run_count_actors(const struct run *run);

/* ---- drivers.c ---- */

/* Drivers of all group instances that have simulated members; tells these ranks. */
struct drivers drivers_create(struct run *run);
/* Actors that they need. */
uint32_t drivers_actor_count(const struct drivers *drivers);
void driver_start(struct group_driver *driver);

/* ---- collective.c ---- */

/* The actor of a driver: runs the group's collectives one after the other. */
void driver_actor(void *driver);
/* A bundle with its target; with an actor of its own, or served by the driver. */
struct bundle *bundle_start(struct group_driver *driver, bool own_actor);

/* ---- arrival.c ---- */

/* A rank is ready for collective number `index` of the group of one of its streams. */
void group_arrive(struct rank *rank, uint32_t stream, uint32_t index);
/* The member has come to collective number `index`, which the driver runs. */
void driver_arrive(struct group_driver *driver, struct member *member, uint32_t index);
/* A member has come, and its ghosts, which have no actors to say so: they stand in the driver's queue. */
void driver_enqueue(struct group_driver *driver, struct member *member);

/* ---- member.c ---- */

/* When a member's stream reached the collective and what it waits for was done. */
double member_posted(const struct member *member, uint32_t index);
/* Data of the member move since `start`. */
void member_moves(struct member *member, double start);
/* Records the end of a simulated member's collective, data moving since data_start. */
void member_record(struct member *member, uint32_t index, double end);
/* It is done with the collective. */
void member_leave(struct member *member, double end);
/* Something that the member may sleep for has happened. */
void member_wake(struct member *member);
/* Seconds of latency on a flow's route; looked up where *known is NaN, and kept there. */
double flow_latency(const struct group_driver *driver, const struct collective_phase_flow *flow, double *known);
/* Of the ratios of an algorithm's choice that the flow takes. */
enum platform_scope flow_scope(const struct group_driver *driver, const struct collective_choice *choice,
                               const struct collective_phase_flow *flow);

/* ---- members.c ---- */

/* Actors of all members, which carry out the group's collectives from now on. */
void members_start(struct group_driver *driver);
/* What they need, of the group's flows. */
void members_create(struct group_driver *driver);

/* ---- overlap.c ---- */

/* From now on the members lose that share of their compute to a collective, and no longer. */
void overlap_begin(const struct member *members, uint32_t count, double share);
void overlap_end(const struct member *members, uint32_t count, double share);
/* Computes for `seconds` of the whole GPU: what collectives take meanwhile is made up for, what they take of that as
 * well, and so on. */
void overlap_execute(struct rank *rank, double seconds);

/* ---- ghost.c ---- */

/* Sends the same message from all slices of the rank's class that are not simulated, now. */
void ghosts_send(struct rank *rank, uint32_t ghost, uint32_t peer_position, double bytes);

#endif
