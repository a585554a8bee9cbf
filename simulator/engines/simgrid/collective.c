/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives on SimGrid: one driver per group instance waits until members are ready, all of them or pair by pair, and
 * runs the flows. To start a flow an actor moves itself to the sending host and the target of its messages to the
 * receiving one. */
#include "simulator/engines/overlap.h"
#include "simulator/engines/simgrid/bridge.h"
#include "simulator/engines/simgrid/run.h"

#include "base/arena.h"

#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <stdlib.h>

#include "simulator/engines/simgrid/services.h"

static const struct operation *operation_of(const struct group_driver *driver, uint32_t index)
{
    return &driver->lead->rank->position->operations[driver->lead->first + index];
}

/* With the members that it is between, where it stands for a class as well. */
static struct collective_phase_flow own_flow(const struct group_driver *driver, size_t index)
{
    return driver->classes ? collective_flow_at(driver->classes->all, driver->classes->number[index])
                           : collective_flow_at(driver->flows, index);
}

/* Where the flows of a member begin and end. */
static uint32_t place_of(const struct group_driver *driver, uint32_t member)
{
    return driver->stands ? driver->stands + member : driver->run->places[driver->members[member].number];
}

static void move_to_ends(const struct bundle *bundle, const struct collective_phase_flow *flow, size_t index)
{
    const struct group_driver *driver = bundle->driver;
    const struct class_flows *classes = driver->classes;
    const struct run *run = driver->run;
    uint32_t from = classes ? classes->from[index] : place_of(driver, flow->from);
    uint32_t to = classes ? classes->to[index] : place_of(driver, flow->to);
    bridge_target_move(run->site, bundle->target, to);
    bridge_actor_move(run->site, from);
}

static void *start_flow(struct bundle *bundle, size_t index)
{
    struct group_driver *driver = bundle->driver;
    struct collective_phase_flow flow = own_flow(driver, index);
    double bytes =
        flow.share * driver->bytes / driver->choice.ratios.efficiency[flow_scope(driver, &driver->choice, &flow)];
    move_to_ends(bundle, &flow, index);
    driver->run->activities++;
    return bridge_send(bundle->box, bytes > 0 ? bytes : EMPTY_MESSAGE_BYTES);
}

/* Starts and awaits its flows of the current collective. */
static void run_bundle(struct bundle *bundle)
{
    struct group_driver *driver = bundle->driver;
    void *comms[BUNDLE_FLOWS];
    for (size_t i = bundle->first; i < bundle->last; i++)
        comms[i - bundle->first] = start_flow(bundle, driver->by_pairs ? driver->order[i] : i);
    for (size_t i = bundle->first; i < bundle->last; i++) {
        size_t index = driver->by_pairs ? driver->order[i] : i;
        struct collective_phase_flow flow = own_flow(driver, index);
        double end = bridge_wait(comms[i - bundle->first]);
        double latency = flow_latency(driver, &flow, &driver->latencies[index]);
        double steps =
            fmax(1, flow.steps * platform_latency_ratio(&driver->choice.ratios,
                                                        flow_scope(driver, &driver->choice, &flow), latency));
        sg_mailbox_get(bundle->box);
        driver->end = fmax(driver->end, end + (driver->repeats * steps - 1) * latency);
    }
    if (bundle->go) {
        bundle->next = driver->free_bundles;
        driver->free_bundles = bundle;
    }
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

static void stagger(const struct group_driver *driver)
{
    run_stagger_group(driver->run, driver->number);
}

struct bundle *bundle_start(struct group_driver *driver, bool own_actor)
{
    struct run *run = driver->run;
    struct bundle *bundle = &driver->bundles[driver->started_bundles++];
    uint32_t host = run->places[driver->lead->number];
    void *target = bridge_target_start(run->site, host);
    *bundle = (struct bundle){.driver = driver, .target = target, .box = run_mailbox(run, target)};
    if (own_actor) {
        bundle->go = sg_sem_init(0);
        bridge_actor_start(run->site, host, bundle_actor, bundle);
    }
    return bundle;
}

/* One that has nothing to do. */
static struct bundle *free_bundle(struct group_driver *driver)
{
    struct bundle *bundle = driver->free_bundles;
    if (!bundle)
        return bundle_start(driver, true);
    driver->free_bundles = bundle->next;
    return bundle;
}

/* Starts flows first .. end - 1, as many bundles at once as they need; `stay`: the driver serves one of them. */
static void start_flows(struct group_driver *driver, size_t first, size_t end, bool stay)
{
    size_t mine = stay ? first + BUNDLE_FLOWS : first;
    for (size_t from = mine; from < end; from += BUNDLE_FLOWS) {
        struct bundle *bundle = free_bundle(driver);
        bundle->first = from;
        bundle->last = from + BUNDLE_FLOWS < end ? from + BUNDLE_FLOWS : end;
        driver->running_bundles++;
        sg_sem_release(bundle->go);
    }
    if (!stay || first == end)
        return;
    driver->running_bundles++;
    driver->bundles[0].first = first;
    driver->bundles[0].last = mine < end ? mine : end;
    run_bundle(&driver->bundles[0]);
}

static void await_flows(struct group_driver *driver)
{
    while (driver->running_bundles)
        driver_sleep(driver);
    sleep_until(driver->end);
}

/* Of flows those that stand for their classes. */
static const struct class_flows *standing_flows(const struct group_driver *driver, const struct collective_flows *flows)
{
    for (uint32_t set = 0; driver->standing && set < driver->standing->set_count; set++)
        if (driver->standing->sets[set].all == flows)
            return &driver->standing->sets[set];
    return NULL;
}

static void choose(struct group_driver *driver)
{
    const struct operation *operation = operation_of(driver, driver->current);
    const struct stagesim_cost *cost = operation_cost(driver->run->program, operation);
    uint32_t group = (uint32_t)(driver->group - driver->run->program->groups);
    const struct collective_flows *flows = assignment_flows(driver->run->program, group, operation);
    driver->choice = assignment_choose(driver->run->program, group, operation);
    driver->classes = standing_flows(driver, flows);
    flows = driver->classes ? &driver->classes->flows : flows;
    driver->bytes = cost->bytes;
    driver->repeats = fmax(cost->repeats, 1);
    for (size_t flow = 0; flows && flows != driver->flows && !collective_goes_by_members(flows) && flow < flows->count;
         flow++)
        driver->latencies[flow] = NAN;
    driver->flows = flows;
    driver->by_pairs = flows && flows->start == START_PAIRS && !collective_goes_by_members(flows);
}

/* ---- members that begin together ---- */

static void run_together(struct group_driver *driver)
{
    while (driver->arrived[driver->current] < driver->expected)
        driver_sleep(driver);
    double now = simgrid_get_clock();
    for (uint32_t i = 0; i < driver->member_count; i++)
        member_moves(&driver->members[i], now);
    driver->end = now + driver->repeats * driver->choice.delay;
    if (driver->choice.delay > 0)
        sleep_until(driver->end);
    size_t count = driver->flows ? driver->flows->count : 0;
    for (size_t first = 0, end; first < count; first = end) {
        end = collective_phase_end(driver->flows, first);
        stagger(driver);
        start_flows(driver, first, end, true);
        await_flows(driver);
    }
}

/* ---- members that begin pair by pair ---- */

static bool has_come(const struct group_driver *driver, const struct member *member)
{
    return driver->acting ? member->at == driver->current + 1
                          : member->rank && operation_ready(member->rank, member->first + driver->current);
}

static void enqueue_present(struct group_driver *driver)
{
    driver->queued = driver->taken = 0;
    driver->ordered = 0;
    for (uint32_t i = 0; i < driver->member_count; i++)
        driver->members[i].came = NAN;
    for (uint32_t i = 0; i < driver->member_count; i++)
        if (has_come(driver, &driver->members[i]))
            driver_enqueue(driver, &driver->members[i]);
}

static int by_number(const void *left, const void *right)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    return (a > b) - (a < b);
}

/* Adds flow `index` to those that begin if both its members have come by `time`. */
static void add_flow(struct group_driver *driver, size_t index, double time)
{
    struct collective_phase_flow flow = collective_flow_at(driver->flows, index);
    const struct member *from = &driver->members[flow.from], *to = &driver->members[flow.to];
    if (from->came <= time && to->came <= time)
        driver->order[driver->ordered++] = index;
}

/* Both flows of a pair; those of two that come at one moment only for the lower number. */
static void add_all_to_all(struct group_driver *driver, uint32_t member, double time)
{
    size_t ranks = driver->flows->all_to_all;
    for (uint32_t other = 0; other < ranks; other++) {
        double came = driver->members[other].came;
        if (other == member || (came >= time && other < member))
            continue;
        add_flow(driver, member * (ranks - 1) + (other + ranks - member) % ranks - 1, time);
        add_flow(driver, other * (ranks - 1) + (member + ranks - other) % ranks - 1, time);
    }
}

/* Those that came at one moment: their flows with all that are there. */
static void begin_next(struct group_driver *driver)
{
    stagger(driver); /* who comes at the same moment is in the queue by then */
    double time = driver->members[driver->queue[driver->taken]].came;
    size_t first = driver->ordered;
    uint32_t from = driver->taken;
    while (driver->taken < driver->queued && driver->members[driver->queue[driver->taken]].came <= time)
        driver->taken++;
    for (uint32_t i = from; driver->flows->all_to_all && i < driver->taken; i++)
        add_all_to_all(driver, driver->queue[i], time);
    for (size_t i = 0; !driver->flows->all_to_all && i < driver->flows->count; i++) {
        struct collective_phase_flow flow = collective_flow_at(driver->flows, i);
        if (fmax(driver->members[flow.from].came, driver->members[flow.to].came) >= time)
            add_flow(driver, i, time);
    }
    if (driver->ordered > first)
        qsort(&driver->order[first], driver->ordered - first, sizeof *driver->order, by_number);
    if (driver->choice.delay > 0) {
        sleep_until(time + driver->repeats * driver->choice.delay);
        stagger(driver);
    }
    start_flows(driver, first, driver->ordered, driver->ordered == driver->flows->count);
}

static void run_pairs(struct group_driver *driver)
{
    enqueue_present(driver);
    driver->end = simgrid_get_clock();
    while (driver->ordered < driver->flows->count)
        if (driver->taken < driver->queued)
            begin_next(driver);
        else
            driver_sleep(driver);
    await_flows(driver);
}

/* ---- from one collective to the next ---- */

static void finish_collective(struct group_driver *driver)
{
    for (uint32_t i = 0; i < driver->member_count; i++) {
        if (driver->members[i].rank)
            member_record(&driver->members[i], driver->current, driver->end);
        member_leave(&driver->members[i], driver->end);
    }
    driver->ended = driver->current + 1;
    for (uint32_t i = 0; i < driver->member_count; i++) {
        if (driver->members[i].rank)
            operation_done(driver->members[i].rank, driver->members[i].first + driver->current);
        if (driver->acting)
            member_wake(&driver->members[i]);
    }
}

void driver_actor(void *argument)
{
    struct group_driver *driver = argument;
    run_await_beginning(driver->run);
    for (driver->current = 0; driver->current < driver->group->collective_count; driver->current++) {
        choose(driver);
        if (driver->flows && collective_goes_by_members(driver->flows))
            continue;
        if (driver->by_pairs)
            run_pairs(driver);
        else
            run_together(driver);
        finish_collective(driver);
    }
    driver->finished = true;
    for (uint32_t bundle = 1; bundle < driver->started_bundles; bundle++)
        sg_sem_release(driver->bundles[bundle].go);
}
