/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives on SimGrid: one driver per group instance waits until all members are ready and runs the flows. To start a
 * flow an actor moves itself to the sending host and the target of its messages to the receiving one. */
#include "simulator/overlap.h"
#include "simulator/simgrid_bridge.h"
#include "simulator/simgrid_run.h"

#include "simulator/arena.h"

#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>

static const struct operation *current_operation(const struct group_driver *driver)
{
    return &driver->lead->rank->position->operations[driver->lead->first + driver->current];
}

static double flow_latency(struct group_driver *driver, size_t index, const struct collective_phase_flow *flow)
{
    if (isnan(driver->latencies[index])) {
        struct run *run = driver->run;
        struct platform_route route;
        run->platform->route(run->platform, run->hosts[driver->members[flow->from].number], run->hosts[driver->members[flow->to].number],
                             &route);
        driver->latencies[index] = route.latency;
    }
    return driver->latencies[index];
}

/* Of the ratios that a flow takes. */
static enum platform_scope flow_scope(const struct group_driver *driver, const struct collective_phase_flow *flow)
{
    const struct run *run = driver->run;
    return platform_ratio_scope(run->platform, &driver->choice.ratios, run->hosts[driver->members[flow->from].number],
                                run->hosts[driver->members[flow->to].number]);
}

static void *start_flow(struct bundle *bundle, const struct collective_phase_flow *flow)
{
    struct group_driver *driver = bundle->driver;
    struct run *run = driver->run;
    double bytes = flow->share * driver->bytes / driver->choice.ratios.efficiency[flow_scope(driver, flow)];
    bridge_target_move(run->platform, bundle->target, run->hosts[driver->members[flow->to].number]);
    bridge_actor_move(run->platform, run->hosts[driver->members[flow->from].number]);
    run->activities++;
    return bridge_send(bundle->box, bytes > 0 ? bytes : EMPTY_MESSAGE_BYTES);
}

/* Starts and awaits flows first .. last - 1 of the current collective. */
static void run_flows(struct bundle *bundle, size_t first, size_t last)
{
    struct group_driver *driver = bundle->driver;
    void *comms[BUNDLE_FLOWS];
    for (size_t index = first; index < last; index++) {
        struct collective_phase_flow flow = collective_flow_at(driver->flows, index);
        comms[index - first] = start_flow(bundle, &flow);
    }
    for (size_t index = first; index < last; index++) {
        struct collective_phase_flow flow = collective_flow_at(driver->flows, index);
        double end = bridge_wait(comms[index - first]);
        double steps = fmax(1, flow.steps * driver->choice.ratios.latency[flow_scope(driver, &flow)]);
        sg_mailbox_get(bundle->box);
        driver->end = fmax(driver->end, end + (driver->repeats * steps - 1) * flow_latency(driver, index, &flow));
    }
}

static void run_bundle(struct bundle *bundle)
{
    struct group_driver *driver = bundle->driver;
    size_t first = driver->phase_first + (size_t)bundle->index * BUNDLE_FLOWS, last = first + BUNDLE_FLOWS;
    if (first < driver->phase_end)
        run_flows(bundle, first, last < driver->phase_end ? last : driver->phase_end);
    if (--driver->running_bundles == 0 && driver->waiting) {
        driver->waiting = false;
        sg_sem_release(driver->wake);
    }
}

static void bundle_actor(void *argument)
{
    struct bundle *bundle = argument;
    for (sg_sem_acquire(bundle->go); !bundle->driver->finished; sg_sem_acquire(bundle->go))
        run_bundle(bundle);
}

static void driver_sleep(struct group_driver *driver)
{
    driver->waiting = true;
    sg_sem_acquire(driver->wake);
}

static void sleep_until(double time)
{
    if (time > simgrid_get_clock())
        sg_actor_sleep_for(time - simgrid_get_clock());
}

/* The flows from phase_first to phase_end, as many bundles at once as they need. */
static void run_phase(struct group_driver *driver)
{
    size_t bundles = (driver->phase_end - driver->phase_first + BUNDLE_FLOWS - 1) / BUNDLE_FLOWS;
    driver->running_bundles = (uint32_t)bundles;
    run_stagger(driver->run, STAGGER_MESSAGES + driver->number % STAGGER_GROUPS);
    for (size_t bundle = 1; bundle < bundles; bundle++)
        sg_sem_release(driver->bundles[bundle].go);
    run_bundle(&driver->bundles[0]);
    if (driver->running_bundles)
        driver_sleep(driver);
    sleep_until(driver->end);
}

static void choose(struct group_driver *driver)
{
    const struct operation *operation = current_operation(driver);
    const struct stagesim_cost *cost = operation_cost(driver->run->program, operation);
    uint32_t group = (uint32_t)(driver->group - driver->run->program->groups);
    const struct collective_flows *flows = assignment_flows(driver->run->program, group, operation);
    driver->choice = assignment_choose(driver->run->program, group, operation);
    driver->bytes = cost->bytes;
    driver->repeats = fmax(cost->repeats, 1);
    for (size_t flow = 0; flows && flows != driver->flows && flow < flows->count; flow++)
        driver->latencies[flow] = NAN;
    driver->flows = flows;
}

static void run_all_flows(struct group_driver *driver)
{
    choose(driver);
    driver->end = simgrid_get_clock() + driver->repeats * driver->choice.delay;
    if (driver->choice.delay > 0)
        sleep_until(driver->end);
    size_t count = driver->flows ? driver->flows->count : 0;
    for (driver->phase_first = 0; driver->phase_first < count; driver->phase_first = driver->phase_end) {
        driver->phase_end = collective_phase_end(driver->flows, driver->phase_first);
        run_phase(driver);
    }
}

/* When a member's stream reached the collective and what it waits for was done. */
static double posted(const struct rank *rank, uint32_t id, double stream_free)
{
    const struct operation *operation = &rank->position->operations[id];
    double start = stream_free;
    for (uint32_t i = 0; i < operation_wait_count(operation); i++)
        start = fmax(start, rank->times[operation_wait(rank->position, operation, i)].end);
    return start;
}

static void finish_collective(struct group_driver *driver, double data_start)
{
    for (uint32_t i = 0; i < driver->member_count; i++) {
        const struct member *member = &driver->members[i];
        if (!member->rank)
            continue;
        uint32_t id = member->first + driver->current;
        member->rank->times[id] = (struct moment){posted(member->rank, id, driver->previous_end), data_start, driver->end};
        count_done(driver->run);
    }
    driver->previous_end = driver->end;
    for (uint32_t i = 0; i < driver->member_count; i++)
        if (driver->members[i].rank)
            operation_done(driver->members[i].rank, driver->members[i].first + driver->current);
}

static void driver_actor(void *argument)
{
    struct group_driver *driver = argument;
    for (driver->current = 0; driver->current < driver->group->collective_count; driver->current++) {
        if (driver->arrived[driver->current] < driver->simulated_count)
            driver_sleep(driver);
        double data_start = simgrid_get_clock();
        overlap_begin(driver->members, driver->member_count, driver->overlap_share);
        run_all_flows(driver);
        overlap_end(driver->members, driver->member_count, driver->overlap_share);
        finish_collective(driver, data_start);
    }
    driver->finished = true;
    for (uint32_t bundle = 1; bundle < driver->bundle_count; bundle++)
        sg_sem_release(driver->bundles[bundle].go);
}

void group_arrive(struct group_driver *driver, uint32_t index)
{
    driver->arrived[index]++;
    if (driver->waiting && index == driver->current && driver->arrived[index] == driver->simulated_count) {
        driver->waiting = false;
        sg_sem_release(driver->wake);
    }
}

/* ---- setting up ---- */

/* Most flows of any of the group's collectives, and most of any phase. */
static void count_flows(const struct group_driver *driver, size_t *most, size_t *most_at_once)
{
    uint32_t count;
    const struct collective_flows *const *sets =
        assignment_all_flows(driver->run->program, (uint32_t)(driver->group - driver->run->program->groups), &count);
    *most = *most_at_once = 0;
    for (uint32_t i = 0; i < count; i++) {
        *most = sets[i]->count > *most ? sets[i]->count : *most;
        for (size_t first = 0, end; first < sets[i]->count; first = end) {
            end = collective_phase_end(sets[i], first);
            *most_at_once = end - first > *most_at_once ? end - first : *most_at_once;
        }
    }
}

static void members_init(struct group_driver *driver, uint32_t group, const uint32_t *ranks)
{
    for (uint32_t i = 0; i < driver->member_count; i++) {
        struct member *member = &driver->members[i];
        *member = (struct member){.number = ranks[i], .rank = run_rank(driver->run, ranks[i])};
        if (!member->rank)
            continue;
        uint32_t stream = position_group_stream(member->rank->position, group);
        member->rank->drivers[stream] = driver;
        member->first = member->rank->position->streams[stream].first;
        driver->simulated_count++;
        driver->lead = member;
    }
}

/* NULL when no member is simulated. */
static struct group_driver *driver_create(struct run *run, uint32_t group, uint32_t instance)
{
    struct group_driver *driver = arena_alloc(run->arena, sizeof *driver);
    *driver = (struct group_driver){.run = run, .group = &run->program->groups[group]};
    driver->member_count = group_size(run->program, driver->group);
    driver->members = arena_array(run->arena, driver->member_count, sizeof *driver->members);
    uint32_t *ranks = arena_array(run->arena, driver->member_count, sizeof *ranks);
    group_ranks(run->program, driver->group, instance, ranks);
    members_init(driver, group, ranks);
    if (driver->simulated_count == 0)
        return NULL;
    driver->overlap_share = overlap_share(run->platform, run->hosts, ranks, driver->member_count);
    driver->arrived = arena_array(run->arena, driver->group->collective_count, sizeof *driver->arrived);
    driver->wake = sg_sem_init(0);
    size_t flows, at_once;
    count_flows(driver, &flows, &at_once);
    driver->latencies = arena_array(run->arena, flows + 1, sizeof *driver->latencies);
    driver->bundle_count = at_once <= BUNDLE_FLOWS ? 1 : (uint32_t)((at_once + BUNDLE_FLOWS - 1) / BUNDLE_FLOWS);
    driver->bundles = arena_array(run->arena, driver->bundle_count, sizeof *driver->bundles);
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
            driver->number = drivers.count;
            drivers.items[drivers.count++] = driver;
        }
    }
    return drivers;
}

uint32_t drivers_actor_count(const struct drivers *drivers)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < drivers->count; i++)
        count += 2 * drivers->items[i]->bundle_count;
    return count;
}

void driver_start(struct group_driver *driver)
{
    struct run *run = driver->run;
    uint32_t host = run->hosts[driver->lead->number];
    for (uint32_t i = 0; i < driver->bundle_count; i++) {
        struct bundle *bundle = &driver->bundles[i];
        void *target = bridge_target_start(run->platform, host);
        *bundle = (struct bundle){.driver = driver, .index = i, .target = target, .box = run_mailbox(run, target)};
        if (i == 0)
            continue; /* served by the driver itself */
        bundle->go = sg_sem_init(0);
        bridge_actor_start(run->platform, host, bundle_actor, bundle);
    }
    bridge_actor_start(run->platform, host, driver_actor, driver);
}
