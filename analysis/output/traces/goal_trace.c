/* SPDX-License-Identifier: Apache-2.0 */
/* GOAL knows computations, sends and receives, and what waits for what. A collective is the transfers of its algorithm:
 * each flow of the engines as the steps that it stands for. cpu 0 computes; every other stream has a cpu of its own, as
 * far as there are 256, so that streams hold up nobody but themselves. */
#include "analysis/output/traces/goal_trace.h"

#include "analysis/figures/partner.h"
#include "analysis/output/traces/replay.h"
#include "base/arena.h"
#include "base/text_writer.h"
#include "simulator/collectives/assignment.h"

#include <math.h>
#include <stdlib.h>

static const double nanoseconds = 1e9;
/* A chain passes data on while they come: in so many pieces. */
enum { CPU_MAX = 255, CHAIN_PIECES = 16 };

/* Which flows of a collective a member has a part in: those of member m are members[first[m] .. first[m + 1]), in the
 * order of the flows. */
struct shares {
    const struct collective_flows *flows;
    uint32_t *first, *items;
    struct collective_phase_flow startup; /* a flow of no bytes: start-ups that come before all others; 0 steps: none */
    struct shares *next;
};

struct trace {
    struct text_writer *text;
    const struct replay *replay;
    struct arena *arena;   /* of the job */
    struct shares *shares; /* known so far */
    uint32_t rank;         /* of the job */
    const struct position *position;
    const struct moment *moments;
    double *rest;   /* [stream] */
    bool requiring; /* all items of the rank are written, and what they wait for is next: labels come first */
};

/* ---- items ---- */

/* "l7" is operation 7, or its end where it has parts; "l7_3" is part 3. */
static void put_label(struct trace *trace, uint32_t id, uint32_t part)
{
    text_char(trace->text, 'l');
    text_integer(trace->text, id);
    if (!part)
        return;
    text_char(trace->text, '_');
    text_integer(trace->text, part);
}

static void put_cpu(struct trace *trace, uint32_t id)
{
    uint32_t stream = trace->position->operations[id].stream;
    text_string(trace->text, " cpu ");
    text_integer(trace->text, stream < CPU_MAX ? stream : CPU_MAX);
    text_char(trace->text, '\n');
}

static void put_calc(struct trace *trace, uint32_t id, uint32_t part, uint64_t duration)
{
    if (trace->requiring)
        return;
    put_label(trace, id, part);
    text_string(trace->text, ": calc ");
    text_integer(trace->text, duration);
    put_cpu(trace, id);
}

static void put_transfer(struct trace *trace, uint32_t id, uint32_t part, bool sends, uint32_t peer, double bytes)
{
    const struct stream *stream = &trace->position->streams[trace->position->operations[id].stream];
    if (trace->requiring)
        return;
    put_label(trace, id, part);
    text_string(trace->text, sends ? ": send " : ": recv ");
    text_integer(trace->text, bytes > 1 ? (uint64_t)fmin(round(bytes), 0x1p62) : 1);
    text_string(trace->text, sends ? "b to " : "b from ");
    text_integer(trace->text, (uint64_t)trace->replay->first_rank + peer);
    text_string(trace->text, " tag ");
    text_integer(trace->text, replay_tag(trace->replay, stream, trace->rank));
    put_cpu(trace, id);
}

static void require(struct trace *trace, uint32_t id, uint32_t part, uint32_t other, uint32_t other_part)
{
    if (!trace->requiring)
        return;
    put_label(trace, id, part);
    text_string(trace->text, " requires ");
    put_label(trace, other, other_part);
    text_char(trace->text, '\n');
}

/* What an operation waits for, for the part that it begins with. */
static void put_waits(struct trace *trace, uint32_t id, uint32_t part)
{
    const struct operation *operation = &trace->position->operations[id];
    const struct stream *stream = &trace->position->streams[operation->stream];
    if (id > stream->first)
        require(trace, id, part, id - 1, 0);
    for (uint32_t i = 0; i < operation_wait_count(operation); i++)
        require(trace, id, part, operation_wait(trace->position, operation, i), 0);
    if (trace->requiring && id == stream->first && !operation_wait_count(operation) && trace->replay->job->start > 0) {
        put_label(trace, id, part);
        text_string(trace->text, " requires start\n");
    }
}

/* ---- collectives ---- */

static void count_share(struct shares *shares, const struct collective_phase_flow *flow)
{
    shares->first[flow->from + 1]++;
    shares->first[flow->to + 1]++;
}

/* The members' flows, once for each set of flows. */
static const struct shares *shares_of(struct trace *trace, const struct collective_flows *flows, uint32_t members)
{
    for (struct shares *known = trace->shares; known; known = known->next)
        if (known->flows == flows)
            return known;
    struct shares *shares = arena_alloc(trace->arena, sizeof *shares);
    *shares = (struct shares){.flows = flows,
                              .first = arena_array(trace->arena, members + (size_t)2, sizeof(uint32_t)),
                              .next = trace->shares};
    for (size_t i = 0; i < flows->count; i++) {
        struct collective_phase_flow flow = collective_flow_at(flows, i);
        if (flow.share > 0)
            count_share(shares, &flow);
        else
            shares->startup = flow;
    }
    for (uint32_t m = 0; m < members; m++)
        shares->first[m + 1] += shares->first[m];
    shares->items = arena_array(trace->arena, 2 * flows->count + 1, sizeof(uint32_t));
    uint32_t *at = arena_array(trace->arena, members + (size_t)1, sizeof *at);
    for (size_t i = 0; i < flows->count; i++) {
        struct collective_phase_flow flow = collective_flow_at(flows, i);
        if (flow.share <= 0)
            continue;
        shares->items[shares->first[flow.from] + at[flow.from]++] = (uint32_t)i;
        shares->items[shares->first[flow.to] + at[flow.to]++] = (uint32_t)i;
    }
    return trace->shares = shares;
}

/* How many transfers, one after the other, a flow is. */
static uint32_t steps_of(const struct collective_flows *flows, const struct collective_phase_flow *flow)
{
    uint32_t least = flows->start == START_CHAIN ? CHAIN_PIECES : 1;
    return flow->steps > least ? flow->steps : least;
}

/* The transfers of a collective while a member's are written. */
struct passing {
    const struct collective_flows *flows;
    const uint32_t *members; /* their ranks */
    uint32_t member, id;
    uint32_t part; /* of the newest item */
    uint32_t begin, end,
        early; /* parts of the round before: begin .. end - 1; of this one, those to wait for as well */
    double bytes;
};

static void require_round(struct trace *trace, const struct passing *passing)
{
    for (uint32_t part = passing->begin; part < passing->end; part++)
        require(trace, passing->id, passing->part, passing->id, part);
    if (passing->early)
        require(trace, passing->id, passing->part, passing->id, passing->early);
}

/* Step `step` of the flows items[0 .. count) of one phase, those that have so many; they go on together, and in a chain
 * what comes in before what goes out. False: none has. */
static bool put_round(struct trace *trace, struct passing *passing, const uint32_t *items, uint32_t count,
                      uint32_t step)
{
    uint32_t begun = passing->part + 1;
    passing->early = 0;
    for (int turn = 0; turn < 2; turn++) /* receives, then sends */
        for (uint32_t i = 0; i < count; i++) {
            struct collective_phase_flow flow = collective_flow_at(passing->flows, items[i]);
            bool sends = flow.from == passing->member;
            uint32_t steps = steps_of(passing->flows, &flow);
            if (sends != (turn == 1) || step >= steps)
                continue;
            passing->part++;
            put_transfer(trace, passing->id, passing->part, sends, passing->members[sends ? flow.to : flow.from],
                         flow.share * passing->bytes / steps);
            require_round(trace, passing);
            if (!sends && passing->flows->start == START_CHAIN)
                passing->early = passing->part;
        }
    if (passing->part < begun)
        return false;
    passing->begin = begun;
    passing->end = passing->part + 1;
    passing->early = 0;
    return true;
}

static void put_flows(struct trace *trace, struct passing *passing, const struct shares *shares)
{
    uint32_t first = shares->first[passing->member], end = shares->first[passing->member + 1];
    while (first < end) {
        uint32_t next = first + 1, phase = collective_flow_at(passing->flows, shares->items[first]).phase;
        while (next < end && collective_flow_at(passing->flows, shares->items[next]).phase == phase)
            next++;
        for (uint32_t step = 0; put_round(trace, passing, &shares->items[first], next - first, step); step++)
            ;
        first = next;
    }
}

/* Seconds before data move: the launch, and start-ups that no message of the trace has. */
static double delay_of(const struct trace *trace, const struct collective_choice *choice, const struct shares *shares,
                       const uint32_t *members)
{
    const struct trace_source *source = &trace->replay->job->source;
    struct platform_route route = {0};
    if (!shares || !shares->startup.steps)
        return choice->delay;
    source->platform->route(source->platform, source->hosts[members[shares->startup.from]],
                            source->hosts[members[shares->startup.to]], &route);
    return choice->delay + fmax(shares->startup.steps * choice->ratios.latency[SCOPE_NODE], 1) * route.latency;
}

/* A launch, the transfers, and an end that waits for the last of them; as many times as there are buffers. */
static void put_collective(struct trace *trace, uint32_t id)
{
    const struct program *program = trace->replay->program;
    const struct operation *operation = &trace->position->operations[id];
    uint32_t index = trace->position->streams[operation->stream].peer;
    const struct group *group = &program->groups[index];
    const struct stagesim_cost *cost = operation_cost(program, operation);
    const struct collective_flows *flows = assignment_flows(program, index, operation);
    struct collective_choice choice = assignment_choose(program, index, operation);
    uint32_t size = group_size(program, group), repeats = (uint32_t)fmax(round(cost->repeats), 1);
    uint32_t *members = array_grow(NULL, &(size_t){0}, size, sizeof *members);
    struct passing passing = {.flows = flows, .members = members, .id = id, .bytes = cost->bytes / repeats};
    group_ranks(program, group, group_instance_of(program, group, program->mesh->replica_of[trace->rank]), members);
    while (members[passing.member] != trace->rank)
        passing.member++;
    const struct shares *shares = flows ? shares_of(trace, flows, size) : NULL;
    double delay = delay_of(trace, &choice, shares, members);
    for (uint32_t k = 0; k < repeats; k++) {
        put_calc(trace, id, ++passing.part, replay_duration(delay, nanoseconds, &(double){0}));
        if (k == 0)
            put_waits(trace, id, passing.part);
        else
            require_round(trace, &passing);
        passing.begin = passing.part;
        passing.end = passing.part + 1;
        if (shares)
            put_flows(trace, &passing, shares);
    }
    put_calc(trace, id, 0, 0);
    for (uint32_t part = passing.begin; part < passing.end; part++)
        require(trace, id, 0, id, part);
    free(members);
}

/* ---- ranks ---- */

static void put_operation(struct trace *trace, uint32_t id)
{
    const struct operation *operation = &trace->position->operations[id];
    const struct stream *stream = &trace->position->streams[operation->stream];
    const struct moment *moment = &trace->moments[id];
    bool sends = operation->type == OPERATION_SEND, receives = operation->type == OPERATION_RECEIVE;
    if (operation->type == OPERATION_COLLECTIVE) {
        put_collective(trace, id);
        return;
    }
    if ((sends || receives) && !replay_is_copy(trace->replay, trace->rank, stream)) {
        put_transfer(trace, id, 0, sends, partner_rank(trace->replay->program, trace->rank, stream),
                     operation_cost(trace->replay->program, operation)->bytes);
        put_waits(trace, id, 0);
        return;
    }
    /* The other end of a copy only marks when it has arrived. */
    double seconds = receives ? 0 : moment->end - (sends ? moment->data_start : moment->start);
    put_calc(trace, id, 0, replay_duration(seconds, nanoseconds, &trace->rest[operation->stream]));
    put_waits(trace, id, 0);
    if (receives)
        require(trace, id, 0, partner_id(trace->replay->program, stream, id), 0);
}

static void write_rank(struct trace *trace, uint32_t rank)
{
    struct arena *arena = arena_create();
    trace->rank = rank;
    trace->position = replay_position(trace->replay, rank);
    trace->moments = timeline_rank(trace->replay->job->source.timeline, rank);
    trace->rest = arena_array(arena, trace->position->stream_count, sizeof *trace->rest);
    text_string(trace->text, "\nrank ");
    text_integer(trace->text, (uint64_t)trace->replay->first_rank + rank);
    text_string(trace->text, " {\n");
    double start = trace->replay->job->start;
    if (start > 0) {
        text_string(trace->text, "start: calc ");
        text_integer(trace->text, replay_duration(start, nanoseconds, &(double){0}));
        text_string(trace->text, " cpu 0\n");
    }
    for (int turn = 0; turn < 2; turn++) {
        trace->requiring = turn == 1;
        for (uint32_t id = 0; id < trace->position->operation_count; id++)
            put_operation(trace, id);
    }
    text_string(trace->text, "}\n");
    arena_destroy(arena);
}

void goal_trace_write_jobs(FILE *out, const struct trace_job *jobs, uint32_t count)
{
    struct arena *arena = arena_create();
    struct replay *replays = replay_jobs(jobs, count, arena);
    struct trace trace = {.text = text_writer_create(out)};
    text_string(trace.text, "num_ranks ");
    text_integer(trace.text, replay_ranks(replays, count));
    text_char(trace.text, '\n');
    for (uint32_t i = 0; i < count; i++) {
        trace.replay = &replays[i];
        trace.arena = arena_create();
        trace.shares = NULL;
        for (uint32_t rank = 0; rank < replays[i].program->mesh->ranks && !ferror(out); rank++)
            write_rank(&trace, rank);
        arena_destroy(trace.arena);
    }
    text_writer_destroy(trace.text);
    arena_destroy(arena);
}

/* ---- how large it would be ---- */

/* Sends and receives of all members together. */
static double transfers_of(const struct collective_flows *flows)
{
    double transfers = 0;
    for (size_t i = 0; i < flows->count; i++) {
        struct collective_phase_flow flow = collective_flow_at(flows, i);
        transfers += flow.share > 0 ? 2.0 * steps_of(flows, &flow) : 0;
    }
    return transfers;
}

/* The flows that were counted last. */
struct counted {
    const struct collective_flows *flows;
    double transfers;
};

static double items_of_collective(const struct program *program, uint32_t index, const struct operation *operation,
                                  struct counted *counted)
{
    const struct collective_flows *flows = assignment_flows(program, index, operation);
    double repeats = fmax(operation_cost(program, operation)->repeats, 1);
    if (flows && flows != counted->flows)
        *counted = (struct counted){flows, transfers_of(flows)};
    return 1 + repeats * (1 + (flows ? counted->transfers / group_size(program, &program->groups[index]) : 0));
}

static double items_of_position(const struct program *program, const struct position *position)
{
    double items = position->operation_count;
    struct counted counted = {0};
    for (uint32_t i = 0; i < position->stream_count; i++) {
        const struct stream *stream = &position->streams[i];
        for (uint32_t id = stream->first; stream->type == OPERATION_COLLECTIVE && id < stream->first + stream->count;
             id++)
            items += items_of_collective(program, stream->peer, &position->operations[id], &counted);
    }
    return items;
}

bool goal_trace_allows(const struct program *const *programs, uint32_t count, struct fault *fault)
{
    double items = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t position = 0; position < programs[i]->mesh->positions && items <= GOAL_ITEMS_MAX; position++)
            items += items_of_position(programs[i], &programs[i]->positions[position]) * programs[i]->mesh->replicas;
    return items <= GOAL_ITEMS_MAX ||
           fault_set(
               fault,
               "a trace in GOAL has every computation, send and receive of every rank, at most %d; the job has more",
               GOAL_ITEMS_MAX);
}
