/* SPDX-License-Identifier: Apache-2.0 */
/* Ghost messages: in a folded simulation, messages that move while a collective across slices does are sent from every slice. */
#include "simulator/simgrid_bridge.h"
#include "simulator/simgrid_run.h"

#include "simulator/arena.h"

#include <math.h>

/* Slices whose messages end within this share of the time are alike. */
static const double tolerance = 1e-9;

struct ghost_message {
    struct ghost *ghost;
    uint32_t peer_position;
    double bytes;
};

static void ghost_actor(void *argument)
{
    const struct ghost_message *message = argument;
    struct ghost *ghost = message->ghost;
    struct run *run = ghost->rank->run;
    const struct folding *folding = run->job->folding;
    const struct mesh *mesh = run->program->mesh;
    uint32_t from = ghost->rank->number, to = mesh_rank(mesh, message->peer_position, mesh->replica_of[from]);
    void *target = bridge_target_start(run->platform, run->hosts[to]);
    sg_mailbox_t box = run_mailbox(run, target);
    void **comms = arena_array(run->arena, folding->slices, sizeof *comms);
    for (uint32_t slice = 1; slice < folding->slices; slice++) {
        bridge_target_move(run->platform, target, run->hosts[to + slice * folding->stride]);
        bridge_actor_move(run->platform, run->hosts[from + slice * folding->stride]);
        comms[slice] = bridge_send(box, message->bytes);
        run->activities++;
    }
    for (uint32_t slice = 1; slice < folding->slices; slice++) {
        double end = bridge_wait(comms[slice]);
        sg_mailbox_get(box);
        ghost->earliest = fmin(ghost->earliest, end);
        ghost->latest = fmax(ghost->latest, end);
    }
}

void ghosts_send(struct rank *rank, uint32_t id, uint32_t peer_position, double bytes)
{
    struct run *run = rank->run;
    struct ghost *ghost = arena_alloc(run->arena, sizeof *ghost);
    *ghost = (struct ghost){.rank = rank, .id = id, .earliest = INFINITY, .latest = 0, .next = run->ghosts};
    run->ghosts = ghost;
    struct ghost_message *message = arena_alloc(run->arena, sizeof *message);
    *message = (struct ghost_message){ghost, peer_position, bytes};
    bridge_actor_start(run->platform, run->hosts[rank->number], ghost_actor, message);
}

bool ghosts_agree(const struct run *run)
{
    for (const struct ghost *ghost = run->ghosts; ghost; ghost = ghost->next) {
        double end = ghost->rank->times[ghost->id].end;
        if (fabs(ghost->earliest - end) > tolerance * end || fabs(ghost->latest - end) > tolerance * end)
            return false;
    }
    return true;
}
