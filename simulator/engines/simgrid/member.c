/* SPDX-License-Identifier: Apache-2.0 */
/* A member of a group, at a collective: when it came, when its data move, when it leaves. */
#include "simulator/engines/simgrid/run.h"

#include <math.h>

#include "simulator/engines/simgrid/services.h"

void member_wake(struct member *member)
{
    if (!member->asleep)
        return;
    member->asleep = false;
    sg_sem_release(member->wake);
}

double member_posted(const struct member *member, uint32_t index)
{
    const struct rank *rank = member->rank;
    const struct operation *operation = &rank->position->operations[member->first + index];
    double start = member->previous_end;
    for (uint32_t i = 0; i < operation_wait_count(operation); i++)
        start = fmax(start, rank->times[operation_wait(rank->position, operation, i)].end);
    return start;
}

void member_moves(struct member *member, double start)
{
    member->data_start = fmin(member->data_start, start);
    if (!member->overlaps)
        overlap_begin(member, 1, member->driver->overlap_share);
    member->overlaps = true;
}

void member_record(struct member *member, uint32_t index, double end)
{
    double start = member_posted(member, index);
    member->rank->times[member->first + index] = (struct moment){start, fmax(start, member->data_start), end};
    count_done(member->rank->run);
}

void member_leave(struct member *member, double end)
{
    if (member->overlaps)
        overlap_end(member, 1, member->driver->overlap_share);
    member->overlaps = false;
    member->data_start = INFINITY;
    member->came = NAN;
    member->previous_end = end;
}

double flow_latency(const struct group_driver *driver, const struct collective_phase_flow *flow, double *known)
{
    if (isnan(*known)) {
        const struct run *run = driver->run;
        struct platform_route route;
        run->platform->route(run->platform, run->hosts[driver->members[flow->from].number],
                             run->hosts[driver->members[flow->to].number], &route);
        *known = route.latency;
    }
    return *known;
}

enum platform_scope flow_scope(const struct group_driver *driver, const struct collective_choice *choice,
                               const struct collective_phase_flow *flow)
{
    const struct run *run = driver->run;
    return platform_ratio_scope(run->platform, &choice->ratios, run->hosts[driver->members[flow->from].number],
                                run->hosts[driver->members[flow->to].number]);
}
