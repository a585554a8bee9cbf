/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives on SimGrid whose members go on by themselves: an actor for each, ghosts included, walks along the flows
 * that the member has part in, phase after phase. A flow begins when both its members have come to it: one sends, the
 * other receives, over a mailbox that the first of the two takes for it. */
#include "simulator/collectives/arrivals.h"
#include "simulator/engines/simgrid/bridge.h"
#include "simulator/engines/simgrid/run.h"

#include "base/arena.h"

#include <math.h>
#include <simgrid/engine.h>

#include "simulator/engines/simgrid/services.h"

/* All members of a set wait for each other. */
struct meeting_point {
    struct member **members;
    uint32_t size, count;
    uint32_t passed; /* how often all have met */
    double latest, result;
};

/* A mailbox for two. */
struct spare_box {
    void *mailbox;
    struct spare_box *next;
};

/* Of a chain, see arrivals.h. */
struct link_state {
    double begun, origin, finished;
    uint32_t starts, ends; /* how often it has begun, and is known to have ended */
};

/* A set of flows as the members see it. */
struct member_flows {
    const struct collective_flows *flows;
    size_t *first;                /* [member]: into own, and one more */
    size_t *own;                  /* flows that a member has part in, in the order of phases */
    struct spare_box **boxes;     /* [flow]: where one of its members waits for the other */
    double *latencies;            /* [flow]: NaN: not looked up */
    struct link_state *links;     /* [flow] of a chain */
    struct meeting_point **rings; /* [phase * members + member] of rings */
    struct member_flows *next;
};

/* What a member carries out. */
struct part {
    struct member *member;
    struct member_flows *state;
    struct collective_choice choice;
    double bytes, repeats;
};

/* ---- waiting ---- */

static void member_sleep(struct member *member)
{
    member->asleep = true;
    sg_sem_acquire(member->wake);
}

/* Members of a group apart as well: they begin to send at one moment more often than others. */
static void stagger(const struct member *member)
{
    const struct group_driver *driver = member->driver;
    run_stagger_group(driver->run, driver->number + (uint32_t)(member - driver->members));
}

/* Returns the largest value that any of the members brings. */
static double meet(struct meeting_point *point, struct member *member, double value)
{
    uint32_t passed = point->passed;
    point->latest = point->count ? fmax(point->latest, value) : value;
    if (++point->count == point->size) {
        point->result = point->latest;
        point->count = 0;
        point->passed++;
        for (uint32_t i = 0; i < point->size; i++)
            member_wake(point->members[i]);
    }
    while (point->passed == passed)
        member_sleep(member);
    return point->result;
}

/* ---- flows ---- */

static double route_latency(const struct part *part, size_t index)
{
    return flow_latency(part->member->driver, &part->state->flows->items[index], &part->state->latencies[index]);
}

static enum platform_scope route_scope(const struct part *part, size_t index)
{
    return flow_scope(part->member->driver, &part->choice, &part->state->flows->items[index]);
}

static double latency_ratio(const struct part *part, size_t index)
{
    return platform_latency_ratio(&part->choice.ratios, route_scope(part, index), route_latency(part, index));
}

/* What a flow takes beside its transfer: the start-ups that it stands for, but for one. */
static double further(const struct part *part, size_t index)
{
    double steps = fmax(1, part->state->flows->items[index].steps * latency_ratio(part, index));
    return (part->repeats * steps - 1) * route_latency(part, index);
}

/* Makes sure that there is a mailbox to take; others may run meanwhile. */
static void provide_box(struct run *run)
{
    while (!run->boxes) {
        struct spare_box *box = arena_alloc(run->arena, sizeof *box);
        box->mailbox = run_mailbox(run, NULL);
        box->next = run->boxes;
        run->boxes = box;
    }
}

static void begin_link(const struct part *part, size_t index, double both)
{
    struct link_state *link = &part->state->links[index];
    const struct collective_phase_flow *flow = &part->state->flows->items[index];
    double origin = both - arrivals_before(index, flow, latency_ratio(part, index)) * route_latency(part, index);
    link->begun = index ? fmax(link[-1].begun, both) : both;
    link->origin = index ? fmax(link[-1].origin, origin) : origin;
    link->starts++;
    member_wake(&part->member->driver->members[flow->to]);
}

/* Both members have come to the flow. */
static void begin_flow(const struct part *part, size_t index)
{
    const struct collective_phase_flow *flow = &part->state->flows->items[index];
    struct member *from = &part->member->driver->members[flow->from], *to = &part->member->driver->members[flow->to];
    double both = fmax(from->ready, to->ready);
    if (part->state->links) {
        begin_link(part, index, both);
        both = part->state->links[index].begun;
    }
    member_moves(from, both);
    member_moves(to, both);
    part->member->driver->run->activities++;
}

static void *post(const struct part *part, size_t index, const struct spare_box *box)
{
    const struct collective_phase_flow *flow = &part->state->flows->items[index];
    if (&part->member->driver->members[flow->to] == part->member)
        return bridge_receive(box->mailbox);
    double bytes = flow->share * part->bytes / part->choice.ratios.efficiency[route_scope(part, index)];
    return bridge_send(box->mailbox, bytes > 0 ? bytes : EMPTY_MESSAGE_BYTES);
}

/* The member does its part of a flow, to send or to receive; the result is to be waited for. */
static void *come(const struct part *part, size_t index)
{
    struct run *run = part->member->driver->run;
    provide_box(run);
    struct spare_box *box = part->state->boxes[index];
    if (!box) {
        box = part->state->boxes[index] = run->boxes;
        run->boxes = box->next;
        return post(part, index, box);
    }
    part->state->boxes[index] = NULL;
    void *comm = post(part, index, box);
    box->next = run->boxes;
    run->boxes = box;
    begin_flow(part, index);
    return comm;
}

/* ---- phase after phase ---- */

/* Flows first .. end - 1 of the member's own. Returns when they have ended. */
static double run_phase(const struct part *part, size_t first, size_t end)
{
    struct member *member = part->member;
    double latest = member->ready;
    for (size_t i = first; i < end; i++)
        member->comms[i - first] = come(part, part->state->own[i]);
    for (size_t i = first; i < end; i++)
        latest = fmax(latest, bridge_wait(member->comms[i - first]) + further(part, part->state->own[i]));
    sleep_until(latest);
    return latest;
}

static double run_phases(const struct part *part)
{
    const struct member_flows *state = part->state;
    struct member *member = part->member;
    uint32_t number = (uint32_t)(member - member->driver->members);
    for (size_t i = state->first[number], end; i < state->first[number + 1]; i = end) {
        uint32_t phase = state->flows->items[state->own[i]].phase;
        struct meeting_point *ring =
            state->rings ? state->rings[(size_t)phase * member->driver->member_count + number] : NULL;
        for (end = i; end < state->first[number + 1] && state->flows->items[state->own[end]].phase == phase;)
            end++;
        if (ring)
            member->ready = meet(ring, member, member->ready);
        member->ready = run_phase(part, i, end);
        if (ring)
            member->ready = meet(ring, member, member->ready);
    }
    return member->ready;
}

/* ---- chains ---- */

/* The flow to the member: its end counts when that of the flow before it does. */
static double end_incoming(const struct part *part, size_t index, uint32_t ends, void *comm)
{
    struct link_state *link = &part->state->links[index];
    double end = bridge_wait(comm);
    while (link->ends == ends)
        member_sleep(part->member);
    double behind = arrivals_behind(index, &part->state->flows->items[index], latency_ratio(part, index)) *
                    route_latency(part, index);
    return fmax(end, link->finished - behind);
}

static double end_outgoing(const struct part *part, size_t index, void *comm)
{
    struct link_state *link = &part->state->links[index];
    const struct collective_phase_flow *flow = &part->state->flows->items[index];
    double end = bridge_wait(comm),
           behind = arrivals_behind(index, flow, latency_ratio(part, index)) * route_latency(part, index);
    link->finished = end + further(part, index) - (link->begun - link->origin);
    if (index)
        link->finished = fmax(link->finished, link[-1].finished);
    link->ends++;
    member_wake(&part->member->driver->members[flow->to]);
    return fmax(end, link->finished - behind);
}

static double run_chain(const struct part *part)
{
    const struct member_flows *state = part->state;
    struct member *member = part->member;
    uint32_t number = (uint32_t)(member - member->driver->members);
    size_t in = SIZE_MAX, out = SIZE_MAX;
    for (size_t i = state->first[number]; i < state->first[number + 1]; i++)
        *(state->flows->items[state->own[i]].to == number ? &in : &out) = state->own[i];
    void *incoming = NULL, *outgoing = NULL;
    uint32_t ends = 0;
    double end = member->ready;
    if (in != SIZE_MAX) {
        struct link_state *link = &state->links[in];
        uint32_t starts = link->starts;
        ends = link->ends;
        incoming = come(part, in);
        while (link->starts == starts)
            member_sleep(member);
    }
    if (out != SIZE_MAX)
        outgoing = come(part, out);
    if (incoming)
        end = fmax(end, end_incoming(part, in, ends, incoming));
    if (outgoing)
        end = fmax(end, end_outgoing(part, out, outgoing));
    sleep_until(end);
    return end;
}

/* ---- the actors ---- */

static struct part part_of(struct member *member, uint32_t index)
{
    const struct program *program = member->driver->run->program;
    const struct member *alike = member->alike;
    const struct operation *operation = &alike->rank->position->operations[alike->first + index];
    const struct stagesim_cost *cost = operation_cost(program, operation);
    uint32_t group = (uint32_t)(member->driver->group - program->groups);
    const struct collective_flows *flows = assignment_flows(program, group, operation);
    struct part part = {member, member->driver->member_flows, assignment_choose(program, group, operation), cost->bytes,
                        fmax(cost->repeats, 1)};
    while (part.state && part.state->flows != flows)
        part.state = part.state->next;
    return part;
}

static void carry_out(const struct part *part, uint32_t index)
{
    struct member *member = part->member;
    const struct collective_flows *flows = part->state->flows;
    double delay = part->repeats * part->choice.delay;
    member->ready = simgrid_get_clock() + delay;
    sleep_until(member->ready);
    stagger(member);
    double end = flows->start == START_CHAIN ? run_chain(part) : run_phases(part);
    if (!flows->ends_apart)
        end = meet(member->driver->all, member, end);
    if (member->rank)
        member_record(member, index, end);
    member_leave(member, end);
    if (member->rank)
        operation_done(member->rank, member->first + index);
}

static void member_actor(void *argument)
{
    struct member *member = argument;
    struct group_driver *driver = member->driver;
    run_await_beginning(driver->run);
    for (uint32_t index = 0; index < driver->group->collective_count; index++) {
        while (!operation_ready(member->alike->rank, member->alike->first + index))
            member_sleep(member);
        struct part part = part_of(member, index);
        if (part.state) {
            carry_out(&part, index);
            continue;
        }
        driver_arrive(driver, member, index);
        while (driver->ended <= index)
            member_sleep(member);
    }
}

/* ---- setting up ---- */

static void list_own(struct member_flows *state, uint32_t members, struct arena *arena)
{
    const struct collective_flows *flows = state->flows;
    state->first = arena_array(arena, members + (size_t)2, sizeof *state->first);
    state->own = arena_array(arena, 2 * flows->count + 1, sizeof *state->own);
    for (size_t i = 0; i < flows->count; i++) {
        state->first[flows->items[i].from + 2]++;
        state->first[flows->items[i].to + 2]++;
    }
    for (uint32_t m = 0; m < members; m++)
        state->first[m + 2] += state->first[m + 1];
    for (size_t i = 0; i < flows->count; i++) {
        state->own[state->first[flows->items[i].from + 1]++] = i;
        state->own[state->first[flows->items[i].to + 1]++] = i;
    }
}

/* Most flows of a member in a phase. */
static size_t most_at_once(const struct member_flows *state, uint32_t members)
{
    size_t most = 0;
    for (uint32_t m = 0; m < members; m++)
        for (size_t i = state->first[m], first = i; i < state->first[m + 1]; i++) {
            if (state->flows->items[state->own[i]].phase != state->flows->items[state->own[first]].phase)
                first = i;
            most = i + 1 - first > most ? i + 1 - first : most;
        }
    return most;
}

static struct meeting_point *point_create(const struct group_driver *driver, uint32_t size)
{
    struct meeting_point *point = arena_alloc(driver->run->arena, sizeof *point);
    point->members = arena_array(driver->run->arena, size, sizeof(struct member *));
    return point;
}

static void point_add(struct meeting_point *point, struct member *member)
{
    point->members[point->size++] = member;
}

/* The rings of one phase: every member sends to its successor. */
static void find_rings(struct group_driver *driver, const struct collective_flows *flows, size_t first, size_t end,
                       struct meeting_point **rings)
{
    uint32_t *successor = arena_array(driver->run->arena, driver->member_count, sizeof *successor);
    for (size_t i = first; i < end; i++)
        successor[flows->items[i].from] = flows->items[i].to;
    for (size_t i = first; i < end; i++) {
        uint32_t m = flows->items[i].from;
        struct meeting_point *ring = rings[m] ? NULL : point_create(driver, driver->member_count);
        for (; !rings[m]; m = successor[m]) {
            rings[m] = ring;
            point_add(ring, &driver->members[m]);
        }
    }
}

static struct member_flows *flows_create(struct group_driver *driver, const struct collective_flows *flows)
{
    struct arena *arena = driver->run->arena;
    struct member_flows *state = arena_alloc(arena, sizeof *state);
    *state = (struct member_flows){.flows = flows, .next = driver->member_flows};
    list_own(state, driver->member_count, arena);
    state->boxes = arena_array(arena, flows->count, sizeof(struct spare_box *));
    state->latencies = arena_array(arena, flows->count, sizeof *state->latencies);
    for (size_t i = 0; i < flows->count; i++)
        state->latencies[i] = NAN;
    if (flows->start == START_CHAIN)
        state->links = arena_array(arena, flows->count, sizeof *state->links);
    if (flows->start == START_RINGS)
        state->rings = arena_array(arena, (size_t)flows->phases * driver->member_count, sizeof(struct meeting_point *));
    for (size_t first = 0, end; state->rings && first < flows->count; first = end) {
        end = collective_phase_end(flows, first);
        find_rings(driver, flows, first, end, &state->rings[(size_t)flows->items[first].phase * driver->member_count]);
    }
    return state;
}

void members_create(struct group_driver *driver)
{
    uint32_t count;
    size_t most = 1;
    struct run *run = driver->run;
    const struct collective_flows *const *sets =
        assignment_all_flows(run->program, (uint32_t)(driver->group - run->program->groups), &count);
    for (uint32_t i = 0; i < count; i++) {
        if (!collective_goes_by_members(sets[i]))
            continue;
        driver->member_flows = flows_create(driver, sets[i]);
        size_t own = most_at_once(driver->member_flows, driver->member_count);
        most = own > most ? own : most;
    }
    driver->all = point_create(driver, driver->member_count);
    for (uint32_t m = 0; m < driver->member_count; m++) {
        point_add(driver->all, &driver->members[m]);
        driver->members[m].comms = arena_array(run->arena, most, sizeof(void *));
        driver->members[m].wake = sg_sem_init(0);
    }
}

void members_start(struct group_driver *driver)
{
    for (uint32_t m = 0; m < driver->member_count; m++)
        bridge_actor_start(driver->run->site, driver->run->places[driver->members[m].number], member_actor,
                           &driver->members[m]);
}
