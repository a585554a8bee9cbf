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

static void move_to_ends(const struct bundle *bundle, const struct collective_phase_flow *flow, size_t index)
{
    const struct group_driver *driver = bundle->driver;
    const struct class_flows *classes = driver->classes;
    const struct run *run = driver->run;
    uint32_t from = classes ? classes->from[index] : run->places[driver->members[flow->from].number];
    uint32_t to = classes ? classes->to[index] : run->places[driver->members[flow->to].number];
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
        double steps = fmax(1, flow.steps * driver->choice.ratios.latency[flow_scope(driver, &driver->choice, &flow)]);
        sg_mailbox_get(bundle->box);
        driver->end = fmax(driver->end, end + (driver->repeats * steps - 1) *
                                                  flow_latency(driver, &flow, &driver->latencies[index]));
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

void sleep_until(double time)
{
    if (time > simgrid_get_clock())
        sg_actor_sleep_for(time - simgrid_get_clock());
}

static void stagger(const struct group_driver *driver)
{
    run_stagger(driver->run, STAGGER_MESSAGES + driver->number % STAGGER_GROUPS);
}

/* A bundle with its target; with an actor of its own, or served by the driver. */
static struct bundle *bundle_start(struct group_driver *driver, bool own_actor)
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

/* A member has come, and its ghosts, which have no actors to say so. */
static void enqueue_all(struct group_driver *driver, struct member *member)
{
    for (struct member *each = member; each; each = driver->acting ? NULL : each->next_ghost)
        if (isnan(each->came))
            enqueue(driver, each);
}

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
            enqueue_all(driver, &driver->members[i]);
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

static void driver_actor(void *argument)
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

void driver_arrive(struct group_driver *driver, struct member *member, uint32_t index)
{
    driver->arrived[index]++;
    member->at = index + 1;
    if (index != driver->current)
        return;
    if (driver->by_pairs)
        enqueue_all(driver, member);
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

/* ---- setting up ---- */

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
