/* SPDX-License-Identifier: Apache-2.0 */
/* What collectives take, in each column. */
#include "simulator/engines/analytic/columns_walk.h"

#include "base/arena.h"
#include "simulator/collectives/assignment.h"

#include <math.h>

/* The estimates of flows, each column's on its own instance where no lower one is coupled with it. */
static const struct estimate *estimates_of(struct columns *c, uint32_t group, const struct collective_flows *flows)
{
    struct gathering *gathering = &c->gatherings[group];
    const struct group *description = &c->program->groups[group];
    struct timed_flows *timed = gathering->flows;
    while (timed && timed->flows != flows)
        timed = timed->next;
    if (timed)
        return timed->estimates;
    uint32_t size = group_size(c->program, description), *hosts = arena_array(c->arena, size, sizeof *hosts);
    timed = arena_alloc(c->arena, sizeof *timed);
    *timed = (struct timed_flows){flows, arena_array(c->arena, c->count, sizeof *timed->estimates), gathering->flows};
    for (uint32_t column = 0; column < c->count; column++) {
        if (gathering->coupled[column] != column)
            continue;
        group_ranks(c->program, description, group_instance_of(c->program, description, c->replicas[column]), hosts);
        for (uint32_t i = 0; i < size; i++)
            hosts[i] = c->job->hosts[hosts[i]];
        timed->estimates[column] = estimate_create(flows, c->job->platform, hosts, c->arena);
    }
    gathering->flows = timed;
    return timed->estimates;
}

static struct timed_collective *time_collective(struct columns *c, uint32_t group, const struct operation *operation)
{
    struct gathering *gathering = &c->gatherings[group];
    const struct stagesim_cost *cost = operation_cost(c->program, operation);
    struct collective_choice choice = assignment_choose(c->program, group, operation);
    double repeats = fmax(cost->repeats, 1);
    struct timed_collective *timed = arena_alloc(c->arena, sizeof *timed);
    *timed = (struct timed_collective){.cost = operation->cost,
                                       .collective = operation->collective,
                                       .seconds = arena_array(c->arena, c->count, sizeof *timed->seconds),
                                       .next = gathering->timed};
    gathering->timed = timed;
    if (c->job->transfers_free)
        return timed;
    const struct collective_flows *flows = choice.algorithm ? assignment_flows(c->program, group, operation) : NULL;
    const struct estimate *estimates = flows ? estimates_of(c, group, flows) : NULL;
    timed->flows = flows ? flows->count : 0;
    for (uint32_t column = 0; column < c->count; column++) {
        uint32_t lowest = gathering->coupled[column];
        timed->seconds[column] = repeats * choice.delay;
        if (estimates)
            timed->seconds[column] +=
                repeats * estimate_seconds(&estimates[lowest], &choice.ratios, cost->bytes / repeats);
    }
    return timed;
}

const struct timed_collective *columns_timed(struct columns *c, uint32_t group, const struct operation *operation)
{
    struct timed_collective *timed = c->gatherings[group].timed;
    while (timed && (timed->cost != operation->cost || timed->collective != operation->collective))
        timed = timed->next;
    return timed ? timed : time_collective(c, group, operation);
}

const double *columns_collective_seconds(struct columns *c, uint32_t group, const struct operation *operation)
{
    return columns_timed(c, group, operation)->seconds;
}
