/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks come to collectives: their drivers, or the members' own actors, hear of it. */
#include "simulator/engines/simgrid/run.h"

#include <math.h>
#include <simgrid/engine.h>

#include "simulator/engines/simgrid/services.h"

/* Data of a pair move, launch and start of the protocol included, since its later member has come. */
static void pair_moves(struct group_driver *driver, const struct member *member,
                       const struct collective_phase_flow *flow)
{
    struct member *from = &driver->members[flow->from], *to = &driver->members[flow->to];
    if ((from != member && to != member) || isnan(from->came) || isnan(to->came))
        return;
    member_moves(from, member->came);
    member_moves(to, member->came);
}

/* The member stands in the queue. */
static void enqueue(struct group_driver *driver, struct member *member)
{
    member->came = simgrid_get_clock();
    driver->queue[driver->queued++] = (uint32_t)(member - driver->members);
    for (size_t i = 0; !driver->flows->all_to_all && i < driver->flows->count; i++)
        pair_moves(driver, member, &driver->flows->items[i]);
    if (!driver->flows->all_to_all || driver->queued == 1)
        return;
    member_moves(member, member->came);
    if (driver->queued == 2)
        member_moves(&driver->members[driver->queue[0]], member->came);
}

void driver_enqueue(struct group_driver *driver, struct member *member)
{
    for (struct member *each = member; each; each = driver->acting ? NULL : each->next_ghost)
        if (isnan(each->came))
            enqueue(driver, each);
}

void driver_arrive(struct group_driver *driver, struct member *member, uint32_t index)
{
    driver->arrived[index]++;
    member->at = index + 1;
    if (index != driver->current)
        return;
    if (driver->by_pairs)
        driver_enqueue(driver, member);
    if (driver->waiting && (driver->by_pairs || driver->arrived[index] == driver->expected)) {
        driver->waiting = false;
        sg_sem_release(driver->wake);
    }
}

void group_arrive(struct rank *rank, uint32_t stream, uint32_t index)
{
    struct member *member = rank->members[stream];
    if (!member->driver->acting)
        driver_arrive(member->driver, member, index);
    else
        for (struct member *each = member; each; each = each->next_ghost)
            member_wake(each);
}
