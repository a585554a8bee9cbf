/* SPDX-License-Identifier: Apache-2.0 */
/* Slack by a backward pass: operations are settled once all that follows them is, beginning with those that nothing
 * follows. The members of a collective that end together are settled together, others when those are on whose end they
 * bear. */
#include "analysis/figures/critical_path.h"
#include "analysis/figures/partner.h"
#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

struct member {
    uint32_t entry;
    uint32_t first; /* id of its first collective in the group */
};

/* Simulated ranks of one instance of a group, and what is known of its collectives. */
struct gathering {
    size_t first_member, member_count;
    size_t first_event; /* into events: one per collective */
};

/* Members of a collective that do not end together. */
struct order {
    uint32_t *by_end;   /* members, the one that ends last first */
    uint32_t *by_start; /* those that bear on fewest first: the last to arrive */
    bool *ready;        /* [member]: all that follows it is settled */
    uint32_t passed;    /* of by_end, ready from the first on */
    uint32_t settled;   /* of by_start */
};

struct event {
    uint32_t pending; /* members that are not settled yet */
    double slack;     /* the least of those that are ready; of an order: of those passed */
    double end;       /* of the members so far */
    bool apart;
    struct order *order; /* NULL: none, or nobody is ready yet */
};

struct backward {
    const struct timeline *timeline;
    double **slack;
    uint32_t **followers; /* [entry][id]: not settled yet */
    struct critical_step *stack;
    size_t stacked, settled;
    size_t *group_first;  /* [group]: index of instance 0 in gatherings */
    uint32_t **instances; /* [entry][stream] */
    struct gathering *gatherings;
    struct member *members;
    struct event *events;
};

static void *allocate(size_t count, size_t size)
{
    size_t none = 0;
    return array_grow(NULL, &none, count ? count : 1, size);
}

static struct gathering *gathering_of(const struct backward *pass, uint32_t entry, const struct stream *stream)
{
    size_t number = (size_t)(stream - timeline_position(pass->timeline, entry)->streams);
    return &pass->gatherings[pass->group_first[stream->peer] + pass->instances[entry][number]];
}

/* ---- setting up ---- */

/* Calls visit for every collective stream of every simulated rank. */
static void each_membership(struct backward *pass, void (*visit)(struct backward *pass, struct gathering *gathering,
                                                                 uint32_t entry, const struct stream *stream))
{
    for (uint32_t entry = 0; entry < pass->timeline->rank_count; entry++) {
        const struct position *position = timeline_position(pass->timeline, entry);
        for (uint32_t i = 1; i < position->stream_count; i++)
            if (position->streams[i].type == OPERATION_COLLECTIVE)
                visit(pass, gathering_of(pass, entry, &position->streams[i]), entry, &position->streams[i]);
    }
}

static void count_member(struct backward *pass, struct gathering *gathering, uint32_t entry,
                         const struct stream *stream)
{
    (void)pass, (void)entry, (void)stream;
    gathering->member_count++;
}

static void list_member(struct backward *pass, struct gathering *gathering, uint32_t entry, const struct stream *stream)
{
    pass->members[gathering->first_member + gathering->member_count++] = (struct member){entry, stream->first};
    for (uint32_t k = 0; k < stream->count; k++) {
        struct event *event = &pass->events[gathering->first_event + k];
        double end = pass->timeline->moments[entry][stream->first + k].end;
        event->apart |= event->pending && (end < event->end || end > event->end);
        event->end = end;
        event->pending++;
    }
}

static void gather(struct backward *pass)
{
    const struct program *program = pass->timeline->program;
    size_t gatherings = 0, members = 0, events = 0;
    pass->group_first = allocate(program->group_count, sizeof *pass->group_first);
    for (uint32_t g = 0; g < program->group_count; g++) {
        pass->group_first[g] = gatherings;
        gatherings += group_instances(program, &program->groups[g]);
    }
    pass->gatherings = allocate(gatherings, sizeof *pass->gatherings);
    for (size_t i = 0; i < gatherings; i++)
        pass->gatherings[i] = (struct gathering){0, 0, 0};
    each_membership(pass, count_member);
    for (uint32_t g = 0, i = 0; g < program->group_count; g++) {
        for (; i < gatherings && (g + 1 == program->group_count || i < pass->group_first[g + 1]); i++) {
            struct gathering *gathering = &pass->gatherings[i];
            gathering->first_member = members;
            gathering->first_event = events;
            members += gathering->member_count;
            events += gathering->member_count ? program->groups[g].collective_count : 0;
            gathering->member_count = 0;
        }
    }
    pass->members = allocate(members, sizeof *pass->members);
    pass->events = allocate(events, sizeof *pass->events);
    for (size_t i = 0; i < events; i++)
        pass->events[i] = (struct event){.slack = INFINITY};
    each_membership(pass, list_member);
}

static uint32_t count_followers(const struct position *position, uint32_t id)
{
    const struct stream *stream = &position->streams[position->operations[id].stream];
    uint32_t count = position->first_dependent[id + 1] - position->first_dependent[id];
    count += id + 1 < stream->first + stream->count;
    return count + (stream->type == OPERATION_SEND);
}

/* ---- the pass ---- */

static void push(struct backward *pass, uint32_t entry, uint32_t id)
{
    pass->stack[pass->stacked++] = (struct critical_step){.entry = entry, .id = id};
}

/* A follower with that slack begins (or ends) `gap` after this operation's end. */
static void bound(struct backward *pass, uint32_t entry, uint32_t id, double slack, double gap)
{
    double most = slack + fmax(gap, 0);
    if (most < pass->slack[entry][id])
        pass->slack[entry][id] = most;
    if (pass->followers[entry][id] && --pass->followers[entry][id] == 0)
        push(pass, entry, id);
}

/* Bounds what comes before operation `id`, whose begin may move by its slack; `begin` is when it needs what it waits
 * for. */
static void bound_before(struct backward *pass, uint32_t entry, uint32_t id, double slack, double begin)
{
    const struct position *position = timeline_position(pass->timeline, entry);
    const struct operation *operation = &position->operations[id];
    const struct moment *moments = pass->timeline->moments[entry];
    if (id > position->streams[operation->stream].first)
        bound(pass, entry, id - 1, slack,
              begin + timeline_send_latency(pass->timeline, entry, operation) - moments[id - 1].end);
    for (uint32_t i = 0; i < operation_wait_count(operation); i++) {
        uint32_t awaited = operation_wait(position, operation, i);
        bound(pass, entry, awaited, slack, begin - moments[awaited].end);
    }
}

/* A member's collective may end that much later. */
static void settle_member(struct backward *pass, const struct member *member, uint32_t number, double slack)
{
    uint32_t id = member->first + number;
    pass->slack[member->entry][id] = slack;
    bound_before(pass, member->entry, id, slack, pass->timeline->moments[member->entry][id].data_start);
}

/* ---- members that end apart ---- */

struct ranked {
    double time;
    uint32_t member;
};

static int latest_first(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->time < b->time || a->time > b->time)
        return a->time > b->time ? -1 : 1;
    return (a->member > b->member) - (a->member < b->member);
}

static const struct moment *member_moment(const struct backward *pass, const struct gathering *gathering,
                                          uint32_t member, uint32_t number)
{
    const struct member *who = &pass->members[gathering->first_member + member];
    return &pass->timeline->moments[who->entry][who->first + number];
}

static uint32_t *rank_members(const struct backward *pass, const struct gathering *gathering, uint32_t number,
                              bool by_end)
{
    uint32_t count = (uint32_t)gathering->member_count, *members = allocate(count, sizeof *members);
    struct ranked *ranked = allocate(count, sizeof *ranked);
    for (uint32_t i = 0; i < count; i++) {
        const struct moment *moment = member_moment(pass, gathering, i, number);
        ranked[i] = (struct ranked){by_end ? moment->end : moment->start, i};
    }
    qsort(ranked, count, sizeof *ranked, latest_first);
    for (uint32_t i = 0; i < count; i++)
        members[i] = ranked[i].member;
    free(ranked);
    return members;
}

static struct order *order_create(const struct backward *pass, const struct gathering *gathering, uint32_t number)
{
    struct order *order = allocate(1, sizeof *order);
    *order = (struct order){.by_end = rank_members(pass, gathering, number, true),
                            .by_start = rank_members(pass, gathering, number, false),
                            .ready = array_zeroed(gathering->member_count, sizeof *order->ready)};
    return order;
}

static void order_destroy(struct order *order)
{
    free(order->by_end);
    free(order->by_start);
    free(order->ready);
    free(order);
}

/* Settles members that bear on none but those passed. */
static void settle_passed(struct backward *pass, const struct gathering *gathering, struct event *event,
                          uint32_t number)
{
    struct order *order = event->order;
    uint32_t count = (uint32_t)gathering->member_count;
    while (order->settled < count) {
        uint32_t member = order->by_start[order->settled];
        if (order->passed < count &&
            moment_bears_on(member_moment(pass, gathering, member, number),
                            member_moment(pass, gathering, order->by_end[order->passed], number)))
            return;
        order->settled++;
        settle_member(pass, &pass->members[gathering->first_member + member], number, event->slack);
    }
}

/* One after the other is passed, from the one that ends last on, as far as they are ready. */
static void settle_apart(struct backward *pass, const struct gathering *gathering, struct event *event, uint32_t entry,
                         uint32_t number)
{
    uint32_t count = (uint32_t)gathering->member_count;
    if (!event->order)
        event->order = order_create(pass, gathering, number);
    struct order *order = event->order;
    for (uint32_t i = 0; i < count; i++)
        order->ready[i] |= pass->members[gathering->first_member + i].entry == entry;
    while (order->passed < count && order->ready[order->by_end[order->passed]]) {
        const struct member *member = &pass->members[gathering->first_member + order->by_end[order->passed++]];
        event->slack = fmin(event->slack, pass->slack[member->entry][member->first + number]);
        settle_passed(pass, gathering, event, number);
    }
    if (order->settled == count) {
        order_destroy(order);
        event->order = NULL;
    }
}

static void settle_collective(struct backward *pass, uint32_t entry, uint32_t id, const struct stream *stream)
{
    const struct gathering *gathering = gathering_of(pass, entry, stream);
    uint32_t number = id - stream->first;
    struct event *event = &pass->events[gathering->first_event + number];
    if (event->apart) {
        settle_apart(pass, gathering, event, entry, number);
        return;
    }
    event->slack = fmin(event->slack, pass->slack[entry][id]);
    if (--event->pending)
        return;
    for (size_t i = 0; i < gathering->member_count; i++)
        settle_member(pass, &pass->members[gathering->first_member + i], number, event->slack);
}

static void settle(struct backward *pass, uint32_t entry, uint32_t id)
{
    const struct timeline *timeline = pass->timeline;
    const struct position *position = timeline_position(timeline, entry);
    const struct stream *stream = &position->streams[position->operations[id].stream];
    const struct moment *moment = &timeline->moments[entry][id];
    double slack = pass->slack[entry][id];
    pass->settled++;
    if (stream->type == OPERATION_COLLECTIVE) {
        settle_collective(pass, entry, id, stream);
    } else if (stream->type == OPERATION_RECEIVE) { /* posting it later does no harm until its data arrive */
        uint32_t sender = timeline->index_of[partner_rank(timeline->program, timeline->ranks[entry], stream)];
        uint32_t send = partner_id(timeline->program, stream, id);
        bound(pass, sender, send, slack, moment->end - timeline->moments[sender][send].end);
        bound_before(pass, entry, id, slack, moment->end);
    } else {
        bound_before(pass, entry, id, slack, moment->start);
    }
}

static size_t begin(struct backward *pass, double end)
{
    size_t operations = 0;
    for (uint32_t entry = 0; entry < pass->timeline->rank_count; entry++)
        operations += timeline_position(pass->timeline, entry)->operation_count;
    pass->stack = allocate(operations, sizeof *pass->stack);
    pass->slack[0] = allocate(operations, sizeof **pass->slack);
    pass->followers[0] = allocate(operations, sizeof **pass->followers);
    size_t offset = 0;
    for (uint32_t entry = 0; entry < pass->timeline->rank_count; entry++) {
        const struct position *position = timeline_position(pass->timeline, entry);
        pass->slack[entry] = pass->slack[0] + offset;
        pass->followers[entry] = pass->followers[0] + offset;
        offset += position->operation_count;
        for (uint32_t id = 0; id < position->operation_count; id++) {
            pass->slack[entry][id] = fmax(0, end - pass->timeline->moments[entry][id].end);
            pass->followers[entry][id] = count_followers(position, id);
            if (!pass->followers[entry][id])
                push(pass, entry, id);
        }
    }
    return operations;
}

double **slack_create(const struct frame *frame)
{
    struct backward pass = {.timeline = frame->timeline};
    pass.slack = allocate(frame->timeline->rank_count, sizeof(double *));
    pass.followers = allocate(frame->timeline->rank_count, sizeof(uint32_t *));
    pass.instances = timeline_instances(frame->timeline);
    gather(&pass);
    double end = 0;
    for (uint32_t iteration = 0; iteration < frame->timeline->program->iterations; iteration++)
        end = fmax(end, frame->ends[iteration]);
    size_t operations = begin(&pass, end);
    while (pass.stacked) {
        struct critical_step at = pass.stack[--pass.stacked];
        settle(&pass, at.entry, at.id);
    }
    free(pass.events);
    free(pass.members);
    free(pass.gatherings);
    free(pass.group_first);
    free(pass.instances);
    free(pass.followers[0]);
    free(pass.followers);
    free(pass.stack);
    if (pass.settled == operations)
        return pass.slack;
    slack_destroy(pass.slack);
    return NULL;
}

void slack_destroy(double **slack)
{
    if (!slack)
        return;
    free(slack[0]);
    free(slack);
}
