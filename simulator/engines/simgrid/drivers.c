/* SPDX-License-Identifier: Apache-2.0 */
/* The drivers of all groups: what their collectives need, their members, their actors. */
#include "simulator/engines/simgrid/run.h"

#include "base/arena.h"
#include "simulator/engines/overlap.h"
#include "simulator/engines/simgrid/bridge.h"

#include <math.h>
#include <stdlib.h>

#include "simulator/engines/simgrid/services.h"

/* What the group's collectives need at most. */
struct needs {
    size_t flows, bundles, pairs; /* flows that begin pair by pair */
    bool acting;
};

static size_t bundles_for(size_t flows)
{
    return (flows + BUNDLE_FLOWS - 1) / BUNDLE_FLOWS;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void add_needs(struct needs *needs, const struct collective_flows *flows, uint32_t members)
{
    if (collective_goes_by_members(flows)) {
        needs->acting = true;
        return;
    }
    needs->flows = larger(needs->flows, flows->count);
    if (flows->start == START_PAIRS) {
        needs->pairs = larger(needs->pairs, flows->count);
        needs->bundles = larger(needs->bundles, bundles_for(flows->count) + members);
        return;
    }
    for (size_t first = 0, end; first < flows->count; first = end) {
        end = collective_phase_end(flows, first);
        needs->bundles = larger(needs->bundles, bundles_for(end - first));
    }
}

static struct needs find_needs(const struct group_driver *driver)
{
    uint32_t count;
    struct needs needs = {0, 1, 0, false};
    const struct collective_flows *const *sets =
        assignment_all_flows(driver->run->program, (uint32_t)(driver->group - driver->run->program->groups), &count);
    for (uint32_t i = 0; i < count; i++)
        add_needs(&needs, driver->standing ? &driver->standing->sets[i].flows : sets[i], driver->member_count);
    return needs;
}

/* A ghost's equal has the same place in a slice that is simulated. */
static void find_equals(struct group_driver *driver)
{
    const struct timeline *timeline = driver->run->timeline;
    for (uint32_t i = 0, k; i < driver->member_count; i++) {
        struct member *member = &driver->members[i];
        member->alike = member;
        for (k = 0; !member->rank && k < driver->member_count; k++)
            if (driver->members[k].number == timeline->ranks[timeline->index_of[member->number]])
                break;
        if (member->rank)
            continue;
        member->alike = &driver->members[k];
        member->next_ghost = member->alike->next_ghost;
        member->alike->next_ghost = member;
    }
}

/* The simulated rank that takes part for a member: itself, or of its class the first time. */
static struct rank *rank_of_member(const struct group_driver *driver, uint32_t group, uint32_t number)
{
    const struct run *run = driver->run;
    if (!driver->standing)
        return run_rank(run, number);
    struct rank *rank = &run->ranks[run->timeline->index_of[number]];
    return rank->members[position_group_stream(rank->position, group)] ? NULL : rank;
}

static void members_init(struct group_driver *driver, uint32_t group, const uint32_t *ranks)
{
    for (uint32_t i = 0; i < driver->member_count; i++) {
        struct member *member = &driver->members[i];
        *member =
            (struct member){.number = ranks[i], .rank = rank_of_member(driver, group, ranks[i]), .driver = driver};
        member->came = NAN;
        member->data_start = INFINITY;
        if (!member->rank)
            continue;
        uint32_t stream = position_group_stream(member->rank->position, group);
        member->rank->members[stream] = member;
        member->first = member->rank->position->streams[stream].first;
        driver->simulated_count++;
        driver->lead = member;
    }
}

/* NULL when no member is simulated. */
static struct group_driver *driver_create(struct run *run, uint32_t group, uint32_t instance)
{
    if (run->network && !run->network->instances[group][instance])
        return NULL;
    struct group_driver *driver = arena_alloc(run->arena, sizeof *driver);
    *driver = (struct group_driver){.run = run,
                                    .group = &run->program->groups[group],
                                    .standing = run->network ? run->network->instances[group][instance] : NULL};
    driver->member_count = group_size(run->program, driver->group);
    driver->stands = run->stand_ins ? run->stand_ins->first[group][instance] : 0;
    driver->members = arena_array(run->arena, driver->member_count, sizeof *driver->members);
    uint32_t *ranks = arena_array(run->arena, driver->member_count, sizeof *ranks);
    group_ranks(run->program, driver->group, instance, ranks);
    members_init(driver, group, ranks);
    if (driver->simulated_count == 0)
        return NULL;
    driver->overlap_share = overlap_share(run->platform, run->hosts, ranks, driver->member_count);
    driver->arrived = arena_array(run->arena, driver->group->collective_count, sizeof *driver->arrived);
    driver->wake = sg_sem_init(0);
    struct needs needs = find_needs(driver);
    driver->acting = needs.acting;
    driver->expected = needs.acting ? driver->member_count : driver->simulated_count;
    driver->latencies = arena_array(run->arena, needs.flows + 1, sizeof *driver->latencies);
    driver->order = arena_array(run->arena, needs.pairs + 1, sizeof *driver->order);
    driver->queue = arena_array(run->arena, driver->member_count, sizeof *driver->queue);
    driver->bundle_count = (uint32_t)needs.bundles;
    driver->bundles = arena_array(run->arena, needs.bundles + 1, sizeof *driver->bundles);
    if ((needs.acting || needs.pairs) && !driver->standing)
        find_equals(driver);
    if (needs.acting)
        members_create(driver);
    return driver;
}

struct drivers drivers_create(struct run *run)
{
    struct drivers drivers = {NULL, 0};
    size_t capacity = 0;
    for (uint32_t group = 0; group < run->program->group_count; group++)
        if (run->program->groups[group].collective_count)
            capacity += group_instances(run->program, &run->program->groups[group]);
    drivers.items = arena_array(run->arena, capacity + 1, sizeof(struct group_driver *));
    for (uint32_t group = 0; group < run->program->group_count; group++) {
        const struct group *description = &run->program->groups[group];
        for (uint32_t i = 0; description->collective_count && i < group_instances(run->program, description); i++) {
            struct group_driver *driver = driver_create(run, group, i);
            if (!driver)
                continue;
            driver->number = run->groups + drivers.count;
            drivers.items[drivers.count++] = driver;
        }
    }
    return drivers;
}

uint32_t drivers_actor_count(const struct drivers *drivers)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < drivers->count; i++)
        count +=
            2 * drivers->items[i]->bundle_count + (drivers->items[i]->acting ? drivers->items[i]->member_count : 0);
    return count;
}

void driver_start(struct group_driver *driver)
{
    bundle_start(driver, false);
    bridge_actor_start(driver->run->site, driver->run->places[driver->lead->number], driver_actor, driver);
    if (driver->acting)
        members_start(driver);
}
