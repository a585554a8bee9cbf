/* SPDX-License-Identifier: Apache-2.0 */
/* Ghost messages: in a folded simulation, messages that move while a collective across slices does are sent from every
 * slice. */
#include "simulator/engines/simgrid/bridge.h"
#include "simulator/engines/simgrid/run.h"

#include "base/arena.h"

#include "simulator/engines/simgrid/services.h"

struct ghost_message {
    struct rank *rank;
    uint32_t ghost, peer_position;
    double bytes;
};

/* The rank's equals in the slices that it stands for; returns how many. */
static uint32_t represented(const struct rank *rank, uint32_t *ranks)
{
    const struct folding *folding = rank->run->job->folding;
    uint32_t own = rank->number / folding->stride % folding->slices, count = 0;
    for (uint32_t slice = 0; slice < folding->slices; slice++)
        if (slice != own && folding->class_of[slice] == own)
            ranks[count++] = rank->number + (slice - own) * folding->stride;
    return count;
}

static void ghost_actor(void *argument)
{
    const struct ghost_message *message = argument;
    const struct rank *rank = message->rank;
    struct run *run = rank->run;
    const struct mesh *mesh = run->program->mesh;
    void *target = bridge_target_start(run->site, run->places[rank->number]);
    sg_mailbox_t box = run_mailbox(run, target);
    uint32_t *ranks = arena_array(run->arena, run->job->folding->slices, sizeof *ranks),
             count = represented(rank, ranks);
    void **comms = arena_array(run->arena, count + (size_t)1, sizeof *comms);
    for (uint32_t i = 0; i < count; i++) {
        bridge_target_move(run->site, target,
                           run->places[mesh_rank(mesh, message->peer_position, mesh->replica_of[ranks[i]])]);
        bridge_actor_move(run->site, run->places[ranks[i]]);
        comms[i] = bridge_send(box, message->bytes);
        run->activities++;
    }
    double *ends = run->job->folding->ghost_ends + (size_t)message->ghost * mesh->ranks;
    for (uint32_t i = 0; i < count; i++) {
        ends[ranks[i]] = bridge_wait(comms[i]);
        sg_mailbox_get(box);
    }
}

void ghosts_send(struct rank *rank, uint32_t ghost, uint32_t peer_position, double bytes)
{
    struct run *run = rank->run;
    struct ghost_message *message = arena_alloc(run->arena, sizeof *message);
    *message = (struct ghost_message){rank, ghost, peer_position, bytes};
    bridge_actor_start(run->site, run->places[rank->number], ghost_actor, message);
}
