/* SPDX-License-Identifier: Apache-2.0 */
/* What all actors of a simulation ask of it. */
#include "simulator/engines/simgrid/run.h"

#include "simulator/engines/simgrid/bridge.h"

#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <stdio.h>

#include "simulator/engines/simgrid/services.h"

struct rank *run_rank(const struct run *run, uint32_t number)
{
    return timeline_simulates(run->timeline, number) ? &run->ranks[run->timeline->index_of[number]] : NULL;
}

sg_mailbox_t run_mailbox(struct run *run, void *actor)
{
    char name[24];
    snprintf(name, sizeof name, "%u", (*run->mailboxes)++);
    return bridge_mailbox(name, actor);
}

void run_await_beginning(const struct run *run)
{
    if (simgrid_get_clock() < run->job->begins)
        sg_actor_sleep_for(run->job->begins - simgrid_get_clock());
}

void run_stagger(const struct run *run, uint32_t count)
{
    sg_actor_sleep_for(count *
                       fmax(STAGGER * fmax(run->length, simgrid_get_clock()), STAGGER_PRECISIONS * run->precision));
}

void run_stagger_group(const struct run *run, uint32_t number)
{
    run_stagger(run, STAGGER_MESSAGES + (run->network || run->stand_ins ? run->job->number : number) % STAGGER_GROUPS);
}

bool operation_is_done(const struct rank *rank, uint32_t id)
{
    return !isnan(rank->times[id].end);
}

bool operation_ready(const struct rank *rank, uint32_t id)
{
    const struct operation *operation = &rank->position->operations[id];
    for (uint32_t i = 0; i < operation_wait_count(operation); i++)
        if (!operation_is_done(rank, operation_wait(rank->position, operation, i)))
            return false;
    return true;
}

void count_done(struct run *run)
{
    const struct engine_progress *progress = run->job->progress;
    if (++run->done % PROGRESS_INTERVAL == 0 && progress)
        progress->report(progress->user, run->done, run->total);
}

void sleep_until(double time)
{
    if (time > simgrid_get_clock())
        sg_actor_sleep_for(time - simgrid_get_clock());
}
