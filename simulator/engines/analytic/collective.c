/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives of the contention-free engine: as long as their flows take that share links with each other. */
#include "simulator/engines/analytic/walk.h"

#include "simulator/collectives/assignment.h"

/* ---- collectives whose members begin together ---- */

/* The flows' times on the instance's own hosts, once for each kind and algorithm. */
static struct known_flows *know(struct walk *walk, struct instance *instance, const struct collective_flows *flows)
{
    for (struct known_flows *known = instance->known; known; known = known->next)
        if (known->flows == flows)
            return known;
    uint32_t *hosts = arena_array(walk->arena, instance->rank_count, sizeof *hosts);
    for (uint32_t i = 0; i < instance->rank_count; i++)
        hosts[i] = walk->hosts[instance->ranks[i]];
    struct known_flows *known = arena_alloc(walk->arena, sizeof *known);
    *known = (struct known_flows){.flows = flows, .hosts = hosts, .next = instance->known};
    if (flows->start != START_TOGETHER)
        known->arrivals = arrivals_create(flows, instance->rank_count, walk->platform, hosts, walk->arena);
    instance->known = known;
    return known;
}

/* Of a kind and cost that the instance has not met before. */
static struct known_collective *make_known(struct walk *walk, struct instance *instance,
                                           const struct operation *operation)
{
    uint32_t group = (uint32_t)(instance->group - walk->program->groups);
    const struct stagesim_cost *cost = operation_cost(walk->program, operation);
    struct collective_choice choice = assignment_choose(walk->program, group, operation);
    double repeats = fmax(cost->repeats, 1);
    struct known_collective *known = arena_alloc(walk->arena, sizeof *known);
    *known = (struct known_collective){.collective = (int)operation->collective,
                                       .cost = operation->cost,
                                       .size = {cost->bytes, repeats, choice.ratios},
                                       .delay = walk->free ? 0 : repeats * choice.delay,
                                       .duration = NAN};
    if (choice.algorithm && !walk->free)
        known->flows = know(walk, instance, assignment_flows(walk->program, group, operation));
    return known;
}

/* What a collective is made of; one follows another of its kind mostly, and few kinds take turns. */
static struct known_collective *look_up(struct walk *walk, struct instance *instance, const struct operation *operation)
{
    struct known_collective **link = &instance->newest;
    while (*link && ((*link)->cost != operation->cost || (*link)->collective != (int)operation->collective))
        link = &(*link)->next;
    struct known_collective *known = *link;
    if (known == instance->newest && known)
        return known;
    if (known)
        *link = known->next;
    else
        known = make_known(walk, instance, operation);
    known->next = instance->newest;
    return instance->newest = known;
}

/* From the last arrival to the end of flows that start together. */
static double duration_of(struct walk *walk, struct known_collective *collective)
{
    struct known_flows *known = collective->flows;
    const struct arrivals_size *size = &collective->size;
    if (!isnan(collective->duration))
        return collective->duration;
    if (known && !known->estimated)
        known->estimate = estimate_create(known->flows, walk->platform, known->hosts, walk->arena);
    collective->duration = collective->delay;
    if (known) {
        known->estimated = true;
        collective->duration +=
            size->repeats * estimate_seconds(&known->estimate, &size->ratios, size->bytes / size->repeats);
    }
    return collective->duration;
}

/* The participant's current collective is over. */
static void end_member(struct walk *walk, struct instance *instance, uint32_t participant, double data_start,
                       double end)
{
    uint32_t index = instance->participants[participant].entry, stream = instance->participants[participant].stream;
    struct entry *entry = &walk->entries[index];
    struct cursor *cursor = &entry->cursors[stream];
    uint32_t id = cursor->next++;
    entry->times[id].data_start = fmax(entry->times[id].start, data_start);
    entry->times[id].end = cursor->free = end;
    cursor->arrived = false;
    set_off(walk, index, id);
    push(walk, index, stream);
}

static void end_all(struct walk *walk, struct instance *instance)
{
    struct known_collective *collective = instance->newest;
    double end = instance->data_start + duration_of(walk, collective);
    for (uint32_t i = 0; instance->share > 0 && i < instance->participant_count; i++)
        overlaps_take(walk->overlaps, instance->participants[i].entry, instance->data_start, end, instance->share);
    walk->timeline->activities += collective->flows ? collective->flows->flows->count : 0;
    for (uint32_t i = 0; i < instance->participant_count; i++)
        end_member(walk, instance, i, instance->data_start, end);
    instance->arrived = 0;
    instance->data_start = 0;
}

/* ---- collectives whose members begin by and by ---- */

/* That of the instance's collective `number`, a new one where nobody has come to it yet. */
static struct meeting *meeting_of(struct walk *walk, struct instance *instance, uint32_t number)
{
    struct meeting **link = &instance->meetings;
    while (*link && (*link)->number < number)
        link = &(*link)->next;
    if (*link && (*link)->number == number)
        return *link;
    struct meeting *meeting = instance->spare;
    if (meeting) {
        instance->spare = meeting->next;
    } else {
        meeting = arena_alloc(walk->arena, sizeof *meeting);
        meeting->ready = arena_array(walk->arena, instance->rank_count, sizeof *meeting->ready);
        meeting->taken = arena_array(walk->arena, instance->rank_count, sizeof *meeting->taken);
    }
    *meeting = (struct meeting){.number = number, .ready = meeting->ready, .taken = meeting->taken, .next = *link};
    for (uint32_t m = 0; m < instance->rank_count; m++)
        meeting->ready[m] = meeting->taken[m] = INFINITY;
    *link = meeting;
    return meeting;
}

static void forget_meeting(struct instance *instance, struct meeting *meeting)
{
    struct meeting **link = &instance->meetings;
    while (*link != meeting)
        link = &(*link)->next;
    *link = meeting->next;
    meeting->next = instance->spare;
    instance->spare = meeting;
}

/* Whether a participant has come to the meeting and is not done. */
static bool takes_part(const struct walk *walk, const struct instance *instance, uint32_t participant,
                       const struct meeting *meeting)
{
    const struct entry *entry = &walk->entries[instance->participants[participant].entry];
    uint32_t stream = instance->participants[participant].stream;
    const struct cursor *cursor = &entry->cursors[stream];
    return cursor->arrived && cursor->next == entry->position->streams[stream].first + meeting->number;
}

/* A participant's flows begin, and end where that is known. */
static void take_share(struct walk *walk, const struct instance *instance, struct meeting *meeting,
                       uint32_t participant, double start, double end)
{
    uint32_t entry = instance->participants[participant].entry;
    if (isinf(meeting->taken[participant]) && !isinf(start)) {
        meeting->taken[participant] = start;
        overlaps_take(walk->overlaps, entry, start, end, instance->share);
    } else if (!isinf(meeting->taken[participant]) && !isinf(end)) {
        overlaps_leave(walk->overlaps, entry, meeting->taken[participant], end, instance->share);
    }
}

/* Ends it for those of whom all is known. False: somebody is left. */
static bool evaluate_meeting(struct walk *walk, struct instance *instance, struct meeting *meeting,
                             const struct operation *operation)
{
    const struct known_collective *collective = look_up(walk, instance, operation);
    arrivals_evaluate(collective->flows->arrivals, &collective->size, meeting->ready, walk->starts, walk->ends);
    double launch = collective_goes_by_members(collective->flows->flows) ? 0 : collective->delay;
    for (uint32_t i = 0; i < instance->participant_count; i++) {
        uint32_t member = instance->participants[i].member;
        if (!takes_part(walk, instance, i, meeting))
            continue;
        if (instance->share > 0)
            take_share(walk, instance, meeting, i, walk->starts[member] - launch, walk->ends[member]);
        if (isinf(walk->ends[member]))
            continue;
        end_member(walk, instance, i, walk->starts[member] - launch, walk->ends[member]);
        meeting->ended++;
    }
    if (meeting->ended < instance->participant_count)
        return false;
    walk->timeline->activities += collective->flows->flows->count;
    forget_meeting(instance, meeting);
    return true;
}

void analytic_evaluate_instance(struct walk *walk, struct instance *instance)
{
    struct participant first = instance->participants[0];
    const struct position *position = walk->entries[first.entry].position;
    instance->queued = false;
    for (struct meeting *meeting = instance->meetings, *next; meeting; meeting = next) {
        next = meeting->next;
        evaluate_meeting(walk, instance, meeting,
                         &position->operations[position->streams[first.stream].first + meeting->number]);
    }
}

static void join_meeting(struct walk *walk, struct participant *who, const struct operation *operation, double start)
{
    struct instance *instance = who->instance;
    const struct position *position = walk->entries[who->entry].position;
    uint32_t number = (uint32_t)(operation - position->operations) - position->streams[who->stream].first;
    struct meeting *meeting = meeting_of(walk, instance, number);
    for (uint32_t m = who->member; m != MEMBER_NONE; m = instance->next_alike[m])
        meeting->ready[m] = start + instance->newest->delay;
    meeting->arrived++;
    if (!instance->newest->flows->flows->ends_apart || instance->share > 0) {
        if (meeting->arrived == instance->participant_count || instance->share > 0)
            evaluate_meeting(walk, instance, meeting, operation);
    } else if (!instance->queued) {
        instance->queued = true;
        instance->next_queued = walk->queued;
        walk->queued = instance;
    }
}

void analytic_begin_collective(struct walk *walk, struct participant *who)
{
    const struct entry *entry = &walk->entries[who->entry];
    const struct operation *operation = &entry->position->operations[entry->cursors[who->stream].next];
    const struct known_collective *collective = look_up(walk, who->instance, operation);
    if (collective->flows && collective->flows->arrivals)
        join_meeting(walk, who, operation, entry->times[entry->cursors[who->stream].next].start);
    else
        end_all(walk, who->instance);
}

/* One at a time: the end of a collective queues the streams that can go on. */
void analytic_arrive(struct walk *walk, uint32_t index, struct cursor *cursor)
{
    const struct entry *entry = &walk->entries[index];
    struct instance *instance = cursor->instance;
    if (cursor->next == cursor->end || cursor->arrived)
        return;
    const struct operation *operation = &entry->position->operations[cursor->next];
    double start = ready_at(entry, operation, cursor->free);
    if (isnan(start))
        return;
    cursor->arrived = true;
    entry->times[cursor->next].start = start;
    const struct known_collective *collective = look_up(walk, instance, operation);
    if (collective->flows && collective->flows->arrivals) {
        struct participant *who = &instance->participants[cursor->participant];
        if (instance->share > 0)
            overlaps_await(walk->overlaps, start, who);
        else
            join_meeting(walk, who, operation, start);
        return;
    }
    instance->data_start = fmax(instance->data_start, start);
    if (++instance->arrived < instance->participant_count)
        return;
    if (instance->share > 0)
        overlaps_await(walk->overlaps, instance->data_start, &instance->participants[0]);
    else
        end_all(walk, instance);
}
